// SPDX-License-Identifier: Apache-2.0
// Masses, times and the compliance that follow from the motion at the start.
#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/compliant/compliant_dynamics.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

/// W M⁻¹ Wᵀ of a row at the place where the mass was factored last.
double CompliantDynamics::weight_along(const SparseMatrix& Wt, Index row) {
  f_.setZero(nv_);
  for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry) f_[entry.col()] = entry.value();
  h_ = f_;
  constraints_ > 0 ? constrained_.apply(f_, h_) : mass_.solve(h_);
  return f_.dot(h_);
}

double CompliantDynamics::collect(double t, const Vector& q, double margin, DenseMatrix& deformation) {
  bool factored = false;
  const auto weight = [&](const SparseMatrix& Wt, Index row) {
    if (!std::exchange(factored, true)) {
      q_ = q;
      factor_mass();
    }
    return weight_along(Wt, row);
  };
  return contacts_.collect(t, q, margin, workspace_, weight, deformation);
}

void CompliantDynamics::contact_weights(double t, const Vector& q, Vector& weights) {
  q_ = q;
  factor_mass();
  if (constraints_ > 0) {
    system_.laws().constraint_source().evaluate(t, q, workspace_, rows_);
    if (!constrained_.refresh(system_.inertia().mass(q, workspace_), rows_.A))
      throw InputError("the constraints are not finite at the start");
  }
  const ContactSource& source = system_.laws().contact_source();
  weights.setZero(laws_);
  const Index friction = contacts_.friction_laws();
  const SparseMatrix rows = system_.laws().friction_rows();
  for (Index k = 0, at = 0; k < friction; ++k) {
    weights[k] = weight_along(rows, at);
    at += system_.laws().friction()[static_cast<std::size_t>(k)].size();
  }
  // Farther and farther, until every law has a point: bodies that are apart at the start meet later.
  constexpr double kNear = 0.1, kFar = 100;  // of the smallest shape
  ContactPoints found;
  const auto without = [&] { return laws_ > friction && !(weights.tail(laws_ - friction).array() > 0).all(); };
  for (double reach = kNear; reach <= kFar && without(); reach *= 10) {
    source.find(t, q, source.points_stay() ? HUGE_VAL : reach * source.length(), workspace_, found);
    const Vector before = weights;
    Index row = 0;
    for (const ContactSite& site : found.points) {
      double& weight = weights[friction + site.law];
      if (!(before[friction + site.law] > 0)) weight = std::max(weight, weight_along(found.Wt, row));
      row += system_.laws().contacts()[static_cast<std::size_t>(site.law)].size();
    }
    if (source.points_stay()) break;
  }
  const double others = laws_ > friction ? weights.tail(laws_ - friction).maxCoeff() : 0.0;
  for (Index k = 0; k < laws_; ++k)
    if (!(weights[k] > 0)) weights[k] = others > 0 ? others : lightest_weight(q);
}

CompliantDynamics::Accelerations CompliantDynamics::accelerations(double t) {
  const SystemMatrix& mass = system_.inertia().mass(q_, workspace_);
  const auto size = [&](const Vector& a) {
    Vector inertial = Vector::Zero(nv_);
    mass.add_product(1.0, a, inertial);
    return std::sqrt(std::max(0.0, a.dot(inertial)));
  };
  if (!accelerate(t)) return {};
  Accelerations result{.all = size(a_)};
  Vector free = h_;
  if (constraints_ > 0) {
    constrained_.acceleration(h_, bias_, free);
  } else {
    mass_.solve(free);
  }
  result.without_contacts = size(free);
  return result;
}

/// 1/m of the velocity that is moved most easily.
double CompliantDynamics::lightest_weight(const Vector& q) {
  double lightest = 0;
  system_.inertia().mass(q, workspace_).for_each([&](Index i, Index j, double value) {
    if (i == j && value > 0) lightest = std::max(lightest, 1 / value);
  });
  return lightest;
}

double CompliantDynamics::natural_time(double t, const Vector& q, const Vector& v, double otherwise) {
  q_ = q;
  v_ = v;
  factor_mass();
  const ContactSource& source = system_.laws().contact_source();
  Vector a(nv_);
  system_.force(t, q, v, workspace_, a);
  mass_.solve(a);
  double shortest = HUGE_VAL;
  // A way L, a speed u and an acceleration b, where there are any.
  const auto consider = [&](double L, double u, double b) {
    if (L > 0 && b > 0) shortest = std::min(shortest, std::sqrt(2 * L / b));
    if (L > 0 && u > 0) shortest = std::min(shortest, L / u);
    if (u > 0 && b > 0 && !(L > 0)) shortest = std::min(shortest, u / b);
  };
  if (const double length = source.length(); length > 0 && !source.points_stay()) {
    consider(length, source.speed_bound(v), source.speed_bound(a));
  } else {
    ContactPoints found;
    source.find(t, q, HUGE_VAL, workspace_, found);
    Index row = 0;
    for (const ContactSite& site : found.points) {
      const int size = system_.laws().contacts()[static_cast<std::size_t>(site.law)].size();
      for (int c = 0; c < size; ++c)
        consider(c == 0 ? site.gap : 0, std::abs(row_times(found.Wt, row + c, v) - found.w[row + c]),
                 std::abs(row_times(found.Wt, row + c, a)));
      row += size;
    }
  }
  return std::isfinite(shortest) ? shortest : otherwise;
}

double CompliantDynamics::default_epsilon(double given, const State& start, double span) {
  constexpr double kPart = 1e-2;  // contacts give way in at most that part of the time in which the motion changes
  if (given > 0) return given;
  const double time = kPart * natural_time(start.t, start.q, start.v, span > 0 ? span : 1.0);
  const double round_off = 1e-9;  // a power of ten as such
  return std::pow(10.0, 2 * std::floor(std::log10(time) + round_off));
}

double default_compliance(const System& system, const State& start, double span) {
  return CompliantDynamics(system).default_epsilon(0, start, span);
}

}  // namespace stickslip
