// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/deepest_point.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

constexpr double kNear = 0.25;  // of the way down to the lowest place: more than a cubic is wrong by

}  // namespace

GapDip::GapDip(std::size_t slot, const Look& from, const Look& to) : slot_(slot), from_(from), to_(to) { find(); }

void GapDip::find() {
  const double h = to_.t - from_.t, r0 = h * from_.rate, r1 = h * to_.rate, rise = to_.gap - from_.gap;
  const double b = 3 * rise - 2 * r0 - r1, a = r0 + r1 - 2 * rise;
  const double s = -r0 / (b + std::sqrt(std::max(0.0, b * b - 3 * a * r0)));
  const bool inside = s > 0 && s < 1;
  time_ = inside ? from_.t + s * h : from_.gap < to_.gap ? from_.t : to_.t;
  lowest_ = inside ? from_.gap + s * (r0 + s * (b + s * a)) : std::min(from_.gap, to_.gap);
}

bool GapDip::may_touch() const {
  if (!(from_.gap > 0 && to_.gap > 0 && time_ > from_.t && time_ < to_.t)) return false;
  return lowest_ < kNear * (std::max(from_.gap, to_.gap) - lowest_);
}

void GapDip::narrow(const Look& between) {
  (between.rate < 0 ? from_ : to_) = between;
  find();
}

void DeepestPoint::begin(const CompliantContacts& contacts, double t) {
  t_ = t;
  gap_.resize(contacts.slot_count());
  rate_.resize(contacts.slot_count());
  for (Index s = 0; s < gap_.size(); ++s) {
    gap_[s] = contacts.gap(static_cast<std::size_t>(s));
    rate_[s] = contacts.gap_rate(static_cast<std::size_t>(s));
  }
}

template <class Use>
void DeepestPoint::for_each_dip(const CompliantContacts& contacts, double t, Use&& use) const {
  if (!(t > t_) || gap_.size() != contacts.slot_count()) return;
  for (Index s = 0; s < gap_.size(); ++s) {
    const auto slot = static_cast<std::size_t>(s);
    const double rate = contacts.gap_rate(slot);
    if (rate_[s] < 0 && rate > 0) use(GapDip(slot, {t_, gap_[s], rate_[s]}, {t, contacts.gap(slot), rate}));
  }
}

double DeepestPoint::look(const CompliantContacts& contacts, double t) {
  double deepest = contacts.deepest();
  for_each_dip(contacts, t, [&](const GapDip& dip) { deepest = std::max(deepest, -dip.lowest()); });
  begin(contacts, t);
  return deepest;
}

void DeepestPoint::near_touches(const CompliantContacts& contacts, double t, std::vector<GapDip>& dips) const {
  dips.clear();
  for_each_dip(contacts, t, [&](const GapDip& dip) {
    if (dip.may_touch()) dips.push_back(dip);
  });
}

}  // namespace stickslip
