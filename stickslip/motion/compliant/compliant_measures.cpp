// SPDX-License-Identifier: Apache-2.0
// What compliant contacts do at the placed state: energies, powers, residuals of the laws, modes, forces on bodies.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/compliant/compliant_contacts.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

double CompliantContacts::energy() const {
  double sum = 0;
  for (const auto& group : groups_) sum += group->solution.energy;
  return sum;
}

double CompliantContacts::energy_of(std::size_t slot) const { return places_[slot].group->solution.energy; }

double CompliantContacts::deepest() const {
  double deepest = 0;
  for (const ContactSite& site : found_.points) deepest = std::max(deepest, -site.gap);
  return deepest;
}

double CompliantContacts::blow() const {
  double largest = 0;
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k)
      largest = std::max(largest, std::abs(group->problem.normal_velocity[static_cast<Index>(k)]) *
                                      std::sqrt(stiffness_of(static_cast<std::size_t>(group->slots[k]))));
  return largest;
}

CompliantContacts::Powers CompliantContacts::powers() const {
  Powers sum;
  for (const auto& group : groups_) {
    const CompliantSolution& s = group->solution;
    sum.dampers += s.rate.dot(group->problem.C * s.rate);
    sum.friction -= s.tangential.dot(s.slip);
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const auto i = static_cast<Index>(k);
      const auto slot = static_cast<std::size_t>(group->slots[k]);
      const Index first = group->problem.points[k].first;
      sum.dampers -= (s.normal[i] - s.elastic_normal[i]) * group->problem.normal_velocity[i];
      const Rows rows = rows_of(slot);
      if (!rows.Wt) continue;
      if (rows.begin == 0) sum.surfaces += s.normal[i] * (*rows.w)[rows.first];
      for (int c = 0; c < slots_[slot].tangents; ++c)
        sum.surfaces += s.tangential[first + c] * (*rows.w)[rows.first + 1 + c];
      if (const double spin = spin_[group->slots[k]]; spin != 0)
        sum.surfaces += spin * (s.elastic[first + 1] * group->problem.deformation[first] -
                                s.elastic[first] * group->problem.deformation[first + 1]);
    }
  }
  if (has_smooth_part()) {
    sum.friction -= smooth_.dot(friction_u_);
    sum.surfaces += smooth_.dot(friction_w_);
  }
  return sum;
}

CompliantContacts::Residuals CompliantContacts::residuals() const {
  Residuals worst;
  const double largest = force_size();
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const CompliantPoint& point = group->problem.points[k];
      const CompliantSolution& s = group->solution;
      const double normal = s.normal[static_cast<Index>(k)], rho = point.mu * normal;
      double outside = std::max(0.0, -normal), off = 0, terms = largest;
      if (point.tangents == 1) {
        const double l = s.tangential[point.first], c = group->problem.C(point.first, point.first);
        const double step = c * s.slip[point.first];
        double nearest = 0;
        project_on_interval(rho, l - step, nearest);
        outside = std::max(outside, std::abs(l) - rho);
        off = std::abs(l - nearest);
        terms = std::max(terms, std::abs(step));
      } else if (point.tangents == 2) {
        const Index f = point.first;
        const double c = 0.5 * (group->problem.C(f, f) + group->problem.C(f + 1, f + 1));
        const PlaneForce l{s.tangential[f], s.tangential[f + 1]};
        PlaneForce nearest{};
        point.section.project(rho, {}, {l[0] - c * s.slip[f], l[1] - c * s.slip[f + 1]}, nearest);
        outside = std::max(outside, point.section.excess(rho, l));
        off = std::hypot(l[0] - nearest[0], l[1] - nearest[1]);
        terms = std::max(terms, c * std::hypot(s.slip[f], s.slip[f + 1]));
      }
      if (outside > 0) raise(worst.membership, outside / largest);
      if (off > 0) raise(worst.inclusion, off / terms);
    }
  return worst;
}

void CompliantContacts::law_sums(Vector& components, Vector& smooth, Vector& power) const {
  components.setZero();
  power.setZero();
  smooth = smooth_;
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const Slot& slot = slots_[static_cast<std::size_t>(group->slots[k])];
      const Rows rows = rows_of(static_cast<std::size_t>(group->slots[k]));
      if (!rows.Wt) continue;
      for (int c = rows.begin; c <= slot.tangents; ++c) {
        const double force = c == 0 ? group->solution.normal[static_cast<Index>(k)]
                                    : group->solution.tangential[group->problem.points[k].first + c - 1];
        const double all = slot.friction >= 0 ? force + smooth_[component_of(slot, c)] : force;
        components[component_of(slot, c)] += force;
        power[static_cast<Index>(mode_index(slot))] += all * ((*rows.u)[rows.first + c] + (*rows.w)[rows.first + c]);
      }
    }
}

/// Of all points of the law: one that slips is what a person looks for, then one that holds.
const CompliantContacts::Slot* CompliantContacts::deciding(std::size_t law) const {
  const Slot* found = nullptr;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (mode_index(slots_[s]) != law || !pieces_[s].closed || pieces_[s].pulls) continue;
    if (slots_[s].tangents == 0 || pieces_[s].tangential.kind != SectionPiece::Kind::inside) return &slots_[s];
    found = &slots_[s];
  }
  return found;
}

Mode CompliantContacts::mode(std::size_t law) const {
  const Slot* slot = deciding(law);
  const bool friction = law < static_cast<std::size_t>(friction_.laws());
  if (!slot && friction) return friction_.mode(static_cast<Index>(law), friction_u_);  // a limit of 0
  if (!slot) return Mode::open;
  if (slot->tangents == 0) return Mode::closed;
  const SectionPiece& piece = pieces_[static_cast<std::size_t>(slot - slots_.data())].tangential;
  if (piece.kind == SectionPiece::Kind::inside) return Mode::stick;
  return slot->tangents == 2 ? Mode::slip : piece.index == 0 ? Mode::slip_minus : Mode::slip_plus;
}

ActiveFacets CompliantContacts::facets(std::size_t law) const {
  const Slot* slot = deciding(law);
  if (!slot || slot->tangents < 2) return {};
  const SectionPiece& piece = pieces_[static_cast<std::size_t>(slot - slots_.data())].tangential;
  if (piece.kind == SectionPiece::Kind::facet) return {piece.index, -1};
  if (piece.kind != SectionPiece::Kind::vertex) return {};
  const FrictionSection& section = slot->friction >= 0 ? friction_sections_[static_cast<std::size_t>(slot->friction)]
                                                       : sections_[static_cast<std::size_t>(slot->law)];
  return {piece.index, (piece.index + 1) % section.facets()};
}

void CompliantContacts::point_forces(std::vector<PointForce>& forces) const {
  forces.clear();
  const auto friction = static_cast<int>(system_.laws().friction().size());
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const auto slot = static_cast<std::size_t>(group->slots[k]);
      if (point_of_slot_[slot] < 0) continue;
      const ContactSite& site = found_.points[static_cast<std::size_t>(point_of_slot_[slot])];
      if (!site.has_frame || group->solution.normal[static_cast<Index>(k)] == 0) continue;
      PointForce force{friction + site.law, site.position, {}, site.first, site.second};
      for (int c = 0; c <= slots_[slot].tangents; ++c) {
        const double size = c == 0 ? group->solution.normal[static_cast<Index>(k)]
                                   : group->solution.tangential[group->problem.points[k].first + c - 1];
        for (std::size_t i = 0; i < 3; ++i) force.force[i] += size * site.frame[static_cast<std::size_t>(3 * c) + i];
      }
      forces.push_back(force);
    }
}

double CompliantContacts::force_size() const {
  double size = 0;
  for (const auto& group : groups_)
    if (group->solution.normal.size() > 0) size = std::max(size, group->solution.normal.maxCoeff());
  return size;
}

double CompliantContacts::gap(std::size_t slot) const {
  if (slots_[slot].friction >= 0) return 0;
  const int point = point_of_slot_[slot];
  return point < 0 ? margin_ : found_.points[static_cast<std::size_t>(point)].gap;
}

double CompliantContacts::damping_ratio(std::size_t slot, double weight) const {
  const auto [group, k] = places_[slot];
  const CompliantProblem& p = group->problem;
  const auto N = static_cast<Index>(p.points.size());
  double smallest = HUGE_VAL;
  for (Index c = p.points[k].first; c < p.points[k].first + p.points[k].tangents; ++c)
    smallest = std::min(smallest, p.C(c, c) * std::sqrt(weight / p.K(N + c, N + c)));
  return smallest;
}

double CompliantContacts::gap_terms(std::size_t slot, const Vector& q) const {
  const int point = point_of_slot_[slot];
  if (slots_[slot].friction >= 0 || point < 0) return 0;
  const ContactSite& site = found_.points[static_cast<std::size_t>(point)];
  double terms = std::abs(site.gap);
  if (site.has_frame) {  // a point of a body, from its centre, and along the normal
    terms = std::max(terms, system_.laws().contact_source().length());
    for (std::size_t i = 0; i < 3; ++i) terms = std::max(terms, std::abs(site.frame[i] * site.position[i]));
    return terms;
  }
  const Rows rows = rows_of(slot);
  if (rows.Wt->cols() != q.size()) return terms;
  for (SparseMatrix::InnerIterator entry(*rows.Wt, rows.first); entry; ++entry)
    terms = std::max(terms, std::abs(entry.value() * q[entry.col()]));
  return terms;
}

double CompliantContacts::gap_rate(std::size_t slot) const {
  const auto [group, k] = places_[slot];
  return group->problem.normal_velocity[static_cast<Index>(k)];
}

double CompliantContacts::stiffness_of(std::size_t slot) const {
  const auto [group, k] = places_[slot];
  const CompliantProblem& p = group->problem;
  if (p.K.size() == 0) return 0;
  const auto N = static_cast<Index>(p.points.size());
  double largest = p.points[k].own_normal ? p.points[k].own_slope : p.K(static_cast<Index>(k), static_cast<Index>(k));
  for (int c = 0; c < slots_[slot].tangents; ++c)
    largest = std::max(largest, p.K(N + p.points[k].first + c, N + p.points[k].first + c));
  return largest;
}

bool CompliantContacts::has_own_law(std::size_t slot) const {
  return slots_[slot].law >= 0 && compliance_[static_cast<std::size_t>(slots_[slot].law)].normal_force;
}

double CompliantContacts::time_to_stop(std::size_t slot, double weight) const {
  const double speed = -gap_rate(slot);
  if (!has_own_law(slot) || !(speed > 0)) return HUGE_VAL;
  const auto& phi = compliance_[static_cast<std::size_t>(slots_[slot].law)].normal_force;
  const auto stops = [&](double time) { return normal_force(*phi, speed * time).force * time * weight >= speed; };
  constexpr double kFactor = 2;      // a size of time is asked for
  constexpr int kMostFactors = 400;  // 1e120
  double time = 1;
  int round = 0;
  while (!stops(time) && round++ < kMostFactors) time *= kFactor;
  while (stops(time / kFactor) && round++ < kMostFactors) time /= kFactor;
  return round < kMostFactors ? time : HUGE_VAL;
}

double CompliantContacts::relaxation_of(std::size_t slot) const {
  const auto [group, k] = places_[slot];
  const CompliantProblem& p = group->problem;
  const auto N = static_cast<Index>(p.points.size());
  double shortest = HUGE_VAL;
  for (Index c = p.points[k].first; c < p.points[k].first + p.points[k].tangents; ++c)
    shortest = std::min(shortest, p.C(c, c) / p.K(N + c, N + c));
  return shortest;
}

}  // namespace stickslip
