// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/tree_scene.hpp"

#include <algorithm>
#include <array>

#include "stickslip/io/flexible_scene.hpp"
#include "stickslip/model/multibody/tree_dynamics.hpp"
#include "stickslip/model/multibody/tree_jacobian.hpp"
#include "stickslip/model/multibody/tree_map.hpp"

namespace stickslip {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

std::array<double, 3> as_array(const Vector3d& x) { return {x.x(), x.y(), x.z()}; }

/// Friction on one velocity: index of its law and of its reaction.
struct FrictionOn {
  std::size_t law;
  Index reaction;
};

class TreeScene {
 public:
  TreeScene(const ModelFile& model, const Trajectory& trajectory, const std::vector<Index>& rows, int offset,
            ReportScene& scene)
      : model_(model),
        tree_(*model.tree),
        trajectory_(trajectory),
        rows_(rows),
        offset_(offset),
        scene_(scene),
        map_(model.tree) {
    motion_.resize(tree_);
  }

  void add() {
    add_lines();
    add_flexible_lines();
    add_hinges();
    add_loops();
  }

 private:
  const RigidBody& body(int k) const { return model_.bodies->bodies[static_cast<std::size_t>(k)]; }
  int scene_body(int k) const { return k < 0 ? -1 : k + offset_; }
  /// Scene bodies stand at their mass centre.
  Vector3d in_scene(int k, const Vector3d& point) const { return k < 0 ? point : Vector3d(point - body(k).center); }

  void set_frame(std::size_t frame) {
    Vector q(static_cast<Index>(trajectory_.names().coordinates.size()));
    for (Index i = 0; i < q.size(); ++i) q[i] = trajectory_.q(rows_[frame], i);
    map_.positions(q, all_);
    place_links(tree_, all_.data(), motion_);
  }

  /// From where a body hangs to its mass centre and on to what hangs on it.
  void add_lines() {
    std::vector<char> shaped(model_.bodies->bodies.size(), 0);
    for (const Shape& shape : model_.bodies->shapes)
      if (shape.body >= 0) shaped[static_cast<std::size_t>(shape.body)] = 1;
    for (const Hinge& hinge : tree_.hinges) {
      if (shaped[static_cast<std::size_t>(hinge.child)] || body(hinge.child).flexible) continue;
      const Vector3d from = hinge.child_position;
      std::vector<Vector3d> ends;
      for (const Hinge& other : tree_.hinges)
        if (other.parent == hinge.child) ends.push_back(other.position);
      for (const Loop& loop : model_.bodies->loops) {
        if (loop.body_a == hinge.child) ends.push_back(loop.point_a);
        if (loop.body_b == hinge.child) ends.push_back(loop.point_b);
      }
      if (body(hinge.child).mass > 0) ends.push_back(body(hinge.child).center);
      for (const Vector3d& to : ends) {
        if (to == from) continue;
        SceneShape line;
        line.kind = SceneShape::Kind::line;
        for (const Vector3d& x : {from, to})
          for (const double c : as_array(in_scene(hinge.child, x))) line.vertices.push_back(c);
        scene_.bodies[static_cast<std::size_t>(scene_body(hinge.child))].shapes.push_back(std::move(line));
      }
    }
  }

  /// Bodies that bend, in the order in which the tree has their modal coordinates.
  void add_flexible_lines() {
    std::size_t next = 0;
    for (const Hinge& hinge : tree_.hinges) {
      const FlexibleBody* flexible = body(hinge.child).flexible.get();
      if (!flexible) continue;
      const Index first = tree_.modal[next++].first;
      const Index eta = tree_.links[static_cast<std::size_t>(tree_.velocity[static_cast<std::size_t>(first)].link)].q;
      SceneShape line;
      line.kind = SceneShape::Kind::line;
      line.moving = true;
      const std::vector<std::size_t> walk = walk_through_stations(*flexible);
      for (std::size_t n = 0; n < rows_.size(); ++n) {
        set_frame(n);
        const Vector modes = all_.segment(eta, flexible->modes());
        for (const std::size_t station : walk)
          for (const double c : as_array(in_scene(hinge.child, deformed_position(flexible->stations[station], modes))))
            line.vertices.push_back(c);
      }
      scene_.bodies[static_cast<std::size_t>(scene_body(hinge.child))].shapes.push_back(std::move(line));
    }
  }

  std::vector<FrictionOn> friction_on(Index velocity) const {
    std::vector<FrictionOn> found;
    Index reaction = 0;
    const auto& laws = model_.system->laws().friction();
    for (std::size_t k = 0; k < laws.size(); ++k)
      for (const Direction& direction : laws[k].directions) {
        if (direction.size() == 1 && direction[0].first == velocity) found.push_back({k, reaction});
        ++reaction;
      }
    return found;
  }

  struct Drawn {
    SceneHinge hinge;
    Index velocity;
    std::vector<FrictionOn> laws;
  };

  /// One for each velocity of a hinge; of welds and free bodies none.
  void add_hinges() {
    std::vector<Drawn> list;
    for (std::size_t k = 0; k < tree_.hinges.size(); ++k) {
      const Hinge& hinge = tree_.hinges[k];
      if (hinge.parent < 0 && hinge.axes.size() == 1 && hinge.axes[0] == HingeAxis::free) continue;
      const std::vector<std::string> names = velocity_names(hinge.axes);
      for (std::size_t j = 0; j < names.size(); ++j) {
        Drawn drawn;
        drawn.velocity = tree_.hinge_v[k] + static_cast<Index>(j);
        if (map_.free_velocity(drawn.velocity) < 0) continue;
        drawn.laws = friction_on(map_.free_velocity(drawn.velocity));
        drawn.hinge.name = hinge.name + "." + names[j];
        drawn.hinge.body = scene_body(hinge.child);
        drawn.hinge.point = as_array(in_scene(hinge.child, hinge.child_position));
        drawn.hinge.slides = !tree_.velocity[static_cast<std::size_t>(drawn.velocity)].rotation;
        list.push_back(std::move(drawn));
      }
    }
    for (std::size_t n = 0; n < rows_.size(); ++n) {
      set_frame(n);
      for (Drawn& drawn : list) fill(drawn, rows_[n]);
    }
    for (Drawn& drawn : list) scene_.hinges.push_back(std::move(drawn.hinge));
  }

  void fill(Drawn& drawn, Index row) const {
    for (const double c : as_array(axis_of(tree_, motion_, drawn.velocity))) drawn.hinge.axis.push_back(c);
    if (drawn.laws.empty()) return;
    double force = 0;
    bool sticks = true;
    for (const FrictionOn& on : drawn.laws) {
      force += trajectory_.reaction(row, on.reaction);
      sticks &= trajectory_.mode(row, static_cast<Index>(on.law)) == Mode::stick;
    }
    drawn.hinge.force.push_back(force);
    drawn.hinge.sticks.push_back(sticks);
  }

  /// What holds a loop together, on body b, as a force under the name of the loop.
  void add_loops() {
    const auto& loops = model_.bodies->loops;
    if (loops.empty()) return;
    if (scene_.forces.empty()) scene_.forces.resize(rows_.size());
    const auto& reactions = trajectory_.names().reactions;
    for (const Loop& loop : loops) {
      std::array<Index, 3> row{-1, -1, -1};
      for (int c = 0; c < 3; ++c) {
        const auto it = std::find(reactions.begin(), reactions.end(), loop.name + ".t" + static_cast<char>('x' + c));
        if (it != reactions.end()) row[static_cast<std::size_t>(c)] = static_cast<Index>(it - reactions.begin());
      }
      const std::size_t law = scene_.laws.size();
      scene_.laws.push_back(loop.name);
      for (std::size_t n = 0; n < rows_.size(); ++n) {
        set_frame(n);
        Vector3d force = Vector3d::Zero();
        const Matrix3d turn = turn_of(loop.body_a) * loop.orientation_a.normalized().toRotationMatrix();
        for (int c = 0; c < 3; ++c)
          if (row[static_cast<std::size_t>(c)] >= 0)
            force += trajectory_.reaction(rows_[n], row[static_cast<std::size_t>(c)]) * turn.col(c);
        scene_.forces[n].push_back({as_array(point_of(loop.body_b, loop.point_b)), as_array(force), law});
      }
    }
  }

  Matrix3d turn_of(int k) const {
    if (k < 0) return Matrix3d::Identity();
    const Tree::Body& at = tree_.bodies[static_cast<std::size_t>(k)];
    return at.link < 0 ? at.turn : Matrix3d(motion_.place[static_cast<std::size_t>(at.link)].R * at.turn);
  }

  Vector3d point_of(int k, const Vector3d& point) const {
    if (k < 0) return point;
    const Tree::Body& at = tree_.bodies[static_cast<std::size_t>(k)];
    const Vector3d inner = at.position + at.turn * point;
    if (at.link < 0) return inner;
    const LinkPlace<double>& place = motion_.place[static_cast<std::size_t>(at.link)];
    return place.o + place.R * inner;
  }

  const ModelFile& model_;
  const Tree& tree_;
  const Trajectory& trajectory_;
  const std::vector<Index>& rows_;
  int offset_;
  ReportScene& scene_;
  TreeMap map_;  ///< coordinates of the run to those of the links
  TreeMotion<double> motion_;
  Vector all_;  ///< positions of the links in the frame that is set
};

}  // namespace

void add_tree(const ModelFile& model, const Trajectory& trajectory, const std::vector<Index>& rows, int offset,
              ReportScene& scene) {
  TreeScene(model, trajectory, rows, offset, scene).add();
}

}  // namespace stickslip
