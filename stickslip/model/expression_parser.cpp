// SPDX-License-Identifier: Apache-2.0
// Recursive descent, one function per level of the grammar:
//
//   disjunction  conjunction ("or" conjunction)*
//   conjunction  negation ("and" negation)*
//   negation     "not" negation | comparison
//   comparison   sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//   sum          product (("+" | "-") product)*
//   product      signed (("*" | "/") signed)*
//   signed       ("-" | "+") signed | power
//   power        primary ["^" signed]
//   primary      number | name | function "(" disjunction ("," disjunction)* ")" | "(" disjunction ")"
#include "stickslip/model/expression_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "stickslip/common/nearest_name.hpp"

namespace stickslip::expression_detail {

namespace {

enum class Kind { Start, Number, Name, Symbol, End };

struct Token {
  Kind kind = Kind::Start;
  std::string_view text;
  std::uint32_t position = 0;
  double value = 0.0;

  bool is(std::string_view symbol) const { return kind == Kind::Symbol && text == symbol; }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// What people write out of habit from elsewhere, and how it is written here. Longer ones first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kHabits = {{
    {"**", "^ for a power"},
    {"&&", "and"},
    {"||", "or"},
    {"=<", "<="},
    {"=>", ">="},
    {"=", "== to compare; a value cannot be assigned"},
    {"&", "and"},
    {"|", "or, or abs(...)"},
    {"!", "not"},
    {"%", "mod(a, b)"},
    {"[", "( and )"},
    {"{", "( and )"},
    {"\u2212", "-"},
    {"\u00B7", "*"},
    {"\u00D7", "*"},
    {"\u00B2", "^2"},
    {"\u03C0", "pi"},
}};

class Parser {
 public:
  Parser(std::string_view text, const SymbolTable& symbols) : text_(text), symbols_(symbols) {}

  Tree parse() {
    if (text_.size() > kLongestText)
      fail(kLongestText, "the expression has {} characters; at most {} are allowed", text_.size(), kLongestText);
    advance();
    if (token_.kind == Kind::End) fail(token_, "the expression is empty");
    disjunction();
    if (token_.kind != Kind::End) fail_after_operand();
    if (const Node* node = find_nonfinite(tree_))
      fail(node->position, "'{}' has no finite value here, with these constants", spelling(node->op));
    return std::move(tree_);
  }

 private:
  // Grammar.

  void disjunction() {
    conjunction();
    while (token_.is("or")) binary(Op::Or, &Parser::conjunction);
  }

  void conjunction() {
    negation();
    while (token_.is("and")) binary(Op::And, &Parser::negation);
  }

  void negation() {
    if (!token_.is("not")) return comparison();
    unary(Op::Not, &Parser::negation);
  }

  void comparison() {
    sum();
    const std::optional<Op> op = comparison_here();
    if (!op) return;
    binary(*op, &Parser::sum);
    if (comparison_here()) fail(token_, "comparisons do not chain; join two of them with 'and', as in 0 < t and t < 1");
  }

  std::optional<Op> comparison_here() const {
    if (token_.is("<")) return Op::Less;
    if (token_.is("<=")) return Op::LessEqual;
    if (token_.is(">")) return Op::Greater;
    if (token_.is(">=")) return Op::GreaterEqual;
    if (token_.is("==")) return Op::Equal;
    if (token_.is("!=")) return Op::NotEqual;
    return std::nullopt;
  }

  void sum() {
    product();
    while (token_.is("+") || token_.is("-")) binary(token_.is("+") ? Op::Add : Op::Subtract, &Parser::product);
  }

  void product() {
    signed_factor();
    while (token_.is("*") || token_.is("/")) binary(token_.is("*") ? Op::Multiply : Op::Divide, &Parser::signed_factor);
  }

  void signed_factor() {
    if (token_.is("-")) return unary(Op::Negate, &Parser::signed_factor);
    if (!token_.is("+")) return power();
    const Nesting nesting(*this);
    advance();
    signed_factor();
  }

  void power() {
    primary();
    if (!token_.is("^")) return;
    const Nesting nesting(*this);
    binary(Op::Power, &Parser::signed_factor);
  }

  void primary() {
    const Token token = token_;
    if (token.kind == Kind::Number) {
      advance();
      append_constant(tree_, token.value, token.position);
    } else if (token.kind == Kind::Name) {
      advance();
      name(token);
    } else if (token.is("(")) {
      const Nesting nesting(*this);
      advance();
      if (token_.is(")")) fail(token, "the parentheses are empty");
      disjunction();
      close(token);
    } else {
      fail_without_operand();
    }
  }

  void name(const Token& token) {
    const bool called = token_.is("(");
    if (const Function* function = find_function(token.text)) {
      if (!called) fail(token, "'{0}' is a function: write {0}(...)", token.text);
      return call(token, *function);
    }
    if (const auto table = symbols_.find_table(token.text)) {
      if (!called) fail(token, "'{0}' is a table: write {0}(t), or {0} of any other expression", token.text);
      return call(token, {token.text, Op::Lookup, 1, 1}, table.get());
    }
    const SymbolTable::Symbol* symbol = symbols_.find(token.text);
    const bool known = symbol != nullptr || token.text == "pi";
    if (!known)
      fail(token, "unknown {} '{}'{}", called ? "function" : "name", shortened(token.text), hint(token.text, called));
    if (called) fail(token_, "'{0}' is not a function; for a product write {0}*(...)", token.text);
    if (symbol == nullptr)
      append_constant(tree_, std::numbers::pi, token.position);
    else if (symbol->is_constant())
      append_constant(tree_, symbol->value, token.position);
    else
      append_variable(tree_, symbol->slot, token.position);
  }

  void call(const Token& token, const Function& function, const TimeTable* table = nullptr) {
    const Nesting nesting(*this);
    const Token open = token_;
    advance();
    std::uint32_t count = 0;
    if (!token_.is(")")) {
      disjunction();
      for (count = 1; token_.is(","); ++count) {
        advance();
        disjunction();
      }
    }
    close(open);
    if (count < function.fewest_arguments || count > function.most_arguments)
      fail(token, "{} takes {}{} argument{}, not {}", function.name, function.fewest_arguments,
           function.most_arguments > function.fewest_arguments ? " or more" : "",
           function.most_arguments > 1 ? "s" : "", count);
    append_operation(tree_, function.op, count, token.position, table);
  }

  void close(const Token& open) {
    if (token_.kind == Kind::End) fail(open, "this '(' is never closed");
    if (!token_.is(")")) fail_after_operand();
    advance();
  }

  void unary(Op op, void (Parser::*operand)()) {
    const Nesting nesting(*this);
    const std::uint32_t position = token_.position;
    advance();
    (this->*operand)();
    append_operation(tree_, op, 1, position);
  }

  void binary(Op op, void (Parser::*right_operand)()) {
    const std::uint32_t position = token_.position;
    advance();
    (this->*right_operand)();
    append_operation(tree_, op, 2, position);
  }

  /// Counts the recursion, which a text must not drive deeper than the machine's stack.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kDeepestNesting)
        parser_.fail(parser_.token_, "parentheses and signs are nested more than {} deep", kDeepestNesting);
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  // Tokens.

  void advance() {
    previous_ = token_;
    while (end_ < text_.size() && is_blank(text_[end_])) ++end_;
    token_ = {.kind = Kind::End, .text = {}, .position = static_cast<std::uint32_t>(end_)};
    if (end_ == text_.size()) return;
    const char first = text_[end_];
    const bool second_is_digit = end_ + 1 < text_.size() && is_digit(text_[end_ + 1]);
    if (is_digit(first) || (first == '.' && second_is_digit))
      read_number();
    else if (is_letter(first))
      read_name();
    else
      read_symbol();
  }

  void take(Kind kind, std::size_t length) {
    token_.kind = kind;
    token_.text = text_.substr(end_, length);
    end_ += length;
  }

  void read_number() {
    const char* const begin = text_.data() + end_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), token_.value);
    take(Kind::Number, static_cast<std::size_t>(end - begin));
    if (error != std::errc()) fail(token_, "'{}' is outside the range of numbers", shortened(token_.text));
  }

  void read_name() {
    std::size_t end = end_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.')) ++end;
    take(Kind::Name, end - end_);
    if (token_.text == "and" || token_.text == "or" || token_.text == "not") token_.kind = Kind::Symbol;
  }

  void read_symbol() {
    const std::string_view rest = text_.substr(end_);
    for (const std::string_view symbol : {"<=", ">=", "==", "!="})
      if (rest.starts_with(symbol)) return take(Kind::Symbol, symbol.size());
    for (const auto& [habit, instead] : kHabits)
      if (rest.starts_with(habit)) fail(token_, "'{}' is not used here; write {}", habit, instead);
    constexpr std::string_view single = "+-*/^<>(),";
    if (single.find(rest.front()) != std::string_view::npos) return take(Kind::Symbol, 1);
    if (rest.front() == '.') fail(token_, "'.' alone is not a number");
    const std::size_t length = character_length(text_, end_);
    const auto byte = static_cast<unsigned char>(rest.front());
    if (length > 1)
      fail(token_, "'{}' is not an ASCII character; expressions use plain ASCII only", rest.substr(0, length));
    if (byte >= 0x80 || byte < 0x20 || byte == 0x7F)
      fail(token_, "the byte 0x{:02X} cannot stand in an expression", byte);
    fail(token_, "'{}' has no meaning in an expression", rest.front());
  }

  // Messages.

  template <class... Arguments>
  [[noreturn]] void fail(std::size_t position, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    throw ExpressionError(fmt::format(format, std::forward<Arguments>(arguments)...), text_, position);
  }
  template <class... Arguments>
  [[noreturn]] void fail(const Token& at, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    throw ExpressionError(fmt::format(format, std::forward<Arguments>(arguments)...), text_, at.position);
  }

  [[noreturn]] void fail_after_operand() {
    if (token_.is(")")) fail(token_, "this ')' has no matching '('");
    if (token_.is(",")) fail(token_, "',' can only separate the arguments of a function");
    if (token_.is("not"))
      fail(token_, "'not' cannot follow an operand; put (not ...) in parentheses after an operator");
    const bool product = previous_.kind == Kind::Number || token_.is("(");
    fail(token_, "an operator is missing between '{}' and '{}'{}", shortened(previous_.text), shortened(token_.text),
         product ? "; a product needs *" : "");
  }

  [[noreturn]] void fail_without_operand() {
    if (token_.is("not")) fail(token_, "put (not ...) in parentheses here");
    const bool has_left = previous_.kind == Kind::Symbol && previous_.text != "(";
    const bool has_right = token_.kind != Kind::End;
    if (has_left && has_right) fail(token_, "an operand is missing between '{}' and '{}'", previous_.text, token_.text);
    if (has_right) fail(token_, "an operand is missing before '{}'", token_.text);
    fail(token_, "an operand is missing after '{}'", previous_.text);
  }

  static std::string shortened(std::string_view text) {
    constexpr std::size_t longest = 40;
    return text.size() <= longest ? std::string(text) : std::string(text.substr(0, longest)) + "...";
  }

  /// What was probably meant. A name of one or two letters is like any other such name: only a missing v_ is a hint.
  std::string hint(std::string_view unknown, bool called) const {
    constexpr std::size_t longest = 64, shortest = 3;
    if (unknown.size() > longest) return "";
    const auto suggest = [](const std::string& name) { return fmt::format(" (did you mean '{}'?)", name); };
    if (unknown.starts_with('v') && !called)
      if (const std::string velocity = "v_" + std::string(unknown.substr(1)); symbols_.find(velocity))
        return suggest(velocity);
    std::string list;
    if (unknown.size() >= shortest) {
      std::vector<std::string> known = called ? symbols_.table_names() : symbols_.names();
      const std::vector<std::string> reserved = reserved_names();
      known.insert(known.end(), reserved.begin(), reserved.end());
      list = name_hint(unknown, known);
      if (!nearest_name(unknown, known).empty()) return list;
    }
    if (unknown == "t" || unknown == "i") return "; it has no value here";
    if (called) return list + "; functions given by points stand under [tables]";
    return fmt::format("{}; define it under [parameters], as in {} = 1.0", list, unknown);
  }

  std::string_view text_;
  const SymbolTable& symbols_;
  std::size_t end_ = 0;
  Token token_;
  Token previous_;
  int nesting_ = 0;
  Tree tree_;
};

}  // namespace

Tree parse_tree(std::string_view text, const SymbolTable& symbols) { return Parser(text, symbols).parse(); }

}  // namespace stickslip::expression_detail
