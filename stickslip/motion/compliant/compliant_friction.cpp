// SPDX-License-Identifier: Apache-2.0
// Friction laws among the slots of compliant contacts; static coefficients and limits.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/compliant/compliant_contacts.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

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
  if (slot.friction >= 0) return {&friction_.Wt(), &friction_w_, &friction_u_, friction_.first(slot.friction) - 1, 1};
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
  return slot.friction >= 0 ? friction_.first(slot.friction) + c - 1
                            : component_[static_cast<std::size_t>(slot.law)] + c;
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
      for (SparseMatrix::InnerIterator entry(friction_.Wt(), i); entry; ++entry)
        g[entry.col()] -= force * entry.value();
    }
}

void CompliantContacts::place_friction(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace) {
  if (friction_.laws() == 0) return;
  friction_.evaluate_limits(t, q, v, workspace);
  friction_.evaluate_surface(t, q, v, workspace, friction_w_);
  friction_.relative_velocity(v, friction_w_, friction_u_);
  smooth_force(friction_, friction_u_, smooth_);
}

void CompliantContacts::hold_all(const std::vector<Mode>& modes) {
  for (Slot& slot : slots_) {
    const std::size_t law = mode_index(slot);
    slot.held = has_static_ && (law >= modes.size() || modes[law] == Mode::stick);
  }
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

bool CompliantContacts::has_facets() const {
  const auto polygonal = [](const FrictionSection& section) { return !section.round(); };
  return std::any_of(sections_.begin(), sections_.end(), polygonal) ||
         std::any_of(friction_sections_.begin(), friction_sections_.end(), polygonal);
}

}  // namespace stickslip
