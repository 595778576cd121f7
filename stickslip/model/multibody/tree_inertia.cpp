// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree_inertia.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/model/multibody/part_error.hpp"

namespace stickslip {

struct TreeInertia::Memory final : Scratch {
  explicit Memory(const Tree& of) : tree(of) {}
  TreeScratch tree;
  SystemMatrix mass;
};

namespace {

/// Pairs of velocities of which one is above the other, in the order of mass_entries().
template <class Use>
void for_each_pair(const Tree& tree, Use&& use) {
  for (std::size_t i = tree.links.size(); i-- > 0;)
    for (int k = 0; k < tree.links[i].velocities(); ++k)
      for (int j = static_cast<int>(i); j >= 0; j = tree.links[static_cast<std::size_t>(j)].parent) {
        const Link& above = tree.links[static_cast<std::size_t>(j)];
        const int count = j == static_cast<int>(i) ? k + 1 : above.velocities();
        for (int c = 0; c < count; ++c) use(tree.links[i].v + k, above.v + c);
      }
}

}  // namespace

TreeInertia::TreeInertia(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {
  std::vector<std::pair<Index, Index>> entries;
  for_each_pair(*tree_, [&](Index i, Index j) {
    entries.emplace_back(i, j);
    entries.emplace_back(j, i);
  });
  layout_ = MatrixLayout(tree_->nv(), entries);
  for_each_pair(*tree_, [&](Index i, Index j) { places_.emplace_back(layout_.offset(i, j), layout_.offset(j, i)); });
}

std::unique_ptr<Scratch> TreeInertia::make_scratch() const { return std::make_unique<Memory>(*tree_); }

const SystemMatrix& TreeInertia::mass(const Vector& q, SystemWorkspace& workspace) const {
  auto& memory = static_cast<Memory&>(*workspace.inertia);
  place_links(*tree_, q.data(), memory.tree.motion);
  place_inertia(*tree_, memory.tree.motion);
  double* const numbers = layout_.clear(memory.mass);
  auto place = places_.begin();
  mass_entries(*tree_, memory.tree, [&](Index i, Index j, double value) {
    numbers[place->first] = numbers[place->second] = value;
    ++place;
    if (i == j && !(value > 0))
      throw InputError(
          fmt::format("the motion along '{}' carries no mass here ({:.6g}); give what hangs on it mass and "
                      "inertia",
                      tree_->velocities[static_cast<std::size_t>(i)], value));
  });
  return memory.mass;
}

double TreeInertia::kinetic_energy(const Vector& q, const Vector& v) const {
  return stickslip::kinetic_energy(*tree_, q, v, thread_scratch(*tree_));
}

void TreeInertia::add_velocity_force(const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const {
  TreeScratch& scratch = static_cast<Memory&>(*workspace.inertia).tree;
  inverse_dynamics<double>(*tree_, q.data(), v.data(), nullptr, Eigen::Vector3d::Zero(), scratch.motion,
                           scratch.tau.data());
  h -= scratch.tau;
}

void TreeInertia::add_velocity_slopes(const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                                      SystemMatrix& by_v) const {
  TreeScratch& scratch = static_cast<Memory&>(*workspace.inertia).tree;
  inverse_dynamics_slopes(*tree_, q, v, nullptr, Eigen::Vector3d::Zero(), -1.0, scratch, MatrixLayout::numbers(by_q),
                          MatrixLayout::numbers(by_v));
}

void TreeInertia::require_definite(const Vector& q) const {
  TreeScratch scratch(*tree_);
  place_links(*tree_, q.data(), scratch.motion);
  place_inertia(*tree_, scratch.motion);
  const Index n = tree_->nv();
  DenseMatrix M = DenseMatrix::Zero(n, n);
  mass_entries(*tree_, scratch, [&](Index i, Index j, double value) { M(i, j) = value; });
  const Vector diagonal = M.diagonal();
  const std::vector<Index> parents = velocity_parents(*tree_);
  factor_tree(parents, M);
  constexpr double kRoundOff = 1e-14;  // of the mass that a joint moves, what is left when the ones below it give way
  for (Index i = n - 1; i >= 0; --i)
    if (!(M(i, i) > kRoundOff * diagonal[i]))
      throw PartError(
          "hinge",
          tree_->velocities[static_cast<std::size_t>(i)].substr(
              0, tree_->velocities[static_cast<std::size_t>(i)].find('.')),
          "",
          fmt::format(
              "the motion along '{}' carries no mass ({:.3g} of {:.3g} left where the joints below it give way); "
              "give what hangs on it mass and inertia; or, where axes of one hinge point the same way at the start, "
              "begin at "
              "other angles or take axes = [\"ball\"]",
              tree_->velocities[static_cast<std::size_t>(i)], M(i, i), diagonal[i]));
}

}  // namespace stickslip
