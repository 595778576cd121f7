// SPDX-License-Identifier: Apache-2.0
// All shapes of a model and the rules which of them may touch; finds the contact points for given poses of the bodies.
//
// The result is a pure function of poses and margin: points come sorted by (shape_a, shape_b, feature), nothing is
// remembered but the tree of the broad phase and scratch space, and after the first calls nothing is allocated here.
// Contact between shapes of one body, and of the ground with itself, does not exist.
#pragma once

#include <unordered_map>
#include <vector>

#include "stickslip/model/collision/broad_phase.hpp"
#include "stickslip/model/collision/contact_point.hpp"
#include "stickslip/model/collision/narrow_phase.hpp"
#include "stickslip/model/collision/shape.hpp"

namespace stickslip {

constexpr int any_body = -2;
constexpr int no_contact = -1;

/// `between = ["a", "b"]` of a contact law. Bodies are given by their group (CollisionScene), and may be ground_body or
/// any_body ("*"; the ground too). law = no_contact forbids the pair (bodies joined by a hinge). Of the rules that fit
/// a pair the one with fewer any_body wins, of equals the first; without a rule there is no contact.
struct PairRule {
  int body_a = any_body;
  int body_b = any_body;
  int law = 0;
};

class PairFilter {
 public:
  PairFilter(const std::vector<PairRule>& rules, int bodies);
  /// Law of contacts between two different bodies, or no_contact.
  int law(int body_a, int body_b) const;

 private:
  struct Choice {
    int rule = -1;  ///< lower is earlier; -1: none
    int law = no_contact;
  };
  std::unordered_map<long long, int> exact_;
  std::vector<Choice> one_sided_;  ///< by body + 1
  int default_law_ = no_contact;
};

class CollisionScene {
 public:
  /// `bodies`: how many poses find() will get. `group_of_body`: bodies of one group obey the same rules, so that a
  /// thousand balls need one; empty: each body is a group of its own. Bad shapes or body numbers: InputError naming the
  /// shape.
  CollisionScene(std::vector<Shape> shapes, const std::vector<PairRule>& rules, int bodies,
                 const std::vector<int>& group_of_body = {});

  /// Replaces `out` by all contact points with gap <= margin [m], margin >= 0. `threads` may be null; the points are
  /// the same.
  void find(const std::vector<Pose>& bodies, double margin, std::vector<ContactPoint>& out,
            ThreadPool* threads = nullptr);

  const std::vector<Shape>& shapes() const { return shapes_; }
  const Geometry& geometry(int shape) const { return geometries_[shape]; }
  int bodies() const { return bodies_; }
  /// Pairs that the narrow phase looked at in the last find().
  std::size_t candidates() const { return pairs_.size(); }

 private:
  void place(const std::vector<Pose>& bodies, double margin, ThreadPool* threads);
  void place_shape(std::size_t shape, const std::vector<Pose>& bodies);
  void pair_planes(double margin);
  void pair_surfaces();
  void sort_pairs();
  struct PartOfPairs {
    ManifoldWorkspace workspace;
    std::vector<ContactPoint> points;
  };
  void look_at(PartOfPairs& part, std::size_t begin, std::size_t end, double margin) const;

  std::vector<Shape> shapes_;
  std::vector<Geometry> geometries_;
  std::vector<Matrix3> local_R_;
  std::vector<int> group_of_shape_;  ///< ground_body for those of the ground
  PairFilter filter_;
  int bodies_;
  std::vector<int> planes_, solids_, surfaces_;  ///< shapes
  BroadPhase broad_phase_;                       ///< of solids_

  std::vector<PlacedShape> placed_;
  std::vector<Bounds> bounds_;
  std::vector<Bounds> surface_bounds_;  ///< in the world
  std::vector<BoxPair> pairs_, sorted_;
  std::vector<std::size_t> first_pair_;  ///< of shape a in sorted order
  std::vector<PartOfPairs> parts_;
};

}  // namespace stickslip
