// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_patches.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {
constexpr double kWorst = 0.03;  // of the largest error: what a patch starts from

/// What the measure divides by, of `count` laws; law(k) says which.
template <int N, class Law>
double denominator(const ContactSystem<N>& system, StoppingMeasure measure, const double* r, const double* u, int count,
                   double b_norm, Law&& law) {
  if (measure != StoppingMeasure::inclusion) return b_norm;
  double largest = 0;
  for (int k = 0; k < count; ++k) {
    const int i = law(k);
    for (int c = N * i; c < N * i + N; ++c) largest = std::max({largest, std::abs(r[c]), std::abs(u[c]) / system.d(i)});
  }
  return largest;
}
}  // namespace

template <int N>
int ContactPatches<N>::find(const ContactSystem<N>& system, const ContactGoal& goal, const double* r, const double* u,
                            double share, int rings, int most) {
  const int n = system.laws();
  for (int i = 0; i < n; ++i)
    if (system.set(i).size != N) return 0;
  const double bound =
      share * goal.tolerance * denominator(system, goal.measure, r, u, n, system.b_norm(), [](int k) { return k; });
  by_error_.clear();
  double total = 0;
  for (int i = 0; i < n; ++i) {
    const std::size_t k = static_cast<std::size_t>(system.set(i).size);
    double e = inclusion_residual(system.set(i), {r + N * i, k}, {u + N * i, k}, 1 / system.d(i));
    if (goal.measure != StoppingMeasure::inclusion) e *= system.d(i);
    total += e * e;
    by_error_.emplace_back(e, i);
  }
  std::sort(by_error_.begin(), by_error_.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  spread_ = 0;
  patch_.assign(n, -1);
  laws_.clear();
  const double worst = by_error_.empty() ? 0.0 : by_error_[0].first;
  for (const auto& [e, i] : by_error_) {
    const double rest = goal.measure == StoppingMeasure::inclusion ? e : std::sqrt(std::max(total, 0.0));
    if (rest <= bound || e < kWorst * worst) break;
    total -= e * e;
    spread_ += 1.0 / n;
    if (static_cast<int>(laws_.size()) >= most) continue;
    front_.assign(1, i);
    for (int ring = 0; ring <= rings; ++ring) {
      next_.clear();
      for (const int j : front_) {
        if (patch_[j] < 0) {
          patch_[j] = 0;
          laws_.push_back(j);
        }
        if (ring == rings) continue;
        for (std::size_t entry = system.row_starts()[j]; entry < system.row_starts()[j + 1]; ++entry)
          next_.push_back(system.entries()[entry].column);
      }
      std::sort(next_.begin(), next_.end());
      next_.erase(std::unique(next_.begin(), next_.end()), next_.end());
      std::swap(front_, next_);
    }
  }
  if (laws_.empty()) return 0;
  // Connected patches, numbered from 1 while they are collected.
  front_ = laws_;
  std::sort(front_.begin(), front_.end());
  laws_.clear();
  starts_.assign(1, 0);
  for (const int seed : front_) {
    if (patch_[seed] != 0) continue;
    const int number = static_cast<int>(starts_.size());
    patch_[seed] = number;
    laws_.push_back(seed);
    for (std::size_t k = static_cast<std::size_t>(starts_.back()); k < laws_.size(); ++k)
      for (std::size_t e = system.row_starts()[laws_[k]]; e < system.row_starts()[laws_[k] + 1]; ++e) {
        const int j = system.entries()[e].column;
        if (patch_[j] != 0) continue;
        patch_[j] = number;
        laws_.push_back(j);
      }
    std::sort(laws_.begin() + starts_.back(), laws_.end());
    starts_.push_back(static_cast<int>(laws_.size()));
  }
  local_.resize(n);
  for (std::size_t p = 0; p + 1 < starts_.size(); ++p)
    for (int k = starts_[p]; k < starts_[p + 1]; ++k) local_[laws_[k]] = k - starts_[p];
  return static_cast<int>(starts_.size()) - 1;
}

template <int N>
void ContactPatches<N>::extract(int k, const ContactSystem<N>& system, const double* r, ContactPatch& patch) const {
  patch.number = k + 1;
  patch.first = starts_[k];
  patch.count = starts_[k + 1] - patch.first;
  patch.sizes.assign(patch.count, N);
  patch.row_starts.assign(1, 0);
  patch.columns.clear();
  patch.sets.clear();
  patch.b.resize(N * patch.count);
  for (int a = 0; a < patch.count; ++a) {
    const int i = laws_[patch.first + a];
    patch.sets.push_back(system.set(i));
    for (int c = 0; c < N; ++c) patch.b[N * a + c] = system.b()[N * i + c];
    for (std::size_t e = system.row_starts()[i]; e < system.row_starts()[i + 1]; ++e) {
      const int j = system.entries()[e].column;
      if (patch_[j] == patch.number) {
        patch.columns.push_back(local_[j]);
        continue;
      }
      const double* block = system.block(e);
      for (int row = 0; row < N; ++row)
        for (int col = 0; col < N; ++col) patch.b[N * a + row] += block[N * row + col] * r[N * j + col];
    }
    patch.row_starts.push_back(patch.columns.size());
  }
  patch.D.set_structure(patch.sizes, patch.row_starts, patch.columns);
  double* out = patch.D.all_values().data();
  for (int a = 0; a < patch.count; ++a) {
    const int i = laws_[patch.first + a];
    for (std::size_t e = system.row_starts()[i]; e < system.row_starts()[i + 1]; ++e)
      if (patch_[system.entries()[e].column] == patch.number) out = std::copy_n(system.block(e), N * N, out);
  }
}

template <int N>
void ContactPatches<N>::gather(const ContactPatch& patch, const double* r, double* own) const {
  for (int a = 0; a < patch.count; ++a) std::copy_n(r + N * laws_[patch.first + a], N, own + N * a);
}

template <int N>
void ContactPatches<N>::scatter(const ContactPatch& patch, const double* own, double* r) const {
  for (int a = 0; a < patch.count; ++a) std::copy_n(own + N * a, N, r + N * laws_[patch.first + a]);
}

template <int N>
ContactGoal ContactPatches<N>::goal(const ContactPatch& patch, const ContactSystem<N>& system, const ContactGoal& goal,
                                    const double* r, const double* u, double share) const {
  const double whole = denominator(system, goal.measure, r, u, system.laws(), system.b_norm(), [](int k) { return k; });
  const double part = denominator(system, goal.measure, r, u, patch.count, patch.b.norm(),
                                  [&](int k) { return laws_[patch.first + k]; });
  ContactGoal result = goal;
  if (goal.measure != StoppingMeasure::inclusion) result.measure = StoppingMeasure::unit_free;
  if (whole > 0 && part > 0) result.tolerance = share * goal.tolerance * whole / part;
  return result;
}

template class ContactPatches<2>;
template class ContactPatches<3>;

}  // namespace stickslip
