// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/compliant_neighbours.hpp"

#include <utility>

namespace stickslip {

namespace {

/// Fields that a neighbour fills, one by one.
template <class Change, class F>
void for_each_vector(Change& change, F&& f) {
  for (auto* x :
       {&change.contacts.gap, &change.contacts.normal_velocity, &change.contacts.velocity, &change.contacts.mu,
        &change.contacts.normal_damping, &change.contacts.own_force, &change.balance, &change.constraint})
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
  for (Index k = 0; k < unknowns(); ++k)
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
  if (neighbours.empty()) return nullptr;
  bool first = true;
  for (const Neighbour& near : neighbours) {
    dynamics_.data_of(t, *near.system, *near.contacts, *near.workspace, data_);
    if (std::exchange(first, false)) set_zero(data_, change_);
    add(near.weight, data_, change_);
  }
  return &change_;
}

}  // namespace stickslip
