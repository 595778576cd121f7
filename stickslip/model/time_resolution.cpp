// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/time_resolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/interval_series.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/model/time_table.hpp"

namespace stickslip {

using expression_detail::Node;
using expression_detail::Op;
using expression_detail::Tree;

namespace {

bool depends(std::span<const Node> tree, Index slot) {
  return std::ranges::any_of(tree, [&](const Node& n) { return n.op == Op::Variable && n.slot == slot; });
}

/// With a number in place of a variable, and what follows from it carried out: if(i == 0, a, b) is one of the two.
Tree with_value(std::span<const Node> tree, Index slot, double value) {
  Tree result;
  for (const Node& node : tree) {
    if (node.op == Op::Variable && node.slot == slot)
      expression_detail::append_constant(result, value, node.position);
    else if (node.op == Op::Variable)
      expression_detail::append_variable(result, node.slot, node.position);
    else if (node.op == Op::Constant)
      expression_detail::append_constant(result, node.value, node.position);
    else
      expression_detail::append_operation(result, node.op, node.arity, node.position, node.table);
  }
  return result;
}

bool same(const Tree& a, const Tree& b) {
  return std::ranges::equal(a, b, [](const Node& x, const Node& y) {
    return x.op == y.op && x.arity == y.arity && x.table == y.table &&
           (x.op == Op::Constant ? x.value == y.value : x.op != Op::Variable || x.slot == y.slot);
  });
}

}  // namespace

/// The parts of an expression that depend on time and not on the state: collected by an evaluation whose values are
/// whether a number does. Parts that depend on the index i become one for each of its values: an interval of them would
/// take every branch of if(i == 0, ...) at once.
struct TimeParts {
  Index index_slot = 0;
  double last_index = 0;
  std::vector<Tree> trees;

  void add(Tree tree) {
    if (!depends(tree, 0) || tree.size() == 1) return;
    if (std::ranges::none_of(trees, [&](const Tree& known) { return same(known, tree); }))
      trees.push_back(std::move(tree));
  }
};

template <>
TimeParts Expression::evaluate<TimeParts>(std::span<const TimeParts> asked) const {
  TimeParts found{asked[0].index_slot, asked[0].last_index, {}};
  struct Kind {
    bool time = false, state = false;
  };
  std::vector<Kind> kind(tree_.size());
  for (std::size_t n = 0; n < tree_.size(); ++n) {
    if (tree_[n].op == Op::Variable)
      kind[n] = {tree_[n].slot == 0, tree_[n].slot != 0 && tree_[n].slot != found.index_slot};
    for (const std::size_t operand : expression_detail::operands(tree_, n)) {
      kind[n].time |= kind[operand].time;
      kind[n].state |= kind[operand].state;
    }
  }
  auto take = [&](std::size_t n) {
    if (!kind[n].time || kind[n].state || tree_[n].op == Op::Variable) return;
    const auto part = expression_detail::subtree(tree_, n);
    if (!depends(part, found.index_slot)) return found.add({part.begin(), part.end()});
    for (double i = 0; i <= found.last_index; ++i) found.add(with_value(part, found.index_slot, i));
  };
  for (std::size_t n = 0; n < tree_.size(); ++n)
    if (kind[n].state)
      for (const std::size_t operand : expression_detail::operands(tree_, n)) take(operand);
  take(tree_.size() - 1);
  return found;
}

namespace {

Interval truth(bool can_be_false, bool can_be_true) { return {can_be_false ? 0.0 : 1.0, can_be_true ? 1.0 : 0.0}; }

Interval compared(Op op, const Interval& a, const Interval& b) {
  switch (op) {
    case Op::Less:
      return truth(a.hi >= b.lo, a.lo < b.hi);
    case Op::LessEqual:
      return truth(a.hi > b.lo, a.lo <= b.hi);
    case Op::Greater:
      return compared(Op::Less, b, a);
    case Op::GreaterEqual:
      return compared(Op::LessEqual, b, a);
    default: {
      const bool same = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo, apart = a.hi < b.lo || b.hi < a.lo;
      return op == Op::Equal ? truth(!same, !apart) : truth(!apart, !same);
    }
  }
}

bool can_be_true(const IntervalSeries& a) { return a.c[0].lo != 0 || a.c[0].hi != 0; }
bool can_be_false(const IntervalSeries& a) { return a.c[0].contains(0); }

/// A number that is 0 or 1: smooth where it is one of them.
IntervalSeries logical(int order, const Interval& value) {
  return value.lo == value.hi ? IntervalSeries(order, value) : IntervalSeries::rough(order, value);
}

/// Straight between two points of the table.
IntervalSeries looked_up(const TimeTable& table, const IntervalSeries& x, int order) {
  const Interval at = x.c[0];
  const auto next = std::upper_bound(table.times().begin(), table.times().end(), at.lo);
  if (next != table.times().end() && *next < at.hi) return IntervalSeries::rough(order, whole_line());
  const double slope = table.slope_after(at.lo), value = table(at.lo);
  return IntervalSeries(order, {value, value}) +
         IntervalSeries(order, {slope, slope}) * (x - IntervalSeries(order, {at.lo, at.lo}));
}

IntervalSeries apply(const Node& node, std::span<const IntervalSeries> x, int order) {
  switch (node.op) {
    case Op::Negate:
      return -x[0];
    case Op::Not:
      return logical(order, truth(can_be_true(x[0]), can_be_false(x[0])));
    case Op::Sin:
      return sin(x[0]);
    case Op::Cos:
      return cos(x[0]);
    case Op::Tan:
      return tan(x[0]);
    case Op::Asin:
      return asin(x[0]);
    case Op::Acos:
      return acos(x[0]);
    case Op::Atan:
      return atan(x[0]);
    case Op::Sinh:
      return sinh(x[0]);
    case Op::Cosh:
      return cosh(x[0]);
    case Op::Tanh:
      return tanh(x[0]);
    case Op::Exp:
      return exp(x[0]);
    case Op::Log:
      return log(x[0]);
    case Op::Sqrt:
      return pow(x[0], 0.5);
    case Op::Abs:
      return abs(x[0]);
    case Op::Sign:
      return sign(x[0]);
    case Op::Floor:
      return floor(x[0]);
    case Op::Lookup:
      return looked_up(*node.table, x[0], order);
    case Op::Add:
      return x[0] + x[1];
    case Op::Subtract:
      return x[0] - x[1];
    case Op::Multiply:
      return x[0] * x[1];
    case Op::Divide:
      return x[0] / x[1];
    case Op::Power:
      return pow(x[0], x[1]);
    case Op::Atan2:
      return atan2(x[0], x[1]);
    case Op::Mod:
      return x[0] - x[1] * floor(x[0] / x[1]);
    case Op::Min:
    case Op::Max: {
      IntervalSeries r = x[0];
      for (std::size_t k = 1; k < x.size(); ++k) r = node.op == Op::Min ? min(r, x[k]) : max(r, x[k]);
      return r;
    }
    case Op::And:
      return logical(order, truth(can_be_false(x[0]) || can_be_false(x[1]), can_be_true(x[0]) && can_be_true(x[1])));
    case Op::Or:
      return logical(order, truth(can_be_false(x[0]) && can_be_false(x[1]), can_be_true(x[0]) || can_be_true(x[1])));
    case Op::If:
      if (!can_be_false(x[0])) return x[1];
      if (!can_be_true(x[0])) return x[2];
      return IntervalSeries::rough(order, hull(x[1].c[0], x[2].c[0]));
    default:
      if (expression_detail::is_comparison(node.op)) return logical(order, compared(node.op, x[0].c[0], x[1].c[0]));
      return IntervalSeries::rough(order, whole_line());
  }
}

/// f over [from, to] as a series in s = (t - ξ)/(to - from), for every ξ of the interval.
IntervalSeries enclosure(const Tree& tree, double from, double to, int order, std::vector<IntervalSeries>& stack) {
  stack.clear();
  for (const Node& node : tree) {
    if (node.op == Op::Constant) {
      stack.emplace_back(order, Interval{node.value, node.value});
    } else if (node.op == Op::Variable) {
      stack.emplace_back(order, Interval{from, to});  // time: parts depend on nothing else
      stack.back().c[1] = {to - from, to - from};
      stack.back().top = 1;
    } else {
      const std::size_t first = stack.size() - node.arity;
      IntervalSeries value = apply(node, {stack.data() + first, node.arity}, order);
      stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
      stack.push_back(std::move(value));
    }
  }
  return stack.back();
}

}  // namespace

TimeResolution::TimeResolution(const System& system, double from, double to, int order, double accuracy)
    : last_index_(static_cast<double>(std::max<Index>(system.info().nv(), 1) - 1)),
      order_(std::min(order, IntervalSeries::kMost)),
      accuracy_(accuracy) {
  std::vector<const StateFunction*> functions;
  system.forces().append_time_functions(functions);
  system.laws().append_time_functions(functions);
  TimeParts asked;
  asked.index_slot = 1 + system.info().nq() + system.info().nv();
  asked.last_index = last_index_;
  for (const StateFunction* function : functions)
    if (const Expression* expression = function->expression())
      for (Tree& tree : expression->evaluate(std::span<const TimeParts>(&asked, 1)).trees)
        parts_.push_back({std::move(tree)});
  // Of the largest value that may occur: what a pulse has at eleven times its width.
  constexpr double kTiny = 1e-40;
  for (Part& part : parts_) {
    const double largest = enclosure(part.tree, from, to, 1, stack_).c[0].magnitude();
    if (std::isfinite(largest)) part.floor = kTiny * largest;
  }
}

void TimeResolution::enclose(Part& part, double t, double t_limit) {
  const double before = part.to > part.from ? part.to - part.from : t_limit - t;
  const double shortest = 64 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t), std::abs(t_limit));
  double length = std::min(t_limit - t, 4 * before);
  for (;; length *= 0.5) {
    part.from = t;
    part.to = t + length;
    part.longest = length;
    if (!(length > shortest)) {
      ++part.unresolved;
      return;
    }
    // A switch at an end belongs to the other side.
    const double edge = 0.03 * shortest;
    const IntervalSeries f = enclosure(part.tree, t + edge, t + length - edge, order_, stack_);
    const double rest = f.c[order_].magnitude(), size = accuracy_ * std::max(f.c[0].magnitude(), part.floor);
    if (rest == 0) break;
    const double factor = std::pow(size / rest, 1.0 / order_);  // NaN where the enclosure is unbounded
    part.longest = length * std::min(factor, 1.0);
    constexpr double kNearly = 0.4;
    if (factor > kNearly && std::isfinite(rest)) break;
  }
  part.unresolved = 0;
}

double TimeResolution::until(double t, double t_limit) {
  double end = t_limit;
  for (Part& part : parts_) {
    // What is left of a stretch serves as long as it is no short piece.
    const bool serves = t >= part.from && part.to - t >= 0.5 * std::min(part.longest, t_limit - t);
    if (!serves) enclose(part, t, t_limit);
    end = std::min(end, std::min(part.to, t + part.longest));
  }
  return end;
}

double TimeResolution::longest_step(double from, double to) const {
  const double length = to - from;
  const double edge = 2 * std::numeric_limits<double>::epsilon() * std::max(std::abs(from), std::abs(to));
  double longest = length;
  for (const Part& part : parts_) {
    const IntervalSeries f = enclosure(part.tree, from + edge, to - edge, order_, stack_);
    const double rest = f.c[order_].magnitude(), size = accuracy_ * std::max(f.c[0].magnitude(), part.floor);
    if (!std::isfinite(f.c[0].magnitude())) return -1;
    if (rest == 0) continue;
    const double factor = std::pow(size / rest, 1.0 / order_);  // NaN where the enclosure is unbounded
    longest = factor > 0 && std::isfinite(rest) ? std::min(longest, length * factor) : 0.0;
  }
  return longest;
}

bool TimeResolution::stuck() const {
  constexpr int kMostUnresolved = 1000;
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.unresolved > kMostUnresolved; });
}

}  // namespace stickslip
