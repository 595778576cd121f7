// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/boundary/dead_unknown.hpp"
#include "stickslip/boundary/fit_residual.hpp"
#include "stickslip/boundary/identifiability.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/least_squares.hpp"

namespace stickslip {

namespace {

/// Least part of a column's size that its noise is taken for: data without noise must not make one column everything.
constexpr double kLeastNoise = 1e-9;

void require_problem(const FitProblem& problem) {
  require_valid(problem.unknowns);
  require_valid(problem.data);
  for (const Unknown& unknown : problem.unknowns)
    if (unknown.is_end_time())
      throw InputError(fmt::format("unknown '{}': the data say when they end; fit something else", unknown.name));
  const double start = problem.model.options().start_time;
  const std::vector<double>& times = problem.data.times;
  if (times.front() < start)
    throw InputError(
        fmt::format("the data begin at t = {} s, before run.start_time = {} s; set it to the time of the first line",
                    times.front(), start));
  if (!(times.back() > start))
    throw InputError(fmt::format("the data end at t = {} s, where the run starts", times.back()));
  const long values = problem.data.count(), n = static_cast<long>(problem.unknowns.size());
  if (values <= n)
    throw InputError(
        fmt::format("{} measured values cannot tell {} unknowns and their errors; give more data, or fewer "
                    "unknowns",
                    values, n));
}

bool all_have_sigma(const Measurement& data) {
  return std::all_of(data.columns.begin(), data.columns.end(), [](const MeasuredColumn& c) { return c.sigma > 0; });
}
/// Several columns whose noise nobody has told.
bool balances_columns(const Measurement& data) {
  return data.columns.size() > 1 && std::all_of(data.columns.begin(), data.columns.end(),
                                                [](const MeasuredColumn& c) { return c.sigma == 0 && c.weight == 1; });
}

std::vector<double> first_weights(const Measurement& data) {
  const bool sigma = all_have_sigma(data);
  std::vector<double> weights;
  for (const MeasuredColumn& column : data.columns)
    weights.push_back(column.weight / (sigma ? column.sigma : column.size()));
  return weights;
}

/// Points of Halton's sequence, evenly spread however many there are.
double halton(int index, int base) {
  double value = 0, part = 1;
  for (int i = index; i > 0; i /= base) {
    part /= base;
    value += part * (i % base);
  }
  return value;
}

int prime(std::size_t k) {
  static constexpr int kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  return kPrimes[k % std::size(kPrimes)];
}

/// Point `index` between the bounds, or between half and twice the start where there are none.
Vector spread_start(std::span<const Unknown> unknowns, int index) {
  Vector x(static_cast<Index>(unknowns.size()));
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    const Unknown& unknown = unknowns[k];
    const double u = halton(index, prime(k)), s = unknown.size(unknown.start);
    const double low = std::isfinite(unknown.min) ? unknown.min : unknown.start - 0.5 * s,
                 high = std::isfinite(unknown.max) ? unknown.max : unknown.start + s;
    x[static_cast<Index>(k)] = low + u * (high - low);
  }
  return x;
}

class Fitting {
 public:
  Fitting(const FitProblem& problem, const FitOptions& options)
      : problem_(problem),
        options_(options),
        layout_(problem.model.system(), problem.model.parameters(), problem.unknowns),
        residual_(problem, layout_, options.stop) {}

  FitSolution run() {
    with_values(problem_.model, problem_.unknowns, start_values(problem_.unknowns));  // a wrong key is an InputError
    residual_.set_weights(first_weights(problem_.data));
    LeastSquaresSolution best = by_horizons(live_start());
    if (options_.starts > 0 && !raised(options_.stop)) {
      const LeastSquaresSolution other = by_horizons(best_of_spread(best.x));
      if (!stopped(other) && defined(other) && (!defined(best) || other.F.squaredNorm() < best.F.squaredNorm()))
        best = other;
    }
    if (!defined(best)) return failed_start(best.x);
    best = balanced(std::move(best));
    conclude(best);
    return std::move(solution_);
  }

 private:
  static bool defined(const LeastSquaresSolution& found) { return found.outcome != LeastSquaresOutcome::undefined; }
  static bool stopped(const LeastSquaresSolution& found) { return found.outcome == LeastSquaresOutcome::stopped; }

  FitSolution failed_start(const Vector& x) {
    const bool stop = raised(options_.stop);
    solution_.status = stop ? Status::interrupted : Status::not_converged;
    solution_.message = stop ? "interrupted before the run from the start values had ended"
                             : fmt::format("the run from the start values fails: {}; change the start, or give bounds",
                                           residual_.message());
    solution_.unknowns = x;
    solution_.runs = residual_.runs();
    return std::move(solution_);
  }

  /// The start, but where an unknown has no effect on the data there, moved to where it has one.
  Vector live_start() {
    Vector x = start_values(problem_.unknowns), F;
    DenseMatrix J;
    if (!residual_.value(x, F) || !residual_.slope(x, J)) return x;  // what fails there, the solver says
    const Vector start = x;
    for (Index j = 0; j < x.size(); ++j)
      if (tells_nothing(J, residual_.sizes(start), j)) x[j] = value_that_tells(j, start, F);
    return x;
  }

  double value_that_tells(Index j, const Vector& x, const Vector& F) {
    Unknown unknown = problem_.unknowns[static_cast<std::size_t>(j)];
    Vector trial = x, trial_F;
    const auto changes_much = [&](double at) -> std::optional<bool> {
      constexpr double kMuch = 0.1;
      trial[j] = at;
      if (raised(options_.stop) || !residual_.value(trial, trial_F)) return std::nullopt;
      return (trial_F - F).norm() >= kMuch * residual_.data_size();
    };
    if (!unknown.has_size()) unknown.scale = size_by_effect(unknown, changes_much).value_or(0);
    const auto effect = [&](double at) -> std::optional<Effect> {
      trial[j] = at;
      if (raised(options_.stop) || !residual_.value(trial, trial_F)) return std::nullopt;
      return Effect{(trial_F - F).norm() > noise(), trial_F.squaredNorm()};
    };
    const auto has_slope = [&](double at) {
      DenseMatrix J;
      trial[j] = at;
      return residual_.value(trial, trial_F) && residual_.slope(trial, J) &&
             !tells_nothing(J, residual_.sizes(trial), j);
    };
    const std::optional<double> value = start_with_effect(unknown, x[j], effect, has_slope);
    if (raised(options_.stop)) return x[j];
    if (!value)
      throw InputError(fmt::format(
          "no measured column depends on the unknown '{}' ({}), at its start {:.6g} or anywhere near; remove it, "
          "measure something that it changes, or say with `scale` how large it becomes if it has an effect farther off",
          unknown.name, unknown.key, x[j]));
    solution_.notes.push_back(
        fmt::format("no measured column changes with '{}' near its start {:.6g}; started from {:.6g} "
                    "instead",
                    unknown.name, x[j], *value));
    return *value;
  }

  /// A change of ‖F‖ that runs may make by themselves.
  double noise() const { return kNoEffect * residual_.data_size(); }
  bool tells_nothing(const DenseMatrix& J, const Vector& sizes, Index j) const {
    return J.col(j).norm() * sizes[j] <= noise();
  }

  LeastSquaresSolution solve(const Vector& x, double tolerance) {
    LeastSquaresProblem equations;
    // An unknown whose effect fades stays, and none changes by many times its size at once: what J says of it holds
    // near by.
    equations.longest = [&](const Vector& at) { return Vector(kLongestStep * residual_.sizes(at)); };
    equations.low = lower_bounds(problem_.unknowns);
    equations.high = upper_bounds(problem_.unknowns);
    equations.value = [&](const Vector& at, Vector& F) {
      const bool has_value = residual_.value(at, F);
      if (options_.progress) options_.progress(progress_);
      return has_value;
    };
    equations.slope = [&](const Vector& at, const Vector&, DenseMatrix& J) {
      if (!residual_.slope(at, J)) return false;
      drop_what_tells_nothing(at, J);
      return true;
    };
    equations.stop = [&] { return raised(options_.stop); };
    equations.taken = [&](const Vector& at, const Vector& F) {
      solution_.history.push_back({rms_of(F), residual_.until(), at});
    };
    LeastSquaresOptions solver;
    solver.max_iterations = options_.max_iterations;
    solver.step_tolerance = tolerance;
    solver.reduction_tolerance = tolerance * tolerance;
    solver.first_radius = kFirstRadius;
    LeastSquaresSolution found = solve_least_squares(equations, x, solver);
    solution_.iterations += found.iterations;
    return found;
  }

  double rms_of(const Vector& F) const {
    return std::sqrt(residual_.data_part(F).squaredNorm() / static_cast<double>(residual_.count()));
  }

  /// More and more of the data, each time from where the part before led; all of them at the end.
  LeastSquaresSolution by_horizons(Vector x) {
    const double start = problem_.model.options().start_time, end = problem_.data.times.back();
    const Vector anchor = x;
    Vector F;
    for (int k = options_.horizons - 1; k > 0 && !raised(options_.stop); --k) {
      residual_.set_until(start + (end - start) * std::pow(0.5, k));
      if (residual_.count() <= x.size() || !residual_.value(x, F)) continue;
      residual_.set_anchor(rms_of(F), x);
      const LeastSquaresSolution part = solve(x, kHorizonTolerance);
      residual_.set_anchor(0, anchor);
      if (defined(part)) x = part.x;
      progress_ = std::min(0.9, progress_ + 0.4 / options_.horizons);
    }
    residual_.set_until(end);
    return solve(x, options_.tolerance);
  }

  /// The best of `starts` points with all data; `x` if none is better.
  Vector best_of_spread(const Vector& x) {
    Vector F, best = x;
    double least = HUGE_VAL;
    for (int k = 1; k <= options_.starts && !raised(options_.stop); ++k) {
      const Vector at = spread_start(problem_.unknowns, k);
      if (!residual_.value(at, F) || !(F.squaredNorm() < least)) continue;
      least = F.squaredNorm();
      best = at;
    }
    return best;
  }

  /// Weights by what is left of each column, until the unknowns stay.
  LeastSquaresSolution balanced(LeastSquaresSolution best) {
    if (!balances_columns(problem_.data)) return best;
    constexpr int kMostRounds = 10;
    Vector F;
    for (int round = 0; round < kMostRounds && !raised(options_.stop); ++round) {
      if (!residual_.value(best.x, F)) break;
      std::vector<double> weights;
      const std::vector<double> rms = residual_.column_rms();
      for (std::size_t c = 0; c < rms.size(); ++c)
        weights.push_back(1 / std::max(rms[c], kLeastNoise * problem_.data.columns[c].size()));
      residual_.set_weights(std::move(weights));
      LeastSquaresSolution next = solve(best.x, options_.tolerance);
      if (!defined(next)) break;
      const double change = (next.x - best.x).cwiseQuotient(residual_.sizes(best.x)).cwiseAbs().maxCoeff();
      best = std::move(next);
      if (change <= kBalanced) break;
    }
    return best;
  }

  void conclude(const LeastSquaresSolution& found) {
    Vector F;
    residual_.value(found.x, F);
    solution_.unknowns = found.x;
    solution_.model = residual_.model();
    solution_.column_rms = residual_.column_rms();
    double squares = 0;
    for (std::size_t c = 0; c < solution_.column_rms.size(); ++c)
      squares += static_cast<double>(problem_.data.columns[c].count()) * std::pow(solution_.column_rms[c], 2);
    const double N = static_cast<double>(problem_.data.count()), n = static_cast<double>(found.x.size());
    solution_.rms = std::sqrt(squares / N);
    solution_.chi_square = found.F.squaredNorm() / (N - n);
    set_errors(found);
    judge(found);
    solution_.runs = residual_.runs();
  }

  /// Columns that are noise of the runs beside the data.
  void drop_what_tells_nothing(const Vector& x, DenseMatrix& J) const {
    const Vector sizes = residual_.sizes(x);
    for (Index j = 0; j < J.cols(); ++j)
      if (tells_nothing(J, sizes, j)) J.col(j).setZero();
  }

  void set_errors(const LeastSquaresSolution& found) {
    const bool known = all_have_sigma(problem_.data);
    const DenseMatrix C = covariance(found.J) * (known ? 1.0 : solution_.chi_square);
    const Index n = found.x.size();
    solution_.standard_errors = C.diagonal().cwiseSqrt();
    solution_.correlation = DenseMatrix::Identity(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        if (!std::isfinite(C(i, i)) || !std::isfinite(C(j, j))) {
          solution_.correlation(i, j) = NAN;
        } else if (i != j) {
          solution_.correlation(i, j) = C(i, j) / std::sqrt(C(i, i) * C(j, j));
        }
    // Far beyond any error of sigma: with so many values chi-square would be within a few times this of 1.
    const double spread = std::sqrt(2 / static_cast<double>(problem_.data.count() - n));
    constexpr double kUnlikely = 5;
    if (known && std::abs(solution_.chi_square - 1) > kUnlikely * spread)
      solution_.notes.push_back(fmt::format(
          "chi-square per degree of freedom is {:.3g}, not 1: sigma, the model, or both do not describe the data",
          solution_.chi_square));
  }

  void judge(const LeastSquaresSolution& found) {
    std::vector<std::string> names, bound;
    for (std::size_t k = 0; k < problem_.unknowns.size(); ++k) {
      const Unknown& unknown = problem_.unknowns[k];
      names.push_back(unknown.name);
      const double x = found.x[static_cast<Index>(k)];
      if (x == unknown.min || x == unknown.max) bound.push_back(unknown.name);
    }
    if (!bound.empty())
      solution_.notes.push_back(fmt::format("{} ended at a bound; errors hold as if it were free", listed(bound)));
    if (raised(options_.stop)) {
      solution_.status = Status::interrupted;
      solution_.message =
          fmt::format("interrupted after {} iterations; the unknowns are the best so far", solution_.iterations);
      return;
    }
    if (found.outcome == LeastSquaresOutcome::iterations) {
      solution_.status = Status::not_converged;
      solution_.message =
          fmt::format("{} iterations were not enough (rms {:.4g}); raise max_iterations, or change the start",
                      found.iterations, solution_.rms);
    }
    const std::vector<std::vector<std::string>> lost = undetermined(found.J, names);
    if (lost.empty()) return;
    solution_.status = Status::not_converged;
    solution_.message = "the data do not determine ";
    for (std::size_t k = 0; k < lost.size(); ++k)
      solution_.message += fmt::format("{}{}{}", k ? ", nor " : "", listed(lost[k]),
                                       lost[k].size() > 1 ? " one by one, only together" : "");
    solution_.message += "; give them as numbers, or measure something that they change";
  }

  static constexpr double kNoEffect = 1e-8;          ///< of the data, for an unknown that changes by its size
  static constexpr double kLongestStep = 10;         ///< sizes of an unknown
  static constexpr double kFirstRadius = 1;          ///< unknowns hardly change by more than their size at once
  static constexpr double kHorizonTolerance = 1e-3;  ///< on the way a fair guess is enough
  static constexpr double kBalanced = 1e-4;          ///< relative change of unknowns, far below their errors

  const FitProblem& problem_;
  const FitOptions& options_;
  ColumnLayout layout_;
  FitResidual residual_;
  FitSolution solution_;
  double progress_ = 0;
};

}  // namespace

void FitOptions::validate() const {
  if (!(tolerance >= 1e-14 && tolerance <= 0.1))
    throw InputError(fmt::format("tolerance = {} must lie in [1e-14, 0.1]", tolerance));
  if (max_iterations < 1) throw InputError(fmt::format("max_iterations = {} must be >= 1", max_iterations));
  constexpr int kMostHorizons = 30;  // halvings: a billion values in the last part for one in the first
  if (horizons < 1 || horizons > kMostHorizons)
    throw InputError(fmt::format("horizons = {} must lie in [1, {}]", horizons, kMostHorizons));
  if (starts < 0) throw InputError(fmt::format("starts = {} must be >= 0", starts));
}

FitSolution fit(const FitProblem& problem, const FitOptions& options) {
  options.validate();
  require_problem(problem);
  return Fitting(problem, options).run();
}

}  // namespace stickslip
