// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_interior.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/solvers/second_order_cone.hpp"

namespace stickslip {

using second_order_cone::det;
using second_order_cone::product;
using second_order_cone::quotient;
using second_order_cone::way_out;

namespace {

constexpr double kCentred = 0.1;    // distance from the path at which a point counts as on it
constexpr double kOfLargest = 0.5;  // weight of the worst contact in that distance, beside the mean
constexpr double kInside = 0.75;    // part of the way to the boundary of the cones that a step may take
constexpr int kStartSteps = 40, kCorrections = 6;
constexpr double kWorse = 1.5;  // distance over the one before: the prediction was too long
constexpr double kFirstLength = 0.7, kLonger = 1.7, kShorter = 0.7, kFailed = 0.4, kShortest = 1e-4;
constexpr int kEasy = 1, kHard = 4;  // corrections
constexpr double kLargestShift = 1;  // of log τ in a correction
constexpr double kShortestStep = 1e-4;

}  // namespace

template <int N>
bool ContactInterior<N>::applies(const ContactSystem<N>& system) {
  for (int i = 0; i < system.laws(); ++i) {
    const Set& set = system.set(i);
    if (set.kind != SetKind::friction_cone || set.size != N || !(set.limit > 0)) return false;
  }
  return true;
}

template <int N>
void ContactInterior<N>::start(const ContactSystem<N>& system) {
  const std::size_t n = static_cast<std::size_t>(system.laws()), m = N * n;
  for (auto* list : {&x_, &y_, &lambda_, &c_, &gap_, &saved_gap_, &base_x_, &base_y_}) list->resize(n);
  for (auto* list : {&W_, &W_inverse_, &W2_, &J_}) list->resize(n);
  for (auto* list : {&mu_, &sigma_, &by_log_, &shift_, &aim_}) list->resize(n);
  for (auto* list : {&r_, &u_, &g_, &best_, &trial_, &trial_u_}) list->resize(m);
  for (auto* motion : {&step_, &tangent_, &response_, &bend_}) motion->resize(n);
  T_.resize(m * N);
  std::fill(shift_.begin(), shift_.end(), 0.0);
  double largest = 0, tau = 0;
  for (std::size_t k = 0; k < m; ++k) largest = std::max(largest, std::abs(system.b()[k]));
  largest_b_ = largest;
  for (std::size_t i = 0; i < n; ++i) {
    mu_[i] = system.set(static_cast<int>(i)).limit;
    x_[i] = Point::Zero();
    y_[i] = Point::Zero();
    x_[i][0] = largest / system.d(static_cast<int>(i));
    y_[i][0] = largest;
    tau += x_[i][0] * y_[i][0] / static_cast<double>(n);
  }
  first_log_tau_ = log_tau_ = std::log(tau);
  delta_unit_ = largest / tau;
  length_ = kFirstLength;
  tangent_s_ = -1;
}

template <int N>
void ContactInterior<N>::start_near(const ContactSystem<N>& system, double margin, const double* r) {
  system.velocity({}, r, u_.data());
  const int n = system.laws();
  double tau = 0;
  for (int i = 0; i < n; ++i) {
    Point& x = x_[i];
    Point& y = y_[i];
    x = Eigen::Map<const Point>(r + N * i);
    y = Eigen::Map<const Point>(u_.data() + N * i);
    const double slip = y.template tail<N - 1>().norm();
    x[0] = std::max(mu_[i] * x[0], x.template tail<N - 1>().norm()) + margin * largest_b_ / system.d(i);
    y[0] = std::max(y[0] / mu_[i], 0.0) + slip + margin * largest_b_;
    shift_[i] = slip;
    tau += x.dot(y) / n;
  }
  first_log_tau_ = log_tau_ = std::log(tau);
  delta_unit_ = margin * largest_b_ / tau;
}

template <int N>
double ContactInterior<N>::evaluate(const ContactSystem<N>& system) {
  const int n = system.laws();
  for (int i = 0; i < n; ++i) {
    r_[N * i] = x_[i][0] / mu_[i];
    for (int c = 1; c < N; ++c) r_[N * i + c] = x_[i][c];
  }
  system.velocity({}, r_.data(), u_.data());
  const double tau = std::exp(log_tau_), delta = delta_unit_ * tau;
  const bool convex = options_.steps == InteriorSteps::convex;
  double sum = 0, worst = 0, lag = 0;
  for (int i = 0; i < n; ++i) {
    const Point& x = x_[i];
    const Point& y = y_[i];
    Point own = Eigen::Map<const Point>(u_.data() + N * i);
    own[0] /= mu_[i];
    const double root = convex ? 0.0 : std::sqrt(own.template tail<N - 1>().squaredNorm() + delta * delta);
    J_[i].setIdentity();
    if (root > 0) J_[i].template block<1, N - 1>(0, 1) = own.template tail<N - 1>().transpose() * (share_ / root);
    sigma_[i] = root;
    by_log_[i] = root > 0 ? (delta / root - 1) * delta : 0.0;
    gap_[i] = own - y;
    aim_[i] = convex ? 0.0 : root - delta;
    if (follows_) {
      lag += (aim_[i] - shift_[i]) * (aim_[i] - shift_[i]);
      aim_[i] = shift_[i] + share_ * (aim_[i] - shift_[i]);
    }
    gap_[i][0] += aim_[i];
    const double dx = std::sqrt(det<N>(x)), dy = std::sqrt(det<N>(y)), eta = std::sqrt(dx / dy);
    Point w = x / dx, z = y / dy;
    const double gamma = std::sqrt((1 + w.dot(z)) / 2);
    z.template tail<N - 1>() *= -1;
    w = (w + z) / (2 * gamma);
    const auto tail = w.template tail<N - 1>();
    Block& W = W_[i];
    W.setIdentity();
    W.template bottomRightCorner<N - 1, N - 1>() += tail * tail.transpose() / (1 + w[0]);
    W(0, 0) = w[0];
    W.template block<1, N - 1>(0, 1) = tail.transpose();
    W.template block<N - 1, 1>(1, 0) = tail;
    W_inverse_[i] = W / eta;
    W_inverse_[i].template block<1, N - 1>(0, 1) *= -1;
    W_inverse_[i].template block<N - 1, 1>(1, 0) *= -1;
    W *= eta;
    W2_[i] = 2 * w * w.transpose();
    W2_[i].diagonal().array() += 1;
    W2_[i](0, 0) -= 2;
    W2_[i] *= eta * eta;
    lambda_[i].noalias() = W * y;
    Eigen::Map<Block> T(T_.data() + N * N * i);
    T.noalias() = W2_[i] * J_[i];
    T.row(0) /= mu_[i];
    T.col(0) /= mu_[i];
    Point off = product<N>(lambda_[i], lambda_[i]);
    off[0] -= tau;
    const double square = off.squaredNorm() / (tau * tau);
    worst = std::max(worst, square);
    sum += square + (W * gap_[i]).squaredNorm() / tau;
  }
  lag_ = std::sqrt(lag / n) / largest_b_;
  return std::max(std::sqrt(sum / n), kOfLargest * std::sqrt(worst));
}

template <int N>
bool ContactInterior<N>::factorize(int& iterations) {
  ++iterations;
  ++factorisations_;
  return factor_.factorize(T_.data());
}

template <int N>
void ContactInterior<N>::direction(const ContactSystem<N>& system, Motion& motion) {
  const int n = system.laws();
  for (int i = 0; i < n; ++i) {
    Eigen::Map<Point> g(g_.data() + N * i);
    g = W_[i] * c_[i] - W2_[i] * gap_[i];
    g[0] /= mu_[i];
  }
  factor_.solve(g_.data());
  system.multiply(g_.data(), trial_.data());
  for (int i = 0; i < n; ++i) {
    motion.x[i] = Eigen::Map<const Point>(g_.data() + N * i);
    motion.x[i][0] *= mu_[i];
    motion.u[i] = Eigen::Map<const Point>(trial_.data() + N * i);
    motion.u[i][0] /= mu_[i];
    motion.y[i] = J_[i] * motion.u[i] + gap_[i];
  }
}

template <int N>
void ContactInterior<N>::tangent(const ContactSystem<N>& system, Motion& motion) {
  Point one = Point::Zero();
  one[0] = std::exp(log_tau_);
  for (int i = 0; i < system.laws(); ++i) {
    c_[i] = quotient<N>(lambda_[i], one);
    gap_[i].setZero();
    gap_[i][0] = by_log_[i];
  }
  direction(system, motion);
}

/// Second derivative along the tangent.
template <int N>
void ContactInterior<N>::bend(const ContactSystem<N>& system) {
  const double tau = std::exp(log_tau_), delta = delta_unit_ * tau, s = tangent_s_;
  for (int i = 0; i < system.laws(); ++i) {
    Point c = -2 * product<N>(W_inverse_[i] * tangent_.x[i], W_[i] * tangent_.y[i]);
    c[0] += tau * s * s;
    c_[i] = quotient<N>(lambda_[i], c);
    gap_[i].setZero();
    if (!(sigma_[i] > 0)) continue;
    const auto slope = J_[i].template block<1, N - 1>(0, 1);
    const auto du = tangent_.u[i].template tail<N - 1>();
    const double along = slope.dot(du) + delta / sigma_[i] * delta * s;
    gap_[i][0] = (du.squaredNorm() + delta * s * delta * s - along * along) / sigma_[i] + by_log_[i] * s * s;
  }
  direction(system, bend_);
}

template <int N>
double ContactInterior<N>::dot(const Motion& a, const Motion& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < x_.size(); ++i)
    sum += (W_inverse_[i] * a.x[i]).dot(W_inverse_[i] * b.x[i]) + (W_[i] * a.y[i]).dot(W_[i] * b.y[i]);
  return sum * std::exp(-log_tau_) / static_cast<double>(x_.size());
}

template <int N>
double ContactInterior<N>::room(const Motion& motion) const {
  double t = HUGE_VAL;
  for (std::size_t i = 0; i < x_.size(); ++i)
    t = std::min({t, way_out<N>(x_[i], motion.x[i]), way_out<N>(y_[i], motion.y[i])});
  return t;
}

template <int N>
void ContactInterior<N>::move(double t, const Motion& motion, double by_log) {
  for (std::size_t i = 0; i < x_.size(); ++i) {
    x_[i] += t * motion.x[i];
    y_[i] += t * motion.y[i];
  }
  log_tau_ += t * by_log;
}

template <int N>
int ContactInterior<N>::correct(const ContactSystem<N>& system, const ContactGoal& goal, bool across, int most,
                                int last, int& iterations) {
  double before = HUGE_VAL;
  for (int step = 0;; ++step) {
    const double distance = evaluate(system);
    if (distance <= kCentred) return step;
    if (step >= most || (across && !(distance <= kWorse * before)) || iterations >= last || goal.expired()) return -1;
    before = distance;
    std::copy(gap_.begin(), gap_.end(), saved_gap_.begin());
    if (!factorize(iterations)) return -1;
    double shift = 0;
    if (across) tangent(system, response_);
    std::copy(saved_gap_.begin(), saved_gap_.end(), gap_.begin());
    Point centre = Point::Zero();
    centre[0] = std::exp(log_tau_);
    for (int i = 0; i < system.laws(); ++i)
      c_[i] = quotient<N>(lambda_[i], centre - product<N>(lambda_[i], lambda_[i]));
    direction(system, step_);
    if (across) {
      shift = -dot(tangent_, step_) / (dot(tangent_, response_) + tangent_s_);
      if (!std::isfinite(shift)) return -1;
      shift = std::clamp(shift, -kLargestShift, kLargestShift);
      for (std::size_t i = 0; i < x_.size(); ++i) {
        step_.x[i] += shift * response_.x[i];
        step_.y[i] += shift * response_.y[i];
      }
    }
    const double t = std::min(1.0, 0.9 * room(step_));
    if (!(t > kShortestStep)) return -1;
    move(t, step_, shift);
  }
}

template <int N>
bool ContactInterior<N>::advance(const ContactSystem<N>& system, const ContactGoal& goal, int last, int& iterations) {
  evaluate(system);
  if (!factorize(iterations)) return false;
  tangent(system, step_);
  double scale = 1 / std::sqrt(1 + dot(step_, step_));
  if (!std::isfinite(scale)) return false;
  scale *= -factor_.sign();  // a path that turns changes the sign of its determinant, and only there
  for (std::size_t i = 0; i < x_.size(); ++i) {
    tangent_.x[i] = scale * step_.x[i];
    tangent_.y[i] = scale * step_.y[i];
    tangent_.u[i] = scale * step_.u[i];
  }
  tangent_s_ = scale;
  bend(system);
  base_x_ = x_;
  base_y_ = y_;
  const double base = log_tau_;
  while (length_ > kShortest && iterations < last && !goal.expired()) {
    for (;; length_ *= 0.8) {
      for (std::size_t i = 0; i < x_.size(); ++i) {
        step_.x[i] = length_ * tangent_.x[i] + 0.5 * length_ * length_ * bend_.x[i];
        step_.y[i] = length_ * tangent_.y[i] + 0.5 * length_ * length_ * bend_.y[i];
      }
      if (!(length_ > kShortest) || room(step_) * kInside >= 1) break;
    }
    move(1, step_, 0);
    log_tau_ += length_ * tangent_s_;
    const int steps = correct(system, goal, true, kCorrections, last, iterations);
    if (steps >= 0) {
      length_ *= steps <= kEasy ? kLonger : steps >= kHard ? kShorter : 1.0;
      return true;
    }
    length_ *= kFailed;
    x_ = base_x_;
    y_ = base_y_;
    log_tau_ = base;
  }
  return false;
}

template <int N>
void ContactInterior<N>::keep(double error) {
  if (!(error < best_error_)) return;
  best_error_ = error;
  best_ = trial_;
}

template <int N>
double ContactInterior<N>::note(const ContactSystem<N>& system, const ContactGoal& goal, double* slip) {
  trial_ = r_;
  system.project_all(trial_.data());
  double error = 0;
  auto look = [&] {
    system.velocity({}, trial_.data(), trial_u_.data());
    error = system.error(goal.measure, trial_.data(), trial_u_.data());
    keep(error);
  };
  look();
  for (int k = 0; k < options_.sweeps && best_error_ > goal.tolerance; ++k)
    system.sweep({}, false, trial_.data(), slip);
  look();
  return error;
}

template <int N>
double ContactInterior<N>::follow(const ContactSystem<N>& system, const BodyBlocks* bodies, const ContactGoal& goal,
                                  const InteriorOptions& options, double* r, double* slip, int& iterations) {
  start(system);
  if (options.margin > 0) start_near(system, options.margin, r);
  options_ = options;
  follows_ = options.shift_follows;
  factorisations_ = 0;
  delta_unit_ *= options.slip;
  std::copy_n(r, system.size(), best_.begin());
  system.velocity({}, r, u_.data());
  best_error_ = system.error(goal.measure, r, u_.data());
  factor_.load(system, bodies);
  const int last = iterations + options.max_iterations;
  auto done = [&] {
    return !(best_error_ > goal.tolerance && iterations < last && !goal.expired() &&
             log_tau_ > first_log_tau_ + kLowest);
  };
  if (options_.steps != InteriorSteps::along_path) {
    go_far(system, goal, options.max_iterations, slip, iterations);
  } else if (correct(system, goal, false, kStartSteps, last, iterations) >= 0) {
    note(system, goal, slip);
    while (!done() && log_tau_ <= first_log_tau_ + kLargestShift && advance(system, goal, last, iterations))
      note(system, goal, slip);
  }
  std::copy(best_.begin(), best_.end(), r);
  return best_error_;
}

template class ContactInterior<2>;
template class ContactInterior<3>;

}  // namespace stickslip
