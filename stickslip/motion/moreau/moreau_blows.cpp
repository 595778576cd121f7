// SPDX-License-Identifier: Apache-2.0
// Blows of shapes that follow one another within a step, and where bodies are at its end (moreau.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/moreau/moreau.hpp"
#include "stickslip/solvers/one_law.hpp"

namespace stickslip {

namespace {
constexpr int kMostBlows = 20;  // one after the other; what is driven in then is moved out
// Of the inclusion of a blow, a velocity over those before it: what is wanted, and what is taken where it is hard.
constexpr double kOfBlow = 1e-10, kOfHardBlow = 1e-6;
constexpr int kIterationsOfBlow = 300;
constexpr int kMostRounds = 12;  // of moving bodies apart: the way out is found to first order
constexpr double kReach = 3;     // of the deepest penetration: what may be in the way
constexpr double kEnough = 0.1;  // of the penetration allowed: what the way out leaves
}  // namespace

/// Restitution throws it back, and left to itself it would be inside in the middle of the next step. In time to a step
/// either way; where a second blow of the same step takes the rebound away again it must not be inside already.
bool MoreauScheme::strikes_now(const ContactSite& point, Index row, const Approach& along, double h) const {
  if (!drift_kick_ || !point.has_frame || !along.impact() || !waits_for_impact(point)) return false;
  return point.gap + touching(point, row, along, h) < -h * along.free;
}

/// What the velocities just found drive into one another.
bool MoreauScheme::collect_driven(double h) {
  driven_.clear();
  bool strikes = false;
  Index row = 0;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const ContactSite& point = found_.points[k];
    const Approach& along = approaches_[k];
    const Driven driven{k, row, -(row_times(found_.Wt, row, solution_.v) - w_end()[row])};
    row += contacts_[static_cast<std::size_t>(point.law)].size();
    if (!point.has_frame || !(driven.speed > 0)) continue;
    if (point.gap + touching(point, driven.row, along, h) >= h * driven.speed) continue;
    driven_.push_back(driven);
    const bool fast = driven.speed + 0.5 * (along.free - along.before) > along.slow;
    driven_.back().strikes = fast && waits_for_impact(point);
    strikes |= driven_.back().strikes;
  }
  return strikes || (blows_ > 0 && !driven_.empty());
}

/// Points that share bodies are one blow; the others know nothing of one another.
void MoreauScheme::find_blows() {
  constexpr int kPerBody = 6;
  blow_of_body_.assign(static_cast<std::size_t>(system_.info().nv() / kPerBody), -1);
  const auto root = [&](int k) {
    while (driven_[static_cast<std::size_t>(k)].blow != k) k = driven_[static_cast<std::size_t>(k)].blow;
    return k;
  };
  for (int k = 0; k < static_cast<int>(driven_.size()); ++k) {
    driven_[static_cast<std::size_t>(k)].blow = k;
    for (SparseMatrix::InnerIterator entry(found_.Wt, driven_[static_cast<std::size_t>(k)].row); entry; ++entry) {
      int& owner = blow_of_body_[static_cast<std::size_t>(entry.col() / kPerBody)];
      if (owner < 0) owner = k;
      const int a = root(owner), b = root(k);
      driven_[static_cast<std::size_t>(std::max(a, b))].blow = std::min(a, b);
    }
  }
  for (int k = 0; k < static_cast<int>(driven_.size()); ++k) driven_[static_cast<std::size_t>(k)].blow = root(k);
  std::stable_sort(driven_.begin(), driven_.end(), [](const Driven& a, const Driven& b) { return a.blow < b.blow; });
}

/// Points begin .. end - 1 of driven_. The blow takes place at the velocities of the middle of the step, with half of
/// what its forces do: then e = 1 keeps the energy, whatever the step. Points that only land come as far as their
/// surface.
void MoreauScheme::fill_blow(std::size_t begin, std::size_t end, double h) {
  impact_.contacts.clear();
  blow_rows_.clear();
  for (std::size_t k = begin; k < end; ++k) {
    const ContactElement& law = contacts_[static_cast<std::size_t>(found_.points[driven_[k].found].law)];
    impact_.contacts.push_back({law.set(law.mu), driven_[k].strikes ? law.restitution : 0.0, law.impact});
    for (int c = 0; c < law.size(); ++c) blow_rows_.push_back(driven_[k].row + c);
  }
  const auto m = static_cast<Index>(blow_rows_.size());
  impact_.u.resize(m);
  impact_.D.resize(m, m);
  for (Index i = 0; i < m; ++i) {
    const Index row = blow_rows_[static_cast<std::size_t>(i)];
    apart_.respond(found_.Wt, row, response_of_row_);
    spread(row, 1.0, scratch_);
    for (Index j = 0; j < m; ++j)
      impact_.D(j, i) = row_times(found_.Wt, blow_rows_[static_cast<std::size_t>(j)], scratch_);
    spread(row, 0.0, scratch_);
    const double change = row_times(found_.Wt, row, kick_) - (w_end()[row] - w_start()[row]);
    impact_.u[i] = row_times(found_.Wt, row, solution_.v) - w_end()[row] - 0.5 * change;
  }
  Index first = 0;
  for (std::size_t k = begin; k < end; ++k) {
    const ContactSite& point = found_.points[driven_[k].found];
    if (!driven_[k].strikes) impact_.u[first] = std::max(point.gap, 0.0) / h - driven_[k].speed;
    first += impact_.contacts[k - begin].set.size;
  }
}

/// x at the entries of the row: the share of the response in response_of_row_.
void MoreauScheme::spread(Index row, double share, Vector& x) const {
  std::size_t k = 0;
  for (SparseMatrix::InnerIterator entry(found_.Wt, row); entry; ++entry)
    x[entry.col()] = share * response_of_row_[k++];
}

/// What the first solution is judged by, before blows add to it.
void MoreauScheme::begin_blows() {
  add_up_all_loads();
  inclusion_before_blows_ = law_residual();
  record_contact_velocity();
  blow_impulse_.setZero(found_.Wt.rows());
  struck_.assign(found_.points.size(), 0);
  blow_gain_ = 0;
}

/// Newton's law is one inclusion; of one point alone in closed form.
Status MoreauScheme::solve_blow() {
  ImpactOptions options;
  options.stop = options_.solver.stop;
  const auto newton = [](const ImpactContact& contact) { return contact.law == ImpactLaw::newton; };
  if (!std::all_of(impact_.contacts.begin(), impact_.contacts.end(), newton)) {
    solve(impact_, options, impact_solver_, blow_solution_);
    return blow_solution_.status;
  }
  blow_solution_.work = 0;  // counted by the loss of the step
  Vector& b = impact_.u;
  Index first = 0;
  for (const ImpactContact& contact : impact_.contacts) {
    if (b[first] < 0) b[first] *= 1 + contact.restitution;
    first += contact.set.size;
  }
  if (impact_.contacts.size() == 1) {
    blow_solution_.p.setZero(b.size());
    const bool found = solve_one_law(impact_.contacts[0].set, impact_.D.data(), b.data(), blow_solution_.p.data());
    return found ? Status::success : Status::no_solution;
  }
  DualProblem dual;
  dual.D = impact_.D;
  dual.b = b;
  for (const ImpactContact& contact : impact_.contacts) dual.sets.push_back(contact.set);
  SolveOptions tolerances;
  tolerances.tolerance = kOfBlow;
  tolerances.acceptable = kOfHardBlow;
  tolerances.measure = StoppingMeasure::unit_free;
  tolerances.max_iterations = kIterationsOfBlow;
  tolerances.stop = options.stop;
  InclusionSolution solution = solve(dual, tolerances);
  if (solution.status == Status::not_converged && solution.residuals.unit_free <= kOfHardBlow)
    solution.status = Status::success;
  blow_solution_.p = std::move(solution.r);
  return solution.status;
}

void MoreauScheme::add_blow() {
  for (Index i = 0; i < impact_.u.size(); ++i) {
    const Index row = blow_rows_[static_cast<std::size_t>(i)];
    const double p = blow_solution_.p[i];
    blow_impulse_[row] += p;
    apart_.respond(found_.Wt, row, response_of_row_);
    std::size_t k = 0;
    for (SparseMatrix::InnerIterator entry(found_.Wt, row); entry; ++entry) {
      if (has_impact_) problem_.g[entry.col()] += p * entry.value();
      solution_.v[entry.col()] += p * response_of_row_[k++];
    }
  }
  blow_gain_ += std::max(0.0, blow_solution_.work);
}

Status MoreauScheme::take_further_blows(double h) {
  blows_ = 0;
  if (!drift_kick_ || stiff_ || !rebounds_ || options_.contact_rule != ContactRule::stabilised) return Status::success;
  while (blows_ < kMostBlows && collect_driven(h)) {
    if (blows_++ == 0) begin_blows();
    find_blows();
    scratch_.setZero();
    for (std::size_t begin = 0, end = 0; begin < driven_.size(); begin = end) {
      while (end < driven_.size() && driven_[end].blow == driven_[begin].blow) ++end;
      fill_blow(begin, end, h);
      ++problems_;
      const Status status = solve_blow();
      if (status == Status::interrupted)
        return fail(status, fmt::format("stopped within the step from t = {:.9g} s", t0_));
      if (status != Status::success) continue;  // what stays is moved out at the end of the step
      add_blow();
      for (std::size_t k = begin; k < end; ++k) struck_[driven_[k].found] |= driven_[k].strikes;
    }
  }
  if (blows_ > 0) join_blows();
  return Status::success;
}

/// The step as one problem again: all points that any of its blows has pushed, with the sums of their impulses.
void MoreauScheme::join_blows() {
  for (Active& active : active_) active.solved = active.first;
  Index row = 0;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const ContactSite& point = found_.points[k];
    if (!taken_[k] && blow_impulse_[row] > 0) {
      taken_[k] = 1;
      active_.push_back(
          {.law = point.law, .found = static_cast<int>(k), .row = row, .arrival = approaches_[k].arrival});
    }
    row += contacts_[static_cast<std::size_t>(point.law)].size();
  }
  std::sort(active_.begin(), active_.end(), [](const Active& a, const Active& b) { return a.found < b.found; });
  number_rows();
  without_overlooked_ = solution_.r;
  const Vector impact = impact_impulse_;
  const auto friction = static_cast<std::ptrdiff_t>(laws_.laws());
  const std::vector<Set> limits(problem_.sets.begin(), problem_.sets.begin() + friction);
  fill_laws();
  std::copy(limits.begin(), limits.end(), problem_.sets.begin());
  solution_.r.setZero(problem_.Wt.rows());
  take_over_impulses();
  if (has_impact_) impact_impulse_.setZero(problem_.Wt.rows());
  for (Active& active : active_) {
    const Index size = contacts_[static_cast<std::size_t>(active.law)].size();
    if (has_impact_ && active.solved >= 0)
      impact_impulse_.segment(active.first, size) = impact.segment(active.solved, size);
    (has_impact_ ? impact_impulse_ : solution_.r).segment(active.first, size) +=
        blow_impulse_.segment(active.row, size);
    active.impact |= struck_[static_cast<std::size_t>(active.found)] != 0;
  }
  solution_.u.resize(problem_.Wt.rows());
  for (Index i = 0; i < solution_.u.size(); ++i)
    solution_.u[i] = row_times(problem_.Wt, i, solution_.v) - problem_.w[i];
}

/// No point that was found in the middle of the step is inside at its end, and none turns so far that it might be.
bool MoreauScheme::stays_outside(double h) const {
  const double allowed = 0.5 * kEndPenetration * length_;
  const double way = 0.5 * h * system_.laws().contact_source().speed_bound(solution_.v);
  if (way * way > allowed * length_) return false;
  Index row = 0;
  for (const ContactSite& point : found_.points) {
    if (point.gap + 0.5 * h * (row_times(found_.Wt, row, solution_.v) - w_end()[row]) < -allowed) return false;
    row += contacts_[static_cast<std::size_t>(point.law)].size();
  }
  return true;
}

double MoreauScheme::deepest_at_end(double t, const Vector& q, double reach) {
  system_.laws().contact_source().find(t, q, reach, workspace_, at_end_);
  double deepest = 0;
  for (const ContactSite& point : at_end_.points) deepest = std::max(deepest, -point.gap);
  return deepest;
}

/// Bodies that the step leaves inside one another come out of it the shortest way in the metric of the mass.
void MoreauScheme::come_apart(double h, double t, State& s) {
  ends_outside_ = false;
  if (!drift_kick_ || !(length_ > 0) || contacts_.empty() || options_.contact_rule != ContactRule::stabilised) return;
  ends_outside_ = stays_outside(h);
  if (ends_outside_) return;
  const double allowed = kEndPenetration * length_;
  double deepest = deepest_at_end(t, s.q, 0.0);
  if (deepest > allowed) {
    const double energy = system_.forces().potential_energy(s.q) + system_.inertia().kinetic_energy(s.q, s.v);
    for (int round = 0; round < kMostRounds && deepest > allowed; ++round) {
      deepest_at_end(t, s.q, kReach * deepest);
      apart_.solve(at_end_, contacts_, kEnough * allowed, displacement_);
      free_motion_->displace(displacement_, s.q, s.v);
      deepest = deepest_at_end(t, s.q, 0.0);
    }
    correction_work_ += system_.forces().potential_energy(s.q) + system_.inertia().kinetic_energy(s.q, s.v) - energy;
  }
  ends_outside_ = deepest <= allowed;
}

}  // namespace stickslip
