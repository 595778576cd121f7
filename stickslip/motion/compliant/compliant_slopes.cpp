// SPDX-License-Identifier: Apache-2.0
// Slopes of the contact forces: along one change of the state, and as a sparse matrix; contacts at neighbouring states.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/compliant/compliant_contacts.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

void CompliantContacts::neighbour(double t, const Vector& q, const Vector& v, const Vector& normal,
                                  const Vector& tangential, const CompliantContacts* data, SystemWorkspace& workspace,
                                  Change& values, Vector& force) {
  system_.laws().contact_source().find(t, q, margin_, workspace, near_);
  match(near_, near_slot_, near_point_, near_row_);
  values.gap.setConstant(slot_count(), margin_);
  values.normal_velocity.setZero(slot_count());
  values.velocity.setZero(tangents_);
  force.setZero(v.size());
  if (turns()) values.spin.setZero(slot_count());
  neighbour_friction(t, q, v, tangential, workspace, values, force);
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const int at = near_point_[s];
    if (at < 0) continue;
    if (turns() && slots_[s].tangents == 2)
      values.spin[static_cast<Index>(s)] =
          system_.laws().contact_source().spin(q, v, near_.points[static_cast<std::size_t>(at)]);
    const Index row = near_row_[static_cast<std::size_t>(at)], i = static_cast<Index>(s);
    values.gap[i] = near_.points[static_cast<std::size_t>(at)].gap;
    for (int c = 0; c <= slots_[s].tangents; ++c) {
      const double u = row_times(near_.Wt, row + c, v) - near_.w[row + c];
      (c == 0 ? values.normal_velocity[i] : values.velocity[slots_[s].first + c - 1]) = u;
      const double lambda = c == 0 ? normal[i] : tangential[slots_[s].first + c - 1];
      for (SparseMatrix::InnerIterator entry(near_.Wt, row + c); entry; ++entry)
        force[entry.col()] += entry.value() * lambda;
    }
  }
  if (!data) return;
  workspace.variables.set(t, q, v);
  for (Vector* x : {&values.mu, &values.normal_damping, &values.own_force}) x->setZero(slot_count());
  values.K.resize(groups_.size());
  values.C.resize(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g)
    read_matrices(slots_[static_cast<std::size_t>(groups_[g]->slots.front())], workspace.variables.span(), values.K[g],
                  values.C[g]);
  CompliantPoint point;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const auto i = static_cast<Index>(s);
    if (slots_[s].friction >= 0) {
      values.mu[i] = 1;
      values.own_force[i] = limit_of(slots_[s], near_friction_);
      continue;
    }
    values.mu[i] = coefficient(slots_[s]);
    values.normal_damping[i] = normal_damping_of(slots_[s]);
    point.own_force = 0;
    normal_law(slots_[s], data->gap(s), data->kept_closed(s), point);
    values.own_force[i] = point.own_force;
  }
  neighbour_sections(*data, values.section);
}

/// The nearest one, not the one with the same number: a polygon that turns begins to count at another facet.
void CompliantContacts::neighbour_sections(const CompliantContacts& other, Vector& section) const {
  using Kind = SectionPiece::Kind;
  section.setZero(tangents_);
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const SectionPiece& piece = other.pieces_[s].tangential;
    if (slots_[s].tangents < 2 || (piece.kind != Kind::facet && piece.kind != Kind::vertex)) continue;
    const auto [group, k] = places_[s];
    const auto [other_group, other_k] = other.places_[s];
    const FrictionSection &own = group->problem.points[k].section, &its = other_group->problem.points[other_k].section;
    const auto at = [&](const FrictionSection& of, int i) {
      return piece.kind == Kind::facet ? of.row(i) : of.vertex(i);
    };
    const PlaneForce here = at(its, piece.index);
    double nearest = HUGE_VAL;
    for (int i = 0; i < own.facets(); ++i) {
      const PlaneForce there = at(own, i);
      const double away = std::hypot(there[0] - here[0], there[1] - here[1]);
      if (!(away < nearest)) continue;
      nearest = away;
      section[slots_[s].first] = there[0];
      section[slots_[s].first + 1] = there[1];
    }
  }
}

/// v_T of the friction laws and their part of W λ, with what is smooth.
void CompliantContacts::neighbour_friction(double t, const Vector& q, const Vector& v, const Vector& tangential,
                                           SystemWorkspace& workspace, Change& values, Vector& force) {
  if (friction_.laws() == 0) return;
  near_friction_.evaluate_limits(t, q, v, workspace);
  near_friction_.evaluate_surface(t, q, v, workspace, near_w_);
  near_friction_.relative_velocity(v, near_w_, near_u_);
  near_smooth_.setZero();
  smooth_force(near_friction_, near_u_, near_smooth_);
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    if (slot.friction < 0) continue;
    values.gap[static_cast<Index>(s)] = 0;
    const Index first = near_friction_.first(slot.friction);
    values.velocity.segment(slot.first, slot.tangents) = near_u_.segment(first, slot.tangents);
    near_smooth_.segment(first, slot.tangents) += tangential.segment(slot.first, slot.tangents);
  }
  near_friction_.add_reactions(1.0, near_smooth_, force);
}

double CompliantContacts::stiffening_power(const std::vector<DenseMatrix>& K_rate) const {
  double power = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const CompliantProblem& p = groups_[g]->problem;
    const auto N = static_cast<Index>(p.points.size());
    Vector delta(N + p.deformation.size());
    delta.head(N) = groups_[g]->solution.separation - p.gap;
    // A normal law of its own has no K: what stands there is a number of the size of the others.
    for (Index i = 0; i < N; ++i)
      if (p.points[static_cast<std::size_t>(i)].own_normal) delta[i] = 0;
    delta.tail(p.deformation.size()) = p.deformation;
    power += 0.5 * delta.dot(K_rate[g] * delta);
  }
  return power;
}

void CompliantContacts::vary(Change& change) {
  change.normal.resize(slot_count());
  change.tangential.resize(tangents_);
  change.rate.resize(tangents_);
  CompliantVariation& d = variation_;
  const bool numbers = change.mu.size() > 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = *groups_[g];
    const CompliantProblem& p = group.problem;
    const auto N = static_cast<Index>(group.slots.size());
    for (Vector* x : {&d.gap, &d.normal_velocity}) x->resize(N);
    for (Vector* x : {&d.deformation, &d.velocity}) x->resize(p.deformation.size());
    for (Vector* x : {&d.mu, &d.normal_damping, &d.own_force}) x->resize(numbers ? N : 0);
    d.section.resize(change.section.size() > 0 ? p.deformation.size() : 0);
    d.K.resize(0, 0);
    d.C.resize(0, 0);
    if (!change.K.empty()) {
      d.K = change.K[g];
      d.C = change.C[g];
    }
    for (std::size_t k = 0; k < group.slots.size(); ++k) {
      const Index s = group.slots[k], i = static_cast<Index>(k);
      const Slot& slot = slots_[static_cast<std::size_t>(s)];
      d.gap[i] = change.gap[s];
      d.normal_velocity[i] = change.normal_velocity[s];
      if (numbers) {
        d.mu[i] = change.mu[s];
        d.normal_damping[i] = change.normal_damping[s];
        d.own_force[i] = change.own_force[s];
      }
      d.deformation.segment(p.points[k].first, slot.tangents) = change.deformation.segment(slot.first, slot.tangents);
      d.velocity.segment(p.points[k].first, slot.tangents) = change.velocity.segment(slot.first, slot.tangents);
      if (d.section.size() > 0)
        d.section.segment(p.points[k].first, slot.tangents) = change.section.segment(slot.first, slot.tangents);
    }
    stickslip::vary(p, group.solution, group.workspace, d);
    for (std::size_t k = 0; k < group.slots.size(); ++k) {
      const Slot& slot = slots_[static_cast<std::size_t>(group.slots[k])];
      change.normal[group.slots[k]] = d.normal[static_cast<Index>(k)];
      change.tangential.segment(slot.first, slot.tangents) = d.tangential.segment(p.points[k].first, slot.tangents);
      change.rate.segment(slot.first, slot.tangents) = d.rate.segment(p.points[k].first, slot.tangents);
      if (!turns() || slot.tangents < 2) continue;
      const double spin = spin_[group.slots[k]], turn = change.spin.size() > 0 ? change.spin[group.slots[k]] : 0.0;
      const Index f = p.points[k].first;
      change.rate[slot.first] -= spin * d.deformation[f + 1] + turn * p.deformation[f + 1];
      change.rate[slot.first + 1] += spin * d.deformation[f] + turn * p.deformation[f];
    }
  }
}

void CompliantContacts::add_slopes(const RateMap& map, Index nq, Index nv, MatrixEntries& slope) {
  const Index n = nq, first_tangent = nq + nv;
  CompliantVariation& d = variation_;
  for (const auto& held : groups_) {
    Group& group = *held;
    const CompliantProblem& p = group.problem;
    const auto N = static_cast<Index>(group.slots.size());
    const Index T = p.deformation.size();
    // Adds ∂(W λ, δ')/∂(one input) to the columns of that input.
    const auto add_output = [&](Index column, double factor) {
      for (std::size_t k = 0; k < group.slots.size(); ++k) {
        const auto s = static_cast<std::size_t>(group.slots[k]);
        const Slot& slot = slots_[s];
        for (int c = 0; c < slot.tangents; ++c)
          slope.add(first_tangent + slot.first + c, column, factor * d.rate[p.points[k].first + c]);
        const Rows rows = rows_of(s);
        for (int c = rows.begin; rows.Wt && c <= slot.tangents; ++c) {
          const double force = c == 0 ? d.normal[static_cast<Index>(k)] : d.tangential[p.points[k].first + c - 1];
          for (SparseMatrix::InnerIterator entry(*rows.Wt, rows.first + c); entry; ++entry)
            slope.add(n + entry.col(), column, factor * force * entry.value());
        }
      }
    };
    const auto vary_input = [&](Vector& input, Index i) {
      for (Vector* x : {&d.gap, &d.normal_velocity}) x->setZero(N);
      for (Vector* x : {&d.deformation, &d.velocity}) x->setZero(T);
      for (Vector* x : {&d.mu, &d.normal_damping, &d.own_force, &d.section}) x->resize(0);
      d.K.resize(0, 0);
      d.C.resize(0, 0);
      input[i] = 1;
      stickslip::vary(p, group.solution, group.workspace, d);
    };
    for (std::size_t k = 0; k < group.slots.size(); ++k) {
      const auto s = static_cast<std::size_t>(group.slots[k]);
      const Slot& slot = slots_[s];
      for (int c = 0; c < slot.tangents; ++c) {
        vary_input(d.deformation, p.points[k].first + c);
        add_output(first_tangent + slot.first + c, 1);
      }
      const Rows rows = rows_of(s);
      if (!rows.Wt) continue;
      const auto along = [&](Vector& input, Index i, Index at) {
        vary_input(input, i);
        for (SparseMatrix::InnerIterator entry(*rows.Wt, at); entry; ++entry)
          add_output(nq + entry.col(), entry.value());
      };
      if (rows.begin == 0) {
        vary_input(d.gap, static_cast<Index>(k));
        for (SparseMatrix::InnerIterator entry(*rows.Wt, rows.first); entry; ++entry)
          for (std::size_t e = map.first(entry.col()); e < map.first(entry.col() + 1); ++e)
            add_output(map.entries()[e].row, map.entries()[e].inverse * entry.value());
      }
      if (p.points[k].normal_damping > 0) along(d.normal_velocity, static_cast<Index>(k), rows.first);
      for (int c = 0; c < slot.tangents; ++c) along(d.velocity, p.points[k].first + c, rows.first + 1 + c);
    }
  }
}

double CompliantContacts::fastest(const Vector& weights) const {
  double fastest = 0;
  for (const auto& group : groups_) {
    const CompliantProblem& p = group->problem;
    const auto N = static_cast<Index>(p.points.size());
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const double weight = weight_of(static_cast<std::size_t>(group->slots[k]), weights);
      const auto i = static_cast<Index>(k);
      const double normal = p.points[k].own_normal ? p.points[k].own_slope : p.K(i, i);
      fastest = std::max({fastest, std::sqrt(normal * weight), p.points[k].normal_damping * weight});
      for (Index c = p.points[k].first; c < p.points[k].first + p.points[k].tangents; ++c)
        fastest = std::max(
            {fastest, std::sqrt(p.K(N + c, N + c) * weight), p.C(c, c) * weight, p.K(N + c, N + c) / p.C(c, c)});
    }
  }
  return fastest;
}

}  // namespace stickslip
