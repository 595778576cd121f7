// SPDX-License-Identifier: Apache-2.0
// A top on a fixed tip, as three parts written here: the orientation is a unit quaternion (4 numbers), the velocity the
// spin ω in the body's axes (3 numbers). The library steps, sticks and audits it as any other system.
//
//   q' = ½ q (0, ω),      J ω' = -ω × J ω + l e_3 × Rᵀ (0, 0, -m g) + friction,      J = diag(A, A, C) about the tip
//
// Two things are known in closed form. Without friction a top with C ω_3 Ω = A Ω² cos ϑ + m g l precesses at the angle
// ϑ with the constant rate Ω. With dry friction c about its axis, ω_3 falls by c/C per second, however it nutates, and
// sticks at 0.
#include <Eigen/Geometry>
#include <cmath>
#include <cstdio>

#include "stickslip/motion/case.hpp"

using namespace stickslip;
using Eigen::Quaterniond, Eigen::Vector3d;

namespace {

constexpr double kWeight = 9.81, kHeight = 0.3;  // m g [N], l [m]
constexpr double kAcross = 0.12, kAlong = 0.02;  // A, C [kg m²]

Quaterniond read(const Vector& q) { return {q[0], q[1], q[2], q[3]}; }
void write(const Quaterniond& r, Vector& q) { q = Vector{{r.w(), r.x(), r.y(), r.z()}}; }

class Orientation final : public Kinematics {
 public:
  Orientation() : Kinematics({"qw", "qx", "qy", "qz"}, {"w1", "w2", "w3"}) {}
  void rate(const Vector& q, const Vector& v, Vector& qdot) const override {
    const Quaterniond r = read(q) * Quaterniond(0, v[0], v[1], v[2]);
    qdot = 0.5 * Vector{{r.w(), r.x(), r.y(), r.z()}};
  }
  void displace(const Vector& delta, Vector& q) const override {
    const Vector3d a = delta;
    const double angle = a.norm();
    if (angle == 0) return;
    write((read(q) * Quaterniond(Eigen::AngleAxisd(angle, a / angle))).normalized(), q);
  }
  void difference(const Vector& q1, const Vector& q0, Vector& delta) const override {
    const Eigen::AngleAxisd turn(read(q0).conjugate() * read(q1));
    delta = turn.angle() * turn.axis();
  }
  void normalize(Vector& q) const override { q.normalize(); }
};

class TopInertia final : public Inertia {
 public:
  bool constant() const override { return true; }
  const SystemMatrix& mass(const Vector&, SystemWorkspace&) const override { return mass_; }
  double kinetic_energy(const Vector&, const Vector& v) const override { return 0.5 * v.dot(momentum(v)); }
  bool has_velocity_force() const override { return true; }
  void add_velocity_force(const Vector&, const Vector& v, SystemWorkspace&, Vector& h) const override {
    h -= Vector3d(v).cross(momentum(v));
  }

 private:
  static Vector3d momentum(const Vector& v) { return {kAcross * v[0], kAcross * v[1], kAlong * v[2]}; }
  SystemMatrix mass_{DenseMatrix(Eigen::DiagonalMatrix<double, 3>(kAcross, kAcross, kAlong))};
};

/// The weight, with the potential m g l cos ϑ.
class Weight final : public Forces {
 public:
  void total(double, const Vector& q, const Vector&, SystemWorkspace&, Vector& h) const override {
    h = -kWeight * kHeight * Vector3d::UnitZ().cross(up(q));
  }
  void applied(double, const Vector&, const Vector&, SystemWorkspace&, Vector& f) const override { f.setZero(3); }
  double potential_energy(const Vector& q) const override { return kWeight * kHeight * up(q).z(); }
  double damper_power(const Vector&, const Vector&) const override { return 0; }
  // A turn δ in the body takes `up` along by up × δ.
  void slopes(double, const Vector& q, const Vector&, SystemWorkspace&, SystemMatrix& by_q,
              SystemMatrix& by_v) const override {
    by_q = SystemMatrix(DenseMatrix(-kWeight * kHeight * cross(Vector3d::UnitZ()) * cross(up(q))));
    by_v = SystemMatrix(DenseMatrix(DenseMatrix::Zero(3, 3)));
  }
  void applied_slopes(double, const Vector&, const Vector&, SystemWorkspace&, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override {
    by_q = by_v = SystemMatrix(DenseMatrix(DenseMatrix::Zero(3, 3)));
  }
  bool applied_depends_on_state() const override { return false; }
  bool applied_depends_on_time() const override { return false; }
  bool depends_on_state() const override { return true; }

 private:
  static Vector3d up(const Vector& q) { return read(q).conjugate() * Vector3d::UnitZ(); }
  static Eigen::Matrix3d cross(const Vector3d& a) {
    return Eigen::Matrix3d{{0, -a.z(), a.y()}, {a.z(), 0, -a.x()}, {-a.y(), a.x(), 0}};
  }
};

Case top() {
  return Case({{"tilt", 0.4}, {"precession", 1.5}, {"friction", 0.0}, {"end_time", 3.0}}, [](const Parameters& p) {
    const double tilt = p["tilt"], rate = p["precession"];
    const double spin = (kAcross * rate * rate * std::cos(tilt) + kWeight * kHeight) / (kAlong * rate);
    std::vector<FrictionElement> tip;
    if (p["friction"] > 0) tip = {{.name = "tip", .directions = {on(2)}, .limit = p["friction"]}};
    SystemParts parts{"A top", std::make_unique<Orientation>(), std::make_unique<TopInertia>(),
                      std::make_unique<Weight>(), LawSet(3, std::move(tip))};
    return CaseParts{.system = std::make_shared<System>(std::move(parts)),
                     .initial = {.q = Vector{{std::cos(tilt / 2), std::sin(tilt / 2), 0, 0}},
                                 .v = Vector{{0, rate * std::sin(tilt), spin}}},
                     .options = {.scheme = SchemeKind::event, .tolerance = 1e-10, .end_time = p["end_time"]}};
  });
}

}  // namespace

int main() {
  Case c = top();
  const double tilt = c.get("tilt"), turned = c.get("precession") * c.get("end_time");
  const Simulation free = c.run();
  const Vector3d axis = read(free.final.q) * Vector3d::UnitZ();
  const Vector3d expected(std::sin(tilt) * std::sin(turned), -std::sin(tilt) * std::cos(turned), std::cos(tilt));
  const double error = (axis - expected).norm();
  std::printf("precession: after %.1f s the axis is %.1e off the closed form\n", c.get("end_time"), error);

  const NamedNumber rough[] = {{"friction", 0.5}, {"end_time", 6.0}};
  c.set(rough);
  const Simulation slowed = c.run();
  const double stop = kAlong * c.initial().v[2] / c.get("friction");
  double sticks = 0;
  for (const Event& event : slowed.trajectory.events)
    if (event.kind == EventKind::stick) sticks = event.t;
  std::printf("friction: it stops to spin at %.9f s, expected %.9f s, and stays at %g rad/s\n", sticks, stop,
              slowed.final.v[2]);

  bool right = free.status == Status::success && slowed.status == Status::success;
  for (const Simulation* run : {&free, &slowed})
    for (const AuditItem& item : run->audit) right = right && item.ok;
  return right && error < 1e-8 && std::abs(sticks - stop) < 1e-8 && slowed.final.v[2] == 0 ? 0 : 1;
}
