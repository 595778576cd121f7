// SPDX-License-Identifier: Apache-2.0
// Reversals and break-aways inside a step: the step is split there, consistently with its inclusion (moreau.hpp).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "stickslip/common/root_finding.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kHold = 1e6;  // times the static limit: a held law does not give way
constexpr double kJump =
    1e-6;  // of the speed before: it leaps over zero, as where a foot lands, and does not stop there
}  // namespace

bool MoreauScheme::may_split() const {
  if (!options_.locate_reversals) return false;
  const int most = options_.max_splits > 0
                       ? options_.max_splits
                       : 20 + 10 * static_cast<int>(laws_.laws() + static_cast<Index>(contacts_.size()));
  return splits_ < most;
}

bool MoreauScheme::locates() const {
  if (!may_split()) return false;
  // Blows and their forces belong to the whole step.
  return !has_impact_ && std::none_of(active_.begin(), active_.end(), [](const Active& a) { return a.impact; });
}

/// Laws that may reverse, stop or break away from a static limit in the attempt just made; false if there are none.
bool MoreauScheme::collect_candidates(double h) {
  reversing_.clear();
  giving_way_.clear();
  const auto reversed = [&](Index i) { return u0_[i] > 0 ? solution_.u[i] <= 0 : solution_.u[i] >= 0; };
  for (Index k = 0; k < laws_.laws(); ++k) {
    const Index i = laws_.first(k);
    if (laws_.size(k) != 1 || springs_.takes(k)) continue;
    if (!friction_rest_[k] && u0_[i] != 0 && laws_.limit(k) != 0 && reversed(i) && !ends_at_stop(i) &&
        !passes_dead_point(i, h))
      reversing_.push_back({{k, -1, u0_[i] > 0 ? 1.0 : -1.0, false}, u0_[i], 0.0});
    if (laws_.has_static() && may_give_way(k, h)) giving_way_.push_back(k);
  }
  if (laws_.has_static() && laws_.limits_vary()) {  // a limit may come down to the reaction after mid-step
    evaluate_limits_at(1.0, h);
    for (Index k = 0; k < laws_.laws(); ++k)
      if (may_give_way(k, h) && std::find(giving_way_.begin(), giving_way_.end(), k) == giving_way_.end())
        giving_way_.push_back(k);
    evaluate_limits_at(0.5, h);
  }
  std::erase_if(giving_way_, [&](Index k) { return shares_its_load(k); });
  constexpr std::size_t kFew = 16;  // piles step over the turns of their points
  constexpr double kNoise = 1e-9;   // of what the forces of the step do along the row: it rests
  const bool rebounds =
      std::any_of(contacts_.begin(), contacts_.end(), [](const ContactElement& c) { return c.restitution > 0; });
  // With restitution the order is 1 whatever is located.
  if (active_.size() > kFew || rebounds || options_.contact_rule != ContactRule::stabilised)
    return !reversing_.empty() || !giving_way_.empty();
  for (const Active& active : active_) {
    const ContactElement& law = contacts_[static_cast<std::size_t>(active.law)];
    const Index i = active.first + 1;
    const bool slides = law.tangents == 1 && law.mu > 0 && !active.holds && active.touches &&
                        std::abs(u0_[i]) > kNoise * thrust_along(i);
    if (slides && solution_.r[active.first] > 0 && reversed(i) && !passes_dead_point(i, h))
      reversing_.push_back({{-1, active.found, u0_[i] > 0 ? 1.0 : -1.0, false}, u0_[i], solution_.r[active.first]});
  }
  return !reversing_.empty() || !giving_way_.empty();
}

/// A contact along the same direction ends the slip, as the stop of a hinge does: friction has no part in when.
bool MoreauScheme::ends_at_stop(Index row) const {
  const SparseMatrix& Wt = problem_.Wt;
  const auto entries = [&](Index of) { return Wt.outerIndexPtr()[of + 1] - Wt.outerIndexPtr()[of]; };
  const auto column = [&](Index of) { return Wt.innerIndexPtr()[Wt.outerIndexPtr()[of]]; };
  if (entries(row) != 1) return false;
  return std::any_of(active_.begin(), active_.end(), [&](const Active& active) {
    return solution_.r[active.first] > 0 && entries(active.first) == 1 && column(active.first) == column(row);
  });
}

/// The constraints turn the slip around within the step, as at the dead point of a crank: what a reaction along the row
/// does, P W, changes its direction. There friction has no lever; an event located at it would end a part of the step
/// at a singular place for nothing (the force that is wrong for a moment acts along a row of size h).
bool MoreauScheme::passes_dead_point(Index row, double h) {
  if (!constrained_.any()) return false;
  column_.setZero(v0_.size());
  for (SparseMatrix::InnerIterator entry(problem_.Wt, row); entry; ++entry) column_[entry.col()] = entry.value();
  if (!refresh_constraints(system_, t0_, q0_, constraint_workspace_)) return true;
  constraint_workspace_.mass.apply(column_, response_);
  system_.inertia().mass(q0_, workspace_).product(response_, balance_);
  v_theta_ = options_.theta * solution_.v + (1 - options_.theta) * v0_;
  move(h, v_theta_, q_end_);
  if (!refresh_constraints(system_, t0_ + h, q_end_, constraint_workspace_)) return true;
  constraint_workspace_.mass.apply(column_, response_);
  return !(balance_.dot(response_) > 0);
}

/// Velocities along a row that the forces of the step would make one by one. [m/s]
double MoreauScheme::thrust_along(Index row) const {
  double sum = 0;
  for (SparseMatrix::InnerIterator entry(problem_.Wt, row); entry; ++entry)
    sum += std::abs(entry.value() * (v_free_[entry.col()] - v_m_[entry.col()]));
  return sum;
}

/// Other laws at rest hold, under the constraints, what this one does: its reaction alone says nothing about
/// break-away. They give way together, where the step as a whole does.
bool MoreauScheme::shares_its_load(Index law) {
  constexpr double kDependent = 1e-9;  // of a direction in the metric of the mass
  if (!constrained_.any() || !refresh_constraints(system_, t0_, q0_, constraint_workspace_)) return false;
  const DenseMatrix& N = constraint_workspace_.mass.free_directions();
  const auto direction = [&](Index k) {
    Vector along = Vector::Zero(N.cols());
    for (SparseMatrix::InnerIterator entry(problem_.Wt, laws_.first(k)); entry; ++entry)
      along += entry.value() * N.row(entry.col()).transpose();
    return along;
  };
  std::vector<Vector> others;  // orthogonal
  const auto beside_others = [&](Vector along) {
    for (const Vector& other : others) along -= other.dot(along) * other;
    return along;
  };
  for (Index k = 0; k < laws_.laws(); ++k) {
    if (k == law || laws_.size(k) != 1 || !friction_rest_[k] || springs_.takes(k)) continue;
    const Vector along = direction(k), rest = beside_others(along);
    if (rest.norm() > kDependent * along.norm()) others.push_back(rest.normalized());
  }
  const Vector along = direction(law);
  return !others.empty() && beside_others(along).norm() <= kDependent * along.norm();
}

bool MoreauScheme::may_give_way(Index k, double h) const {
  if (!friction_rest_[k] || breaking_[k] || laws_.size(k) != 1 || !(laws_.static_limit(k) > laws_.limit(k)))
    return false;
  if (friction_released_[k]) return true;
  // Held over the step as a whole, but perhaps not to its end: the trend of the mean tells whether to look closer.
  const double mean = solution_.r[laws_.first(k)] / h;
  const double change = std::isnan(held_mean_[k]) ? 0.5 * mean : mean - held_mean_[k];
  const double limit = laws_.static_limit(k);
  if (!laws_.follows_reactions(k)) return std::abs(mean) + std::abs(change) > limit;
  const double fall = std::isnan(held_limit_[k]) ? 0.5 * limit : std::max(0.0, held_limit_[k] - limit);
  return std::abs(mean) + std::abs(change) > limit - fall;
}

/// Limits after a share of the step just attempted.
void MoreauScheme::evaluate_limits_at(double share, double h) {
  v_theta_ = share * solution_.v + (1 - share) * v0_;
  mean_velocity_ = 0.5 * (v0_ + v_theta_);
  move(share * h, mean_velocity_, q_theta_);
  laws_.evaluate_limits(forces_.left_limit(t0_ + share * h, h), q_theta_, v_theta_, workspace_);
}

/// Row of the frozen law's slip; -1 where the point takes no part in this attempt.
Index MoreauScheme::frozen_row() const {
  if (frozen_.law >= 0) return laws_.first(frozen_.law);
  for (const Active& active : active_)
    if (active.found == frozen_.point) return active.first + 1;
  return -1;
}

/// The known impulse of the frozen law goes to the right-hand side for the solve (factor 1) and back (-1).
void MoreauScheme::freeze(double h, double factor) {
  const Index row = frozen_row();
  if (row < 0) return;
  const bool entering = factor > 0;
  if (frozen_.held) {
    problem_.sets[static_cast<std::size_t>(frozen_.law)].limit =
        (entering ? kHold : 1.0) * h * laws_.static_limit(frozen_.law);
    if (!entering) ++problem_.sets_version;
    return;
  }
  double impulse = 0;
  if (frozen_.law >= 0) {
    impulse = -h * laws_.limit(frozen_.law) * frozen_.sign;
    problem_.sets[static_cast<std::size_t>(frozen_.law)].limit = entering ? 0.0 : h * laws_.limit(frozen_.law);
  } else {
    const auto at =
        std::find_if(active_.begin(), active_.end(), [&](const Active& a) { return a.found == frozen_.point; });
    const double mu = friction_coefficient(*at);
    if (frozen_normal_ < 0) frozen_normal_ = std::max(0.0, last_frozen_normal_);
    impulse = -mu * frozen_normal_ * frozen_.sign;
    problem_.sets[static_cast<std::size_t>(laws_.laws() + (at - active_.begin()))].limit = entering ? 0.0 : mu;
  }
  for (SparseMatrix::InnerIterator entry(problem_.Wt, row); entry; ++entry)
    problem_.g[entry.col()] += factor * impulse * entry.value();
  if (entering) return;
  ++problem_.sets_version;
  solution_.r[row] = impulse;
}

/// Friction of a frozen point follows the normal impulse that it acts on.
bool MoreauScheme::frozen_point_settles() {
  constexpr double kSettled = 1e-13;  // what solving to round-off leaves of an impulse
  const Index row = frozen_row();
  if (row < 0) return true;
  const double normal = solution_.r[row - 1], change = std::abs(normal - frozen_normal_);
  frozen_normal_ = last_frozen_normal_ = normal;
  return change <= kSettled * std::abs(normal);
}

double MoreauScheme::end_velocity(double h, const Frozen& frozen, StepRecord& record, Status& status) {
  status = attempt(h, frozen, record);
  if (status != Status::success) return kNaN;
  const Index row = frozen_row();
  return row < 0 ? kNaN : frozen.sign * solution_.u[row];
}

namespace {
constexpr double kSameSign =
    1e-3;  // of its mean: a reaction that a limit follows is not extrapolated to where it has no value

/// At the end of a step, from the means over its first half and the whole: 3/2 of that over the second half less 1/2.
double extrapolated(double first_half, double whole) { return 3 * whole - 2 * first_half; }
}  // namespace

/// static_limit minus the reaction of the held law at the end of a step of size h, both extrapolated from its two
/// halves.
double MoreauScheme::margin_to_break_away(double h, Index law, StepRecord& record, Status& status) {
  const Index i = laws_.first(law);
  const Frozen held{law, -1, 0, true};
  status = attempt(h / 2, held, record);
  if (status != Status::success) return kNaN;
  const double first_half = solution_.r[i] / (h / 2);
  auto reactions = workspace_.variables.reactions();
  first_reactions_ = reactions;
  status = attempt(h, held, record);
  if (status != Status::success) return kNaN;
  const double reaction = extrapolated(first_half, solution_.r[i] / h);
  reactions_ = reactions;
  for (Index j = 0; j < reactions_.size(); ++j) {
    const double end = extrapolated(first_reactions_[j], reactions_[j]), least = kSameSign * reactions_[j];
    reactions[j] = reactions_[j] < 0 ? std::min(end, least) : std::max(end, least);
  }
  if (laws_.limits_vary()) evaluate_limits_at(1.0, h);  // it gives way at the end of the step, not in its middle
  reactions = reactions_;
  return laws_.static_limit(law) - std::abs(reaction);
}

/// Where the candidate's slip vanishes in (0, before]; none if it does not.
std::optional<double> MoreauScheme::reversal(const Frozen& candidate, double before, double h, StepRecord& record,
                                             Status& status) {
  // Of the step, and of the time itself: a law that stops within it is at rest from the start. Laws that stop together,
  // as the legs of a symmetric robot do, are apart by rounding.
  constexpr double kAtOnce = 1e-14, kLastBits = 64 * std::numeric_limits<double>::epsilon();
  const double at_once = std::max(kAtOnce * h, kLastBits * std::abs(t0_));
  constexpr double kPlateau = 1e-15;  // of the speed before: another law that shares the direction may hold ψ at zero
  constexpr double kBelow = -1e-3;    // from the stop on, which counts as below zero, so that its beginning is found
  const double speed = std::abs(start_slip_);
  double ahead = speed, beyond = 0;  // of ψ on either side of the root so far
  auto psi = [&](double x) {
    const double velocity = end_velocity(std::max(x, at_once), candidate, record, status);
    (velocity > kPlateau * speed ? ahead : beyond) = velocity;
    return std::abs(velocity) <= kPlateau * speed ? kBelow * speed : velocity;
  };
  if (before <= at_once) return std::nullopt;
  const double at_end = psi(before);
  if (status != Status::success || !(at_end <= 0)) return std::nullopt;
  // To the last bits of x itself: a strong law stops in a small part of the step, and u must vanish there.
  const Root root = find_root(psi, 0.0, speed, before, at_end, 0.0);
  if (status != Status::success || root.x <= at_once) return std::nullopt;
  if (ahead - beyond > kJump * speed) return std::nullopt;
  return std::min(before, root.x);
}

/// The earliest of the candidates' events in (0, h], or h and no law.
std::pair<double, MoreauScheme::Frozen> MoreauScheme::earliest_event(double h, StepRecord& record, Status& status) {
  double earliest = h;
  Frozen found;
  for (const auto& [candidate, slip, normal] : reversing_) {
    start_slip_ = slip;
    last_frozen_normal_ = normal;
    const std::optional<double> at = reversal(candidate, earliest, h, record, status);
    if (status != Status::success) return {h, {}};
    if (!at) continue;
    earliest = *at;
    found = candidate;
  }
  for (const Index k : giving_way_) {
    constexpr double kSoon = 1e-3, kNoise = 1e-9;  // of the step
    auto margin = [&](double x) { return margin_to_break_away(x, k, record, status); };
    const double soon = kSoon * h;  // a law that is over its limit from the start gives way there: nothing to locate
    if (soon >= earliest) continue;
    const double at_start = margin(soon), at_end = status == Status::success ? margin(earliest) : kNaN;
    if (status != Status::success) return {h, {}};
    if (at_start <= 0 || at_end > 0) continue;
    // The margin is a difference of means: below this it is noise, and the location is O(h²) anyway.
    const Root root = find_root(margin, soon, at_start, earliest, at_end, kNoise * h);
    if (status != Status::success) return {h, {}};
    earliest = root.x;
    found = {k, -1, 0, true};
  }
  return {earliest, found};
}

/// Reactions that are not unique may leave the place of the stop to the solver: it must be met again.
bool MoreauScheme::frozen_law_stops() const {
  if (!frozen_.any() || frozen_.held) return true;
  const Index row = frozen_row();
  if (row < 0 || !(std::abs(solution_.u[row]) <= kJump * std::abs(u0_[row]))) return false;
  // What is left is taken away, and must not be seen in the balance of momentum.
  constexpr double kOfMotion = 1e-12;
  if (lean_ || frozen_.law < 0) return true;
  const double rho = std::sqrt(weights_[frozen_.law]), motion = std::max(momentum_scale_, rho * std::abs(u0_[row]));
  return std::abs(solution_.u[row]) <= kOfMotion * motion / rho;
}

/// A law that was brought to its stop has u = 0 exactly. What root finding left of u is round-off of its terms W_j v_j,
/// and each gives its share: the same relative change of every velocity, in any units.
void MoreauScheme::stop_frozen_law() {
  const Index i = frozen_row();
  if (i < 0) return;
  double terms = 0;
  Index entries = 0;
  for (SparseMatrix::InnerIterator entry(problem_.Wt, i); entry; ++entry, ++entries)
    terms += std::abs(entry.value() * solution_.v[entry.col()]);
  for (SparseMatrix::InnerIterator entry(problem_.Wt, i); entry; ++entry) {
    double& v = solution_.v[entry.col()];
    if (entries == 1) {
      v = problem_.w[i] / entry.value();
    } else if (terms > 0) {
      v -= solution_.u[i] / terms * std::copysign(v, entry.value());
    }
  }
  solution_.u[i] = 0;
}

void MoreauScheme::note_friction_modes(double t1, StepRecord& record) {
  std::vector<Mode>& modes = record.state.modes;
  for (Index k = 0; k < laws_.laws(); ++k) {
    const bool elastic = springs_.takes(k);
    const Mode before = modes[k], after = elastic ? springs_.mode(k) : friction_mode(k);
    breaking_[k] = 0;
    if (laws_.has_static()) {
      const bool held = friction_rest_[k] && after == Mode::stick;
      held_mean_[k] = held ? solution_.r[laws_.first(k)] / record.duration : kNaN;
      held_limit_[k] = held ? laws_.static_limit(k) : kNaN;
    }
    if (k == frozen_.law) {
      stop_time_[k] = t1;
      breaking_[k] = frozen_.held;
      friction_rest_[k] = 1;
      continue;
    }
    // It stops together with the located one: the next part tells what becomes of it.
    if (frozen_.any() && !frozen_.held && before != Mode::stick && after == Mode::stick &&
        laws_.mode(k, solution_.u) != Mode::stick) {
      stop_time_[k] = t1;
      friction_rest_[k] = 1;
      continue;
    }
    if (after != before && laws_.static_limit(k) > 0) {
      const double t = !std::isnan(stop_time_[k]) ? stop_time_[k] : before == Mode::stick ? t0_ : t1;
      if (const auto kind = event_between(before, after))
        record.events.push_back({t, static_cast<int>(k), *kind, before, after, 0});
    }
    if (before == Mode::stick && after == Mode::stick && friction_rest_[k] && !elastic)
      for (int c = 0; c < laws_.size(k); ++c)
        stick_audit_.step.motion =
            std::max(stick_audit_.step.motion, record.duration * std::abs(solution_.u[laws_.first(k) + c]));
    modes[k] = after;
    friction_rest_[k] = after == Mode::stick;
    if (options_.locate_reversals) stop_time_[k] = kNaN;
  }
}

/// Laws on a coordinate of their own stick to the last bit, on constraints too.
void MoreauScheme::stick_exactly(State& s) const {
  for (Index k = 0; k < laws_.laws(); ++k)
    for (int c = 0; s.modes[static_cast<std::size_t>(k)] == Mode::stick && !springs_.takes(k) && c < laws_.size(k);
         ++c) {
      const Direction& direction = laws_.element(k).directions[static_cast<std::size_t>(c)];
      if (direction.size() == 1 && direction[0].second == 1.0) s.v[direction[0].first] = problem_.w[laws_.first(k) + c];
    }
}

}  // namespace stickslip
