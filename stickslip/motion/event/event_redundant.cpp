// SPDX-License-Identifier: Apache-2.0
// Segments on which the reactions of resting laws are not unique: how long some choice of them is admissible.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/polynomial.hpp"
#include "stickslip/motion/event/event.hpp"

namespace stickslip {

namespace {
constexpr double kEdge = 1e-12;  // of the largest force: round-off of a reaction on the border of its set
constexpr int kDeepest = 6;      // halvings after which a part whose ends both hold is taken to hold
}  // namespace

bool EventScheme::find_choice(double t, const State& s, Vector& x) {
  flow_->sample(t, node_);
  dynamics_.place(t > s.t ? t : just_after(s.t), node_.q, node_.v);
  return dynamics_.central_reactions(s.modes, x);
}

/// Whether the choices nearest to the line from x_from to x_to stay in their sets: slacks as polynomials through nine
/// points, bounded from below.
bool EventScheme::choices_hold(double from, const Vector& x_from, double to, const Vector& x_to, const State& s) {
  static const PolynomialFit fit(8);
  const auto nodes = fit.nodes();
  std::vector<Vector> slacks(nodes.size());
  double edge = 0;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const double t = from + nodes[j] * (to - from);
    flow_->sample(t, node_);
    dynamics_.place(t > s.t ? t : just_after(s.t), node_.q, node_.v);
    dynamics_.slacks_near(s.modes, x_from + nodes[j] * (x_to - x_from), slacks[j]);
    const Index count = slacks[j].size() - 1;
    if (slacks[j].size() != slacks[0].size() || !(slacks[j][count] > 0)) return false;
    edge = std::max(edge, kEdge * slacks[j][count]);
    if (slacks[j].minCoeff() < -edge) return false;
  }
  std::array<double, PolynomialFit::kLargestFitDegree + 1> c{}, samples{};
  for (Index i = 0; i + 1 < slacks[0].size(); ++i) {
    double smallest = HUGE_VAL;
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      samples[j] = slacks[j][i] + 2 * edge;
      smallest = std::min(smallest, samples[j]);
    }
    const std::span<double> coefficients(c.data(), nodes.size());
    const double error = fit.fit({samples.data(), nodes.size()}, coefficients);
    if (smallest < 100 * error && error > edge) return false;
    if (first_root(coefficients)) return false;
  }
  return true;
}

/// The last instant before `to` up to which a choice exists; HUGE_VAL: it does to the end. x_to = null: none at `to`.
double EventScheme::last_choice(double from, const Vector& x_from, double to, const Vector* x_to, int depth,
                                const State& s) {
  if (raised(stop_)) return HUGE_VAL;
  if (x_to && (depth >= kDeepest || choices_hold(from, x_from, to, *x_to, s))) return HUGE_VAL;
  const double middle = from + 0.5 * (to - from);
  if (!(to - from > 4 * std::numeric_limits<double>::epsilon() * std::abs(to)) || middle == from || middle == to)
    return x_to ? HUGE_VAL : from;
  Vector x;
  const bool holds = find_choice(middle, s, x);
  const int next = depth + 1;
  const double left = last_choice(from, x_from, middle, holds ? &x : nullptr, next, s);
  return !holds || left < HUGE_VAL ? left : last_choice(middle, x, to, x_to, next, s);
}

/// The laws that no choice takes off the border of their sets at the end of the segment are what ends it.
void EventScheme::name_tied_laws(const State& s) {
  triggers_.clear();
  flow_->sample(segment_end_, node_);
  dynamics_.place(segment_end_, node_.q, node_.v);
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    roles_[k] = LawRole::stuck;
    at_rest_[k] = dynamics_.laws()[k].rests(s.modes[k]);
  }
  dynamics_.decision_problem(s.modes, at_rest_, roles_, problem_, chosen_, sliding_);
  const Decision decision = decide_modes(problem_, decision_options_);
  for (std::size_t j = 0; j < chosen_.size() && decision.status == Status::success; ++j) {
    const auto k = static_cast<std::size_t>(chosen_[j]);
    const bool changes = !sliding_[k] && decision.modes[j] != s.modes[k];
    if (!decision.tied[j] && !changes) continue;
    const bool lifts = decision.tied[j] == tied_to_lift || decision.modes[j] == Mode::open;
    triggers_.push_back({chosen_[j], lifts ? Trigger::lift : Trigger::release, 1, 0});
  }
  for (std::size_t k = 0; k < s.modes.size() && triggers_.empty(); ++k)
    if (at_rest_[k]) triggers_.push_back({static_cast<int>(k), Trigger::release, 1, 0});
}

void EventScheme::cut_where_no_choice_holds(const State& s) {
  Vector x_from, x_to;
  const double from = flow_->t0(), to = flow_->t1();
  if (to > from) {
    double last = from;
    if (find_choice(from, s, x_from)) {
      const bool holds = find_choice(to, s, x_to);
      last = last_choice(from, x_from, to, holds ? &x_to : nullptr, 0, s);
    }
    if (last < to) {
      segment_end_ = last;
      name_tied_laws(s);
    }
  }
  place(just_after(s.t), s);
  dynamics_.solve(s.modes);
}

}  // namespace stickslip
