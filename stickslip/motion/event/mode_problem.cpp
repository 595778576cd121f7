// SPDX-License-Identifier: Apache-2.0
// Problem (V): what a state leaves to the decision of the modes.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/mode_dynamics.hpp"

namespace stickslip {

/// Law k as the decision sees it. What slides has its direction: of a contact the normal force is left, of friction
/// whose limit follows reactions the size.
DecisionLaw ModeDynamics::posed_law(std::size_t k, Mode mode, LawRole role, bool slides) {
  const Law& law = laws_[k];
  DecisionLaw posed;
  posed.role = role;
  if (follows(k)) posed.follows = static_cast<int>(k);
  if (slides && !law.contact) {
    posed.set = friction_.element(static_cast<Index>(k)).set(0);
    posed.slips = true;
    double e[2];
    slip_force(k, mode, e);
    posed.force = {e[0], e[1]};
    posed.slip_mode = mode;
  } else if (slides) {
    posed.set = half_line_set();
  } else {
    posed.set = law.contact ? law.contact->set(limit_[k]) : friction_.element(static_cast<Index>(k)).set(limit_[k]);
    posed.static_limit = static_limit_[k];
  }
  return posed;
}

void ModeDynamics::decision_problem(const std::vector<Mode>& modes, const std::vector<char>& at_rest,
                                    const std::vector<LawRole>& roles, DecisionProblem& problem,
                                    std::vector<int>& chosen, std::vector<char>& sliding) {
  chosen.clear();
  problem.monotone = true;
  sliding.assign(laws_.size(), 0);
  problem.laws.clear();
  // Components of the problem, and what a unit of each does to the components of r.
  std::vector<Index> rows;
  std::vector<std::size_t> owner;
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const Law& law = laws_[k];
    const bool slides = !at_rest[k] && (law.contact ? modes[k] != Mode::open : follows(k));
    if (!at_rest[k] && !slides) continue;
    sliding[k] = slides;
    chosen.push_back(static_cast<int>(k));
    const DecisionLaw decided = posed_law(k, modes[k], roles[k], slides);
    if (slides && law.contact) problem.monotone &= limit_[k] == 0;
    for (int c = 0; c < decided.set.size; ++c) {
      rows.push_back(law.first + c);
      owner.push_back(k);
    }
    problem.laws.push_back(decided);
  }
  const Index size = static_cast<Index>(rows.size());
  // The parts of the reaction that unit i of the problem makes: its own row, and the friction of a contact that slides.
  auto for_each_part = [&](Index i, auto&& part) {
    part(rows[i], 1.0);
    const std::size_t k = owner[i];
    if (!sliding[k] || !laws_[k].contact) return;
    double d[2];
    slip_direction(k, modes[k], d);
    for (int c = 0; c < laws_[k].tangents; ++c) part(laws_[k].tangent() + c, -limit_[k] * d[c]);
  };
  Vector r, smooth;
  for (const std::size_t k : following_.laws()) limit_[static_cast<Index>(k)] = 0;  // their forces are not known
  known_forces(modes, r, smooth);
  for (std::size_t k = 0; k < laws_.size(); ++k)
    if (at_rest[k] && !laws_[k].contact) r.segment(laws_[k].first, laws_[k].size).setZero();
  const Vector a = a_free_ + PW_ * (r + smooth);
  problem.D.resize(size, size);
  problem.b.resize(size);
  problem.b_size.resize(size);
  constexpr double kNothing = 1e-12;  // of its terms
  problem.rows.resize(NW_.rows(), size);
  problem.columns.setZero(NW_.rows(), size);
  problem.D.setZero();
  for (Index i = 0; i < size; ++i) {
    for_each_part(i, [&](Index row, double weight) {
      problem.columns.col(i) += weight * NW_.col(row);
      for (Index j = 0; j < size; ++j) problem.D(j, i) += weight * D_(rows[j], row);
    });
    problem.rows.col(i) = NW_.col(rows[i]);
    problem.b[i] = Wt_.row(rows[i]).dot(a) + bias_[rows[i]];
    problem.b_size[i] = terms(rows[i], a) + std::abs(bias_[rows[i]]);
    // No reaction could answer what round-off makes of a velocity that the constraints keep.
    if (blocked(rows[i]) && std::abs(problem.b[i]) <= kNothing * problem.b_size[i]) problem.b[i] = 0;
  }
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    const int other = other_side(static_cast<std::size_t>(chosen[j]), modes);
    const auto at = std::find(chosen.begin(), chosen.end(), other);
    if (other >= 0 && at != chosen.end()) problem.laws[j].other_side = static_cast<int>(at - chosen.begin());
  }
  problem.limits = nullptr;
  if (following_.empty()) return;
  problem.limits = &following_;
  a_ = a;
  r_ = r;
  smooth_ = smooth;
  read_reactions(problem.R0);
  DenseMatrix E = DenseMatrix::Zero(m_, size);
  for (Index i = 0; i < size; ++i) for_each_part(i, [&](Index row, double weight) { E(row, i) = weight; });
  pose_reactions(E, problem);
}

/// What a unit of each reaction of the problem does to those that limits name.
void ModeDynamics::pose_reactions(const DenseMatrix& E, DecisionProblem& problem) {
  const Index contacts = m_ - friction_components_;
  problem.R1.resize(following_.reactions(), E.cols());
  problem.R1.topRows(contacts) = E.bottomRows(contacts);
  if (following_.reactions() == contacts) return;
  for (Index j = 0; j < E.cols(); ++j) {
    unit_ = E.col(j);
    unit_a_.noalias() = PW_ * unit_;
    scratch_.noalias() = Wt_.transpose() * unit_;
    mass_.multipliers(scratch_, unit_a_, lambda_);
    problem.R1.col(j).tail(following_.reactions() - contacts) = lambda_;
  }
}

}  // namespace stickslip
