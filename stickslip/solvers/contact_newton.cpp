// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_newton.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/common/plane_norm.hpp"

namespace stickslip {

namespace {

/// Gradient of the shift s(u) with respect to u: only its normal component is not zero.
template <int N>
void shift_gradient(const Set& set, const double* u, double* gradient) {
  std::fill_n(gradient, N, 0.0);
  if (!is_cone(set.kind)) return;
  const double speed = set.size == 3 ? plane_norm(u[1], u[N - 1]) : std::abs(u[1]);
  if (!(speed > 0)) return;
  if (set.kind == SetKind::friction_cone) {
    for (int c = 1; c < set.size; ++c) gradient[c] = set.limit * u[c] / speed;
    return;
  }
  // Piecewise linear: differences are exact inside a piece.
  const std::size_t k = static_cast<std::size_t>(set.size);
  std::array<double, N> ahead, s, s_ahead;
  shift(set, {u, k}, {s.data(), k});
  for (int j = 1; j < set.size; ++j) {
    std::copy_n(u, N, ahead.begin());
    const double delta = 1e-7 * speed;
    ahead[j] += delta;
    shift(set, {ahead.data(), k}, {s_ahead.data(), k});
    gradient[j] = (s_ahead[0] - s[0]) / delta;
  }
}

}  // namespace

template <int N>
void ContactNewton<N>::resize(const ContactSystem<N>& system) {
  const std::size_t m = static_cast<std::size_t>(system.size()), n = static_cast<std::size_t>(system.laws());
  for (auto* x : {&r_, &u_, &F_, &direction_, &image_, &trial_r_, &trial_u_, &trial_F_, &anchor_, &best_, &true_u_,
                  &by_smoothing_, &tangent_, &last_tangent_, &response_, &base_})
    x->resize(m);
  slope_.resize(m * N);
  rest_.resize(m * N);
  active_.resize(n);
  const std::size_t entries = system.entries().size();
  bool same = columns_.size() == entries && sizes_.size() == n &&
              std::equal(rows_.begin(), rows_.end(), system.row_starts().begin(), system.row_starts().end());
  for (std::size_t e = 0; same && e < entries; ++e) same = columns_[e] == system.entries()[e].column;
  if (same) return;
  columns_.resize(entries);
  for (std::size_t e = 0; e < entries; ++e) columns_[e] = system.entries()[e].column;
  rows_.assign(system.row_starts().begin(), system.row_starts().end());
  sizes_.assign(n, N);
  lu_.analyze(sizes_, system.row_starts(), columns_);
}

template <int N>
void ContactNewton<N>::evaluate_alart_curnier(const Set& set, double rho, const double* r, const double* u, double* F,
                                              int law, bool slopes) {
  double z[N];
  for (int c = 0; c < N; ++c) z[c] = r[c] - rho * u[c];
  double J[N * N] = {};
  active_[law] = slopes ? z[0] > 0 : active_[law];
  if (z[0] <= 0) {
    for (int c = 0; c < N; ++c) F[c] = r[c];
  } else {
    const double radius = set.limit * z[0];
    const double t = N == 3 ? std::sqrt(z[1] * z[1] + z[N - 1] * z[N - 1]) : std::abs(z[1]);
    if (t <= radius) {
      for (int c = 0; c < N; ++c) {
        F[c] = rho * u[c];
        J[(N + 1) * c] = 1;
      }
    } else {
      F[0] = rho * u[0];
      J[0] = 1;
      for (int a = 1; a < N; ++a) {
        F[a] = r[a] - radius * z[a] / t;
        J[N * a] = set.limit * z[a] / t;
        for (int c = 1; c < N; ++c) J[N * a + c] = radius / t * ((a == c) - z[a] / t * (z[c] / t));
      }
    }
  }
  if (!slopes) return;
  for (int a = 0; a < N; ++a)
    for (int c = 0; c < N; ++c) {
      rest_[N * N * law + N * a + c] = (a == c) - J[N * a + c];
      slope_[N * N * law + N * a + c] = rho * J[N * a + c];
    }
}

template <int N>
void ContactNewton<N>::evaluate_natural_map(const Set& set, double rho, const double* r, const double* u, double* F,
                                            int law, bool slopes) {
  const std::size_t k = static_cast<std::size_t>(set.size);
  std::array<double, N> s{}, z{}, p{};
  shift(set, {u, k}, {s.data(), k});
  for (std::size_t c = 0; c < k; ++c) z[c] = r[c] - rho * (u[c] + s[c]);
  project(set, {z.data(), k}, {p.data(), k});
  for (int c = 0; c < N; ++c) F[c] = r[c] - p[c];
  if (!slopes) return;
  std::array<double, N * N> J{};
  projection_jacobian(set, {z.data(), k}, {J.data(), k * k});
  double gradient[N];
  shift_gradient<N>(set, u, gradient);
  bool any = false;
  for (int a = 0; a < N; ++a)
    for (int c = 0; c < N; ++c) {
      const bool inside = a < set.size && c < set.size;
      const double j = inside ? J[k * a + c] : 0.0;
      any |= j != 0;
      rest_[N * N * law + N * a + c] = (a == c) - j;
      slope_[N * N * law + N * a + c] = rho * (j + (inside ? J[k * a] * gradient[c] : 0.0));
    }
  active_[law] = any;
}

template <int N>
void ContactNewton<N>::evaluate_smoothed(const Set& set, double rho, double d, const double* r, const double* u,
                                         double* F, int law, bool slopes) {
  const double mu = set.limit, eps = smoothing_, tiny = slip_smoothing_ * eps * d;
  double speed = 0, t = 0, z[N];
  for (int c = 1; c < N; ++c) speed += u[c] * u[c];
  speed = std::sqrt(speed + tiny * tiny);
  z[0] = mu * r[0] - rho * (u[0] + mu * (speed - tiny)) / mu;
  for (int c = 1; c < N; ++c) {
    z[c] = r[c] - rho * u[c];
    t += z[c] * z[c];
  }
  t = std::sqrt(t);
  // Spectral values of z, of Φ and of its derivative; without cancellation for negative ones.
  const double l[2] = {z[0] - t, z[0] + t};
  double f[2], g[2], by[2];
  for (int k = 0; k < 2; ++k) {
    const double root = std::sqrt(l[k] * l[k] + 4 * eps * eps);
    f[k] = l[k] > 0 ? 0.5 * (l[k] + root) : 2 * eps * eps / (root - l[k]);
    g[k] = f[k] / root;
    by[k] = 2 * eps / root;
  }
  double w[N] = {};
  for (int c = 1; c < N; ++c) w[c] = t > 0 ? z[c] / t : c == 1;
  F[0] = mu * r[0] - 0.5 * (f[0] + f[1]);
  for (int c = 1; c < N; ++c) F[c] = r[c] - 0.5 * (f[1] - f[0]) * w[c];
  if (!slopes) return;
  active_[law] = 1;
  const double along = 0.5 * (g[0] + g[1]), mixed = 0.5 * (g[1] - g[0]),
               across = t > 0 ? (f[1] - f[0]) / (2 * t) : along;
  double J[N * N];
  J[0] = along;
  for (int a = 1; a < N; ++a) {
    J[a] = J[N * a] = mixed * w[a];
    for (int c = 1; c < N; ++c) J[N * a + c] = (a == c ? across : 0.0) + (along - across) * w[a] * w[c];
  }
  const double z_by_eps = speed > 0 ? rho * (1 - tiny / speed) * slip_smoothing_ * d : 0.0;
  by_smoothing_[N * law] = -0.5 * (by[0] + by[1]) - J[0] * z_by_eps;
  for (int c = 1; c < N; ++c) by_smoothing_[N * law + c] = -0.5 * (by[1] - by[0]) * w[c] - J[N * c] * z_by_eps;
  for (int a = 0; a < N; ++a)
    for (int c = 0; c < N; ++c) {
      const double by_shift = c > 0 && speed > 0 ? J[N * a] * u[c] / speed : 0.0;
      rest_[N * N * law + N * a + c] = ((a == c) - J[N * a + c]) * (c == 0 ? mu : 1.0);
      slope_[N * N * law + N * a + c] = rho * (c == 0 ? J[N * a] / mu : J[N * a + c] + by_shift);
    }
}

template <int N>
double ContactNewton<N>::evaluate(const ContactSystem<N>& system, const double* r, const double* u, double* F,
                                  bool slopes) {
  double merit = 0;
  for (int i = 0; i < system.laws(); ++i) {
    const Set& set = system.set(i);
    const double rho = step_scale_ / system.d(i);
    double* Fi = F + N * i;
    const bool coulomb = set.kind == SetKind::friction_cone && set.size == N;
    if (coulomb && smoothing_ > 0 && set.limit > 0) {
      evaluate_smoothed(set, rho, system.d(i), r + N * i, u + N * i, Fi, i, slopes);
    } else if (coulomb && function_ == ResidualFunction::alart_curnier) {
      evaluate_alart_curnier(set, rho, r + N * i, u + N * i, Fi, i, slopes);
    } else {
      evaluate_natural_map(set, rho, r + N * i, u + N * i, Fi, i, slopes);
    }
    double square = 0;
    for (int c = 0; c < N; ++c) square += Fi[c] * Fi[c];
    merit += system.d(i) * square;
  }
  return merit;
}

template <int N>
bool ContactNewton<N>::factorize(const ContactSystem<N>& system, const Proximal& proximal, double levenberg) {
  auto fill = [&](int entry, int row, int column, double* out, int ld, bool transposed) {
    const double* D = system.block(static_cast<std::size_t>(entry));
    const double* slope = slope_.data() + N * N * row;
    const double shift = row == column ? proximal.alpha * system.d(row) : 0.0;
    for (int a = 0; a < N; ++a)
      for (int c = 0; c < N; ++c) {
        double sum = shift * slope[N * a + c];
        for (int k = 0; k < N; ++k) sum += slope[N * a + k] * D[N * k + c];
        if (row == column) sum += rest_[N * N * row + N * a + c] + (a == c ? levenberg : 0.0);
        out[transposed ? c + a * ld : a + c * ld] += sum;
      }
  };
  return lu_.factorize(active_, fill);
}

template <int N>
bool ContactNewton<N>::solve_linear(const ContactSystem<N>& system, const double* F, std::vector<double>& x) {
  // Laws that left the system: d_i = -F_i moves to the right-hand side of the others.
  const int n = system.laws();
  bool moves = false;
  for (int i = 0; i < n; ++i)
    for (int c = N * i; c < N * i + N; ++c) {
      x[c] = -F[c];
      moves |= !active_[i] && F[c] != 0;
    }
  if (moves) {
    const auto entries = system.entries();
    const auto starts = system.row_starts();
    for (int i = 0; i < n; ++i) {
      if (!active_[i]) continue;
      double sum[N] = {};
      for (std::size_t e = starts[i]; e < starts[i + 1]; ++e) {
        const int j = entries[e].column;
        if (active_[j]) continue;
        const double* D = system.block(e);
        for (int a = 0; a < N; ++a)
          for (int c = 0; c < N; ++c) sum[a] += D[N * a + c] * F[N * j + c];
      }
      const double* slope = slope_.data() + N * N * i;
      for (int a = 0; a < N; ++a)
        for (int c = 0; c < N; ++c) x[N * i + a] += slope[N * a + c] * sum[c];
    }
  }
  lu_.solve(x.data());
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

template <int N>
bool ContactNewton<N>::newton_direction(const ContactSystem<N>& system, const Proximal& proximal, double levenberg) {
  return factorize(system, proximal, levenberg) && solve_linear(system, F_.data(), direction_);
}

template <int N>
bool ContactNewton<N>::search(const ContactSystem<N>& system, const Proximal& proximal, double merit, int memory) {
  const int m = system.size();
  merits_[merit_count_++ % memory] = merit;
  const double reference = *std::max_element(merits_.begin(), merits_.begin() + std::min(merit_count_, memory));
  system.multiply(direction_.data(), image_.data());
  if (proximal.alpha > 0)
    for (int i = 0; i < system.laws(); ++i)
      for (int c = N * i; c < N * i + N; ++c) image_[c] += proximal.alpha * system.d(i) * direction_[c];
  for (double t = 1; t > 1e-3; t *= 0.5) {
    for (int k = 0; k < m; ++k) {
      trial_r_[k] = r_[k] + t * direction_[k];
      trial_u_[k] = u_[k] + t * image_[k];
    }
    const double trial = evaluate(system, trial_r_.data(), trial_u_.data(), trial_F_.data(), false);
    if (trial <= (1 - 1e-4 * t) * reference) {
      std::swap(r_, trial_r_);
      std::swap(u_, trial_u_);
      return true;
    }
  }
  return false;
}

template <int N>
void ContactNewton<N>::note(const ContactSystem<N>& system, const ContactGoal& goal, const Proximal& proximal) {
  for (int i = 0; i < system.laws(); ++i)
    for (int c = N * i; c < N * i + N; ++c)
      true_u_[c] = u_[c] - proximal.alpha * system.d(i) * (r_[c] - proximal.anchor[c]);
  true_error_ = system.error(goal.measure, r_.data(), true_u_.data());
  if (true_error_ > goal.tolerance) {
    if (true_error_ < best_error_) {
      best_error_ = true_error_;
      best_ = r_;
    }
    return;
  }
  // Good enough, but the iterates need not lie in C and the answer must.
  trial_r_ = r_;
  system.project_all(trial_r_.data());
  system.velocity({}, trial_r_.data(), true_u_.data());
  true_error_ = system.error(goal.measure, trial_r_.data(), true_u_.data());
  if (true_error_ < best_error_) {
    best_error_ = true_error_;
    best_ = trial_r_;
  }
}

template <int N>
bool ContactNewton<N>::solve_proximal(const ContactSystem<N>& system, const ContactGoal& goal, const Proximal& proximal,
                                      int max_steps, double* slip, int& iterations) {
  constexpr int kFailures = 3, kSweeps = 5, kMemory = 10;
  system.velocity(proximal, r_.data(), u_.data());
  double merit = evaluate(system, r_.data(), u_.data(), F_.data(), true);
  merit_count_ = 0;
  int failures = 0;
  for (int step = 0; step < max_steps; ++step) {
    note(system, goal, proximal);
    if (best_error_ <= goal.tolerance) return true;
    if (step > 0 && system.error(goal.measure, r_.data(), u_.data()) <= 0.5 * true_error_) return true;
    if (goal.expired()) return false;
    ++iterations;
    if (newton_direction(system, proximal, levenberg_) && search(system, proximal, merit, kMemory)) {
      levenberg_ = std::max(1e-10, 0.3 * levenberg_);
    } else {
      if (++failures > kFailures) return false;
      levenberg_ = std::min(1e-1, 10 * levenberg_);
      system.project_all(r_.data());
      for (int k = 0; k < kSweeps; ++k) system.sweep(proximal, false, r_.data(), slip);
      system.velocity(proximal, r_.data(), u_.data());
      merit_count_ = 0;
    }
    merit = evaluate(system, r_.data(), u_.data(), F_.data(), true);
  }
  return false;
}

template <int N>
double ContactNewton<N>::solve(const ContactSystem<N>& system, const ContactGoal& goal,
                               const ProximalNewtonOptions& options, double* r, double* slip, int& iterations) {
  resize(system);
  smoothing_ = 0;
  function_ = options.function;
  step_scale_ = options.step_scale;
  std::copy_n(r, system.size(), r_.begin());
  best_ = r_;
  system.velocity({}, r, true_u_.data());
  best_error_ = system.error(goal.measure, r, true_u_.data());
  levenberg_ = 1e-6;
  double alpha = options.alpha;
  const int last = iterations + options.max_iterations;
  while (best_error_ > goal.tolerance && iterations < last && !goal.expired()) {
    anchor_ = r_;
    const int before = iterations;
    const double error_before = best_error_;
    if (solve_proximal(system, goal, {alpha, anchor_.data()}, 40, slip, iterations)) {
      const bool easy = iterations - before <= 10;
      alpha = std::max(options.smallest_alpha, alpha * (easy ? 0.2 : 0.6));
    } else {
      alpha = std::min(1e3, alpha * 4);
      if (!(true_error_ <= 10 * error_before)) r_ = best_;
    }
  }
  std::copy(best_.begin(), best_.end(), r);
  return best_error_;
}

template <int N>
double ContactNewton<N>::start_smoothed(const ContactSystem<N>& system, const ContactGoal& goal,
                                        const SmoothingOptions& options, const double* r) {
  resize(system);
  step_scale_ = options.step_scale;
  slip_smoothing_ = options.slip_smoothing;
  function_ = ResidualFunction::natural_map;
  const int m = system.size();
  std::copy_n(r, m, r_.begin());
  best_ = r_;
  system.velocity({}, r, true_u_.data());
  best_error_ = system.error(goal.measure, r, true_u_.data());
  double largest = 0, weight = 0;
  for (int k = 0; k < m; ++k) largest = std::max(largest, std::abs(r_[k]));
  for (int i = 0; i < system.laws(); ++i) weight += system.d(i);
  if (!(largest > 0)) largest = system.b_norm() / weight;
  smoothing_ = options.start * largest;
  return largest;
}

template <int N>
void ContactNewton<N>::note_projected(const ContactSystem<N>& system, const ContactGoal& goal) {
  trial_r_ = r_;
  system.project_all(trial_r_.data());
  system.velocity({}, trial_r_.data(), true_u_.data());
  if (const double error = system.error(goal.measure, trial_r_.data(), true_u_.data()); error < best_error_) {
    best_error_ = error;
    best_ = trial_r_;
  }
}

template <int N>
double ContactNewton<N>::follow_smoothed(const ContactSystem<N>& system, const ContactGoal& goal,
                                         const SmoothingOptions& options, double* r, int& iterations) {
  constexpr int kSteps = 30, kEasy = 4, kMemory = 5, kStalls = 5;
  constexpr double kCentred = 0.1;  // |F| over ε at which the next ε may come
  if (options.through_folds) return follow_path(system, goal, options, r, iterations);
  const double largest = start_smoothed(system, goal, options, r);
  double weight = 0;
  for (int i = 0; i < system.laws(); ++i) weight += system.d(i);
  int stalls = 0;
  const int last = iterations + options.max_iterations;
  while (best_error_ > goal.tolerance && iterations < last && !goal.expired() && smoothing_ > 1e-14 * largest) {
    system.velocity({}, r_.data(), u_.data());
    double merit = evaluate(system, r_.data(), u_.data(), F_.data(), true);
    merit_count_ = 0;
    bool centred = false;
    int step = 0;
    for (; step < kSteps && !goal.expired(); ++step) {
      centred = merit <= kCentred * kCentred * smoothing_ * smoothing_ * weight;
      if (centred) break;
      ++iterations;
      if (!newton_direction(system, {}, 0.0) || !search(system, {}, merit, kMemory)) break;
      merit = evaluate(system, r_.data(), u_.data(), F_.data(), true);
    }
    note_projected(system, goal);
    if (centred) {
      stalls = 0;
      smoothing_ *= step <= kEasy ? options.shrink : std::sqrt(options.shrink);
    } else {
      if (++stalls > kStalls) break;
      smoothing_ *= 3;
    }
  }
  smoothing_ = 0;
  std::copy(best_.begin(), best_.end(), r);
  return best_error_;
}

template class ContactNewton<2>;
template class ContactNewton<3>;

}  // namespace stickslip
