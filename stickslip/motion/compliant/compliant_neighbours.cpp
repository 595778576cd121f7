// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/compliant_neighbours.hpp"

#include <algorithm>
#include <utility>

#include "stickslip/motion/law_number.hpp"

namespace stickslip {

namespace {

/// Fields that a neighbour fills, one by one.
template <class Change, class F>
void for_each_vector(Change& change, F&& f) {
  for (auto* x : {&change.contacts.gap, &change.contacts.normal_velocity, &change.contacts.velocity,
                  &change.contacts.mu, &change.contacts.normal_damping, &change.contacts.own_force,
                  &change.contacts.section, &change.balance, &change.constraint})
    f(*x);
}

void set_zero(const CompliantDynamics::DataChange& like, CompliantDynamics::DataChange& sum) {
  std::vector<Index> sizes;
  for_each_vector(like, [&](const Vector& x) { sizes.push_back(x.size()); });
  std::size_t at = 0;
  for_each_vector(sum, [&](Vector& x) { x.setZero(sizes[at++]); });
  sum.contacts.K.resize(like.contacts.K.size());
  sum.contacts.C.resize(like.contacts.C.size());
  for (std::size_t g = 0; g < like.contacts.K.size(); ++g) {
    sum.contacts.K[g].setZero(like.contacts.K[g].rows(), like.contacts.K[g].cols());
    sum.contacts.C[g].setZero(like.contacts.C[g].rows(), like.contacts.C[g].cols());
  }
}

void add(double factor, CompliantDynamics::DataChange& from, CompliantDynamics::DataChange& sum) {
  std::vector<Vector*> parts;
  for_each_vector(from, [&](Vector& x) { parts.push_back(&x); });
  std::size_t at = 0;
  for_each_vector(sum, [&](Vector& x) { x += factor * *parts[at++]; });
  for (std::size_t g = 0; g < from.contacts.K.size(); ++g) {
    sum.contacts.K[g] += factor * from.contacts.K[g];
    sum.contacts.C[g] += factor * from.contacts.C[g];
  }
}

}  // namespace

void CompliantNeighbours::make(const State& s, double epsilon) {
  neighbours_.clear();
  neighbours_.resize(static_cast<std::size_t>(unknowns()));
  coefficients_.assign(static_cast<std::size_t>(unknowns()), -1);
  for (Index k = 0; k < unknowns(); ++k) {
    if (variations_->neighbours(k).empty())
      if (const auto law =
              contact_of_coefficient(dynamics_.system(), variations_->names()[static_cast<std::size_t>(k)]))
        coefficients_[static_cast<std::size_t>(k)] = static_cast<int>(*law);
    for (const ParameterVariation::Neighbour& near : variations_->neighbours(k)) {
      Neighbour neighbour;
      neighbour.weight = near.weight;
      neighbour.system = near.parts.system.get();
      neighbour.workspace = near.workspace.get();
      neighbour.contacts = std::make_unique<CompliantContacts>(*neighbour.system);
      if (neighbour.contacts->complete_by_default() || neighbour.contacts->friction_laws() > 0) {
        Vector weights;
        CompliantDynamics(*neighbour.system).contact_weights(s.t, s.q, weights);
        const double given = near.parts.options.compliant.epsilon;
        neighbour.contacts->complete(weights, given > 0 ? given : epsilon);
      }
      neighbour.contacts->follow(dynamics_.contacts());
      neighbours_[static_cast<std::size_t>(k)].push_back(std::move(neighbour));
    }
  }
}

/// dμ = 1 for the slots of one law, and nothing else.
void CompliantNeighbours::set_coefficient(int law) {
  const CompliantContacts& contacts = dynamics_.contacts();
  for (Vector* x : {&change_.contacts.gap, &change_.contacts.normal_velocity, &change_.contacts.mu,
                    &change_.contacts.normal_damping, &change_.contacts.own_force})
    x->setZero(contacts.slot_count());
  change_.contacts.velocity.setZero(contacts.tangents());
  change_.contacts.section.resize(0);
  change_.contacts.K.clear();
  change_.contacts.C.clear();
  change_.balance.setZero(dynamics_.v().size());
  change_.constraint.setZero(dynamics_.constraints());
  for (std::size_t s = 0; s < contacts.slots().size(); ++s)
    if (contacts.slots()[s].law == law) change_.contacts.mu[static_cast<Index>(s)] = 1;
}

void CompliantNeighbours::follow_breakpoints(const std::vector<double>& times, TimeSpan run) {
  const auto knots_of = [&](const std::vector<double>& breakpoints) {
    std::vector<double> knots{run.start};
    for (const double t : breakpoints)
      if (t > run.start && t < run.end) knots.push_back(t);
    knots.push_back(run.end);
    return knots;
  };
  knots_ = knots_of(times);
  for (auto& neighbours : neighbours_) {
    bool all = true;
    for (Neighbour& near : neighbours) {
      near.knots = knots_of(near.system->breakpoints(run.start, run.end));
      all &= near.knots.size() == knots_.size();
    }
    if (all) continue;
    for (Neighbour& near : neighbours) near.knots.clear();
  }
}

std::size_t CompliantNeighbours::stretch_of(double t) const {
  const auto next = std::upper_bound(knots_.begin() + 1, knots_.end() - 1, t);
  return static_cast<std::size_t>(next - knots_.begin()) - 1;
}

double CompliantNeighbours::own_time(const Neighbour& near, double t) const {
  if (near.knots.empty()) return t;
  const std::size_t i = stretch_of(t);
  const double length = knots_[i + 1] - knots_[i], own = near.knots[i + 1] - near.knots[i];
  // Where nothing moves, the same time to the last bit.
  if (near.knots[i] == knots_[i] && near.knots[i + 1] == knots_[i + 1]) return t;
  return near.knots[i] + (t - knots_[i]) * (own / length);
}

CompliantNeighbours::Shift CompliantNeighbours::shift(double t, Index unknown) const {
  Shift shift;
  for (const Neighbour& near : neighbours_[static_cast<std::size_t>(unknown)]) {
    if (near.knots.empty()) continue;
    const std::size_t i = stretch_of(t);
    const double from = near.knots[i] - knots_[i], to = near.knots[i + 1] - knots_[i + 1];
    const double length = knots_[i + 1] - knots_[i];
    shift.value += near.weight * (from + (to - from) * (t - knots_[i]) / length);
    shift.slope += near.weight * (to - from) / length;
  }
  return shift;
}

bool CompliantNeighbours::shifts(Index unknown) const {
  const auto& neighbours = neighbours_[static_cast<std::size_t>(unknown)];
  return std::any_of(neighbours.begin(), neighbours.end(),
                     [&](const Neighbour& near) { return !near.knots.empty() && near.knots != knots_; });
}

void CompliantNeighbours::follow() {
  for (auto& neighbours : neighbours_)
    for (Neighbour& near : neighbours) near.contacts->follow(dynamics_.contacts());
}

void CompliantNeighbours::share_holds() {
  for (auto& neighbours : neighbours_)
    for (Neighbour& near : neighbours) near.contacts->swap_holds(dynamics_.contacts().slots());
}

CompliantDynamics::DataChange* CompliantNeighbours::slope(double t, Index unknown) {
  const auto& neighbours = neighbours_[static_cast<std::size_t>(unknown)];
  if (const int law = coefficient_of(unknown); law >= 0) {
    set_coefficient(law);
    return &change_;
  }
  if (neighbours.empty()) return nullptr;
  // Differences to the first neighbour: weights add up to 0 but for round-off, which large numbers would make large.
  bool first = true;
  for (const Neighbour& near : neighbours) {
    CompliantDynamics::DataChange& data = first ? base_ : data_;
    dynamics_.data_of(own_time(near, t), *near.system, *near.contacts, *near.workspace, data);
    if (std::exchange(first, false)) {
      set_zero(base_, change_);
      continue;
    }
    add(-1, base_, data_);
    add(near.weight, data_, change_);
  }
  return &change_;
}

}  // namespace stickslip
