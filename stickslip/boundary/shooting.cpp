// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/shooting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/boundary/dead_unknown.hpp"
#include "stickslip/boundary/identifiability.hpp"
#include "stickslip/boundary/shooting_input.hpp"
#include "stickslip/boundary/shooting_map.hpp"
#include "stickslip/boundary/sticking.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/least_squares.hpp"
#include "stickslip/common/nearest_point.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

namespace {

/// Part of what the other unknowns do to a condition below which the effect of one is noise of the runs.
constexpr double kNoEffect = 1e-6;
/// Of what a state at a node would count for in the length of a step: states follow the unknowns, and their largest
/// changes (of deformations where a block comes to rest a little later) say nothing about how far the unknowns may go.
constexpr double kFreeNodes = 1e-3;
/// A condition may be off by `tolerance` times this of its own terms, at most.
constexpr double kMostGain = 1e4;

/// The whole of one call of shoot().
class Shooting {
 public:
  Shooting(const ShootingProblem& problem, const ShootingOptions& options)
      : problem_(problem),
        options_(options),
        layout_(problem.model.system(), problem.model.parameters(), problem.unknowns),
        map_(problem, layout_, options) {}

  ShootingSolution run() {
    solution_.least_squares = problem_.conditions.size() > problem_.unknowns.size();
    with_values(problem_.model, problem_.unknowns, start_values(problem_.unknowns));  // a wrong key is an InputError
    Vector X, F;
    DenseMatrix J;
    Vector x = start_values(problem_.unknowns);
    if (!begin(x, X, F, J)) return failed_start(x);
    if (!(open() && moves(J)) && leave_dead_start(x, X, F, J) && !begin(x, X, F, J)) return failed_start(x);
    set_scales(F, J);
    LeastSquaresSolution found = solve(X);
    if (open() && found.outcome == LeastSquaresOutcome::solved) found = nearest(std::move(found));
    if (found.outcome == LeastSquaresOutcome::undefined) return failed_start(x);  // a stop while the start is run again
    conclude(found);
    return std::move(solution_);
  }

 private:
  bool begin(const Vector& x, Vector& X, Vector& F, DenseMatrix& J) {
    return map_.start(x, X) && map_.value(X, F) && slope(X, J);
  }

  bool slope(const Vector& X, DenseMatrix& J) {
    const bool known = map_.slope(X, J);
    no_slope_ = known ? "" : map_.message();
    return known;
  }

  /// A key that is no number a motion can be differentiated by is wrong input, not a start that fails.
  void require_numbers(const Vector& x) const {
    if (describe(problem_.model.options().scheme).derivatives == Derivatives::none) return;
    std::vector<std::string> keys;
    for (const Unknown& unknown : problem_.unknowns)
      if (!unknown.is_end_time()) keys.push_back(unknown.key);
    Variations(with_values(problem_.model, problem_.unknowns, x), keys);
  }

  ShootingSolution failed_start(const Vector& x) {
    if (!raised(options_.stop)) require_numbers(x);
    solution_.status = raised(options_.stop) ? Status::interrupted : Status::not_converged;
    solution_.message = raised(options_.stop) ? "interrupted before the run from the start values had ended"
                        : no_slope_.empty()
                            ? fmt::format("the run from the start values fails: {}; change the start", map_.message())
                            : fmt::format("the run from the start values has no derivatives: {}", no_slope_);
    solution_.unknowns = x;
    solution_.runs = map_.segment().runs();
    return std::move(solution_);
  }

  /// Fewer conditions than unknowns.
  bool open() const { return problem_.conditions.size() < problem_.unknowns.size(); }
  /// Every condition depends on some unknown: what the others are, nobody asks.
  bool moves(const DenseMatrix& J) const {
    return ((J.topRows(map_.condition_count()).cwiseAbs().rowwise().sum()).array() > 0).all();
  }
  Vector start_metric() const { return sizes(start_values(problem_.unknowns)).cwiseInverse(); }

  /// From a solution to the one that is nearest to the start: the point of the linearised conditions that is, then back
  /// onto the conditions, as long as that brings it nearer. States at nodes follow the unknowns and have no part in it.
  LeastSquaresSolution nearest(LeastSquaresSolution found) {
    const Index n = map_.unknown_count();
    const Vector x0 = start_values(problem_.unknowns), D = start_metric();
    const auto far = [&](const Vector& X) { return D.cwiseProduct(X.head(n) - x0).norm(); };
    int left = options_.max_iterations;
    double part = 1;
    for (solution_.distance = far(found.x); left > 0 && part > kNearest; --left) {
      const Vector p = towards_nearest(found, x0, D);
      nearest_ = D.cwiseProduct(p.head(n)).norm() <= kNearest * solution_.distance || solution_.distance == 0;
      if (nearest_ || raised(options_.stop)) return found;
      const std::size_t kept = solution_.history.size();
      LeastSquaresSolution next = solve(map_.moved(found.x, part * p));
      // What the conditions are met to moves x by as much.
      const double noise = 1 + std::sqrt(static_cast<double>(n)) * options_.tolerance;
      const bool nearer = next.outcome == LeastSquaresOutcome::solved && far(next.x) <= noise * solution_.distance;
      if (!nearer) {
        solution_.history.resize(kept);
        part *= 0.5;
        continue;
      }
      next.iterations += found.iterations;
      found = std::move(next);
      solution_.distance = far(found.x);
    }
    return found;
  }

  /// To the nearest point of the linear model at a solution, states at nodes included. Where the bounds leave none, as
  /// near to it as the steps of Newton's method come.
  Vector towards_nearest(const LeastSquaresSolution& found, const Vector& x0, const Vector& D) const {
    const Index n = map_.unknown_count();
    const ShootingMap::Eliminated linear = map_.eliminate_nodes(found.J, found.F);
    const Vector back = x0 - found.x.head(n), b = -linear.F - linear.J * back;
    const Vector low = lower_bounds(problem_.unknowns) - x0, high = upper_bounds(problem_.unknowns) - x0;
    const std::optional<Vector> y = nearest_point(linear.J, b, D, low, high);
    Vector p(map_.step_size());
    p.head(n) = back + (y ? *y : trust_region_step(linear.J, -b, D, HUGE_VAL, low, high));
    p.tail(p.size() - n) = linear.node_steps + linear.node_slope * p.head(n);
    return p;
  }

  double size(Index j, const Vector& x) const { return problem_.unknowns[static_cast<std::size_t>(j)].size(x[j]); }
  Vector sizes(const Vector& x) const {
    Vector s(map_.unknown_count());
    for (Index j = 0; j < s.size(); ++j) s[j] = size(j, x);
    return s;
  }

  /// What a change of the unknowns, and of the state at the node before, by their size makes of each condition. But a
  /// condition must be small against its own terms too, however much an unstable motion makes of a change.
  Vector reach(const DenseMatrix& J, const Vector& x) const {
    Vector s(map_.step_size());
    s.head(map_.unknown_count()) = sizes(x);
    for (Index k = 0; k < map_.node_count(); ++k)
      s.segment(map_.unknown_count() + k * map_.state_sizes().size(), map_.state_sizes().size()) = map_.state_sizes();
    const Index m = map_.condition_count();
    Vector result = map_.condition_scales().asDiagonal() * (J.topRows(m).cwiseAbs() * s);
    const Vector terms = map_.condition_terms();
    for (Index i = 0; i < m; ++i)
      if (terms[i] > 0) result[i] = std::min(result[i], kMostGain * terms[i]);
    return result;
  }

  /// Unknowns without effect at the start: a mistake if they have none anywhere near; else (a law sticks) the start is
  /// moved to where they have one. True: x has changed.
  bool leave_dead_start(Vector& x, const Vector& X, const Vector& F, const DenseMatrix& J) {
    const DenseMatrix effect = map_.sensitivity(J) * sizes(x).asDiagonal();
    const Vector g = map_.conditions(), own = own_size();
    // What a change of a condition is seen beside: the condition, its terms, and what the other unknowns make of it.
    const Vector seen = own.cwiseMax(effect.cwiseAbs().rowwise().maxCoeff());
    bool moved = false;
    for (Index j = 0; j < map_.unknown_count(); ++j)
      if (is_noise(effect.col(j), seen))
        moved |= probe(j, effect.col(j).isZero(0), is_noise(effect.col(j), own), g, seen, F, X, x);
    return moved;
  }

  /// Of the conditions at the last value: as they are, or their terms.
  Vector own_size() const { return map_.conditions().cwiseAbs().cwiseMax(map_.condition_terms()); }
  static bool is_noise(const Vector& effect, const Vector& seen) {
    return (effect.cwiseAbs().array() <= kNoEffect * seen.array()).all();
  }

  /// `none`: unknown j has no effect at all at the start. `may_move`: what it has is small beside the conditions
  /// themselves; then the start is moved if that makes them smaller.
  bool probe(Index j, bool none, bool may_move, const Vector& g, const Vector& seen, const Vector& F, const Vector& X,
             Vector& x) {
    const Unknown& unknown = problem_.unknowns[static_cast<std::size_t>(j)];
    const Index gaps = F.size() - g.size();
    Vector trial = X, trial_F;
    const auto effect = [&](double at) -> std::optional<Effect> {
      trial[j] = at;
      if (!map_.value(trial, trial_F)) return std::nullopt;
      const bool changes = !(trial_F.tail(gaps) - F.tail(gaps)).isZero(0) ||
                           ((map_.conditions() - g).cwiseAbs().array() > kNoEffect * seen.array()).any();
      return Effect{changes, trial_F.squaredNorm()};
    };
    const auto has_slope = [&](double at) {
      DenseMatrix J;
      trial[j] = at;
      return map_.value(trial, trial_F) && map_.slope(trial, J) &&
             !is_noise(map_.sensitivity(J).col(j) * unknown.size(at), own_size());
    };
    const std::optional<double> value = none || may_move ? start_with_effect(unknown, x[j], effect, has_slope)
                                                         : value_with_effect(unknown, x[j], effect);
    if (raised(options_.stop)) return false;
    if (!value)
      throw InputError(fmt::format(
          "no condition depends on the unknown '{}' ({}), at its start {:.6g} or anywhere near; remove it, add a "
          "condition on what it moves, or say with `scale` how large it becomes if it has an effect farther off",
          unknown.name, unknown.key, x[j]));
    if (!none && !(may_move && effect(*value)->residual < F.squaredNorm())) return false;
    solution_.notes.push_back(fmt::format(
        "nothing changes with '{}' near its start {:.6g}; started from {:.6g} instead", unknown.name, x[j], *value));
    x[j] = *value;
    return true;
  }

  /// Square systems: conditions count by what they are at the start and what the unknowns make of them, whatever their
  /// units. Least squares: as given.
  void set_scales(const Vector& F, const DenseMatrix& J) {
    const Index m = map_.condition_count();
    Vector scales(m);
    for (Index i = 0; i < m; ++i) scales[i] = problem_.conditions[static_cast<std::size_t>(i)].scale;
    if (!solution_.least_squares) {
      const Vector largest = reach(J, start_values(problem_.unknowns)).cwiseMax(F.head(m).cwiseAbs());
      for (Index i = 0; i < m; ++i)
        if (largest[i] > 0) scales[i] = largest[i];
    }
    map_.set_condition_scales(scales);
  }

  Vector conditions_of(const Vector& F) const {
    return F.head(map_.condition_count()).cwiseProduct(map_.condition_scales());
  }
  double continuity_of(const Vector& F) const {
    const Index rest = F.size() - map_.condition_count();
    return rest > 0 ? F.tail(rest).cwiseAbs().maxCoeff() : 0;
  }
  /// Largest |g_i| over what counts as one, and the gaps.
  double relative_residual(const Vector& F) const {
    const Vector g = conditions_of(F);
    double worst = continuity_of(F);
    for (Index i = 0; i < g.size(); ++i)
      if (g[i] != 0) worst = std::max(worst, reach_[i] > 0 ? std::abs(g[i]) / reach_[i] : HUGE_VAL);
    return worst;
  }

  LeastSquaresSolution solve(const Vector& X) {
    const Index n = map_.unknown_count(), size = map_.step_size();
    LeastSquaresProblem equations;
    equations.low = Vector::Constant(size, -HUGE_VAL);
    equations.high = Vector::Constant(size, HUGE_VAL);
    equations.low.head(n) = lower_bounds(problem_.unknowns);
    equations.high.head(n) = upper_bounds(problem_.unknowns);
    if (open()) {
      equations.metric.resize(size);
      equations.metric.head(n) = start_metric();
      for (Index k = 0; k < map_.node_count(); ++k)
        equations.metric.segment(n + k * map_.state_sizes().size(), map_.state_sizes().size()) =
            map_.state_sizes().cwiseInverse();
    }
    equations.value = [&](const Vector& at, Vector& F) {
      const bool defined = map_.value(at, F);
      if (options_.progress) options_.progress(progress_);
      return defined;
    };
    equations.slope = [&](const Vector& at, const Vector&, DenseMatrix& J) {
      if (!slope(at, J)) return false;
      reach_ = reach(J, at.head(n));
      return true;
    };
    equations.moved = [&](const Vector& at, const Vector& p) { return map_.moved(at, p); };
    if (map_.node_count() > 0) {
      equations.better = [&](Vector& at, Vector& F) { return map_.follow(at, F); };
      equations.share = Vector::Constant(size, kFreeNodes);
      equations.share.head(n).setOnes();
    }
    equations.stop = [&] { return raised(options_.stop); };
    equations.taken = [&](const Vector& at, const Vector& F) { note(at, F); };
    if (!solution_.least_squares)
      equations.solved = [&](const Vector&, const Vector& F) { return relative_residual(F) <= options_.tolerance; };
    LeastSquaresOptions solver;
    solver.max_iterations = options_.max_iterations;
    if (solution_.least_squares) {
      solver.step_tolerance = std::sqrt(options_.tolerance);  // ‖F‖² is flat there: the step is the measure
      solver.reduction_tolerance = options_.tolerance;
    }
    return solve_least_squares(equations, X, solver);
  }

  void note(const Vector& at, const Vector& F) {
    solution_.history.push_back(
        {conditions_of(F).cwiseAbs().maxCoeff(), continuity_of(F), at.head(map_.unknown_count())});
    const double first = std::max(first_residual_, relative_residual(F)), now = relative_residual(F);
    first_residual_ = first;
    const double tried = static_cast<double>(solution_.history.size()) / (options_.max_iterations + 1);
    if (now > 0 && std::isfinite(first) && first > options_.tolerance)
      progress_ = std::clamp(std::max(tried, std::log(first / now) / std::log(first / options_.tolerance)), 0.0, 1.0);
  }

  void conclude(const LeastSquaresSolution& found) {
    solution_.unknowns = found.x.head(map_.unknown_count());
    solution_.conditions = conditions_of(found.F);
    solution_.residual = solution_.conditions.cwiseAbs().maxCoeff();
    solution_.continuity = continuity_of(found.F);
    solution_.derivatives = map_.derivatives();
    solution_.iterations = found.iterations;
    solution_.sensitivity = map_.sensitivity(found.J);
    for (Index k = 0; k < map_.node_count(); ++k) solution_.nodes.push_back(map_.node(found.x, k));
    judge(found);
    add_notes();
    solution_.runs = map_.segment().runs();
  }

  void judge(const LeastSquaresSolution& found) {
    const double relative = relative_residual(found.F), run = problem_.model.options().tolerance;
    const bool own_steps = chooses_own_steps(problem_.model.options().scheme);
    const bool solved = found.outcome == LeastSquaresOutcome::solved;
    if (solved && (!open() || nearest_ || !raised(options_.stop))) return;
    if (raised(options_.stop)) {
      solution_.status = Status::interrupted;
      solution_.message =
          fmt::format("interrupted after {} iterations; the unknowns are the best so far", solution_.iterations);
      return;
    }
    const bool at_rest =
        found.outcome == LeastSquaresOutcome::minimum || found.outcome == LeastSquaresOutcome::no_descent;
    if (solution_.least_squares && at_rest && solution_.continuity <= std::sqrt(options_.tolerance) &&
        (relative <= options_.tolerance || unfelt(found).empty()))
      return;
    if (!solution_.least_squares && at_rest && own_steps && relative <= kRunPart * run) {
      solution_.notes.push_back(fmt::format("the residual {:.2g} is as small as runs with tolerance {:g} let it become",
                                            solution_.residual, run));
      return;
    }
    solution_.status = Status::not_converged;
    solution_.message = why_not(found);
  }

  /// Unknowns that no condition depends on near where the search ended: their sum of squares is flat there, which makes
  /// it no minimum.
  std::vector<std::string> unfelt(const LeastSquaresSolution& found) {
    std::vector<std::string> names;
    Vector F;
    if (!map_.value(found.x, F)) return names;
    const Vector own = own_size();
    for (Index j = 0; j < map_.unknown_count(); ++j)
      if (is_noise(solution_.sensitivity.col(j) * size(j, solution_.unknowns), own))
        names.push_back(problem_.unknowns[static_cast<std::size_t>(j)].name);
    return names;
  }

  /// The condition that is missed most, what stuck, and what to do.
  std::string why_not(const LeastSquaresSolution& found) {
    Index worst = 0;
    const Vector part = solution_.conditions.cwiseAbs().cwiseQuotient(map_.condition_scales());
    part.maxCoeff(&worst);
    const Condition& condition = problem_.conditions[static_cast<std::size_t>(worst)];
    std::string text =
        solution_.continuity > part[worst]
            ? fmt::format("the parts do not meet: a gap of {:.3g} of the motion is left", solution_.continuity)
            : fmt::format("condition '{}' {} is not met: {:.6g} is left", condition.text(), condition.when(),
                          solution_.conditions[worst]);
    text += fmt::format(" after {} iteration{} ({})", solution_.iterations, solution_.iterations == 1 ? "" : "s",
                        found.outcome == LeastSquaresOutcome::iterations ? "the limit"
                        : found.outcome == LeastSquaresOutcome::minimum  ? "no change of the unknowns reduces it"
                                                                         : "no step reduces it");
    std::vector<std::string> bound;
    for (Index j = 0; j < map_.unknown_count(); ++j) {
      const Unknown& unknown = problem_.unknowns[static_cast<std::size_t>(j)];
      if (solution_.unknowns[j] == unknown.min || solution_.unknowns[j] == unknown.max) bound.push_back(unknown.name);
    }
    if (!no_slope_.empty()) return text + fmt::format("; derivatives end there: {}", no_slope_);
    if (!bound.empty()) text += fmt::format("; {} {} at a bound", listed(bound), bound.size() == 1 ? "is" : "are");
    if (const std::vector<std::string> flat = unfelt(found); solution_.least_squares && !flat.empty())
      text += fmt::format("; nothing changes with {} near there", listed(flat));
    constexpr double kNearTheRun = 1e4;  // times run.tolerance: what an accurate run may leave of a condition
    const double run = problem_.model.options().tolerance;
    if (chooses_own_steps(problem_.model.options().scheme) && relative_residual(found.F) <= kNearTheRun * run)
      return text + fmt::format(
                        "; runs with run.tolerance = {:g} are no more accurate than that: lower run.tolerance, or "
                        "raise shoot.tolerance above {:.1g}",
                        run, relative_residual(found.F));
    const std::vector<StickingLaw> stuck = stuck_laws();
    constexpr double kNearlyAlways = 0.99;  // what slid and came to rest is held by no start
    if (!stuck.empty() && stuck.front().fraction >= kNearlyAlways)
      text += fmt::format("; {}: a start from which it slips may do", describe(stuck));
    else if (!stuck.empty())
      text += fmt::format("; {}; change the start, or what is asked for", describe(stuck));
    else if (found.outcome == LeastSquaresOutcome::iterations)
      text += "; raise max_iterations, or change the start";
    else
      text += "; change the start, or what is asked for";
    return text;
  }

  std::vector<StickingLaw> stuck_laws() {
    SimulationHooks hooks;
    hooks.stop = options_.stop;
    try {
      return sticking_laws(follow(problem_, solution_, hooks).trajectory);
    } catch (const InputError&) {
      return {};
    }
  }

  void add_notes() {
    if (solution_.least_squares && solution_.status == Status::success)
      solution_.notes.push_back(fmt::format(
          "{} conditions for {} unknowns: the sum of their squares is as small as possible; they need not be 0",
          problem_.conditions.size(), problem_.unknowns.size()));
    if (open() && solution_.status == Status::success)
      solution_.notes.push_back(
          fmt::format("{} condition{} for {} unknowns: {}, {:.6g} of the sizes of the unknowns away",
                      problem_.conditions.size(), problem_.conditions.size() == 1 ? "" : "s", problem_.unknowns.size(),
                      nearest_ ? "of all solutions the one nearest to the start"
                               : "a solution, and no step towards a nearer one was found; whether there is one is open",
                      solution_.distance));
    if (solution_.status != Status::success || solution_.sensitivity.size() == 0 || open()) return;
    std::vector<std::string> names;
    for (const Unknown& unknown : problem_.unknowns) names.push_back(unknown.name);
    for (const std::vector<std::string>& together :
         undetermined(solution_.sensitivity * sizes(solution_.unknowns).asDiagonal(), names))
      solution_.notes.push_back(fmt::format("the conditions do not determine {}{}; other values meet them as well",
                                            listed(together), together.size() > 1 ? " one by one" : ""));
  }

  const ShootingProblem& problem_;
  const ShootingOptions& options_;
  ColumnLayout layout_;
  ShootingMap map_;
  bool nearest_ = false;  // no solution near by is nearer to the start
  ShootingSolution solution_;
  Vector reach_;
  std::string no_slope_;  // why the last derivative failed
  double first_residual_ = 0, progress_ = 0;
};

/// What is left of the conditions by one run with the unknowns of a solution. False: no such run reaches the end.
bool leave_by_run(const ShootingProblem& whole, const ShootingOptions& options, ShootingSolution& solution) {
  const ColumnLayout layout(whole.model.system(), whole.model.parameters(), whole.unknowns);
  ShootingMap map(whole, layout, options);
  Vector F;
  ++solution.runs;
  if (!map.value(solution.unknowns, F)) return false;
  solution.conditions = map.conditions();
  solution.residual = solution.conditions.cwiseAbs().maxCoeff();
  solution.nodes.clear();
  return true;
}

/// Where contacts come and go, states at nodes may lead astray a search that one run does not. `chain`: what was found
/// with them. If one run finds no more, the better of the two, by what a run leaves of the conditions.
ShootingSolution without_segments(const ShootingProblem& problem, const ShootingOptions& options,
                                  ShootingSolution chain) {
  const ShootingProblem whole = in_one_segment(problem);
  ShootingSolution one = Shooting(whole, options).run();
  one.runs += chain.runs;
  if (one.status == Status::success) {
    one.notes.push_back("the search in segments failed; the solution is that of one segment from the same start");
    return one;
  }
  if (raised(options.stop) || chain.history.empty()) return chain;
  if (!leave_by_run(whole, options, chain)) {
    chain.message += "; what is left is that of the segments: no run in one with these unknowns reaches the end";
    return chain;
  }
  if (!one.history.empty() && one.residual <= chain.residual) {
    one.notes.push_back("the search in segments failed as well; this is that of one segment from the same start");
    return one;
  }
  chain.runs = one.runs + 1;
  chain.message += fmt::format("; one run with these unknowns leaves {:.6g}", chain.residual);
  return chain;
}

}  // namespace

void ShootingOptions::validate() const {
  if (!(tolerance >= 1e-15 && tolerance <= 0.1))
    throw InputError(fmt::format("tolerance = {} must lie in [1e-15, 0.1]", tolerance));
  if (max_iterations < 1) throw InputError(fmt::format("max_iterations = {} must be >= 1", max_iterations));
}

ShootingSolution shoot(const ShootingProblem& problem, const ShootingOptions& options) {
  options.validate();
  require_valid(problem, options.closest);
  const ShootingProblem sized = with_sizes(problem, options);
  ShootingSolution found = Shooting(sized, options).run();
  const bool cut = problem.segments > 1 || !problem.nodes.empty();
  return cut && found.status == Status::not_converged ? without_segments(sized, options, std::move(found)) : found;
}

}  // namespace stickslip
