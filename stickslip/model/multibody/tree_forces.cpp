// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree_forces.hpp"

#include <cmath>

#include "stickslip/model/multibody/tree_kinematics.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Vector3d;

struct TreeForces::Memory final : Scratch {
  explicit Memory(std::shared_ptr<const Tree> of)
      : tree(*of), kinematics(of), gradient(of->nq()), row(of->nv()), column(of->nv()), rate(of->nv()) {}
  TreeScratch tree;
  TreeKinematics kinematics;
  Vector gradient, row, column, rate;
};

TreeForces::TreeForces(const BodyModel& model, std::shared_ptr<const Tree> tree)
    : tree_(std::move(tree)),
      paths_(velocity_paths(*tree_)),
      gravity_(model.gravity),
      full_(tree_->nv(), all_entries(tree_->nv())) {
  for (std::size_t k = 0; k < tree_->hinges.size(); ++k) {
    const Hinge& hinge = tree_->hinges[k];
    Index q = tree_->hinge_q[k], v = tree_->hinge_v[k];
    for (std::size_t j = 0; j < hinge.axes.size(); ++j) {
      const auto number = [&](const std::vector<double>& list) { return list.empty() ? 0.0 : list[j]; };
      Axis axis{q,
                v,
                number(hinge.stiffness),
                number(hinge.damping),
                number(hinge.rest),
                hinge.force.empty() ? StateFunction(0.0) : hinge.force[j]};
      const bool idle = axis.stiffness == 0 && axis.damping == 0 && axis.force.is_constant() && axis.force({}) == 0;
      if (!idle) axes_.push_back(std::move(axis));
      q += positions_of(hinge.axes[j]);
      v += velocities_of(hinge.axes[j]);
    }
  }
  const auto end = [&](int body, const Vector3d& point) -> End {
    if (body < 0) return {-1, point};
    const Tree::Body& place = tree_->bodies[static_cast<std::size_t>(body)];
    return {place.link, place.position + place.turn * point};
  };
  const auto add_load = [&](int body, const Vector3d& point, bool turns, const std::vector<StateFunction>& force,
                            const std::vector<StateFunction>& torque) {
    const End at = end(body, point);
    if (at.link >= 0)
      loads_.push_back({at.link, at.at, tree_->bodies[static_cast<std::size_t>(body)].turn, turns, force, torque});
  };
  for (std::size_t k = 0; k < model.bodies.size(); ++k)
    if (const RigidBody& body = model.bodies[k]; !body.force.empty() || !body.torque.empty())
      add_load(static_cast<int>(k), body.center, false, body.force, body.torque);
  for (const PointLoad& load : model.loads) add_load(load.body, load.point, load.turns, load.force, load.torque);
  for (const PointSpring& spring : model.springs)
    springs_.push_back({end(spring.body_a, spring.point_a), end(spring.body_b, spring.point_b), spring.stiffness,
                        spring.damping, spring.rest});
  const Index index_slot = 1 + tree_->nq() + tree_->nv();
  for (const StateFunction* f : functions()) {
    applied_by_state_ |= f->depends_on_state(index_slot);
    applied_by_time_ |= f->depends_on_time();
  }
  applied_by_state_ |= !loads_.empty();  // where they act turns with the bodies
}

std::unique_ptr<Scratch> TreeForces::make_scratch() const { return std::make_unique<Memory>(tree_); }

std::vector<const StateFunction*> TreeForces::functions() const {
  std::vector<const StateFunction*> list;
  for (const Axis& axis : axes_) list.push_back(&axis.force);
  for (const Load& load : loads_)
    for (const auto* three : {&load.force, &load.torque})
      for (const StateFunction& f : *three) list.push_back(&f);
  return list;
}

void TreeForces::add_load(int link, const Vector3d& P, const Vector3d& F, const Vector3d& T,
                          const TreeMotion<double>& motion, Vector& h) const {
  for (const Index k : velocities_above(paths_, link))
    h[k] += point_column(*tree_, motion, k, P).dot(F) + spin_column(*tree_, motion, k).dot(T);
}

void TreeForces::add_applied(const SystemWorkspace& workspace, const TreeMotion<double>& motion, Vector& f) const {
  const auto x = workspace.variables.span();
  for (const Axis& axis : axes_) f[axis.v] += axis.force(x);
  for (const Load& load : loads_) {
    Vector3d F = Vector3d::Zero(), T = Vector3d::Zero();
    for (std::size_t i = 0; i < load.force.size(); ++i) F[static_cast<Index>(i)] = load.force[i](x);
    for (std::size_t i = 0; i < load.torque.size(); ++i) T[static_cast<Index>(i)] = load.torque[i](x);
    const LinkPlace<double>& place = motion.place[static_cast<std::size_t>(load.link)];
    if (load.turns) {
      const Matrix3d axes = place.R * load.axes;
      F = axes * F;
      T = axes * T;
    }
    add_load(load.link, place.o + place.R * load.at, F, T, motion, f);
  }
}

void TreeForces::total(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const {
  auto& memory = static_cast<Memory&>(*workspace.forces);
  TreeMotion<double>& motion = memory.tree.motion;
  h.resize(n());
  place_links(*tree_, q.data(), motion);
  // The weight of all that hangs on a link, from its tip on down.
  for (std::size_t i = 0; i < tree_->links.size(); ++i) {
    const Link& link = tree_->links[i];
    motion.motion[i].f = link.mass * gravity_;
    motion.motion[i].n = (motion.place[i].R * link.moment).cross(gravity_);
  }
  for (std::size_t i = tree_->links.size(); i-- > 0;) {
    const Link& link = tree_->links[i];
    const LinkMotion<double>& it = motion.motion[i];
    const LinkPlace<double>& at = motion.place[i];
    if (link.kind == JointKind::rotation) h[link.v] = at.axis.dot(it.n);
    if (link.kind == JointKind::translation) h[link.v] = at.axis.dot(it.f);
    if (link.kind == JointKind::ball) h.segment<3>(link.v) = at.R.transpose() * it.n;
    if (link.parent < 0) continue;
    LinkMotion<double>& parent = motion.motion[static_cast<std::size_t>(link.parent)];
    parent.f += it.f;
    parent.n += it.n + at.r.cross(it.f);
  }
  add_beside_gravity(t, q, v, workspace, h);
}

/// After place_links().
void TreeForces::add_beside_gravity(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                    Vector& h) const {
  TreeMotion<double>& motion = static_cast<Memory&>(*workspace.forces).tree.motion;
  for (const Axis& axis : axes_) h[axis.v] -= axis.stiffness * (q[axis.q] - axis.rest) + axis.damping * v[axis.v];
  if (!springs_.empty()) {
    move_links(*tree_, v.data(), motion);
    for (const Spring& spring : springs_) {
      const Stretch s = stretch_of(spring, motion, true);
      const Vector3d F = (spring.stiffness * (s.length - spring.rest) + spring.damping * s.rate) * s.along;
      add_load(spring.a.link, s.a.P, F, Vector3d::Zero(), motion, h);
      add_load(spring.b.link, s.b.P, -F, Vector3d::Zero(), motion, h);
    }
  }
  if (axes_.empty() && loads_.empty()) return;
  workspace.variables.set(t, q, v);
  add_applied(workspace, motion, h);
}

void TreeForces::beside_gravity(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                Vector& f) const {
  f.setZero(n());
  if (!springs_.empty() || !loads_.empty())
    place_links(*tree_, q.data(), static_cast<Memory&>(*workspace.forces).tree.motion);
  add_beside_gravity(t, q, v, workspace, f);
}

void TreeForces::add_axis_slopes(double damping, double stiffness, Vector& d) const {
  for (const Axis& axis : axes_) d[axis.v] += damping * axis.damping + stiffness * axis.stiffness;
}

void TreeForces::applied(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f) const {
  auto& memory = static_cast<Memory&>(*workspace.forces);
  f.setZero(n());
  if (axes_.empty() && loads_.empty()) return;
  if (!loads_.empty()) place_links(*tree_, q.data(), memory.tree.motion);
  workspace.variables.set(t, q, v);
  add_applied(workspace, memory.tree.motion, f);
}

TreeForces::Stretch TreeForces::stretch_of(const Spring& spring, const TreeMotion<double>& motion, bool moving) const {
  Stretch s;
  s.a = tree_point(motion, spring.a.link, spring.a.at, moving);
  s.b = tree_point(motion, spring.b.link, spring.b.at, moving);
  const Vector3d line = s.b.P - s.a.P;
  s.length = line.norm();
  s.along = s.length > 0 ? Vector3d(line / s.length) : Vector3d(Vector3d::Zero());
  s.rate = s.along.dot(s.b.v - s.a.v);
  return s;
}

double TreeForces::potential_energy(const Vector& q) const {
  return gravity_potential(*tree_, q, gravity_, thread_scratch(*tree_)) + spring_energy(q);
}

double TreeForces::spring_energy(const Vector& q) const {
  double sum = 0;
  for (const Axis& axis : axes_) sum += 0.5 * axis.stiffness * (q[axis.q] - axis.rest) * (q[axis.q] - axis.rest);
  if (springs_.empty()) return sum;
  TreeScratch& scratch = thread_scratch(*tree_);
  place_links(*tree_, q.data(), scratch.motion);
  for (const Spring& spring : springs_) {
    const double stretch = stretch_of(spring, scratch.motion, false).length - spring.rest;
    sum += 0.5 * spring.stiffness * stretch * stretch;
  }
  return sum;
}

double TreeForces::damper_power(const Vector& q, const Vector& v) const {
  double sum = 0;
  for (const Axis& axis : axes_) sum += axis.damping * v[axis.v] * v[axis.v];
  if (springs_.empty()) return sum;
  TreeScratch& scratch = thread_scratch(*tree_);
  place_links(*tree_, q.data(), scratch.motion);
  move_links(*tree_, v.data(), scratch.motion);
  for (const Spring& spring : springs_) {
    const double rate = stretch_of(spring, scratch.motion, true).rate;
    sum += spring.damping * rate * rate;
  }
  return sum;
}

/// column · (∂f/∂δ, ∂f/∂v)
void TreeForces::add_function_slopes(const StateFunction& f, const Vector& q, SystemWorkspace& workspace,
                                     Memory& memory, const Vector& column, double* by_q, double* by_v) const {
  const auto x = workspace.variables.span();
  const Index nq = tree_->nq();
  bool positions = false;
  memory.gradient.setZero();
  for (const Index slot : f.variables_used()) {
    if (slot == 0 || slot > nq + n()) continue;
    const double slope = f.derivative(x, slot);
    if (slot <= nq) {
      memory.gradient[slot - 1] = slope;
      positions = true;
    } else {
      for (Index i = 0; i < n(); ++i) by_v[(slot - 1 - nq) * n() + i] += column[i] * slope;
    }
  }
  if (!positions) return;
  memory.kinematics.pull_back(q, memory.gradient, memory.row);
  for (Index j = 0; j < n(); ++j)
    if (memory.row[j] != 0)
      for (Index i = 0; i < n(); ++i) by_q[j * n() + i] += column[i] * memory.row[j];
}

/// What turning the tree does to the generalised force of F and T.
void TreeForces::add_load_turning(const Load& load, const Vector3d& F, const Vector3d& T,
                                  const TreeMotion<double>& motion, double* by_q) const {
  const LinkPlace<double>& place = motion.place[static_cast<std::size_t>(load.link)];
  const Vector3d P = place.o + place.R * load.at;
  const std::vector<Index>& path = velocities_above(paths_, load.link);
  for (const Index j : path) {
    const Vector3d turn = spin_column(*tree_, motion, j);
    for (const Index i : path) {
      const SecondColumn second = second_column(*tree_, motion, i, j, P);
      double slope = second.point.dot(F) + second.spin.dot(T);
      if (load.turns)
        slope +=
            point_column(*tree_, motion, i, P).dot(turn.cross(F)) + spin_column(*tree_, motion, i).dot(turn.cross(T));
      by_q[j * n() + i] += slope;
    }
  }
}

void TreeForces::add_applied_slopes(const Vector& q, SystemWorkspace& workspace, Memory& memory, double* by_q,
                                    double* by_v) const {
  const auto x = workspace.variables.span();
  const TreeMotion<double>& motion = memory.tree.motion;
  for (const Axis& axis : axes_) {
    if (axis.force.is_constant()) continue;
    memory.column.setZero();
    memory.column[axis.v] = 1;
    add_function_slopes(axis.force, q, workspace, memory, memory.column, by_q, by_v);
  }
  for (const Load& load : loads_) {
    const LinkPlace<double>& place = motion.place[static_cast<std::size_t>(load.link)];
    const Matrix3d axes = load.turns ? Matrix3d(place.R * load.axes) : Matrix3d(Matrix3d::Identity());
    const Vector3d P = place.o + place.R * load.at;
    Vector3d F = Vector3d::Zero(), T = Vector3d::Zero();
    for (const bool torque : {false, true}) {
      const std::vector<StateFunction>& three = torque ? load.torque : load.force;
      for (std::size_t i = 0; i < three.size(); ++i) {
        const Vector3d direction = axes.col(static_cast<Index>(i));
        (torque ? T : F) += direction * three[i](x);
        if (three[i].is_constant()) continue;
        memory.column.setZero();
        add_load(load.link, P, torque ? Vector3d(Vector3d::Zero()) : direction,
                 torque ? direction : Vector3d(Vector3d::Zero()), motion, memory.column);
        add_function_slopes(three[i], q, workspace, memory, memory.column, by_q, by_v);
      }
    }
    add_load_turning(load, F, T, motion, by_q);
  }
}

/// l' = row · v
void TreeForces::length_row(const Stretch& s, const TreeMotion<double>& motion, Vector& row) const {
  row.setZero();
  for (const Index k : velocities_above(paths_, s.a.link))
    row[k] -= point_column(*tree_, motion, k, s.a.P).dot(s.along);
  for (const Index k : velocities_above(paths_, s.b.link))
    row[k] += point_column(*tree_, motion, k, s.b.P).dot(s.along);
}

/// h = -N l_δ with N = k (l - l0) + c l', so that ∂h/∂δ = -l_δ (k l_δ + c ∂l'/∂δ)ᵀ - N l_δδ, ∂h/∂v = -c l_δ l_δᵀ.
void TreeForces::add_spring_slopes(const Spring& spring, const TreeMotion<double>& motion, Memory& memory, double* by_q,
                                   double* by_v) const {
  const Stretch s = stretch_of(spring, motion, true);
  if (!(s.length > 0)) return;
  const double tension = spring.stiffness * (s.length - spring.rest) + spring.damping * s.rate;
  Vector& row = memory.row;
  length_row(s, motion, row);
  // The line turns: ∂along/∂δ_j = (∂line - along (along·∂line)) / l
  const Vector3d apart = s.b.v - s.a.v;
  const Vector3d across = (apart - s.rate * s.along) / s.length;
  Vector& turned = memory.column;  // ∂l'/∂δ
  turned.setZero();
  for (const Index j : velocities_above(paths_, s.a.link))
    turned[j] -= s.along.dot(point_slope(*tree_, motion, j, s.a)) + across.dot(point_column(*tree_, motion, j, s.a.P));
  for (const Index j : velocities_above(paths_, s.b.link))
    turned[j] += s.along.dot(point_slope(*tree_, motion, j, s.b)) + across.dot(point_column(*tree_, motion, j, s.b.P));
  for (Index j = 0; j < n(); ++j)
    for (Index i = 0; i < n(); ++i) {
      by_q[j * n() + i] -=
          row[i] * (spring.stiffness * row[j] + spring.damping * turned[j]) - tension / s.length * row[i] * row[j];
      by_v[j * n() + i] -= spring.damping * row[i] * row[j];
    }
  for (const bool first : {true, false}) {
    const TreePoint& end = first ? s.a : s.b;
    const TreePoint& other = first ? s.b : s.a;
    const std::vector<Index>& path = velocities_above(paths_, end.link);
    for (const Index j : path)
      for (const Index i : path)
        by_q[j * n() + i] -=
            tension * ((first ? -1 : 1) * second_column(*tree_, motion, i, j, end.P).point.dot(s.along) +
                       point_column(*tree_, motion, i, end.P).dot(point_column(*tree_, motion, j, end.P)) / s.length);
    for (const Index j : velocities_above(paths_, other.link))
      for (const Index i : path)
        by_q[j * n() + i] +=
            tension / s.length * point_column(*tree_, motion, i, end.P).dot(point_column(*tree_, motion, j, other.P));
  }
}

void TreeForces::slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                        SystemMatrix& by_v) const {
  auto& memory = static_cast<Memory&>(*workspace.forces);
  double* const dq = full_.clear(by_q);
  double* const dv = full_.clear(by_v);
  if (!gravity_.isZero(0.0)) {
    memory.rate.setZero();
    inverse_dynamics_slopes(*tree_, q, memory.rate, nullptr, gravity_, -1.0, memory.tree, dq, nullptr);
  }
  for (const Axis& axis : axes_) {
    dq[axis.v * n() + axis.v] -= axis.stiffness;
    dv[axis.v * n() + axis.v] -= axis.damping;
  }
  if (springs_.empty() && axes_.empty() && loads_.empty()) return;
  place_links(*tree_, q.data(), memory.tree.motion);
  move_links(*tree_, v.data(), memory.tree.motion);
  for (const Spring& spring : springs_) add_spring_slopes(spring, memory.tree.motion, memory, dq, dv);
  workspace.variables.set(t, q, v);
  add_applied_slopes(q, workspace, memory, dq, dv);
}

void TreeForces::applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                SystemMatrix& by_q, SystemMatrix& by_v) const {
  auto& memory = static_cast<Memory&>(*workspace.forces);
  double* const dq = full_.clear(by_q);
  double* const dv = full_.clear(by_v);
  place_links(*tree_, q.data(), memory.tree.motion);
  workspace.variables.set(t, q, v);
  add_applied_slopes(q, workspace, memory, dq, dv);
}

void TreeForces::append_breakpoints(BreakpointSearch& search) const {
  for (const StateFunction* f : functions()) f->append_breakpoints(search);
}

void TreeForces::append_time_functions(std::vector<const StateFunction*>& list) const {
  for (const StateFunction* f : functions()) list.push_back(f);
}

}  // namespace stickslip
