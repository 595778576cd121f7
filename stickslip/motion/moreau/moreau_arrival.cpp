// SPDX-License-Identifier: Apache-2.0
// Impacts inside a step, of contacts that rebound and whose gap is a function of the coordinates (stops of hinges): the
// step is split where the first of them arrives, and its blow takes an instant (moreau.hpp).
#include <algorithm>
#include <cmath>

#include "stickslip/common/root_finding.hpp"
#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

namespace {
// Of the step, and of the time itself: what a blow takes. Positions move by that part of their way in it, clocks
// resolve it.
constexpr double kInstant = 1e-8, kOfTime = 1e-13;
constexpr double kArrived = 1e-13;  // of the step: how exactly the time of an arrival is found
constexpr double kInside = 1e-9;    // of the way of the step: less is not beyond the surface
}  // namespace

bool MoreauScheme::has_arrived(const ContactSite& point) const {
  return std::binary_search(arrived_.begin(), arrived_.end(), point.key);
}

double MoreauScheme::instant() const { return std::max(kInstant * grid_step_, kOfTime * std::abs(t0_)); }

/// All that is struck in the attempt rebounds and was located.
bool MoreauScheme::blow_now() const {
  bool some = false;
  for (const Active& active : active_) {
    if (!active.impact) continue;
    if (!active.touches || !impact_is_located(found_.points[static_cast<std::size_t>(active.found)])) return false;
    some = true;
  }
  return some;
}

/// Of the arriving points, after the attempt just made. [m]
double MoreauScheme::least_gap_at_end(double h) {
  v_theta_ = options_.theta * solution_.v + (1 - options_.theta) * v0_;
  move(h, v_theta_, q_end_);
  double least = reach_within(2 * h, v0_, solution_.v);
  system_.laws().contact_source().find(t0_ + h, q_end_, least, workspace_, at_end_);
  for (const ContactSite& point : at_end_.points)
    if (std::binary_search(arriving_.begin(), arriving_.end(), point.key)) least = std::min(least, point.gap);
  return least;
}

/// Points that are away at the start of the attempt just made, take no part in it, and are inside at its end; nearest:
/// the least of their gaps at the start. Those within an instant of their surface have arrived.
bool MoreauScheme::collect_arrivals(double h, double& nearest) {
  arriving_.clear();
  least_gap_at_end(h);
  Index row = 0;
  for (const ContactSite& point : at_end_.points) {
    const double u = row_times(at_end_.Wt, row, solution_.v) - at_end_.w[row];
    row += contacts_[static_cast<std::size_t>(point.law)].size();
    if (impact_is_located(point) && u < 0 && point.gap < kInside * h * u) arriving_.push_back(point.key);
  }
  for (std::size_t k = 0; !arriving_.empty() && k < found_.points.size(); ++k)
    if (taken_[k]) std::erase(arriving_, found_.points[k].key);
  if (arriving_.empty()) return false;
  std::sort(arriving_.begin(), arriving_.end());
  system_.laws().contact_source().find(t0_, q0_, reach_within(2 * h, v0_, solution_.v), workspace_, at_end_);
  nearest = HUGE_VAL;
  row = 0;
  for (const ContactSite& point : at_end_.points) {
    const double before = row_times(at_end_.Wt, row, v0_) - at_end_.w[row];
    const double after = row_times(at_end_.Wt, row, solution_.v) - at_end_.w[row];
    row += contacts_[static_cast<std::size_t>(point.law)].size();
    if (!std::binary_search(arriving_.begin(), arriving_.end(), point.key)) continue;
    if (point.gap <= 0) {
      std::erase(arriving_, point.key);
    } else if (before < 0 && point.gap <= instant() * std::max(-before, -after)) {
      arrived_.push_back(point.key);
    } else {
      nearest = std::min(nearest, point.gap);
    }
  }
  std::sort(arrived_.begin(), arrived_.end());
  return !arriving_.empty();
}

/// The blow at the start of the attempt, which takes an instant.
Status MoreauScheme::take_blow(double& h, StepRecord& record) {
  const double whole = h;
  if (h <= instant()) return Status::success;
  const Status status = attempt(h = instant(), {}, record);
  return status == Status::success ? status : attempt(h = whole, {}, record);
}

/// Of an attempt over h: an instant if there is a blow at its start, up to the first arrival if there is one.
Status MoreauScheme::shorten_to_arrival(double& h, StepRecord& record) {
  arrives_ = false;
  if (!locates_impacts_ || !may_split()) return Status::success;
  if (blow_now()) return take_blow(h, record);
  const auto struck = [](const Active& active) { return active.impact; };
  if (has_impact_ || std::any_of(active_.begin(), active_.end(), struck)) return Status::success;
  double nearest = 0;
  if (!collect_arrivals(h, nearest)) return Status::success;
  if (!arrived_.empty()) return take_blow(h, record);
  const double whole = h, shortest = instant(), at_end = least_gap_at_end(h);
  Status status = Status::success;
  const auto gap = [&](double x) {
    status = attempt(std::max(x, shortest), {}, record);
    return status == Status::success ? least_gap_at_end(std::max(x, shortest)) : 0.0;
  };
  const Root root = find_root(gap, 0.0, nearest, whole, at_end, kArrived * whole);
  h = std::min(whole, std::max(root.x, shortest));
  if (status == Status::success) status = attempt(h, {}, record);
  if (status != Status::success) return attempt(h = whole, {}, record);
  arrives_ = true;
  return status;
}

/// What the part just committed ended at.
void MoreauScheme::note_arrivals() {
  arrived_.clear();
  if (!arrives_) return;
  arrives_ = false;
  least_gap_at_end(part_);
  Index row = 0;
  for (const ContactSite& point : at_end_.points) {
    const double u = row_times(at_end_.Wt, row, solution_.v) - at_end_.w[row];
    row += contacts_[static_cast<std::size_t>(point.law)].size();
    if (u < 0 && point.gap <= -instant() * u && std::binary_search(arriving_.begin(), arriving_.end(), point.key))
      arrived_.push_back(point.key);
  }
  std::sort(arrived_.begin(), arrived_.end());
}

}  // namespace stickslip
