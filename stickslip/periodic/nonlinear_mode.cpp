// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/nonlinear_mode.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/continuation/path_following.hpp"
#include "stickslip/periodic/fourier_basis.hpp"

namespace stickslip {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kLocked =
    1e6;  // times the stiffness of the structure along a law: a law that sticks, for a linear mode
constexpr int kHalvings = 12;
constexpr double kWhole = 1e-9;  // of a step of the walk: halves of halves add up to whole steps but for round-off
constexpr double kMoves = 1e-6;  // of the largest entry of a shape: less is no coordinate to measure the mode by

struct LinearMode {
  double omega;
  Vector shape;
};

/// With the laws free, or held by their springs (rigid ones by stiff ones).
LinearMode linear_mode(const System& system, int number, bool sticking) {
  DenseMatrix K = system.linear()->K.to_dense();
  const DenseMatrix M = system.linear()->M.to_dense();
  if (number < 1 || number > K.rows())
    throw InputError(fmt::format("periodic.mode.number = {} must lie in [1, {}]", number, K.rows()));
  for (const FrictionElement& law : system.laws().friction())
    for (const Direction& direction : law.directions) {
      if (!sticking) break;
      Vector w = Vector::Zero(K.rows());
      for (const auto& [i, value] : direction) w[i] += value;
      K += (law.elastic() ? law.stiffness : kLocked * w.dot(K * w) / std::pow(w.dot(w), 2)) * w * w.transpose();
    }
  const Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix> solver(DenseMatrix(0.5 * (K + K.transpose())), M);
  const double square = solver.eigenvalues()[number - 1];
  if (!(square > 0))
    throw InputError(
        fmt::format("mode {} of the linear structure has no frequency (a free body); name another one", number));
  return {std::sqrt(square), solver.eigenvectors().col(number - 1)};
}

/// F(X, ξ; ln A) = 0. Unknowns: those of the weighted residual (the last is ω over its guess), then ξ over that guess.
class ModeResidual final : public PathProblem {
 public:
  ModeResidual(const System& system, WeightedResidual& weighted, double omega, Index coordinate, int harmonics)
      : weighted_(weighted),
        M_(system.linear()->M),
        omega_(omega),
        c_(coordinate),
        H_(harmonics),
        nx_(2 * harmonics + 1) {}
  Index size() const override { return weighted_.unknowns() + 1; }
  void set_smoothing(double smoothing) { smoothing_ = smoothing; }

  bool residual(const Vector& x, double s, Vector& F) override { return evaluate(x, s, F, nullptr); }
  bool jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) override {
    Vector F;
    by_s = Vector::Zero(size());
    by_s[size() - 1] = -2 * square_of_fundamental(x) / std::exp(2 * s);
    return evaluate(x, s, F, &by_x);
  }

 private:
  double square_of_fundamental(const Vector& x) const {
    const double scale = weighted_.displacement_scale()[c_];
    return scale * scale * x.segment(c_ * nx_ + 1, 2).squaredNorm();
  }

  bool evaluate(const Vector& x, double s, Vector& F, DenseMatrix* J) {
    const Index n = weighted_.unknowns();
    const double omega = x[n - 1] * omega_, xi = x[n] * omega_;
    DenseMatrix J0;
    Vector F0;
    if (!weighted_.evaluate(x.head(n), smoothing_, F0, J ? &J0 : nullptr)) return false;
    F.resize(n + 1);
    F.head(n) = F0;
    if (J) {
      J->setZero(n + 1, n + 1);
      J->topLeftCorner(n, n) = J0;
    }
    const Vector &length = weighted_.displacement_scale(), &force = weighted_.force_scale();
    M_.for_each([&](Index i, Index k, double m) {  // -ξ M x'
      const double factor = m * length[k] / force[i];
      for (int h = 1; h <= H_; ++h) {
        const Index cos_i = i * nx_ + 2 * h - 1, cos_k = k * nx_ + 2 * h - 1;
        const double a = factor * h * x[cos_k + 1], b = -factor * h * x[cos_k];  // x'/ω: coefficients of cos and sin
        F[cos_i] -= xi * omega * a;
        F[cos_i + 1] -= xi * omega * b;
        if (!J) continue;
        (*J)(cos_i, cos_k + 1) -= xi * omega * factor * h;
        (*J)(cos_i + 1, cos_k) += xi * omega * factor * h;
        (*J)(cos_i, n - 1) -= xi * omega_ * a;
        (*J)(cos_i + 1, n - 1) -= xi * omega_ * b;
        (*J)(cos_i, n) -= omega_ * omega * a;
        (*J)(cos_i + 1, n) -= omega_ * omega * b;
      }
    });
    const double A2 = std::exp(2 * s);
    F[n] = square_of_fundamental(x) / A2 - 1;
    if (J)
      J->row(n).segment(c_ * nx_ + 1, 2) =
          2 * weighted_.displacement_scale()[c_] * weighted_.displacement_scale()[c_] / A2 * x.segment(c_ * nx_ + 1, 2);
    return true;
  }

  WeightedResidual& weighted_;
  const SystemMatrix& M_;
  double omega_, smoothing_ = 0;
  Index c_;
  int H_;
  Index nx_;
};

/// Fundamental phasor of the applied forces, over the period of the excitation.
ComplexVector excitation(const System& system, double period, double t0) {
  const Index n = system.info().nv();
  SystemWorkspace workspace(system);
  constexpr int kSamples = 256;
  ComplexVector F = ComplexVector::Zero(n);
  Vector f(n);
  for (int j = 0; j < kSamples; ++j) {
    system.forces().applied(t0 + period * j / kSamples, Vector::Zero(n), Vector::Zero(n), workspace, f);
    F += f * std::polar(2.0 / kSamples, -2 * kPi * j / kSamples);
  }
  return F;
}

class ModeWalk {
 public:
  ModeWalk(const System& system, const PeriodicOptions& options, const Vector& q_reference,
           const NonlinearModeOptions& mode, StopRequest stop)
      : system_(system), mode_(mode), linear_(linear_mode(system, mode.number, mode.sticking)), options_(options) {
    result_.linear_omega = linear_.omega;
    result_.coordinate = mode.coordinate;
    if (mode.coordinate < 0) linear_.shape.cwiseAbs().maxCoeff(&result_.coordinate);
    if (!(std::abs(linear_.shape[result_.coordinate]) > kMoves * linear_.shape.lpNorm<Eigen::Infinity>()))
      throw InputError(
          fmt::format("coordinate '{}' does not move in mode {}; name another one in periodic.mode.coordinate",
                      system.info().coordinates[static_cast<std::size_t>(result_.coordinate)], mode.number));
    F_ = excitation(system, options.motion_period(), 0);
    options_.autonomous = true;
    options_.periods = 1;
    options_.phase.reset();
    options_.condition.reset();
    options_.method = PeriodicMethod::fourier;
    options_.period = 2 * kPi / linear_.omega;
    weighted_ = std::make_unique<WeightedResidual>(system, options_, 0.0, q_reference);
    residual_ =
        std::make_unique<ModeResidual>(system, *weighted_, linear_.omega, result_.coordinate, options_.harmonics);
    newton_.tolerance = options.tolerance;
    newton_.max_corrections = 10;
    newton_.stop = stop;
  }

  NonlinearMode walk() {
    double A = mode_.from;
    Vector x = guess(A);
    if (!begin(A, x)) {
      result_.message = fmt::format(
          "the mode could not be found at its first amplitude {:.6g}; begin at a larger one (or, with sticking = true, "
          "a "
          "smaller one)",
          A);
      return result_;
    }
    add(A, x);
    const double ratio = std::pow(mode_.to / mode_.from, 1.0 / (mode_.points - 1));
    double step = 1;
    for (double done = 0; done < mode_.points - 1 - kWhole;) {
      if (raised(newton_.stop)) return ended(Status::interrupted, "stopped on request");
      const double length = std::min(step, std::floor(done + 1 + kWhole) - done),
                   next = mode_.from * std::pow(ratio, done + length);
      Vector trial = x;
      trial.head(result_size()) *= next / A;
      weighted_->set_phase_reference(trial.head(weighted_->unknowns()));
      if (!solve_at(*residual_, std::log(next), newton_, trial)) {
        step *= 0.5;
        if (step > std::pow(0.5, kHalvings)) continue;
        return ended(
            Status::not_converged,
            fmt::format("the mode could not be followed beyond the amplitude {:.6g} (all laws may stick, or its "
                        "damping has become large)",
                        A));
      }
      done += length;
      A = next;
      x = trial;
      if (std::abs(done - std::round(done)) < kWhole) add(A, x);
      step = std::min(1.0, 2 * step);
    }
    return ended(Status::success, "");
  }

 private:
  NonlinearMode& ended(Status status, std::string message) {
    result_.status = status;
    result_.message = std::move(message);
    return result_;
  }
  /// Displacements among the unknowns.
  Index result_size() const { return system_.info().nv() * (2 * options_.harmonics + 1); }

  /// The linear mode, with the reactions that its velocities ask for.
  Vector guess(double A) const {
    const double size = A / std::abs(linear_.shape[result_.coordinate]);
    Orbit orbit;
    orbit.period = 2 * kPi / linear_.omega;
    constexpr int kRows = 400;
    for (int j = 0; j <= kRows; ++j) {
      const double angle = 2 * kPi * j / kRows;
      orbit.t.push_back(orbit.period * j / kRows);
      orbit.q.push_back(size * std::cos(angle) * linear_.shape);
      orbit.v.push_back(-linear_.omega * size * std::sin(angle) * linear_.shape);
      orbit.r.push_back(reactions(orbit.q.back(), orbit.v.back()));
    }
    Vector x = Vector::Zero(residual_->size());
    x.head(weighted_->unknowns()) = weighted_->start_from(orbit);
    return x;
  }
  Vector reactions(const Vector& q, const Vector& v) const {
    std::vector<double> r;
    Variables variables(system_.info().nq(), system_.info().nv());
    variables.set(0, q, v);
    for (const FrictionElement& law : system_.laws().friction()) {
      std::vector<double> u, x;
      double speed = 0;
      for (const Direction& direction : law.directions) {
        u.push_back(0);
        x.push_back(0);
        for (const auto& [i, value] : direction) u.back() += value * v[i], x.back() += value * q[i];
        speed = std::hypot(speed, u.back());
      }
      const double c = law.limit(variables.span());
      for (std::size_t a = 0; a < u.size(); ++a)
        r.push_back(mode_.sticking && law.elastic() ? -law.stiffness * x[a]
                    : speed > 0 && !mode_.sticking  ? -c * u[a] / speed
                                                    : 0.0);
    }
    for (const ContactElement& contact : system_.laws().contacts())
      r.insert(r.end(), static_cast<std::size_t>(contact.size()), 0.0);
    return Eigen::Map<const Vector>(r.data(), static_cast<Index>(r.size()));
  }

  /// Newton's iteration, or rounder laws first.
  bool begin(double A, Vector& x) {
    weighted_->set_phase_reference(x.head(weighted_->unknowns()));
    Vector trial = x;
    if (solve_at(*residual_, std::log(A), newton_, trial)) {
      x = trial;
      return true;
    }
    for (const double smoothing : {1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 0.0}) {
      residual_->set_smoothing(smoothing);
      if (!solve_at(*residual_, std::log(A), newton_, x) && smoothing < 0.3) {
        residual_->set_smoothing(0);
        return false;
      }
    }
    return true;
  }

  void add(double A, const Vector& x) {
    const Index n = system_.info().nv(), nx = 2 * options_.harmonics + 1, all = weighted_->unknowns();
    NonlinearModePoint point;
    point.amplitude = A;
    point.omega = x[all - 1] * linear_.omega;
    point.damping = x[all] * linear_.omega / (2 * point.omega);
    point.shape.resize(n);
    for (Index i = 0; i < n; ++i)
      point.shape[i] = FourierBasis::phasor(x.segment(i * nx, nx), 1) * weighted_->displacement_scale()[i] / A;
    std::complex<double> mass = 0;
    system_.linear()->M.for_each(
        [&](Index i, Index k, double m) { mass += std::conj(point.shape[i]) * m * point.shape[k]; });
    point.modal_mass = mass.real();
    point.modal_force = std::abs(point.shape.dot(F_));
    Vector F;
    residual_->residual(x, std::log(A), F);
    point.residual = F.lpNorm<Eigen::Infinity>();
    const Orbit orbit = weighted_->orbit(x.head(all));
    point.maximum = 0.5 * (orbit.maximum - orbit.minimum);
    point.stick_fraction = orbit.stick_fraction;
    result_.points.push_back(std::move(point));
  }

  const System& system_;
  NonlinearModeOptions mode_;
  LinearMode linear_;
  PeriodicOptions options_;
  std::unique_ptr<WeightedResidual> weighted_;
  std::unique_ptr<ModeResidual> residual_;
  PathOptions newton_;
  ComplexVector F_;
  NonlinearMode result_;
};

}  // namespace

void NonlinearModeOptions::validate() const {
  if (!(from > 0) || !(to > 0) || !std::isfinite(from) || !std::isfinite(to))
    throw InputError(fmt::format("periodic.mode: from = {} and to = {} must be amplitudes > 0 in m", from, to));
  if (from == to) throw InputError("periodic.mode: 'from' and 'to' are the same");
  if (points < 2 || points > 100'000)
    throw InputError(fmt::format("periodic.mode.points = {} must lie in [2, 100000]", points));
}

std::vector<SynthesisedPoint> NonlinearMode::response() const {
  std::vector<SynthesisedPoint> below, above;
  for (const NonlinearModePoint& p : points) {
    if (!(p.modal_force > 0) || !(p.modal_mass > 0)) continue;
    // (ω² - Ω²)² + (2 D ω Ω)² = g², g = |X_1ᴴ F|/(X_1ᴴ M X_1)
    const double g = p.modal_force / (p.modal_mass * p.amplitude), w2 = p.omega * p.omega;
    const double half = w2 * (1 - 2 * p.damping * p.damping), rest = half * half - (w2 * w2 - g * g);
    if (!(rest >= 0)) continue;
    if (const double low = half - std::sqrt(rest); low > 0) below.push_back({std::sqrt(low), p.amplitude});
    if (const double high = half + std::sqrt(rest); high > 0) above.push_back({std::sqrt(high), p.amplitude});
  }
  const auto smaller = [](const SynthesisedPoint& a, const SynthesisedPoint& b) { return a.amplitude < b.amplitude; };
  std::sort(below.begin(), below.end(), smaller);
  std::sort(above.rbegin(), above.rend(), smaller);
  below.insert(below.end(), above.begin(), above.end());
  return below;
}

NonlinearMode solve_nonlinear_mode(const System& system, const PeriodicOptions& options, const Vector& q_reference,
                                   const NonlinearModeOptions& mode, StopRequest stop) {
  mode.validate();
  if (!system.linear())
    throw InputError("nonlinear modes take systems given by [matrices]; a mode is born from a linear one");
  if (!system.laws().contacts().empty())
    throw InputError(
        "nonlinear modes take no [[contact]]: a surface that is struck excites every harmonic, and its restitution has "
        "no place "
        "in them; give it as a spring in matrices.force, up to a hundred times as stiff as the structure, as in "
        "\"-100*max(x - 1, 0)\"");
  if (const std::string reason = weighted_residual_refusal(system); !reason.empty())
    throw InputError(fmt::format("nonlinear modes do not take the system: {}", reason));
  if (system.forces().applied_depends_on_state() && system.forces().applied_depends_on_time())
    throw InputError(
        "nonlinear modes take forces of time and forces of the state, but not in one expression list: put the "
        "excitation to 0, "
        "as by --set parameters.<its amplitude>=0");
  if (mode.coordinate >= system.info().nv()) throw InputError("periodic.mode.coordinate is not among the coordinates");
  return ModeWalk(system, options, q_reference, mode, stop).walk();
}

}  // namespace stickslip
