// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/collision_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "stickslip/common/error.hpp"

namespace stickslip {
namespace {

long long pair_key(int a, int b) {
  const auto [low, high] = std::minmax(a, b);
  return (static_cast<long long>(low + 1) << 32) | (high + 1);
}

std::vector<Geometry> make_geometries(const std::vector<Shape>& shapes, int bodies) {
  std::vector<Geometry> result;
  for (int i = 0; i < static_cast<int>(shapes.size()); ++i) {
    if (shapes[i].body < ground_body || shapes[i].body >= bodies) {
      throw InputError(fmt::format("shape {}{}: body = {} does not exist, there are {} bodies", i + 1,
                                   shapes[i].name.empty() ? "" : " (" + shapes[i].name + ")", shapes[i].body, bodies));
    }
    result.push_back(make_geometry(shapes[i], i));
  }
  return result;
}

std::vector<int> select(const std::vector<Shape>& shapes, bool planes) {
  std::vector<int> result;
  for (int i = 0; i < static_cast<int>(shapes.size()); ++i) {
    if (shapes[i].touches && (shapes[i].kind == ShapeKind::plane) == planes) result.push_back(i);
  }
  return result;
}

std::vector<int> groups_of(const std::vector<Shape>& shapes, const std::vector<int>& group_of_body) {
  std::vector<int> result;
  for (const Shape& shape : shapes)
    result.push_back(shape.body < 0 || group_of_body.empty() ? shape.body
                                                             : group_of_body[static_cast<std::size_t>(shape.body)]);
  return result;
}

std::vector<int> bodies_of(const std::vector<Shape>& shapes, const std::vector<int>& selected) {
  std::vector<int> result;
  for (const int i : selected) result.push_back(shapes[i].body);
  return result;
}

}  // namespace

PairFilter::PairFilter(const std::vector<PairRule>& rules, int bodies)
    : one_sided_(static_cast<std::size_t>(bodies) + 1) {
  bool has_default = false;
  for (int r = 0; r < static_cast<int>(rules.size()); ++r) {
    const PairRule& rule = rules[r];
    for (const int body : {rule.body_a, rule.body_b}) {
      if (body < any_body || body >= bodies) {
        throw InputError(
            fmt::format("contact rule {}: body {} does not exist, there are {} bodies", r + 1, body, bodies));
      }
    }
    if (rule.body_a != any_body && rule.body_b != any_body) {
      exact_.try_emplace(pair_key(rule.body_a, rule.body_b), rule.law);
    } else if (rule.body_a != any_body || rule.body_b != any_body) {
      Choice& choice = one_sided_[std::max(rule.body_a, rule.body_b) + 1];
      if (choice.rule < 0) choice = {r, rule.law};
    } else if (!has_default) {
      has_default = true;
      default_law_ = rule.law;
    }
  }
}

int PairFilter::law(int body_a, int body_b) const {
  if (!exact_.empty()) {
    if (const auto found = exact_.find(pair_key(body_a, body_b)); found != exact_.end()) return found->second;
  }
  const Choice &a = one_sided_[body_a + 1], &b = one_sided_[body_b + 1];
  if (a.rule < 0 && b.rule < 0) return default_law_;
  return b.rule < 0 || (a.rule >= 0 && a.rule < b.rule) ? a.law : b.law;
}

CollisionScene::CollisionScene(std::vector<Shape> shapes, const std::vector<PairRule>& rules, int bodies,
                               const std::vector<int>& group_of_body)
    : shapes_(std::move(shapes)),
      geometries_(make_geometries(shapes_, bodies)),
      group_of_shape_(groups_of(shapes_, group_of_body)),
      filter_(rules, bodies),
      bodies_(bodies),
      planes_(select(shapes_, true)),
      solids_(select(shapes_, false)),
      broad_phase_(bodies_of(shapes_, solids_)),
      placed_(shapes_.size()),
      bounds_(solids_.size()) {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    local_R_.push_back(shapes_[i].pose.orientation.toRotationMatrix());
    placed_[i].geometry = &geometries_[i];
  }
}

void CollisionScene::place(const std::vector<Pose>& bodies, double margin) {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const Shape& shape = shapes_[i];
    if (shape.body == ground_body) {
      placed_[i].R = local_R_[i];
      placed_[i].x = shape.pose.position;
      continue;
    }
    const Pose& body = bodies[shape.body];
    const Matrix3 R = body.orientation.toRotationMatrix();
    placed_[i].R.noalias() = R * local_R_[i];
    placed_[i].x = body.position + R * shape.pose.position;
  }
  for (std::size_t k = 0; k < solids_.size(); ++k) {
    const PlacedShape& s = placed_[solids_[k]];
    const Geometry& g = *s.geometry;
    Vector3 half = g.box_half;
    if (g.kind != ShapeKind::sphere) half = s.R.cwiseAbs() * g.box_half;
    half.array() += 0.5 * margin;
    const Vector3 center = s.x + s.R * g.box_center;
    bounds_[k] = {center - half, center + half};
  }
}

void CollisionScene::pair_planes(double margin) {
  for (const int p : planes_) {
    const Vector3 n = placed_[p].R.col(2);
    for (const int i : solids_) {
      if (shapes_[i].body == shapes_[p].body) continue;
      const PlacedShape& s = placed_[i];
      const double height = n.dot(s.x + s.R * s.geometry->box_center - placed_[p].x);
      if (height - s.geometry->bounding_radius <= margin) pairs_.push_back({std::min(i, p), std::max(i, p)});
    }
  }
}

void CollisionScene::find(const std::vector<Pose>& bodies, double margin, std::vector<ContactPoint>& out) {
  assert(static_cast<int>(bodies.size()) == bodies_ && margin >= 0.0);
  out.clear();
  pairs_.clear();
  place(bodies, margin);
  broad_phase_.find(bounds_, pairs_);
  for (BoxPair& pair : pairs_) pair = {solids_[pair.a], solids_[pair.b]};
  pair_planes(margin);
  std::sort(pairs_.begin(), pairs_.end(),
            [](const BoxPair& l, const BoxPair& r) { return l.a != r.a ? l.a < r.a : l.b < r.b; });
  for (const auto& [a, b] : pairs_) {
    const int law = filter_.law(group_of_shape_[a], group_of_shape_[b]);
    if (law == no_contact) continue;
    const std::size_t first = out.size();
    find_contacts(placed_[a], placed_[b], margin, workspace_, out);
    for (std::size_t i = first; i < out.size(); ++i) {
      out[i].shape_a = a;
      out[i].shape_b = b;
      out[i].law = law;
    }
  }
}

}  // namespace stickslip
