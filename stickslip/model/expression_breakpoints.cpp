// SPDX-License-Identifier: Apache-2.0
// Where switches of time alone change. The switches are taken in postfix order, so that those inside a switch and those
// that decide whether it is evaluated come first. The changes found so far cut the interval into pieces on which all
// these are constant; each piece is searched from early to late, so that what a search cut off has found is complete up
// to some time.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "stickslip/common/enclosure.hpp"
#include "stickslip/model/expression.hpp"

namespace stickslip {

using expression_detail::Node;
using expression_detail::Op;
using expression_detail::Program;

namespace {

/// Intervals looked at without success before the search for one expression is cut off, and those allowed for a change
/// that was found (sines take about six).
constexpr std::size_t kMostIntervals = 200'000, kIntervalsPerChange = 20;
/// Parts of (from, to) that a search without proof compares.
constexpr double kScanPoints = 4096;

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
  int guard;               ///< first of its guards or -1
  const TimeTable* table;  ///< of a lookup
};

double three_way(double a, double b) { return a > b ? 1.0 : (a < b ? -1.0 : 0.0); }

/// The integer value of a switch whose k-th argument is argument(k). What has no value (NaN) or is infinite counts as a
/// value of its own.
template <class Argument>
double state(const Switch& s, Argument&& argument) {
  const double a = argument(0);
  const double b = s.arguments.size() > 1 ? argument(1) : 0.0;
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
    case Op::Lookup:
      return std::isnan(a) ? -1.0 : static_cast<double>(s.table->piece(a));
    case Op::Min:
    case Op::Max: {
      double best = a;
      for (std::size_t k = 1; k < s.arguments.size(); ++k) {
        const double value = argument(k);
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

bool is_switch(Op op) {
  return expression_detail::is_comparison(op) || op == Op::Sign || op == Op::Abs || op == Op::Floor || op == Op::Mod ||
         op == Op::Min || op == Op::Max || op == Op::Atan2 || op == Op::Lookup;
}

class Finder {
 public:
  Finder(std::span<const Node> tree, Index slot, const HeldVariable& held, BreakpointSearch& search)
      : search_(search), from_(search.from), to_(search.to), held_(held) {
    analyse(tree, slot);
  }

  void find() {
    if (switches_.empty()) return;
    for (const Switch& s : switches_) {
      if (raised(search_.stop)) return;
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
    search_.times.insert(search_.times.end(), times_.begin(), times_.end());
    unite(search_.times);
  }

 private:
  /// Notes which nodes need time alone and their guards, and collects the switches.
  void analyse(std::span<const Node> tree, Index slot) {
    std::vector<bool> time_only(tree.size());
    for (std::size_t n = 0; n < tree.size(); ++n) {
      time_only[n] = tree[n].op != Op::Variable || tree[n].slot == slot || tree[n].slot == held_.slot;
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
      Switch s{.op = tree[n].op, .arguments = {}, .guard = guard[n], .table = tree[n].table};
      for (const std::size_t k : operands(tree, n)) s.arguments.push_back(expression_detail::compile(subtree(tree, k)));
      switches_.push_back(std::move(s));
    }
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

  double evaluate(const Program& program, double t) const {
    return expression_detail::run<double>(
        program, [&](std::uint32_t slot) { return static_cast<Index>(slot) == held_.slot ? held_.value : t; });
  }

  double state(const Switch& s, double t) const {
    return stickslip::state(s, [&](std::size_t k) { return evaluate(s.arguments[k], t); });
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
    search_interval(s, first, state(s, first), last, state(s, last));
  }

  void search_interval(const Switch& s, double a, double state_a, double b, double state_b) {
    if (raised(search_.stop)) return;
    if (stopped_ || ++intervals_ > kMostIntervals + kIntervalsPerChange * changes_.size())
      return scan(s, a, state_a, b);
    const Known known = examine(s, a, b);
    if (known == Known::constant) return;
    if (known == Known::monotone) return locate(s, a, state_a, b, state_b);
    const double middle = between(a, b);
    if (b - a <= resolution(b) || !(a < middle && middle < b)) {
      if (state_a != state_b) add(a, b);
      return;
    }
    const double state_middle = state(s, middle);
    search_interval(s, a, state_a, middle, state_middle);
    search_interval(s, middle, state_middle, b, state_b);
  }

  /// What is known about the value of a switch on an interval.
  enum class Known { constant, monotone, nothing };

  Known examine(const Switch& s, double a, double b) const {
    const Enclosure time(between(a, b), {a, b}, {1.0, 1.0});
    const auto argument = [&](std::size_t k) {
      return expression_detail::run<Enclosure>(s.arguments[k], [&](std::uint32_t slot) {
        return static_cast<Index>(slot) == held_.slot ? Enclosure(held_.value) : time;
      });
    };
    if (s.op == Op::Min || s.op == Op::Max) {
      constexpr std::size_t kMostArguments = 16;  // pairs of them are compared
      if (s.arguments.size() > kMostArguments) return Known::nothing;
      return examine_choice(s, argument, b - a);
    }
    const Enclosure first = argument(0);
    const bool ratio = s.op == Op::Mod, steps = s.op == Op::Floor || s.op == Op::Lookup;
    if (!ratio && !steps) {
      const Enclosure second = s.arguments.size() > 1 && s.op != Op::Atan2 ? argument(1) : Enclosure(0.0);
      return examine_sign(first, second, b - a);
    }
    const Enclosure x = ratio ? first / argument(1) : first;
    if (x.value.empty()) return Known::constant;
    const auto step = [&](double at) { return s.table ? static_cast<double>(s.table->piece(at)) : std::floor(at); };
    return step(x.value.lo) == step(x.value.hi) ? Known::constant : monotone(x.slope);
  }

  static Known monotone(const Interval& slope) {
    return slope.lo >= 0 || slope.hi <= 0 ? Known::monotone : Known::nothing;
  }

  /// The sign of a - b: its range, also by the mean value theorem, and the range of its slope.
  static Known examine_sign(const Enclosure& a, const Enclosure& b, double width) {
    if (a.value.empty() || b.value.empty()) return Known::constant;
    const Enclosure x = a - b;
    if (!x.value.contains(0.0)) return Known::constant;
    if (x.slope.lo == 0 && x.slope.hi == 0) return Known::constant;
    constexpr double units = 16 * std::numeric_limits<double>::epsilon();
    const double change = 0.5 * width * std::max(std::abs(x.slope.lo), std::abs(x.slope.hi));
    if (std::abs(x.mid) > change * (1 + units) + units * (std::abs(a.mid) + std::abs(b.mid))) return Known::constant;
    return monotone(x.slope);
  }

  /// Each two arguments keep their order, or change it once at most: no argument can then lead twice.
  template <class Argument>
  static Known examine_choice(const Switch& s, Argument&& argument, double width) {
    std::vector<Enclosure> values;
    for (std::size_t k = 0; k < s.arguments.size(); ++k) values.push_back(argument(k));
    Known known = Known::constant;
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Known pair = examine_sign(values[i], values[j], width);
        if (pair == Known::nothing) return pair;
        if (pair == Known::monotone) known = pair;
      }
    return known;
  }

  /// 0 first: halving towards it would go through all the smallest numbers.
  static double between(double a, double b) { return a < 0.0 && b > 0.0 ? 0.0 : a + 0.5 * (b - a); }

  /// Without proof: one change between neighbouring points of a grid.
  void scan(const Switch& s, double a, double state_a, double b) {
    search_.complete_until = std::min(search_.complete_until, a);
    const double step = (to_ - from_) / kScanPoints;
    while (a < b && !raised(search_.stop)) {
      const double next = std::min(b, std::max(a + step, std::nextafter(a, b)));
      const double state_next = state(s, next);
      if (state_next != state_a) add_one(s, a, state_a, next);
      a = next;
      state_a = state_next;
    }
  }

  void add_one(const Switch& s, double a, double state_a, double b) {
    for (double middle = between(a, b); a < middle && middle < b; middle = between(a, b))
      (state(s, middle) == state_a ? a : b) = middle;
    changes_.push_back(roundest(a, b));
  }

  /// One change of a sign: by the secant first, which saves most of the halving.
  void locate(const Switch& s, double a, double state_a, double b, double state_b) {
    if (state_a == state_b) return;
    const bool sign = s.op != Op::Floor && s.op != Op::Mod && s.op != Op::Lookup && s.arguments.size() <= 2 &&
                      s.op != Op::Min && s.op != Op::Max;
    if (sign) tighten(s, a, state_a, b, state_b);
    bisect(s, a, state_a, b, state_b);
  }

  double difference(const Switch& s, double t) const {
    const double first = evaluate(s.arguments[0], t);
    return s.arguments.size() > 1 && s.op != Op::Atan2 ? first - evaluate(s.arguments[1], t) : first;
  }

  /// Shrinks (a, b) around the change; the states at the ends stay what they are.
  void tighten(const Switch& s, double& a, double state_a, double& b, double state_b) const {
    double at_a = difference(s, a), at_b = difference(s, b);
    constexpr int kSteps = 12;
    for (int step = 0; step < kSteps && b - a > resolution(b); ++step) {
      const double x = a - at_a * ((b - a) / (at_b - at_a));
      if (!(a < x && x < b)) return;
      // A little to both sides of the secant's point: near the end one of the two ends the search at once.
      const double near = std::min(2 * resolution(x), 0.25 * (b - a));
      for (const double y : {x - near, x + near}) {
        if (!(a < y && y < b)) continue;
        const double state_y = state(s, y);
        if (state_y == state_a) {
          a = y;
          at_a = difference(s, y);
          at_b *= 0.5;
        } else if (state_y == state_b) {
          b = y;
          at_b = difference(s, y);
          at_a *= 0.5;
        } else {
          return;
        }
      }
    }
  }

  void bisect(const Switch& s, double a, double state_a, double b, double state_b) {
    if (state_a == state_b || raised(search_.stop)) return;
    if (stopped_) return scan(s, a, state_a, b);
    const double middle = between(a, b);
    if (!(a < middle && middle < b)) return add(a, b);
    const double state_middle = state(s, middle);
    bisect(s, a, state_a, middle, state_middle);
    bisect(s, middle, state_middle, b, state_b);
  }

  /// A change between neighbouring doubles.
  void add(double before, double after) {
    stopped_ = changes_.size() + search_.times.size() >= search_.most;
    if (stopped_)
      search_.complete_until = std::min(search_.complete_until, before);
    else
      changes_.push_back(roundest(before, after));
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

  BreakpointSearch& search_;
  double from_, to_;
  HeldVariable held_;
  std::vector<Guard> guards_;
  std::vector<Switch> switches_;
  std::vector<double> times_;    ///< found in the switches before this one
  std::vector<double> changes_;  ///< the same and those of this one so far
  std::size_t intervals_ = 0;    ///< looked at
  bool stopped_ = false;         ///< there are too many
};

}  // namespace

bool Expression::has_switch_of(Index slot) const {
  for (std::size_t n = 0; n < tree_.size(); ++n)
    if (is_switch(tree_[n].op) && std::ranges::any_of(subtree(tree_, n), [slot](const Node& node) {
          return node.op == Op::Variable && node.slot == slot;
        }))
      return true;
  return false;
}

void Expression::append_breakpoints(Index slot, BreakpointSearch& search, const HeldVariable& held) const {
  Finder(tree_, slot, held, search).find();
}

}  // namespace stickslip
