// SPDX-License-Identifier: Apache-2.0
// Poisson's and the energetic impact law inside a step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

namespace {
constexpr double kNoise = 1e-12;  // an approach below that, relative to the terms it is the sum of, is none
constexpr double kAtRest =
    1e-3;  // likewise, relative to what the forces of the step do: what a solver leaves of a heap
}  // namespace

/// A point that touches approaches. Poisson's law without restitution is the inclusion of the step itself.
bool MoreauScheme::some_impact_has_a_law_of_its_own() const {
  if (has_impact_) return true;
  for (const Active& active : active_) {
    const ContactElement& law = contacts_[static_cast<std::size_t>(active.law)];
    const bool own = law.impact == ImpactLaw::energetic || (law.impact == ImpactLaw::poisson && law.restitution > 0);
    if (!own || !active.touches || !(active.arrival < 0)) continue;
    double size = std::abs(w_start()[active.row]);
    for (SparseMatrix::InnerIterator entry(problem_.Wt, active.first); entry; ++entry)
      size += std::abs(entry.value() * v_m_[entry.col()]);
    const double free = row_times(found_.Wt, active.row, v_free_) - w_end()[active.row];
    if (-active.arrival > kNoise * size + kAtRest * std::abs(free - u0_[active.first])) return true;
  }
  return false;
}

/// Half of what the forces of the step do to a velocity of free bodies that strike: their blow takes place in the
/// middle of the step, so that what an elastic one gives back is what it took.
double MoreauScheme::half_kick(const Active& active, int c) const {
  if (!drift_kick_ || !active.strikes) return 0;
  const Index row = active.row + c;
  return 0.5 * (row_times(found_.Wt, row, kick_) - (w_end()[row] - w_start()[row]));
}

/// All points that touch, with D = Wᵀ A⁻¹ W.
void MoreauScheme::fill_impact() {
  impact_points_.clear();
  impact_.contacts.clear();
  Index rows = 0;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    if (!active_[k].touches) continue;
    const ContactElement& law = contacts_[static_cast<std::size_t>(active_[k].law)];
    impact_points_.push_back(k);
    impact_.contacts.push_back({law.set(law.mu), law.restitution, law.impact});
    rows += law.size();
  }
  impact_.u.resize(rows);
  impact_.D.resize(rows, rows);
  Index column = 0;
  for (const std::size_t k : impact_points_)
    for (int c = 0; c < contacts_[static_cast<std::size_t>(active_[k].law)].size(); ++c, ++column) {
      impact_.u[column] = u0_[active_[k].first + c] + half_kick(active_[k], c);
      scratch_.setZero();
      for (SparseMatrix::InnerIterator entry(problem_.Wt, active_[k].first + c); entry; ++entry)
        scratch_[entry.col()] = entry.value();
      factor_.solve(scratch_);
      Index row = 0;
      for (const std::size_t j : impact_points_)
        for (int d = 0; d < contacts_[static_cast<std::size_t>(active_[j].law)].size(); ++d, ++row)
          impact_.D(row, column) = row_times(problem_.Wt, active_[j].first + d, scratch_);
    }
}

Status MoreauScheme::take_impacts() {
  fill_impact();
  ImpactOptions options;
  options.stop = options_.solver.stop;
  solve(impact_, options, impact_solver_, impact_solution_);
  ++problems_;
  if (impact_solution_.status != Status::success)
    return fail(impact_solution_.status,
                fmt::format("moreau: impact at t = {:.9g} s: {}", t0_, impact_solution_.message));
  if (has_impact_) problem_.g -= impact_momentum_;  // points were added to the step
  has_impact_ = true;
  const bool fast =
      std::any_of(impact_points_.begin(), impact_points_.end(), [&](std::size_t k) { return active_[k].impact; });
  impact_impulse_.setZero(problem_.Wt.rows());
  impact_momentum_.setZero(v_m_.size());
  Index from = 0;
  for (const std::size_t k : impact_points_) {
    Active& active = active_[k];
    const int size = contacts_[static_cast<std::size_t>(active.law)].size();
    const bool hit = impact_solution_.p[from] > 0;
    active.bias = hit ? -std::max(impact_solution_.u[from] + half_kick(active, 0), 0.0) : 0.0;
    active.impact = hit && fast;  // what comes to rest within a step is no event
    for (int c = 0; c < size; ++c) {
      const double p = impact_solution_.p[from + c];
      impact_impulse_[active.first + c] = p;
      for (SparseMatrix::InnerIterator entry(problem_.Wt, active.first + c); entry; ++entry)
        impact_momentum_[entry.col()] += p * entry.value();
    }
    from += size;
  }
  problem_.g += impact_momentum_;
  free_velocity();
  fill_velocities();
  return Status::success;
}

}  // namespace stickslip
