// SPDX-License-Identifier: Apache-2.0
// Which contact points take part in a step, what their law adds, and how they leave a penetration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

namespace {
constexpr double kNoise = 1e-12;  // of the velocities at hand, and of those that the reactions take away
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// It must touch before it is an impact: one that rebounds, or whose friction acts by a law of its own, cannot end in
/// the step's inclusion.
bool waits_for_its_impact(const ContactElement& law) {
  return law.restitution > 0 || law.impact == ImpactLaw::energetic;
}
}  // namespace

/// Inside in the middle of the step, away at its start: its impact is to be located.
bool MoreauScheme::arrives_later(std::size_t k, Index row, double h) const {
  const ContactSite& point = found_.points[k];
  const Approach& along = approaches_[k];
  if (!along.impact() || !impact_is_located(point) || !may_split()) return false;
  return point.gap - 0.5 * h * along.before > touching(point, row, along, h);
}

bool MoreauScheme::impact_is_located(const ContactSite& point) const {
  return locates_impacts_ && !point.has_frame && waits_for_its_impact(contacts_[static_cast<std::size_t>(point.law)]);
}

double MoreauScheme::restitution(const ContactSite& point) const {
  const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
  const bool spent = law.impact == ImpactLaw::newton && impact_is_located(point) && !may_split();
  return spent ? 0.0 : law.restitution;
}

bool MoreauScheme::waits_for_impact(const ContactSite& point) const {
  return restitution(point) > 0 || contacts_[static_cast<std::size_t>(point.law)].impact == ImpactLaw::energetic;
}

/// What the last step left at the points that took part in it, less a jump of the surface since.
void MoreauScheme::recall_velocities(double h) {
  // What moves further is another place: ways of the fastest point in a step, and of the smallest shape at rest.
  constexpr double kSteps = 4, kOfShape = 1e-3;
  recalled_.assign(found_.points.size(), kNaN);
  if (!stepped_) return;
  const double before = surfaces_move_ ? forces_.left_limit(t0_, h) : t0_;
  const bool jumps = before != t0_;
  if (jumps) system_.laws().contact_source().surface(before, q_m_, workspace_, found_, w_left_);
  double near = -1;  // found when the first point asks for it
  const auto stayed = [&](const ContactSite& point, const double* x) {
    if (near < 0) near = kSteps * h * system_.laws().contact_source().speed_bound(v_m_) + kOfShape * length_;
    return std::hypot(point.position[0] - x[0], point.position[1] - x[1], point.position[2] - x[2]) <= near;
  };
  Index row = 0;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const ContactSite& point = found_.points[k];
    if (const int last = last_index(point.key); last >= 0) {
      const auto from = static_cast<std::size_t>(last);
      if (!point.has_frame || stayed(point, last_position_.data() + 3 * from))
        recalled_[k] = last_normal_[from] - (jumps ? w_start_[row] - w_left_[row] : 0.0);
    }
    row += contacts_[static_cast<std::size_t>(point.law)].size();
  }
}

/// What the forces of the step do to the velocities of the free bodies of a row, whatever their direction: contacts
/// turn it. Weight presses what lies in a heap against its neighbours and walls as fast as it would fall. [m/s]
double MoreauScheme::forces_on_bodies(Index row) const {
  constexpr int kPerBody = 6;  // entries of a row (model/multibody/body_contacts.hpp): velocity, then spin
  const int* column = found_.Wt.innerIndexPtr();
  const double* value = found_.Wt.valuePtr();
  const auto part = [&](int from) {
    double direction = 0, change = 0;
    for (int at = from; at < from + 3; ++at) {
      const double dv = v_free_[column[at]] - v_m_[column[at]];
      direction += value[at] * value[at];
      change += dv * dv;
    }
    return std::sqrt(direction * change);
  };
  double sum = 0;
  const int end = found_.Wt.outerIndexPtr()[row + 1];
  for (int at = found_.Wt.outerIndexPtr()[row]; at + kPerBody <= end; at += kPerBody) sum += part(at) + part(at + 3);
  return sum;
}

/// An impact is faster than what the forces of one step do to the bodies at hand, and than rounding.
MoreauScheme::Approach MoreauScheme::approach(std::size_t k, Index row) const {
  double before = -w_start()[row], free = -w_end()[row], forces = 0, noise = 0, length = 0;
  for (int at = found_.Wt.outerIndexPtr()[row]; at < found_.Wt.outerIndexPtr()[row + 1]; ++at) {
    const Index i = found_.Wt.innerIndexPtr()[at];
    const double a = found_.Wt.valuePtr()[at], v = v_m_[i], v_free = v_free_[i];
    before += a * v;
    free += a * v_free;
    forces += std::abs(a * (v_free - v));
    noise += std::abs(a * v);
    length += a * a * inverse_diagonal_[i];
  }
  if (drift_kick_) forces = std::max(forces, forces_on_bodies(row));
  noise += std::sqrt(length) * thrust_;
  const double arrival = std::isnan(recalled_[k]) ? before : std::max(before, recalled_[k]);
  // Parts of a step are judged as the whole: what rebounds come to is not to be followed to ever shorter flights.
  const double parts = std::max(1.0, grid_step_ / part_);
  return {before, free, arrival, std::max(parts * std::max(std::abs(free - before), forces), kNoise * noise)};
}

void MoreauScheme::note_approaches() {
  approaches_.clear();
  Index row = 0;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    approaches_.push_back(approach(k, row));
    row += contacts_[static_cast<std::size_t>(found_.points[k].law)].size();
  }
}

/// What the audit sees of gaps in the middle of the step, before they are corrected.
void MoreauScheme::note_penetration(double h) {
  constexpr double kInside = 0.01;  // of the smallest shape: what solvers of heaps and turning bodies leave
  // Of the way that the motion as a whole would make along the row: what moves a stop in free fall is its rounding.
  constexpr double kRounding = 1e-9;
  fastest_.resize(contacts_.size(), 0.0);
  double motion = 0;
  for (Index i = 0; i < v_m_.size(); ++i) motion += v_m_[i] * v_m_[i] / inverse_diagonal_[i];
  const auto along = [&](Index row) {
    double mobility = 0;
    for (SparseMatrix::InnerIterator entry(found_.Wt, row); entry; ++entry)
      mobility += entry.value() * entry.value() * inverse_diagonal_[entry.col()];
    return (std::sqrt(motion) + thrust_ * std::max(1.0, grid_step_ / h)) * std::sqrt(mobility);
  };
  Index row = 0;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const ContactSite& point = found_.points[k];
    const auto law = static_cast<std::size_t>(point.law);
    double& fastest = fastest_[law];
    fastest = std::max(fastest, approaches_[k].way(1.0));
    if (point.gap < 0 && !arrives_later(k, row, h)) {
      raise(contact_audit_.step.penetration, -point.gap);
      const double touches = point.has_frame ? kInside * length_ : penetration_tolerance(point, row, approaches_[k], h);
      const double way = std::max(h, grid_step_) * fastest;
      const double depth = -point.gap - touches - kRounding * grid_step_ * along(row);
      if (stepped_ && depth > 0 && way > 0) raise(contact_audit_.step.steps, depth / way);
    }
    row += contacts_[law].size();
  }
}

/// A point that is thrown back by restitution, or on its way out already, needs no help; lifting it as well would feed
/// a bouncing body for ever. One blow leaves no point deeper than its way of a step: what is deeper was driven in by
/// the blows of others, who may do so again, step by step.
bool MoreauScheme::leaves_by_itself(std::size_t k, double h) const {
  constexpr double kWayOfABlow = 1.5;  // steps, found in their middle
  const Approach& approach = approaches_[k];
  if (impact_is_located(found_.points[k]) && found_.points[k].gap < -kWayOfABlow * approach.way(h)) return false;
  if (approach.impact()) return waits_for_impact(found_.points[k]);
  return drift_kick_ ? approach.leaves() : approach.before > std::abs(approach.free - approach.before);
}

bool MoreauScheme::some_point_stays_inside(double h) const {
  Index row = 0;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const ContactSite& point = found_.points[k];
    if (point.gap < 0 && point.gap < -penetration_tolerance(point, row, approaches_[k], h) && !leaves_by_itself(k, h))
      return true;
    row += contacts_[static_cast<std::size_t>(point.law)].size();
  }
  return false;
}

/// Positions leave the penetration along the shortest way in the metric of the mass.
Status MoreauScheme::remove_penetration(double h) {
  const Index n = system_.info().nv();
  Vector& q = drift_kick_ ? q_m_ : q0_;  // where the step's balance of energy begins
  const double potential = system_.forces().potential_energy(q), kinetic = system_.inertia().kinetic_energy(q, v_m_);
  correction_.A = &mass_;
  correction_.A_version = ++version_;
  correction_.g = Vector::Zero(n);
  correction_rows_.clear();
  Index row = 0;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const ContactSite& point = found_.points[k];
    // A stop that leaves by itself is not lifted, but not pressed in by the others either.
    const bool leaves = leaves_by_itself(k, h);
    if (!leaves || impact_is_located(point))
      correction_rows_.push_back({k, row, leaves ? std::max(point.gap, 0.0) : point.gap});
    row += contacts_[static_cast<std::size_t>(point.law)].size();
  }
  const auto count = static_cast<Index>(correction_rows_.size());
  correction_.w.resize(count);
  correction_.sets.assign(correction_rows_.size(), half_line_set());
  correction_.Wt.resize(count, n);
  correction_.Wt.reserve(found_.Wt.nonZeros());
  for (Index k = 0; k < count; ++k) {
    const auto& [found, from, gap] = correction_rows_[static_cast<std::size_t>(k)];
    correction_.Wt.startVec(k);
    for (SparseMatrix::InnerIterator entry(found_.Wt, from); entry; ++entry)
      correction_.Wt.insertBack(k, entry.col()) = entry.value();
    correction_.w[k] = -gap;
  }
  correction_.Wt.finalize();
  SolveOptions options;
  constexpr Index kMany = 200;
  if (count > kMany) {  // a pile needs a push in the right direction, not the exact projection
    options.solver = SolverKind::gauss_seidel;
    options.tolerance = 1e-3;
    options.max_iterations = 100;
  }
  corrected_.r.resize(0);
  solve(correction_, options, correction_solver_, corrected_);
  // How near to the shortest way matters little; that the bodies come apart does.
  constexpr double kHelps = 0.5;
  if (corrected_.status != Status::success && count <= kMany && !(share_that_stays(corrected_.v, h) <= kHelps))
    return fail(corrected_.status,
                fmt::format("moreau: penetration at t = {:.9g} s cannot be removed ({}); reduce run.step, "
                            "or use run.moreau.contact_rule = \"velocity\"",
                            t0_, corrected_.message));
  if (drift_kick_) {
    free_motion_->displace(corrected_.v, q_m_, v_m_);
  } else {
    system_.kinematics().displace(corrected_.v, q_m_);
    system_.kinematics().displace(corrected_.v, q0_);
  }
  correction_work_ =
      system_.forces().potential_energy(q) - potential + system_.inertia().kinetic_energy(q, v_m_) - kinetic;
  return Status::success;
}

double MoreauScheme::share_that_stays(const Vector& move, double h) const {
  double before = 0, after = 0;
  for (const auto& [k, row, gap] : correction_rows_) {
    const double allowed = penetration_tolerance(found_.points[k], row, approaches_[k], h);
    raise(before, -gap - allowed);
    raise(after, -gap - row_times(found_.Wt, row, move) - allowed);
  }
  return before > 0 ? after / before : after;
}

void MoreauScheme::select_points(double h) {
  active_.clear();
  approach_speed_ = 0;
  taken_.resize(found_.points.size());
  const bool stabilised = options_.contact_rule == ContactRule::stabilised;
  const bool many = found_.points.size() > kFewPoints;
  Index row = 0, first = laws_.components();
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const ContactSite& point = found_.points[k];
    const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
    const Approach& along = approaches_[k];
    const double before = along.before, free = along.free;
    const bool impact = along.impact();
    approach_speed_ = std::max({approach_speed_, -before, -free});
    Active active{.law = point.law, .found = static_cast<int>(k), .row = row, .first = first, .impact = impact};
    active.arrival = along.arrival;
    bool takes_part;
    if (!stabilised) {
      takes_part = point.gap <= 0;
      active.touches = takes_part;
      active.bias = law.impact == ImpactLaw::newton ? law.restitution * before : 0;
    } else if (has_arrived(point) || strikes_now(point, row, along, h) ||
               (point.gap <= touching(point, row, along, h) && !arrives_later(k, row, h))) {
      takes_part = true;
      active.touches = true;
      // What carries load and gives way a little, slower than the forces of the step explain, is no impact.
      const bool rests = drift_kick_ && !impact;
      active.bias = law.impact == ImpactLaw::newton && !rests ? restitution(point) * std::min(along.arrival, 0.0) : 0;
    } else {
      takes_part = h * free < -point.gap && !(impact && waits_for_impact(point));
      active.bias = point.gap / h;
      active.impact &= takes_part;
      // Points that stay away get no impulse: to take those that pushed in the last step changes nothing but the number
      // of problems, in a heap one per layer.
      if (many && !takes_part && !(waits_for_impact(point) && before < 0)) {
        const int last = last_index(point.key);
        takes_part = last >= 0 && last_impulse_[last_first_[static_cast<std::size_t>(last)]] > 0;
      }
    }
    taken_[k] = takes_part;
    if (takes_part) {
      active_.push_back(active);
      first += law.size();
    }
    row += law.size();
  }
  for (Active& active : active_) active.strikes = active.impact;
  if (stabilised) leave_out_bystanders(h);
}

/// The blow may drive a body on to a point that it was leaving, or was still away from. The step has one velocity for
/// that: the point would end it without rebound, whatever its e. Left out, it is an impact of its own, afterwards.
/// What carried load stays: contacts at rest share a blow.
void MoreauScheme::leave_out_bystanders(double h) {
  constexpr double kOnItsWayOut = 2;  // steps: what is in deeper is pressed in, and must not wait
  const auto struck = [](const Active& active) { return active.impact; };
  if (std::none_of(active_.begin(), active_.end(), struck)) return;
  const auto waits = [&](const Active& active) {
    const auto k = static_cast<std::size_t>(active.found);
    if (active.impact || !(restitution(found_.points[k]) > 0)) return false;
    const Approach& along = approaches_[k];
    if (along.leaves() && found_.points[k].gap > -kOnItsWayOut * h * along.before) return true;
    return !active.touches && !carried_load(k);
  };
  const auto end = std::remove_if(active_.begin(), active_.end(), [&](const Active& active) {
    const bool out = waits(active);
    if (out) taken_[static_cast<std::size_t>(active.found)] = 0;
    return out;
  });
  if (end != active_.end()) {
    active_.erase(end, active_.end());
    number_rows();
  }
  // What is left of those on their way out takes its share of the blow by Newton's law as the struck ones do: held at
  // u_N⁺ >= 0 it would stop without loss what it was leaving with, and make energy.
  for (Active& active : active_) {
    const Approach& along = approaches_[static_cast<std::size_t>(active.found)];
    const ContactElement& law = contacts_[static_cast<std::size_t>(active.law)];
    if (!active.impact && active.touches && along.leaves() && law.impact == ImpactLaw::newton)
      active.bias = restitution(found_.points[static_cast<std::size_t>(active.found)]) * along.before;
  }
}

bool MoreauScheme::carried_load(std::size_t k) {
  const int last = last_index(found_.points[k].key);
  return last >= 0 && last_impulse_[last_first_[static_cast<std::size_t>(last)]] > 0;
}

void MoreauScheme::number_rows() {
  Index first = laws_.components();
  for (Active& active : active_) {
    active.first = first;
    first += contacts_[static_cast<std::size_t>(active.law)].size();
  }
}

/// How fast a point that was left out, because it was free to stay away, is closed by the solution beyond its gap
/// [m/s]; where there is a rebound to come, slow ones only, the others count as open.
double MoreauScheme::overlooked_speed(std::size_t k, Index row, bool struck, double h) {
  constexpr double kNegligible = 1e-3;  // of what counts as touching
  const ContactSite& point = found_.points[k];
  const Approach& along = approaches_[k];
  const double after = row_times(found_.Wt, row, solution_.v) - w_end()[row];
  const bool fast = !carried_load(k) && -after > along.slow, hit = struck && (along.leaves() || fast);
  // What lands slowly is held like any other; what is driven in fast is a blow of its own.
  const bool open = drift_kick_ ? along.impact() || fast || hit : along.arrival < 0 || hit;
  if (waits_for_impact(point) && open) return -HUGE_VAL;
  return -after - (point.gap + kNegligible * touching(point, row, along, h)) / h;
}

/// Adds points that the solution closes. In a heap each of them moves its neighbours, so that more would follow one by
/// one: those that come as near are taken at once. They get no impulse if they stay away.
bool MoreauScheme::add_overlooked_points(double h) {
  if (options_.contact_rule != ContactRule::stabilised) return false;
  const bool struck = std::any_of(active_.begin(), active_.end(), [](const Active& active) { return active.impact; });
  overlooked_.clear();
  double fastest = 0;
  Index row = 0;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const double speed = taken_[k] ? -HUGE_VAL : overlooked_speed(k, row, struck, h);
    overlooked_.emplace_back(speed, row);
    raise(fastest, speed);
    row += contacts_[static_cast<std::size_t>(found_.points[k].law)].size();
  }
  if (!(fastest > 0)) return false;
  const double least = active_.size() > kFewPoints ? -fastest : 0.0;
  for (Active& active : active_) active.solved = active.first;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    if (!(overlooked_[k].first > least)) continue;
    const ContactSite& point = found_.points[k];
    active_.push_back({.law = point.law,
                       .found = static_cast<int>(k),
                       .row = overlooked_[k].second,
                       .bias = point.gap / h,
                       .arrival = approaches_[k].arrival});
    taken_[k] = 1;
  }
  without_overlooked_ = solution_.r;
  std::sort(active_.begin(), active_.end(), [](const Active& a, const Active& b) { return a.found < b.found; });
  number_rows();
  return true;
}

double MoreauScheme::friction_coefficient(const Active& point) const {
  const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
  return point.holds && law.mu_static ? *law.mu_static : law.mu;
}

}  // namespace stickslip
