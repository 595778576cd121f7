// SPDX-License-Identifier: Apache-2.0
// Between events: the variational equation along the flow.
#include "stickslip/motion/event/event_tangent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

/// Radau IIA with five stages: roots of d⁴/dx⁴ [x⁴ (x - 1)⁵].
constexpr std::array<double, 5> kNodes{0.057104196114517682, 0.27684301363812383, 0.58359043236891682,
                                       0.86024013565621945, 1.0};
constexpr Index kStages = kNodes.size();

/// ∫_0^{c_i} of the Lagrange polynomials.
DenseMatrix butcher_matrix() {
  DenseMatrix powers(kStages, kStages), integrals(kStages, kStages);
  for (Index i = 0; i < kStages; ++i)
    for (Index k = 0; k < kStages; ++k) {
      const double c = kNodes[static_cast<std::size_t>(i)];
      powers(i, k) = std::pow(c, k);
      integrals(i, k) = std::pow(c, k + 1) / static_cast<double>(k + 1);
    }
  return powers.transpose().fullPivLu().solve(integrals.transpose()).transpose();
}

}  // namespace

EventTangent::EventTangent(const System& system, const Variations& variations, const std::vector<double>& breakpoints,
                           TimeSpan span, bool exact)
    : variations_(variations),
      around_(system, variations, breakpoints, span),
      nq_(system.info().nq()),
      nv_(system.info().nv()),
      span_(span.length()),
      butcher_(butcher_matrix()) {
  if (exact) series_ = std::make_unique<TangentSeries>(around_, breakpoints, span);
  X_.setZero(nq_ + nv_, variations.size());
}

void EventTangent::load(const State& s, const DenseMatrix& S) {
  const Kinematics& kinematics = around_.center().system().kinematics();
  Vector tangent;
  for (Index j = 0; j < X_.cols(); ++j) {
    tangent = S.col(j).head(nv_);
    kinematics.rate(s.q, tangent, qdot_);
    X_.col(j).head(nq_) = qdot_;
    X_.col(j).tail(nv_) = S.col(j).segment(nv_, nv_);
  }
  fresh_ = new_stretch_ = true;
}

void EventTangent::begin_stretch(const State& s) {
  segment_t_ = stretch_t_ = s.t;
  stretch_q_ = s.q;
  stretch_v_ = s.v;
}

void EventTangent::store(const State& s, DenseMatrix& S) const {
  S.resize(2 * nv_, X_.cols());
  S.bottomRows(nv_) = X_.bottomRows(nv_);
  const Kinematics& kinematics = around_.center().system().kinematics();
  if (kinematics.flat()) {
    S.topRows(nv_) = X_.topRows(nq_);
    return;
  }
  DenseMatrix T(nq_, nv_);
  Vector column;
  for (Index i = 0; i < nv_; ++i) {
    kinematics.rate(s.q, Vector::Unit(nv_, i), column);
    T.col(i) = column;
  }
  S.topRows(nv_) = T.colPivHouseholderQr().solve(X_.topRows(nq_));
}

/// Directions of slip are those of the nominal motion at its placed state, how they turn with u is taken account of
/// apart; neighbours of a law that has just broken away take theirs from their own acceleration.
void EventTangent::follow(const ModeDynamics& nominal, const std::vector<Mode>& modes) {
  modes_ = modes;
  turning_.clear();
  around_.follow(nominal);
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const ModeDynamics::Law& law = nominal.laws()[k];
    if (modes[k] != Mode::slip || law.tangents != 2 || nominal.idle(k)) continue;
    if (nominal.heading(k) == ModeDynamics::Heading::acceleration) continue;
    Turning turning{k, {0, 0}, std::hypot(nominal.u()[law.tangent()], nominal.u()[law.tangent() + 1])};
    nominal.slip_direction(k, modes[k], turning.d);
    around_.keep_direction(k, turning.d[0], turning.d[1]);
    if (turning.speed > 0) turning_.push_back(turning);
  }
}

/// F, then u of the laws whose direction of slip turns.
bool EventTangent::rate(ModeDynamics& dynamics, double t, const Vector& q, const Vector& v, Vector& out) {
  try {
    dynamics.place(t, q, v);
  } catch (const InputError&) {
    return false;
  }
  if (!dynamics.solve(modes_)) return false;
  out.resize(nq_ + nv_ + 2 * static_cast<Index>(turning_.size()));
  dynamics.system().kinematics().rate(q, v, qdot_);
  out.head(nq_) = qdot_;
  out.segment(nq_, nv_) = dynamics.acceleration();
  Index row = nq_ + nv_;
  for (const Turning& turning : turning_)
    for (int c = 0; c < 2; ++c) out[row++] = dynamics.u()[dynamics.laws()[turning.law].tangent() + c];
  return true;
}

/// A = F_y, P = F_p.
bool EventTangent::slopes(double t, const Vector& q, const Vector& v, DenseMatrix& A, DenseMatrix& P) {
  const Index n = nq_ + nv_, turned = 2 * static_cast<Index>(turning_.size());
  A.resize(n, n);
  P.resize(n, X_.cols());
  DenseMatrix U(turned, n), Up(turned, X_.cols());
  auto see = [this](ModeDynamics& d, double at, const Vector& x, const Vector& y, Vector& out) {
    return rate(d, at, x, y, out);
  };
  ModeNeighbourhood::Direction direction;
  for (Index i = 0; i < n; ++i) {
    direction.q.setZero(nq_);
    direction.v.setZero(nv_);
    (i < nq_ ? direction.q[i] : direction.v[i - nq_]) = 1;
    if (!around_.along(t, q, v, direction, see, out_)) return false;
    A.col(i) = out_.head(n);
    U.col(i) = out_.tail(turned);
  }
  if (around_.center().system().kinematics().flat()) {
    A.topRows(nq_).setZero();
    A.topRightCorner(nq_, nv_).setIdentity();
  }
  for (Index j = 0; j < X_.cols(); ++j) {
    if (around_.beside(j).empty()) {
      P.col(j).setZero();
      Up.col(j).setZero();
      continue;
    }
    if (!around_.by_unknown(j, t, q, v, see, out_)) return false;
    P.col(j) = out_.head(n);
    Up.col(j) = out_.tail(turned);
  }
  turn_directions(t, q, v, A, P, U, Up);
  return true;
}

/// d = u/|u| turns by (1 - d dᵀ) δu/|u|; F is smooth in d.
void EventTangent::turn_directions(double t, const Vector& q, const Vector& v, DenseMatrix& A, DenseMatrix& P,
                                   const DenseMatrix& U, const DenseMatrix& Up) {
  constexpr double kTurn = 0x1p-13;
  constexpr std::array<double, 4> kPlace{-2, -1, 1, 2}, kWeight{1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
  Vector slope(nv_);
  for (std::size_t k = 0; k < turning_.size(); ++k) {
    const Turning& turning = turning_[k];
    const double across[2] = {-turning.d[1], turning.d[0]};
    slope.setZero();
    for (std::size_t i = 0; i < kPlace.size(); ++i) {
      const double angle = kPlace[i] * kTurn;
      around_.center().set_direction(turning.law, turning.d[0] + angle * across[0], turning.d[1] + angle * across[1]);
      if (!rate(around_.center(), around_.clamped(t), q, v, out_)) return;
      slope += kWeight[i] / kTurn * out_.segment(nq_, nv_);
    }
    around_.center().set_direction(turning.law, turning.d[0], turning.d[1]);
    const auto row = static_cast<Index>(2 * k);
    const Eigen::RowVectorXd by_state = (across[0] * U.row(row) + across[1] * U.row(row + 1)) / turning.speed;
    const Eigen::RowVectorXd by_unknown = (across[0] * Up.row(row) + across[1] * Up.row(row + 1)) / turning.speed;
    A.bottomRows(nv_) += slope * by_state;
    P.bottomRows(nv_) += slope * by_unknown;
  }
}

void EventTangent::carry(Flow& flow, const TaylorFlow* exact, const ModeDynamics& nominal, const State& s, double to,
                         const TimeSpan& window) {
  if (fresh_) segment_t_ = s.t;
  if (std::exchange(new_stretch_, false)) begin_stretch(s);
  if (!(to > s.t)) return;
  const double from = s.t;
  around_.set_window(window.start, window.end, flow.t1() - flow.t0());
  if (series_ && exact != nullptr) {
    if (fresh_) {
      follow(nominal, s.modes);
      series_->begin(s.t, exact->length(), s.q, s.v, s.modes, X_);
    }
    fresh_ = false;
    return series_->evaluate(to, X_);
  }
  fresh_ = false;
  modes_ = s.modes;
  const bool turns = std::any_of(s.modes.begin(), s.modes.end(), [](Mode mode) { return mode == Mode::slip; });
  // Directions of slip turn as 1/|u|, and the flow halves the time that is left: a pole one step away. Two parts
  // of it leave 1e-10.
  const int parts = turns ? 2 : 1;
  double last = from;
  for (int k = 1; k <= parts; ++k) {
    const double next = k == parts ? to : from + (to - from) * k / parts;
    collocate(flow, nominal, last, next);
    last = next;
  }
}

/// K_i = A_i (X + h Σ_j a_ij K_j) + P_i,   X ← X + h Σ_j a_sj K_j
void EventTangent::collocate(Flow& flow, const ModeDynamics& nominal, double from, double to) {
  const Index n = nq_ + nv_, unknowns = X_.cols();
  const double h = to - from;
  system_.setIdentity(kStages * n, kStages * n);
  right_.resize(kStages * n, unknowns);
  DenseMatrix A, P;
  const std::vector<Mode> modes = modes_;
  for (Index i = 0; i < kStages; ++i) {
    const double t = i + 1 == kStages ? to : from + kNodes[static_cast<std::size_t>(i)] * h;
    flow.sample(t, sample_);
    follow(nominal, modes);
    if (!rate(around_.center(), around_.clamped(t), sample_.q, sample_.v, out_)) {
      for (Index j = 0; j < unknowns; ++j) lose(j, t, "the motion near by is not finite");
      return;
    }
    around_.widen_scales(sample_.q, sample_.v);
    if (!slopes(t, sample_.q, sample_.v, A, P)) {
      for (Index j = 0; j < unknowns; ++j) lose(j, t, "the motion near by is not finite");
      return;
    }
    for (Index j = 0; j < kStages; ++j) system_.block(i * n, j * n, n, n) -= h * butcher_(i, j) * A;
    right_.middleRows(i * n, n) = A * X_ + P;
  }
  const DenseMatrix K = system_.partialPivLu().solve(right_);
  for (Index j = 0; j < kStages; ++j) X_ += h * butcher_(kStages - 1, j) * K.middleRows(j * n, n);
}

}  // namespace stickslip
