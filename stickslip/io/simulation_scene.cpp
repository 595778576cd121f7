// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/simulation_scene.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/io/drawn_contact.hpp"
#include "stickslip/io/tree_scene.hpp"
#include "stickslip/model/collision/surface_mesh.hpp"

namespace stickslip {

namespace {

std::vector<Index> frame_rows(Index rows, Index frames) {
  std::vector<Index> chosen;
  const Index count = std::min(rows, std::max<Index>(frames, 2));
  for (Index k = 0; k < count; ++k) {
    const Index row = count == 1 ? 0 : k * (rows - 1) / (count - 1);
    if (chosen.empty() || row > chosen.back()) chosen.push_back(row);
  }
  return chosen;
}

std::array<double, 3> as_array(const Eigen::Vector3d& x) { return {x.x(), x.y(), x.z()}; }
std::array<double, 4> as_array(const Eigen::Quaterniond& q) { return {q.w(), q.x(), q.y(), q.z()}; }

SceneShape scene_shape(const Shape& shape, const Eigen::Vector3d& center) {
  SceneShape drawn;
  drawn.position = as_array(Eigen::Vector3d(shape.pose.position - center));
  drawn.quaternion = as_array(shape.pose.orientation);
  switch (shape.kind) {
    case ShapeKind::sphere:
      drawn.kind = SceneShape::Kind::sphere;
      drawn.size = {shape.radius};
      break;
    case ShapeKind::box:
      drawn.kind = SceneShape::Kind::box;
      drawn.size = {shape.size.x(), shape.size.y(), shape.size.z()};
      break;
    case ShapeKind::capsule:
      drawn.kind = SceneShape::Kind::capsule;
      drawn.size = {shape.radius, shape.length};
      break;
    case ShapeKind::cylinder:
      drawn.kind = SceneShape::Kind::cylinder;
      drawn.size = {shape.radius, shape.length};
      break;
    case ShapeKind::plane:
      drawn.kind = SceneShape::Kind::plane;
      break;
    case ShapeKind::hull: {
      drawn.kind = SceneShape::Kind::hull;
      const Polyhedron hull = convex_hull(shape.points);
      for (const Eigen::Vector3d& vertex : hull.vertices)
        drawn.vertices.insert(drawn.vertices.end(), {vertex.x(), vertex.y(), vertex.z()});
      for (const auto& triangle : triangles(hull))
        drawn.triangles.insert(drawn.triangles.end(), triangle.begin(), triangle.end());
      break;
    }
    case ShapeKind::mesh:
    case ShapeKind::heightfield:
      drawn.kind = SceneShape::Kind::mesh;
      for (const Eigen::Vector3d& corner : shape.surface->corners)
        drawn.vertices.insert(drawn.vertices.end(), {corner.x(), corner.y(), corner.z()});
      for (const SurfaceTriangle& triangle : shape.surface->triangles)
        drawn.triangles.insert(drawn.triangles.end(), triangle.corner.begin(), triangle.corner.end());
      break;
  }
  return drawn;
}

/// Returns the index of the first body of the model.
int add_bodies(const BodyModel& model, const Tree* tree, const Trajectory& trajectory, const std::vector<Index>& rows,
               ReportScene& scene) {
  SceneBody ground;
  ground.name = "ground";
  for (const Shape& shape : model.shapes)
    if (shape.body == ground_body) ground.shapes.push_back(scene_shape(shape, Eigen::Vector3d::Zero()));
  const int offset = ground.shapes.empty() ? 0 : 1;
  if (offset > 0) scene.bodies.push_back(ground);
  std::vector<std::vector<const Shape*>> shapes(model.bodies.size());
  for (const Shape& shape : model.shapes)
    if (shape.body >= 0) shapes[static_cast<std::size_t>(shape.body)].push_back(&shape);
  std::vector<std::vector<Pose>> poses(rows.size());
  Vector q(static_cast<Index>(trajectory.names().coordinates.size()));
  for (std::size_t n = 0; n < rows.size(); ++n) {
    for (Index i = 0; i < q.size(); ++i) q[i] = trajectory.q(rows[n], i);
    body_poses(model, tree, q, poses[n]);
  }
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    SceneBody body;
    body.name = model.bodies[k].name;
    body.position.clear();
    body.quaternion.clear();
    for (const Shape* shape : shapes[k]) body.shapes.push_back(scene_shape(*shape, model.bodies[k].center));
    const bool moves = !tree || tree->bodies[k].link >= 0;
    for (const std::vector<Pose>& frame : poses) {
      if (!moves && !body.position.empty()) break;
      const Eigen::Vector3d center = frame[k].position + frame[k].orientation * model.bodies[k].center;
      for (Index i = 0; i < 3; ++i) body.position.push_back(center[i]);
      for (const double number : as_array(frame[k].orientation)) body.quaternion.push_back(number);
    }
    scene.bodies.push_back(std::move(body));
  }
  for (const PointSpring& spring : model.springs) {
    auto end = [&](int body, const Eigen::Vector3d& point) {
      return as_array(body < 0 ? point : Eigen::Vector3d(point - model.bodies[static_cast<std::size_t>(body)].center));
    };
    auto index = [&](int body) { return body < 0 ? -1 : body + offset; };
    scene.springs.push_back({spring.name, index(spring.body_a), index(spring.body_b),
                             end(spring.body_a, spring.point_a), end(spring.body_b, spring.point_b)});
  }
  return offset;
}

SceneShape scene_shape(const Drawing& drawing) {
  SceneShape drawn;
  const double quarter = std::sqrt(0.5);
  switch (drawing.kind) {
    case DrawingKind::box:
      drawn.kind = SceneShape::Kind::box;
      // A flat drawing still needs some depth to be seen from the side.
      drawn.size = {drawing.size[0], drawing.size[1],
                    drawing.size[2] > 0 ? drawing.size[2] : 0.2 * std::min(drawing.size[0], drawing.size[1])};
      break;
    case DrawingKind::sphere:
      drawn.kind = SceneShape::Kind::sphere;
      drawn.size = {drawing.radius};
      break;
    case DrawingKind::cylinder:
      drawn.kind = SceneShape::Kind::cylinder;
      drawn.size = {drawing.radius, drawing.length};
      break;
    case DrawingKind::capsule:
      drawn.kind = SceneShape::Kind::capsule;
      drawn.size = {drawing.radius, drawing.length};
      drawn.quaternion = {quarter, 0, quarter, 0};  // its axis from z to x
      break;
    case DrawingKind::plane:
      drawn.kind = SceneShape::Kind::plane;
      drawn.quaternion = {quarter, -quarter, 0, 0};  // its outside from z to y
      break;
    case DrawingKind::line:
      drawn.kind = SceneShape::Kind::line;
      break;
  }
  return drawn;
}

/// Forces of contacts given by functions, where a drawing says at which point they act.
void add_drawn_forces(const ModelFile& model, const Trajectory& trajectory, const std::vector<Index>& rows,
                      const std::vector<Variables>& states, ReportScene& scene) {
  const System& system = *model.system;
  const LawSet& laws = system.laws();
  if (laws.contacts().empty() || !laws.contact_source().points_stay() || !system.kinematics().flat()) return;
  std::vector<Index> first{0};  // reaction of each contact
  for (const FrictionElement& element : laws.friction()) first.front() += element.size();
  for (const ContactElement& contact : laws.contacts()) first.push_back(first.back() + contact.size());
  SystemWorkspace workspace(system);
  ContactPoints found;
  scene.forces.resize(rows.size());
  bool any = false;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const Eigen::Map<const Vector> q(states[n].span().data() + 1, system.info().nq());
    laws.contact_source().find(trajectory.t(rows[n]), q, HUGE_VAL, workspace, found);
    Index row = 0;
    for (const ContactSite& site : found.points) {
      const auto law = static_cast<std::size_t>(site.law);
      const Index size = laws.contacts()[law].size(), from = std::exchange(row, row + size);
      if (trajectory.reaction(rows[n], first[law]) == 0) continue;
      const DenseMatrix W = found.Wt.middleRows(from, size);
      const std::optional<DrawnContact> drawn = drawn_contact(model.drawings, states[n].span(), W);
      if (!drawn) continue;
      Eigen::Vector3d force = Eigen::Vector3d::Zero();
      for (Index c = 0; c < size; ++c)
        force += trajectory.reaction(rows[n], first[law] + c) * drawn->directions[static_cast<std::size_t>(c)];
      scene.forces[n].push_back({as_array(drawn->point), as_array(force), laws.friction().size() + law});
      any = true;
    }
  }
  if (!any) scene.forces.clear();
}

void add_drawings(const ModelFile& model, const Trajectory& trajectory, const std::vector<Index>& rows,
                  ReportScene& scene) {
  scene.planar = true;
  scene.plane = "xy";
  scene.up = 'y';
  const Index nq = model.system->info().nq(), nv = model.system->info().nv();
  std::vector<Variables> states(rows.size(), Variables(nq, nv));
  Vector q(nq), v(nv);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    for (Index i = 0; i < nq; ++i) q[i] = trajectory.q(rows[n], i);
    for (Index i = 0; i < nv; ++i) v[i] = trajectory.v(rows[n], i);
    states[n].set(trajectory.t(rows[n]), q, v);
  }
  for (const Drawing& drawing : model.drawings) {
    SceneBody body;
    body.name = drawing.name;
    body.shapes.push_back(scene_shape(drawing));
    const std::size_t frames = drawing.moves() ? states.size() : 1;
    if (drawing.kind == DrawingKind::line) {
      SceneShape& line = body.shapes.back();
      line.moving = drawing.moves();
      for (std::size_t n = 0; n < frames; ++n)
        for (const auto& point : drawing.points)
          for (const StateFunction& x : point) line.vertices.push_back(x(states[n].span()));
    } else {
      body.position.clear();
      body.quaternion.clear();
      for (std::size_t n = 0; n < frames; ++n) {
        for (const StateFunction& x : drawing.position) body.position.push_back(x(states[n].span()));
        const double half = 0.5 * drawing.angle(states[n].span());
        body.quaternion.insert(body.quaternion.end(), {std::cos(half), 0.0, 0.0, std::sin(half)});
      }
    }
    scene.bodies.push_back(std::move(body));
  }
  add_drawn_forces(model, trajectory, rows, states, scene);
}

}  // namespace

std::optional<ReportScene> simulation_scene(const ModelFile& model, const Simulation& simulation, Index frames,
                                            Index numbers) {
  const bool bodies = model.bodies && (model.tree || !model.bodies->shapes.empty());
  const Trajectory& trajectory = simulation.trajectory;
  if ((!bodies && model.drawings.empty()) || trajectory.rows() == 0) return std::nullopt;
  const auto things = static_cast<Index>(bodies ? model.bodies->bodies.size() : model.drawings.size());
  const std::vector<Index> rows =
      frame_rows(trajectory.rows(), std::min(frames, std::max<Index>(2, numbers / (7 * std::max<Index>(1, things)))));
  ReportScene scene;
  for (const Index row : rows) scene.times.push_back(trajectory.t(row));
  scene.laws = trajectory.names().laws;
  int first = 0;
  if (bodies) {
    const Eigen::Vector3d& g = model.bodies->gravity;
    if (std::abs(g.y()) > std::abs(g.z())) scene.up = 'y';
    first = add_bodies(*model.bodies, model.tree.get(), trajectory, rows, scene);
  } else {
    add_drawings(model, trajectory, rows, scene);
  }
  Index forces = 0;
  for (const Index row : rows) forces += static_cast<Index>(trajectory.point_forces(row).size());
  if (forces > 0 && 7 * forces <= numbers) {
    scene.forces.resize(rows.size());
    for (std::size_t n = 0; n < rows.size(); ++n)
      for (const PointForce& force : trajectory.point_forces(rows[n]))
        scene.forces[n].push_back({force.position, force.force, static_cast<std::size_t>(force.law)});
  } else if (forces > 0) {
    scene.note = "There are too many contact forces to draw them all; they are left out.";
  }
  if (bodies && model.tree) add_tree(model, trajectory, rows, first, scene);
  return scene;
}

}  // namespace stickslip
