// SPDX-License-Identifier: Apache-2.0
// Positions with more numbers than velocities under `event`: free bodies, and parts that a user has written.
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/motion/simulate.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/ball_pendulum.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::event_manifold_test {
namespace {

using ball_pendulum::numbers;
using ball_pendulum::orientation;
using ball_pendulum::Parameters;
using Eigen::Quaterniond;
using Eigen::Vector3d;

constexpr std::string_view kTop = R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "top"
mass = 2
inertia = [0.02, 0.05, 0.06]
velocity_0 = [1, 0, 5]
spin_0 = [0.01, 7, 0.02]
[run]
scheme = "event"
tolerance = 1e-11
steps = 10
end_time = 3
)toml";

Vector3d angular_momentum(const Vector& q, const Vector& v) {
  const Vector3d w = v.segment<3>(3);
  return Quaterniond(q[3], q[4], q[5], q[6]) * Vector3d(Vector3d(0.02, 0.05, 0.06).cwiseProduct(w));
}

TEST(EventOnManifold, FreeTopTumblesAboutItsMiddleAxisWithItsMomentumAndEnergy) {
  const ModelFile model = parse_model(kTop, "test.toml");
  const Simulation s = simulate(*model.system, model.initial, model.run);
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_TRUE(passed(s.audit));
  const Vector3d start = angular_momentum(model.initial.q, model.initial.v);
  for (Index row = 0; row < s.trajectory.rows(); ++row) {
    Vector q(7), v(6);
    for (Index i = 0; i < 7; ++i) q[i] = s.trajectory.q(row, i);
    for (Index i = 0; i < 6; ++i) v[i] = s.trajectory.v(row, i);
    EXPECT_LT((angular_momentum(q, v) - start).norm(), 1e-9 * start.norm());
    EXPECT_NEAR(q.segment<4>(3).norm(), 1, 4e-16);
    const double t = s.trajectory.t(row);
    EXPECT_NEAR(q[2], 5 * t - 9.81 / 2 * t * t, 1e-9);
  }
  EXPECT_LT(audit_value(s, "energy"), 1e-9);
  // It has turned over: the spin about the middle axis has changed its sign on the way.
  double least = 7;
  for (Index row = 0; row < s.trajectory.rows(); ++row) least = std::min(least, s.trajectory.v(row, 4));
  EXPECT_LT(least, -5);
}

TEST(EventOnManifold, MoreauConvergesToItWithOrderTwo) {
  const Simulation exact = run_text(kTop);
  double last = 0;
  for (const int steps : {2000, 4000, 8000}) {
    const Simulation s = run_text(kTop, {"run.scheme=moreau", "run.steps=" + std::to_string(steps)});
    ASSERT_EQ(s.status, Status::success) << s.message;
    const double error = (s.final.q - exact.final.q).norm();
    if (last > 0) {
      EXPECT_NEAR(std::log2(last / error), 2, 0.1);
    }
    last = error;
  }
  EXPECT_LT(last, 1e-2);
}

/// The pendulum by classical Runge-Kutta steps in (r, ω), with joint friction about one body axis: modes by hand.
class Reference {
 public:
  Reference(const Parameters& p, int axis, double limit) : p_(p), axis_(axis), limit_(limit) {}
  int events = 0;

  void run(Quaterniond& r, Vector3d& w, double end, double h) {
    const long steps = std::lround(end / h);
    for (long n = 0; n < steps; ++n) {
      double left = h;
      while (left > 0) {
        Quaterniond r1 = r;
        Vector3d w1 = w;
        step(r1, w1, left);
        if (sign_ != 0 && w1[axis_] * sign_ < 0) {  // stops on the way
          double low = 0, high = left;
          for (int i = 0; i < 80; ++i) {
            const double middle = 0.5 * (low + high);
            r1 = r, w1 = w;
            step(r1, w1, middle);
            (w1[axis_] * sign_ < 0 ? high : low) = middle;
          }
          r1 = r, w1 = w;
          step(r1, w1, high);
          r = r1, w = w1;
          w[axis_] = 0;
          left -= high;
          decide(r, w);
          continue;
        }
        if (sign_ == 0 && std::abs(held_torque(r1, w1)) > limit_) {  // breaks away on the way
          double low = 0, high = left;
          for (int i = 0; i < 80; ++i) {
            const double middle = 0.5 * (low + high);
            r1 = r, w1 = w;
            step(r1, w1, middle);
            (std::abs(held_torque(r1, w1)) > limit_ ? high : low) = middle;
          }
          r1 = r, w1 = w;
          step(r1, w1, high);
          r = r1, w = w1;
          left -= high;
          decide(r, w);
          continue;
        }
        r = r1, w = w1, left = 0;
      }
      r.normalize();
    }
  }
  void decide(const Quaterniond& r, const Vector3d& w) {
    const double torque = held_torque(r, w);
    sign_ = w[axis_] != 0 ? std::copysign(1, w[axis_]) : std::abs(torque) > limit_ ? -std::copysign(1, torque) : 0;
    ++events;
  }

 private:
  Vector3d free_torque(const Quaterniond& r, const Vector3d& w) const {
    return ball_pendulum::gravity_torque(p_, r) - w.cross(p_.J * w);
  }
  /// That keeps w' = 0 about the axis.
  double held_torque(const Quaterniond& r, const Vector3d& w) const {
    const Eigen::Matrix3d inverse = p_.J.inverse();
    return -(inverse * free_torque(r, w))[axis_] / inverse(axis_, axis_);
  }
  void rate(const Quaterniond& r, const Vector3d& w, Eigen::Vector4d& dr, Vector3d& dw) const {
    Vector3d torque = free_torque(r, w);
    torque[axis_] += sign_ != 0 ? -limit_ * sign_ : held_torque(r, w);
    dw = p_.J.inverse() * torque;
    dr = (r * Quaterniond(0, 0.5 * w.x(), 0.5 * w.y(), 0.5 * w.z())).coeffs();
  }
  void step(Quaterniond& r, Vector3d& w, double h) const {
    Eigen::Vector4d dr[4];
    Vector3d dw[4];
    const double at[4] = {0, 0.5 * h, 0.5 * h, h};
    for (int i = 0; i < 4; ++i) {
      Quaterniond ri(i == 0 ? r.coeffs() : Eigen::Vector4d(r.coeffs() + at[i] * dr[i - 1]));
      const Vector3d wi = i == 0 ? w : Vector3d(w + at[i] * dw[i - 1]);
      rate(ri, wi, dr[i], dw[i]);
    }
    r.coeffs() += h / 6 * (dr[0] + 2 * dr[1] + 2 * dr[2] + dr[3]);
    w += h / 6 * (dw[0] + 2 * dw[1] + 2 * dw[2] + dw[3]);
  }

  Parameters p_;
  int axis_;
  double limit_, sign_ = 0;
};

State start_of_pendulum() {
  State state;
  state.q = numbers(Quaterniond(0.8, 0.5, -0.3, 0.1).normalized());
  state.v = Vector{{0.4, -0.2, 1.5}};
  return state;
}

SimulationOptions options(double end, double tolerance) {
  SimulationOptions o;
  o.scheme = SchemeKind::event;
  o.end_time = end;
  o.steps = 10;
  o.tolerance = tolerance;
  return o;
}

TEST(EventOnManifold, BallPendulumWithFrictionAboutOneAxisAgreesWithAnIndependentIntegration) {
  const Parameters p;
  const double limit = 0.05, end = 2;
  const auto system = ball_pendulum::make(p, {ball_pendulum::joint_friction(2, limit)});
  const State initial = start_of_pendulum();
  const Simulation s = simulate(*system, initial, options(end, 1e-12));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_TRUE(passed(s.audit));
  Reference reference(p, 2, limit);
  Quaterniond r = orientation(initial.q);
  Vector3d w = initial.v;
  reference.decide(r, w);
  reference.run(r, w, end, 2.5e-4);
  EXPECT_GT(reference.events, 1);
  EXPECT_EQ(static_cast<int>(s.trajectory.events.size()), reference.events - 1);
  EXPECT_LT((s.final.q - numbers(r)).lpNorm<Eigen::Infinity>(), 1e-10);
  EXPECT_LT((s.final.v - w).lpNorm<Eigen::Infinity>(), 1e-9);
}

// The heavy symmetric top keeps its energy, its spin about its axis and its momentum about the vertical.
TEST(EventOnManifold, HeavyTopKeepsItsThreeIntegrals) {
  Parameters p;
  p.center = {0, 0, 0.1};
  p.J = Vector3d(0.05, 0.05, 0.01).asDiagonal();
  const auto system = ball_pendulum::make(p);
  State initial;
  initial.q = numbers(Quaterniond(Eigen::AngleAxisd(0.4, Vector3d::UnitX())));
  initial.v = Vector{{0.1, 0.2, 60}};
  const Simulation s = simulate(*system, initial, options(2, 1e-11));
  ASSERT_EQ(s.status, Status::success) << s.message;
  auto vertical = [&](const Vector& q, const Vector& v) { return (orientation(q) * Vector3d(p.J * Vector3d(v))).z(); };
  EXPECT_NEAR(s.final.v[2], 60, 1e-12 * 60);
  EXPECT_NEAR(vertical(s.final.q, s.final.v), vertical(initial.q, initial.v), 1e-9);
  EXPECT_LT(audit_value(s, "energy"), 1e-9);
}

// All three axes rub: it comes to rest, and stays to the last bit.
TEST(EventOnManifold, FrictionAboutAllAxesEndsInARestThatIsExact) {
  Parameters p;
  p.gravity.setZero();
  const auto system =
      ball_pendulum::make(p, {ball_pendulum::joint_friction(0, 0.3), ball_pendulum::joint_friction(1, 0.3),
                              ball_pendulum::joint_friction(2, 0.3)});
  const Simulation s = simulate(*system, start_of_pendulum(), options(3, 1e-10));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_TRUE(passed(s.audit));
  const double end = s.trajectory.events.back().t;
  EXPECT_LT(end, 2.5);
  EXPECT_TRUE(s.final.v.isZero(0));
  Index resting = 0;
  for (Index row = 0; row < s.trajectory.rows(); ++row)
    if (s.trajectory.t(row) > end) {
      ++resting;
      for (Index i = 0; i < 4; ++i) EXPECT_EQ(s.trajectory.q(row, i), s.final.q[i]);
    }
  EXPECT_GT(resting, 1);
}

}  // namespace
}  // namespace stickslip::event_manifold_test
