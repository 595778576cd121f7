// SPDX-License-Identifier: Apache-2.0
// Which deformation belongs to which contact point, as points come and go.
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stickslip/motion/compliant/compliant_contacts.hpp"

namespace stickslip {

namespace {

constexpr double kStrained = 1e-12;  // elastic energy of a slot out of sight, of all contacts', that is worth following

using Vector3 = Eigen::Vector3d;

Vector3 in_world(const std::array<double, 9>& frame, const Vector& delta, Index first, int tangents) {
  Vector3 world = Vector3::Zero();
  for (int c = 0; c < tangents; ++c) world += delta[first + c] * Eigen::Map<const Vector3>(frame.data() + 3 * (c + 1));
  return world;
}

/// Field by field: between fields there are bytes that nobody has set. Throws where there are none left to read.
void exchange(Memory& memory, CompliantContacts::Slot& slot) {
  memory.exchange(slot.law);
  memory.exchange(slot.friction);
  memory.exchange(slot.held);
  memory.exchange(slot.share);
  memory.exchange(slot.key);
  memory.exchange(slot.first_body);
  memory.exchange(slot.second_body);
  memory.exchange(slot.first);
  memory.exchange(slot.tangents);
  memory.exchange(slot.position);
  memory.exchange(slot.frame);
}

double distance2(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

double CompliantContacts::collect(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                                  RowWeight weight, DenseMatrix& deformation) {
  margin_ = points_stay_ ? HUGE_VAL : margin;
  system_.laws().contact_source().find(t, q, margin_, workspace, found_);
  if (points_stay_) {
    if (slots_.empty()) {
      Index first = 0;
      for (int k = 0; k < static_cast<int>(friction_.laws()); ++k) {
        slots_.push_back(friction_slot(k, first));
        first += slots_.back().tangents;
      }
      for (std::size_t k = 0; k < laws_->size(); ++k) {
        Slot slot;
        slot.law = static_cast<int>(k);
        slot.key = k;
        slot.first = first;
        slot.tangents = (*laws_)[k].tangents;
        first += slot.tangents;
        slots_.push_back(slot);
      }
      tangents_ = first;
      make_groups();
    }
    if (deformation.rows() != tangents_) deformation.setZero(tangents_, std::max<Index>(1, deformation.cols()));
    return 0;
  }
  match(found_, slot_of_point_, point_of_slot_, row_of_point_);
  std::vector<Slot> next;
  if (deformation.cols() == 0) deformation.setZero(deformation.rows(), 1);
  const Index columns = deformation.cols();
  DenseMatrix moved(0, columns);
  const auto carry = [&](const Slot& from, Slot to) {
    to.first = moved.rows();
    to.held = from.held;
    to.share = from.share;
    moved.conservativeResize(to.first + to.tangents, Eigen::NoChange);
    // The numbers of a point that was followed are those of its frame as it is now.
    if (from.key == to.key) moved.bottomRows(to.tangents) = deformation.middleRows(from.first, from.tangents);
    for (Index k = 0; k < columns && from.key != to.key; ++k) {
      const Vector3 world = in_world(from.frame, deformation.col(k), from.first, from.tangents);
      for (int c = 0; c < to.tangents; ++c)
        moved(to.first + c, k) = Eigen::Map<const Vector3>(to.frame.data() + 3 * (c + 1)).dot(world);
    }
    next.push_back(to);
  };
  if (slots_.empty()) {  // the first time: friction laws are there from the start
    Index first = 0;
    for (int k = 0; k < static_cast<int>(friction_.laws()); ++k) {
      slots_.push_back(friction_slot(k, first));
      first += slots_.back().tangents;
    }
    if (deformation.rows() < first) deformation.setZero(first, columns);
    point_of_slot_.assign(slots_.size(), -1);
  }
  for (std::size_t s = 0; s < slots_.size() && slots_[s].friction >= 0; ++s) carry(slots_[s], slots_[s]);
  for (std::size_t i = 0; i < found_.points.size(); ++i) {
    const ContactSite& site = found_.points[i];
    Slot slot;
    slot.law = site.law;
    slot.key = site.key;
    slot.first_body = site.first;
    slot.second_body = site.second;
    slot.tangents = (*laws_)[static_cast<std::size_t>(site.law)].tangents;
    slot.position = site.position;
    slot.frame = site.frame;
    const int old = i < slot_of_point_.size() ? slot_of_point_[i] : -1;
    if (old >= 0) {
      carry(slots_[static_cast<std::size_t>(old)], slot);
    } else {
      slot.first = moved.rows();
      const auto same_pair = [&](const Slot& other) {
        return other.law == slot.law && other.first_body == slot.first_body && other.second_body == slot.second_body;
      };
      const Slot* known = nullptr;
      for (const std::vector<Slot>* list : {&slots_, &next})
        if (const auto at = std::find_if(list->begin(), list->end(), same_pair); !known && at != list->end())
          known = &*at;
      slot.share = known ? known->share : share_of(slot, weight(found_.Wt, row_of_point_[i]));
      moved.conservativeResize(slot.first + slot.tangents, Eigen::NoChange);
      moved.bottomRows(slot.tangents).setZero();
      next.push_back(slot);
    }
  }
  double total = energy(), given_up = 0;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].friction >= 0 || (s < point_of_slot_.size() && point_of_slot_[s] >= 0)) continue;
    const ContactCompliance& c = compliance_[static_cast<std::size_t>(slots_[s].law)];
    DenseMatrix K;
    c.stiffness.evaluate(workspace.variables.span(), K);
    const auto delta = deformation.col(0).segment(slots_[s].first, slots_[s].tangents);
    const double left =
        0.5 * slots_[s].share * delta.dot(K.bottomRightCorner(slots_[s].tangents, slots_[s].tangents) * delta);
    if (left > kStrained * total) {
      carry(slots_[s], slots_[s]);
    } else {
      given_up += left;
    }
  }
  slots_ = std::move(next);
  deformation = std::move(moved);
  tangents_ = deformation.rows();
  make_groups();
  return given_up;
}

/// By key; then, for points that press and slots that lost theirs, the nearest between the same bodies. False: a point
/// that presses is left over.
bool CompliantContacts::match(const ContactPoints& found, std::vector<int>& slot_of_point,
                              std::vector<int>& point_of_slot, std::vector<Index>& row_of_point) const {
  const std::size_t n = found.points.size();
  slot_of_point.assign(n, -1);
  row_of_point.resize(n);
  Index row = 0;
  for (std::size_t i = 0; i < n; ++i) {
    row_of_point[i] = row;
    row += (*laws_)[static_cast<std::size_t>(found.points[i].law)].size();
  }
  point_of_slot.assign(slots_.size(), -1);
  const auto join = [&](std::size_t point, std::size_t slot) {
    slot_of_point[point] = static_cast<int>(slot);
    point_of_slot[slot] = static_cast<int>(point);
  };
  if (points_stay_) {
    const auto before = static_cast<std::size_t>(friction_.laws());
    for (std::size_t i = 0; i < n; ++i) join(i, before + static_cast<std::size_t>(found.points[i].law));
    return before + n == slots_.size();
  }
  const auto same_pair = [&](const Slot& slot, const ContactSite& site) {
    return slot.law == site.law && slot.first_body == site.first && slot.second_body == site.second;
  };
  std::size_t hint = 0;  // points and slots come in nearly the same order
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < slots_.size(); ++j) {
      const std::size_t s = (hint + j) % slots_.size();
      if (slots_[s].key != found.points[i].key || point_of_slot[s] >= 0 || !same_pair(slots_[s], found.points[i]))
        continue;
      join(i, s);
      hint = s + 1;
      break;
    }
  bool complete = true;
  for (std::size_t i = 0; i < n; ++i) {
    if (slot_of_point[i] >= 0 || found.points[i].gap >= 0) continue;
    std::size_t nearest = slots_.size();
    for (std::size_t s = 0; s < slots_.size(); ++s)
      if (point_of_slot[s] < 0 && same_pair(slots_[s], found.points[i]) &&
          (nearest == slots_.size() || distance2(slots_[s].position, found.points[i].position) <
                                           distance2(slots_[nearest].position, found.points[i].position)))
        nearest = s;
    if (nearest < slots_.size()) {
      join(i, nearest);
    } else {
      complete = false;
    }
  }
  return complete;
}

void CompliantContacts::follow(const CompliantContacts& other) {
  slots_ = other.slots_;
  tangents_ = other.tangents_;
  margin_ = other.margin_;
  make_groups();
}

void CompliantContacts::follow(const std::vector<Slot>& slots) {
  slots_ = slots;
  tangents_ = 0;
  for (const Slot& slot : slots_) tangents_ = std::max(tangents_, slot.first + slot.tangents);
  make_groups();
}

void CompliantContacts::exchange(Memory& memory) {
  memory.exchange(margin_);
  auto count = static_cast<std::uint64_t>(slots_.size());
  memory.exchange(count);
  if (memory.reading()) slots_.clear();
  for (std::uint64_t k = 0; k < count; ++k) {
    if (memory.reading()) slots_.emplace_back();
    stickslip::exchange(memory, slots_[k]);
  }
  if (memory.reading()) follow(std::vector<Slot>(slots_));
}

}  // namespace stickslip
