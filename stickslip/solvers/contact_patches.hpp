// SPDX-License-Identifier: Apache-2.0
// Patches: the few laws on which a sweep over thousands does not settle, cut out with their neighbours as problems of
// their own.
//
//   u_p = D_pp r_p + (b_p + D_po r_o),      p: laws of the patch, o: all others, whose reactions stay as they are
//
// A heap that is solved from the last step's reactions settles within some ten sweeps everywhere but in a few places
// (bodies wedged between others, contacts at the edge of sliding). Such a place costs a hundred times more sweeps, or a
// factorisation of the whole; as a patch it is a problem of a hundred contacts. The cost is that of the patches,
// however large the heap.
#pragma once

#include <vector>

#include "stickslip/solvers/contact_system.hpp"

namespace stickslip {

/// One patch as a problem; memory is kept from one to the next.
struct ContactPatch {
  int number = 0, first = 0, count = 0;  ///< which, and where its laws stand
  BlockSparseMatrix D;
  Vector b;
  std::vector<Set> sets;
  std::vector<int> sizes, columns;
  std::vector<std::size_t> row_starts;
};

template <int N>
class ContactPatches {
 public:
  /// Takes the laws with the largest errors, down to a few hundredths of the worst or until the rest is at most `share`
  /// of the goal, each with its neighbours (laws coupled by D) up to `rings` away, until there are `most` of them, and
  /// splits the result into connected patches. Returns their number; 0 if there are no such laws, or if a law has fewer
  /// than N components.
  int find(const ContactSystem<N>& system, const ContactGoal& goal, const double* r, const double* u, double share,
           int rings, int most);
  /// The part of all laws that have such errors: near 1, the trouble is not a matter of a few places.
  double spread() const { return spread_; }
  // Patches are not coupled to each other: what follows may happen for several of them at once.
  /// Patch k; `r` holds all reactions.
  void extract(int k, const ContactSystem<N>& system, const double* r, ContactPatch& patch) const;
  /// Reactions of the patch out of those of all laws, and back.
  void gather(const ContactPatch& patch, const double* r, double* own) const;
  void scatter(const ContactPatch& patch, const double* own, double* r) const;
  /// The same error in the patch as `goal` is for the whole: `share` of it. Errors of the laws are seen in their
  /// natural weights, also where the goal's measure has ρ = 1.
  ContactGoal goal(const ContactPatch& patch, const ContactSystem<N>& system, const ContactGoal& goal, const double* r,
                   const double* u, double share) const;

 private:
  std::vector<int> patch_, laws_, starts_, local_, front_, next_;
  std::vector<std::pair<double, int>> by_error_;
  double spread_ = 0;
};

}  // namespace stickslip
