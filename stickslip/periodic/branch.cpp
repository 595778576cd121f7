// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/branch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/continuation/path_following.hpp"
#include "stickslip/periodic/periodic_equations.hpp"

namespace stickslip {

namespace {

constexpr double kLocation = 1e-8;  // of the way

BranchPoint point_of(double value, const PeriodicSolution& solution) {
  BranchPoint point;
  point.value = value;
  point.period = solution.period;
  point.residual = solution.residual;
  point.amplitude = solution.amplitude();
  point.minimum = solution.orbit.minimum;
  point.maximum = solution.orbit.maximum;
  point.stick_fraction = solution.orbit.stick_fraction;
  point.stable = solution.stable;
  point.multipliers = solution.multipliers;
  point.polished = solution.polished;
  return point;
}

/// What changes its sign at a bifurcation: Π (1 + λ); the largest modulus of a complex pair minus 1; sticking or not.
constexpr std::array<std::string_view, 3> kTests{"period_doubling", "neimark_sacker", "stick_onset"};
Vector test_values(const BranchPoint& point) {
  Vector values = Vector::Constant(3, NAN);
  if (point.multipliers.size() > 0) {
    std::complex<double> product = 1;
    double pair = -1;
    for (const auto& value : point.multipliers) {
      product *= 1.0 + value;
      if (std::abs(value.imag()) > 1e-6) pair = std::max(pair, std::abs(value));
    }
    values[0] = product.real();
    if (pair >= 0) values[1] = pair - 1;
  }
  if (point.polished && point.stick_fraction.size() > 0)
    values[2] = point.stick_fraction.maxCoeff() > 1e-9 ? 1.0 : -1.0;
  return values;
}

/// The weighted residual over the parameter.
class ResidualPath final : public PathProblem {
 public:
  ResidualPath(const BranchBuilder& build, StopRequest stop, double way) : build_(build), stop_(stop), way_(way) {}
  Index size() const override { return size_; }
  void set_size(Index size) { size_ = size; }

  bool residual(const Vector& x, double s, Vector& F) override {
    return with(s, center_) && evaluate(center_, x, F, nullptr);
  }
  bool jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) override {
    const double delta = 1e-6 * (std::abs(s) + way_);
    Vector F, plus, minus;
    if (!with(s, center_) || !evaluate(center_, x, F, &by_x)) return false;
    if (!with(s + delta, above_) || !with(s - delta, below_)) return false;
    if (!evaluate(above_, x, plus, nullptr) || !evaluate(below_, x, minus, nullptr)) return false;
    by_s = (plus - minus) / (2 * delta);
    return true;
  }
  Index tests() const override { return 3; }
  bool test(const Vector& x, double s, Vector& values) override {
    solve(x, s);
    values = test_values(point_of(s, solution));
    return true;
  }
  std::string_view test_name(Index k) const override { return kTests[static_cast<std::size_t>(k)]; }

  /// The point as a periodic motion, polished where the options say so.
  void solve(const Vector& x, double s) {
    if (!with(s, center_)) return;
    PeriodicProblem problem{*center_.parts.system,
                            center_.parts.initial,
                            center_.parts.options,
                            center_.parts.run_length,
                            center_.parts.event,
                            nullptr,
                            x};
    PeriodicHooks hooks;
    hooks.stop = stop_;
    hooks.certify = false;
    solution = solve_periodic(problem, hooks);
  }
  PeriodicSolution solution;

  struct Place {
    double s = NAN;
    BranchCase parts;
    std::unique_ptr<PeriodicEquations> weighted;
    Vector reference;
  };
  bool with(double s, Place& place) {
    if (place.s == s) return true;
    try {
      place.parts = build_(s);
      place.weighted = make_equations(*place.parts.system, place.parts.options, place.parts.initial.t,
                                      place.parts.initial.q);
      if (reference.size()) place.weighted->set_phase_reference(reference);
      place.s = s;
    } catch (const InputError& error) {
      message = error.what();
      place.s = NAN;
      return false;
    }
    return true;
  }
  Place center_;
  Vector reference;
  std::string message;  ///< why a value could not be built

 private:
  static bool evaluate(Place& place, const Vector& x, Vector& F, DenseMatrix* J) {
    if (!J) return place.weighted->residual(x, 0, F);
    if (!place.weighted->linearize(x, 0, F)) return false;
    place.weighted->copy_jacobian(*J);
    return true;
  }

  const BranchBuilder& build_;
  StopRequest stop_;
  double way_;
  Index size_ = 0;
  Place above_, below_;
};

Branch follow_residual(const BranchBuilder& build, const BranchOptions& options, const PeriodicSolution& first,
                       StopRequest stop, const BranchHook& hook) {
  Branch branch;
  ResidualPath problem(build, stop, std::abs(options.to - options.from));
  problem.set_size(first.coefficients.size());
  problem.reference = first.coefficients;
  PathOptions path_options;
  path_options.from = options.from;
  path_options.to = options.to;
  path_options.step = options.step;
  path_options.largest_step = options.step > 0 ? 2 * options.step / std::abs(options.to - options.from) : 0.02;
  path_options.tolerance = 1e-9;
  path_options.max_corrections = 15;
  path_options.easy_corrections = 6;
  path_options.largest_turn = 0.7;
  path_options.stop = stop;
  const PathHook on_point = [&](const PathPoint& point, Index) {
    problem.solve(point.x, point.s);
    branch.points.push_back(point_of(point.s, problem.solution));
    branch.last = problem.solution;
    return !hook || hook(branch.points.back());
  };
  const Path path = follow_path(problem, first.coefficients, path_options, on_point);
  branch.status = path.status;
  branch.message = path.message;
  if (path.status == Status::not_converged && !problem.message.empty())
    branch.message += fmt::format("; the model says: {}", problem.message);
  for (const SpecialPoint& special : path.special) {
    const std::string kind = special.kind == SpecialPoint::Kind::fold ? "fold"
                             : special.kind == SpecialPoint::Kind::branch_point
                                 ? "branch_point"
                                 : std::string(problem.test_name(special.test));
    branch.bifurcations.push_back({kind, special.point.s});
  }
  return branch;
}

/// Orbit by orbit.
class EventWalk {
 public:
  EventWalk(const BranchBuilder& build, StopRequest stop) : build_(build), stop_(stop) {}

  bool solve(double value, const Orbit* start, PeriodicSolution& solution, std::string& message) {
    try {
      const BranchCase parts = build_(value);
      const PeriodicProblem problem{
          *parts.system, parts.initial, parts.options, parts.run_length, parts.event, start, {}};
      PeriodicHooks hooks;
      hooks.stop = stop_;
      hooks.certify = false;
      solution = solve_periodic(problem, hooks);
      message = solution.message;
      return solution.status == Status::success;
    } catch (const InputError& error) {
      message = error.what();
      return false;
    }
  }

  void locate(const BranchOptions& options, const PeriodicSolution& a, double from, double to, const Vector& before,
              const Vector& after, Branch& branch) {
    for (Index k = 0; k < before.size(); ++k) {
      if (!std::isfinite(before[k]) || !std::isfinite(after[k]) || (before[k] > 0) == (after[k] > 0)) continue;
      double low = from, high = to;
      PeriodicSolution start = a, middle;
      std::string message;
      while (std::abs(high - low) > kLocation * std::abs(options.to - options.from)) {
        const double value = 0.5 * (low + high);
        if (!solve(value, &start.orbit, middle, message)) break;
        const double test = test_values(point_of(value, middle))[k];
        if ((test > 0) == (before[k] > 0)) {
          low = value, start = middle;
        } else {
          high = value;
        }
      }
      branch.bifurcations.push_back({std::string(kTests[static_cast<std::size_t>(k)]), 0.5 * (low + high)});
    }
  }

 private:
  const BranchBuilder& build_;
  StopRequest stop_;
};

Branch follow_events(const BranchBuilder& build, const BranchOptions& options, const PeriodicSolution& first,
                     StopRequest stop, const BranchHook& hook) {
  Branch branch;
  EventWalk walk(build, stop);
  const double way = options.to - options.from;
  const double largest = (options.step > 0 ? options.step : 0.01 * std::abs(way)) * (way > 0 ? 1 : -1);
  double value = options.from, step = largest;
  branch.last = first;
  branch.points.push_back(point_of(value, first));
  if (hook && !hook(branch.points.back())) return branch;
  while (value != options.to) {
    if (raised(stop)) {
      branch.status = Status::interrupted;
      branch.message = "stopped on request";
      return branch;
    }
    double next = value + step;
    if ((next - options.to) * way >= 0) next = options.to;
    PeriodicSolution solution;
    std::string message;
    if (!walk.solve(next, &branch.last.orbit, solution, message)) {
      step *= 0.5;
      if (std::abs(step) > 1e-5 * std::abs(way)) continue;
      branch.status = Status::not_converged;
      branch.message =
          fmt::format("the branch could not be followed beyond {} = {:.9g}: {}", options.parameter, value, message);
      return branch;
    }
    const BranchPoint point = point_of(next, solution);
    walk.locate(options, branch.last, value, next, test_values(branch.points.back()), test_values(point), branch);
    branch.points.push_back(point);
    branch.last = std::move(solution);
    value = next;
    step = std::abs(step) < std::abs(largest) ? 2 * step : step;
    if (hook && !hook(point)) {
      branch.status = Status::interrupted;
      branch.message = "stopped on request";
      return branch;
    }
  }
  return branch;
}

}  // namespace

Branch follow_branch(const BranchBuilder& build, const BranchOptions& options, StopRequest stop,
                     const BranchHook& hook) {
  const BranchCase parts = build(options.from);
  const PeriodicProblem problem{
      *parts.system, parts.initial, parts.options, parts.run_length, parts.event, nullptr, {}};
  PeriodicHooks hooks;
  hooks.stop = stop;
  hooks.certify = false;
  PeriodicSolution first = solve_periodic(problem, hooks);
  if (first.status != Status::success) {
    Branch branch;
    branch.status = first.status;
    branch.message =
        fmt::format("{} = {:.9g}, where the branch begins: {}", options.parameter, options.from, first.message);
    branch.last = std::move(first);
    return branch;
  }
  const bool events = first.method == to_string(PeriodicMethod::event);
  return events ? follow_events(build, options, first, stop, hook) : follow_residual(build, options, first, stop, hook);
}

}  // namespace stickslip
