// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/parameter_variation.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

// Weights of f(p + k δ) that give δ f' to the fourth order.
constexpr std::array kCentral{-2, -1, 1, 2};
constexpr std::array kCentralWeights{1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
constexpr std::array kForward{0, 1, 2, 3, 4};
constexpr std::array kBackward{0, -1, -2, -3, -4};
constexpr std::array kForwardWeights{-25.0 / 12, 4.0, -3.0, 4.0 / 3, -0.25};
constexpr std::array kBackwardWeights{25.0 / 12, -4.0, 3.0, -4.0 / 3, 0.25};

}  // namespace

ParameterVariation::ParameterVariation(const Case& center, const std::string& name, double scale)
    : name_(name), value_(center.get(name)) {
  const double size = std::abs(value_) > 0 ? std::abs(value_) : scale;
  if (!(size > 0) || !std::isfinite(size))
    throw InputError(fmt::format("the scale {} of '{}' must be a finite number > 0", size, name));
  // Smaller than what is best for functions that bend over |p| itself: sin(ω t) bends over ω/(ω t).
  constexpr double kSmaller = 1.0 / 16;
  // A power of 2, so that p + k δ has no round-off.
  step_ = std::exp2(std::round(std::log2(kSmaller * size * std::pow(std::numeric_limits<double>::epsilon(), 0.2))));
  if (build(center, kCentral, kCentralWeights) || build(center, kForward, kForwardWeights) ||
      build(center, kBackward, kBackwardWeights))
    return;
  Case(center).set(name, value_ + step_);  // says why
  throw InputError(fmt::format("'{}' = {} has no neighbours on either side that the model takes", name, value_));
}

bool ParameterVariation::build(const Case& center, std::span<const int> places, std::span<const double> weights) {
  neighbours_.clear();
  Case moved = center;
  try {
    for (std::size_t k = 0; k < places.size(); ++k) {
      moved.set(name_, value_ + places[k] * step_);
      neighbours_.push_back({{moved.shared_system(), moved.initial(), moved.options()},
                             weights[k] / step_,
                             std::make_unique<SystemWorkspace>(moved.system())});
    }
  } catch (const InputError&) {
    return false;
  }
  return true;
}

Vector ParameterVariation::force(double t, const Vector& q, const Vector& v) const {
  return derivative([&](const CaseParts& parts, SystemWorkspace& workspace, Vector& h) {
    h.setZero(v.size());
    parts.system->force(t, q, v, workspace, h);
  });
}

Vector ParameterVariation::inertia(const Vector& q, const Vector& a) const {
  return derivative([&](const CaseParts& parts, SystemWorkspace& workspace, Vector& product) {
    product.setZero(a.size());
    parts.system->inertia().mass(q, workspace).add_product(1.0, a, product);
  });
}

Vector ParameterVariation::limit(double t, const Vector& q, const Vector& v) const {
  return derivative([&](const CaseParts& parts, SystemWorkspace& workspace, Vector& limit) {
    workspace.variables.set(t, q, v);
    const auto& laws = parts.system->laws().friction();
    limit.resize(static_cast<Index>(laws.size()));
    for (Index k = 0; k < limit.size(); ++k)
      limit[k] = laws[static_cast<std::size_t>(k)].limit(workspace.variables.span());
  });
}

Vector ParameterVariation::gap(double t, const Vector& q) const {
  ContactPoints found;
  return derivative([&](const CaseParts& parts, SystemWorkspace& workspace, Vector& gap) {
    parts.system->laws().contact_source().find(t, q, HUGE_VAL, workspace, found);
    gap.resize(static_cast<Index>(found.points.size()));
    for (Index k = 0; k < gap.size(); ++k) gap[k] = found.points[static_cast<std::size_t>(k)].gap;
  });
}

Vector ParameterVariation::initial_position() const {
  return derivative([](const CaseParts& parts, SystemWorkspace&, Vector& q) { q = parts.initial.q; });
}

Vector ParameterVariation::initial_velocity() const {
  return derivative([](const CaseParts& parts, SystemWorkspace&, Vector& v) { v = parts.initial.v; });
}

}  // namespace stickslip
