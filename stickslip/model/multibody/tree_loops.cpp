// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "stickslip/model/multibody/part_error.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

constexpr std::array<char, 3> kLetters{'x', 'y', 'z'};

/// Rotations that stay free, in order; three for a ball.
std::vector<int> free_rotations(const Loop& loop) {
  std::vector<int> free;
  for (const HingeAxis axis : loop.axes) {
    if (axis == HingeAxis::free)
      throw PartError("loop", loop.name, "axes",
                      fmt::format("loop '{}': a loop that leaves everything free holds nothing; remove it", loop.name));
    if (axis == HingeAxis::ball) return {0, 1, 2};
    if (is_rotation(axis)) free.push_back(static_cast<int>(axis) - 3);
  }
  if (free.size() == 2 && free[0] == free[1])
    throw PartError("loop", loop.name, "axes",
                    fmt::format("loop '{}': two rotations about one axis are one; name it once", loop.name));
  return free;
}

}  // namespace

struct TreeLoops::Memory final : Scratch {
  explicit Memory(const Tree& of) : tree(of) {}
  TreeScratch tree;
};

TreeLoops::TreeLoops(const std::vector<Loop>& loops, std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {
  const auto paths = velocity_paths(*tree_);
  for (const auto& path : paths) {
    above_.emplace_back(static_cast<std::size_t>(tree_->nv()), 0);
    for (const Index k : path) above_.back()[static_cast<std::size_t>(k)] = 1;
  }
  for (const Loop& loop : loops) {
    Row row;
    Matrix3d axes_a, axes_b;
    const auto end = [&](int body, const Vector3d& point, const Eigen::Quaterniond& orientation, int& link,
                         Vector3d& at, Matrix3d& axes) {
      Tree::Body place;
      if (body >= 0) place = tree_->bodies[static_cast<std::size_t>(body)];
      link = place.link;
      at = place.position + place.turn * point;
      axes = place.turn * orientation.normalized().toRotationMatrix();
    };
    end(loop.body_a, loop.point_a, loop.orientation_a, row.link_a, row.point_a, axes_a);
    end(loop.body_b, loop.point_b, loop.orientation_b, row.link_b, row.point_b, axes_b);
    if (row.link_a == row.link_b)
      throw PartError("loop", loop.name, "body_b",
                      fmt::format("loop '{}' joins bodies that are one already (the same, or welded)", loop.name));
    std::set<Index> moved;
    for (const int link : {row.link_a, row.link_b})
      for (const Index k : velocities_above(paths, link)) moved.insert(k);
    row.moved.assign(moved.begin(), moved.end());
    const auto add = [&](const std::string& name, bool distance, const Vector3d& a, const Vector3d& b) {
      row.distance = distance;
      row.direction_a = a;
      row.direction_b = b;
      elements_.push_back({.name = loop.name + "." + name});
      rows_.push_back(row);
    };
    for (int k = 0; k < 3; ++k)
      if (std::find(loop.axes.begin(), loop.axes.end(), static_cast<HingeAxis>(k)) == loop.axes.end())
        add(std::string("t") + kLetters[static_cast<std::size_t>(k)], true, axes_a.col(k), Vector3d::Zero());
    const std::vector<int> free = free_rotations(loop);
    const auto name_of = [](int k) { return std::string("r") + kLetters[static_cast<std::size_t>(k)]; };
    if (free.empty())
      for (int k = 0; k < 3; ++k) add(name_of(k), false, axes_a.col((k + 1) % 3), axes_b.col((k + 2) % 3));
    if (free.size() == 1)
      for (const int step : {1, 2}) {
        const int k = (free[0] + step) % 3;
        add(name_of(k), false, axes_a.col(k), axes_b.col(free[0]));
      }
    if (free.size() == 2) add(name_of(3 - free[0] - free[1]), false, axes_a.col(free[0]), axes_b.col(free[1]));
  }
}

std::vector<std::string> loop_row_names(const std::vector<Loop>& loops) {
  std::vector<std::string> names;
  for (const Loop& loop : loops) {
    const std::vector<int> free = free_rotations(loop);
    for (int k = 0; k < 3; ++k)
      if (std::find(loop.axes.begin(), loop.axes.end(), static_cast<HingeAxis>(k)) == loop.axes.end())
        names.push_back(fmt::format("{}.t{}", loop.name, kLetters[static_cast<std::size_t>(k)]));
    const auto add = [&](int k) {
      names.push_back(fmt::format("{}.r{}", loop.name, kLetters[static_cast<std::size_t>(k)]));
    };
    if (free.empty())
      for (int k = 0; k < 3; ++k) add(k);
    if (free.size() == 1)
      for (const int step : {1, 2}) add((free[0] + step) % 3);
    if (free.size() == 2) add(3 - free[0] - free[1]);
  }
  return names;
}

std::unique_ptr<Scratch> TreeLoops::make_scratch() const { return std::make_unique<Memory>(*tree_); }

bool TreeLoops::moves(Index k, int link) const {
  return (link < 0 ? above_.back() : above_[static_cast<std::size_t>(link)])[static_cast<std::size_t>(k)] != 0;
}

TreeLoops::Placed TreeLoops::placed(const Row& row, const TreeMotion<double>& motion, bool moving) const {
  const auto turned = [&](int link, const Vector3d& d) -> Vector3d {
    return link < 0 ? d : Vector3d(motion.place[static_cast<std::size_t>(link)].R * d);
  };
  return {tree_point(motion, row.link_a, row.point_a, moving), tree_point(motion, row.link_b, row.point_b, moving),
          turned(row.link_a, row.direction_a), turned(row.link_b, row.direction_b)};
}

void TreeLoops::evaluate(double, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const {
  TreeMotion<double>& motion = static_cast<Memory&>(*workspace.constraints).tree.motion;
  place_links(*tree_, q.data(), motion);
  const auto m = static_cast<Index>(rows_.size());
  rows.A.setZero(m, tree_->nv());
  rows.rate.setZero(m);
  rows.position.resize(m);
  for (Index r = 0; r < m; ++r) {
    const Row& row = rows_[static_cast<std::size_t>(r)];
    const Placed at = placed(row, motion, false);
    const Vector3d apart = at.b.P - at.a.P, torque = row.distance ? at.e.cross(apart) : -at.w.cross(at.e);
    rows.position[r] = row.distance ? at.e.dot(apart) : at.e.dot(at.w);
    for (const Index k : row.moved) {
      double entry = 0;
      if (moves(k, row.link_a)) {
        entry += torque.dot(spin_column(*tree_, motion, k));
        if (row.distance) entry -= at.e.dot(point_column(*tree_, motion, k, at.a.P));
      }
      if (moves(k, row.link_b))
        entry += row.distance ? at.e.dot(point_column(*tree_, motion, k, at.b.P))
                              : -torque.dot(spin_column(*tree_, motion, k));
      rows.A(r, k) = entry;
    }
  }
}

void TreeLoops::bias(double, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& bias) const {
  TreeMotion<double>& motion = static_cast<Memory&>(*workspace.constraints).tree.motion;
  place_links(*tree_, q.data(), motion);
  move_links(*tree_, v.data(), motion);
  accelerate_links<double>(*tree_, v.data(), nullptr, Vector3d::Zero(), motion);
  bias.resize(static_cast<Index>(rows_.size()));
  const auto second = [](const TreePoint& p, const Vector3d& d) -> Vector3d {  // of a direction fixed to the link
    return p.alpha.cross(d) + p.w.cross(Vector3d(p.w.cross(d)));
  };
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Placed at = placed(rows_[r], motion, true);
    const Vector3d turning = at.a.w.cross(at.e);
    double value;
    if (rows_[r].distance) {
      value = at.e.dot(at.b.a - at.a.a) + 2 * turning.dot(at.b.v - at.a.v) + second(at.a, at.e).dot(at.b.P - at.a.P);
    } else {
      value = second(at.a, at.e).dot(at.w) + 2 * turning.dot(at.b.w.cross(at.w)) + at.e.dot(second(at.b, at.w));
    }
    bias[static_cast<Index>(r)] = value;
  }
}

/// Along δ_j of g' = e·(v_b - v_a) + (ω_a × e)·(P_b - P_a), or (ω_a × u)·w + u·(ω_b × w).
void TreeLoops::velocity_slopes(double, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                DenseMatrix& by_q) const {
  TreeMotion<double>& motion = static_cast<Memory&>(*workspace.constraints).tree.motion;
  place_links(*tree_, q.data(), motion);
  move_links(*tree_, v.data(), motion);
  by_q.setZero(static_cast<Index>(rows_.size()), tree_->nv());
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    const Placed at = placed(row, motion, true);
    const Vector3d apart = at.b.P - at.a.P, apart_rate = at.b.v - at.a.v;
    for (const Index j : row.moved) {
      Vector3d turn_a = Vector3d::Zero(), turn_b = turn_a, shift_a = turn_a, shift_b = turn_a;
      Vector3d dv_a = turn_a, dv_b = turn_a, dw_a = turn_a, dw_b = turn_a;
      const auto along = [&](int link, const TreePoint& p, Vector3d& turn, Vector3d& shift, Vector3d& dv,
                             Vector3d& dw) {
        if (!moves(j, link)) return;
        turn = spin_column(*tree_, motion, j);
        shift = point_column(*tree_, motion, j, p.P);
        dv = point_slope(*tree_, motion, j, p);
        dw = spin_slope(*tree_, motion, j, p);
      };
      along(row.link_a, at.a, turn_a, shift_a, dv_a, dw_a);
      along(row.link_b, at.b, turn_b, shift_b, dv_b, dw_b);
      const Vector3d de = turn_a.cross(at.e), dw = turn_b.cross(at.w);
      double slope;
      if (row.distance) {
        slope = de.dot(apart_rate) + at.e.dot(dv_b - dv_a) + (dw_a.cross(at.e) + at.a.w.cross(de)).dot(apart) +
                at.a.w.cross(at.e).dot(shift_b - shift_a);
      } else {
        slope = (dw_a.cross(at.e) + at.a.w.cross(de)).dot(at.w) + at.a.w.cross(at.e).dot(dw) +
                de.dot(at.b.w.cross(at.w)) + at.e.dot(dw_b.cross(at.w) + at.b.w.cross(dw));
      }
      by_q(static_cast<Index>(r), j) = slope;
    }
  }
}

/// The same with v = e_i, for every i that moves the row.
void TreeLoops::force_slopes(double, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                             DenseMatrix& by_q) const {
  TreeMotion<double>& motion = static_cast<Memory&>(*workspace.constraints).tree.motion;
  place_links(*tree_, q.data(), motion);
  by_q.setZero(tree_->nv(), tree_->nv());
  struct Column {
    Vector3d turn = Vector3d::Zero(), shift = Vector3d::Zero();
  };
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    const Placed at = placed(row, motion, false);
    const Vector3d apart = at.b.P - at.a.P;
    const auto column = [&](Index k, int link, const TreePoint& p) -> Column {
      if (!moves(k, link)) return {};
      return {spin_column(*tree_, motion, k), point_column(*tree_, motion, k, p.P)};
    };
    const auto second = [&](Index i, Index j, int link, const TreePoint& p) -> SecondColumn {
      if (!moves(i, link) || !moves(j, link)) return {Vector3d::Zero(), Vector3d::Zero()};
      return second_column(*tree_, motion, i, j, p.P);
    };
    for (const Index i : row.moved) {
      const Column a_i = column(i, row.link_a, at.a), b_i = column(i, row.link_b, at.b);
      for (const Index j : row.moved) {
        const Column a_j = column(j, row.link_a, at.a), b_j = column(j, row.link_b, at.b);
        const SecondColumn a_ij = second(i, j, row.link_a, at.a), b_ij = second(i, j, row.link_b, at.b);
        const Vector3d de = a_j.turn.cross(at.e), dw = b_j.turn.cross(at.w);
        double slope;
        if (row.distance) {
          slope = de.dot(b_i.shift - a_i.shift) + at.e.dot(b_ij.point - a_ij.point) +
                  (a_ij.spin.cross(at.e) + a_i.turn.cross(de)).dot(apart) +
                  a_i.turn.cross(at.e).dot(b_j.shift - a_j.shift);
        } else {
          slope = (a_ij.spin.cross(at.e) + a_i.turn.cross(de)).dot(at.w) + a_i.turn.cross(at.e).dot(dw) +
                  de.dot(b_i.turn.cross(at.w)) + at.e.dot(b_ij.spin.cross(at.w) + b_i.turn.cross(dw));
        }
        by_q(i, j) += lambda[static_cast<Index>(r)] * slope;
      }
    }
  }
}

}  // namespace stickslip
