// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/compliant_contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {

/// Damping ratio ζ of a contact that is left, where its force falls to 0, with e of the speed it was met with:
/// e = exp(-2 ζ arccos ζ/√(1 - ζ²)), e(1) = exp(-2), and arcosh beyond.
double damping_ratio(double restitution) {
  constexpr double kLeast = 0.05;  // e = 0 asks for infinite damping; less than that is taken as that
  const double e = std::max(restitution, kLeast);
  const auto rebound = [](double zeta) {
    if (zeta == 1) return std::exp(-2.0);
    const double part = zeta < 1 ? std::acos(zeta) / std::sqrt(1 - zeta * zeta)
                                 : std::acosh(zeta) / std::sqrt(zeta * zeta - 1);
    return std::exp(-2 * zeta * part);
  };
  double low = 0, high = 10;
  for (int round = 0; round < 60; ++round) {
    const double middle = 0.5 * (low + high);
    (rebound(middle) > e ? low : high) = middle;
  }
  return high;
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
    : system_(system), laws_(&system.laws().contacts()), points_stay_(system.laws().contact_source().points_stay()) {
  coupled_ = system.laws().compliance() != nullptr;
  Index component = 0;
  for (const ContactElement& law : *laws_) {
    component_.push_back(component);
    component += law.size();
    compliance_.push_back(law.compliance ? *law.compliance : ContactCompliance{});
    sections_.push_back(law.section());
    open_.push_back(!law.compliance && !coupled_);
    defaults_ |= open_.back() != 0;
  }
  if (coupled_) constant_stiffness_ = system.laws().compliance()->stiffness.is_constant() &&
                                      system.laws().compliance()->damping.is_constant();
  for (const ContactCompliance& compliance : compliance_)
    constant_stiffness_ &= compliance.stiffness.is_constant() && compliance.damping.is_constant();
}

void CompliantContacts::complete(const Vector& weights, double epsilon) {
  for (std::size_t k = 0; k < laws_->size(); ++k) {
    if (!open_[k]) continue;
    const double m = weights[static_cast<Index>(k)] > 0 ? 1 / weights[static_cast<Index>(k)] : 1.0;
    const ContactElement& law = (*laws_)[k];
    compliance_[k].stiffness = isotropic(1 + law.tangents, m / epsilon);
    compliance_[k].damping = isotropic(law.tangents, 2 * m / std::sqrt(epsilon));
    compliance_[k].normal_damping = law.restitution < 1 ? 2 * damping_ratio(law.restitution) * m / std::sqrt(epsilon) : 0;
  }
}

bool CompliantContacts::forces_jump() const {
  return std::any_of(compliance_.begin(), compliance_.end(),
                     [](const ContactCompliance& compliance) { return compliance.normal_damping > 0; });
}

bool CompliantContacts::on_the_border(std::size_t slot, double part) const {
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      if (group->slots[k] != static_cast<int>(slot) || slots_[slot].tangents == 0) continue;
      const CompliantSolution& s = group->solution;
      const CompliantPoint& point = group->problem.points[k];
      const double rho = point.mu * s.normal[static_cast<Index>(k)];
      const auto force = s.tangential.segment(point.first, point.tangents);
      const Vector slip = group->problem.C * s.slip;  // as a force
      const PlaneForce l{force[0], point.tangents == 2 ? force[1] : 0.0};
      const bool at_limit = point.tangents == 1 ? std::abs(l[0]) >= (1 - part) * rho
                                                : point.section.excess((1 - part) * rho, l) > 0;
      return at_limit && slip.segment(point.first, point.tangents).norm() <= part * rho;
    }
  return false;
}

CompliantContacts::Group& CompliantContacts::new_group() {
  if (used_groups_ == groups_.size()) groups_.push_back(std::make_unique<Group>());
  Group& group = *groups_[used_groups_++];
  group.slots.clear();
  group.problem.points.clear();
  return group;
}

void CompliantContacts::make_groups() {
  used_groups_ = 0;
  Group* all = coupled_ ? &new_group() : nullptr;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    Group& group = all ? *all : new_group();
    const ContactElement& law = law_of(slots_[s]);
    CompliantPoint point;
    point.mu = law.mu;
    point.tangents = law.tangents;
    point.section = sections_[static_cast<std::size_t>(slots_[s].law)];
    point.first = 0;
    for (const CompliantPoint& other : group.problem.points) point.first += other.tangents;
    const ContactCompliance& compliance = compliance_[static_cast<std::size_t>(slots_[s].law)];
    point.normal_damping = compliance.normal_damping;
    point.own_normal = compliance.normal_force.has_value();
    group.slots.push_back(static_cast<int>(s));
    group.problem.points.push_back(std::move(point));
  }
  groups_.resize(used_groups_);
  for (const auto& group : groups_) {
    CompliantProblem& p = group->problem;
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
}

std::size_t CompliantContacts::law_of(const Group& group) const {
  return static_cast<std::size_t>(group.slots.empty() ? 0 : slots_[static_cast<std::size_t>(group.slots.front())].law);
}

void CompliantContacts::normal_law(const Slot& slot, double gap, CompliantPoint& point) const {
  const auto& phi = compliance_[static_cast<std::size_t>(slot.law)].normal_force;
  if (!phi) return;
  const NormalForce at = normal_force(*phi, std::max(0.0, -gap));
  point.own_force = at.force;
  point.own_slope = at.slope;
  point.own_energy = at.energy;
}

void CompliantContacts::read_matrices(std::size_t law, std::span<const double> variables, DenseMatrix& K,
                                      DenseMatrix& C) const {
  const ContactCompliance& own = compliance_[law];
  (coupled_ ? system_.laws().compliance()->stiffness : own.stiffness).evaluate(variables, K);
  (coupled_ ? system_.laws().compliance()->damping : own.damping).evaluate(variables, C);
  if (!own.normal_force || coupled_) return;
  K.row(0).setZero();  // the normal has a law of its own
  K.col(0).setZero();
  K(0, 0) = 1;
}

void CompliantContacts::evaluate_matrices(Group& group, SystemWorkspace& workspace) {
  CompliantProblem& p = group.problem;
  if (p.K.size() > 0 && constant_stiffness_) return;
  const std::size_t law = law_of(group);
  read_matrices(law, workspace.variables.span(), p.K, p.C);
  ++p.damping_version;
  validate(p, coupled_ ? "compliance" : fmt::format("contact '{}': compliance", (*laws_)[law].name).c_str());
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
      const int at = point_of_slot_[s];
      const auto i = static_cast<Index>(k);
      if (slot.tangents > 0)
        p.deformation.segment(point.first, slot.tangents) = deformation.segment(slot.first, slot.tangents);
      if (at < 0) {  // out of sight
        p.gap[i] = margin_;
        p.normal_velocity[i] = 0;
        if (slot.tangents > 0) p.velocity.segment(point.first, slot.tangents).setZero();
      } else {
        const Index row = row_of_point_[static_cast<std::size_t>(at)];
        p.gap[i] = found_.points[static_cast<std::size_t>(at)].gap;
        p.normal_velocity[i] = u_[row];
        if (slot.tangents > 0) p.velocity.segment(point.first, slot.tangents) = u_.segment(row + 1, slot.tangents);
      }
      if (point.own_normal) normal_law(slot, p.gap[i], point);
    }
  }
}

bool CompliantContacts::place(double t, const Vector& q, const Vector& v, const Vector& deformation,
                              SystemWorkspace& workspace) {
  system_.laws().contact_source().find(t, q, margin_, workspace, found_);
  if (!match(found_, slot_of_point_, point_of_slot_, row_of_point_)) return false;
  gather(v, deformation);
  workspace.variables.set(t, q, v);
  for (const auto& group : groups_) {
    evaluate_matrices(*group, workspace);
    solve(group->problem, group->workspace, group->solution);
    if (group->solution.status != Status::success) return false;
    for (std::size_t k = 0; k < group->slots.size(); ++k)
      pieces_[static_cast<std::size_t>(group->slots[k])] = group->solution.pieces[k];
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
      if (point_of_slot_[s] < 0 || normal == 0) continue;
      const Index row = row_of_point_[static_cast<std::size_t>(point_of_slot_[s])];
      for (int c = 0; c <= slots_[s].tangents; ++c) {
        const double force = c == 0 ? normal : group->solution.tangential[group->problem.points[k].first + c - 1];
        for (SparseMatrix::InnerIterator entry(found_.Wt, row + c); entry; ++entry)
          g[entry.col()] += entry.value() * force;
      }
    }
}

void CompliantContacts::rates(Vector& rate) const {
  rate.resize(tangents_);
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const Slot& slot = slots_[static_cast<std::size_t>(group->slots[k])];
      if (slot.tangents > 0)
        rate.segment(slot.first, slot.tangents) =
            group->solution.rate.segment(group->problem.points[k].first, slot.tangents);
    }
}

double CompliantContacts::energy() const {
  double sum = 0;
  for (const auto& group : groups_) sum += group->solution.energy;
  return sum;
}

double CompliantContacts::deepest() const {
  double deepest = 0;
  for (const ContactSite& site : found_.points) deepest = std::max(deepest, -site.gap);
  return deepest;
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
      sum.dampers -= (s.normal[i] - s.elastic_normal[i]) * group->problem.normal_velocity[i];
      if (point_of_slot_[slot] < 0) continue;
      const Index row = row_of_point_[static_cast<std::size_t>(point_of_slot_[slot])];
      sum.surfaces += s.normal[i] * found_.w[row];
      for (int c = 0; c < slots_[slot].tangents; ++c)
        sum.surfaces += s.tangential[group->problem.points[k].first + c] * found_.w[row + 1 + c];
    }
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

void CompliantContacts::law_sums(Vector& components, Vector& power) const {
  components.setZero();
  power.setZero();
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      const auto slot = static_cast<std::size_t>(group->slots[k]);
      if (point_of_slot_[slot] < 0) continue;
      const auto law = static_cast<std::size_t>(slots_[slot].law);
      const Index row = row_of_point_[static_cast<std::size_t>(point_of_slot_[slot])];
      for (int c = 0; c <= slots_[slot].tangents; ++c) {
        const double force = c == 0 ? group->solution.normal[static_cast<Index>(k)]
                                    : group->solution.tangential[group->problem.points[k].first + c - 1];
        components[component_[law] + c] += force;
        power[static_cast<Index>(law)] += force * (u_[row + c] + found_.w[row + c]);
      }
    }
}

/// Of all points of the law: one that slips is what a person looks for, then one that holds.
Mode CompliantContacts::mode(std::size_t law) const {
  Mode mode = Mode::open;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].law != static_cast<int>(law) || !pieces_[s].closed || pieces_[s].pulls) continue;
    const SectionPiece& piece = pieces_[s].tangential;
    if (slots_[s].tangents == 0) return Mode::closed;
    if (piece.kind != SectionPiece::Kind::inside)
      return slots_[s].tangents == 2 ? Mode::slip : piece.index == 0 ? Mode::slip_minus : Mode::slip_plus;
    mode = Mode::stick;
  }
  return mode;
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
  const int point = point_of_slot_[slot];
  return point < 0 ? margin_ : found_.points[static_cast<std::size_t>(point)].gap;
}

double CompliantContacts::stiffness_of(std::size_t slot) const {
  for (const auto& group : groups_)
    for (std::size_t k = 0; k < group->slots.size(); ++k) {
      if (group->slots[k] != static_cast<int>(slot)) continue;
      const CompliantProblem& p = group->problem;
      const auto N = static_cast<Index>(p.points.size());
      double largest = p.points[k].own_normal ? p.points[k].own_slope : p.K(static_cast<Index>(k), static_cast<Index>(k));
      for (int c = 0; c < slots_[slot].tangents; ++c)
        largest = std::max(largest, p.K(N + p.points[k].first + c, N + p.points[k].first + c));
      return largest;
    }
  return 0;
}

}  // namespace stickslip
