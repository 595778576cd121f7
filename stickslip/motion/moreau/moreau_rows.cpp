// SPDX-License-Identifier: Apache-2.0
// The rows of one step's problem: friction first, then the contact points that take part; and the impulses that its
// solution starts from.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

/// The rows of the last step again, to the last bit: W need not be built, nor anything that follows from it.
bool MoreauScheme::rows_are_the_same() const {
  if (active_.size() != filled_.size()) return false;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const Active &now = active_[k], &before = filled_[k];
    if (now.law != before.law || now.row != before.row) return false;
  }
  if (found_.rows_version != 0) return found_.rows_version == filled_version_;
  const SparseMatrix &a = found_.Wt, &b = filled_Wt_;
  return a.rows() == b.rows() && a.nonZeros() == b.nonZeros() &&
         std::equal(a.innerIndexPtr(), a.innerIndexPtr() + a.nonZeros(), b.innerIndexPtr()) &&
         std::equal(a.valuePtr(), a.valuePtr() + a.nonZeros(), b.valuePtr());
}

void MoreauScheme::fill_laws() {
  if (factor_version_of_rows_ == factor_version_ && rows_are_the_same()) {
    fill_velocities();
    return;
  }
  factor_version_of_rows_ = factor_version_;
  const Index n = system_.info().nv(), friction = laws_.components();
  Index m = friction, entries = laws_.Wt().nonZeros();
  for (const Active& active : active_) m += contacts_[static_cast<std::size_t>(active.law)].size();
  SparseMatrix& Wt = problem_.Wt;
  if (Wt.rows() != m || Wt.cols() != n) Wt.resize(m, n);
  Wt.setZero();
  Wt.reserve(entries + found_.Wt.nonZeros());
  problem_.w.resize(m);
  problem_.sets.clear();
  auto copy_row = [&](const SparseMatrix& from, Index row, Index to) {
    Wt.startVec(to);
    for (SparseMatrix::InnerIterator entry(from, row); entry; ++entry) Wt.insertBack(to, entry.col()) = entry.value();
  };
  for (Index i = 0; i < friction; ++i) copy_row(laws_.Wt(), i, i);
  for (Index k = 0; k < laws_.laws(); ++k) problem_.sets.push_back(laws_.element(k).set(0.0));
  for (const Active& active : active_) {
    const ContactElement& law = contacts_[static_cast<std::size_t>(active.law)];
    for (int c = 0; c < law.size(); ++c) copy_row(found_.Wt, active.row + c, active.first + c);
    problem_.sets.push_back(law.set(friction_coefficient(active)));
  }
  Wt.finalize();
  problem_.A_version = ++version_;
  ++problem_.sets_version;
  u0_.resize(m);
  fill_velocities();
  filled_ = active_;
  filled_version_ = found_.rows_version;
  if (filled_version_ == 0) filled_Wt_ = found_.Wt;
  prepare_rows();
}

/// Rows of friction alone never change.
void MoreauScheme::fill_lean() {
  if (problem_.Wt.cols() != v0_.size()) {
    problem_.Wt = laws_.Wt();
    problem_.sets.clear();
    for (Index k = 0; k < laws_.laws(); ++k) problem_.sets.push_back(laws_.element(k).set(0.0));
    problem_.w.setZero(laws_.components());
    u0_.setZero(laws_.components());
    sets_h_ = -1;
  }
  if (laws_.surface_moves()) problem_.w = w1_friction_;
  laws_.relative_velocity(v0_, w0_friction_, u0_);
}

/// What follows from the rows and the step matrix alone.
void MoreauScheme::prepare_rows() {
  const SparseMatrix& Wt = problem_.Wt;
  weights_.resize(static_cast<Index>(problem_.sets.size()));
  Index row = 0;
  for (std::size_t k = 0; k < problem_.sets.size(); ++k) {
    double sum = 0;
    for (int c = 0; c < problem_.sets[k].size; ++c, ++row)
      for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry)
        sum += entry.value() * entry.value() * inverse_diagonal_[entry.col()];
    weights_[static_cast<Index>(k)] = sum > 0 ? problem_.sets[k].size / sum : 1.0;
  }
  if (laws_.laws() > 0 || active_.size() != 1) return;
  const int size = problem_.sets[0].size;
  for (int c = 0; c < size; ++c) {
    Vector& column = single_column_[static_cast<std::size_t>(c)];
    column.setZero(Wt.cols());
    for (SparseMatrix::InnerIterator entry(Wt, c); entry; ++entry) column[entry.col()] = entry.value();
    factor_.solve(column);
    for (int d = 0; d < size; ++d) single_D_[static_cast<std::size_t>(d * size + c)] = row_times(Wt, d, column);
  }
}

/// What changes from step to step while the rows stay: velocities of the surfaces, and those before the step.
void MoreauScheme::fill_velocities() {
  const Index friction = laws_.components();
  problem_.w.head(friction) = w1_friction_;
  for (Index i = 0; i < friction; ++i) u0_[i] = row_times(problem_.Wt, i, v_m_) - w0_friction_[i];
  for (const Active& active : active_) {
    for (int c = 0; c < contacts_[static_cast<std::size_t>(active.law)].size(); ++c) {
      problem_.w[active.first + c] = w_end()[active.row + c];
      u0_[active.first + c] = row_times(problem_.Wt, active.first + c, v_m_) - w_start()[active.row + c];
    }
    problem_.w[active.first] -= active.bias;
  }
}

int MoreauScheme::last_index(std::uint64_t key) {
  if (last_sorted_.empty()) {
    for (std::size_t k = 0; k < last_keys_.size(); ++k) last_sorted_.emplace_back(last_keys_[k], static_cast<int>(k));
    std::sort(last_sorted_.begin(), last_sorted_.end());
  }
  const auto at = std::lower_bound(last_sorted_.begin(), last_sorted_.end(), std::pair<std::uint64_t, int>(key, -1));
  return at != last_sorted_.end() && at->first == key ? at->second : -1;
}

/// The normal rows of two points are opposite: what one takes the other gives.
bool MoreauScheme::back_to_back(const Active& a, const Active& b) const {
  const SparseMatrix& Wt = problem_.Wt;
  const int from = Wt.outerIndexPtr()[a.first], other = Wt.outerIndexPtr()[b.first];
  const int count = Wt.outerIndexPtr()[a.first + 1] - from;
  if (Wt.outerIndexPtr()[b.first + 1] - other != count) return false;
  double product = 0, aa = 0, bb = 0;
  for (int at = 0; at < count; ++at) {
    const int i = Wt.innerIndexPtr()[from + at];
    if (Wt.innerIndexPtr()[other + at] != i) return false;
    const double x = Wt.valuePtr()[from + at], y = Wt.valuePtr()[other + at];
    product += x * y * inverse_diagonal_[i];
    aa += x * x * inverse_diagonal_[i];
    bb += y * y * inverse_diagonal_[i];
  }
  constexpr double kOpposite = 1 - 1e-6;  // of the cosine, which is an angle of a thousandth
  return product < 0 && product * product > kOpposite * aa * bb;
}

/// Two points back to back, as in a guide without play, can press against each other with any force: laws alone do not
/// forbid it. These start from the forces that slightly soft points would have, of which no squeeze is one.
void MoreauScheme::release_squeezed_points() {
  constexpr std::size_t kMost = 64;  // pairs are looked at one by one
  if (active_.size() > kMost) return;
  bool squeezed = false;
  for (std::size_t k = 1; k < active_.size() && !squeezed; ++k)
    for (std::size_t j = 0; j < k && !squeezed; ++j) squeezed = back_to_back(active_[k], active_[j]);
  if (!squeezed) return;
  const Index m = problem_.Wt.rows(), friction = laws_.components();
  DenseMatrix D(m, m);
  DualProblem soft;
  soft.b.resize(m);
  for (Index i = 0; i < m; ++i) {
    scratch_.setZero();
    for (SparseMatrix::InnerIterator entry(problem_.Wt, i); entry; ++entry) scratch_[entry.col()] = entry.value();
    factor_.solve(scratch_);
    for (Index j = 0; j < m; ++j) D(j, i) = row_times(problem_.Wt, j, scratch_);
    soft.b[i] = row_times(problem_.Wt, i, v_free_) - problem_.w[i];
  }
  // Softness of the mobility, and how often what it gave way is taken back: so many times four digits are right.
  constexpr double kSoftness = 1e-4;
  constexpr int kRounds = 3;
  const Vector softness = kSoftness * D.diagonal(), b = soft.b;
  D.diagonal() += softness;
  soft.D = Delassus(std::move(D));
  soft.sets = problem_.sets;
  SolveOptions options = options_.solver;
  options.tolerance = 1e-12;
  Vector r = Vector::Zero(m);
  for (int round = 0; round < kRounds && r.allFinite(); ++round) {
    r = solve(soft, options, r).r;
    soft.b = b - softness.cwiseProduct(r);
  }
  if (r.allFinite()) solution_.r.tail(m - friction) = r.tail(m - friction);
}

void MoreauScheme::warm_start() {
  recall_impulses();
  release_squeezed_points();
  if (without_overlooked_.size() > 0) take_over_impulses();
}

/// What this step was solved by before points were added to it.
void MoreauScheme::take_over_impulses() {
  Vector& r = solution_.r;
  r.head(laws_.components()) = without_overlooked_.head(laws_.components());
  for (const Active& active : active_)
    if (active.solved >= 0) {
      const Index size = contacts_[static_cast<std::size_t>(active.law)].size();
      r.segment(active.first, size) = without_overlooked_.segment(active.solved, size);
    }
}

/// Those of the last step, point by point.
void MoreauScheme::recall_impulses() {
  const bool same_points =
      last_keys_.size() == active_.size() &&
      std::equal(active_.begin(), active_.end(), last_keys_.begin(), [&](const Active& active, std::uint64_t key) {
        return found_.points[static_cast<std::size_t>(active.found)].key == key;
      });
  Vector& r = solution_.r;
  if (same_points && stepped_) {
    r.resize(last_impulse_.size());
    for (Index i = 0; i < r.size(); ++i) r[i] = last_impulse_[i];
    for (std::size_t k = 0; k < active_.size(); ++k) active_[k].holds = last_stuck_[k];
    return;
  }
  const Index m = problem_.Wt.rows();
  r.resize(m);
  r.setZero();
  const Index friction = laws_.components();
  if (last_impulse_.size() >= friction) r.head(friction) = last_impulse_.head(friction);
  for (std::size_t k = 0; k < active_.size(); ++k) {
    Active& active = active_[k];
    if (!stepped_) active.holds = start_modes_[static_cast<std::size_t>(active.law)] == Mode::stick;
    const int last = last_index(found_.points[static_cast<std::size_t>(active.found)].key);
    if (last < 0) continue;
    active.holds = last_stuck_[static_cast<std::size_t>(last)];
    const int size = contacts_[static_cast<std::size_t>(active.law)].size();
    for (int c = 0; c < size; ++c) r[active.first + c] = last_impulse_[last_first_[static_cast<std::size_t>(last)] + c];
  }
}

}  // namespace stickslip
