// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/taylor_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "stickslip/common/polynomial.hpp"

namespace stickslip {

namespace {

// Of the solution for held rows: the first leaves round-off of what is held, by which a light body would creep on a
// heavy one.
constexpr int kPasses = 2;

constexpr double kAfterBreak = 1e-9;   // of the times at hand: where series at a breakpoint are taken
constexpr double kNegligible = 1e-17;  // last terms of a series, beside the largest
/// Numbers below this have no negligible parts: they lose their digits one by one (1e-324 is the least of all).
constexpr double kUnderflow = std::numeric_limits<double>::min() / kNegligible;
constexpr double kNoLength = 1e-14;       // of the times at hand: round-off of t
constexpr double kFirstGuess = 1e-3;      // of what is left: length of the first segment of all
constexpr double kBoldest = 1e4;          // by which a guess is changed at once
constexpr double kLeading = 1e-12;        // of the largest coefficient: round-off of one that is 0
constexpr double kForceAccuracy = 1e-16;  // of a force's series, beside its largest value

/// y += A x with a few rows and columns, where a call into the library would cost more than the product.
void add_product(const DenseMatrix& A, const double* x, double* y) {
  const double* a = A.data();
  for (Index j = 0; j < A.cols(); ++j)
    for (Index i = 0; i < A.rows(); ++i) y[i] += *a++ * x[j];
}

double largest_entry(const double* x, Index n) {
  double largest = 0;
  for (Index i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest;
}

}  // namespace

bool TaylorFlow::takes(const System& system, std::string& reason) {
  auto refuse = [&](std::string why) {
    reason = std::move(why);
    return false;
  };
  if (!system.linear() || !system.has_series())
    return refuse("the system is not linear with forces of time alone and constant directions of contact");
  const Index index_slot = 1 + system.info().nq() + system.info().nv();
  for (const FrictionElement& element : system.laws().friction()) {
    if (element.size() > 1) return refuse(fmt::format("friction '{}' has two directions", element.name));
    if (element.limit.depends_on_reactions(index_slot) ||
        (element.static_limit && element.static_limit->depends_on_reactions(index_slot)))
      return refuse(fmt::format("the limit of friction '{}' depends on reactions", element.name));
    if (!element.limit.is_constant() || (element.static_limit && !element.static_limit->is_constant()))
      return refuse(fmt::format("friction '{}' has a limit that is not constant", element.name));
    if (element.elastic()) return refuse(fmt::format("friction '{}' has a spring in series", element.name));
    if (element.weakening.shape != WeakeningShape::none)
      return refuse(fmt::format("friction '{}' weakens with the velocity", element.name));
    for (const StateFunction& w : element.surface_velocity) {
      if (w.depends_on_state(index_slot))
        return refuse(fmt::format("the surface velocity of friction '{}' depends on the state", element.name));
      if (!w.has_series())
        return refuse(fmt::format("the surface velocity of friction '{}' has no series over time", element.name));
    }
  }
  for (const ContactElement& contact : system.laws().contacts())
    if (contact.tangents > 1) return refuse(fmt::format("contact '{}' has two tangents", contact.name));
  return true;
}

TaylorFlow::TaylorFlow(ModeDynamics& dynamics, std::vector<double> breakpoints, TimeSpan span)
    : Flow(span.length()),
      dynamics_(dynamics),
      breakpoints_(std::move(breakpoints)),
      linear_(*dynamics.system().linear()),
      resolution_(dynamics.system(), span.start, span.end, kOrder, kForceAccuracy) {
  const Index n = dynamics.system().info().nv(), m = dynamics.components();
  for (DenseMatrix* x : {&q_, &v_, &f_}) x->setZero(n, kOrder + 1);
  for (DenseMatrix* x : {&r_, &smooth_, &w_}) x->setZero(m, kOrder + 1);
  for (Vector* x : {&g_, &a_}) x->setZero(n);
  for (Vector* x : {&u_, &viscous_, &sum_}) x->setZero(m);
  FrictionAssembly& friction = dynamics.friction();
  for (Index k = 0; k < friction.laws(); ++k) viscous_[friction.first(k)] = friction.viscous(k);
  constexpr Index kSmall = 24;
  small_ = n <= kSmall && !friction.surface_moves();
  damped_ = !linear_.B.is_zero();
  viscous_acts_ = viscous_.size() > 0 && viscous_.maxCoeff() > 0;
}

const TaylorFlow::Kept& TaylorFlow::kept(const std::vector<Mode>& modes) {
  key_.resize(modes.size());
  for (std::size_t k = 0; k < modes.size(); ++k)
    key_[k] = static_cast<char>((dynamics_.unloaded(k) ? 'A' : '0') + static_cast<int>(modes[k]));
  const auto found = modes_.find(key_);
  if (found != modes_.end()) return found->second;
  constexpr std::size_t kMostKept = 200;
  if (modes_.size() >= kMostKept) modes_.clear();
  Kept& mode = modes_[key_];
  dynamics_.make_factor(modes, mode.factor);
  mode.known.setZero(dynamics_.components());
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (law.contact || modes[k] == Mode::stick) continue;
    double d[2];
    dynamics_.slip_direction(k, modes[k], d);
    mode.known[law.first] = -dynamics_.limit(k) * d[0];
  }
  if (small_) make_map(mode);
  return mode;
}

void TaylorFlow::make_map(Kept& mode) const {
  const DenseMatrix& Wt = dynamics_.Wt();
  const Index n = q_.rows(), unknowns = static_cast<Index>(mode.factor.rows.size());
  DenseMatrix P(n, n);
  dynamics_.mass().apply(DenseMatrix(DenseMatrix::Identity(n, n)), P);
  mode.Af = P;
  mode.Rf = DenseMatrix::Zero(Wt.rows(), n);
  if (unknowns > 0) {
    Vector right(unknowns), x(unknowns);
    for (Index j = 0; j < n; ++j)
      for (int pass = 0; pass < kPasses; ++pass) {
        for (Index i = 0; i < unknowns; ++i) right[i] = -Wt.row(mode.factor.rows[i]).dot(mode.Af.col(j));
        mode.factor.solve(right, x);
        mode.Af.col(j) += mode.factor.PWE * x;
        mode.Rf.col(j) += mode.factor.E * x;
      }
  }
  DenseMatrix B = linear_.B.to_dense();
  const DenseMatrix K = linear_.K.to_dense();
  B += Wt.transpose() * viscous_.asDiagonal() * Wt;
  const Vector known = mode.known + viscous_.cwiseProduct(dynamics_.w());
  mode.Aq = -mode.Af * K;
  mode.Rq = -mode.Rf * K;
  mode.Av = -mode.Af * B;
  mode.Rv = -mode.Rf * B;
  const Vector load = Wt.transpose() * known;
  mode.a0 = mode.Af * load;
  mode.r0 = mode.known + mode.Rf * load;
}

void TaylorFlow::expand_by_map(const Kept& mode, double h, bool response) {
  const Index n = q_.rows(), m = r_.rows();
  const bool by_velocity = damped_ || viscous_acts_;
  for (int k = 0; k < kOrder; ++k) {
    const double *q = q_.col(k).data(), *v = v_.col(k).data(), *f = f_.col(k).data();
    double *a = v_.col(k + 1).data(), *r = r_.col(k).data(), *next = q_.col(k + 1).data();
    const bool constants = k == 0 && !response;
    for (Index i = 0; i < n; ++i) a[i] = constants ? mode.a0[i] : 0.0;
    for (Index i = 0; i < m; ++i) r[i] = constants ? mode.r0[i] : 0.0;
    add_product(mode.Aq, q, a);
    add_product(mode.Rq, q, r);
    if (by_velocity) {
      add_product(mode.Av, v, a);
      add_product(mode.Rv, v, r);
    }
    if (forced_) {
      add_product(mode.Af, f, a);
      add_product(mode.Rf, f, r);
    }
    const double factor = h / (k + 1);
    for (Index i = 0; i < n; ++i) {
      a[i] *= factor;
      next[i] = factor * v[i];
    }
  }
  r_.col(kOrder).setZero();
  if (!viscous_acts_) return;
  smooth_.noalias() = dynamics_.Wt() * v_;
  smooth_ = -smooth_;
  smooth_.col(0) += dynamics_.w();
  smooth_ = viscous_.asDiagonal() * smooth_;
}

void TaylorFlow::expand_from(double t, double h, const Vector& q, const Vector& v, const std::vector<Mode>& modes) {
  q_.col(0) = q;
  v_.col(0) = v;
  expand(kept(modes), t, h);
}

void TaylorFlow::respond(double h, const Vector& dq, const Vector& dv, const DenseMatrix& df, const DenseMatrix& dw,
                         const std::vector<Mode>& modes) {
  q_.col(0) = dq;
  v_.col(0) = dv;
  f_ = df;
  w_ = dw;
  const bool forced = std::exchange(forced_, !df.isZero(0));
  recurse(kept(modes), h, true);
  forced_ = forced;
}

void TaylorFlow::expand(const Kept& mode, double t, double h) {
  load_forces(t, h);
  recurse(mode, h, false);
}

void TaylorFlow::load_forces(double t, double h) {
  // At a breakpoint a condition such as t <= 1 still takes the branch before it: the series is that of a point just
  // after it, shifted back.
  const double near = kSameInstant * time_size(t);
  const auto at = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), t - near);
  const bool at_break = at != breakpoints_.end() && *at <= t + near;
  double after = at_break ? kAfterBreak * time_size(t) : 0.0;
  if (at_break && at + 1 != breakpoints_.end()) after = std::min(after, 0.5 * (*(at + 1) - *at));
  SystemWorkspace& workspace = dynamics_.workspace();
  if (forced_) {
    dynamics_.system().forces().series(t + after, h, workspace, f_);
    if (!dynamics_.system().forces().applied_depends_on_time()) forced_ = !f_.isZero(0);
  }
  FrictionAssembly& friction = dynamics_.friction();
  if (friction.surface_moves()) {
    workspace.variables.set_time(t + after);
    for (Index k = 0; k < friction.laws(); ++k)
      if (!friction.element(k).surface_velocity.empty()) {
        const Taylor series = friction.element(k).surface_velocity[0].series(workspace.variables.span(), h);
        for (int i = 0; i <= kOrder; ++i) w_(friction.first(k), i) = series.c[i];
      }
  }
  w_.bottomRows(w_.rows() - friction.components()).col(0) = dynamics_.w().tail(w_.rows() - friction.components());
  if (at_break)
    for (DenseMatrix* series : {&f_, &w_})
      for (int pass = 0; pass < kOrder; ++pass)
        for (int k = kOrder - 1; k >= pass; --k) series->col(k) -= after / h * series->col(k + 1);
}

void TaylorFlow::recurse(const Kept& mode, double h, bool response) {
  if (small_) return expand_by_map(mode, h, response);
  const ModeDynamics::ModeFactor& factor = mode.factor;
  const Index unknowns = static_cast<Index>(factor.rows.size());
  const DenseMatrix& Wt = dynamics_.Wt();
  right_.resize(unknowns);
  const bool laws = Wt.rows() > 0;
  for (int k = 0; k < kOrder; ++k) {
    g_ = f_.col(k);
    a_ = v_.col(k);
    linear_.B.add_product(-1, a_, g_);
    if (laws) {
      u_.noalias() = Wt * a_;
      u_ -= w_.col(k);
      smooth_.col(k) = -viscous_.cwiseProduct(u_);
      sum_ = smooth_.col(k);
      if (k == 0 && !response) sum_ += mode.known;
      g_.noalias() += Wt.transpose() * sum_;
    }
    a_ = q_.col(k);
    linear_.K.add_product(-1, a_, g_);
    dynamics_.mass().apply(g_, a_);
    if (laws) {
      if (k == 0 && !response) {
        r_.col(0) = mode.known;
      } else {
        r_.col(k).setZero();
      }
    }
    for (int pass = 0; unknowns > 0 && pass < kPasses; ++pass) {
      for (Index i = 0; i < unknowns; ++i) {
        const Index row = factor.rows[i];
        right_[i] = -(Wt.row(row).dot(a_) - (k + 1) / h * w_(row, k + 1));
      }
      factor.solve(right_, x_);
      a_.noalias() += factor.PWE * x_;
      r_.col(k).noalias() += factor.E * x_;
    }
    v_.col(k + 1) = h / (k + 1) * a_;
    q_.col(k + 1) = h / (k + 1) * v_.col(k);
  }
  r_.col(kOrder).setZero();
  smooth_.col(kOrder).setZero();
}

/// By how much h can grow (or must shrink) for the last terms to be negligible.
double TaylorFlow::stretch() const {
  double factor = 1e6;
  auto bound = [&](const DenseMatrix& c, int last) {
    if (c.rows() == 0) return;
    const double largest = largest_entry(c.data(), c.rows() * (last + 1));
    for (int k = last; k > last - 2; --k) {
      const double term = largest_entry(c.col(k).data(), c.rows());
      // Terms that grow with h and are still below round-off of the largest limit nothing by themselves.
      if (term > kUnderflow) factor = std::min(factor, std::pow(kNegligible * largest / term, 1.0 / k));
    }
  };
  bound(v_, kOrder);
  bound(q_, kOrder);
  bound(r_, kOrder - 1);
  return factor;
}

void TaylorFlow::scale(double factor) {
  const bool varies = viscous_acts_ || dynamics_.friction().surface_moves();
  for (DenseMatrix* c : {&q_, &v_, &r_, &smooth_, &w_}) {
    if (!varies && (c == &smooth_ || c == &w_)) continue;
    double power = factor, *x = c->data() + c->rows();
    for (int k = 1; k <= kOrder; ++k, power *= factor)
      for (Index i = 0; i < c->rows(); ++i) *x++ *= power;
  }
}

StepOutcome TaylorFlow::begin(double t, const Vector& q, const Vector& v, const std::vector<Mode>& modes,
                              const std::vector<LawStart>& start, double t_limit, bool) {
  t_limit = resolution_.until(t, t_limit);
  if (resolution_.stuck()) return too_fast(t);
  current_ = modes;
  t0_ = t;
  q_.col(0) = q;
  v_.col(0) = v;
  double h = h_ > 0 ? std::min(h_, t_limit - t) : kFirstGuess * (t_limit - t);
  const Kept& mode = kept(modes);
  redundant_ = mode.factor.redundant;
  expand(mode, t, h);
  double factor = 0.9 * stretch();
  if (!std::isfinite(factor) || !(factor > 0) || !v_.allFinite())
    return {Status::not_finite, fmt::format("the motion is not finite at t = {:.9g}", t)};
  // A first guess that is far off leaves too few digits in the terms to scale them.
  for (int round = 0; round < 30 && (factor < 0.02 || factor > 50) && h * factor < 1e3 * (t_limit - t); ++round) {
    h *= std::clamp(factor, 1 / kBoldest, kBoldest);
    expand(mode, t, h);
    factor = 0.9 * stretch();
  }
  // Terms are negligible beside the largest at the final h, which a longer h would overrate.
  for (int round = 0; round < 60; ++round) {
    factor = std::min(factor, (t_limit - t) / h);
    scale(factor);
    h *= factor;
    factor = 0.9 * stretch();
    if (factor > 0.9 && (factor < 1.2 || !(h < t_limit - t))) break;
  }
  h_ = std::min(h * std::clamp(factor, 0.5, 10.0), t_limit - t);
  // A force that ends (the root of a number that becomes negative) lets segments shrink towards its end.
  if (h < kNoLength * time_size(t) && h < t_limit - t)
    return {Status::not_finite,
            fmt::format("the motion cannot be continued beyond t = {:.9g}: a force is not smooth or "
                        "not finite there",
                        t)};
  segment_ = h;
  find_events(start);
  take_first(h);
  if (triggers_.empty() && t_limit - t1_ < kNoLength * time_size(t_limit)) t1_ = t_limit;
  return {};
}

void TaylorFlow::find_events(const std::vector<LawStart>& start) {
  make_monitors(dynamics_, current_, start, monitors_);
  roots_.assign(monitors_.size(), HUGE_VAL);
  std::array<double, kOrder + 1> c;
  const DenseMatrix& Wt = dynamics_.Wt();
  for (std::size_t i = 0; i < monitors_.size(); ++i) {
    const Monitor& monitor = monitors_[i];
    const std::size_t k = static_cast<std::size_t>(monitor.law);
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    const Index tangent = law.tangent();
    switch (monitor.trigger) {
      case Trigger::stop:
        for (int j = 0; j <= kOrder; ++j) c[j] = monitor.sign * (Wt.row(tangent).dot(v_.col(j)) - w_(tangent, j));
        break;
      case Trigger::touch: {
        // The gap is affine: its terms beyond the first are those of its direction, d(gap)/dt = u_N.
        c[0] = dynamics_.gap(k);
        for (int j = 1; j <= kOrder; ++j) c[j] = Wt.row(law.first).dot(q_.col(j));
        c[1] -= w_(law.first, 0) * segment_;
        break;
      }
      case Trigger::lift:
        for (int j = 0; j <= kOrder; ++j) c[j] = r_(law.first, j);
        break;
      case Trigger::release:
        for (int j = 0; j <= kOrder; ++j) {
          const double radius = law.contact ? dynamics_.static_limit(k) * r_(law.first, j)
                                : j == 0    ? dynamics_.static_limit(k)
                                            : 0.0;
          c[j] = radius - monitor.sign * r_(tangent, j);
        }
        break;
      case Trigger::singular:
        continue;
    }
    forget_leading(c, monitor, kLeading);
    if (const auto root = first_root(c)) roots_[i] = *root;
  }
}

void TaylorFlow::sample(double t, FlowSample& sample) {
  const double s = (t - t0_) / segment_;
  auto horner = [&](const DenseMatrix& c, Vector& x) {
    const Index n = c.rows();
    x = c.col(kOrder);
    const double* from = c.data() + n * kOrder;
    double* const to = x.data();
    for (int k = kOrder - 1; k >= 0; --k) {
      from -= n;
      for (Index i = 0; i < n; ++i) to[i] = s * to[i] + from[i];
    }
  };
  horner(q_, sample.q);
  horner(v_, sample.v);
  horner(r_, sample.r);
  if (viscous_acts_) {
    horner(smooth_, sample.smooth);
  } else {
    sample.smooth = smooth_.col(0);
  }
  // Series of redundant reactions are the shortest ones, which need not lie in their sets.
  if (!redundant_) return;
  dynamics_.place(t, sample.q, sample.v);
  dynamics_.solve(current_);
  sample.r = dynamics_.reaction();
}

bool TaylorFlow::impulses(double from, double to, Vector& impulse) const {
  impulse.setZero(r_.rows());
  auto add = [&](double t, double sign) {
    const double s = (t - t0_) / segment_;
    double power = sign * segment_ * s;
    for (int k = 0; k < kOrder; ++k, power *= s)
      for (Index i = 0; i < r_.rows(); ++i) impulse[i] += power / (k + 1) * r_(i, k);
  };
  if (to != t0_) add(to, 1);
  if (from != t0_) add(from, -1);
  return true;
}

}  // namespace stickslip
