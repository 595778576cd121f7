// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/weakening.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>

#include "stickslip/common/error.hpp"

namespace stickslip {

std::string_view to_string(WeakeningShape shape) { return weakening_shape_names[static_cast<std::size_t>(shape)]; }

WeakeningShape weakening_shape_from(std::string_view name) {
  const auto found = std::find(weakening_shape_names.begin(), weakening_shape_names.end(), name);
  if (found != weakening_shape_names.end()) {
    return static_cast<WeakeningShape>(found - weakening_shape_names.begin());
  }
  std::ostringstream message;
  message << "weakening: shape \"" << name << "\" is not one of";
  for (const std::string_view known : weakening_shape_names) message << ' ' << known;
  throw InputError(message.str());
}

void validate(const Weakening& weakening) {
  if (weakening.shape == WeakeningShape::none) return;
  std::ostringstream message;
  if (!(weakening.beta >= 0.0 && weakening.beta < 1.0)) {
    message << "weakening: beta = " << weakening.beta << " must satisfy 0 <= beta < 1";
    throw InputError(message.str());
  }
  if (!(weakening.epsilon > 0.0 && weakening.epsilon < std::numeric_limits<double>::infinity())) {
    message << "weakening: epsilon = " << weakening.epsilon << " must be a finite velocity > 0";
    throw InputError(message.str());
  }
}

double weakening(const Weakening& weakening, double v) {
  const double beta = weakening.beta, epsilon = weakening.epsilon;
  switch (weakening.shape) {
    case WeakeningShape::none:
      return 0.0;
    case WeakeningShape::algebraic:
      return beta * (v / std::hypot(v, epsilon));
    case WeakeningShape::arctan:
      return beta * (2.0 * std::numbers::inv_pi * std::atan(v / epsilon));
    case WeakeningShape::tanh:
      return beta * std::tanh(v / epsilon);
    case WeakeningShape::clamp:
      return beta * std::clamp(v / epsilon, -1.0, 1.0);
    case WeakeningShape::exponential:
      return std::copysign(beta * std::expm1(-std::abs(v) / epsilon), v);
  }
  assert(false);
  return 0.0;
}

double weakening_slope(const Weakening& weakening, double v) {
  const double beta = weakening.beta, epsilon = weakening.epsilon;
  switch (weakening.shape) {
    case WeakeningShape::none:
      return 0.0;
    case WeakeningShape::algebraic: {
      const double root = std::hypot(v, epsilon);
      const double cosine = epsilon / root;
      return beta * cosine * cosine / root;
    }
    case WeakeningShape::arctan: {
      const double root = std::hypot(v, epsilon);
      return beta * 2.0 * std::numbers::inv_pi * (epsilon / root) / root;
    }
    case WeakeningShape::tanh: {
      const double cosh = std::cosh(v / epsilon);  // not 1 - tanh², which cancels
      return beta / epsilon / cosh / cosh;
    }
    case WeakeningShape::clamp:
      return std::abs(v) <= epsilon ? beta / epsilon : 0.0;
    case WeakeningShape::exponential:
      return beta / epsilon * std::exp(-std::abs(v) / epsilon);
  }
  assert(false);
  return 0.0;
}

}  // namespace stickslip
