// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/collision_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/common/thread_pool.hpp"
#include "stickslip/model/collision/surface_mesh.hpp"

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

constexpr std::size_t kShapesWorthAPart = 512, kPairsWorthAPart = 64;

template <class Take>
std::vector<int> select(const std::vector<Shape>& shapes, Take&& take) {
  std::vector<int> result;
  for (int i = 0; i < static_cast<int>(shapes.size()); ++i) {
    if (shapes[i].touches && take(shapes[i].kind)) result.push_back(i);
  }
  return result;
}

bool is_plane(ShapeKind kind) { return kind == ShapeKind::plane; }
bool is_solid(ShapeKind kind) { return !is_plane(kind) && !is_surface(kind); }

Bounds bounds_of(const PlacedShape& s, double margin) {
  const Geometry& g = *s.geometry;
  Vector3 half = g.box_half;
  if (g.kind != ShapeKind::sphere) half = s.R.cwiseAbs() * g.box_half;
  half.array() += margin;
  const Vector3 center = s.x + s.R * g.box_center;
  return {center - half, center + half};
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
      planes_(select(shapes_, is_plane)),
      solids_(select(shapes_, is_solid)),
      surfaces_(select(shapes_, is_surface)),
      broad_phase_(bodies_of(shapes_, solids_)),
      placed_(shapes_.size()),
      bounds_(solids_.size()) {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    local_R_.push_back(shapes_[i].pose.orientation.toRotationMatrix());
    placed_[i].geometry = &geometries_[i];
  }
  for (const int i : surfaces_) {
    place_shape(static_cast<std::size_t>(i), {});
    surface_bounds_.push_back(bounds_of(placed_[i], 0.0));
    for (const int p : planes_)
      if (shapes_[p].body != ground_body && filter_.law(group_of_shape_[p], ground_body) != no_contact)
        throw InputError(
            fmt::format("shape {}: the plane of a body that moves cannot touch the surface of shape {}; use a "
                        "box in its place",
                        p + 1, i + 1));
  }
}

void CollisionScene::place_shape(std::size_t i, const std::vector<Pose>& bodies) {
  const Shape& shape = shapes_[i];
  if (shape.body == ground_body) {
    placed_[i].R = local_R_[i];
    placed_[i].x = shape.pose.position;
    return;
  }
  const Pose& body = bodies[shape.body];
  const Matrix3 R = body.orientation.toRotationMatrix();
  placed_[i].R.noalias() = R * local_R_[i];
  placed_[i].x = body.position + R * shape.pose.position;
}

void CollisionScene::place(const std::vector<Pose>& bodies, double margin, ThreadPool* threads) {
  const int parts = part_count(threads, shapes_.size(), kShapesWorthAPart);
  run_parts(threads, parts, [&](int part) {
    const auto [begin, end] = part_range(shapes_.size(), parts, part);
    for (std::size_t i = begin; i < end; ++i) place_shape(i, bodies);
  });
  for (std::size_t k = 0; k < solids_.size(); ++k) bounds_[k] = bounds_of(placed_[solids_[k]], 0.5 * margin);
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

void CollisionScene::pair_surfaces() {
  for (std::size_t s = 0; s < surfaces_.size(); ++s) {
    const int p = surfaces_[s];
    for (std::size_t k = 0; k < solids_.size(); ++k) {
      const int i = solids_[k];
      if (shapes_[i].body == ground_body) continue;
      Bounds box = bounds_[k];  // and what has sunk in
      box.low.array() -= geometries_[i].scale;
      box.high.array() += geometries_[i].scale;
      if (box.overlaps(surface_bounds_[s])) pairs_.push_back({std::min(i, p), std::max(i, p)});
    }
  }
}

/// By a, then by b; counted, not compared: there are many pairs, and few of each a.
void CollisionScene::sort_pairs() {
  first_pair_.assign(shapes_.size() + 1, 0);
  for (const BoxPair& pair : pairs_) ++first_pair_[pair.a + 1];
  for (std::size_t i = 1; i < first_pair_.size(); ++i) first_pair_[i] += first_pair_[i - 1];
  sorted_.resize(pairs_.size());
  for (const BoxPair& pair : pairs_) sorted_[first_pair_[pair.a]++] = pair;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < first_pair_.size(); begin = first_pair_[i++])
    std::sort(sorted_.begin() + static_cast<std::ptrdiff_t>(begin),
              sorted_.begin() + static_cast<std::ptrdiff_t>(first_pair_[i]),
              [](const BoxPair& l, const BoxPair& r) { return l.b < r.b; });
  std::swap(pairs_, sorted_);
}

void CollisionScene::look_at(PartOfPairs& part, std::size_t begin, std::size_t end, double margin) const {
  std::vector<ContactPoint>& out = part.points;
  out.clear();
  for (std::size_t k = begin; k < end; ++k) {
    const auto [a, b] = pairs_[k];
    const int law = filter_.law(group_of_shape_[a], group_of_shape_[b]);
    if (law == no_contact) continue;
    const std::size_t first = out.size();
    find_contacts(placed_[a], placed_[b], margin, part.workspace, out);
    for (std::size_t i = first; i < out.size(); ++i) {
      out[i].shape_a = a;
      out[i].shape_b = b;
      out[i].law = law;
    }
  }
}

void CollisionScene::find(const std::vector<Pose>& bodies, double margin, std::vector<ContactPoint>& out,
                          ThreadPool* threads) {
  assert(static_cast<int>(bodies.size()) == bodies_ && margin >= 0.0);
  pairs_.clear();
  place(bodies, margin, threads);
  broad_phase_.find(bounds_, pairs_, threads);
  for (BoxPair& pair : pairs_) pair = {solids_[pair.a], solids_[pair.b]};
  pair_planes(margin);
  pair_surfaces();
  sort_pairs();
  const int parts = part_count(threads, pairs_.size(), kPairsWorthAPart);
  parts_.resize(std::max(parts_.size(), static_cast<std::size_t>(parts)));
  run_parts(threads, parts, [&](int k) {
    const auto [begin, end] = part_range(pairs_.size(), parts, k);
    look_at(parts_[static_cast<std::size_t>(k)], begin, end, margin);
  });
  if (parts == 1) return std::swap(out, parts_[0].points);
  out.clear();
  for (int k = 0; k < parts; ++k) {
    const std::vector<ContactPoint>& part = parts_[static_cast<std::size_t>(k)].points;
    out.insert(out.end(), part.begin(), part.end());
  }
}

}  // namespace stickslip
