// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/rigid_bodies.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/model/matrix_layout.hpp"

namespace stickslip {

namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

Vector3d position_of(const Vector& q, Index body) { return q.segment<3>(7 * body); }
Quaterniond orientation_of(const Vector& q, Index body) {
  return {q[7 * body + 3], q[7 * body + 4], q[7 * body + 5], q[7 * body + 6]};
}
void set_orientation(Vector& q, Index body, const Quaterniond& rotation) {
  q[7 * body + 3] = rotation.w();
  q[7 * body + 4] = rotation.x();
  q[7 * body + 5] = rotation.y();
  q[7 * body + 6] = rotation.z();
}

Matrix3d cross_matrix(const Vector3d& a) {
  Matrix3d m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

/// Right-handed frame with rows n, t1, t2 that depends continuously on n except at n = -z (Duff et al., 2017).
Matrix3d frame_of(const Vector3d& n) {
  const double sign = std::copysign(1.0, n.z());
  const double a = -1.0 / (sign + n.z()), b = n.x() * n.y() * a;
  Matrix3d frame;
  frame.row(0) = n;
  frame.row(1) << 1.0 + sign * n.x() * n.x() * a, sign * b, -sign * n.x();
  frame.row(2) << b, sign + n.y() * n.y() * a, -n.y();
  return frame;
}

/// A power of 2 of the size of J: divided by it, J has a determinant that is a number, and not a bit of the result
/// changes.
double unit_of(const Matrix3d& J) { return std::exp2(std::ilogb(J.trace())); }

struct BodyInertia {
  double mass;
  Matrix3d J, J_inverse;
  bool isotropic;  ///< spin is constant in free motion
  Vector3d center;
  double reach;  ///< farthest point of its shapes from the mass centre
};

/// What the collision search keeps from step to step.
struct ContactSearch {
  explicit ContactSearch(CollisionScene scene_of_system) : scene(std::move(scene_of_system)) {}
  CollisionScene scene;
  std::vector<Pose> poses;
  std::vector<ContactPoint> points;
};

CollisionScene make_scene(const BodyModel& model) {
  // A body that some law singles out is a group of its own.
  std::map<std::pair<std::string, std::string>, int> groups;
  std::vector<int> group_of_body;
  for (const RigidBody& body : model.bodies) {
    const bool alone = std::any_of(model.contacts.begin(), model.contacts.end(), [&](const BodyContact& contact) {
      return contact.first == body.name || contact.second == body.name;
    });
    group_of_body.push_back(
        groups.try_emplace({body.group, alone ? body.name : ""}, static_cast<int>(groups.size())).first->second);
  }
  auto ends = [&](const std::string& name) -> std::vector<int> {
    if (name == "*") return {any_body};
    if (name == "ground") return {ground_body};
    std::vector<int> found;
    for (const auto& [key, group] : groups)
      if (key.first == name || key.second == name) found.push_back(group);
    return found;
  };
  // Of laws that name both ends, one that names single bodies goes before one that names copies.
  auto singles = [&](const BodyContact& contact) {
    auto single = [&](const std::string& name) {
      return std::none_of(model.bodies.begin(), model.bodies.end(),
                          [&](const RigidBody& body) { return body.group == name && body.name != name; });
    };
    return int{single(contact.first)} + int{single(contact.second)};
  };
  std::vector<std::size_t> order(model.contacts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return singles(model.contacts[a]) > singles(model.contacts[b]);
  });
  std::vector<PairRule> rules;
  for (const std::size_t k : order)
    for (const int a : ends(model.contacts[k].first))
      for (const int b : ends(model.contacts[k].second)) rules.push_back({a, b, static_cast<int>(k)});
  return CollisionScene(model.shapes, rules, static_cast<int>(model.bodies.size()), group_of_body);
}

class BodySystem final : public System {
 public:
  explicit BodySystem(BodyModel model) : model_(std::move(model)) {
    make_scene(model_);  // refuses what is wrong with the shapes now, not in the first step
    info_.title = model_.title;
    std::vector<Eigen::Triplet<double, int>> entries;
    int row = 0;
    for (std::size_t k = 0; k < model_.bodies.size(); ++k) {
      const RigidBody& body = model_.bodies[k];
      for (const char* name : {"x", "y", "z", "qw", "qx", "qy", "qz"})
        info_.coordinates.push_back(body.name + "." + name);
      for (const char* name : {"vx", "vy", "vz", "wx", "wy", "wz"}) info_.velocities.push_back(body.name + "." + name);
      const Matrix3d J = *body.inertia;
      const double size = J.trace() / 3;
      const bool isotropic = (J - size * Matrix3d::Identity()).cwiseAbs().maxCoeff() <= 1e-15 * size;
      inertia_.push_back({body.mass, J, (J / unit_of(J)).inverse() / unit_of(J), isotropic, body.center, 0});
      for (int i = 0; i < 3; ++i) entries.emplace_back(row + i, row + i, body.mass);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          if (i == j || J(i, j) != 0) entries.emplace_back(row + 3 + i, row + 3 + j, J(i, j));
      row += 6;
    }
    SparseMatrix mass(row, row);
    mass.setFromTriplets(entries.begin(), entries.end());
    mass_ = SystemMatrix::compact(mass);
    double smallest = HUGE_VAL;
    for (const Shape& shape : model_.shapes) {
      if (shape.body < 0) continue;
      const double reach = reach_of(shape, model_.bodies[static_cast<std::size_t>(shape.body)].center);
      inertia_[static_cast<std::size_t>(shape.body)].reach =
          std::max(inertia_[static_cast<std::size_t>(shape.body)].reach, reach);
      smallest = std::min(smallest, 2 * make_geometry(shape).scale);
    }
    length_ = std::isfinite(smallest) && smallest > 0 ? smallest : 1.0;
    for (const BodyContact& contact : model_.contacts) {
      contacts_.push_back(contact.law);
      for (const StateFunction& w : contact.surface_velocity) surfaces_move_ |= w.depends_on_time();
    }
    set_spring_structure();
    for (const RigidBody& body : model_.bodies) loaded_ |= !body.force.empty() || !body.torque.empty();
  }

  const SystemInfo& info() const override { return info_; }
  const std::vector<FrictionElement>& friction() const override { return friction_; }
  const std::vector<ContactElement>& contacts() const override { return contacts_; }
  StepForm step_form() const override { return StepForm::drift_kick; }
  double length_scale() const override { return length_; }
  bool has_quadratic_energy() const override { return model_.springs.empty(); }
  bool has_stiff_forces() const override { return !model_.springs.empty(); }
  bool surfaces_move() const override { return surfaces_move_; }
  const SystemMatrix& mass(const Vector&, SystemWorkspace&) const override { return mass_; }
  const LinearPart* linear() const override { return nullptr; }

  void position_rate(const Vector& q, const Vector& v, Vector& qdot) const override {
    qdot.resize(info_.nq());
    for (Index k = 0; k < bodies(); ++k) {
      qdot.segment<3>(7 * k) = v.segment<3>(6 * k);
      const Quaterniond r = orientation_of(q, k);
      const Vector3d w = v.segment<3>(6 * k + 3);
      const Quaterniond rate = r * Quaterniond(0, 0.5 * w.x(), 0.5 * w.y(), 0.5 * w.z());
      set_orientation(qdot, k, rate);
    }
  }

  void drift(double dt, Vector& q, Vector& v) const override {
    for (Index k = 0; k < bodies(); ++k) {
      q.segment<3>(7 * k) += dt * v.segment<3>(6 * k);
      const BodyInertia& body = inertia_[static_cast<std::size_t>(k)];
      Vector3d spin = v.segment<3>(6 * k + 3);
      if (spin.isZero(0.0)) continue;
      Quaterniond rotation = orientation_of(q, k);
      if (body.isotropic) {
        turn(rotation, dt * spin);
      } else {
        const Vector3d momentum = body.J * spin;
        const Vector3d middle = middle_spin(body, spin, dt);
        Quaterniond increment(1, 0.5 * dt * middle.x(), 0.5 * dt * middle.y(), 0.5 * dt * middle.z());
        increment.normalize();
        rotation = rotation * increment;
        // Rᵀ Jω - Jω, so that rounding is relative to the change
        const Vector3d axis = increment.vec(), turned = axis.cross(momentum);
        v.segment<3>(6 * k + 3) += body.J_inverse * (2 * axis.cross(turned) - 2 * increment.w() * turned);
      }
      rotation.normalize();
      set_orientation(q, k, rotation);
    }
  }

  /// Angular momentum in the world is kept: spin turns against the body, and where no ground takes part, what moving
  /// the mass centres changed, Σ m δ × v, is given back to the spin of the bodies that moved.
  void displace(const Vector& delta, Vector& q, Vector& v) const override {
    Vector3d shift = Vector3d::Zero(), momentum = Vector3d::Zero();
    double path = 0, mass = 0;
    for (Index k = 0; k < bodies(); ++k) {
      const auto moved = delta.segment<3>(6 * k);
      if (delta.segment<6>(6 * k).isZero(0.0)) continue;
      const double m = inertia_[static_cast<std::size_t>(k)].mass;
      shift += m * moved;
      path += m * moved.norm();
      momentum += m * v.segment<3>(6 * k);
      mass += m;
    }
    if (mass == 0) return;
    const bool closed = shift.norm() <= 1e-9 * path;  // internal impulses alone do not move the common mass centre
    for (Index k = 0; k < bodies(); ++k) {
      if (delta.segment<6>(6 * k).isZero(0.0)) continue;
      const BodyInertia& body = inertia_[static_cast<std::size_t>(k)];
      const Vector3d moved = delta.segment<3>(6 * k);
      Quaterniond rotation = orientation_of(q, k);
      Vector3d spin_momentum = rotation * (body.J * Vector3d(v.segment<3>(6 * k + 3)));
      if (closed) spin_momentum -= body.mass * moved.cross(Vector3d(v.segment<3>(6 * k)) - momentum / mass);
      q.segment<3>(7 * k) += moved;
      turn(rotation, delta.segment<3>(6 * k + 3));
      rotation.normalize();
      set_orientation(q, k, rotation);
      v.segment<3>(6 * k + 3) = body.J_inverse * (rotation.conjugate() * spin_momentum);
    }
  }

  void interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h, double s,
                   bool smooth, Vector& q) const override {
    const double a = 1 + s * s * (2 * s - 3), b = s * s * (3 - 2 * s), c = s * (1 - s) * (1 - s) * h,
                 d = s * s * (s - 1) * h;
    for (Index k = 0; k < bodies(); ++k) {
      const auto x0 = q0.segment<3>(7 * k), x1 = q1.segment<3>(7 * k);
      q.segment<3>(7 * k) = smooth ? Vector3d(a * x0 + b * x1 + c * v0.segment<3>(6 * k) + d * v1.segment<3>(6 * k))
                                   : Vector3d((1 - s) * x0 + s * x1);
      set_orientation(q, k, orientation_of(q0, k).slerp(s, orientation_of(q1, k)));
    }
  }

  void force(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& h) const override {
    applied_force(t, q, v, w, h);
    for (Index k = 0; k < bodies(); ++k)
      h.segment<3>(6 * k) += inertia_[static_cast<std::size_t>(k)].mass * model_.gravity;
    for (const PointSpring& spring : model_.springs) {
      const SpringState s = spring_state(spring, q, v);
      add_point_force(spring.body_a, s.arm_a, s.along * s.tension, q, h);
      add_point_force(spring.body_b, s.arm_b, -s.along * s.tension, q, h);
    }
  }
  void force_jacobian(double, const Vector& q, const Vector& v, SystemWorkspace&, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override {
    double* const dq = spring_layout_.clear(by_q);
    double* const dv = spring_layout_.clear(by_v);
    for (std::size_t k = 0; k < model_.springs.size(); ++k) {
      const PointSpring& spring = model_.springs[k];
      const std::array<double, 12> J = length_rate(spring, spring_state(spring, q, v), q);
      const std::array<int, 2> ends{spring.body_a, spring.body_b};
      std::size_t at = 12 * 12 * k;
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j, ++at) {
          if (ends[static_cast<std::size_t>(i / 6)] < 0 || ends[static_cast<std::size_t>(j / 6)] < 0) continue;
          const double slope = J[static_cast<std::size_t>(i)] * J[static_cast<std::size_t>(j)];
          dq[spring_places_[at]] -= spring.stiffness * slope;
          dv[spring_places_[at]] -= spring.damping * slope;
        }
    }
  }
  void applied_force(double t, const Vector& q, const Vector&, SystemWorkspace& w, Vector& f) const override {
    f.setZero();
    if (!loaded_) return;
    w.variables.set_time(t);
    for (Index k = 0; k < bodies(); ++k) {
      const RigidBody& body = model_.bodies[static_cast<std::size_t>(k)];
      for (std::size_t i = 0; i < body.force.size(); ++i)
        f[6 * k + static_cast<Index>(i)] += body.force[i](w.variables.span());
      if (body.torque.empty()) continue;
      Vector3d torque;
      for (int i = 0; i < 3; ++i) torque[i] = body.torque[static_cast<std::size_t>(i)](w.variables.span());
      f.segment<3>(6 * k + 3) += orientation_of(q, k).conjugate() * torque;
    }
  }
  bool applied_force_depends_on_state() const override { return false; }
  bool applied_force_depends_on_time() const override { return loaded_; }
  void applied_force_jacobian(double, const Vector&, const Vector&, SystemWorkspace&, SystemMatrix& by_q,
                              SystemMatrix& by_v) const override {
    by_q = by_v = SystemMatrix::zero(info_.nv());
  }

  double kinetic_energy(const Vector&, const Vector& v) const override {
    double sum = 0;
    for (Index k = 0; k < bodies(); ++k) {
      const BodyInertia& body = inertia_[static_cast<std::size_t>(k)];
      const Vector3d spin = v.segment<3>(6 * k + 3);
      sum += 0.5 * body.mass * v.segment<3>(6 * k).squaredNorm() + 0.5 * spin.dot(body.J * spin);
    }
    return sum;
  }
  double potential_energy(const Vector& q) const override {
    double sum = 0;
    for (Index k = 0; k < bodies(); ++k)
      sum -= inertia_[static_cast<std::size_t>(k)].mass * model_.gravity.dot(position_of(q, k));
    for (const PointSpring& spring : model_.springs) {
      const double stretch = spring_state(spring, q, Vector()).length - spring.rest;
      sum += 0.5 * spring.stiffness * stretch * stretch;
    }
    return sum;
  }
  double damper_power(const Vector& q, const Vector& v) const override {
    double sum = 0;
    for (const PointSpring& spring : model_.springs)
      if (spring.damping > 0) {
        const double rate = spring_state(spring, q, v).rate;
        sum += spring.damping * rate * rate;
      }
    return sum;
  }

  double speed_bound(const Vector& v) const override {
    double largest = 0;
    for (Index k = 0; k < bodies(); ++k)
      largest = std::max(largest, v.segment<3>(6 * k).norm() +
                                      v.segment<3>(6 * k + 3).norm() * inertia_[static_cast<std::size_t>(k)].reach);
    return largest;
  }

  void find_contacts(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                     ContactPoints& found) const override {
    if (!workspace.own) workspace.own = std::make_shared<ContactSearch>(make_scene(model_));
    auto& search = *static_cast<ContactSearch*>(workspace.own.get());
    search.poses.resize(static_cast<std::size_t>(bodies()));
    for (Index k = 0; k < bodies(); ++k) {
      const Quaterniond r = orientation_of(q, k);
      require_place(k, q, r, margin);
      search.poses[static_cast<std::size_t>(k)] = {position_of(q, k) - r * inertia_[static_cast<std::size_t>(k)].center,
                                                   r};
    }
    search.scene.find(search.poses, margin, search.points);
    found.points.clear();
    Index rows = 0, entries = 0;
    for (const ContactPoint& point : search.points) {
      const int size = contacts_[static_cast<std::size_t>(point.law)].size();
      rows += size;
      entries += 12 * size;
    }
    if (found.Wt.rows() != rows || found.Wt.cols() != info_.nv()) found.Wt.resize(rows, info_.nv());
    found.Wt.setZero();
    found.Wt.reserve(entries);
    found.w.resize(rows);
    workspace.variables.set_time(t);
    Index row = 0;
    for (const ContactPoint& point : search.points) add_point(q, point, workspace, row, found);
    found.Wt.finalize();
  }

  void contact_surface(double t, const Vector&, SystemWorkspace& workspace, const ContactPoints& found,
                       Vector& w) const override {
    workspace.variables.set_time(t);
    w.setZero(found.w.size());
    Index row = 0;
    for (const ContactSite& point : found.points) {
      const Vector3d surface = surface_velocity(point.law, workspace);
      for (int c = 1; c < contacts_[static_cast<std::size_t>(point.law)].size(); ++c)
        w[row + c] = Eigen::Map<const Vector3d>(point.frame.data() + 3 * c).dot(surface);
      row += contacts_[static_cast<std::size_t>(point.law)].size();
    }
  }

  void append_breakpoints(BreakpointSearch& search) const override {
    for (const RigidBody& body : model_.bodies)
      for (const auto* functions : {&body.force, &body.torque})
        for (const StateFunction& f : *functions) f.append_breakpoints(search);
    for (const BodyContact& contact : model_.contacts)
      for (const StateFunction& w : contact.surface_velocity) w.append_breakpoints(search);
  }

 private:
  /// The collision search takes lengths within a range (pose.hpp): what left it, by a force or a velocity out of
  /// proportion, ends the run here.
  void require_place(Index k, const Vector& q, const Quaterniond& r, double margin) const {
    const Vector3d x = position_of(q, k);
    const bool turned = std::abs(r.squaredNorm() - 1) < 0.5;
    if (within_range(x) && turned && margin <= kLargestLength) return;
    const std::string& name = model_.bodies[static_cast<std::size_t>(k)].name;
    if (!within_range(x))
      throw InputError(
          fmt::format("body '{}' is at ({:g}, {:g}, {:g}) m; contacts are searched within {:g} m of the origin. Check "
                      "positions, forces, gravity and units",
                      name, x.x(), x.y(), x.z(), kLargestLength));
    if (!turned) throw InputError(fmt::format("body '{}' spins too fast: its orientation is lost", name));
    throw InputError(fmt::format(
        "bodies move {:g} m in one step; contacts are searched within {:g} m. Check velocities, forces and units",
        margin, kLargestLength));
  }

  struct SpringState {
    Vector3d arm_a, arm_b;  ///< from the mass centres to the ends, world
    Vector3d along;         ///< unit vector from a to b
    double length, rate, tension;
  };

  Index bodies() const { return static_cast<Index>(inertia_.size()); }

  static std::uint64_t key_of(const ContactPoint& point) {
    std::uint64_t key = point.feature;
    for (const int shape : {point.shape_a, point.shape_b}) {
      key ^= static_cast<std::uint64_t>(shape) + 0x9e3779b97f4a7c15ULL + (key << 6) + (key >> 2);
      key *= 0xff51afd7ed558ccdULL;
      key ^= key >> 33;
    }
    return key;
  }

  /// Distance of the farthest point of a shape from the mass centre of its body; 0 for planes, which have no end.
  static double reach_of(const Shape& shape, const Vector3d& center) {
    const Geometry geometry = make_geometry(shape);
    if (!std::isfinite(geometry.bounding_radius)) return 0.0;
    return geometry.bounding_radius +
           (shape.pose.position + shape.pose.orientation * geometry.box_center - center).norm();
  }

  static void turn(Quaterniond& rotation, const Vector3d& angle) {
    rotation = rotation * Quaterniond(1, 0.5 * angle.x(), 0.5 * angle.y(), 0.5 * angle.z());
  }

  /// ω_m with 2 J (ω_m - ω0) + dt ω_m × J ω_m = 0, by Newton.
  static Vector3d middle_spin(const BodyInertia& body, const Vector3d& spin, double dt) {
    const Matrix3d J = body.J / unit_of(body.J);
    const Vector3d momentum = J * spin;
    Vector3d middle = spin;
    const double size = momentum.norm();
    for (int iteration = 0; iteration < 20; ++iteration) {
      const Vector3d m = J * middle;
      const Vector3d residual = 2 * (m - momentum) + dt * middle.cross(m);
      if (residual.norm() <= 1e-16 * size) break;
      const Matrix3d slope = 2 * J + dt * (cross_matrix(middle) * J - cross_matrix(m));
      const Vector3d change = slope.inverse() * residual;
      middle -= change;
      if (change.norm() <= 1e-16 * spin.norm()) break;
    }
    return middle;
  }

  SpringState spring_state(const PointSpring& spring, const Vector& q, const Vector& v) const {
    SpringState s;
    auto end = [&](int body, const Vector3d& point, Vector3d& arm, Vector3d& velocity) -> Vector3d {
      velocity.setZero();
      arm.setZero();
      if (body < 0) return point;
      const Quaterniond r = orientation_of(q, body);
      arm = r * (point - inertia_[static_cast<std::size_t>(body)].center);
      if (v.size() > 0) {
        const Vector3d spin = r * Vector3d(v.segment<3>(6 * body + 3));
        velocity = Vector3d(v.segment<3>(6 * body)) + spin.cross(arm);
      }
      return position_of(q, body) + arm;
    };
    Vector3d va, vb;
    const Vector3d a = end(spring.body_a, spring.point_a, s.arm_a, va),
                   b = end(spring.body_b, spring.point_b, s.arm_b, vb);
    const Vector3d line = b - a;
    s.length = line.norm();
    s.along = s.length > 0 ? Vector3d(line / s.length) : Vector3d::Zero();
    s.rate = s.along.dot(vb - va);
    s.tension = spring.stiffness * (s.length - spring.rest) + spring.damping * s.rate;
    return s;
  }

  /// J with l' = J v, over the velocities of body a and then b; the part of the ground is meaningless.
  std::array<double, 12> length_rate(const PointSpring& spring, const SpringState& s, const Vector& q) const {
    std::array<double, 12> J{};
    const auto end = [&](int body, const Vector3d& arm, double sign, std::size_t first) {
      if (body < 0) return;
      const Vector3d moment = orientation_of(q, body).conjugate() * arm.cross(s.along);
      for (std::size_t i = 0; i < 3; ++i) {
        J[first + i] = sign * s.along[static_cast<Index>(i)];
        J[first + 3 + i] = sign * moment[static_cast<Index>(i)];
      }
    };
    end(spring.body_a, s.arm_a, -1, 0);
    end(spring.body_b, s.arm_b, 1, 6);
    return J;
  }

  /// Where the products J_i J_j of each spring go.
  void set_spring_structure() {
    std::vector<std::pair<Index, Index>> entries;
    const auto index = [](const PointSpring& spring, int i) -> Index {
      const int body = i < 6 ? spring.body_a : spring.body_b;
      return body < 0 ? -1 : 6 * static_cast<Index>(body) + i % 6;
    };
    for (const bool placing : {false, true}) {
      for (const PointSpring& spring : model_.springs)
        for (int i = 0; i < 12; ++i)
          for (int j = 0; j < 12; ++j) {
            const Index row = index(spring, i), column = index(spring, j);
            const bool exists = row >= 0 && column >= 0;
            if (placing) spring_places_.push_back(exists ? spring_layout_.offset(row, column) : 0);
            if (!placing && exists) entries.emplace_back(row, column);
          }
      if (!placing) spring_layout_ = MatrixLayout(info_.nv(), entries);
    }
  }

  /// Of the second body of a contact, at the time of the workspace.
  Vector3d surface_velocity(int law, const SystemWorkspace& workspace) const {
    Vector3d surface = Vector3d::Zero();
    const auto& moving = model_.contacts[static_cast<std::size_t>(law)].surface_velocity;
    for (std::size_t i = 0; i < moving.size(); ++i)
      surface[static_cast<Index>(i)] = moving[i](workspace.variables.span());
    return surface;
  }

  void add_point_force(int body, const Vector3d& arm, const Vector3d& f, const Vector& q, Vector& h) const {
    if (body < 0) return;
    h.segment<3>(6 * body) += f;
    h.segment<3>(6 * body + 3) += orientation_of(q, body).conjugate() * arm.cross(f);
  }

  void add_point(const Vector& q, const ContactPoint& point, SystemWorkspace& workspace, Index& row,
                 ContactPoints& found) const {
    const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
    const int body_a = model_.shapes[static_cast<std::size_t>(point.shape_a)].body,
              body_b = model_.shapes[static_cast<std::size_t>(point.shape_b)].body;
    const Matrix3d frame = frame_of(point.normal);
    ContactSite contact;
    contact.law = point.law;
    contact.gap = point.gap;
    contact.key = key_of(point);
    contact.has_frame = true;
    contact.first = body_a;
    contact.second = body_b;
    for (int i = 0; i < 3; ++i) contact.position[static_cast<std::size_t>(i)] = point.position[i];
    for (int i = 0; i < 9; ++i) contact.frame[static_cast<std::size_t>(i)] = frame(i / 3, i % 3);
    found.points.push_back(contact);

    const Vector3d surface = surface_velocity(point.law, workspace);
    Matrix3d turn_a, turn_b;  // rows: moments of the directions in the body's axes
    if (body_a >= 0) turn_a = moments(q, body_a, point.position, frame);
    if (body_b >= 0) turn_b = moments(q, body_b, point.position, frame);
    for (int c = 0; c < law.size(); ++c, ++row) {
      found.Wt.startVec(row);
      auto insert = [&](int body, const Matrix3d& turn, double sign) {
        for (int i = 0; i < 3; ++i) found.Wt.insertBack(row, 6 * body + i) = sign * frame(c, i);
        for (int i = 0; i < 3; ++i) found.Wt.insertBack(row, 6 * body + 3 + i) = sign * turn(c, i);
      };
      const bool a_first = body_a < body_b;
      if (a_first && body_a >= 0) insert(body_a, turn_a, 1);
      if (body_b >= 0) insert(body_b, turn_b, -1);
      if (!a_first && body_a >= 0) insert(body_a, turn_a, 1);
      found.w[row] = frame.row(c).dot(surface);
    }
    found.w[row - law.size()] = 0;  // a belt moves along its surface
  }

  static Matrix3d moments(const Vector& q, int body, const Vector3d& point, const Matrix3d& frame) {
    const Matrix3d R = orientation_of(q, body).toRotationMatrix();
    const Vector3d arm = point - position_of(q, body);
    Matrix3d result;
    for (int c = 0; c < 3; ++c) result.row(c) = R.transpose() * arm.cross(Vector3d(frame.row(c)));
    return result;
  }

  BodyModel model_;
  SystemInfo info_;
  SystemMatrix mass_;
  std::vector<BodyInertia> inertia_;
  std::vector<FrictionElement> friction_;
  std::vector<ContactElement> contacts_;
  double length_ = 1;
  bool loaded_ = false, surfaces_move_ = false;
  MatrixLayout spring_layout_;
  std::vector<Index> spring_places_;  // 12 × 12 per spring
};

/// So that their inverses, and products with a velocity, are numbers. [kg m²], and [kg] for masses
constexpr double kSmallestInertia = 1e-150, kLargestInertia = 1e150;

void require_inertia(const RigidBody& body) {
  const Matrix3d& J = *body.inertia;
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("body '{}': inertia {}", body.name, why));
  };
  if (!J.allFinite()) refuse("has an entry that is not finite");
  if ((J - J.transpose()).cwiseAbs().maxCoeff() > 1e-12 * J.cwiseAbs().maxCoeff()) refuse("is not symmetric");
  const Vector3d moments = Eigen::SelfAdjointEigenSolver<Matrix3d>(J, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(moments[0] > 0)) refuse(fmt::format("has the principal moment {:.6g}; all three must be > 0", moments[0]));
  if (moments[0] < kSmallestInertia || moments[2] > kLargestInertia)
    refuse(fmt::format("has the principal moments {:.6g} to {:.6g} kg m²; from {:g} to {:g} are possible", moments[0],
                       moments[2], kSmallestInertia, kLargestInertia));
  if (moments[0] + moments[1] < moments[2] * (1 - 1e-9))
    refuse(
        fmt::format("has the principal moments {:.6g}, {:.6g}, {:.6g}; of a real body each is at most the sum of the "
                    "other two",
                    moments[0], moments[1], moments[2]));
}

/// Of the shapes of a body filled with its mass, about its mass centre.
Matrix3d inertia_of_shapes(const BodyModel& model, int body) {
  std::optional<MassProperties> sum;
  for (const Shape& shape : model.shapes) {
    if (shape.body != body || shape.kind == ShapeKind::plane) continue;
    const MassProperties part = moved(mass_properties(make_geometry(shape)), shape.pose);
    sum = sum ? joined(*sum, part) : part;
  }
  const RigidBody& it = model.bodies[static_cast<std::size_t>(body)];
  if (!sum) throw InputError(fmt::format("body '{}' has neither inertia nor a shape to compute it from", it.name));
  const Vector3d offset = sum->center - it.center;
  const double density = it.mass / sum->volume;
  return density * sum->inertia + it.mass * (offset.squaredNorm() * Matrix3d::Identity() - offset * offset.transpose());
}

void require_body(const BodyModel& model, const std::string& what, const std::string& name) {
  if (name == "*" || name == "ground") return;
  for (const RigidBody& body : model.bodies)
    if (body.name == name || body.group == name) return;
  throw InputError(fmt::format("{}: there is no body '{}'", what, name));
}

}  // namespace

Vector start_positions(const BodyModel& model) {
  Vector q(7 * static_cast<Index>(model.bodies.size()));
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    const RigidBody& body = model.bodies[k];
    const Quaterniond r = body.orientation.normalized();
    q.segment<3>(7 * static_cast<Index>(k)) = body.position + r * body.center;
    set_orientation(q, static_cast<Index>(k), r);
  }
  return q;
}

Vector start_velocities(const BodyModel& model) {
  Vector v(6 * static_cast<Index>(model.bodies.size()));
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    v.segment<3>(6 * static_cast<Index>(k)) = model.bodies[k].velocity;
    v.segment<3>(6 * static_cast<Index>(k) + 3) = model.bodies[k].spin;
  }
  return v;
}

std::vector<StartOverlap> start_overlaps(const BodyModel& model, double depth) {
  CollisionScene scene = make_scene(model);
  std::vector<Pose> poses;
  for (const RigidBody& body : model.bodies) poses.push_back({body.position, body.orientation.normalized()});
  std::vector<ContactPoint> points;
  scene.find(poses, 0.0, points);
  std::map<std::pair<int, int>, StartOverlap> deepest;
  for (const ContactPoint& point : points) {
    if (!(point.gap < -depth)) continue;
    const int a = model.shapes[static_cast<std::size_t>(point.shape_a)].body,
              b = model.shapes[static_cast<std::size_t>(point.shape_b)].body;
    StartOverlap& overlap = deepest[{a, b}];
    if (-point.gap > overlap.depth) overlap = {point.law, a, b, -point.gap};
  }
  std::vector<StartOverlap> found;
  for (const auto& entry : deepest) found.push_back(entry.second);
  return found;
}

std::unique_ptr<System> make_system(BodyModel model) {
  if (model.bodies.empty()) throw InputError("the model has no bodies");
  std::set<std::string> names{"ground"};
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    RigidBody& body = model.bodies[k];
    if (!names.insert(body.name).second) throw InputError(fmt::format("two bodies are named '{}'", body.name));
    if (!(body.mass > 0) || !std::isfinite(body.mass))
      throw InputError(fmt::format("body '{}': mass = {} must be finite and > 0", body.name, body.mass));
    if (body.mass < kSmallestInertia || body.mass > kLargestInertia)
      throw InputError(fmt::format("body '{}': mass = {} kg is out of range; from {:g} to {:g} kg are possible",
                                   body.name, body.mass, kSmallestInertia, kLargestInertia));
    if (!within_range(body.position) || !within_range(body.center))
      throw InputError(
          fmt::format("body '{}' starts at ({:g}, {:g}, {:g}) m; coordinates must be below {:g} m. Choose "
                      "another unit of length",
                      body.name, body.position.x(), body.position.y(), body.position.z(), kLargestLength));
    if (!(body.orientation.norm() > 0))
      throw InputError(fmt::format("body '{}': the quaternion of its orientation is zero", body.name));
    if (!body.inertia) body.inertia = inertia_of_shapes(model, static_cast<int>(k));
    require_inertia(body);
  }
  std::set<std::string> laws;
  for (const BodyContact& contact : model.contacts) {
    validate(contact.law);
    if (!laws.insert(contact.law.name).second)
      throw InputError(fmt::format("two laws are named '{}'", contact.law.name));
    for (const std::string& name : {contact.first, contact.second})
      require_body(model, fmt::format("contact '{}'", contact.law.name), name);
  }
  return std::make_unique<BodySystem>(std::move(model));
}

}  // namespace stickslip
