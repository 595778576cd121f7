// SPDX-License-Identifier: Apache-2.0
// The path of the energetic impact law by integration. y = (p, F), rows scaled so that D_NN = 1 at every contact.
#include <algorithm>
#include <cmath>

#include "stickslip/common/dormand_prince_table.hpp"
#include "stickslip/solvers/energetic_impact.hpp"
#include "stickslip/solvers/one_law.hpp"

namespace stickslip {

namespace {

// Relative to the largest velocity, or to the peak of a phase.
constexpr double kTolerance = 1e-13, kSharedTolerance = 1e-11;  // of one step: one contact, several
constexpr double kAtRest = 1e-13, kSharedAtRest = 1e-9;         // a slip below this has stopped: likewise
constexpr double kDrift = 10;                                   // and goes on resting up to so many times that
// A slow slip that friction cannot stop follows the direction of its acceleration; the time it needs to do so is that
// of the slip over the friction, which no step could resolve as the slip begins. It is taken to do so up to this speed.
constexpr double kSlow = 1e-4;
constexpr double kRoundOff = 4e-15;
constexpr double kCollapsed = 1e-9;  // of the approach: what is left of impacts that repeat without end
constexpr double kApproach = 1e-12;  // slower approaches are contacts at rest
constexpr double kTurn = 1e-9;       // a phase ends this near to u_N = 0; what that costs is of the order of its square
constexpr double kUnloaded = 1e-13;
constexpr double kPlastic = 1e-6;    // restitution below this is 0
constexpr double kLongest = 0.5;     // natural period: 2π
constexpr double kShortest = 1e-15;  // steps below this get nowhere
constexpr double kTowardsStop = 0.9;
constexpr double kSettled = 1e-13;  // change of the forces that hold stuck contacts
constexpr int kMostSteps = 5000, kMostSweeps = 50;

}  // namespace

void EnergeticPath::start(const DenseMatrix& D, const Vector& u) {
  D_ = D;
  u0_ = u;
  contacts_.clear();
  rows_ = 0;
}

void EnergeticPath::add(const Set& set, double restitution) {
  Contact c;
  c.first = rows_;
  c.tangents = set.size > 1 && set.limit > 0 ? set.size - 1 : 0;
  c.mu = set.limit;
  c.slope = restitution > kPlastic ? 1 / (restitution * restitution) : 0;
  contacts_.push_back(c);
  for (int t = 1; t < set.size; ++t)  // what friction leaves out makes no difference
    if (c.tangents == 0) D_.row(rows_ + t).setZero(), D_.col(rows_ + t).setZero(), u0_[rows_ + t] = 0;
  rows_ += set.size;
}

/// p and u in units of sqrt(kg) m/s: no unit of length, angle or mass is left but that of energy.
void EnergeticPath::scale_rows() {
  auto root = [](double square) { return square > 0 ? std::sqrt(square) : 1.0; };
  scale_.setOnes(rows_);
  for (Contact& c : contacts_) {
    scale_[c.first] = root(D_(c.first, c.first));
    double trace = 0;
    for (int t = 1; t <= c.tangents; ++t) trace += D_(c.first + t, c.first + t);
    const double tangential = root(trace / std::max(1, c.tangents));
    for (int t = 1; t <= c.tangents; ++t) scale_[c.first + t] = tangential;
    if (c.tangents > 0) c.mu *= tangential / scale_[c.first];
  }
  for (Index i = 0; i < rows_; ++i) {
    u0_[i] /= scale_[i];
    for (Index j = 0; j < rows_; ++j) D_(i, j) /= scale_[i] * scale_[j];
  }
}

void EnergeticPath::velocity(const Vector& y, Vector& u) const {
  u = u0_;
  u.noalias() += D_ * y.head(rows_);
}

double EnergeticPath::force(std::size_t contact, const Vector& y) const {
  const double F = y[rows_ + static_cast<Index>(contact)];
  return contacts_[contact].phase == Phase::open ? 0.0 : std::max(F, 0.0);
}

double EnergeticPath::slip_speed(const Contact& c, const Vector& u) const {
  return c.tangents == 0   ? 0.0
         : c.tangents == 1 ? std::abs(u[c.first + 1])
                           : std::hypot(u[c.first + 1], u[c.first + 2]);
}

double EnergeticPath::at_rest() const { return (contacts_.size() == 1 ? kAtRest : kSharedAtRest) * size_; }

/// dp of the stuck contacts, by exchange between them: |dp_T| <= μ F and dp_T opposes the acceleration.
void EnergeticPath::hold_stuck(const Vector& y, Vector& dp) {
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double change = 0, size = 0;
    int stuck = 0;
    for (std::size_t k = 0; k < contacts_.size(); ++k) {
      const Contact& c = contacts_[k];
      if (!c.stuck || c.tangents == 0) continue;
      const double limit = c.mu * force(k, y);
      ++stuck;
      const Index t = c.first + 1;
      std::array<double, 2> q{}, r{};
      std::array<double, 4> block{};
      for (int i = 0; i < c.tangents; ++i) {
        r[i] = dp[t + i];
        q[i] = D_.row(t + i).dot(dp.head(rows_));
        for (int j = 0; j < c.tangents; ++j) {
          block[i * c.tangents + j] = D_(t + i, t + j);
          q[i] -= D_(t + i, t + j) * dp[t + j];
        }
      }
      if (!(limit > 0) || !(block[0] > 0)) {
        r = {};
      } else {
        solve_one_law(c.tangents == 1 ? Set{SetKind::interval, 1, limit, 0} : Set{SetKind::disk, 2, limit, 0},
                      block.data(), q.data(), r.data());
      }
      for (int i = 0; i < c.tangents; ++i) {
        change = std::max(change, std::abs(r[i] - dp[t + i]));
        size = std::max(size, limit);
        dp[t + i] = r[i];
      }
    }
    if (stuck <= 1 || change <= kSettled * size) return;
  }
}

void EnergeticPath::rate(const Vector& y, Vector& dy) {
  velocity(y, u_stage_);
  bool stuck = false;
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Contact& c = contacts_[k];
    if (c.phase == Phase::open) {
      for (int t = 0; t <= c.tangents; ++t) dy[c.first + t] = 0;
      dy[rows_ + static_cast<Index>(k)] = 0;
      continue;
    }
    const double F = force(k, y), u = u_stage_[c.first];
    dy[c.first] = F;
    dy[rows_ + static_cast<Index>(k)] = c.phase == Phase::loads ? -u : -c.slope * u;
    if (c.tangents == 0) continue;
    stuck |= c.stuck;
    if (c.stuck) continue;  // what held it in this stage of the last step starts the exchange
    const double speed = slip_speed(c, u_stage_);
    for (int t = 1; t <= c.tangents; ++t) dy[c.first + t] = speed > 0 ? -c.mu * F * u_stage_[c.first + t] / speed : 0;
  }
  if (stuck) hold_stuck(y, dy);
}

/// k_[0] and u_rate_ are those of the last step's start.
void EnergeticPath::change_slip(Contact& c, double F) const {
  const double speed = slip_speed(c, u_);
  if (c.tangents == 0 || speed <= (c.stuck ? kDrift : 1.0) * at_rest()) {
    c.stuck = c.tangents > 0;
  } else if (c.stuck) {
    double held = 0;
    for (int t = 1; t <= c.tangents; ++t) held = std::hypot(held, k_[0][c.first + t]);
    c.stuck = speed <= kSlow * speed_ && c.tangents == 2 && held >= c.mu * F * (1 - 1e-9);
  }
}

/// True: the contact is in another phase than before.
bool EnergeticPath::change_phase(std::size_t contact) {
  Contact& c = contacts_[contact];
  double& F = y_[rows_ + static_cast<Index>(contact)];
  const double u = u_[c.first], faster = u_rate_[c.first];
  const double turn = kTurn * c.peak_u + kRoundOff * size_;
  const Phase before = c.phase;
  switch (c.phase) {
    case Phase::open:
      if (u < -kApproach * speed_ || (u <= 0 && faster < 0)) c.phase = Phase::loads;
      break;
    case Phase::loads:
      if (u >= -turn && faster > 0) c.phase = c.slope > 0 ? Phase::unloads : Phase::open;
      // What never approached and is pressed on no longer.
      if (F <= 0 && u >= -kApproach * speed_ && faster >= 0) c.phase = Phase::open;
      break;
    case Phase::unloads:
      if (F <= kUnloaded * c.peak_F) {
        c.phase = Phase::open;
      } else if (u <= turn && faster < 0) {
        c.phase = Phase::loads;
      }
      break;
  }
  if (c.phase == before) return false;
  if (c.phase == Phase::open) F = 0;
  if (before == Phase::open) c.peak_u = c.peak_F = 0;
  return true;
}

bool EnergeticPath::settle_phases() {
  for (std::size_t k = 0; k < contacts_.size(); ++k) change_slip(contacts_[k], force(k, y_));
  for (std::size_t round = 0; round <= 2 * contacts_.size(); ++round) {
    rate(y_, k_[0]);
    u_rate_.noalias() = D_ * k_[0].head(rows_);
    bool changed = false;
    for (std::size_t k = 0; k < contacts_.size(); ++k) changed |= change_phase(k);
    if (!changed) break;
  }
  return std::any_of(contacts_.begin(), contacts_.end(), [](const Contact& c) { return c.phase != Phase::open; });
}

bool EnergeticPath::only_echoes() const {
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Contact& c = contacts_[k];
    const double most = kCollapsed * approach_;
    if (c.phase != Phase::open && (std::abs(u_[c.first]) > most || force(k, y_) > most)) return false;
  }
  return true;
}

/// Up to the next end of a phase or of a slip, as the slopes show it.
double EnergeticPath::longest_step() const {
  double h = kLongest;
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Contact& c = contacts_[k];
    const double u = u_[c.first], rate = u_rate_[c.first];
    const double turn = kTurn * c.peak_u + kRoundOff * size_;
    if (u * rate < 0 && (c.phase == Phase::loads ? u < -turn : u > turn)) h = std::min(h, -u / rate);
    if (c.phase == Phase::unloads && u > 0) {
      h = std::min(h, y_[rows_ + static_cast<Index>(k)] / (c.slope * u));
      h = std::min(h, kLongest / std::sqrt(c.slope));
    }
    if (c.tangents == 0 || c.stuck) continue;
    double closing = 0, speed = slip_speed(c, u_), change = 0;
    for (int t = 1; t <= c.tangents; ++t) {
      closing -= u_[c.first + t] * u_rate_[c.first + t];
      change = std::hypot(change, u_rate_[c.first + t]);
    }
    if (closing > 0) h = std::min(h, (c.tangents == 1 ? 1.0 : kTowardsStop) * speed / change);
  }
  return h;
}

/// trial_ at the end of the step; the error over the tolerance.
double EnergeticPath::try_step(double h) {
  for (int stage = 1; stage <= 12; ++stage) {
    trial_ = y_;
    for (const dop853::Term& term : dop853::kRows[static_cast<std::size_t>(stage)])
      trial_ += h * term.weight * k_[static_cast<std::size_t>(term.stage)];
    if (stage < 12) rate(trial_, k_[static_cast<std::size_t>(stage)]);
  }
  double square5 = 0, square3 = 0;
  for (Index i = 0; i < y_.size(); ++i) {
    double error5 = 0, error3 = 0;
    for (const dop853::Term& term : dop853::kError5)
      error5 += term.weight * k_[static_cast<std::size_t>(term.stage)][i];
    for (const dop853::Term& term : dop853::kError3)
      error3 += term.weight * k_[static_cast<std::size_t>(term.stage)][i];
    square5 = std::max(square5, error5 * error5);
    square3 = std::max(square3, error3 * error3);
  }
  const double size = std::sqrt(square5 + 0.01 * square3);
  const double tolerance = (contacts_.size() == 1 ? kTolerance : kSharedTolerance) * speed_;
  return size > 0 ? h * square5 / (size * tolerance) : 0;
}

/// trial_ lies beyond the end of a phase or of a slip; u_trial_ are its velocities.
bool EnergeticPath::overshoots() {
  velocity(trial_, u_trial_);
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Contact& c = contacts_[k];
    const double u = u_trial_[c.first], beyond = 2 * kTurn * c.peak_u + kAtRest * size_;
    if (c.phase == Phase::loads ? u > beyond : u < -beyond - (c.phase == Phase::open ? kTurn * speed_ : 0)) return true;
    if (c.phase == Phase::unloads && trial_[rows_ + static_cast<Index>(k)] < -kUnloaded * c.peak_F) return true;
    if (c.tangents == 1 && !c.stuck && u_trial_[c.first + 1] * u_[c.first + 1] < 0 &&
        std::abs(u_trial_[c.first + 1]) > at_rest())
      return true;
  }
  return false;
}

Status EnergeticPath::follow(double max_seconds, StopRequest stop, Vector& p) {
  scale_rows();
  y_.setZero(rows_ + static_cast<Index>(contacts_.size()));
  speed_ = u0_.size() > 0 ? u0_.lpNorm<Eigen::Infinity>() : 0;
  size_ = speed_;
  approach_ = 0;
  for (Contact& c : contacts_) {
    c.stuck = slip_speed(c, u0_) <= at_rest();
    approach_ = std::max(approach_, -u0_[c.first]);
  }
  for (Vector& k : k_) k.setZero(y_.size());
  const Deadline deadline(max_seconds, stop);
  Status status = Status::success;
  collapsed_ = true;  // unless it ends by itself
  double h = 0.01;
  velocity(y_, u_);
  for (int step = 0; step < kMostSteps; ++step) {
    const bool goes_on = settle_phases();
    if (!goes_on || only_echoes()) {
      collapsed_ = goes_on;
      break;
    }
    if (deadline.passed()) {
      status = deadline.stopped() ? Status::interrupted : Status::not_converged;
      break;
    }
    for (std::size_t k = 0; k < contacts_.size(); ++k) {
      contacts_[k].peak_u = std::max(contacts_[k].peak_u, std::abs(u_[contacts_[k].first]));
      contacts_[k].peak_F = std::max(contacts_[k].peak_F, y_[rows_ + static_cast<Index>(k)]);
    }
    h = std::min(h, longest_step());
    double error = try_step(h);
    while ((error > 1 || overshoots() || !(error == error)) && h > kShortest) {
      h *= error > 1 ? std::clamp(0.9 * std::pow(error, -0.125), 0.2, 0.9) : 0.5;
      error = try_step(h);
    }
    if (!(h > kShortest)) break;
    y_ = trial_;
    velocity(y_, u_);
    size_ = std::max(size_, y_.head(rows_).lpNorm<Eigen::Infinity>());
    h *= std::clamp(0.9 * std::pow(std::max(error, 1e-12), -0.125), 0.5, 6.0);
  }
  p = y_.head(rows_).cwiseQuotient(scale_);
  return status;
}

}  // namespace stickslip
