// SPDX-License-Identifier: Apache-2.0
// Constraints given by expressions: rows, rates and slopes against differences.
#include "stickslip/model/expression_constraint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/model/matrix_model.hpp"

namespace stickslip::expression_constraint_test {
namespace {

const std::vector<std::string> kNames{"x", "y", "phi"};

StateFunction parsed(const std::string& text) { return Expression::parse(text, state_symbols(kNames, {{"l", 0.8}})); }

ExpressionConstraint holonomic(const std::string& position) {
  ExpressionConstraint constraint;
  constraint.element.name = "c";
  constraint.position = parsed(position);
  return constraint;
}

ExpressionConstraint nonholonomic(const std::vector<std::string>& row, StateFunction rate) {
  ExpressionConstraint constraint;
  constraint.element.name = "c";
  constraint.element.holonomic = false;
  for (const std::string& entry : row) constraint.row.push_back(parsed(entry));
  constraint.rate = std::move(rate);
  return constraint;
}

const FlatKinematics& kinematics() {
  static const FlatKinematics flat(kNames);
  return flat;
}

const ExpressionConstraints& samples() {
  static const ExpressionConstraints constraints(
      {holonomic("x^2*y + l*sin(phi) - 0.3*t*x"), holonomic("x - 2*y + 0.5*t - 1"),
       nonholonomic({"-sin(phi)", "cos(phi)*(1 + t*x)", "0"}, parsed("0.2*t*y^2")), nonholonomic({"1", "0", "-l"}, 0.5),
       nonholonomic({"0", "y", "2"}, TimeTable({0, 1, 2}, {0, 3, 1}, "rate.csv"))},
      kinematics());
  return constraints;
}

struct Sampled {
  double t;
  Vector q, v;
};

class ConstraintRow : public ::testing::Test {
 protected:
  template <class F>
  void at_random_states(F&& check) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int k = 0; k < 50; ++k) {
      Sampled s{0.5 + 0.3 * uniform(random), Vector(3), Vector(3)};
      for (double& x : s.q) x = uniform(random);
      for (double& x : s.v) x = uniform(random);
      check(s);
    }
  }
  const ConstraintRows& rows(double t, const Vector& q) {
    samples().evaluate(t, q, workspace_, rows_);
    return rows_;
  }
  Vector u(double t, const Vector& q, const Vector& v) {
    const ConstraintRows& at = rows(t, q);
    return at.A * v - at.rate;
  }
  ConstraintRow() { workspace_.constraints = samples().make_scratch(); }
  SystemWorkspace workspace_{kinematics().nq(), kinematics().nv()};
  ConstraintRows rows_;
  // Central differences over 1e-5 of functions of size 1: 1e-10 of truncation, 1e-11 of round-off.
  static constexpr double kStep = 1e-5, kDifference = 1e-8;
};

TEST_F(ConstraintRow, VelocityOfAHolonomicRowIsTheRateOfItsPosition) {
  at_random_states([&](const Sampled& s) {
    const Vector ahead = rows(s.t + kStep, s.q + kStep * s.v).position,
                 behind = rows(s.t - kStep, s.q - kStep * s.v).position;
    const Vector rate = u(s.t, s.q, s.v);
    for (Index i = 0; i < 2; ++i) EXPECT_NEAR(rate[i], (ahead[i] - behind[i]) / (2 * kStep), kDifference);
    EXPECT_EQ(ahead.tail(3).norm(), 0);
  });
}

TEST_F(ConstraintRow, BiasIsTheRateOfTheVelocityResidualAtConstantVelocity) {
  at_random_states([&](const Sampled& s) {
    Vector bias;
    samples().bias(s.t, s.q, s.v, workspace_, bias);
    const Vector difference =
        (u(s.t + kStep, s.q + kStep * s.v, s.v) - u(s.t - kStep, s.q - kStep * s.v, s.v)) / (2 * kStep);
    EXPECT_LT((bias - difference).cwiseAbs().maxCoeff(), kDifference);
  });
}

TEST_F(ConstraintRow, SlopesOfForcesAndVelocitiesAreTheirDifferences) {
  at_random_states([&](const Sampled& s) {
    const Vector lambda = Vector::LinSpaced(5, -1, 2);
    DenseMatrix force, velocity;
    samples().force_slopes(s.t, s.q, lambda, workspace_, force);
    samples().velocity_slopes(s.t, s.q, s.v, workspace_, velocity);
    for (Index j = 0; j < 3; ++j) {
      const Vector e = kStep * Vector::Unit(3, j);
      const Vector f = (rows(s.t, s.q + e).A.transpose() * lambda).eval(),
                   g = rows(s.t, s.q - e).A.transpose() * lambda;
      EXPECT_LT((force.col(j) - (f - g) / (2 * kStep)).cwiseAbs().maxCoeff(), kDifference);
      const Vector w = (u(s.t, s.q + e, s.v) - u(s.t, s.q - e, s.v)) / (2 * kStep);
      EXPECT_LT((velocity.col(j) - w).cwiseAbs().maxCoeff(), kDifference);
    }
  });
}

TEST(ExpressionConstraints, SwitchesInTimeAreBreakpoints) {
  const ExpressionConstraints constraints({holonomic("x - if(t < 0.25, 0, t - 0.25)"),
                                           nonholonomic({"1", "0", "0"}, TimeTable({0, 0.5, 2}, {0, 1, 1}, "r.csv"))},
                                          kinematics());
  BreakpointSearch search{0, 1};
  constraints.append_breakpoints(search);
  const std::vector<double>& times = search.times;
  EXPECT_NE(std::find(times.begin(), times.end(), 0.25), times.end());
  EXPECT_NE(std::find(times.begin(), times.end(), 0.5), times.end());
}

TEST(ExpressionConstraints, MistakesNameTheConstraintAndTheKey) {
  const auto message = [](ExpressionConstraint constraint) -> std::string {
    try {
      ExpressionConstraints({std::move(constraint)}, kinematics());
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(holonomic("v_x + y")),
            "constraint 'c': position depends on v_x; it may depend on t, the coordinates and parameters only");
  EXPECT_EQ(message(holonomic("sin(t)")),
            "constraint 'c': position depends on no coordinate, so that no motion changes it");
  EXPECT_EQ(message(nonholonomic({"1", "2"}, 0.0)), "constraint 'c': row has 2 entries, but there are 3 velocities");
  EXPECT_NE(message(nonholonomic({"0", "0", "0"}, 0.0)).find("all entries of a row are 0"), std::string::npos);
  EXPECT_NE(message(nonholonomic({"1", "0", "0"}, parsed("v_y"))).find("rate depends on v_y"), std::string::npos);
  ExpressionConstraint soft = holonomic("x");
  soft.element.viscoelastic = ViscoelasticConstraint{.stiffness = -2};
  EXPECT_EQ(message(soft), "constraint 'c': viscoelastic.stiffness = -2 must be > 0");
}

}  // namespace
}  // namespace stickslip::expression_constraint_test
