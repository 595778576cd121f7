// SPDX-License-Identifier: Apache-2.0
// Where switches of time alone change. The switches are taken in postfix order, so that those inside a switch and those
// that decide whether it is evaluated come first. The changes found so far cut the interval into pieces on which all
// these are constant; on a piece an argument that is piecewise affine is affine, so its switch changes monotonically
// and the two ends of the piece tell. For other arguments the piece is scanned.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "stickslip/model/expression.hpp"

namespace stickslip {

using expression_detail::Node;
using expression_detail::Op;
using expression_detail::Program;

namespace {

constexpr double kMostChanges = 1e6;

/// Longer conditions do not guard (breakpoints too many do no harm): each link of a long chain of `and` has all the
/// links before it as its condition.
constexpr std::uint32_t kLongestGuard = 256;

/// A condition of time alone that must be `wanted` for a node to be evaluated; `next` is another one or -1.
struct Guard {
  Program condition;
  bool wanted;
  int next;
};

struct Switch {
  Op op;
  std::vector<Program> arguments;
  int guard;  ///< first of its guards or -1
};

double evaluate(const Program& program, double t) {
  return expression_detail::run<double>(program, [t](std::uint32_t) { return t; });
}

double three_way(double a, double b) { return a > b ? 1.0 : (a < b ? -1.0 : 0.0); }

/// The integer value of a switch. What has no value (NaN) or is infinite counts as a value of its own.
double state(const Switch& s, double t) {
  const double a = evaluate(s.arguments[0], t);
  const double b = s.arguments.size() > 1 ? evaluate(s.arguments[1], t) : 0.0;
  double result = 0.0;
  switch (s.op) {
    case Op::Less:
      return a < b;
    case Op::LessEqual:
      return a <= b;
    case Op::Greater:
      return a > b;
    case Op::GreaterEqual:
      return a >= b;
    case Op::Atan2:
      return a < 0.0;
    case Op::Floor:
      result = std::floor(a);
      break;
    case Op::Mod:
      result = std::floor(a / b);
      break;
    case Op::Min:
    case Op::Max: {
      double best = a;
      for (std::size_t k = 1; k < s.arguments.size(); ++k) {
        const double value = evaluate(s.arguments[k], t);
        if (s.op == Op::Min ? value < best : value > best) {
          best = value;
          result = static_cast<double>(k);
        }
      }
      break;
    }
    default:
      result = three_way(a, b);
  }
  return std::isfinite(result) ? result : std::numeric_limits<double>::max();
}

/// Distance from switching, for switches that have one.
double distance(const Switch& s, double t) {
  if (s.op == Op::Floor || s.op == Op::Mod || s.arguments.size() > 2) return std::numeric_limits<double>::quiet_NaN();
  const double a = evaluate(s.arguments[0], t);
  return std::abs(s.op == Op::Atan2 || s.arguments.size() == 1 ? a : a - evaluate(s.arguments[1], t));
}

std::size_t decimal_digits(double t) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), t, std::chars_format::scientific).ptr;
  return static_cast<std::size_t>(end - buffer.data());
}

/// Of two neighbouring doubles and their neighbours the one a person would have written.
double roundest(double before, double after) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double best = after;
  for (const double other : {before, std::nextafter(after, infinity), std::nextafter(before, -infinity)})
    if (decimal_digits(other) < decimal_digits(best)) best = other;
  return best;
}

class Finder {
 public:
  Finder(std::span<const Node> tree, Index slot, double from, double to, Index scan_points)
      : from_(from), to_(to), scan_points_(std::max<Index>(scan_points, 1)) {
    analyse(tree, slot);
  }

  void find(std::vector<double>& times) {
    for (const Switch& s : switches_) {
      changes_ = times_;
      double begin = from_;
      for (const double end : times_) {
        search_piece(s, begin, end);
        begin = end;
      }
      search_piece(s, begin, to_);
      std::erase_if(changes_, [this](double t) { return !(from_ < t && t < to_); });
      unite(changes_);
      times_ = changes_;
    }
    times.insert(times.end(), times_.begin(), times_.end());
    unite(times);
  }

 private:
  /// Notes which nodes need time alone and their guards, and collects the switches.
  void analyse(std::span<const Node> tree, Index slot) {
    std::vector<bool> time_only(tree.size());
    for (std::size_t n = 0; n < tree.size(); ++n) {
      time_only[n] = tree[n].op != Op::Variable || tree[n].slot == slot;
      for (const std::size_t k : operands(tree, n)) time_only[n] = time_only[n] && time_only[k];
    }

    std::vector<int> guard(tree.size(), -1);
    for (std::size_t n = tree.size(); n-- > 0;) {
      const std::vector<std::size_t> operand = operands(tree, n);
      for (const std::size_t k : operand) guard[k] = guard[n];
      const Op op = tree[n].op;
      if (op != Op::If && op != Op::And && op != Op::Or) continue;
      if (!time_only[operand[0]] || tree[operand[0]].size > kLongestGuard) continue;
      guard[operand[1]] = add_guard(subtree(tree, operand[0]), op != Op::Or, guard[n]);
      if (op == Op::If) guard[operand[2]] = add_guard(subtree(tree, operand[0]), false, guard[n]);
    }

    for (std::size_t n = 0; n < tree.size(); ++n) {
      if (!is_switch(tree[n].op) || !time_only[n]) continue;
      Switch s{.op = tree[n].op, .arguments = {}, .guard = guard[n]};
      for (const std::size_t k : operands(tree, n)) s.arguments.push_back(expression_detail::compile(subtree(tree, k)));
      switches_.push_back(std::move(s));
    }
  }

  static bool is_switch(Op op) {
    return expression_detail::is_comparison(op) || op == Op::Sign || op == Op::Abs || op == Op::Floor ||
           op == Op::Mod || op == Op::Min || op == Op::Max || op == Op::Atan2;
  }

  int add_guard(std::span<const Node> condition, bool wanted, int next) {
    guards_.push_back({expression_detail::compile(condition), wanted, next});
    return static_cast<int>(guards_.size()) - 1;
  }

  bool is_evaluated(const Switch& s, double t) const {
    for (int g = s.guard; g >= 0; g = guards_[static_cast<std::size_t>(g)].next) {
      const Guard& guard = guards_[static_cast<std::size_t>(g)];
      if ((evaluate(guard.condition, t) != 0.0) != guard.wanted) return false;
    }
    return true;
  }

  /// Times closer than this are one.
  double resolution(double t) const {
    constexpr double few_units = 4.0 * std::numeric_limits<double>::epsilon();
    return few_units * std::max(std::abs(t), 1e-6 * (to_ - from_));
  }

  /// Stays off the ends of the piece: there, other switches change.
  void search_piece(const Switch& s, double begin, double end) {
    const double first = begin + resolution(begin);
    const double last = end - resolution(end);
    if (!(first < last) || !is_evaluated(s, first + 0.5 * (last - first))) return;

    const double step = (to_ - from_) / static_cast<double>(scan_points_);
    std::array<double, 3> point = {first, first, first};
    auto k = static_cast<Index>((first - from_) / step) + 1;
    for (bool more = true; more; ++k) {
      const double grid = from_ + static_cast<double>(k) * step;
      more = grid < last;
      point = {point[1], point[2], more ? grid : last};
      search_cell(s, point);
    }
  }

  /// The changes in [point 1, point 2]; and the pair of changes around point 1 that leaves no trace at the points.
  void search_cell(const Switch& s, const std::array<double, 3>& point) {
    const double state1 = state(s, point[1]);
    const double state2 = state(s, point[2]);
    if (state1 != state2) return bisect(s, point[1], state1, point[2], state2);
    if (point[0] == point[1] || state(s, point[0]) != state1) return;
    const double middle = distance(s, point[1]);
    if (!(middle < distance(s, point[0]) && middle <= distance(s, point[2]))) return;

    // Golden section for the smallest distance, until the switch is seen to change.
    constexpr double golden = 0.3819660112501051;
    double a = point[0], x = point[1], b = point[2], nearest = middle;
    for (int iteration = 0; iteration < 80 && b - a > resolution(x); ++iteration) {
      const double y = b - x > x - a ? x + golden * (b - x) : x - golden * (x - a);
      if (const double state_y = state(s, y); state_y != state1) {
        bisect(s, point[0], state1, y, state_y);
        bisect(s, y, state_y, point[2], state1);
        return;
      }
      if (const double d = distance(s, y); d < nearest) {
        (y > x ? a : b) = x;
        x = y;
        nearest = d;
      } else {
        (y > x ? b : a) = y;
      }
    }
  }

  void bisect(const Switch& s, double a, double state_a, double b, double state_b) {
    if (state_a == state_b) return;
    const bool counts = s.op == Op::Floor || s.op == Op::Mod;
    if (static_cast<double>(changes_.size()) + (counts ? std::abs(state_b - state_a) : 1.0) > kMostChanges)
      throw InputError(
          fmt::format("an expression has more than {:.0f} breakpoints in time between {} and {}; make "
                      "floor, mod or a comparison change less often, or ignore breakpoints",
                      kMostChanges, from_, to_));
    // 0 first: halving towards it would go through all the smallest numbers.
    const double middle = a < 0.0 && b > 0.0 ? 0.0 : a + 0.5 * (b - a);
    if (!(a < middle && middle < b)) return changes_.push_back(roundest(a, b));
    const double state_middle = state(s, middle);
    bisect(s, a, state_a, middle, state_middle);
    bisect(s, middle, state_middle, b, state_b);
  }

  /// Sorts; of times that agree, keeps the one with the fewest digits.
  void unite(std::vector<double>& times) const {
    std::ranges::sort(times);
    std::size_t kept = 0;
    for (const double t : times) {
      if (kept > 0 && t - times[kept - 1] <= resolution(t)) {
        if (decimal_digits(t) < decimal_digits(times[kept - 1])) times[kept - 1] = t;
      } else {
        times[kept++] = t;
      }
    }
    times.resize(kept);
  }

  double from_;
  double to_;
  Index scan_points_;
  std::vector<Guard> guards_;
  std::vector<Switch> switches_;
  std::vector<double> times_;    ///< found in the switches before this one
  std::vector<double> changes_;  ///< the same and those of this one so far
};

}  // namespace

void Expression::append_breakpoints(Index slot, double from, double to, Index scan_points,
                                    std::vector<double>& times) const {
  Finder(tree_, slot, from, to, scan_points).find(times);
}

}  // namespace stickslip
