// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/compliant_contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {

/// Damping ratio ζ of a contact that is left, where its force falls to 0, with e of the speed it was met with:
/// e = exp(-2 ζ arccos ζ/√(1 - ζ²)), e(1) = exp(-2), and arcosh beyond.
double normal_damping_ratio(double restitution) {
  constexpr double kLeast = 0.05;  // e = 0 asks for infinite damping; less than that is taken as that
  const double e = std::max(restitution, kLeast);
  const auto rebound = [](double zeta) {
    if (zeta == 1) return std::exp(-2.0);
    const double part =
        zeta < 1 ? std::acos(zeta) / std::sqrt(1 - zeta * zeta) : std::acosh(zeta) / std::sqrt(zeta * zeta - 1);
    return std::exp(-2 * zeta * part);
  };
  double low = 0, high = 10;
  for (int round = 0; round < 60; ++round) {
    const double middle = 0.5 * (low + high);
    (rebound(middle) > e ? low : high) = middle;
  }
  return high;
}

/// Of planar friction; of one component nobody asks for it.
FrictionSection section_of(const FrictionElement& element) {
  if (element.size() == 2 && element.planar_set == SetKind::box) return FrictionSection::box();
  if (element.size() == 2 && element.planar_set == SetKind::polygon)
    return FrictionSection::regular(element.facets, false, std::numbers::pi / element.facets);
  return {};
}

StateFunction constant(double value) { return StateFunction(value); }

FunctionMatrix isotropic(int size, double value) {
  FunctionMatrix matrix;
  for (int i = 0; i < size; ++i) {
    matrix.entries.emplace_back();
    for (int j = 0; j < size; ++j) matrix.entries.back().push_back(constant(i == j ? value : 0.0));
  }
  return matrix;
}

}  // namespace

CompliantContacts::CompliantContacts(const System& system)
    : system_(system),
      laws_(&system.laws().contacts()),
      friction_(system),
      near_friction_(system),
      points_stay_(system.laws().contact_source().points_stay()) {
  coupled_ = system.laws().compliance() != nullptr;
  components_ = friction_.components();
  for (Vector* x : {&friction_u_, &friction_w_, &smooth_, &near_w_, &near_u_, &near_smooth_}) x->setZero(components_);
  for (Index k = 0; k < friction_.laws(); ++k) {
    const FrictionElement& element = friction_.element(k);
    friction_sections_.push_back(section_of(element));
    friction_compliance_.emplace_back(1.0, 1.0);
    has_static_ |= element.static_limit.has_value();
  }
  for (const ContactElement& law : *laws_) {
    component_.push_back(components_);
    components_ += law.size();
    held_coefficient_.push_back(law.mu_static && *law.mu_static > law.mu ? *law.mu_static : -1);
    has_static_ |= held_coefficient_.back() >= 0;
    compliance_.push_back(law.compliance ? *law.compliance : ContactCompliance{});
    sections_.push_back(law.section());
    open_.push_back(!law.compliance && !coupled_);
    defaults_ |= open_.back() != 0;
  }
  if (coupled_)
    constant_stiffness_ =
        system.laws().compliance()->stiffness.is_constant() && system.laws().compliance()->damping.is_constant();
  for (const ContactCompliance& compliance : compliance_)
    constant_stiffness_ &= compliance.stiffness.is_constant() && compliance.damping.is_constant();
}

void CompliantContacts::complete(const Vector& weights, double epsilon) {
  const auto mass = [&](Index law) { return weights[law] > 0 ? 1 / weights[law] : 1.0; };
  for (Index k = 0; k < friction_.laws(); ++k) {
    const double stiffness = friction_.element(k).stiffness;
    friction_compliance_[static_cast<std::size_t>(k)] =
        stiffness > 0 ? std::pair(stiffness, stiffness * relaxation_of_spring(stiffness, mass(k), epsilon))
                      : std::pair(mass(k) / epsilon, 2 * mass(k) / std::sqrt(epsilon));
  }
  open_weight_.assign(laws_->size(), 1.0);
  for (std::size_t k = 0; k < laws_->size(); ++k) {
    if (!open_[k]) continue;
    const double m = mass(friction_.laws() + static_cast<Index>(k));
    open_weight_[k] = 1 / m;
    const ContactElement& law = (*laws_)[k];
    compliance_[k].stiffness = isotropic(1 + law.tangents, m / epsilon);
    compliance_[k].damping = isotropic(law.tangents, 2 * m / std::sqrt(epsilon));
    compliance_[k].normal_damping =
        law.restitution < 1 ? 2 * normal_damping_ratio(law.restitution) * m / std::sqrt(epsilon) : 0;
  }
}

bool CompliantContacts::forces_jump() const {
  return has_static_ || std::any_of(compliance_.begin(), compliance_.end(),
                                    [](const ContactCompliance& compliance) { return compliance.normal_damping > 0; });
}

/// Powers of 4, rounded down: a small change of the model does not change it, and like bodies have like contacts,
/// wherever they touch.
double CompliantContacts::share_of(const Slot& slot, double weight) const {
  constexpr double kFactor = 4;
  const auto law = static_cast<std::size_t>(slot.law);
  if (!open_[law] || !(weight > 0) || law >= open_weight_.size()) return 1;
  const double ratio = open_weight_[law] / weight;
  return ratio < kFactor ? 1.0 : std::pow(kFactor, std::floor(std::log(ratio) / std::log(kFactor)));
}

double CompliantContacts::weight_of(std::size_t slot, const Vector& weights) const {
  return weights[static_cast<Index>(mode_index(slots_[slot]))] / slots_[slot].share;
}

double CompliantContacts::normal_damping_of(const Slot& slot) const {
  return slot.share * compliance_[static_cast<std::size_t>(slot.law)].normal_damping;
}

CompliantContacts::Group& CompliantContacts::new_group() {
  if (used_groups_ == groups_.size()) groups_.push_back(std::make_unique<Group>());
  Group& group = *groups_[used_groups_++];
  group.slots.clear();
  group.problem.points.clear();
  return group;
}

void CompliantContacts::add_to_group(std::size_t s, Group& group) const {
  const Slot& slot = slots_[s];
  CompliantPoint point;
  point.tangents = slot.tangents;
  for (const CompliantPoint& other : group.problem.points) point.first += other.tangents;
  if (slot.friction >= 0) {
    point.mu = 1;
    point.section = friction_sections_[static_cast<std::size_t>(slot.friction)];
    point.own_normal = true;
  } else {
    const auto law = static_cast<std::size_t>(slot.law);
    point.mu = coefficient(slot);
    point.section = sections_[law];
    point.normal_damping = normal_damping_of(slot);
    point.own_normal = compliance_[law].normal_force.has_value();
  }
  group.slots.push_back(static_cast<int>(s));
  group.problem.points.push_back(std::move(point));
}

void CompliantContacts::make_groups() {
  used_groups_ = 0;
  Group* all = nullptr;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].friction >= 0 || !coupled_) {
      add_to_group(s, new_group());
    } else {
      if (!all) all = &new_group();
      add_to_group(s, *all);
    }
  }
  groups_.resize(used_groups_);
  places_.resize(slots_.size());
  for (const auto& group : groups_) {
    CompliantProblem& p = group->problem;
    p.keep_pieces = false;
    for (std::size_t k = 0; k < group->slots.size(); ++k)
      places_[static_cast<std::size_t>(group->slots[k])] = {group.get(), k};
    const auto N = static_cast<Index>(p.points.size());
    const Index T = N > 0 ? p.points.back().first + p.points.back().tangents : 0;
    for (Vector* x : {&p.gap, &p.normal_velocity}) x->setZero(N);
    for (Vector* x : {&p.deformation, &p.velocity}) x->setZero(T);
    group->workspace.damping_version = ~0ul;
    group->workspace.closed.clear();
    p.damping_version = 0;
    p.K.resize(0, 0);
  }
  pieces_.assign(slots_.size(), {});
  spin_.setZero(slot_count());
}

bool CompliantContacts::kept_closed(std::size_t slot) const {
  const auto [group, k] = places_[slot];
  return group->problem.keep_pieces && group->solution.pieces[k].closed;
}

void CompliantContacts::normal_law(const Slot& slot, double gap, bool kept, CompliantPoint& point) const {
  const auto& phi = compliance_[static_cast<std::size_t>(slot.law)].normal_force;
  if (!phi) return;
  const bool beyond = kept && gap > 0;
  const NormalForce at = normal_force(*phi, beyond ? gap : std::max(0.0, -gap));
  point.own_force = beyond ? -at.force : at.force;
  point.own_slope = at.slope;
  point.own_energy = at.energy;
}

void CompliantContacts::read_matrices(const Slot& slot, std::span<const double> variables, DenseMatrix& K,
                                      DenseMatrix& C) const {
  if (slot.friction >= 0) {
    const auto [stiffness, damping] = friction_compliance_[static_cast<std::size_t>(slot.friction)];
    K.setZero(1 + slot.tangents, 1 + slot.tangents);
    K.diagonal().setConstant(stiffness);
    C.setZero(slot.tangents, slot.tangents);
    C.diagonal().setConstant(damping);
    return;
  }
  const ContactCompliance& own = compliance_[static_cast<std::size_t>(slot.law)];
  (coupled_ ? system_.laws().compliance()->stiffness : own.stiffness).evaluate(variables, K);
  (coupled_ ? system_.laws().compliance()->damping : own.damping).evaluate(variables, C);
  if (slot.share != 1) {
    K *= slot.share;
    C *= slot.share;
  }
  if (!own.normal_force || coupled_) return;
  K.row(0).setZero();  // the normal has a law of its own; any number of the size of the others
  K.col(0).setZero();
  K(0, 0) = slot.tangents > 0 ? K.diagonal().maxCoeff() : 1.0;
}

void CompliantContacts::evaluate_matrices(Group& group, SystemWorkspace& workspace) {
  CompliantProblem& p = group.problem;
  const Slot& slot = slots_[static_cast<std::size_t>(group.slots.front())];
  if (p.K.size() > 0 && (constant_stiffness_ || slot.friction >= 0)) return;
  read_matrices(slot, workspace.variables.span(), p.K, p.C);
  ++p.damping_version;
  validate(p, coupled_ && slot.friction < 0 ? "compliance" : fmt::format("{}: compliance", name_of(slot)).c_str());
}

void CompliantContacts::gather(const Vector& v, const Vector& deformation) {
  u_.resize(found_.w.size());
  for (Index row = 0; row < u_.size(); ++row) u_[row] = row_times(found_.Wt, row, v) - found_.w[row];
  for (const auto& group : groups_) {
    CompliantProblem& p = group->problem;
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const auto s = static_cast<std::size_t>(group->slots[k]);
      const Slot& slot = slots_[s];
      CompliantPoint& point = p.points[k];
      const auto i = static_cast<Index>(k);
      if (slot.tangents > 0)
        p.deformation.segment(point.first, slot.tangents) = deformation.segment(slot.first, slot.tangents);
      const Rows rows = rows_of(s);
      p.gap[i] = gap(s);
      p.normal_velocity[i] = rows.Wt && rows.begin == 0 ? (*rows.u)[rows.first] : 0.0;
      if (slot.tangents > 0) {
        if (rows.Wt) {
          p.velocity.segment(point.first, slot.tangents) = rows.u->segment(rows.first + 1, slot.tangents);
        } else {
          p.velocity.segment(point.first, slot.tangents).setZero();
        }
      }
      if (slot.friction >= 0) {
        point.own_force = limit_of(slot, friction_);
      } else {
        point.mu = coefficient(slot);
        if (point.own_normal) normal_law(slot, p.gap[i], kept_closed(s), point);
        if (s < mean_slopes_.size() && mean_slopes_[s] && p.gap[i] != 0) point.own_slope = -point.own_force / p.gap[i];
      }
    }
  }
}

bool CompliantContacts::place(double t, const Vector& q, const Vector& v, const Vector& deformation,
                              SystemWorkspace& workspace) {
  system_.laws().contact_source().find(t, q, margin_, workspace, found_);
  if (!match(found_, slot_of_point_, point_of_slot_, row_of_point_)) return false;
  place_friction(t, q, v, workspace);
  gather(v, deformation);
  workspace.variables.set(t, q, v);
  for (const auto& group : groups_) {
    evaluate_matrices(*group, workspace);
    solve(group->problem, group->workspace, group->solution);
    if (group->solution.status != Status::success) return false;
    for (std::size_t k = 0; k < group->slots.size(); ++k)
      pieces_[static_cast<std::size_t>(group->slots[k])] = group->solution.pieces[k];
  }
  if (turns()) {
    for (std::size_t s = 0; s < slots_.size(); ++s)
      spin_[static_cast<Index>(s)] =
          point_of_slot_[s] < 0 || slots_[s].tangents < 2
              ? 0.0
              : system_.laws().contact_source().spin(q, v, found_.points[static_cast<std::size_t>(point_of_slot_[s])]);
  }
  return true;
}

void CompliantContacts::forces(Vector& normal, Vector& tangential) const {
  normal.resize(slot_count());
  tangential.resize(tangents_);
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const Slot& slot = slots_[static_cast<std::size_t>(group->slots[k])];
      normal[group->slots[k]] = group->solution.normal[static_cast<Index>(k)];
      if (slot.tangents > 0)
        tangential.segment(slot.first, slot.tangents) =
            group->solution.tangential.segment(group->problem.points[k].first, slot.tangents);
    }
}

void CompliantContacts::add_forces(const Vector& normal, const Vector& tangential, Vector& g) const {
  for_each_row([&](std::size_t s, int c, const SparseMatrix& Wt, Index row) {
    const double force = c == 0 ? normal[static_cast<Index>(s)] : tangential[slots_[s].first + c - 1];
    if (force == 0) return;
    for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry) g[entry.col()] += entry.value() * force;
  });
}

void CompliantContacts::add_forces(Vector& g) const {
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const auto s = static_cast<std::size_t>(group->slots[k]);
      const double normal = group->solution.normal[static_cast<Index>(k)];
      const Rows rows = rows_of(s);
      if (!rows.Wt || normal == 0) continue;
      for (int c = rows.begin; c <= slots_[s].tangents; ++c) {
        const double force = c == 0 ? normal : group->solution.tangential[group->problem.points[k].first + c - 1];
        for (SparseMatrix::InnerIterator entry(*rows.Wt, rows.first + c); entry; ++entry)
          g[entry.col()] += entry.value() * force;
      }
    }
  if (has_smooth_part()) friction_.add_reactions(1.0, smooth_, g);
}

void CompliantContacts::rates(Vector& rate) const {
  rate.resize(tangents_);
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const auto s = static_cast<std::size_t>(group->slots[k]);
      const Slot& slot = slots_[s];
      const Index from = group->problem.points[k].first;
      if (slot.tangents == 0) continue;
      rate.segment(slot.first, slot.tangents) = group->solution.rate.segment(from, slot.tangents);
      if (const double spin = spin_[static_cast<Index>(s)]; spin != 0) {
        rate[slot.first] -= spin * group->problem.deformation[from + 1];
        rate[slot.first + 1] += spin * group->problem.deformation[from];
      }
    }
}

}  // namespace stickslip
