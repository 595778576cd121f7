// SPDX-License-Identifier: Apache-2.0
// Exact active-set method for boxes of which several act along one direction: dry friction and a stop on one hinge
// axis.
//
// Rows of Wᵀ that are multiples of each other, W_k = a_k W_i, are one group: with x the velocity along W_i, row k has
// u_k = a_k (x - x_k), x_k = w_k/a_k, and its force a_k r_k along W_i lies between L_k (where x > x_k) and H_k (where x
// < x_k). D of such rows is singular, and active_set.hpp refuses them. Together they are one law with a graph that
// falls in steps:
//
//   x_1 < x_2 < ...         the velocities x_k, equal ones in one level, whose L and H add up
//   x = x_j                 F between L_j and H_j, besides Σ_{i<j} L_i + Σ_{i>j} H_i
//   x_j < x < x_{j+1}       F = Σ_{i<=j} L_i + Σ_{i>j} H_i
//
// A guess puts each group at a level or between two of them; (*) is then one linear system, and groups that violate
// their condition move on by one. All at once while that makes progress, then the one with the least index, as in
// active_set.hpp. Sums of forces are unique, shares of them at one level are not: rows with finite bounds take the same
// fraction of theirs, and a stop carries what they cannot.
//
// Groups on a coordinate each are pinned in A, so that v there is x_j to the last bit; others go by D of the groups.
#pragma once

#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/solvers/active_set.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

class StackedLaws {
 public:
  /// All sets are boxes and some rows are multiples of others. Looked at again when A_version or a size changes.
  bool applies(const PrimalProblem& problem);
  /// Of a problem it applies to: success, interrupted, or refused where the method does not end.
  void solve(const PrimalProblem& problem, const ActiveSetOptions& options, InclusionSolution& solution);

 private:
  struct Row {
    int group = 0, level = 0;  // level: of the group
    double a = 1;              // multiple of the group's first row
    double low = 0, high = 0;  // L_k, H_k
  };
  struct Level {
    double at = 0, low = 0, high = 0;
  };
  struct Group {
    int row = 0, coordinate = -1;  // its first row; -1: not a unit row
    int first = 0, levels = 0;     // of levels_
    int state = 0;                 // 2j: between levels j-1 and j; 2j+1: at level j
  };
  struct Size {
    double force, velocity;  // terms
  };
  void find_groups(const PrimalProblem& problem);
  void find_levels(const PrimalProblem& problem);
  double outside(const Group& group) const;
  bool held(const Group& group) const { return group.state % 2 == 1; }
  const Level& level(const Group& group) const {
    return levels_[static_cast<std::size_t>(group.first + group.state / 2)];
  }
  bool solve_guess(const PrimalProblem& problem, StopRequest stop);
  bool solve_on_coordinates(const PrimalProblem& problem, StopRequest stop);
  bool solve_in_dual(StopRequest stop);
  void form_dual(const PrimalProblem& problem);
  int way_on(std::size_t i) const;
  double violation(std::size_t i) const;
  void share(const PrimalProblem& problem, InclusionSolution& solution);

  unsigned long version_ = kNoVersion, dual_version_ = kNoVersion, factored_version_ = kNoVersion;
  Index rows_ = -1;
  bool applies_ = false, on_coordinates_ = false;
  std::vector<Row> row_;
  std::vector<Group> groups_;
  std::vector<Level> levels_;
  std::vector<int> order_;
  std::vector<char> pinned_;
  PinnedFactor factor_, plain_;
  DenseMatrix columns_, D_;  // A⁻¹ W of the groups; their D
  Vector free_;              // A⁻¹ g
  Vector v_, x_, force_, velocity_, force_terms_, velocity_terms_;
};

}  // namespace stickslip
