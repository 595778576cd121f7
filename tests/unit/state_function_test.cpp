// SPDX-License-Identifier: Apache-2.0
// Functions of the program against the same expressions: values, derivatives, and what laws make of them.
#include "stickslip/model/state_function.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/model/equation_model.hpp"
#include "stickslip/model/expression_constraint.hpp"
#include "stickslip/model/expression_contact.hpp"
#include "stickslip/model/lagrange_inertia.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::state_function_test {
namespace {

using namespace math;

const std::vector<std::string> kNames{"x", "y"};
constexpr Index kSlots = 6;  // t, x, y, v_x, v_y, i
constexpr double kRoundOff = 1e-13;
// Central differences with a step of ε^(1/3) (ε^(1/4) for second derivatives) of the arguments, which are of size 1.
constexpr double kFirstDifference = 1e-9, kSecondDifference = 3e-6;

StateFunction parsed(const std::string& text) {
  return StateFunction(Expression::parse(text, state_symbols(kNames, {})));
}
using Span = std::span<const double>;

struct Pair {
  const char* name;
  StateFunction expression, generic, plain;
};

template <class F, class P>
Pair pair(const char* text, F f, P plain, const CallableFacts& facts = {}) {
  return {text, parsed(text), function_of(2, f, facts), function_of(2, plain, facts)};
}

std::vector<Pair> pairs() {
  return {
      pair(
          "sin(x)*v_y^2 + t/(1 + y^2)",
          [](auto t, auto q, auto v) { return sin(q[0]) * v[1] * v[1] + t / (1.0 + q[1] * q[1]); },
          [](double t, Span q, Span v) { return sin(q[0]) * v[1] * v[1] + t / (1.0 + q[1] * q[1]); }),
      pair(
          "max(x - y, 0.1*t)*exp(-abs(y))", [](auto t, auto q) { return max(q[0] - q[1], 0.1 * t) * exp(-abs(q[1])); },
          [](double t, Span q) { return max(q[0] - q[1], 0.1 * t) * exp(-abs(q[1])); }),
      pair(
          "if(t > 0.5, tanh(3*t), t^3)", [](auto t) { return t > 0.5 ? tanh(3.0 * t) : pow(t, 3); },
          [](double t) { return t > 0.5 ? tanh(3.0 * t) : pow(t, 3); }),
      pair(
          "sqrt(x^2 + v_x^2) - atan2(y, 2 + v_y)",
          [](auto, auto q, auto v) { return hypot(q[0], v[0]) - atan2(q[1], 2.0 + v[1]); },
          [](double, Span q, Span v) { return hypot(q[0], v[0]) - atan2(q[1], 2.0 + v[1]); }, {.time = false}),
      pair(
          "x*(i + 1)", [](auto, auto q, auto, Index i) { return q[0] * static_cast<double>(i + 1); },
          [](double, Span q, Span, Index i) { return q[0] * static_cast<double>(i + 1); },
          {.time = false, .positions = {{0}}, .velocities = std::vector<Index>{}})};
}

std::vector<double> random_point(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0.2, 1.5);
  std::vector<double> x(kSlots);
  for (double& value : x) value = uniform(random);
  x.back() = 3;
  return x;
}

TEST(Callable, HasTheValueAndTheDerivativesOfTheSameExpression) {
  std::mt19937 random(1);
  for (const Pair& f : pairs())
    for (int sample = 0; sample < 20; ++sample) {
      const std::vector<double> x = random_point(random), direction = random_point(random);
      for (const auto& [g, first, second] :
           {std::tuple{&f.generic, kRoundOff, kRoundOff}, std::tuple{&f.plain, kFirstDifference, kSecondDifference}}) {
        EXPECT_NEAR((*g)(x), f.expression(x), kRoundOff) << f.name;
        for (Index i = 0; i < kSlots - 1; ++i) {
          EXPECT_NEAR(g->derivative(x, i), f.expression.derivative(x, i), first) << f.name << " by " << i;
          for (Index j = 0; j < kSlots - 1; ++j)
            EXPECT_NEAR(g->second_derivative(x, i, j), f.expression.second_derivative(x, i, j), second)
                << f.name << " by " << i << ", " << j;
        }
        const Dual along = g->directional(x, direction), expected = f.expression.directional(x, direction);
        if (f.expression.depends_on(kSlots - 1)) continue;  // no derivative by an index
        EXPECT_NEAR(along.value, expected.value, kRoundOff) << f.name;
        EXPECT_NEAR(along.slope, expected.slope, 10 * first) << f.name;
      }
    }
}

TEST(Callable, HasTheSeriesOfTheSameExpression) {
  for (const Pair& f : pairs()) {
    const std::vector<double> x{0.7, 0.4, 0.3, 0.9, 1.1, 2.0};
    const Taylor expected = f.expression.series(x, 0.5), found = f.generic.series(x, 0.5);
    for (std::size_t k = 0; k < expected.c.size(); ++k)
      EXPECT_NEAR(found.c[k], expected.c[k], kRoundOff * std::max(1.0, std::abs(expected.c[k]))) << f.name << k;
    EXPECT_TRUE(f.generic.has_series());
    EXPECT_EQ(f.plain.has_series(), !f.plain.depends_on_time()) << f.name;
  }
}

TEST(Callable, DependsOnWhatItTakesOrOnWhatItSays) {
  const auto list = pairs();
  EXPECT_EQ(list[0].generic.variables_used(), (std::vector<Index>{0, 1, 2, 3, 4}));
  EXPECT_EQ(list[1].plain.variables_used(), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(list[2].generic.variables_used(), (std::vector<Index>{0}));
  EXPECT_EQ(list[4].generic.variables_used(), (std::vector<Index>{1, 5}));
  EXPECT_TRUE(list[4].generic.depends_on_state(5));
  EXPECT_FALSE(list[2].generic.depends_on_state(5));
  EXPECT_EQ(StateFunction(TimeTable({0, 1}, {2, 5}, "a")).variables_used(), (std::vector<Index>{0}));
  EXPECT_EQ(StateFunction(TimeTable({0, 1}, {2, 5}, "a")).derivative(std::vector<double>{0.5}, 0), 3);
  EXPECT_TRUE(StateFunction(2.0).variables_used().empty());
}

TEST(Callable, WrongStatementsAboutItAreRefused) {
  const auto product = [](auto t, auto q) { return q[0] * q[1] + t; };
  EXPECT_THROW(function_of(2, product, {.time = false}), InputError);
  EXPECT_THROW(function_of(2, product, {.positions = {{0}}}), InputError);
  EXPECT_THROW(function_of(2, product, {.positions = {{0, 2}}}), InputError);
  EXPECT_THROW(function_of(2, product, {.degree = Degree::affine}), InputError);
  EXPECT_EQ(function_of(2, product, {.degree = Degree::quadratic}).degree(), Degree::quadratic);
  EXPECT_THROW(function_of(2, [](double, Span q) { return q[0] * q[0]; }, {.degree = Degree::affine}), InputError);
  EXPECT_NO_THROW(function_of(2, [](double t, Span q) { return 3 * q[0] - 7 * t + 2; }, {.degree = Degree::affine}));
}

TEST(Callable, BreakpointsAreThoseItStates) {
  const StateFunction f = function_of(2, [](auto t) { return t > 1.0 ? t : 0.0 * t; }, {.breakpoints = {5, 1}});
  BreakpointSearch search{0, 4};
  f.append_breakpoints(search);
  EXPECT_EQ(search.times, std::vector<double>{1});
}

/// A function may call another one: the arrays of both are alive at the same time.
TEST(Callable, MayEvaluateAnotherOne) {
  const StateFunction inner = function_of(2, [](double, Span q) { return q[0] * q[0]; }, {.time = false});
  const StateFunction outer = function_of(2, [inner](double t, Span q) {
    const std::vector<double> x{t, q[0], q[1], 0, 0, 0};
    return q[1] * inner.derivative(x, 1) + q[1];
  });
  const std::vector<double> x{0.0, 0.7, 0.3, 0, 0, 0};
  EXPECT_NEAR(outer(x), 0.3 * 1.4 + 0.3, kFirstDifference);
  EXPECT_NEAR(outer.derivative(x, 2), 1.4 + 1, 1e3 * kFirstDifference);  // differences of differences
}

const FlatKinematics kPlane(kNames);

ExpressionContact contact(StateFunction gap, StateFunction slip, StateFunction surface) {
  ExpressionContact c;
  c.law.name = "c";
  c.law.tangents = 1;
  c.law.mu = 0.3;
  c.gap = std::move(gap);
  c.slip = {std::move(slip)};
  c.surface_velocity = {std::move(surface)};
  return c;
}

TEST(Callable, MakesTheSameContactAsTheExpression) {
  const auto gap = [](auto t, auto q) { return q[1] - 0.3 * sin(2.0 * q[0]) + 0.1 * t * t; };
  const auto slip = [](auto, auto q) { return q[0] + 0.5 * q[1] * q[1]; };
  const auto belt = [](auto t, auto q) { return cos(t) * q[0]; };
  ExpressionContacts written({contact(parsed("y - 0.3*sin(2*x) + 0.1*t^2"), parsed("x + 0.5*y^2"), parsed("cos(t)*x"))},
                             kPlane);
  ExpressionContacts called({contact(function_of(2, gap), function_of(2, slip), function_of(2, belt))}, kPlane);
  ExpressionContacts differenced({contact(function_of(2, [&](double t, Span q) { return gap(t, q); }),
                                          function_of(2, [&](double t, Span q) { return slip(t, q); }, {.time = false}),
                                          function_of(2, [&](double t, Span q) { return belt(t, q); }))},
                                 kPlane);
  const Vector q{{0.4, 0.7}}, v{{1.2, -0.6}};
  const auto rows = [&](const ExpressionContacts& contacts) {
    SystemWorkspace workspace(2, 2);
    workspace.contacts = contacts.make_scratch();
    ContactPoints found;
    Vector bias;
    contacts.find(0.8, q, HUGE_VAL, workspace, found);
    contacts.bias(0.8, q, v, HUGE_VAL, workspace, bias);
    return std::tuple{found.points.at(0).gap, DenseMatrix(found.Wt), found.w, bias};
  };
  const auto [g0, W0, w0, b0] = rows(written);
  for (const auto& [contacts, first, second] :
       {std::tuple{&called, kRoundOff, kRoundOff}, std::tuple{&differenced, kFirstDifference, kSecondDifference}}) {
    const auto [g, W, w, b] = rows(*contacts);
    EXPECT_NEAR(g, g0, kRoundOff);
    EXPECT_LE((W - W0).cwiseAbs().maxCoeff(), first);
    EXPECT_LE((w - w0).cwiseAbs().maxCoeff(), first);
    EXPECT_LE((b - b0).cwiseAbs().maxCoeff(), second);
  }
}

TEST(Callable, AnAffineGapHasAConstantRowIfItSaysSo) {
  const auto gap = [](auto t, auto q) { return q[1] - 2.0 * q[0] + 0.5 * t - 1.0; };
  const auto slip = [](auto, auto q) { return q[0]; };
  const CallableFacts affine{.degree = Degree::affine};
  EXPECT_FALSE(ExpressionContacts({contact(function_of(2, gap), function_of(2, slip), 0.0)}, kPlane).constant_rows());
  const ExpressionContacts contacts({contact(function_of(2, gap, affine), function_of(2, slip, affine), 0.0)}, kPlane);
  EXPECT_TRUE(contacts.constant_rows());
}

TEST(Callable, MakesTheSameConstraintsAsTheExpressions) {
  const auto length = [](auto t, auto q) { return q[0] * q[0] + q[1] * q[1] - 1.0 - 0.1 * sin(t); };
  const auto skate = [](auto, auto q) { return -sin(q[0]); };
  const auto make = [](StateFunction position, StateFunction entry, StateFunction rate) {
    ExpressionConstraint circle, knife;
    circle.element.name = "circle";
    circle.position = std::move(position);
    knife.element.name = "knife";
    knife.element.holonomic = false;
    knife.row = {std::move(entry), 2.0};
    knife.rate = std::move(rate);
    return ExpressionConstraints({circle, knife}, kPlane);
  };
  const auto written = make(parsed("x^2 + y^2 - 1 - 0.1*sin(t)"), parsed("-sin(x)"), parsed("t*y"));
  const auto called = make(function_of(2, length), function_of(2, skate, {.time = false}),
                           function_of(2, [](auto t, auto q) { return t * q[1]; }));
  const Vector q{{0.6, 0.9}}, v{{0.3, -1.7}}, lambda{{2.0, -3.0}};
  SystemWorkspace wa(2, 2), wb(2, 2);
  wa.constraints = written.make_scratch(), wb.constraints = called.make_scratch();
  ConstraintRows a, b;
  Vector bias_a, bias_b;
  DenseMatrix force_a, force_b, velocity_a, velocity_b;
  written.evaluate(0.4, q, wa, a), called.evaluate(0.4, q, wb, b);
  written.bias(0.4, q, v, wa, bias_a), called.bias(0.4, q, v, wb, bias_b);
  written.force_slopes(0.4, q, lambda, wa, force_a), called.force_slopes(0.4, q, lambda, wb, force_b);
  written.velocity_slopes(0.4, q, v, wa, velocity_a), called.velocity_slopes(0.4, q, v, wb, velocity_b);
  EXPECT_LE((a.A - b.A).cwiseAbs().maxCoeff(), kRoundOff);
  EXPECT_LE((a.rate - b.rate).cwiseAbs().maxCoeff(), kRoundOff);
  EXPECT_LE((a.position - b.position).cwiseAbs().maxCoeff(), kRoundOff);
  EXPECT_LE((bias_a - bias_b).cwiseAbs().maxCoeff(), kRoundOff);
  EXPECT_LE((force_a - force_b).cwiseAbs().maxCoeff(), kRoundOff);
  EXPECT_LE((velocity_a - velocity_b).cwiseAbs().maxCoeff(), kRoundOff);
}

MatrixModel block(StateFunction limit, StateFunction belt) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = model.stiffness = SystemMatrix(DenseMatrix{{1.0}});
  model.damping = SystemMatrix(DenseMatrix{{0.0}});
  FrictionElement shoe;
  shoe.name = "shoe";
  shoe.directions = {{{0, 1.0}}};
  shoe.limit = std::move(limit);
  shoe.surface_velocity = {std::move(belt)};
  model.friction = {shoe};
  return model;
}

StateFunction parsed_in_x(const std::string& text) {
  return StateFunction(Expression::parse(text, state_symbols({"x"}, {})));
}

/// The belt speeds up, the limit depends on place and speed: both enter the Jacobians and the rates of the schemes.
TEST(Callable, AsLimitAndBeltRunsAsTheExpressionUnderEveryScheme) {
  const auto limit = [](auto t, auto q, auto v) { return 1.0 + 0.2 * q[0] * q[0] + 0.1 * tanh(v[0]) + 0.05 * t; };
  const auto belt = [](auto t) { return 0.5 + 0.3 * sin(t); };
  const auto written =
      make_system(block(parsed_in_x("1 + 0.2*x^2 + 0.1*tanh(v_x) + 0.05*t"), parsed_in_x("0.5 + 0.3*sin(t)")));
  const auto called = make_system(block(function_of(1, limit), function_of(1, belt)));
  State start;
  start.q = Vector{{1.5}};
  start.v = Vector{{0.0}};
  for (const SchemeKind scheme : {SchemeKind::moreau, SchemeKind::event, SchemeKind::viscoelastic}) {
    SimulationOptions options;
    options.scheme = scheme;
    options.end_time = 6;
    options.step = 0.01;
    const Simulation a = simulate(*written, start, options), b = simulate(*called, start, options);
    ASSERT_EQ(a.status, b.status) << to_string(scheme) << a.message << b.message;
    // Values agree to the last bits; the steps that error control chooses then do too.
    EXPECT_NEAR(a.final.q[0], b.final.q[0], 1e-9) << to_string(scheme);
    EXPECT_NEAR(a.final.v[0], b.final.v[0], 1e-9) << to_string(scheme);
  }
}

TEST(Callable, MadeForAnotherSystemIsRefused) {
  EXPECT_THROW(make_system(block(function_of(2, [](auto t, auto) { return 1.0 + t; }), 0.0)), InputError);
  EXPECT_NO_THROW(make_system(block(function_of_time([](auto t) { return 1.0 + t; }), 0.0)));
}

/// T of a double pendulum: mass, velocity terms and their slopes.
TEST(Callable, AsKineticEnergyGivesTheSameInertia) {
  const auto T = [](auto, auto q, auto v) { return v[0] * v[0] + 0.5 * v[1] * v[1] + cos(q[0] - q[1]) * v[0] * v[1]; };
  const LagrangeInertia written(parsed("v_x^2 + 0.5*v_y^2 + cos(x - y)*v_x*v_y"), kNames);
  const LagrangeInertia called(function_of(2, T, {.time = false}), kNames);
  const LagrangeInertia differenced(
      function_of(2, [&](double t, Span q, Span v) { return T(t, q, v); }, {.time = false}), kNames);
  const std::vector<double> x{0, 0.4, -0.9, 1.3, 0.8, 0};
  std::vector<SecondDual> scratch(x.size());
  Vector a = Vector::Zero(2), b = a, c = a;
  written.add_force(x, scratch, a);
  called.add_force(x, scratch, b);
  differenced.add_force(x, scratch, c);
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), kRoundOff);
  EXPECT_LE((a - c).cwiseAbs().maxCoeff(), kSecondDifference);
  EXPECT_NEAR(called.mass(x, 0, 1), std::cos(1.3), kRoundOff);
}

}  // namespace
}  // namespace stickslip::state_function_test
