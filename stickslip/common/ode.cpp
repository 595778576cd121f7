// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/ode.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "stickslip/common/error.hpp"
#include "stickslip/common/square_sum.hpp"

namespace stickslip {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// A step that would leave less than this part of itself before the limit goes to the limit: no slivers.
constexpr double kStretch = 1.01;

// Smallest step at t = 0, where t has no round-off to be compared with: of the way to the limit. Every f that can be
// evaluated at all is smooth at that scale.
constexpr double kSmallestShare = 1e-100;
constexpr double kSmallestTolerance = 1e-14;  // relative: the sums of a step are no more exact
// Added to a weight that may be 0. No scale of anything: it changes no weight that is not 0 by a bit.
constexpr double kNotZero = 1e-300;

// First step, in units of the error weights (d0, d1) and of the time to the limit: below kNothing the state or its
// change is no measure, and kFirstShare of that time is tried.
constexpr double kNothing = 1e-5, kFirstShare = 1e-6, kProbe = 0.01;
constexpr double kNoChange = 1e-15, kFirstShareWithoutChange = 1e-3;

void require(bool holds, const char* key, double value, const char* relation) {
  if (!holds) throw InputError(std::string(key) + " = " + std::to_string(value) + " must be " + relation);
}

}  // namespace

void OdeOptions::validate() const {
  require(relative_tolerance > 0 && relative_tolerance < 1, "relative_tolerance", relative_tolerance,
          "above 0 and below 1");
  require(absolute_tolerance >= 0 && std::isfinite(absolute_tolerance), "absolute_tolerance", absolute_tolerance,
          "0 or more");
  for (const double scale : absolute_scale)
    require(scale > 0 && std::isfinite(scale), "absolute_scale", scale, "above 0");
  require(first_step >= 0 && std::isfinite(first_step), "first_step", first_step, "0 or more");
  require(largest_step > 0, "largest_step", largest_step, "above 0");
  require(max_steps > 0, "max_steps", static_cast<double>(max_steps), "above 0");
}

OdeIntegrator::OdeIntegrator(const OdeOptions& options)
    : options_(options),
      relative_(std::max(options.relative_tolerance, kSmallestTolerance)),
      absolute_(options.absolute_tolerance) {
  options_.validate();
}

void OdeIntegrator::restart(double t, const Vector& y, double h_guess) {
  const Index n = y.size();
  assert(options_.absolute_scale.size() == 0 || options_.absolute_scale.size() == n);
  if (y_.size() != n || dense_.rows() != degree() + 1) {
    for (Vector* v : {&y_, &y_old_, &y_new_, &f_, &f_old_, &f_new_, &probe_y_, &probe_f_}) v->resize(n);
    dense_.setZero(degree() + 1, n);
    resize(n);
  }
  t_ = t_old_ = t;
  y_ = y;
  y_old_ = y;
  h_ = h_guess > 0 ? h_guess : options_.first_step;
  started_ = false;
  steps_ = 0;
  forget();
}

OdeIntegrator::Trial OdeIntegrator::attempt_or_continue(OdeFunction f, double h) {
  const Trial trial = attempt(f, h);
  if (trial == Trial::accepted || !continuation_.begin || stopped() || !continuation_.begin()) return trial;
  const double shorter = h_;
  const Trial smooth = attempt(f, h);
  continuation_.end(smooth == Trial::accepted);
  if (smooth == Trial::rejected) h_ = std::min(h_, shorter);
  return smooth;
}

OdeStep OdeIntegrator::step(OdeFunction f, double t_limit) {
  assert(t_limit > t_);
  if (!started_) {
    if (!evaluate(f, t_, y_, f_)) return stopped() ? OdeStep::stopped : OdeStep::step_too_small;
    if (!(h_ > 0)) h_ = first_step(f, t_limit - t_);
    started_ = true;
  }
  const double smallest = std::max(4 * kEpsilon * std::abs(t_), kSmallestShare * (t_limit - t_));
  while (true) {
    // A request that comes during an attempt ends it as if f could not be evaluated.
    if (stopped()) return OdeStep::stopped;
    if (steps_ >= options_.max_steps) return OdeStep::too_many_steps;
    ++steps_;
    h_ = std::min(h_, options_.largest_step);
    const double wanted = h_, remaining = t_limit - t_;
    const bool ends = kStretch * wanted >= remaining;
    // t + h - t is the step that the clock makes: at large t it differs from h in more than the last bit.
    const double h = ends ? remaining : (t_ + wanted) - t_;
    if (!ends && h < smallest) return OdeStep::step_too_small;
    if (attempt_or_continue(f, h) == Trial::rejected) {
      ++counters_.rejected;
      if (!(h_ >= smallest)) return stopped() ? OdeStep::stopped : OdeStep::step_too_small;
      continue;
    }
    ++counters_.accepted;
    t_old_ = t_;
    t_ = ends ? t_limit : t_ + h;
    y_old_.swap(y_);
    y_.swap(y_new_);
    f_old_.swap(f_);
    f_.swap(f_new_);
    if (ends) h_ = std::max(h_, std::min(wanted, options_.largest_step));
    return OdeStep::accepted;
  }
}

void OdeIntegrator::interpolate(double t, Vector& y) const {
  assert(options_.dense_output);
  if (t == t_) {
    y = y_;
    return;
  }
  const double s = (t - t_old_) / (t_ - t_old_);
  y.resize(y_.size());
  for (Index i = 0; i < y.size(); ++i) {
    const double* c = dense_.col(i).data();
    double sum = c[degree()];
    for (int k = degree() - 1; k >= 0; --k) sum = sum * s + c[k];
    y[i] = sum;
  }
}

void OdeIntegrator::interpolate_rate(double t, Vector& dydt) const {
  assert(options_.dense_output);
  const double h = t_ - t_old_, s = (t - t_old_) / h;
  dydt.resize(y_.size());
  for (Index i = 0; i < dydt.size(); ++i) {
    const double* c = dense_.col(i).data();
    double sum = degree() * c[degree()];
    for (int k = degree() - 1; k >= 1; --k) sum = sum * s + k * c[k];
    dydt[i] = sum / h;
  }
}

void OdeIntegrator::coefficients(Index component, std::span<double> c) const {
  assert(options_.dense_output && static_cast<Index>(c.size()) == dense_.rows());
  std::copy_n(dense_.col(component).data(), c.size(), c.data());
}

bool OdeIntegrator::evaluate(OdeFunction f, double t, const Vector& y, Vector& dydt) {
  if (stopped()) return false;
  ++counters_.evaluations;
  // sum * 0 is 0 for finite values and NaN otherwise, at the cost of one pass.
  return f(t, y, dydt) && dydt.sum() * 0.0 == 0.0;
}

double OdeIntegrator::weight(Index i, double y_a, double y_b) const {
  const double scale = options_.absolute_scale.size() ? options_.absolute_scale[i] : 1.0;
  return absolute_ * scale + relative_ * std::max(std::abs(y_a), std::abs(y_b)) + kNotZero;
}

double OdeIntegrator::error_norm(const Vector& e, const Vector& y_a, const Vector& y_b) const {
  SquareSum sum;
  for (Index i = 0; i < e.size(); ++i) sum.add(e[i] / weight(i, y_a[i], y_b[i]));
  return e.size() ? sum.mean(static_cast<double>(e.size())) : 0.0;
}

// Hairer, Nørsett, Wanner I, II.4: an Euler step of a size from |y| and |f|, and a step from the second derivative that
// it shows. Nothing depends on the unit of time.
double OdeIntegrator::first_step(OdeFunction f, double longest) {
  const double d0 = error_norm(y_, y_, y_), d1 = error_norm(f_, y_, y_);
  double h0 = d0 < kNothing || d1 * longest < kNothing ? kFirstShare * longest : kProbe * d0 / d1;
  h0 = std::min({h0, longest, options_.largest_step});
  bool known = false;
  for (int trial = 0; trial < 20 && !known; ++trial, h0 *= known ? 1 : 0.1) {
    probe_y_ = y_ + h0 * f_;
    known = evaluate(f, t_ + h0, probe_y_, probe_f_);
  }
  if (!known) return h0;
  probe_f_ -= f_;
  // The time in which f changes by itself stands for the unit of time of the source.
  const double d2 = error_norm(probe_f_, y_, y_) / h0;
  const double time = d1 > 0 && d2 > 0 ? std::min(longest, d1 / d2) : longest;
  const double largest = std::max(d1 * time, d2 * time * time);
  const double h1 = largest <= kNoChange ? kFirstShareWithoutChange * longest
                                         : time * std::pow(kProbe / largest, 1.0 / estimate_order());
  return std::min({100 * h0, h1, longest, options_.largest_step});
}

}  // namespace stickslip
