// SPDX-License-Identifier: Apache-2.0
// Friction with a spring in series, in the elastic step.
#include <fmt/format.h>

#include "stickslip/motion/splitting/splitting.hpp"

namespace stickslip {

void SplittingScheme::start_springs(StepRecord& record) {
  springs_.set(record.state.z);
  record.state.z = springs_.deformation();
  record.energy.potential += springs_.energy();
  record.energy.initial += springs_.energy();
  sliders_.clear();
  std::vector<double> stiffness;
  spring_problem_.sets.clear();
  for (Index k = 0; k < laws_.laws(); ++k) {
    if (!springs_.takes(k)) continue;
    record.state.modes[static_cast<std::size_t>(k)] = springs_.mode(k);
    spring_problem_.sets.push_back(laws_.element(k).set(0.0));
    for (int c = 0; c < laws_.size(k); ++c) {
      sliders_.push_back(laws_.first(k) + c);
      stiffness.push_back(laws_.element(k).stiffness);
    }
  }
  slider_stiffness_ = Eigen::Map<const Vector>(stiffness.data(), static_cast<Index>(stiffness.size()));
  const Index n = system_.info().nv(), m = slider_stiffness_.size();
  spring_problem_.A = &spring_matrix_;
  spring_problem_.g.setZero(n + m);
  spring_problem_.w.setZero(m);
  spring_problem_.Wt.resize(m, n + m);
  for (Index i = 0; i < m; ++i) spring_problem_.Wt.insert(i, n + i) = 1;
  spring_problem_.Wt.makeCompressed();
}

void SplittingScheme::set_spring_problem(double tau) {
  if (tau == spring_tau_) return;
  const Index n = system_.info().nv(), m = slider_stiffness_.size();
  const std::array<double, 3> alpha{1, tau / 2, tau * tau / 4};
  std::vector<Eigen::Triplet<double>> entries;
  elastic_matrix_.evaluate(alpha).for_each([&](Index i, Index j, double value) { entries.emplace_back(i, j, value); });
  for (Index i = 0; i < m; ++i) {
    const double kappa = alpha[2] * slider_stiffness_[i];
    entries.emplace_back(n + i, n + i, kappa);
    for (SparseMatrix::InnerIterator a(problem_.Wt, sliders_[static_cast<std::size_t>(i)]); a; ++a) {
      entries.emplace_back(a.col(), n + i, -kappa * a.value());
      entries.emplace_back(n + i, a.col(), -kappa * a.value());
      for (SparseMatrix::InnerIterator b(problem_.Wt, sliders_[static_cast<std::size_t>(i)]); b; ++b)
        entries.emplace_back(a.col(), b.col(), kappa * a.value() * b.value());
    }
  }
  SparseMatrix matrix(n + m, n + m);
  matrix.setFromTriplets(entries.begin(), entries.end());
  spring_matrix_ = SystemMatrix::compact(matrix);
  ++spring_problem_.A_version;
  spring_tau_ = tau;
}

/// mean_v_ holds the right-hand side b and becomes V_m; deformations, energies and modes at the end of the step.
StepOutcome SplittingScheme::stretch_springs(double t0, double tau, StepRecord& record) {
  State& s = record.state;
  const Index n = mean_v_.size(), m = slider_stiffness_.size();
  set_spring_problem(tau);
  laws_.evaluate_limits(t0 + tau / 2, s.q, s.v, workspace_);
  laws_.evaluate_surface(t0 + tau / 2, s.q, s.v, workspace_, w_);
  Vector& g = spring_problem_.g;
  g.head(n) = mean_v_;
  for (Index i = 0; i < m; ++i) {
    const Index row = sliders_[static_cast<std::size_t>(i)];
    const double load = tau / 2 * slider_stiffness_[i] * (springs_.deformation()[i] - tau / 2 * w_[row]);
    g[n + i] = load;
    for (SparseMatrix::InnerIterator entry(problem_.Wt, row); entry; ++entry) g[entry.col()] -= load * entry.value();
  }
  for (Index k = 0, j = 0; k < laws_.laws(); ++k)
    if (springs_.takes(k)) spring_problem_.sets[static_cast<std::size_t>(j++)].limit = tau / 2 * laws_.limit(k);
  stickslip::solve(spring_problem_, {}, spring_solver_, spring_solution_);
  ++record.problems;
  if (spring_solution_.status != Status::success)
    return {spring_solution_.status,
            fmt::format("splitting: sliders of springs at t = {:.9g} s: {}", t0, spring_solution_.message)};
  mean_v_ = spring_solution_.v.head(n);
  record_springs(t0 + tau, tau, record);
  return {};
}

/// What the mean force takes and the springs do not store is lost by the sliders.
void SplittingScheme::record_springs(double t1, double tau, StepRecord& record) {
  EnergyLedger& energy = record.energy;
  laws_.relative_velocity(mean_v_, w_, u_);
  energy.friction_loss += springs_.energy();
  for (Index i = 0; i < slider_stiffness_.size(); ++i) {
    const Index row = sliders_[static_cast<std::size_t>(i)];
    const double impulse = 2 * spring_solution_.r[i];
    record.reaction_impulse[row] += impulse;
    energy.friction_loss -= impulse * u_[row];
    energy.work_in += impulse * w_[row];
  }
  for (Index k = 0, i = 0; k < laws_.laws(); ++k)
    for (int c = 0; springs_.takes(k) && c < laws_.size(k); ++c, ++i)
      record.law_work[k] += 2 * spring_solution_.r[i] * (u_[laws_.first(k) + c] + w_[laws_.first(k) + c]);
  springs_.advance(tau, u_);
  energy.friction_loss -= springs_.energy();
  record.state.z = springs_.deformation();
  for (Index k = 0; k < laws_.laws(); ++k) {
    if (!springs_.takes(k)) continue;
    Mode& mode = record.state.modes[static_cast<std::size_t>(k)];
    const Mode after = springs_.mode(k);
    if (const auto kind = event_between(mode, after))
      record.events.push_back({t1, static_cast<int>(k), *kind, mode, after, 0});
    mode = after;
  }
}

}  // namespace stickslip
