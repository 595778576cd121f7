// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/solvers/one_law.hpp"

namespace stickslip {

template <int N>
void ContactSystem<N>::load(const BlockSparseMatrix& D, const Vector& b, const std::vector<Set>& sets,
                            const ProblemScale& scale) {
  const int n = static_cast<int>(sets.size());
  scale_ = scale;
  const double by_velocity = ProblemScale::down(scale_.velocity);
  plain_weight_ = 1 / ProblemScale::down(scale_.mobility);
  sets_.resize(n);
  cones_only_ = N == 3;
  for (int i = 0; i < n; ++i) {
    sets_[i] = scale_.scaled(sets[i], i);
    cones_only_ &= sets[i].kind == SetKind::friction_cone && sets[i].size == N;
  }
  columns_.resize(D.entries().size());
  for (std::size_t e = 0; e < columns_.size(); ++e) columns_[e] = D.entries()[e].column;
  sizes_.assign(n, N);
  D_.set_structure(sizes_, D.row_starts(), columns_);
  slabs_.build(D_);
  b_.assign(static_cast<std::size_t>(N) * n, 0.0);
  double square = 0;
  for (int i = 0; i < n; ++i) {
    const double by_mobility = ProblemScale::down(scale_.mobility_of(i));
    for (int c = 0; c < sets[i].size; ++c) b_[N * i + c] = by_velocity * b[D.start(i) + c];
    for (int c = 0; c < N; ++c) square += b_[N * i + c] * b_[N * i + c];
    for (std::size_t e = D.row_starts()[i]; e < D.row_starts()[i + 1]; ++e) {
      const int cols = sets[columns_[e]].size;
      const double* from = D.values(D.entries()[e]);
      double* to = D_.values(D_.entries()[e]);
      for (int row = 0; row < sets[i].size; ++row)
        for (int col = 0; col < cols; ++col) to[N * row + col] = by_mobility * from[cols * row + col];
    }
  }
  b_norm_ = std::sqrt(square);
  values_ = D_.all_values().data();
  d_.resize(n);
  double smallest = HUGE_VAL;
  for (int i = 0; i < n; ++i) {
    double trace = 0;
    for (int c = 0; c < sets[i].size; ++c) trace += diagonal(i)[c * (N + 1)];
    d_[i] = trace / sets[i].size;
    if (d_[i] > 0) smallest = std::min(smallest, d_[i]);
  }
  for (double& d : d_)
    if (!(d > 0)) d = smallest < HUGE_VAL ? smallest : 1.0;
  if constexpr (N == 3) {
    contacts_.resize(n);
    for (int i = 0; i < n; ++i)
      if (sets[i].kind == SetKind::friction_cone && sets[i].size == N)
        contacts_[i] = contact_block(sets[i].limit, diagonal(i));
  }
  lay_out_sweeps();
}

template <int N>
void ContactSystem<N>::lay_out_sweeps() {
  if (slabs_.parts(0) == 1) {
    swept_ = {D_.row_starts().data(), D_.diagonals().data(), columns_.data(), values_, b_.data(), contacts_.data()};
    return;
  }
  const std::size_t n = sets_.size();
  swept_starts_.resize(n + 1);
  swept_diagonals_.resize(n);
  swept_columns_.resize(columns_.size());
  swept_values_.resize(D_.all_values().size());
  swept_b_.resize(b_.size());
  swept_contacts_.resize(contacts_.size());
  std::size_t at = 0;
  for (std::size_t place = 0; place < n; ++place) {
    const auto i = static_cast<std::size_t>(slabs_.law(place));
    const std::size_t begin = D_.row_starts()[i], count = D_.row_starts()[i + 1] - begin;
    swept_starts_[place] = at;
    swept_diagonals_[place] = at + D_.diagonals()[i] - begin;
    std::copy_n(columns_.data() + begin, count, swept_columns_.data() + at);
    std::copy_n(values_ + kBlock * begin, kBlock * count, swept_values_.data() + kBlock * at);
    std::copy_n(b_.data() + N * i, N, swept_b_.data() + N * place);
    if constexpr (N == 3) swept_contacts_[place] = contacts_[i];
    at += count;
  }
  swept_starts_[n] = at;
  swept_ = {swept_starts_.data(), swept_diagonals_.data(), swept_columns_.data(),
            swept_values_.data(), swept_b_.data(),         swept_contacts_.data()};
}

template <int N>
void ContactSystem<N>::pad(const Vector& r, double* padded) const {
  Index first = 0;
  for (int i = 0; i < laws(); ++i)
    for (int c = 0; c < N; ++c) padded[N * i + c] = c < sets_[i].size ? scale_.from_reaction(r[first++], i) : 0.0;
}

template <int N>
void ContactSystem<N>::unpad_reactions(const double* padded, Vector& r) const {
  Index first = 0;
  for (int i = 0; i < laws(); ++i)
    for (int c = 0; c < sets_[i].size; ++c) r[first++] = scale_.to_reaction(padded[N * i + c], i);
}

template <int N>
void ContactSystem<N>::unpad_velocities(const double* padded, Vector& u) const {
  const double unit = 1 / ProblemScale::down(scale_.velocity);
  Index first = 0;
  for (int i = 0; i < laws(); ++i)
    for (int c = 0; c < sets_[i].size; ++c) u[first++] = unit * padded[N * i + c];
}

namespace {
/// y += A x for one block.
template <int N>
inline void add_block(const double* a, const double* x, double* y) {
  if constexpr (N == 3) {
    y[0] += a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
    y[1] += a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
    y[2] += a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
  } else if constexpr (N == 2) {
    y[0] += a[0] * x[0] + a[1] * x[1];
    y[1] += a[2] * x[0] + a[3] * x[1];
  } else {
    y[0] += a[0] * x[0];
  }
}
}  // namespace

template <int N>
template <class Work>
void ContactSystem<N>::in_chunks(Work&& work) const {
  const int chunks = (laws() + kChunk - 1) / kChunk;
  run_parts(threads_, chunks, [&](int k) {
    const auto begin = static_cast<std::size_t>(k) * kChunk;
    work(k, PartRange{begin, std::min<std::size_t>(begin + kChunk, sets_.size())});
  });
}

template <int N>
void ContactSystem<N>::multiply(const double* x, double* y) const {
  const BlockSparseMatrix::Entry* entry = D_.entries().data();
  const std::size_t* starts = D_.row_starts().data();
  in_chunks([&](int, PartRange range) {
    const double* a = values_ + kBlock * starts[range.begin];
    for (std::size_t i = range.begin; i < range.end; ++i) {
      double sum[N] = {};
      for (std::size_t e = starts[i]; e < starts[i + 1]; ++e, a += kBlock)
        add_block<N>(a, x + N * entry[e].column, sum);
      for (std::size_t c = 0; c < N; ++c) y[N * i + c] = sum[c];
    }
  });
}

template <int N>
void ContactSystem<N>::velocity(const Proximal& proximal, const double* r, double* u) const {
  multiply(r, u);
  const int m = size();
  for (int k = 0; k < m; ++k) u[k] += b_[k];
  if (proximal.alpha == 0) return;
  for (int i = 0; i < laws(); ++i)
    for (int c = N * i; c < N * i + N; ++c) u[c] += proximal.alpha * d_[i] * (r[c] - proximal.anchor[c]);
}

template <int N>
bool ContactSystem<N>::sweep(const Proximal& proximal, bool backward, double* r, double* slip) const {
  bool all = true;
  for (int step = 0; step < SweepSlabs::kPhases; ++step) {
    const int phase = backward ? SweepSlabs::kPhases - 1 - step : step;
    solved_.assign(slabs_.parts(phase), 1);
    run_parts(threads_, slabs_.parts(phase), [&](int k) {
      const PartRange places = slabs_.places(phase, k);
      bool solved = true;
      if (backward) {
        for (std::size_t place = places.end; place-- > places.begin;) solved &= relax(proximal, place, r, slip);
      } else {
        for (std::size_t place = places.begin; place < places.end; ++place) solved &= relax(proximal, place, r, slip);
      }
      solved_[k] = solved;
    });
    for (const char solved : solved_) all &= solved != 0;
  }
  return all;
}

/// The law at a place of the sweep alone, with the reactions of all others as they are.
template <int N>
bool ContactSystem<N>::relax(const Proximal& proximal, std::size_t place, double* r, double* slip) const {
  const int i = slabs_.law(place);
  const std::size_t own = swept_.diagonals[place], end = swept_.starts[place + 1];
  double q[N];
  for (std::size_t c = 0; c < N; ++c) q[c] = swept_.b[N * place + c];
  const auto add = [&](std::size_t e) { add_block<N>(swept_.values + kBlock * e, r + N * swept_.columns[e], q); };
  for (std::size_t e = swept_.starts[place]; e < own; ++e) add(e);
  for (std::size_t e = own + 1; e < end; ++e) add(e);
  double* ri = r + N * i;
  if constexpr (N == 3)
    if (proximal.alpha == 0 && cones_only_)
      return solve_contact(swept_.contacts[place], q, ri, slip[i]) != ContactState::none;
  const Set& set = sets_[i];
  std::array<double, kBlock> block;
  const double shift = proximal.alpha * d_[i];
  const int k = set.size;
  for (int a = 0; a < k; ++a) {
    for (int c = 0; c < k; ++c) block[k * a + c] = swept_.values[kBlock * own + N * a + c];
    block[(k + 1) * a] += shift;
    if (shift > 0) q[a] -= shift * proximal.anchor[N * i + a];
  }
  if constexpr (N == 3)
    if (set.kind == SetKind::friction_cone && k == 3) {
      const ContactBlock contact = proximal.alpha == 0 ? contacts_[i] : contact_block(set.limit, block.data());
      return solve_contact(contact, q, ri, slip[i]) != ContactState::none;
    }
  return solve_one_law(set, block.data(), q, ri);
}

template <int N>
void ContactSystem<N>::project_all(double* r) const {
  in_chunks([&](int, PartRange range) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const std::span<double> part(r + N * i, static_cast<std::size_t>(sets_[i].size));
      project(sets_[i], part, part);
    }
  });
}

namespace {
/// Square of |r - P(r - ρ (u + s(u)))| for one law.
template <int N>
double natural_map_square(const Set& set, const double* r, const double* u, double rho) {
  if constexpr (N == 3) {
    if (set.kind == SetKind::friction_cone && set.size == 3) {
      const double mu = set.limit;
      const double z1 = r[1] - rho * u[1], z2 = r[N - 1] - rho * u[N - 1];
      const double z0 = r[0] - rho * (u[0] + mu * std::sqrt(u[1] * u[1] + u[N - 1] * u[N - 1]));
      const double t = std::sqrt(z1 * z1 + z2 * z2);
      double p0 = z0, p1 = z1, p2 = z2;
      if (!(t <= mu * z0 && z0 >= 0)) {
        if (mu * t <= -z0) {
          p0 = p1 = p2 = 0;
        } else {
          p0 = (z0 + mu * t) / (1 + mu * mu);
          p1 = mu * p0 * (z1 / t);
          p2 = mu * p0 * (z2 / t);
        }
      }
      return (r[0] - p0) * (r[0] - p0) + (r[1] - p1) * (r[1] - p1) + (r[N - 1] - p2) * (r[N - 1] - p2);
    }
  }
  const std::size_t k = static_cast<std::size_t>(set.size);
  const double e = inclusion_residual(set, {r, k}, {u, k}, rho);
  return e * e;
}
}  // namespace

namespace {
constexpr double kRoundOff = 0x1p-53;
}

template <int N>
double ContactSystem<N>::residual(const double* r, const double* u) const {
  double sum = 0;
  for (int i = 0; i < laws(); ++i)
    sum += d_[i] * d_[i] * natural_map_square<N>(sets_[i], r + N * i, u + N * i, 1 / d_[i]);
  return b_norm_ > 0 ? std::sqrt(sum) / b_norm_ : std::sqrt(sum);
}

template <int N>
double ContactSystem<N>::round_off(const double* r) const {
  double pushed = 0;
  for (int i = 0; i < laws(); ++i)
    for (int c = N * i; c < N * i + N; ++c) pushed += d_[i] * d_[i] * r[c] * r[c];
  return b_norm_ > 0 ? kRoundOff * std::sqrt(pushed) / b_norm_ : 0.0;
}

/// In units of the reactions of the largest mobility; what is too large there counts as infinite.
template <int N>
double ContactSystem<N>::plain_square(int i, const double* r, const double* u) const {
  if (scale_.own.empty()) return natural_map_square<N>(sets_[i], r, u, plain_weight_);
  const int own = scale_.mobility_of(i);
  const double square = natural_map_square<N>(sets_[i], r, u, 1 / ProblemScale::down(own));
  return std::ldexp(square, 2 * (scale_.mobility - own));
}

template <int N>
typename ContactSystem<N>::Sums ContactSystem<N>::sums(StoppingMeasure measure, const double* r, const double* u,
                                                       PartRange range) const {
  const bool plain = measure == StoppingMeasure::error || measure == StoppingMeasure::strict_error;
  Sums sums;
  for (int i = static_cast<int>(range.begin); i < static_cast<int>(range.end); ++i) {
    const double* ri = r + N * i;
    const double* ui = u + N * i;
    const double d = d_[i], square = natural_map_square<N>(sets_[i], ri, ui, 1 / d);
    double reaction = 0, speed = 0;
    for (int c = 0; c < N; ++c) {
      reaction += ri[c] * ri[c];
      speed += ui[c] * ui[c];
      if (measure == StoppingMeasure::inclusion)
        sums.scale = std::max({sums.scale, std::abs(ri[c]), std::abs(ui[c]) / d});
    }
    sums.unit_free += square * d * d;
    sums.pushed += d * d * reaction;
    sums.largest = std::max(sums.largest, square);
    sums.rr += reaction;
    sums.uu += speed;
    if (plain) sums.plain += plain_square(i, ri, ui);
  }
  return sums;
}

template <int N>
double ContactSystem<N>::error(StoppingMeasure measure, const double* r, const double* u) const {
  constexpr double kSuspicious = 1e-4;  // of |b|: more of a residual is no matter of the scale it is divided by
  sums_.resize(laws() / kChunk + 1);
  in_chunks([&](int k, PartRange range) { sums_[k] = sums(measure, r, u, range); });
  double unit_free = 0, pushed = 0, plain_sum = 0, largest = 0, scale = 0, rr = 0, uu = 0;
  for (int k = 0; k * kChunk < laws(); ++k) {
    unit_free += sums_[k].unit_free;
    pushed += sums_[k].pushed;
    plain_sum += sums_[k].plain;
    largest = std::max(largest, sums_[k].largest);
    scale = std::max(scale, sums_[k].scale);
    rr += sums_[k].rr;
    uu += sums_[k].uu;
  }
  if (!std::isfinite(unit_free + pushed)) return HUGE_VAL;
  const double over_b = b_norm_ > 0 ? 1 / b_norm_ : 1.0;
  const double certain = over_b * std::max(std::sqrt(unit_free), b_norm_ > 0 ? kRoundOff * std::sqrt(pushed) : 0.0);
  const auto guarded = [&](double relative) { return certain > kSuspicious ? std::max(relative, certain) : relative; };
  const double e = std::sqrt(plain_sum);  // in units of r here, as is |r|; |b| and |u| are velocities over the weight
  switch (measure) {
    case StoppingMeasure::inclusion:
      return guarded(scale > 0 ? std::sqrt(largest) / scale : std::sqrt(largest));
    case StoppingMeasure::error: {
      const double over = std::max({plain_weight_ * b_norm_, std::sqrt(rr), plain_weight_ * std::sqrt(uu)});
      return guarded(over > 0 ? e / over : e);
    }
    case StoppingMeasure::strict_error:
      return std::max(certain, e * over_b / plain_weight_);
    case StoppingMeasure::unit_free:
      return certain;
  }
  return certain;
}

template class ContactSystem<2>;
template class ContactSystem<3>;

}  // namespace stickslip
