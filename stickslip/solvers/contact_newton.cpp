// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_newton.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "stickslip/solvers/contact_residual.hpp"

namespace stickslip {

namespace {

// Weights of the proximal term α diag(d_i), over d_i: after an easy problem (few steps), another one, a failure.
constexpr int kEasySteps = 10;
constexpr double kEasyShrink = 0.2, kShrink = 0.6, kGrowth = 4, kLargestAlpha = 1e3;
constexpr double kLost = 10;  // error over the best one: go back to that

// Levenberg's term λ I. V = rest + slope D has no unit: rest and Φ' are numbers, ρ_i D_ii of the size of `step_scale`.
constexpr double kFirstLevenberg = 1e-6, kSmallestLevenberg = 1e-10, kLargestLevenberg = 1e-1;
constexpr double kLevenbergShrink = 0.3, kLevenbergGrowth = 10;

// Line search: shortest step, and the share of the merit by which a step of that length must lower it (Armijo).
constexpr double kShortestStep = 1e-3, kDescent = 1e-4;

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
  if (shared_) {
    own_.resize(m * N);
    T_.resize(m * N);
    return;
  }
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
double ContactNewton<N>::evaluate(const ContactSystem<N>& system, const double* r, const double* u, double* F,
                                  bool slopes) {
  double merit = 0;
  for (int i = 0; i < system.laws(); ++i) {
    const Set& set = system.set(i);
    const double rho = step_scale_ / system.d(i);
    double* Fi = F + N * i;
    const double* ri = r + N * i;
    const double* ui = u + N * i;
    const LawResidual<N> out{Fi, slopes, rest_.data() + N * N * i, slope_.data() + N * N * i, &active_[i]};
    const bool coulomb = set.kind == SetKind::friction_cone && set.size == N;
    if (coulomb && smoothing_ > 0 && set.limit > 0) {
      smoothed(set, rho, system.d(i), {smoothing_, slip_smoothing_}, ri, ui, out, by_smoothing_.data() + N * i);
    } else if (coulomb && function_ == ResidualFunction::alart_curnier) {
      alart_curnier(set, rho, ri, ui, out);
    } else {
      natural_map(set, rho, ri, ui, out);
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
bool ContactNewton<N>::factorize_shared(const ContactSystem<N>& system, const Proximal& proximal, double levenberg) {
  using Block = Eigen::Matrix<double, N, N, Eigen::RowMajor>;
  for (int i = 0; i < system.laws(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * N * N;
    const Eigen::Map<const Block> slope(slope_.data() + at), rest(rest_.data() + at);
    Eigen::Map<Block> own(own_.data() + at), T(T_.data() + at);
    const Block diagonal = rest + proximal.alpha * system.d(i) * slope + levenberg * Block::Identity();
    own = diagonal.inverse();
    T.noalias() = own * slope;
  }
  return shared_->factorize(T_.data());
}

template <int N>
bool ContactNewton<N>::solve_linear(const ContactSystem<N>& system, const double* F, std::vector<double>& x) {
  if (shared_) {
    for (int i = 0; i < system.laws(); ++i)
      for (int a = 0; a < N; ++a) {
        const double* row = own_.data() + static_cast<std::size_t>(N) * (N * i + a);
        double sum = 0;
        for (int c = 0; c < N; ++c) sum += row[c] * F[N * i + c];
        x[N * i + a] = -sum;
      }
    shared_->solve(x.data());
    return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
  }
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
  const bool factorized =
      shared_ ? factorize_shared(system, proximal, levenberg) : factorize(system, proximal, levenberg);
  return factorized && solve_linear(system, F_.data(), direction_);
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
  for (double t = 1; t > kShortestStep; t *= 0.5) {
    for (int k = 0; k < m; ++k) {
      trial_r_[k] = r_[k] + t * direction_[k];
      trial_u_[k] = u_[k] + t * image_[k];
    }
    const double trial = evaluate(system, trial_r_.data(), trial_u_.data(), trial_F_.data(), false);
    if (trial <= (1 - kDescent * t) * reference) {
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
      levenberg_ = std::max(kSmallestLevenberg, kLevenbergShrink * levenberg_);
    } else {
      if (++failures > kFailures) return false;
      levenberg_ = std::min(kLargestLevenberg, kLevenbergGrowth * levenberg_);
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
                               const ProximalNewtonOptions& options, double* r, double* slip, int& iterations,
                               BodyFactor<N>* factor) {
  shared_ = factor;
  resize(system);
  smoothing_ = 0;
  function_ = options.function;
  step_scale_ = options.step_scale;
  std::copy_n(r, system.size(), r_.begin());
  best_ = r_;
  system.velocity({}, r, true_u_.data());
  best_error_ = system.error(goal.measure, r, true_u_.data());
  levenberg_ = kFirstLevenberg;
  double alpha = options.alpha;
  const int last = iterations + options.max_iterations;
  while (best_error_ > goal.tolerance && iterations < last && !goal.expired()) {
    anchor_ = r_;
    const int before = iterations;
    const double error_before = best_error_;
    if (solve_proximal(system, goal, {alpha, anchor_.data()}, options.max_steps, slip, iterations)) {
      const bool easy = iterations - before <= kEasySteps;
      alpha = std::max(options.smallest_alpha, alpha * (easy ? kEasyShrink : kShrink));
    } else {
      alpha = std::min(kLargestAlpha, alpha * kGrowth);
      if (!(true_error_ <= kLost * error_before)) r_ = best_;
    }
  }
  std::copy(best_.begin(), best_.end(), r);
  return best_error_;
}

template <int N>
double ContactNewton<N>::start_smoothed(const ContactSystem<N>& system, const ContactGoal& goal,
                                        const SmoothingOptions& options, const double* r) {
  shared_ = nullptr;
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
  constexpr double kRetreat = 3;    // of ε, where Newton got nowhere
  if (options.through_folds) return follow_path(system, goal, options, r, iterations);
  const double largest = start_smoothed(system, goal, options, r);
  double weight = 0;
  for (int i = 0; i < system.laws(); ++i) weight += system.d(i);
  int stalls = 0;
  const int last = iterations + options.max_iterations;
  while (best_error_ > goal.tolerance && iterations < last && !goal.expired() && smoothing_ > kSharp * largest) {
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
      smoothing_ *= kRetreat;
    }
  }
  smoothing_ = 0;
  std::copy(best_.begin(), best_.end(), r);
  return best_error_;
}

template class ContactNewton<2>;
template class ContactNewton<3>;

}  // namespace stickslip
