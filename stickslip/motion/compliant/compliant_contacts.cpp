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

constexpr double kStrained = 1e-12;  // elastic energy of a slot out of sight, of all contacts', that is worth following

using Vector3 = Eigen::Vector3d;

Vector3 in_world(const std::array<double, 9>& frame, const Vector& delta, Index first, int tangents) {
  Vector3 world = Vector3::Zero();
  for (int c = 0; c < tangents; ++c) world += delta[first + c] * Eigen::Map<const Vector3>(frame.data() + 3 * (c + 1));
  return world;
}

double distance2(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// Damping ratio of an oscillator that leaves a half period with e of the speed it came with.
double damping_ratio(double restitution) {
  constexpr double kDead = 1e-3;  // of the speed: e = 0 asks for infinite damping of a half period, which never ends
  const double l = -std::log(std::max(restitution, kDead));
  return l / std::hypot(std::numbers::pi, l);
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

double CompliantContacts::collect(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                                  Vector& deformation) {
  margin_ = points_stay_ ? HUGE_VAL : margin;
  system_.laws().contact_source().find(t, q, margin_, workspace, found_);
  if (points_stay_) {
    if (slots_.empty()) {
      Index first = 0;
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
    if (deformation.size() != tangents_) deformation.setZero(tangents_);
    return 0;
  }
  match(found_, slot_of_point_, point_of_slot_, row_of_point_);
  std::vector<Slot> next;
  Vector moved(0);
  const auto carry = [&](const Slot& from, Slot to) {
    to.first = moved.size();
    moved.conservativeResize(to.first + to.tangents);
    const Vector3 world = in_world(from.frame, deformation, from.first, from.tangents);
    for (int c = 0; c < to.tangents; ++c)
      moved[to.first + c] = Eigen::Map<const Vector3>(to.frame.data() + 3 * (c + 1)).dot(world);
    next.push_back(to);
  };
  for (std::size_t i = 0; i < found_.points.size(); ++i) {
    const ContactSite& site = found_.points[i];
    Slot slot{site.law, site.key, site.first, site.second, 0, (*laws_)[static_cast<std::size_t>(site.law)].tangents,
              site.position, site.frame};
    const int old = i < slot_of_point_.size() ? slot_of_point_[i] : -1;
    if (old >= 0) {
      carry(slots_[static_cast<std::size_t>(old)], slot);
    } else {
      slot.first = moved.size();
      moved.conservativeResize(slot.first + slot.tangents);
      moved.tail(slot.tangents).setZero();
      next.push_back(slot);
    }
  }
  double total = energy(), given_up = 0;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (s < point_of_slot_.size() && point_of_slot_[s] >= 0) continue;
    const ContactCompliance& c = compliance_[static_cast<std::size_t>(slots_[s].law)];
    DenseMatrix K;
    c.stiffness.evaluate(workspace.variables.span(), K);
    const auto delta = deformation.segment(slots_[s].first, slots_[s].tangents);
    const double left = 0.5 * delta.dot(K.bottomRightCorner(slots_[s].tangents, slots_[s].tangents) * delta);
    if (left > kStrained * total) {
      carry(slots_[s], slots_[s]);
    } else {
      given_up += left;
    }
  }
  slots_ = std::move(next);
  deformation = std::move(moved);
  tangents_ = deformation.size();
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
    for (std::size_t i = 0; i < n; ++i) join(i, static_cast<std::size_t>(found.points[i].law));
    return n == slots_.size();
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

void CompliantContacts::follow(const CompliantContacts& other) {
  slots_ = other.slots_;
  tangents_ = other.tangents_;
  margin_ = other.margin_;
  make_groups();
}

void CompliantContacts::neighbour(double t, const Vector& q, const Vector& v, const Vector& normal,
                                  const Vector& tangential, bool data, SystemWorkspace& workspace, Change& values,
                                  Vector& force) {
  system_.laws().contact_source().find(t, q, margin_, workspace, near_);
  match(near_, near_slot_, near_point_, near_row_);
  values.gap.setConstant(slot_count(), margin_);
  values.normal_velocity.setZero(slot_count());
  values.velocity.setZero(tangents_);
  force.setZero(v.size());
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const int at = near_point_[s];
    if (at < 0) continue;
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
    read_matrices(law_of(*groups_[g]), workspace.variables.span(), values.K[g], values.C[g]);
  CompliantPoint point;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const auto i = static_cast<Index>(s);
    const auto law = static_cast<std::size_t>(slots_[s].law);
    values.mu[i] = (*laws_)[law].mu;
    values.normal_damping[i] = compliance_[law].normal_damping;
    point.own_force = 0;
    normal_law(slots_[s], values.gap[i], point);
    values.own_force[i] = point.own_force;
  }
}

double CompliantContacts::stiffening_power(const std::vector<DenseMatrix>& K_rate) const {
  double power = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const CompliantProblem& p = groups_[g]->problem;
    const auto N = static_cast<Index>(p.points.size());
    Vector delta(N + p.deformation.size());
    delta.head(N) = groups_[g]->solution.separation - p.gap;
    delta.tail(p.deformation.size()) = p.deformation;
    power += 0.5 * delta.dot(K_rate[g] * delta);
  }
  return power;
}

void CompliantContacts::exchange(Memory& memory) {
  memory.exchange(margin_);
  memory.exchange(slots_);
  if (!memory.reading()) return;
  tangents_ = 0;
  for (const Slot& slot : slots_) tangents_ = std::max(tangents_, slot.first + slot.tangents);
  make_groups();
}

}  // namespace stickslip
