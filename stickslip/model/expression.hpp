// SPDX-License-Identifier: Apache-2.0
// Expressions of model files: text in, fast function with exact derivatives out. Nothing but mathematics is reachable
// from a text: no assignment, no state, no files.
//
//   numbers      1   .5   1e-3
//   names        [A-Za-z_][A-Za-z0-9_.]*: variables and named constants of the SymbolTable, and pi
//   arithmetic   + - * / ^     -2^2 = -4, 2^3^2 = 2^9, 2^-1 = 0.5
//   comparisons  < <= > >= == !=     1 or 0; they do not chain (0 < t < 1 is refused: write 0 < t and t < 1)
//   logic        and or not     anything but 0 is true; the value is 1 or 0; `and`, `or` stop when the result is known
//   choice       if(condition, a, b)     evaluates only the branch it takes
//   functions    sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt abs sign floor
//                min max (two or more arguments), mod(a, b) = a - b floor(a/b)
//   tables       road(x): a function given by points (time_table.hpp) under a name of the SymbolTable, of any
//   expression
//
// From loose to tight: or, and, not, comparison, + -, * /, sign, ^.
//
// Named constants are put in at compile time and operations on constants carried out then; one whose value is not
// finite, or a division by the constant 0, is an error, unless it stands in a branch that can never be taken
// (if(k > 0, 1/k, 0) with k = 0). At evaluation the rules of IEEE 754 hold: 1/x at 0 is inf, sqrt(-1) is NaN, a
// comparison with NaN is false except !=; the caller checks what it uses. x^n with an integer constant |n| <= 16 is
// computed by multiplication, x^0.5 by sqrt.
//
// Derivatives are by automatic differentiation; dual.hpp states the choice made at every kink. The slope of a
// comparison or logical operation is 0, that of `if` is the slope of the branch taken.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/dual.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/taylor.hpp"
#include "stickslip/common/vector.hpp"
#include "stickslip/model/expression_program.hpp"
#include "stickslip/model/expression_tree.hpp"

namespace stickslip {

/// A text that is no expression. what() is the message, the text and a caret below the place.
class ExpressionError : public InputError {
 public:
  ExpressionError(const std::string& message, std::string_view text, std::size_t byte);

  const std::string& message() const { return message_; }  ///< without text and caret
  const std::string& text() const { return text_; }
  Index column() const { return column_; }  ///< in characters (UTF-8 code points), from 1

 private:
  std::string message_;
  std::string text_;
  Index column_;
};

/// What the names in a text stand for. Variables are numbered 0, 1, ... in the order they are added.
class SymbolTable {
 public:
  struct Symbol {
    Index slot = -1;     ///< of a variable; -1 for a constant
    double value = 0.0;  ///< of a constant
    bool is_constant() const { return slot < 0; }
  };

  /// Both throw InputError for a name that is malformed, reserved (sin, if, and, pi, ...) or already there.
  Index add_variable(const std::string& name);
  void add_constant(const std::string& name, double value);
  /// Likewise: a function name(x).
  void add_table(const std::string& name, std::shared_ptr<const TimeTable> table);

  /// nullptr for an unknown name.
  const Symbol* find(std::string_view name) const;
  std::shared_ptr<const TimeTable> find_table(std::string_view name) const;
  Index variable_count() const { return static_cast<Index>(variables_.size()); }
  const std::vector<std::string>& variables() const { return variables_; }  ///< by slot
  std::vector<std::string> names() const;                                   ///< variables, then constants, by name
  std::vector<std::string> table_names() const;                             ///< by name

 private:
  void add(const std::string& name, const Symbol& symbol);
  void require_free(const std::string& name) const;

  std::map<std::string, Symbol, std::less<>> symbols_;
  std::map<std::string, std::shared_ptr<const TimeTable>, std::less<>> tables_;
  std::vector<std::string> variables_;
};

/// A search for the times in (from, to) at which something jumps, and what it found.
struct BreakpointSearch {
  double from = 0, to = 0;
  std::vector<double> times = {};  ///< ascending, one entry where several agree to a few units in the last place
  /// Every jump before this time is among `times`.
  double complete_until = std::numeric_limits<double>::infinity();
  std::size_t most = 1'000'000;  ///< times; a search that finds more is cut off
  /// Once raised the search ends where it is; what it has found so far is of no use.
  StopRequest stop = nullptr;
};

struct HeldVariable {
  Index slot = -1;  ///< -1: none
  double value = 0;
};

/// A compiled expression f(x_0, ..., x_{n-1}) of the variables of a SymbolTable. A value; evaluation is const,
/// re-entrant, allocates nothing and throws nothing.
class Expression {
 public:
  Expression() : Expression(constant(0.0)) {}

  /// Throws ExpressionError.
  static Expression parse(std::string_view text, const SymbolTable& symbols);
  static Expression constant(double value);

  /// `variables` by slot; may be longer than needed, not shorter than the largest slot used + 1.
  double operator()(std::span<const double> variables) const;

  /// The same for double, Dual or SecondDual.
  template <class Scalar>
  Scalar evaluate(std::span<const Scalar> variables) const;

  /// ∂f/∂x_wrt
  double derivative(std::span<const double> variables, Index wrt) const;
  /// f and Σ_i ∂f/∂x_i direction_i
  Dual directional(std::span<const double> variables, std::span<const double> direction) const;
  /// gradient[k] = ∂f/∂x_i for the k-th variable i of variables_used(); returns f.
  double gradient(std::span<const double> variables, std::span<double> gradient) const;
  /// ∂²f/∂x_i∂x_j
  double second_derivative(std::span<const double> variables, Index i, Index j) const;

  /// f along variable `along` = variables[along] + rate s, as a power series in s.
  Taylor series(std::span<const double> variables, Index along, double rate) const;

  /// Ascending slots of the variables that the result can depend on (none of a branch that can never be taken).
  const std::vector<Index>& variables_used() const { return used_; }
  bool is_constant() const { return tree_.size() == 1 && tree_[0].op == expression_detail::Op::Constant; }
  bool depends_on(Index slot) const;
  bool uses(const TimeTable* table) const;
  /// Sums, products, quotients and integer powers of variables and numbers alone.
  bool is_rational() const;
  /// No variable but this one; a constant depends on nothing and passes.
  bool depends_only_on(Index slot) const;
  const std::string& text() const { return text_; }

  /// Adds the times in (search.from, search.to) at which f can jump or have a kink whatever the other variables are:
  /// where a switch whose arguments depend on variable `slot` (time) alone changes. A switch is an integer-valued
  /// function of time:
  ///   comparison 0/1,  sign and abs -1/0/1,  floor its value,  mod(a, b) floor(a/b),  min and max the number of the
  ///   active argument,  atan2 the sign of its first argument (the cut),  a table the number of the piece.
  /// Each change is bisected to neighbouring doubles; of these and their neighbours the one with the fewest decimal
  /// digits is taken, so that t < 1 and t <= 1 both give 1 exactly. A switch in a branch that is not taken at that
  /// time, as far as time alone decides it, does not count.
  ///
  /// An interval is done with when interval arithmetic (enclosure.hpp) proves that the switch keeps its value there, or
  /// that its argument is monotone, so that the two ends tell; otherwise it is halved, down to the resolution of time.
  /// So every change is found, however short the pulse and however many there are, unless the search is cut off:
  /// after search.most changes, or when halving leads nowhere (sin(1/t) near 0). search.complete_until then says how
  /// far everything was found; beyond that only changes between neighbouring points of a grid are, one each.
  ///
  /// `held`: another variable that counts as a number here (the index i of a function for many coordinates).
  void append_breakpoints(Index slot, BreakpointSearch& search, const HeldVariable& held = {}) const;
  /// Some switch has an argument that depends on this variable.
  bool has_switch_of(Index slot) const;

 private:
  Expression(std::string text, expression_detail::Tree tree);

  std::vector<std::shared_ptr<const TimeTable>> tables_;  ///< that the tree and the program point to

  std::string text_;
  expression_detail::Tree tree_;
  expression_detail::Program program_;
  std::vector<Index> used_;
};

extern template double Expression::evaluate<double>(std::span<const double>) const;
extern template Dual Expression::evaluate<Dual>(std::span<const Dual>) const;
extern template SecondDual Expression::evaluate<SecondDual>(std::span<const SecondDual>) const;

}  // namespace stickslip
