// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stickslip/model/expression.hpp"

namespace stickslip::expression_error_test {
namespace {

SymbolTable symbols() {
  SymbolTable table;
  for (const char* name : {"t", "speed", "elbow.rz"}) table.add_variable(name);
  table.add_constant("zero", 0.0);
  return table;
}

struct Malformed {
  std::string text;
  Index column;
  std::string message;  // or a part of it
};

TEST(ExpressionError, NamesWhatIsWrongAndWhere) {
  const std::vector<Malformed> table = {
      {"", 1, "the expression is empty"},
      {"   ", 4, "the expression is empty"},
      {"1 +", 4, "an operand is missing after '+'"},
      {"* 2", 1, "an operand is missing before '*'"},
      {"1 + * 2", 5, "an operand is missing between '+' and '*'"},
      {"(+)", 3, "an operand is missing between '+' and ')'"},
      {"2 ^ ", 5, "an operand is missing after '^'"},
      {"t and", 6, "an operand is missing after 'and'"},
      {"or t", 1, "an operand is missing before 'or'"},
      {"not", 4, "an operand is missing after 'not'"},
      {"t < ", 5, "an operand is missing after '<'"},
      {"1 + not t", 5, "put (not ...) in parentheses here"},
      {"t not t", 3, "'not' cannot follow an operand"},
      {"(1 + t", 1, "this '(' is never closed"},
      {"sin(t", 4, "this '(' is never closed"},
      {"1 + t)", 6, "this ')' has no matching '('"},
      {"()", 1, "the parentheses are empty"},
      {"1, 2", 2, "',' can only separate the arguments of a function"},
      {"(1, 2)", 3, "',' can only separate the arguments of a function"},
      {"min(1,,2)", 7, "an operand is missing between ',' and ','"},
      {"min(1,)", 7, "an operand is missing between ',' and ')'"},
      {"1 2", 3, "an operator is missing between '1' and '2'; a product needs *"},
      {"2t", 2, "an operator is missing between '2' and 't'; a product needs *"},
      {"t speed", 3, "an operator is missing between 't' and 'speed'"},
      {"(t)(t)", 4, "an operator is missing between ')' and '('; a product needs *"},
      {"1.2.3", 4, "an operator is missing between '1.2' and '.3'"},
      {"0x10", 2, "an operator is missing between '0' and 'x10'"},
      {"t(3)", 2, "'t' is not a function; for a product write t*(...)"},
      {"pi(3)", 3, "'pi' is not a function"},
      {"sin t", 1, "'sin' is a function: write sin(...)"},
      {"1 + if", 5, "'if' is a function: write if(...)"},
      {"sin()", 1, "sin takes 1 argument, not 0"},
      {"1 + sin(t, 2)", 5, "sin takes 1 argument, not 2"},
      {"atan2(t)", 1, "atan2 takes 2 arguments, not 1"},
      {"min(t)", 1, "min takes 2 or more arguments, not 1"},
      {"if(t > 0, 1)", 1, "if takes 3 arguments, not 2"},
      {"2*sped", 3, "unknown name 'sped' (did you mean 'speed'?)"},
      {"elbow.rx", 1, "unknown name 'elbow.rx' (did you mean 'elbow.rz'?)"},
      {"1 + sine(t)", 5, "unknown function 'sine' (did you mean 'sin'?)"},
      {"something_else", 1, "(known: t, speed, elbow.rz, zero, pi"},
      {"t=3", 2, "'=' is not used here; write == to compare; a value cannot be assigned"},
      {"t =< 3", 3, "'=<' is not used here; write <="},
      {"t ** 2", 3, "'**' is not used here; write ^ for a power"},
      {"t && 1", 3, "'&&' is not used here; write and"},
      {"!t", 1, "'!' is not used here; write not"},
      {"t % 2", 3, "'%' is not used here; write mod(a, b)"},
      {"2 * [t]", 5, "'[' is not used here; write ( and )"},
      {"0 < t < 1", 7, "comparisons do not chain"},
      {"t == 1 != 2", 8, "comparisons do not chain"},
      {"t $ 2", 3, "'$' has no meaning in an expression"},
      {"t; t", 2, "';' has no meaning in an expression"},
      {"\"t\"", 1, "'\"' has no meaning in an expression"},
      {"1 + .", 5, "'.' alone is not a number"},
      {"1e999", 1, "'1e999' is outside the range of numbers"},
      {"t + \u00e9 + 1", 5, "'\u00e9' is not an ASCII character"},
      {"2\u00b7t", 2, "'\u00b7' is not used here; write *"},
      {"2*\u03c0*\u00e9", 3, "'\u03c0' is not used here; write pi"},
      {"t + \xff", 5, "the byte 0xFF cannot stand in an expression"},
      {std::string("t\0", 2), 2, "the byte 0x00 cannot stand in an expression"},
      {"t + 1/0", 6, "'/' has no finite value here"},
      {"t*log(zero)", 3, "'log' has no finite value here"},
      {"1 + sqrt(2 - 3)*t", 5, "'sqrt' has no finite value here"},
      {"10^400", 3, "'^' has no finite value here"},
      {"if(t > 0, 1/zero, 0)", 12, "'/' has no finite value here"},
      {"t/zero", 2, "'/' has no finite value here"},
      {"mod(1, 0)", 1, "'mod' has no finite value here"},
  };
  for (const Malformed& malformed : table) {
    try {
      Expression::parse(malformed.text, symbols());
      ADD_FAILURE() << malformed.text << " was accepted";
    } catch (const ExpressionError& error) {
      EXPECT_EQ(error.column(), malformed.column) << error.what();
      EXPECT_NE(error.message().find(malformed.message), std::string::npos) << error.what();
      EXPECT_EQ(error.text(), malformed.text);
      // The last line is the caret, below the column; the text is indented by two.
      const std::string what = error.what();
      EXPECT_EQ(what.substr(what.rfind('\n') + 1),
                std::string(static_cast<std::size_t>(malformed.column) + 1, ' ') + "^");
    }
  }
}

std::string what(const std::string& text) {
  try {
    Expression::parse(text, symbols());
  } catch (const ExpressionError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ExpressionError, ShowsTheTextWithACaretBelowThePlace) {
  EXPECT_EQ(what("1 + sped"),
            "unknown name 'sped' (did you mean 'speed'?)\n"
            "  1 + sped\n"
            "      ^");
  EXPECT_EQ(what("t +\n\t* 2"),
            "an operand is missing between '+' and '*'\n"
            "  t +  * 2\n"
            "       ^");
}

TEST(ExpressionError, ShowsOnlyTheNeighbourhoodInALongText) {
  std::string text = "t";
  for (int k = 0; k < 100; ++k) text += " + t";
  const std::string message = what(text + " + q1q1q1" + text.substr(1));
  const std::size_t line = message.find('\n') + 1;
  const std::string shown = message.substr(line, message.rfind('\n') - line);
  const std::string caret = message.substr(message.rfind('\n') + 1);
  EXPECT_LT(shown.size(), 110u);
  EXPECT_EQ(shown.find("q1q1q1"), caret.find('^'));
}

TEST(ExpressionError, DeepNestingIsRefusedBeforeTheStackIsUsedUp) {
  const auto nested = [](std::size_t depth, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t k = 0; k < depth; ++k) text += open;
    text += "t";
    for (std::size_t k = 0; k < depth; ++k) text += close;
    return text;
  };
  for (const std::size_t depth : {201u, 10000u, 30000u}) {
    EXPECT_NE(what(nested(depth, "(", ")")).find("nested more than 200 deep"), std::string::npos);
    EXPECT_NE(what(nested(depth, "-", "")).find("nested more than 200 deep"), std::string::npos);
  }
  for (const char* open : {"sin(", "2^", "not ", "+"})
    EXPECT_NE(what(nested(5000, open, "")).find("nested more than 200 deep"), std::string::npos) << open;
  EXPECT_EQ(what(nested(200, "(", ")")), "accepted");
  EXPECT_EQ(what(nested(200, "t+(", ")")), "accepted");
  EXPECT_NE(what(nested(190, "t < t+t*(", ")")).find("more than 256 intermediate results are pending"),
            std::string::npos);
}

TEST(ExpressionError, ATextBeyondTheLimitIsRefused) {
  EXPECT_EQ(what(std::string(65535, ' ') + "t"), "accepted");
  EXPECT_NE(what(std::string(65536, ' ') + "t").find("65537 characters"), std::string::npos);
}

}  // namespace
}  // namespace stickslip::expression_error_test
