// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/following_limits.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

FollowingLimits::FollowingLimits(const System& system)
    : elements_(&system.laws().friction()),
      reactions_(system.laws().reaction_count()),
      variables_(system.info().nq(), system.info().nv(), reactions_),
      direction_(Vector::Zero(static_cast<Index>(variables_.span().size()))) {
  Index first = 0;
  for (const ContactElement& contact : system.laws().contacts()) {
    contacts_.push_back({first, contact.size()});
    first += contact.size();
  }
  const Index slot = variables_.index_slot();
  for (std::size_t k = 0; k < elements_->size(); ++k) {
    const FrictionElement& e = (*elements_)[k];
    follows_.push_back(e.limit.depends_on_reactions(slot) ||
                       (e.static_limit && e.static_limit->depends_on_reactions(slot)));
    if (follows_.back()) laws_.push_back(k);
  }
}

void FollowingLimits::read(const Vector& R) {
  variables_.reactions() = R;
  for (const Contact& contact : contacts_)
    if (R[contact.first] < 0) variables_.reactions().segment(contact.first, contact.size).setZero();
}

void FollowingLimits::read(const Vector& R, const Vector& dR) {
  read(R);
  direction_.tail(reactions_) = dR;
  for (const Contact& contact : contacts_) {
    const double r = R[contact.first], slope = dR[contact.first];
    if (r < 0 || (r == 0 && slope < 0)) direction_.tail(reactions_).segment(contact.first, contact.size).setZero();
  }
}

Dual FollowingLimits::along(std::size_t law, const Vector& R, const Vector& dR) {
  return along((*elements_)[law].limit, R, dR);
}

Dual FollowingLimits::static_along(std::size_t law, const Vector& R, const Vector& dR) {
  const FrictionElement& e = (*elements_)[law];
  return along(e.static_limit ? *e.static_limit : e.limit, R, dR);
}

Dual FollowingLimits::along(const StateFunction& f, const Vector& R, const Vector& dR) {
  read(R, dR);
  const Expression* e = f.expression();
  if (!e) return {f(variables_.span()), 0.0};
  return e->directional(variables_.span(), {direction_.data(), static_cast<std::size_t>(direction_.size())});
}

double FollowingLimits::limit(std::size_t law, const Vector& R) {
  read(R);
  const double c = (*elements_)[law].limit(variables_.span());
  if (!(c >= 0) || !std::isfinite(c))
    throw InputError(
        fmt::format("friction.{}.limit = {} at t = {}; it must be a finite number >= 0 whatever the reactions are: "
                    "abs(r) of one that can have either sign",
                    name(law), c, variables_.span()[0]));
  return c;
}

double FollowingLimits::static_limit(std::size_t law, const Vector& R) {
  const double c = limit(law, R);
  const FrictionElement& e = (*elements_)[law];
  if (!e.static_limit) return c;
  const double c_s = (*e.static_limit)(variables_.span());
  if (!(c_s >= c) || !std::isfinite(c_s))
    throw InputError(fmt::format("friction.{}.static_limit = {} is below limit = {} at t = {}; it must be >= limit",
                                 e.name, c_s, c, variables_.span()[0]));
  return c_s;
}

bool FollowingLimits::names(std::size_t law, Index reaction) const {
  const Index slot = variables_.index_slot() + 1 + reaction;
  const FrictionElement& e = (*elements_)[law];
  auto named = [&](const StateFunction& f) { return f.expression() && f.expression()->depends_on(slot); };
  return named(e.limit) || (e.static_limit && named(*e.static_limit));
}

}  // namespace stickslip
