// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/system.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stickslip {

void System::force_jacobian(double, const Vector&, const Vector&, SystemWorkspace&, SystemMatrix&,
                            SystemMatrix&) const {
  assert(!"this system has no slopes of its forces");
}

void System::force_series(double, double, SystemWorkspace&, DenseMatrix&) const {
  assert(!"this system has no power series");
}

void System::interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h, double s,
                         bool smooth, Vector& q) const {
  if (!smooth) {
    q = (1 - s) * q0 + s * q1;
    return;
  }
  const double a = 1 + s * s * (2 * s - 3), b = s * s * (3 - 2 * s), c = s * (1 - s) * (1 - s) * h,
               d = s * s * (s - 1) * h;
  q = a * q0 + b * q1 + c * v0 + d * v1;
}

const std::vector<ContactElement>& System::contacts() const {
  static const std::vector<ContactElement> none;
  return none;
}

double System::speed_bound(const Vector&) const { return HUGE_VAL; }

void System::find_contacts(double, const Vector&, double, SystemWorkspace&, ContactPoints& found) const {
  found.points.clear();
  found.Wt.resize(0, info().nv());
  found.w.resize(0);
}

double System::inertia_power(const Vector&, const Vector&) const { return 0.0; }

void System::contact_surface(double, const Vector&, SystemWorkspace&, const ContactPoints& found, Vector& w) const {
  w = found.w;
}

void System::contact_bias(double, const Vector&, const Vector&, double, SystemWorkspace&, Vector& bias) const {
  bias.resize(0);
}

const std::vector<ConstraintElement>& System::constraints() const {
  static const std::vector<ConstraintElement> none;
  return none;
}

void System::evaluate_constraints(double, const Vector&, SystemWorkspace&, ConstraintRows& rows) const {
  rows.A.resize(0, info().nv());
  rows.rate.resize(0);
  rows.position.resize(0);
}

void System::constraint_bias(double, const Vector&, const Vector&, SystemWorkspace&, Vector& bias) const {
  bias.resize(0);
}

void System::constraint_force_jacobian(double, const Vector&, const Vector&, SystemWorkspace&,
                                       DenseMatrix& by_q) const {
  by_q.setZero(info().nv(), info().nq());
}

void System::constraint_velocity_jacobian(double, const Vector&, const Vector&, SystemWorkspace&,
                                          DenseMatrix& by_q) const {
  by_q.resize(0, info().nq());
}

BreakpointSearch System::find_breakpoints(double from, double to, StopRequest stop) const {
  BreakpointSearch search{from, to};
  search.stop = stop;
  append_breakpoints(search);
  std::vector<double>& times = search.times;
  std::sort(times.begin(), times.end());
  const double smallest = 1e-3 * (to - from);  // near t = 0 round-off is that of the interval
  const auto agree = [&](double a, double b) { return b - a <= 1e-12 * std::max(std::abs(b), smallest); };
  times.erase(std::unique(times.begin(), times.end(), agree), times.end());
  return search;
}

}  // namespace stickslip
