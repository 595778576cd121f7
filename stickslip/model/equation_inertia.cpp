// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/equation_inertia.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/common/pinned_factor.hpp"

namespace stickslip {

std::string describe_place(const std::vector<std::string>& coordinates, const Vector& q) {
  constexpr Index kShown = 8;
  std::string text;
  for (Index k = 0; k < std::min(q.size(), kShown); ++k)
    text += fmt::format("{}{} = {:.6g}", k ? ", " : "", coordinates[static_cast<std::size_t>(k)], q[k]);
  return text + (q.size() > kShown ? ", ..." : "");
}

namespace {

/// First pivot that is not positive (beside round-off), or none; A is overwritten.
std::optional<std::pair<Index, double>> bad_pivot(DenseMatrix& A) {
  const Index n = A.rows();
  for (Index j = 0; j < n; ++j) {
    const double diagonal = A(j, j);
    double pivot = diagonal;
    for (Index k = 0; k < j; ++k) pivot -= A(j, k) * A(j, k);
    const double noise = 4 * static_cast<double>(n) * std::numeric_limits<double>::epsilon() * std::abs(diagonal);
    if (!(pivot > noise) || !std::isfinite(pivot)) return std::pair{j, pivot};
    A(j, j) = std::sqrt(pivot);
    for (Index i = j + 1; i < n; ++i) {
      double sum = A(i, j);
      for (Index k = 0; k < j; ++k) sum -= A(i, k) * A(j, k);
      A(i, j) = sum / A(j, j);
    }
  }
  return std::nullopt;
}

}  // namespace

struct EquationInertia::Memory final : Scratch {
  explicit Memory(Index n) : expressions(n, n) {}
  ExpressionScratch expressions;
  SystemMatrix mass;
  DenseMatrix cholesky;
  PinnedFactor factor;
};

std::unique_ptr<Scratch> EquationInertia::make_scratch() const { return std::make_unique<Memory>(n_); }

EquationInertia::EquationInertia(std::vector<std::vector<StateFunction>> mass,
                                 const std::optional<StateFunction>& kinetic_energy,
                                 const std::vector<std::string>& coordinates)
    : coordinates_(coordinates), n_(static_cast<Index>(coordinates.size())) {
  if (kinetic_energy) lagrange_.emplace(*kinetic_energy, coordinates_);
  unpinned_.assign(static_cast<std::size_t>(n_), 0);
  set_structure(mass);
  if (varies_) return;
  Memory memory(n_);
  fill(Vector::Zero(n_), memory, constant_);
  check(constant_, nullptr, memory);
}

void EquationInertia::set_structure(std::vector<std::vector<StateFunction>>& mass) {
  std::vector<std::pair<Index, Index>> pattern;
  full_ = MatrixLayout(n_, all_entries(n_));
  if (lagrange_) {
    pattern = all_entries(n_);
    varies_ = lagrange_->varies();
  }
  for (Index i = 0; i < static_cast<Index>(mass.size()); ++i)
    for (Index j = i; j < n_; ++j) {
      StateFunction& value = mass[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (value.is_constant() && value({}) == 0.0 && i != j) continue;
      varies_ |= !value.is_constant();
      pattern.emplace_back(i, j);
      pattern.emplace_back(j, i);
      entries_.push_back({i, j, std::move(value)});
    }
  layout_ = MatrixLayout(n_, pattern);
  for (Entry& entry : entries_) {
    entry.place = layout_.offset(entry.i, entry.j);
    entry.mirror = layout_.offset(entry.j, entry.i);
  }
}

const SystemMatrix& EquationInertia::mass(const Vector& q, SystemWorkspace& workspace) const {
  if (!varies_) return constant_;
  auto& memory = static_cast<Memory&>(*workspace.inertia);
  fill(q, memory, memory.mass);
  check(memory.mass, &q, memory);
  return memory.mass;
}

double EquationInertia::kinetic_energy(const Vector& q, const Vector& v) const {
  const auto x = gathered_variables(q, v);
  if (lagrange_) return lagrange_->energy(x);
  double twice = 0;
  for (const Entry& entry : entries_)
    twice += (entry.i == entry.j ? 1.0 : 2.0) * entry.value(x) * v[entry.i] * v[entry.j];
  return 0.5 * twice;
}

double EquationInertia::power(const Vector& q, const Vector& v) const {
  if (!varies_ || lagrange_) return 0.0;
  thread_local std::vector<double> direction;
  direction.assign(static_cast<std::size_t>(2 + 2 * n_), 0.0);
  std::copy_n(v.data(), n_, direction.begin() + 1);
  const auto x = gathered_variables(q, v);
  double twice = 0;
  for (const Entry& entry : entries_)
    if (!entry.value.is_constant())
      twice += (entry.i == entry.j ? 1.0 : 2.0) * entry.value.directional(x, direction).slope * v[entry.i] * v[entry.j];
  return 0.5 * twice;
}

void EquationInertia::add_velocity_force(const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                         Vector& h) const {
  workspace.variables.set_state(q, v);
  lagrange_->add_force(workspace.variables.state(), static_cast<Memory&>(*workspace.inertia).expressions.second, h);
}

void EquationInertia::add_velocity_slopes(const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                          SystemMatrix& by_q, SystemMatrix& by_v) const {
  workspace.variables.set_state(q, v);
  lagrange_->add_slopes(workspace.variables.state(), static_cast<Memory&>(*workspace.inertia).expressions.second, full_,
                        full_.numbers(by_q), full_, full_.numbers(by_v));
}

void EquationInertia::fill(const Vector& q, Memory& memory, SystemMatrix& M) const {
  double* const numbers = layout_.clear(M);
  ExpressionScratch& scratch = memory.expressions;
  scratch.set_position(0.0, q);
  std::fill_n(scratch.values.begin() + 1 + n_, n_, 0.0);
  for (const Entry& entry : entries_) numbers[entry.place] = numbers[entry.mirror] = entry.value(scratch.values);
  if (!lagrange_) return;
  for (Index i = 0; i < n_; ++i)
    for (Index j = i; j < n_; ++j)
      numbers[layout_.offset(i, j)] = numbers[layout_.offset(j, i)] = lagrange_->mass(scratch.values, i, j);
}

/// q: null where M is constant.
void EquationInertia::check(const SystemMatrix& M, const Vector* q, Memory& memory) const {
  if (M.storage() == Storage::dense) {
    memory.cholesky = M.dense();
    if (!bad_pivot(memory.cholesky)) return;
  } else {
    if (memory.factor.factorize(M, unpinned_)) return;
  }
  const std::string where = q ? " at " + describe_place(coordinates_, *q) : "";
  M.for_each([&](Index i, Index j, double value) {
    if (!std::isfinite(value))
      throw InputError(fmt::format("mass[{}][{}] is {}{}; it must be finite", i, j, value, where));
  });
  std::string reason;
  if (n_ <= 2000) {
    DenseMatrix copy = M.to_dense();
    if (const auto bad = bad_pivot(copy))
      reason = fmt::format(" (pivot {:.6g} for '{}')", bad->second, coordinates_[static_cast<std::size_t>(bad->first)]);
  }
  throw InputError(fmt::format("mass is not positive definite{}{}; every motion must have a positive kinetic energy",
                               where, reason));
}

}  // namespace stickslip
