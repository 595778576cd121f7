// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/body_contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/common/thread_pool.hpp"
#include "stickslip/model/multibody/body_pose.hpp"
#include "stickslip/model/multibody/tree_dynamics.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

namespace {

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

/// What the collision search keeps from step to step.
struct ContactSearch final : Scratch {
  std::optional<CollisionScene> scene;  ///< made by the first search
  std::vector<Pose> poses;
  std::vector<ContactPoint> points;
  std::vector<RowPlace> first;          ///< of each point, and the end
  std::vector<Vector3d> surface;        ///< velocity of each law
  TreeMotion<double> motion;            ///< of a tree
  std::unique_ptr<ThreadPool> threads;  ///< null: the caller's alone
};

std::uint64_t key_of(const ContactPoint& point) {
  std::uint64_t key = point.feature;
  for (const int shape : {point.shape_a, point.shape_b}) {
    key ^= static_cast<std::uint64_t>(shape) + 0x9e3779b97f4a7c15ULL + (key << 6) + (key >> 2);
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
  }
  return key;
}

/// Distance of the farthest point of a shape from the mass centre of its body; 0 for planes, which have no end.
double reach_of(const Shape& shape, const Vector3d& center) {
  const Geometry geometry = make_geometry(shape);
  if (!std::isfinite(geometry.bounding_radius)) return 0.0;
  return geometry.bounding_radius +
         (shape.pose.position + shape.pose.orientation * geometry.box_center - center).norm();
}

Matrix3d moments(const Vector& q, int body, const Vector3d& point, const Matrix3d& frame) {
  const Matrix3d R = orientation_of(q, body).toRotationMatrix();
  const Vector3d arm = point - position_of(q, body);
  Matrix3d result;
  for (int c = 0; c < 3; ++c) result.row(c) = R.transpose() * arm.cross(Vector3d(frame.row(c)));
  return result;
}

}  // namespace

namespace {

/// Bodies that are welded together share a number, that of the ground is -1.
std::vector<int> weld_groups(const BodyModel& model) {
  std::vector<int> group(model.bodies.size());
  std::iota(group.begin(), group.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Hinge& hinge : model.hinges) {
      if (!hinge.axes.empty()) continue;
      int& child = group[static_cast<std::size_t>(hinge.child)];
      const int parent = hinge.parent < 0 ? -1 : group[static_cast<std::size_t>(hinge.parent)];
      if (child == parent) continue;
      const int from = std::max(child, parent), to = std::min(child, parent);
      std::replace(group.begin(), group.end(), from, to);
      changed = true;
    }
  }
  return group;
}

/// Bodies that are welded together or joined by a hinge do not touch, unless a law names both. What hangs on the ground
/// may touch it.
void forbid_neighbours(const BodyModel& model, const std::vector<int>& group_of_body, std::vector<PairRule>& rules) {
  if (model.hinges.empty()) return;
  const std::vector<int> weld = weld_groups(model);
  std::set<std::pair<int, int>> joined;
  for (const Hinge& hinge : model.hinges) {
    const int parent = hinge.parent < 0 ? -1 : weld[static_cast<std::size_t>(hinge.parent)];
    joined.insert(std::minmax(parent, weld[static_cast<std::size_t>(hinge.child)]));
  }
  std::vector<std::size_t> shaped;
  for (std::size_t k = 0; k < model.bodies.size(); ++k)
    if (std::any_of(model.shapes.begin(), model.shapes.end(),
                    [&](const Shape& shape) { return shape.body == static_cast<int>(k) && shape.touches; }))
      shaped.push_back(k);
  for (std::size_t i = 0; i < shaped.size(); ++i) {
    const std::size_t a = shaped[i];
    if (weld[a] == -1) rules.push_back({ground_body, group_of_body[a], no_contact});
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t b = shaped[j];
      if (weld[a] == weld[b] || joined.contains(std::minmax(weld[a], weld[b])))
        rules.push_back({group_of_body[a], group_of_body[b], no_contact});
    }
  }
}

}  // namespace

CollisionScene make_scene(const BodyModel& model) {
  std::set<int> hinged;
  for (const Hinge& hinge : model.hinges) hinged.insert({hinge.parent, hinge.child});
  // A body that some law singles out is a group of its own, and so is one on a hinge.
  std::map<std::pair<std::string, std::string>, int> groups;
  std::vector<int> group_of_body;
  for (std::size_t k = 0; k < model.bodies.size(); ++k) {
    const RigidBody& body = model.bodies[k];
    const bool alone = hinged.contains(static_cast<int>(k)) ||
                       std::any_of(model.contacts.begin(), model.contacts.end(), [&](const BodyContact& contact) {
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
  forbid_neighbours(model, group_of_body, rules);
  return CollisionScene(model.shapes, rules, static_cast<int>(model.bodies.size()), group_of_body);
}

BodyContacts::BodyContacts(const BodyModel& model, std::shared_ptr<const Tree> tree)
    : model_(std::make_shared<const BodyModel>(model)), tree_(std::move(tree)) {
  if (tree_) paths_ = velocity_paths(*tree_);
  make_scene(model);  // refuses what is wrong with the shapes now, not in the first step
  for (const RigidBody& body : model.bodies) {
    names_.push_back(body.name);
    centers_.push_back(body.center);
    reach_.push_back(0);
  }
  double smallest = HUGE_VAL;
  for (const Shape& shape : model.shapes) {
    body_of_shape_.push_back(shape.body);
    if (shape.body < 0 || !shape.touches) continue;
    const auto body = static_cast<std::size_t>(shape.body);
    reach_[body] = std::max(reach_[body], reach_of(shape, centers_[body]));
    smallest = std::min(smallest, 2 * make_geometry(shape).scale);
  }
  length_ = std::isfinite(smallest) && smallest > 0 ? smallest : 1.0;
  for (const BodyContact& contact : model.contacts) {
    laws_.push_back(contact.law);
    surface_velocity_.push_back(contact.surface_velocity);
    for (const StateFunction& w : contact.surface_velocity) surfaces_move_ |= w.depends_on_time();
  }
}

std::unique_ptr<Scratch> BodyContacts::make_scratch() const {
  auto search = std::make_unique<ContactSearch>();
  if (tree_) search->motion.resize(*tree_);
  // Below, a search is over before a second thread has begun.
  constexpr std::size_t kManyShapes = 400;
  const int threads = model_->threads > 0                    ? model_->threads
                      : model_->shapes.size() >= kManyShapes ? usable_processors()
                                                             : 1;
  if (threads > 1) search->threads = std::make_unique<ThreadPool>(threads);
  return search;
}

ThreadPool* BodyContacts::threads(SystemWorkspace& workspace) const {
  return static_cast<ContactSearch&>(*workspace.contacts).threads.get();
}

/// Ways of translations below a rotation are not known here: as long as the longest part of the tree.
double BodyContacts::tree_speed_bound(const Vector& v) const {
  thread_local std::vector<std::pair<double, double>> bound;  // |w|, |v| of each link
  bound.resize(tree_->links.size());
  for (std::size_t i = 0; i < tree_->links.size(); ++i) {
    const Link& link = tree_->links[i];
    const double speed = v.segment(link.v, link.velocities()).norm();
    double w = 0, x = 0;
    if (link.parent >= 0) {
      const auto& parent = bound[static_cast<std::size_t>(link.parent)];
      const double way = link.offset.norm() + (link.kind == JointKind::translation ? tree_->length : 0.0);
      w = parent.first;
      x = parent.second + parent.first * way;
    }
    (link.kind == JointKind::translation ? x : w) += speed;
    bound[i] = {w, x};
  }
  double largest = 0;
  for (std::size_t k = 0; k < centers_.size(); ++k) {
    const Tree::Body& body = tree_->bodies[k];
    if (body.link < 0 || reach_[k] == 0) continue;
    const auto& [w, x] = bound[static_cast<std::size_t>(body.link)];
    largest = std::max(largest, x + w * (reach_[k] + (body.position + body.turn * body.center).norm()));
  }
  return largest;
}

double BodyContacts::speed_bound(const Vector& v) const {
  if (tree_) return tree_speed_bound(v);
  double largest = 0;
  for (Index k = 0; k < bodies(); ++k)
    largest = std::max(
        largest, v.segment<3>(6 * k).norm() + v.segment<3>(6 * k + 3).norm() * reach_[static_cast<std::size_t>(k)]);
  return largest;
}

void BodyContacts::place_bodies(const Vector& q, double margin, SystemWorkspace& workspace) const {
  auto& search = static_cast<ContactSearch&>(*workspace.contacts);
  search.poses.resize(static_cast<std::size_t>(bodies()));
  if (tree_) place_links(*tree_, q.data(), search.motion);
  for (Index k = 0; k < bodies(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    Vector3d center;
    Quaterniond r;
    if (tree_) {
      const Tree::Body& body = tree_->bodies[i];
      Matrix3d R = body.turn;
      center = body.position + body.turn * body.center;
      if (body.link >= 0) {
        const LinkPlace<double>& at = search.motion.place[static_cast<std::size_t>(body.link)];
        R = at.R * R;
        center = at.o + at.R * center;
      }
      r = Quaterniond(R);
      if (R.allFinite()) r.normalize();
    } else {
      r = orientation_of(q, k);
      center = position_of(q, k);
    }
    require_place(k, center, r, margin);
    search.poses[i] = {center - r * centers_[i], r};
  }
}

void BodyContacts::find(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                        ContactPoints& found) const {
  auto& search = static_cast<ContactSearch&>(*workspace.contacts);
  if (!search.scene) search.scene = make_scene(*model_);
  place_bodies(q, margin, workspace);
  search.scene->find(search.poses, margin, search.points, search.threads.get());
  workspace.variables.set_time(t);
  search.surface.clear();
  for (std::size_t law = 0; law < laws_.size(); ++law)
    search.surface.push_back(surface_velocity(static_cast<int>(law), workspace));
  tree_ ? set_up_tree_rows(workspace, found) : set_up_rows(q, workspace, found);
}

/// Rows and entries of each point have their place before they are written, so that threads can share them.
void BodyContacts::set_up_rows(const Vector& q, SystemWorkspace& workspace, ContactPoints& found) const {
  constexpr std::size_t kWorthAPart = 256;  // points
  auto& search = static_cast<ContactSearch&>(*workspace.contacts);
  const std::size_t count = search.points.size();
  search.first.resize(count + 1);
  search.first[0] = {0, 0};
  for (std::size_t k = 0; k < count; ++k) {
    const ContactPoint& point = search.points[k];
    const int size = laws_[static_cast<std::size_t>(point.law)].size();
    const int moving = (body_of_shape_[static_cast<std::size_t>(point.shape_a)] >= 0) +
                       (body_of_shape_[static_cast<std::size_t>(point.shape_b)] >= 0);
    search.first[k + 1] = {search.first[k].row + size, search.first[k].entry + 6 * moving * size};
  }
  const RowPlace all = search.first[count];
  SparseMatrix& Wt = found.Wt;
  if (Wt.rows() != all.row || Wt.cols() != 6 * bodies()) Wt.resize(all.row, 6 * bodies());
  Wt.makeCompressed();
  Wt.resizeNonZeros(all.entry);
  Wt.outerIndexPtr()[all.row] = static_cast<int>(all.entry);
  found.w.resize(all.row);
  found.points.resize(count);
  ThreadPool* threads = search.threads.get();
  const int parts = part_count(threads, count, kWorthAPart);
  run_parts(threads, parts, [&](int part) {
    const auto [begin, end] = part_range(count, parts, part);
    for (std::size_t k = begin; k < end; ++k)
      set_up_point(q, search.points[k], search.surface[static_cast<std::size_t>(search.points[k].law)], search.first[k],
                   k, found);
  });
}

void BodyContacts::set_up_tree_rows(SystemWorkspace& workspace, ContactPoints& found) const {
  auto& search = static_cast<ContactSearch&>(*workspace.contacts);
  found.points.clear();
  Index rows = 0;
  for (const ContactPoint& point : search.points) rows += laws_[static_cast<std::size_t>(point.law)].size();
  if (found.Wt.rows() != rows || found.Wt.cols() != tree_->nv()) found.Wt.resize(rows, tree_->nv());
  found.Wt.setZero();
  found.Wt.reserve(rows * tree_->nv());
  found.w.resize(rows);
  Index row = 0;
  for (const ContactPoint& point : search.points) {
    found.points.push_back(site_of(point));
    const int size = laws_[static_cast<std::size_t>(point.law)].size();
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> frame(found.points.back().frame.data());
    for (int c = 0; c < size; ++c) {
      found.Wt.startVec(row + c);
      insert_tree_row(row + c, found.points.back().first, found.points.back().second, frame.row(c), point.position,
                      workspace, found.Wt);
      found.w[row + c] = frame.row(c).dot(search.surface[static_cast<std::size_t>(point.law)]);
    }
    found.w[row] = 0;  // a belt moves along its surface
    row += size;
  }
  found.Wt.finalize();
}

void BodyContacts::surface(double t, const Vector&, SystemWorkspace& workspace, const ContactPoints& found,
                           Vector& w) const {
  workspace.variables.set_time(t);
  w.setZero(found.w.size());
  Index row = 0;
  for (const ContactSite& point : found.points) {
    const Vector3d surface = surface_velocity(point.law, workspace);
    for (int c = 1; c < laws_[static_cast<std::size_t>(point.law)].size(); ++c)
      w[row + c] = Eigen::Map<const Vector3d>(point.frame.data() + 3 * c).dot(surface);
    row += laws_[static_cast<std::size_t>(point.law)].size();
  }
}

/// Schemes that need it do not take points that appear and vanish.
void BodyContacts::bias(double, const Vector&, const Vector&, double, SystemWorkspace&, Vector& bias) const {
  bias.resize(0);
}

/// The collision search takes lengths within a range (pose.hpp): what left it, by a force or a velocity out of
/// proportion, ends the run here.
void BodyContacts::require_place(Index k, const Vector3d& x, const Quaterniond& r, double margin) const {
  const bool turned = std::abs(r.squaredNorm() - 1) < 0.5;
  if (within_range(x) && turned && margin <= kLargestLength) return;
  const std::string& name = names_[static_cast<std::size_t>(k)];
  if (!within_range(x))
    throw InputError(
        fmt::format("body '{}' is at ({:g}, {:g}, {:g}) m; contacts are searched within {:g} m of the origin. Check "
                    "positions, forces, gravity and units",
                    name, x.x(), x.y(), x.z(), kLargestLength));
  if (!turned) throw InputError(fmt::format("body '{}' spins too fast: its orientation is lost", name));
  throw InputError(fmt::format(
      "bodies move {:g} m in one step; contacts are searched within {:g} m. Check velocities, forces and units", margin,
      kLargestLength));
}

/// Of the second body of a contact, at the time of the workspace.
Vector3d BodyContacts::surface_velocity(int law, const SystemWorkspace& workspace) const {
  Vector3d surface = Vector3d::Zero();
  const auto& moving = surface_velocity_[static_cast<std::size_t>(law)];
  for (std::size_t i = 0; i < moving.size(); ++i)
    surface[static_cast<Index>(i)] = moving[i](workspace.variables.span());
  return surface;
}

ContactSite BodyContacts::site_of(const ContactPoint& point) const {
  const Matrix3d frame = frame_of(point.normal);
  ContactSite contact;
  contact.law = point.law;
  contact.gap = point.gap;
  contact.key = key_of(point);
  contact.has_frame = true;
  contact.first = body_of_shape_[static_cast<std::size_t>(point.shape_a)];
  contact.second = body_of_shape_[static_cast<std::size_t>(point.shape_b)];
  for (int i = 0; i < 3; ++i) contact.position[static_cast<std::size_t>(i)] = point.position[i];
  for (int i = 0; i < 9; ++i) contact.frame[static_cast<std::size_t>(i)] = frame(i / 3, i % 3);
  return contact;
}

void BodyContacts::set_up_point(const Vector& q, const ContactPoint& point, const Vector3d& surface, RowPlace place,
                                std::size_t k, ContactPoints& found) const {
  found.points[k] = site_of(point);
  const int body_a = found.points[k].first, body_b = found.points[k].second;
  const Matrix3d frame = frame_of(point.normal);
  Matrix3d turn_a, turn_b;  // rows: moments of the directions in the body's axes
  if (body_a >= 0) turn_a = moments(q, body_a, point.position, frame);
  if (body_b >= 0) turn_b = moments(q, body_b, point.position, frame);
  int* column = found.Wt.innerIndexPtr() + place.entry;
  double* value = found.Wt.valuePtr() + place.entry;
  const int size = laws_[static_cast<std::size_t>(point.law)].size();
  for (int c = 0; c < size; ++c) {
    found.Wt.outerIndexPtr()[place.row + c] = static_cast<int>(column - found.Wt.innerIndexPtr());
    const auto insert = [&](int body, const Matrix3d& turn, double sign) {
      for (int i = 0; i < 6; ++i) {
        *column++ = 6 * body + i;
        *value++ = sign * (i < 3 ? frame(c, i) : turn(c, i - 3));
      }
    };
    const bool a_first = body_a < body_b;
    if (a_first && body_a >= 0) insert(body_a, turn_a, 1);
    if (body_b >= 0) insert(body_b, turn_b, -1);
    if (!a_first && body_a >= 0) insert(body_a, turn_a, 1);
    found.w[place.row + c] = c == 0 ? 0.0 : frame.row(c).dot(surface);  // a belt moves along its surface
  }
}

double BodyContacts::spin(const Vector& q, const Vector& v, const ContactSite& site) const {
  Vector3d turning = Vector3d::Zero();
  if (tree_) {
    TreeMotion<double>& motion = thread_scratch(*tree_).motion;
    place_links(*tree_, q.data(), motion);
    move_links(*tree_, v.data(), motion);
    for (const int body : {site.first, site.second})
      if (const int link = body < 0 ? -1 : tree_->bodies[static_cast<std::size_t>(body)].link; link >= 0)
        turning += 0.5 * motion.motion[static_cast<std::size_t>(link)].w;
  }
  for (const int body : {site.first, site.second})
    if (body >= 0 && !tree_) turning += 0.5 * (orientation_of(q, body) * Vector3d(v.segment<3>(6 * body + 3)));
  const Eigen::Map<const Vector3d> n(site.frame.data()), t2(site.frame.data() + 6);
  if (site.first < 0 || site.second < 0) return n.dot(turning);
  const Vector3d rate = turning.cross(n);
  // t1' of frame_of()
  const double sign = std::copysign(1.0, n.z()), a = -1.0 / (sign + n.z()), a_rate = rate.z() * a * a;
  const double b_rate = (rate.x() * n.y() + n.x() * rate.y()) * a + n.x() * n.y() * a_rate;
  const Vector3d t1_rate(sign * (2 * n.x() * rate.x() * a + n.x() * n.x() * a_rate), sign * b_rate, -sign * rate.x());
  return n.dot(turning) - t1_rate.dot(t2);
}

/// Velocities that move both bodies alike cancel: they are entries of 0 but for rounding, and are left out.
void BodyContacts::insert_tree_row(Index row, int body_a, int body_b, const Vector3d& direction, const Vector3d& P,
                                   SystemWorkspace& workspace, SparseMatrix& Wt) const {
  auto& search = static_cast<ContactSearch&>(*workspace.contacts);
  const auto path = [&](int body) -> const std::vector<Index>& {
    return velocities_above(paths_, body < 0 ? -1 : tree_->bodies[static_cast<std::size_t>(body)].link);
  };
  // Both ways up are ascending; what they share is above both.
  const std::vector<Index>&a = path(body_a), &b = path(body_b);
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool of_a = i < a.size() && (j == b.size() || a[i] <= b[j]);
    const bool of_b = j < b.size() && (i == a.size() || b[j] <= a[i]);
    const Index k = of_a ? a[i] : b[j];
    if (of_a != of_b)
      Wt.insertBack(row, k) = (of_a ? 1 : -1) * point_column(*tree_, search.motion, k, P).dot(direction);
    i += of_a;
    j += of_b;
  }
}

void BodyContacts::append_breakpoints(BreakpointSearch& search) const {
  for (const auto& moving : surface_velocity_)
    for (const StateFunction& w : moving) w.append_breakpoints(search);
}

void BodyContacts::append_time_functions(std::vector<const StateFunction*>& functions) const {
  for (const auto& moving : surface_velocity_)
    for (const StateFunction& w : moving) functions.push_back(&w);
}

}  // namespace stickslip
