// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/function_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/model/expression_parser.hpp"

namespace stickslip {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A cursor over the text of a well-formed expression.
class Scanner {
 public:
  Scanner(std::string_view text, const std::vector<std::string>& coordinates)
      : text_(text), coordinates_(coordinates) {}

  /// Only + - * / ( ), numbers, names, integer exponents, and functions of constants.
  bool is_rational() {
    while (skip_blanks(), at_ < text_.size()) {
      const char c = text_[at_];
      if (is_letter(c)) {
        const std::string_view word = name();
        if (expression_detail::find_function(word)) {
          if (!skip_constant_arguments()) return false;
        } else if (word == "and" || word == "or" || word == "not" || (skip_blanks(), peek() == '(')) {
          return false;  // the latter: a table
        }
      } else if (is_digit(c) || c == '.') {
        number();
      } else if (c == '^') {
        ++at_;
        if (!skip_integer()) return false;
      } else if (std::string_view("+-*/()").find(c) != std::string_view::npos) {
        ++at_;
      } else {
        return false;  // comparisons
      }
    }
    return true;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::string_view name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void number() {
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    }
  }
  bool is_variable(std::string_view word) const {
    if (word == "t" || word == "i") return true;
    return std::any_of(coordinates_.begin(), coordinates_.end(), [&](const std::string& name) {
      return word == name || (word.starts_with("v_") && word.substr(2) == name);
    });
  }
  bool skip_constant_arguments() {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != '(') return false;
    for (int depth = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (is_letter(c)) {
        if (is_variable(name())) return false;
        continue;  // a table of constants is a constant
      }
      ++at_;
      if (c == '(') ++depth;
      if (c == ')' && --depth == 0) return true;
    }
    return false;
  }
  /// Integers only: (x^2)^0.5 has a kink.
  bool skip_integer() {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
    const std::size_t begin = at_;
    number();
    const std::string_view digits = text_.substr(begin, at_ - begin);
    return !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit);
  }

  std::string_view text_;
  const std::vector<std::string>& coordinates_;
  std::size_t at_ = 0;
};

const char* describe(Arguments allowed) {
  switch (allowed) {
    case Arguments::position:
      return "the coordinates and parameters";
    case Arguments::time_position:
      return "t, the coordinates and parameters";
    case Arguments::position_velocity:
      return "the coordinates, their velocities and parameters";
    case Arguments::time_position_velocity:
      return "t, the coordinates, their velocities and parameters";
  }
  return "";
}

}  // namespace

void require_arguments(const StateFunction& f, const std::string& what, Arguments allowed,
                       const std::vector<std::string>& coordinates) {
  if (f.is_constant()) return;
  const Index n = static_cast<Index>(coordinates.size());
  const bool time = allowed == Arguments::time_position || allowed == Arguments::time_position_velocity;
  const bool velocity = allowed == Arguments::position_velocity || allowed == Arguments::time_position_velocity;
  const auto refuse = [&](const std::string& argument) {
    throw InputError(fmt::format("{} depends on {}; it may depend on {} only", what, argument, describe(allowed)));
  };
  const Expression* e = f.expression();
  if (!e) {
    if (!(time && velocity)) throw InputError(fmt::format("{} cannot be a table over time; give an expression", what));
    return;
  }
  for (const Index slot : e->variables_used()) {
    if (slot == 0 && !time) refuse("t");
    if (slot > n && slot <= 2 * n && !velocity) refuse("v_" + coordinates[static_cast<std::size_t>(slot - 1 - n)]);
    if (slot > 2 * n) refuse("the index i");
  }
}

Degree degree(const StateFunction& f, const std::vector<std::string>& coordinates) {
  if (f.is_constant()) return Degree::constant;
  const Expression* e = f.expression();
  if (!e) return Degree::any;
  if (!Scanner(e->text(), coordinates).is_rational()) return Degree::any;

  constexpr int kPoints = 5, kDirections = 3;
  std::mt19937 random(20041);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<SecondDual> x(2 + 2 * coordinates.size());
  const auto used = [&](Index slot) -> SecondDual& { return x[static_cast<std::size_t>(slot)]; };
  bool affine = true, quadratic = true;
  for (int direction = 0; direction < kDirections; ++direction) {
    for (const Index slot : e->variables_used())
      used(slot) = SecondDual(Dual(0.0, uniform(random)), Dual(uniform(random), 0.0));
    double first = 0;
    for (int point = 0; point < kPoints; ++point) {
      for (const Index slot : e->variables_used()) used(slot).value.value = 3.0 * uniform(random);
      const double second = e->evaluate<SecondDual>(x).slope.slope;
      if (!std::isfinite(second)) return Degree::any;
      if (point == 0) first = second;
      affine &= second == 0.0;
      quadratic &= second == first;
    }
  }
  return affine ? Degree::affine : quadratic ? Degree::quadratic : Degree::any;
}

}  // namespace stickslip
