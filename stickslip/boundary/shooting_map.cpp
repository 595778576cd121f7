// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/shooting_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/error.hpp"

namespace stickslip {

ShootingMap::ShootingMap(const ShootingProblem& problem, const ColumnLayout& layout, const ShootingOptions& options)
    : problem_(&problem),
      stop_(options.stop),
      may_change_method_(options.derivatives == DerivativeMethod::automatic),
      segment_(problem.model, problem.unknowns, layout, options.stop),
      derivative_(make_segment_derivative()),
      n_(static_cast<Index>(problem.unknowns.size())),
      start_time_(problem.model.options().start_time),
      scales_(Vector::Ones(static_cast<Index>(problem.conditions.size()))) {
  for (Index j = 0; j < n_; ++j)
    if (problem.unknowns[static_cast<std::size_t>(j)].is_end_time()) end_unknown_ = j;
  const double span = problem.end_time - start_time_;
  for (int k = 1; k < problem.segments; ++k) node_parts_.push_back(static_cast<double>(k) / problem.segments);
  for (const double t : problem.nodes) node_parts_.push_back((t - start_time_) / span);
  for (const Condition& condition : problem.conditions) {
    const double part = condition.at == ConditionTime::start ? 0
                        : condition.at == ConditionTime::end ? 1
                                                             : (condition.time - start_time_) / span;
    const auto node = std::lower_bound(node_parts_.begin(), node_parts_.end(), part);
    condition_part_.push_back(node - node_parts_.begin());
  }
  // The rows of a part are in the order of time.
  condition_row_.resize(problem.conditions.size());
  for (Index part = 0; part <= node_count(); ++part) {
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < condition_part_.size(); ++i)
      if (condition_part_[i] == part) inside.push_back(i);
    const auto time = [&](std::size_t i) {
      const Condition& condition = problem.conditions[i];
      return condition.at == ConditionTime::start ? -HUGE_VAL
             : condition.at == ConditionTime::end ? HUGE_VAL
                                                  : condition.time;
    };
    std::stable_sort(inside.begin(), inside.end(), [&](std::size_t a, std::size_t b) { return time(a) < time(b); });
    for (std::size_t row = 0; row < inside.size(); ++row) condition_row_[inside[row]] = row;
  }
  method_ = choose_method(options.derivatives);
}

double ShootingMap::end_time(const Vector& x) const { return end_unknown_ < 0 ? problem_->end_time : x[end_unknown_]; }

double ShootingMap::node_time(Index k, const Vector& x) const {
  if (k < 0) return start_time_;
  const double end = end_time(x);
  return k >= node_count() ? end : start_time_ + node_parts_[static_cast<std::size_t>(k)] * (end - start_time_);
}

SegmentPlan ShootingMap::plan(Index part, const Vector& x) const {
  SegmentPlan plan{node_time(part - 1, x), node_time(part, x)};
  for (std::size_t i = 0; i < condition_part_.size(); ++i) {
    if (condition_part_[i] != part) continue;
    const Condition& condition = problem_->conditions[i];
    const double t = condition.at == ConditionTime::start ? plan.start_time
                     : condition.at == ConditionTime::end ? plan.end_time
                                                          : std::clamp(condition.time, plan.start_time, plan.end_time);
    plan.times.push_back(t);
    plan.reactions |= condition.uses_reactions(segment_.layout());
    plan.short_means = plan.reactions;
  }
  std::sort(plan.times.begin(), plan.times.end());
  return plan;
}

State ShootingMap::node(const Vector& X, Index k) const {
  const Index nq = kinematics().nq(), nv = kinematics().nv(), at = n_ + k * stored_size();
  return {.t = node_time(k, X.head(n_)),
          .q = X.segment(at, nq),
          .v = X.segment(at + nq, nv),
          .z = X.segment(at + nq + nv, nz_)};
}

void ShootingMap::put_node(const State& state, Index k, Vector& X) const {
  const Index at = n_ + k * stored_size();
  X.segment(at, stored_size()) << state.q, state.v, state.z;
}

std::optional<State> ShootingMap::part_start(const Vector& X, Index part) const {
  if (part == 0) return std::nullopt;
  State start = node(X, part - 1);
  start.modes = parts_[static_cast<std::size_t>(part - 1)].final.modes;
  return start;
}

Vector ShootingMap::moved(const Vector& X, const Vector& p) const {
  Vector result = X;
  result.head(n_) += p.head(n_);
  for (Index k = 0; k < node_count(); ++k)
    put_node(moved_state(kinematics(), node(X, k), p.segment(n_ + k * state_size(), state_size())), k, result);
  return result;
}

/// Nodes where a run from x passes; where it ends early, they stay at the last state.
bool ShootingMap::follow_nodes(const Vector& x, Vector& X) {
  std::optional<State> state;
  for (Index k = 0; k < node_count(); ++k) {
    SegmentPlan part = plan(k, x);
    part.times.clear();
    const SampledRun run = segment_.run(part, x, state);
    if (k == 0) {
      if (!run.usable()) {
        message_ = run.message;
        return false;
      }
      nz_ = run.final.z.size();
      X.resize(n_ + node_count() * stored_size());
      X.head(n_) = x;
    }
    if (run.usable() && run.final.q.allFinite() && run.final.v.allFinite()) state = run.final;
    put_node(*state, k, X);
  }
  return true;
}

/// A component counts as large as it becomes at a node, or as its rate over the time of the motion makes it.
void ShootingMap::set_state_sizes(const Vector& X) {
  const Index nv = kinematics().nv();
  state_sizes_ = Vector::Zero(state_size());
  const double span = end_time(X.head(n_)) - start_time_;
  for (Index k = 0; k < node_count(); ++k) {
    const State state = node(X, k);
    const Vector v = state.v.cwiseAbs();
    Vector reach = span * v;
    if (kinematics().flat()) reach = reach.cwiseMax(state.q.cwiseAbs());
    state_sizes_.head(nv) = state_sizes_.head(nv).cwiseMax(reach);
    state_sizes_.segment(nv, nv) = state_sizes_.segment(nv, nv).cwiseMax(v).cwiseMax(reach / span);
    state_sizes_.tail(nz_) = state_sizes_.tail(nz_).cwiseMax(state.z.cwiseAbs());
  }
  for (const auto& [from, count] : {std::pair<Index, Index>{0, nv}, {nv, nv}, {2 * nv, nz_}}) {
    auto sizes = state_sizes_.segment(from, count);
    const double largest = count > 0 ? sizes.maxCoeff() : 0;
    for (Index i = 0; i < count; ++i)
      if (sizes[i] == 0) sizes[i] = largest > 0 ? largest : 1;
  }
}

bool ShootingMap::start(const Vector& x, Vector& X) {
  if (node_count() == 0) {
    X = x;
    return true;
  }
  Vector passed, F;
  if (!follow_nodes(x, passed)) return false;
  // A motion that runs away is a poor guess: the start held through all nodes may be a better one.
  Vector held = passed;
  try {
    State first = with_values(problem_->model, problem_->unknowns, x).initial();
    first.z = node(passed, 0).z;
    for (Index k = 0; k < node_count(); ++k) put_node(first, k, held);
  } catch (const InputError& error) {
    message_ = error.what();
    return false;
  }
  set_state_sizes(held);
  double best = HUGE_VAL;
  for (const Vector* guess : {&passed, &held})
    if (value(*guess, F) && F.squaredNorm() < best) {
      best = F.squaredNorm();
      X = *guess;
    }
  if (best == HUGE_VAL) return false;
  set_state_sizes(X);
  return true;
}

bool ShootingMap::ends_too_early(const Vector& x) {
  for (const Condition& condition : problem_->conditions)
    if (condition.at == ConditionTime::time && condition.time > end_time(x)) {
      message_ = fmt::format("the end {:.6g} s is before the condition '{}' {}", end_time(x), condition.text(),
                             condition.when());
      return true;
    }
  return false;
}

bool ShootingMap::run_part(Index part, const Vector& x, const std::optional<State>& start) {
  parts_.push_back(segment_.run(plan(part, x), x, start));
  if (!parts_.back().usable()) message_ = parts_.back().message;
  return parts_.back().usable();
}

bool ShootingMap::value(const Vector& X, Vector& F) {
  const Vector x = X.head(n_);
  parts_.clear();
  if (ends_too_early(x)) return false;
  for (Index part = 0; part <= node_count(); ++part)
    if (!run_part(part, x, part_start(X, part))) return false;
  return residual(X, F);
}

bool ShootingMap::follow(Vector& X, Vector& F) {
  const Index gaps = node_count() * state_size();
  const bool known = F.size() > 0;
  if (gaps == 0 || (known && F.tail(gaps).squaredNorm() <= F.head(condition_count()).squaredNorm())) return false;
  const std::vector<SampledRun> parts = std::move(parts_);
  const Vector conditions = conditions_;
  const double continuity = continuity_;
  Vector followed = X, value;
  const Vector x = X.head(n_);
  parts_.clear();
  bool better = !ends_too_early(x);
  for (Index part = 0; better && part <= node_count(); ++part) {
    better = run_part(part, x, part > 0 ? std::optional(parts_.back().final) : std::nullopt);
    const State& end = parts_.back().final;
    better = better && end.z.size() == nz_ && end.q.allFinite() && end.v.allFinite();
    if (better && part < node_count()) put_node(end, part, followed);
  }
  better = better && residual(followed, value) && (!known || value.squaredNorm() < F.squaredNorm());
  if (better) {
    X = std::move(followed);
    F = std::move(value);
  } else {
    parts_ = parts;
    conditions_ = conditions;
    continuity_ = continuity;
  }
  return better;
}

bool ShootingMap::residual(const Vector& X, Vector& F) {
  const Index m = condition_count();
  F.resize(m + node_count() * state_size());
  conditions_.resize(m);
  for (std::size_t i = 0; i < problem_->conditions.size(); ++i) {
    const Vector& row = parts_[static_cast<std::size_t>(condition_part_[i])].rows[condition_row_[i]];
    conditions_[static_cast<Index>(i)] =
        problem_->conditions[i].value({row.data(), static_cast<std::size_t>(row.size())});
  }
  F.head(m) = conditions_.cwiseQuotient(scales_);
  for (Index k = 0; k < node_count(); ++k)
    F.segment(m + k * state_size(), state_size()) =
        state_difference(kinematics(), parts_[static_cast<std::size_t>(k)].final, node(X, k))
            .cwiseQuotient(state_sizes_);
  continuity_ = node_count() > 0 ? F.tail(node_count() * state_size()).cwiseAbs().maxCoeff() : 0;
  if (!F.allFinite()) message_ = "a condition is not a finite number";
  return F.allFinite();
}

Vector ShootingMap::condition_terms() const {
  Vector terms = Vector::Zero(condition_count());
  for (std::size_t i = 0; i < problem_->conditions.size(); ++i) {
    const Expression& value = problem_->conditions[i].value;
    const Vector& row = parts_[static_cast<std::size_t>(condition_part_[i])].rows[condition_row_[i]];
    std::vector<double> gradient(value.variables_used().size());
    const double g = value.gradient({row.data(), static_cast<std::size_t>(row.size())}, gradient);
    double sum = 0, size = 0;
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      const Index slot = value.variables_used()[k];
      if (slot == 0 || slot >= segment_.layout().first_parameter()) continue;  // known numbers
      sum += gradient[k] * row[slot];
      size += std::abs(gradient[k] * row[slot]);
    }
    constexpr double kRoundOff = 1e-14;
    if (std::abs(g - sum) > kRoundOff * size) terms[static_cast<Index>(i)] = std::abs(g - sum) + size;
  }
  return terms;
}

bool ShootingMap::slope(const Vector& X, DenseMatrix& J) {
  if (method_ == DerivativeMethod::forward) return forward_slope(X, J);
  if (adjoint_slope(X.head(n_), J)) return true;
  // Where the way back cannot say whether a derivative exists, columns can.
  if (!may_change_method_ || raised(stop_)) return false;
  method_ = DerivativeMethod::forward;
  return forward_slope(X, J);
}

bool ShootingMap::forward_slope(const Vector& X, DenseMatrix& J) {
  const Vector x = X.head(n_);
  const Index m = condition_count();
  J.setZero(m + node_count() * state_size(), step_size());
  for (Index part = 0; part <= node_count(); ++part) {
    std::vector<Variation> variations;
    std::vector<Index> columns;
    for (Index j = 0; j < n_; ++j) {
      variations.push_back({.unknown = j, .size = problem_->unknowns[static_cast<std::size_t>(j)].size(x[j])});
      columns.push_back(j);
    }
    for (Index i = 0; part > 0 && i < state_size(); ++i) {
      variations.push_back({.component = i, .size = state_sizes_[i]});
      columns.push_back(n_ + (part - 1) * state_size() + i);
    }
    SegmentSlopes slopes;
    const auto plan_of = [&](const Vector& at) { return plan(part, at); };
    const SampledRun& center = parts_[static_cast<std::size_t>(part)];
    if (!derivative_->evaluate(segment_, plan_of, x, part_start(X, part), center, variations, slopes, message_))
      return false;
    for (std::size_t i = 0; i < problem_->conditions.size(); ++i) {
      if (condition_part_[i] != part) continue;
      const Expression& value = problem_->conditions[i].value;
      const Vector& row = center.rows[condition_row_[i]];
      std::vector<double> gradient(value.variables_used().size());
      value.gradient({row.data(), static_cast<std::size_t>(row.size())}, gradient);
      for (std::size_t c = 0; c < columns.size(); ++c)
        for (std::size_t g = 0; g < gradient.size(); ++g)
          J(static_cast<Index>(i), columns[c]) +=
              gradient[g] / scales_[static_cast<Index>(i)] *
              slopes.rows[condition_row_[i]](value.variables_used()[g], static_cast<Index>(c));
    }
    if (part == node_count()) continue;
    const Index at = m + part * state_size();
    for (std::size_t c = 0; c < columns.size(); ++c)
      J.col(columns[c]).segment(at, state_size()) +=
          slopes.final.col(static_cast<Index>(c)).cwiseQuotient(state_sizes_);
    for (Index i = 0; i < state_size(); ++i) J(at + i, n_ + part * state_size() + i) -= 1 / state_sizes_[i];
  }
  return J.allFinite();
}

ShootingMap::Eliminated ShootingMap::eliminate_nodes(const DenseMatrix& J, const Vector& F) const {
  const Index m = condition_count(), rest = step_size() - n_;
  Eliminated result{J.topLeftCorner(m, n_), F.head(m), Vector::Zero(rest), DenseMatrix::Zero(rest, n_)};
  if (rest == 0) return result;
  // A gap depends on the nodes at both ends of its part: each node follows from the one before.
  const auto continuity = J.bottomRightCorner(rest, rest).triangularView<Eigen::Lower>();
  result.node_steps = -continuity.solve(F.tail(rest));
  result.node_slope = -continuity.solve(J.bottomLeftCorner(rest, n_));
  result.J.noalias() += J.topRightCorner(m, rest) * result.node_slope;
  result.F.noalias() += J.topRightCorner(m, rest) * result.node_steps;
  return result;
}

DenseMatrix ShootingMap::sensitivity(const DenseMatrix& J) const {
  return scales_.asDiagonal() * eliminate_nodes(J, Vector::Zero(J.rows())).J;
}

}  // namespace stickslip
