// SPDX-License-Identifier: Apache-2.0
// The inclusion of one step: fixed point around it where forces depend on the state, break-away, the solvers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/moreau/moreau.hpp"
#include "stickslip/motion/prescribed_into.hpp"
#include "stickslip/solvers/one_law.hpp"

namespace stickslip {

namespace {

constexpr double kRoundOff = 1e-15;        // relative residual that cannot be bettered by much
constexpr double kBeforePolishing = 1e-8;  // what polishing starts from, of the largest reaction
constexpr int kPolishing = 100;            // iterations for that
constexpr int kNewtonPolishing = 15;       // of them by Newton's method alone
constexpr int kFurtherPolishing =
    45;  // after it, where some rest: sweeps and Newton's method again, no interior points
constexpr double kNearlyRoundOff = 1e-14;  // from here on more than a few iterations are in vain
constexpr int kLastPolishing = 10;
// In a heap at rest each step starts from the reactions of the last: a few iterations in each add up to round-off.
constexpr int kPolishingAtRest = 20;
constexpr double kOfTolerance = 10;  // times that: velocities that the solver left, not motion
// Iterations with the slopes of the start of the step; where they do not fall below kQuick of the one before then, so
// many with their own (a motor that comes to its limit, or leaves it, within the step has another slope there).
constexpr int kPatient = 6, kNewton = 60;
constexpr double kQuick = 0.3;
constexpr double kKeepsFalling = 0.9;  // a change that does not, for
constexpr int kStagnant = 10;          // iterations, is rounding, if it is
constexpr double kIllConditioned =
    1e-8;                               // of the velocities or less: what rounding leaves of a chain of a hundred links
constexpr double kDraft = 1e-3;         // unit_free: what tells which points close
constexpr int kSweepsOfDraft = 40;      // more are not worth it: the problem comes again
constexpr double kWorthAccepting = 10;  // times the tolerance, of which kNearMiss are accepted in the end

bool is_finite(const Vector& x) {
  double zero = 0;
  for (Index i = 0; i < x.size(); ++i) zero += 0.0 * x[i];
  return zero == 0;
}

/// Contact of a point that closes although all laws have pushed, and whose velocity none of them changes; -1: there is
/// none.
template <class Points>
int law_without_a_way(const PrimalProblem& problem, const Vector& free, const Vector& v, const Points& points) {
  constexpr double kUnchanged = 1e-9;
  for (const auto& point : points) {
    double u = -problem.w[point.first], change = 0, terms = 0;
    for (SparseMatrix::InnerIterator entry(problem.Wt, point.first); entry; ++entry) {
      u += entry.value() * v[entry.col()];
      change += entry.value() * (v[entry.col()] - free[entry.col()]);
      terms += std::abs(entry.value() * v[entry.col()]);
    }
    if (u < -kUnchanged * terms && std::abs(change) <= kUnchanged * std::abs(u)) return point.law;
  }
  return -1;
}

}  // namespace

Status MoreauScheme::solve_step(double h) {
  if (lean_) {
    fill_lean();
    if (iterates_) return iterate(h);
    right_hand_side(h, v0_);
    return solve_laws(h);
  }
  select_points(h);
  without_overlooked_.resize(0);
  draft_ = active_.size() > kFewPoints && active_.size() < found_.points.size();
  const auto solve_points = [&] { return iterates_ || frozen_.point >= 0 ? iterate(h) : solve_laws(h); };
  while (true) {
    fill_laws();
    if (!newton_alone_ && some_impact_has_a_law_of_its_own())
      if (const Status status = take_impacts(); status != Status::success) return status;
    warm_start();
    Status status = solve_points();
    bool incomplete = status == Status::success && add_overlooked_points(h);
    if (!incomplete && std::exchange(draft_, false)) {
      status = solve_points();
      incomplete = status == Status::success && add_overlooked_points(h);
    }
    if (!incomplete) return status;
  }
}

Status MoreauScheme::fail(Status status, std::string message) {
  message_ = std::move(message);
  return status;
}

/// Before the first step no reaction is known, and a limit that follows them may have no value without any: they are
/// taken from the step in which such laws have no friction.
Status MoreauScheme::estimate_reactions(double h) {
  laws_.evaluate_limits(forces_.left_limit(t0_ + 0.5 * h, h), q0_, v0_, workspace_, /*following=*/false);
  right_hand_side(h, v0_);
  if (has_impact_) problem_.g += impact_momentum_;
  if (const Status status = solve_laws(h); status != Status::success) return status;
  add_up_all_loads();
  gather_reactions(h);
  workspace_.variables.reactions() = next_reactions_;
  reactions_known_ = true;
  return Status::success;
}

/// Newton's method with slopes at the iterate instead of those before the step.
void MoreauScheme::renew_slopes(double h) {
  v_theta_ = options_.theta * iterate_ + (1 - options_.theta) * v0_;
  move(options_.theta * h, v_theta_, q_theta_);
  set_step_matrix_at(h, q_theta_, v_theta_, /*at_iterate=*/true);
  problem_.A_version = ++version_;
  if (!lean_) prepare_rows();
}

Status MoreauScheme::iterate(double h) {
  std::fill(friction_released_.begin(), friction_released_.end(), 0);
  if (laws_.limits_depend_on_reactions() && !reactions_known_)
    if (const Status status = estimate_reactions(h); status != Status::success) return status;
  iterate_ = v0_;
  iteration_.start(v0_);
  frozen_normal_ = frozen_.point >= 0 ? -1.0 : 0.0;
  acceleration_.clear();
  reaction_change_ = HUGE_VAL;
  reaction_stalled_ = 0;
  double least = HUGE_VAL, before = HUGE_VAL;  // change of the velocities, and for how long it has not fallen
  int stagnant = 0;
  for (int iteration = 0; iteration < options_.max_fixed_point; ++iteration) {
    right_hand_side(h, iterate_);
    if (!constrained_.constant_rows() && !beside_singular_)
      if (const Status status = place_constraints(h, iterate_); status != Status::success) return status;
    if (has_impact_) problem_.g += impact_momentum_;
    if (laws_.limits_depend_on_state()) {
      v_theta_ = 0.5 * (iterate_ + v0_);
      move(0.5 * h, v_theta_, q_theta_);
      laws_.evaluate_limits(forces_.left_limit(t0_ + 0.5 * h, h), q_theta_, v_theta_, workspace_);
    }
    if (const Status status = solve_laws(h); status != Status::success) return status;
    add_up_all_loads();
    bool settled = iteration_.settled(iterate_, solution_.v, load_, inverse_diagonal(), options_.fixed_point_tolerance);
    if (laws_.limits_depend_on_reactions()) settled &= reactions_settle(h);
    if (frozen_.point >= 0) settled &= frozen_point_settles();
    if (relaxed_) settled &= relaxation_settles();
    const bool rounding = stagnant + 1 >= kStagnant && changes_by_rounding_of_forces(h);
    iterate_ = solution_.v;
    if (settled && !(laws_.limits_depend_on_reactions() && release_laws())) {
      if (!swings_back(h)) return Status::success;
      renew_slopes(h);
      continue;
    }
    if (settled) {  // another problem from here on
      acceleration_.clear();
      reaction_change_ = HUGE_VAL;
      reaction_stalled_ = 0;
    }
    if (iteration_.change() < kKeepsFalling * least) {
      least = iteration_.change();
      stagnant = 0;
    } else if (++stagnant >= kStagnant && (iteration_.change() <= kIllConditioned || rounding) &&
               !laws_.limits_depend_on_reactions() && frozen_.point < 0 && !relaxed_) {
      return Status::success;
    }
    const bool slow = iteration_.change() > std::max(kQuick * before, kIllConditioned);
    before = iteration_.change();
    if (nonlinear_ && slow && iteration + 1 >= kPatient && iteration < kPatient + kNewton) renew_slopes(h);
  }
  // Many iterations that leave so little are the rounding of masses that are far apart.
  constexpr double kNoise = 1e-10;
  const bool quiet = !laws_.limits_depend_on_reactions() || reaction_change_ <= kNoise;
  if (iteration_.change() <= kNoise && quiet && frozen_.point < 0 && !relaxed_) return Status::success;
  return fail(Status::not_converged, fmt::format("moreau: the step from t = {:.9g} s did not converge in {} iterations "
                                                 "(velocities still change by {:.2g} of their size); reduce run.step",
                                                 t0_, options_.max_fixed_point, iteration_.change()));
}

Status MoreauScheme::solve_laws(double h) {
  const auto friction = static_cast<std::size_t>(laws_.laws());
  if (problem_.sets.empty() && !lean_) {
    solution_.r.resize(0);
    solution_.u.resize(0);
    if (constrained_.any()) {
      solve_problem(options_.solver, solution_);
    } else {
      if (iterates_) free_velocity();
      solution_.v = v_free_;
    }
    return require_finite();
  }
  if (laws_.limits_vary() && !laws_.limits_depend_on_state())
    laws_.evaluate_limits(forces_.left_limit(t0_ + 0.5 * h, h), q0_, v0_, workspace_);
  // A limit that follows reactions changes with what gives way, and they with it: so laws give way for the rest of the
  // step, and not before the reactions have settled (iterate()).
  const bool at_once = !laws_.limits_depend_on_reactions();
  if (laws_.has_static() && at_once) std::fill(friction_released_.begin(), friction_released_.end(), 0);
  while (true) {
    if (lean_ && sets_h_ == h && !frozen_.any() && !laws_.has_static() && !laws_.limits_vary()) {
      if (const Status status = solve_inclusion(); status != Status::success) return status;
      break;
    }
    sets_h_ = frozen_.any() ? -1.0 : h;
    for (Index k = 0; k < laws_.laws(); ++k) {
      const bool holds = friction_rest_[k] && !friction_released_[k] && !breaking_[k];
      problem_.sets[static_cast<std::size_t>(k)].limit =
          springs_.takes(k) ? 0.0 : h * (holds ? laws_.static_limit(k) : laws_.limit(k));
    }
    for (std::size_t k = 0; k < active_.size(); ++k)
      problem_.sets[friction + k].limit = friction_coefficient(active_[k]);
    if (frozen_.any()) freeze(h, 1.0);
    ++problem_.sets_version;
    const Status status = solve_inclusion();
    if (frozen_.any()) freeze(h, -1.0);
    if (status != Status::success) return status;
    bool gave_way = at_once && release_laws();
    for (Active& active : active_)
      if (active.holds && contacts_[static_cast<std::size_t>(active.law)].mu_static &&
          point_mode(active) != Mode::stick) {
        active.holds = false;
        gave_way = true;
      }
    if (!gave_way) break;
  }
  return is_finite(solution_.v) ? Status::success : require_finite();
}

/// Laws at rest that slip at their static limit: from now on they have the dynamic one. False: there are none.
bool MoreauScheme::release_laws() {
  bool gave_way = false;
  for (Index k = 0; k < laws_.laws(); ++k)
    if (k != frozen_.law && friction_rest_[k] && !friction_released_[k] && !breaking_[k] &&
        laws_.static_limit(k) > laws_.limit(k) && friction_mode(k) != Mode::stick) {
      friction_released_[k] = 1;
      gave_way = true;
    }
  return gave_way;
}

Status MoreauScheme::require_finite() {
  if (is_finite(solution_.v)) return Status::success;
  return fail(
      Status::not_finite,
      fmt::format("moreau: the velocity is not finite after t = {:.9g} s; check forces, or reduce run.step", t0_));
}

/// One point alone has an exact solution in closed form.
Status MoreauScheme::solve_single_point() {
  const Set& set = problem_.sets[0];
  if (iterates_) free_velocity();
  std::array<double, 3> q{}, r{};
  for (int c = 0; c < set.size; ++c) {
    q[static_cast<std::size_t>(c)] = row_times(problem_.Wt, c, v_free_) - problem_.w[c];
    r[static_cast<std::size_t>(c)] = solution_.r[c];
  }
  if (!solve_one_law(set, single_D_.data(), q.data(), r.data()))
    return fail(
        Status::no_solution,
        fmt::format("moreau: contact '{}' at t = {:.9g} s has no admissible reaction: it would have to push for ever",
                    contacts_[static_cast<std::size_t>(active_[0].law)].name, t0_));
  solution_.v = v_free_;
  solution_.u.resize(set.size);
  for (int c = 0; c < set.size; ++c) {
    const auto i = static_cast<std::size_t>(c);
    solution_.r[c] = r[i];
    for (Index j = 0; j < solution_.v.size(); ++j) solution_.v[j] += r[i] * single_column_[i][j];
    double u = q[i];
    for (int d = 0; d < set.size; ++d)
      u += single_D_[static_cast<std::size_t>(c * set.size + d)] * r[static_cast<std::size_t>(d)];
    solution_.u[c] = u;
  }
  ++iterations_;
  solution_.status = Status::success;
  return Status::success;
}

/// Friction alone: solved exactly, or by a method that knows when it is done.
Status MoreauScheme::solve_friction() {
  solve(problem_, options_.solver, solver_, solution_);
  if (solution_.status == Status::success) return Status::success;
  return fail(solution_.status, fmt::format("moreau: friction problem at t = {:.9g} s: {}", t0_, solution_.message));
}

void MoreauScheme::solve_problem(const SolveOptions& options, InclusionSolution& solution) {
  if (constrained_.any()) return constrained_.solve(problem_, options, solution);
  solve(problem_, options, solver_, solution);
}

/// The terms of A v = g + W p + Gᵀ Λ, one by one.
void MoreauScheme::add_up_all_loads() {
  add_up_loads(problem_, solution_.r, load_);
  if (!constrained_.any()) return;
  const DenseMatrix& G = constrained_.rows();
  for (Index i = 0; i < G.rows(); ++i)
    for (Index j = 0; j < G.cols(); ++j) load_[j] += std::abs(G(i, j) * constrained_.impulse()[i]);
}

/// The solvers know Coulomb's law, -(u + s(u)) ∈ N_C(r). With u - s(u) in the place of u, tangents are the same and s
/// cancels: so the normal velocity is given without s, which is found by iteration. One point with equal masses along
/// its normal and tangent settles in one step by the factor used; with many points it may not settle, and the step then
/// says so.
bool MoreauScheme::relaxation_settles() {
  constexpr double kSettled = 1e-13;  // of the fastest slip
  constexpr double kRoundOff =
      1e-14;  // of the velocities that the terms of a point would make: a body at rest has no slip
  double largest = 0, fastest = 0, terms = 0;
  std::array<double, 3> s{};
  for (std::size_t k = 0; k < active_.size(); ++k) {
    Active& active = active_[k];
    const auto size = static_cast<std::size_t>(contacts_[static_cast<std::size_t>(active.law)].size());
    if (size == 1) continue;
    const Set& set = problem_.sets[static_cast<std::size_t>(laws_.laws()) + k];
    shift(set, {solution_.u.data() + active.first, size}, {s.data(), size});
    const double mu = set.limit, change = (s[0] - active.lift) / (1 + mu * mu);
    active.lift += change;
    active.bias -= change;
    problem_.w[active.first] += change;
    raise(largest, std::abs(change));
    raise(fastest, s[0]);
    double at_point = 0;
    for (SparseMatrix::InnerIterator entry(problem_.Wt, active.first); entry; ++entry)
      at_point += std::abs(entry.value()) * load_[entry.col()] * inverse_diagonal()[entry.col()];
    terms = std::max(terms, at_point);
  }
  // What the solver of the inclusion leaves open cannot be settled here.
  const double solver = terms * std::max(kRoundOff, active_.size() > kFewPoints ? options_.contact_tolerance : 0.0);
  return !(largest > std::max(kSettled * fastest, solver));
}

/// Mean reactions of the step so far, as limits may name them, and the terms that they are sums of: momenta of the step
/// over its length, which exceed them by far where the step is short.
void MoreauScheme::gather_reactions(double h) {
  next_reactions_.setZero(system_.laws().reaction_count());
  reaction_terms_.setZero(next_reactions_.size());
  const Index friction = laws_.components();
  for (const Active& active : active_) {
    const auto law = static_cast<std::size_t>(active.law);
    for (int c = 0; c < contacts_[law].size(); ++c)
      next_reactions_[contact_first_[law] - friction + c] += solution_.r[active.first + c] / h;
    for (int c = 0; c < contacts_[law].size(); ++c)
      reaction_terms_[contact_first_[law] - friction + c] +=
          weights_[laws_.laws() + (&active - active_.data())] * row_terms(active.first + c) / h;
  }
  const auto constraints = static_cast<Index>(system_.laws().constraints().size());
  if (constraints == 0) return;
  next_reactions_.tail(constraints) = constrained_.impulse() / h;
  constrained_.impulse_terms(load_, constraint_terms_);
  reaction_terms_.tail(constraints) = constraint_terms_ / h;
}

/// Limits and the reactions they depend on are solved together: a fixed point, accelerated, so that it is found also
/// where the limits change the reactions by more than they follow them.
bool MoreauScheme::reactions_settle(double h) {
  constexpr double kSettled = 1e-13;  // of the largest reaction so far
  constexpr double kRoundOff = 16 * std::numeric_limits<double>::epsilon(), kNearRoundOff = 1e-11;  // of its terms
  constexpr double kFalls = 0.5;  // a change that does not, over kStalled iterations, is rounding
  constexpr int kStalled = 8;
  gather_reactions(h);
  auto reactions = workspace_.variables.reactions();
  reactions_ = reactions;
  const double largest = std::max(next_reactions_.lpNorm<Eigen::Infinity>(), reactions_.lpNorm<Eigen::Infinity>());
  double change = 0;  // beside the terms, beyond what counts as none
  for (Index i = 0; i < reactions_.size(); ++i) {
    const double difference = std::abs(next_reactions_[i] - reactions_[i]);
    if (!(difference <= kSettled * largest)) raise(change, difference / reaction_terms_[i]);
  }
  if (change < kFalls * reaction_change_) {
    reaction_change_ = change;
    reaction_stalled_ = 0;
  } else {
    ++reaction_stalled_;
  }
  const bool settled = change <= kRoundOff || (reaction_stalled_ >= kStalled && change <= kNearRoundOff);
  if (reaction_weights_.size() != reactions_.size()) {
    reaction_weights_.setOnes(reactions_.size());
    acceleration_.resize(static_cast<int>(reactions_.size()));
  }
  if (settled) {
    reactions = next_reactions_;
    return true;
  }
  acceleration_.step(reactions_.data(), next_reactions_.data(), reaction_weights_.data(), reactions_.data());
  reactions = reactions_;
  return false;
}

/// All loaded points, or some of them, move by no more than what the solver leaves, before the step as after it (u1_).
bool MoreauScheme::contacts_rest(bool all) const {
  double fastest = 0;
  for (const Active& active : active_)
    raise(fastest, std::abs(row_times(problem_.Wt, active.first, v_free_) - problem_.w[active.first]));
  const double limit = kOfTolerance * options_.contact_tolerance * fastest;
  const auto rests = [&](const Active& active) {
    const Index end = active.first + contacts_[static_cast<std::size_t>(active.law)].size();
    for (Index i = active.first; i < end; ++i)
      if (!(std::abs(u0_[i]) <= limit && std::abs(u1_[i]) <= limit)) return false;
    return true;
  };
  const auto loaded = [&](const Active& active) { return solution_.r[active.first] > 0; };
  if (!all) return std::any_of(active_.begin(), active_.end(), [&](const Active& a) { return loaded(a) && rests(a); });
  return std::all_of(active_.begin(), active_.end(), [&](const Active& a) { return !loaded(a) || rests(a); });
}

/// To the tolerance asked for, then, for few points and at rest, to round-off: at the edge of sticking the velocity is
/// only as exact as the square root of the residual, or worse.
Status MoreauScheme::solve_inclusion() {
  ++problems_;
  if (lean_) return solve_friction();
  if (laws_.laws() == 0 && active_.size() == 1 && !constrained_.any() && !frozen_.any()) return solve_single_point();
  const double tolerance = options_.solver.tolerance;
  SolveOptions first = options_.solver;
  if (draft_) {
    first.tolerance = std::max(tolerance, kDraft);
    if (first.solver == SolverKind::automatic) {
      first.solver = SolverKind::accelerated_gauss_seidel;
      first.max_iterations = kSweepsOfDraft;
    }
  }
  if (active_.size() <= kFewPoints) first.tolerance = std::min(tolerance, kBeforePolishing);
  if (active_.size() <= kFewPoints && !contacts_.empty()) first.measure = StoppingMeasure::inclusion;
  if (!options_.strict && !contacts_.empty()) first.acceptable = kWorthAccepting * tolerance;
  solve_problem(first, solution_);
  iterations_ += solution_.iterations;
  if (solution_.status == Status::interrupted)
    return fail(Status::interrupted,
                fmt::format("stopped within the step from t = {:.9g} s; everything up to there is kept", t0_));
  const bool close = solution_.status == Status::success || solution_.status == Status::not_converged;
  if (draft_ && close) return Status::success;
  double residual = law_residual(false);
  const bool few = active_.size() <= kFewPoints;
  const auto polish = [&](SolverKind solver, int most) {
    polished_ = solution_;
    SolveOptions options = options_.solver;
    options.solver = solver;
    options.measure = StoppingMeasure::inclusion;
    options.tolerance = kRoundOff;
    options.max_iterations = most;
    solve_problem(options, polished_);
    iterations_ += polished_.iterations;
    std::swap(solution_, polished_);
    if (const double polished = law_residual(false); polished < residual) {
      residual = polished;
    } else {
      std::swap(solution_, polished_);
    }
  };
  // From so close by Newton's method arrives where it arrives at all. Free bodies in motion do with that.
  const bool by_newton = few && drift_kick_ && options_.solver.solver == SolverKind::automatic;
  if (close && residual > kRoundOff && by_newton)
    polish(SolverKind::proximal_newton, residual > kNearlyRoundOff ? kNewtonPolishing : kLastPolishing);
  const bool asked = residual > (few && !by_newton ? kRoundOff : kNearlyRoundOff);
  if (close && asked && ((few && !by_newton) || contacts_rest(/*all=*/!few)))
    polish(options_.solver.solver, !few                                        ? kPolishingAtRest
                                   : residual <= kNearlyRoundOff               ? kLastPolishing
                                   : by_newton && !contacts_rest(/*all=*/true) ? kFurtherPolishing
                                                                               : kPolishing);
  // What counts is the residual seen from here, not what the solver believes.
  residual = law_residual();
  // The solver's tolerance is on the norm over all contacts, the residual here is that of the worst one.
  const bool good = residual <= tolerance || (!few && solution_.status == Status::success);
  const double accepted = contacts_.empty() ? 10 * tolerance : kNearMiss * tolerance;
  if (close && residual <= accepted && (good || !options_.strict)) {
    if (!good) ++near_misses_;
    solution_.status = Status::success;
    return Status::success;
  }
  if (const int law = law_without_a_way(problem_, v_free_, solution_.v, active_); law >= 0)
    return fail(Status::no_solution, prescribed_into(contacts_[static_cast<std::size_t>(law)].name, t0_));
  if (!close)
    return fail(solution_.status,
                fmt::format("moreau: contact and friction at t = {:.9g} s: {}", t0_, solution_.message));
  const double helps =
      std::pow(10.0, std::ceil(std::log10(options_.strict ? residual : residual * tolerance / accepted)));
  const char* key = contacts_.empty() ? "run.moreau.solver_tolerance" : "run.moreau.contact_tolerance";
  // A solver that has stalled before the end of its iterations gains nothing by more of them.
  const char* more = solution_.iterations >= options_.solver.max_iterations
                         ? "a smaller run.step or a larger run.moreau.max_iterations may solve it"
                     : few ? "a smaller run.step or scheme = \"event\" may solve it"
                           : "a smaller run.step may solve it";
  return fail(
      Status::not_converged,
      fmt::format("moreau: contact and friction at t = {:.9g} s are solved to {:.2g} only ({} contact points, {} = "
                  "{:.2g}, {}); {}={:.0e} accepts that, {}",
                  t0_, residual, active_.size(), key, tolerance,
                  options_.strict ? "run.moreau.strict = true" : "shorter steps were tried", key, helps, more));
}

}  // namespace stickslip
