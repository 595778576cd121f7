// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/stacked_laws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stickslip {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMultiple = 1e-14;  // of a row: what is left of a multiple of another
constexpr double kRoundOff = 16 * std::numeric_limits<double>::epsilon(), kTie = 1e-12;  // as in box_exchange.hpp

/// a with row = a other, 0 if there is none.
double multiple(const SparseMatrix& Wt, Index row, Index other) {
  const int from = Wt.outerIndexPtr()[row], to = Wt.outerIndexPtr()[row + 1], begin = Wt.outerIndexPtr()[other];
  if (Wt.outerIndexPtr()[other + 1] - begin != to - from || to == from) return 0;
  double largest = 0, a = 0;
  for (int k = 0; k < to - from; ++k) {
    if (Wt.innerIndexPtr()[from + k] != Wt.innerIndexPtr()[begin + k]) return 0;
    if (const double size = std::abs(Wt.valuePtr()[begin + k]); size > largest) {
      largest = size;
      a = Wt.valuePtr()[from + k] / Wt.valuePtr()[begin + k];
    }
  }
  for (int k = 0; k < to - from; ++k)
    if (std::abs(Wt.valuePtr()[from + k] - a * Wt.valuePtr()[begin + k]) > kMultiple * std::abs(a) * largest) return 0;
  return a;
}

double row_product(const SparseMatrix& Wt, Index row, const Vector& x) {
  double sum = 0;
  for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry) sum += entry.value() * x[entry.col()];
  return sum;
}

}  // namespace

bool StackedLaws::applies(const PrimalProblem& problem) {
  if (version_ == problem.A_version && rows_ == problem.Wt.rows()) return applies_;
  version_ = problem.A_version;
  rows_ = problem.Wt.rows();
  applies_ = all_boxes(problem.sets);
  if (applies_) find_groups(problem);
  applies_ = applies_ && static_cast<Index>(groups_.size()) < rows_;
  return applies_;
}

void StackedLaws::find_groups(const PrimalProblem& problem) {
  const SparseMatrix& Wt = problem.Wt;
  std::vector<Group> before;
  before.swap(groups_);
  row_.assign(static_cast<std::size_t>(rows_), Row());
  on_coordinates_ = true;
  std::vector<char> taken(static_cast<std::size_t>(problem.A->size()), 0);
  for (Index k = 0; k < rows_; ++k) {
    Row& row = row_[static_cast<std::size_t>(k)];
    row.group = -1;
    for (std::size_t i = 0; i < groups_.size() && row.group < 0; ++i)
      if (const double a = multiple(Wt, k, groups_[i].row); a != 0) {
        row.group = static_cast<int>(i);
        row.a = a;
      }
    if (row.group >= 0) continue;
    row.group = static_cast<int>(groups_.size());
    row.a = 1;
    Group group;
    group.row = static_cast<int>(k);
    const bool single = Wt.outerIndexPtr()[k + 1] - Wt.outerIndexPtr()[k] == 1;
    const Index at = single ? static_cast<Index>(Wt.innerIndexPtr()[Wt.outerIndexPtr()[k]]) : -1;
    if (single && Wt.valuePtr()[Wt.outerIndexPtr()[k]] == 1.0 && !taken[static_cast<std::size_t>(at)]) {
      group.coordinate = static_cast<int>(at);
      taken[static_cast<std::size_t>(at)] = 1;
    } else {
      on_coordinates_ = false;
    }
    group.state = groups_.size() < before.size() ? before[groups_.size()].state : 1;  // most guesses stay right
    groups_.push_back(group);
  }
}

void StackedLaws::find_levels(const PrimalProblem& problem) {
  for (Index k = 0; k < rows_; ++k) {
    Row& row = row_[static_cast<std::size_t>(k)];
    const Set& set = problem.sets[static_cast<std::size_t>(k)];
    const double lo = set.kind == SetKind::line ? -kInfinity : set.kind == SetKind::half_line ? 0.0 : -set.limit;
    const double hi = set.kind == SetKind::interval ? set.limit : kInfinity;
    row.low = row.a > 0 ? row.a * lo : row.a * hi;
    row.high = row.a > 0 ? row.a * hi : row.a * lo;
    if (lo == 0) (row.a > 0 ? row.low : row.high) = 0;  // 0 times a sign
  }
  const auto kink = [&](int k) { return problem.w[k] / row_[static_cast<std::size_t>(k)].a; };
  order_.resize(static_cast<std::size_t>(rows_));
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](int a, int b) {
    const int i = row_[static_cast<std::size_t>(a)].group, j = row_[static_cast<std::size_t>(b)].group;
    return i != j ? i < j : kink(a) != kink(b) ? kink(a) < kink(b) : a < b;
  });
  levels_.clear();
  int last = -1;
  for (const int k : order_) {
    Row& row = row_[static_cast<std::size_t>(k)];
    Group& group = groups_[static_cast<std::size_t>(row.group)];
    if (row.group != last) {
      group.first = static_cast<int>(levels_.size());
      group.levels = 0;
      last = row.group;
    }
    if (group.levels == 0 || levels_.back().at != kink(k)) {
      levels_.push_back({kink(k), 0, 0});
      ++group.levels;
    }
    row.level = group.levels - 1;
    levels_.back().low += row.low;
    levels_.back().high += row.high;
  }
  for (Group& group : groups_) {
    group.state = std::min(group.state, 2 * group.levels);
    // A guess must have a finite force: not below a stop that pushes up, not above one that pushes down.
    while (!held(group) && outside(group) == kInfinity) ++group.state;
    while (!held(group) && outside(group) == -kInfinity) --group.state;
    while (held(group) && outside(group) == kInfinity) group.state += 2;
    while (held(group) && outside(group) == -kInfinity) group.state -= 2;
  }
}

/// Force of the levels that the group is not at.
double StackedLaws::outside(const Group& group) const {
  double force = 0;
  const int at = group.state / 2;
  for (int j = 0; j < group.levels; ++j) {
    const Level& other = levels_[static_cast<std::size_t>(group.first + j)];
    if (held(group) && j == at) continue;
    force += j < at ? other.low : other.high;
  }
  return force;
}

void StackedLaws::form_dual(const PrimalProblem& problem) {
  const auto m = static_cast<Index>(groups_.size());
  const Index n = problem.A->size();
  if (dual_version_ != problem.A_version || D_.rows() != m) {
    pinned_.assign(static_cast<std::size_t>(n), 0);
    dual_version_ = kNoVersion;
    if (!plain_.factorize(*problem.A, pinned_)) return;
    columns_.resize(n, m);
    D_.resize(m, m);
    for (Index i = 0; i < m; ++i) {
      x_.setZero(n);
      for (SparseMatrix::InnerIterator entry(problem.Wt, groups_[static_cast<std::size_t>(i)].row); entry; ++entry)
        x_[entry.col()] = entry.value();
      plain_.solve(x_);
      columns_.col(i) = x_;
      for (Index j = 0; j < m; ++j) D_(j, i) = row_product(problem.Wt, groups_[static_cast<std::size_t>(j)].row, x_);
    }
    dual_version_ = problem.A_version;
  }
  v_ = problem.g;
  plain_.solve(v_);
  free_ = v_;
}

/// Groups at a level have their velocity and an unknown force, the others a known force.
bool StackedLaws::solve_on_coordinates(const PrimalProblem& problem, StopRequest stop) {
  const SystemMatrix& A = *problem.A;
  bool changed = factored_version_ != problem.A_version || static_cast<Index>(pinned_.size()) != A.size();
  pinned_.resize(static_cast<std::size_t>(A.size()), 0);
  v_ = problem.g;
  x_.setZero(A.size());
  for (const Group& group : groups_) {
    const auto c = static_cast<std::size_t>(group.coordinate);
    changed |= pinned_[c] != static_cast<char>(held(group));
    pinned_[c] = held(group);
    if (held(group))
      x_[group.coordinate] = level(group).at;
    else
      v_[group.coordinate] += outside(group);
  }
  if (changed) {
    factored_version_ = kNoVersion;
    if (!factor_.factorize(A, pinned_, stop)) return false;
    factored_version_ = problem.A_version;
  }
  A.add_product(-1.0, x_, v_);
  for (const Group& group : groups_)
    if (held(group)) v_[group.coordinate] = x_[group.coordinate];
  factor_.solve(v_);
  x_ = -problem.g;
  A.add_product(1.0, v_, x_);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto at = static_cast<Index>(i);
    const Index c = groups_[i].coordinate;
    force_[at] = held(groups_[i]) ? x_[c] : outside(groups_[i]);
    velocity_[at] = v_[c];
    force_terms_[at] = std::abs(problem.g[c]) + A.row_size(c, v_);
    velocity_terms_[at] = std::abs(v_[c]) + (force_terms_[at] + std::abs(force_[at])) / A(c, c);
  }
  return v_.allFinite() && force_.allFinite();
}

bool StackedLaws::solve_in_dual(StopRequest stop) {
  const auto m = static_cast<Index>(groups_.size());
  pinned_.assign(groups_.size(), 0);
  x_.resize(m);
  for (Index i = 0; i < m; ++i) {
    const Group& group = groups_[static_cast<std::size_t>(i)];
    pinned_[static_cast<std::size_t>(i)] = !held(group);
    force_[i] = held(group) ? 0.0 : outside(group);
    x_[i] = (held(group) ? level(group).at : 0.0) - velocity_terms_[i];  // which holds W·v_free here
  }
  x_.noalias() -= D_ * force_;
  for (Index i = 0; i < m; ++i)
    if (pinned_[static_cast<std::size_t>(i)]) x_[i] = force_[i];
  if (!factor_.factorize(D_, pinned_, stop)) return false;
  factor_.solve(x_);
  force_ = x_;
  velocity_ = velocity_terms_;
  velocity_.noalias() += D_ * force_;
  return force_.allFinite() && velocity_.allFinite();
}

bool StackedLaws::solve_guess(const PrimalProblem& problem, StopRequest stop) {
  if (on_coordinates_) return solve_on_coordinates(problem, stop);
  if (dual_version_ != problem.A_version) return false;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    velocity_terms_[static_cast<Index>(i)] = row_product(problem.Wt, groups_[i].row, free_);
  if (!solve_in_dual(stop)) return false;
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    const auto i = static_cast<Index>(k);
    double sum = std::abs(velocity_terms_[i]);
    for (Index j = 0; j < force_.size(); ++j) sum += std::abs(D_(i, j) * force_[j]);
    if (held(groups_[k])) velocity_[i] = level(groups_[k]).at;
    velocity_terms_[i] = sum;
    force_terms_[i] = std::abs(force_[i]) + sum / D_(i, i);
  }
  v_ = free_;
  v_.noalias() += columns_ * force_;
  return true;
}

/// Where the group has to go: +1, -1, or 0.
int StackedLaws::way_on(std::size_t i) const {
  const Group& group = groups_[i];
  const auto at = static_cast<Index>(i);
  if (held(group)) {
    const double own = force_[at] - outside(group);
    return own < level(group).low ? 1 : own > level(group).high ? -1 : 0;
  }
  const int above = group.state / 2;  // the level above
  if (above > 0 && velocity_[at] < levels_[static_cast<std::size_t>(group.first + above - 1)].at) return -1;
  if (above < group.levels && velocity_[at] > levels_[static_cast<std::size_t>(group.first + above)].at) return 1;
  return 0;
}

/// Relative to its terms.
double StackedLaws::violation(std::size_t i) const {
  const int way = way_on(i);
  if (way == 0) return 0;
  const Group& group = groups_[i];
  const auto at = static_cast<Index>(i);
  if (held(group)) {
    const double own = force_[at] - outside(group);
    return std::abs(own - (way > 0 ? level(group).low : level(group).high)) /
           (force_terms_[at] + std::abs(outside(group)));
  }
  const int other = way > 0 ? group.state / 2 : group.state / 2 - 1;
  const double x = levels_[static_cast<std::size_t>(group.first + other)].at;
  return std::abs(velocity_[at] - x) / (velocity_terms_[at] + std::abs(x));
}

void StackedLaws::share(const PrimalProblem& problem, InclusionSolution& solution) {
  solution.v = v_;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (!held(group)) continue;
    Level finite;  // of the rows at this level whose bounds are
    for (const Row& row : row_)
      if (row.group == static_cast<int>(i) && row.level == group.state / 2) {
        if (std::isfinite(row.low)) finite.low += row.low;
        if (std::isfinite(row.high)) finite.high += row.high;
      }
    const double own = force_[static_cast<Index>(i)] - outside(group), width = finite.high - finite.low;
    const double fraction = width > 0 ? std::clamp((own - finite.low) / width, 0.0, 1.0) : 0.0;
    double left = own;  // for rows without bounds
    const auto at_level = [&](const Row& row) {
      return row.group == static_cast<int>(i) && row.level == group.state / 2;
    };
    for (std::size_t k = 0; k < row_.size(); ++k)
      if (const Row& row = row_[k]; at_level(row) && std::isfinite(row.high - row.low)) {
        const double f = row.low + fraction * (row.high - row.low);
        solution.r[static_cast<Index>(k)] = f / row.a;
        left -= f;
      }
    for (std::size_t k = 0; k < row_.size(); ++k)
      if (const Row& row = row_[k]; at_level(row) && !std::isfinite(row.high - row.low)) {
        const double f = std::clamp(left, row.low, row.high);
        solution.r[static_cast<Index>(k)] = f / row.a;
        left -= f;
      }
  }
  for (std::size_t k = 0; k < row_.size(); ++k) {
    const Row& row = row_[k];
    const Group& group = groups_[static_cast<std::size_t>(row.group)];
    const auto at = static_cast<Index>(k);
    const bool here = held(group) && row.level == group.state / 2;
    solution.u[at] = here ? 0.0 : row.a * velocity_[row.group] - problem.w[at];
    if (!here) solution.r[at] = (row.level < group.state / 2 ? row.low : row.high) / row.a;
  }
}

void StackedLaws::solve(const PrimalProblem& problem, const ActiveSetOptions& options, InclusionSolution& solution) {
  const std::size_t m = groups_.size();
  find_levels(problem);
  for (Vector* x : {&force_, &velocity_, &force_terms_, &velocity_terms_}) x->resize(static_cast<Index>(m));
  if (!on_coordinates_) form_dual(problem);
  solution.solver = "stacked_laws";
  solution.message.clear();
  solution.r.setZero(rows_);
  solution.u.setZero(rows_);
  const int limit = options.max_iterations > 0 ? options.max_iterations : 1000 + 20 * static_cast<int>(rows_);
  std::size_t fewest = m + 1;
  int patience = options.patience;
  for (solution.iterations = 1; solution.iterations <= limit; ++solution.iterations) {
    const bool solved = !raised(options.stop) && solve_guess(problem, options.stop);
    solution.status = raised(options.stop) ? Status::interrupted : Status::refused;
    if (!solved) return;
    std::size_t count = 0, least = m;
    double worst = 0;
    for (std::size_t i = 0; i < m; ++i)
      if (const double size = violation(i); size > kRoundOff) {
        ++count;
        worst = std::max(worst, size);
        least = std::min(least, i);
      }
    if (count == 0 || (patience < 0 && worst <= kTie)) {
      solution.status = Status::success;
      return share(problem, solution);
    }
    patience = count < fewest ? options.patience : patience - 1;
    fewest = std::min(fewest, count);
    for (std::size_t i = least; i < (patience < 0 ? least + 1 : m); ++i)
      if (violation(i) > kRoundOff) groups_[i].state += way_on(i);
  }
  solution.status = Status::not_converged;
}

}  // namespace stickslip
