// SPDX-License-Identifier: Apache-2.0
// Friction laws among the slots of compliant contacts; static coefficients and limits; where forces jump.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/compliant/compliant_contacts.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {

/// Smallest ρ with l ∈ ρ S.
double gauge(const FrictionSection& section, const PlaneForce& l) {
  if (section.round()) return std::hypot(l[0], l[1]);
  double largest = 0;
  for (int k = 0; k < section.facets(); ++k)
    largest = std::max(largest, section.row(k)[0] * l[0] + section.row(k)[1] * l[1]);
  return largest;
}

}  // namespace

CompliantContacts::Slot CompliantContacts::friction_slot(int law, Index first) const {
  Slot slot;
  slot.law = -1;
  slot.friction = law;
  slot.first = first;
  slot.tangents = friction_.size(law);
  return slot;
}

CompliantContacts::Rows CompliantContacts::rows_of(std::size_t s) const {
  const Slot& slot = slots_[s];
  if (slot.friction >= 0)
    return {&friction_.Wt(), &friction_w_, &friction_u_, friction_.first(slot.friction) - 1, 1};
  const int point = point_of_slot_[s];
  if (point < 0) return {};
  return {&found_.Wt, &found_.w, &u_, row_of_point_[static_cast<std::size_t>(point)], 0};
}

std::string CompliantContacts::name_of(const Slot& slot) const {
  return slot.friction >= 0 ? "friction '" + friction_.element(slot.friction).name + "'"
                            : "contact '" + law_of(slot).name + "'";
}

std::size_t CompliantContacts::mode_index(const Slot& slot) const {
  return static_cast<std::size_t>(slot.friction >= 0 ? slot.friction : friction_.laws() + slot.law);
}

Index CompliantContacts::component_of(const Slot& slot, int c) const {
  return slot.friction >= 0 ? friction_.first(slot.friction) + c - 1 : component_[static_cast<std::size_t>(slot.law)] + c;
}

double CompliantContacts::coefficient(const Slot& slot) const {
  const double held = held_coefficient_[static_cast<std::size_t>(slot.law)];
  return slot.held && held >= 0 ? held : law_of(slot).mu;
}

double CompliantContacts::limit_of(const Slot& slot, const FrictionAssembly& friction) const {
  return slot.held ? friction.static_limit(slot.friction) : friction.limit(slot.friction);
}

void CompliantContacts::smooth_force(const FrictionAssembly& friction, const Vector& u, Vector& force) const {
  if (!has_smooth_part()) return;
  friction.weakening_force(u, 1.0, force);
  for (Index k = 0; k < friction.laws(); ++k)
    for (Index i = friction.first(k); i < friction.first(k) + friction.size(k); ++i)
      force[i] -= friction.viscous(k) * u[i];
}

void CompliantContacts::subtract_viscous(const Vector& v, Vector& g) const {
  for (Index k = 0; friction_.has_viscous() && k < friction_.laws(); ++k)
    for (Index i = friction_.first(k); i < friction_.first(k) + friction_.size(k); ++i) {
      const double force = friction_.viscous(k) * row_times(friction_.Wt(), i, v);
      for (SparseMatrix::InnerIterator entry(friction_.Wt(), i); entry; ++entry) g[entry.col()] -= force * entry.value();
    }
}

void CompliantContacts::place_friction(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace) {
  if (friction_.laws() == 0) return;
  friction_.evaluate_limits(t, q, v, workspace);
  friction_.evaluate_surface(t, q, v, workspace, friction_w_);
  friction_.relative_velocity(v, friction_w_, friction_u_);
  smooth_force(friction_, friction_u_, smooth_);
}

void CompliantContacts::hold_all() {
  for (Slot& slot : slots_) slot.held = has_static_;
}

bool CompliantContacts::sticks(std::size_t s) const {
  return pieces_[s].closed && !pieces_[s].pulls && pieces_[s].tangential.kind == SectionPiece::Kind::inside;
}

bool CompliantContacts::hold_or_release() {
  bool released = false;
  for (std::size_t s = 0; has_static_ && s < slots_.size(); ++s) {
    released |= slots_[s].held && !sticks(s);
    slots_[s].held = sticks(s);
  }
  return released;
}

void CompliantContacts::swap_holds(const std::vector<Slot>& from) {
  for (std::size_t s = 0; s < slots_.size() && s < from.size(); ++s) slots_[s].held = from[s].held;
}

std::vector<std::size_t> CompliantContacts::closed_since(const std::vector<ContactPieces>& before) const {
  std::vector<std::size_t> closed;
  for (std::size_t s = 0; s < slots_.size() && s < before.size(); ++s)
    if (slots_[s].law >= 0 && !before[s].closed && pieces_[s].closed) closed.push_back(s);
  return closed;
}

bool CompliantContacts::jumps_since(const std::vector<ContactPieces>& before, double part) const {
  const double size = part * force_size();
  for (const std::size_t s : closed_since(before)) {
    const double c = compliance_[static_cast<std::size_t>(slots_[s].law)].normal_damping;
    const Rows rows = rows_of(s);
    if (c > 0 && rows.Wt && -c * (*rows.u)[rows.first] > size) return true;
  }
  for (std::size_t s = 0; has_static_ && s < slots_.size() && s < before.size(); ++s)
    if (slots_[s].held && !(before[s] == pieces_[s])) return true;
  return false;
}

bool CompliantContacts::dampers_change_since(const std::vector<ContactPieces>& before, double part) const {
  const double size = part * force_size();
  for (std::size_t s = 0; s < slots_.size() && s < before.size(); ++s) {
    if (slots_[s].law < 0 || (before[s].closed == pieces_[s].closed && before[s].pulls == pieces_[s].pulls)) continue;
    const double c = compliance_[static_cast<std::size_t>(slots_[s].law)].normal_damping;
    const Rows rows = rows_of(s);
    if (c > 0 && rows.Wt && c * std::abs((*rows.u)[rows.first]) > size) return true;
  }
  return false;
}

bool CompliantContacts::has_facets() const {
  const auto polygonal = [](const FrictionSection& section) { return !section.round(); };
  return std::any_of(sections_.begin(), sections_.end(), polygonal) ||
         std::any_of(friction_sections_.begin(), friction_sections_.end(), polygonal);
}

double CompliantContacts::jump_function(std::size_t slot) const {
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      if (group->slots[k] != static_cast<int>(slot)) continue;
      const CompliantProblem& p = group->problem;
      const CompliantPoint& point = p.points[k];
      if (!slots_[slot].held) return elastic_normal_if_closed(p, group->solution, k);
      const Vector trial = group->solution.tangential - p.C * group->solution.slip;
      const double rho = point.mu * group->solution.normal[static_cast<Index>(k)];
      return point.tangents == 1 ? std::abs(trial[point.first]) - rho
                                 : gauge(point.section, {trial[point.first], trial[point.first + 1]}) - rho;
    }
  return 0;
}

}  // namespace stickslip
