// SPDX-License-Identifier: Apache-2.0
// Spring-dampers in place of constraints and friction: closed forms of the skate, the steady disc, sliding into
// rolling.
#include "stickslip/motion/viscoelastic/viscoelastic.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "papers/viscoelastic/skate.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::viscoelastic_test {
namespace {

using Settings = std::vector<std::string>;
using paper4::Skate;
using paper4::SpringDamper;

ModelFile model(const std::string& name, const Settings& settings = {}) {
  return read_model(source_folder() + "/models/" + name + ".toml", settings);
}

ModelFile skate_model(const Skate& skate, const SpringDamper& law) {
  return model("skate", {fmt::format("parameters.m={:.17g}", skate.m), fmt::format("parameters.J={:.17g}", skate.J),
                         fmt::format("parameters.g={:.17g}", skate.gs), "parameters.alpha=\"pi/2\"",
                         fmt::format("initial.position=[{:.17g}, {:.17g}, {:.17g}]", skate.u1, skate.u2, skate.phi0),
                         fmt::format("initial.velocity=[{:.17g}, {:.17g}, {:.17g}]", skate.v0 * std::cos(skate.phi0),
                                     skate.v0 * std::sin(skate.phi0), skate.w),
                         fmt::format("constraint.blade.viscoelastic={{stiffness={:.17g}, damping={:.17g}, "
                                     "epsilon={:.17g}, exponent={:.17g}, prepared={}}}",
                                     law.c, law.d, law.epsilon, law.kappa, law.prepared)});
}

struct SkateErrors {
  double position = 0, velocity = 0, force = 0, energy = 0;
};

/// Against the closed form at 400 times in the layer and 200 over 10 s.
SkateErrors skate_errors(const Skate& skate, const SpringDamper& law, double tolerance) {
  const ModelFile file = skate_model(skate, law);
  ViscoelasticScheme scheme(*file.system, {}, tolerance, {0, 10}, {});
  StepRecord record;
  record.state = file.initial;
  scheme.start(record);
  SkateErrors e;
  const double fast = std::min(std::sqrt(law.epsilon), 0.5);
  for (int k = 1; k <= 600; ++k) {
    const double t = k <= 400 ? k * fast / 40 : 10 * fast + (10 - 10 * fast) * (k - 400) / 200;
    while (record.state.t < std::min(t, 10.0)) {
      const StepOutcome outcome = scheme.step(std::min(t, 10.0), record);
      EXPECT_EQ(outcome.status, Status::success) << outcome.message;
      if (outcome.status != Status::success) return e;
    }
    const paper4::SkateState x = paper4::viscoelastic(skate, law, record.state.t);
    const State& s = record.state;
    e.position = std::max({e.position, std::abs(s.q[0] - x.u1), std::abs(s.q[1] - x.u2), std::abs(s.q[2] - x.phi)});
    e.velocity = std::max({e.velocity, std::abs(s.v[0] - x.v1), std::abs(s.v[1] - x.v2)});
    e.force = std::max(e.force, std::abs(scheme.force()[0] - x.lambda));
    e.energy = std::max(e.energy, std::abs(record.energy.unexplained()));
  }
  return e;
}

TEST(ViscoelasticSkate, AgreesWithTheClosedFormOverSevenDecadesOfEpsilon) {
  for (const bool prepared : {true, false})
    for (const double d : {2.0, 0.5})  // b = 2 and 0.125: both sides of the source's condition
      for (const double epsilon : {1e-1, 1e-2, 1e-4, 1e-6, 1e-8}) {
        const SkateErrors e = skate_errors(paper4::skate_c(), {1, d, epsilon, 0.5, prepared}, 1e-12);
        const std::string where = fmt::format("prepared {}, d = {}, epsilon = {}", prepared, d, epsilon);
        EXPECT_LT(e.position, 1e-9) << where;
        EXPECT_LT(e.velocity, 1e-9) << where;
        // As ε → 0 this is a problem of index 2, where Radau IIA is of order 5 in q and v, but of order 3 in Λ.
        EXPECT_LT(e.force, 5e-8) << where;  // |Λ| up to 15
        EXPECT_LT(e.energy, 1e-8) << where;
      }
}

TEST(ViscoelasticSkate, AgreesWithTheClosedFormForOtherExponents) {
  for (const double kappa : {0.0, 0.25, 0.75, 1.0}) {
    const SkateErrors e = skate_errors(paper4::skate_b(), {1, 2, 1e-4, kappa, false}, 1e-11);
    EXPECT_LT(e.position, 1e-8) << kappa;
    EXPECT_LT(e.velocity, 1e-8) << kappa;
  }
}

TEST(ViscoelasticDisc, PreparedSteadyMotionIsExactForEveryEpsilon) {
  for (const double epsilon : {1e-2, 1e-4, 1e-6, 1e-8}) {
    const ModelFile file =
        model("rolling-disc", {"run.scheme=\"viscoelastic\"", "run.tolerance=1e-13",
                               fmt::format("run.viscoelastic.epsilon={}", epsilon), "run.end_time=3"});
    const Simulation s = simulate(*file.system, file.initial, file.run);
    ASSERT_EQ(s.status, Status::success) << s.message;
    const double R = 0.913022800669688 / -2;
    for (Index k = 0; k < s.trajectory.rows(); ++k) {
      const double t = s.trajectory.t(k);
      EXPECT_NEAR(s.trajectory.q(k, 0), R * std::sin(-2 * t), 1e-8) << epsilon;
      EXPECT_NEAR(s.trajectory.q(k, 1), R * (1 - std::cos(-2 * t)), 1e-8) << epsilon;
      EXPECT_NEAR(s.trajectory.q(k, 3), 0.3, 1e-8) << epsilon;
    }
    EXPECT_NEAR(audit_value(s, "fast_damping"), 4 * 3, 1e-6);  // (d²/c) times the smaller eigenvalue of B
  }
}

/// A chain with a mass matrix that is not diagonal, limits of the state and a surface that follows a neighbour.
std::unique_ptr<System> long_chain(Index n) {
  MatrixModel chain;
  for (Index i = 0; i < n; ++i) chain.coordinates.push_back("x" + std::to_string(i));
  const SymbolTable symbols = state_symbols(chain.coordinates, {});
  SparseMatrix M(n, n), K(n, n);
  for (Index i = 0; i < n; ++i) {
    M.insert(i, i) = 4.0 / 6;
    K.insert(i, i) = 2;
    if (i == 0) continue;
    for (const auto& [a, b] : {std::pair(i, i - 1), std::pair(i - 1, i)}) {
      M.insert(a, b) = 1.0 / 6;
      K.insert(a, b) = -1;
    }
  }
  chain.mass = SystemMatrix::compact(M);
  chain.damping = SystemMatrix::zero(n);
  chain.stiffness = SystemMatrix::compact(K);
  chain.force.common = StateFunction(Expression::parse("cos(0.7*t + i)", symbols));
  for (Index i = 0; i < n; ++i) {
    FrictionElement law;
    law.name = "law" + std::to_string(i);
    law.directions = {{{i, 1.0}}};
    const std::string x = chain.coordinates[static_cast<std::size_t>(i)];
    law.limit = StateFunction(Expression::parse("0.3 + 0.1*sin(" + x + ")^2", symbols));
    if (i > 0) {
      const std::string before = chain.coordinates[static_cast<std::size_t>(i - 1)];
      law.surface_velocity = {StateFunction(Expression::parse("0.1*v_" + before + " + 0.01*" + before, symbols))};
    }
    chain.friction.push_back(law);
  }
  return make_system(std::move(chain));
}

TEST(ViscoelasticDynamics, EquationsOfAChainStayABandWhateverItsLength) {
  for (const Index n : {40, 400}) {
    const std::unique_ptr<System> chain = long_chain(n);
    ViscoelasticDynamics dynamics(*chain, 1e-5);
    Vector y(dynamics.size());
    dynamics.complete(0, Vector::Zero(n));
    ShiftedFactor factor;
    factor.resize(y.size());
    SlopePencil pencil;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Index width = 0;
    for (int state = 0; state < 5; ++state) {  // laws stick and slip: the structure must not depend on it
      for (double& x : y) x = state == 0 ? 0.0 : uniform(random);
      pencil.slope.clear();
      pencil.mass.clear();
      dynamics.jacobian(0.3, y, pencil);
      ASSERT_TRUE(factor.factorise(pencil, 10.0, {3.0, 4.0}));
      if (state == 0) width = factor.half_width();
      EXPECT_EQ(factor.half_width(), width);
    }
    EXPECT_LE(width, 12) << n;  // three components a mass, neighbours on both sides
  }
}

TEST(ViscoelasticDynamics, JacobianOfAChainWithLimitsAndSurfacesOfTheStateIsThatOfTheRightHandSide) {
  const std::unique_ptr<System> chain = long_chain(12);
  ViscoelasticDynamics dynamics(*chain, 1e-2);
  dynamics.complete(0, Vector::Zero(12));
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Vector y(dynamics.size()), up(y.size()), down(y.size());
  for (double& x : y) x = uniform(random);
  SlopePencil pencil;
  dynamics.jacobian(0.3, y, pencil);
  DenseMatrix J = DenseMatrix::Zero(y.size(), y.size()), mass = J;
  for (const auto& [i, j, value] : pencil.slope.entries) J(i, j) += value;
  for (const auto& [i, j, value] : pencil.mass.entries) mass(i, j) += value;
  J = mass.partialPivLu().solve(J);
  int slipping = 0;
  for (std::size_t k = 0; k < dynamics.blocks().size(); ++k) slipping += dynamics.slips(k);
  EXPECT_GT(slipping, 0);  // limits count where a law slips, surfaces where it sticks
  EXPECT_LT(slipping, 12);
  for (Index j = 0; j < y.size(); ++j) {
    const double h = 1e-6;
    Vector moved = y;
    moved[j] += h;
    dynamics.derivative(0.3, moved, up);
    moved[j] -= 2 * h;
    dynamics.derivative(0.3, moved, down);
    EXPECT_LT(((up - down) / (2 * h) - J.col(j)).lpNorm<Eigen::Infinity>(), 1e-6 * J.lpNorm<Eigen::Infinity>()) << j;
  }
}

TEST(ViscoelasticDynamics, JacobianIsThatOfTheRightHandSide) {
  for (const char* name : {"rolling-disc", "trailer", "skate", "chaplygin-sleigh", "rolling-sphere"}) {
    const ModelFile file = model(name);
    ViscoelasticDynamics dynamics(*file.system, 1e-2);
    dynamics.complete(0, file.initial.q);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Vector y(dynamics.size()), up(y.size()), down(y.size());
    for (double& x : y) x = 0.4 * uniform(random);
    y.head(file.initial.q.size()) += file.initial.q;
    SlopePencil pencil;
    dynamics.jacobian(0.3, y, pencil);
    DenseMatrix J = DenseMatrix::Zero(y.size(), y.size()), mass = J;
    for (const auto& [i, j, value] : pencil.slope.entries) J(i, j) += value;
    for (const auto& [i, j, value] : pencil.mass.entries) mass(i, j) += value;
    J = mass.partialPivLu().solve(J);
    for (Index j = 0; j < y.size(); ++j) {
      const double h = 1e-5;
      Vector moved = y;
      moved[j] += h;
      dynamics.derivative(0.3, moved, up);
      moved[j] -= 2 * h;
      dynamics.derivative(0.3, moved, down);
      const Vector column = (up - down) / (2 * h);
      // differences of M inside the Jacobian: 1e-7 relative; central differences here: h²
      EXPECT_LT((column - J.col(j)).lpNorm<Eigen::Infinity>(), 1e-5 * (1 + J.lpNorm<Eigen::Infinity>() * 1e-2))
          << name << ", column " << j;
    }
  }
}

TEST(SpinningDisc, SlidesAndThenRollsAsTheClosedFormSays) {
  // x' = μ g t and φ' = w0 - 2 μ g t/r until x' = r φ': t = r w0/(3 μ g); then x' = r w0/3
  // (docs/theory-viscoelastic.md)
  constexpr double r = 0.3, w0 = 20, mu = 0.2, g = 9.81;
  const double transition = r * w0 / (3 * mu * g), speed = r * w0 / 3;
  for (const std::string scheme : {"event", "moreau"}) {
    const ModelFile file = model("spinning-disc", {fmt::format("run.scheme=\"{}\"", scheme), "run.tolerance=1e-12"});
    const Simulation s = simulate(*file.system, file.initial, file.run);
    ASSERT_EQ(s.status, Status::success) << s.message;
    ASSERT_EQ(s.trajectory.events.size(), 1u) << scheme;
    EXPECT_NEAR(s.trajectory.events[0].t, transition, 1e-9) << scheme;
    EXPECT_NEAR(s.final.v[0], speed, 1e-10) << scheme;
    EXPECT_NEAR(s.final.v[1], speed / r, 1e-9) << scheme;
  }
  for (const double epsilon : {1e-3, 1e-4, 1e-6, 1e-8}) {
    const ModelFile file = model("spinning-disc", {"run.scheme=\"viscoelastic\"", "run.tolerance=1e-10",
                                                   fmt::format("run.viscoelastic.epsilon={}", epsilon)});
    const Simulation s = simulate(*file.system, file.initial, file.run);
    ASSERT_EQ(s.status, Status::success) << s.message;
    ASSERT_EQ(s.trajectory.events.size(), 1u);
    // While it slides the spring holds all of the force, so that the force leaves its limit where u = 0, for every ε.
    EXPECT_NEAR(s.trajectory.events[0].t, transition, 1e-8) << epsilon;
    EXPECT_NEAR(s.final.v[0], speed, 1e-8) << epsilon;
    EXPECT_LT(audit_value(s, "energy"), 1e-9) << epsilon;
  }
}

/// A wheel driven so hard that it spins, and rolls again when the torque falls.
Simulation driven_wheel(const std::string& scheme, double epsilon) {
  const ModelFile file = model(
      "spinning-disc", {"parameters.w0=0", "matrices.force=[\"0\", \"1.2*sin(3*t)\"]", "run.tolerance=1e-11",
                        fmt::format("run.scheme=\"{}\"", scheme), fmt::format("run.viscoelastic.epsilon={}", epsilon)});
  Simulation s = simulate(*file.system, file.initial, file.run);
  EXPECT_EQ(s.status, Status::success) << s.message;
  return s;
}

TEST(DrivenWheel, SpinsAndRollsAgainAsTheSetValuedLawDoesWhenEpsilonFalls) {
  const Simulation exact = driven_wheel("event", 1);
  ASSERT_GE(exact.trajectory.events.size(), 3u);  // breaks away, rolls again, breaks away backwards
  std::vector<double> errors;
  for (const double epsilon : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
    const Simulation s = driven_wheel("viscoelastic", epsilon);
    ASSERT_EQ(s.trajectory.rows(), exact.trajectory.rows());
    double error = 0;
    for (Index k = 0; k < s.trajectory.rows(); ++k)
      error = std::max({error, std::abs(s.trajectory.q(k, 0) - exact.trajectory.q(k, 0)),
                        std::abs(s.trajectory.v(k, 0) - exact.trajectory.v(k, 0))});
    errors.push_back(error);
  }
  const double order = std::log10(errors[0] / errors[4]) / 4;
  EXPECT_GT(order, 0.9) << errors[0] << " " << errors[4];
}

TEST(LimitedConstraint, DiscPushedTooHardSlidesWithinItsLimitAndRollsAgain) {
  const std::string law = "viscoelastic={stiffness=1, damping=2, epsilon=1e-6, disk=\"contact\", limit=\"1.5\"}";
  const ModelFile file =
      model("rolling-disc",
            {"constraint.along." + law, "constraint.across." + law, "run.scheme=\"viscoelastic\"", "run.tolerance=1e-9",
             "run.end_time=6", "initial.position=[0, 0, 0, 0, 0]", "initial.velocity=[3, 0, 0, 0, 3]",
             // a sideways push on the centre and a torque about the axis for a second
             "equations.force=[\"0\", \"0\", \"0\", \"0\", \"6*sin(pi*min(t, 1))^2\"]"});
  const Simulation s = simulate(*file.system, file.initial, file.run);
  ASSERT_EQ(s.status, Status::success) << s.message;
  double slip = 0, late_slip = 0;
  for (Index k = 1; k < s.trajectory.rows(); ++k) {
    // mean over a row of a vector that stays in a disk stays in it
    EXPECT_LE(std::hypot(s.trajectory.reaction(k, 0), s.trajectory.reaction(k, 1)), 1.5 * (1 + 1e-9));
    const double u = std::abs(s.trajectory.v(k, 0) - s.trajectory.v(k, 4));
    slip = std::max(slip, u);
    if (s.trajectory.t(k) > 5) late_slip = std::max(late_slip, u);
  }
  EXPECT_GT(slip, 0.5);
  EXPECT_LT(late_slip, 1e-5);
  EXPECT_LT(audit_value(s, "energy"), 1e-8);
}

TEST(ViscoelasticSkate, GoesOnWhereItWasStopped) {
  ModelFile file = skate_model(paper4::skate_b(), {1, 0.5, 1e-4, 0.5, false});
  SimulationOptions options = file.run;
  options.scheme = SchemeKind::viscoelastic;
  options.tolerance = 1e-11;
  options.end_time = 0.02;  // inside the layer: the velocity is off the constraint
  const Simulation first = simulate(*file.system, file.initial, options);
  options.start_time = 0.02;
  options.end_time = 1;
  const Simulation second = simulate(*file.system, first.final, options);
  ASSERT_EQ(second.status, Status::success) << second.message;
  const paper4::SkateState x = paper4::viscoelastic(paper4::skate_b(), {1, 0.5, 1e-4, 0.5, false}, 1);
  EXPECT_NEAR(second.final.q[0], x.u1, 1e-9);
  EXPECT_NEAR(second.final.v[1], x.v2, 1e-9);
}

TEST(ViscoelasticErrors, NameTheConstraintAndTheRemedy) {
  const auto message = [](const std::string& name, const Settings& settings) {
    try {
      const ModelFile file = model(name, settings);
      SimulationOptions options = file.run;
      options.scheme = SchemeKind::viscoelastic;
      simulate(*file.system, file.initial, options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  for (const char* key : {"stiffness = -1", "epsilon = 0", "epsilon = -1"}) {
    std::string table = key;
    if (!has(table, "stiffness")) table += ", stiffness = 1";
    if (!has(table, "epsilon")) table += ", epsilon = 1e-4";
    const std::string text = message("skate", {"constraint.blade.viscoelastic={damping = 2, " + table + "}"});
    EXPECT_TRUE(has(text, "constraint.blade.viscoelastic")) << text;
  }
  const std::string negative =
      message("skate", {"constraint.blade.viscoelastic={damping = -2, stiffness = 1, epsilon = 1e-4}"});
  EXPECT_TRUE(has(negative, "constraint.blade.viscoelastic.damping")) << negative;
  try {
    const ModelFile twice = parse_model(
        "[equations]\ncoordinates = ['x', 'y']\nmass = [[1, 0], [0, 1]]\n"
        "[[constraint]]\nname = 'rail'\nrow = [0, 1]\n[[constraint]]\nname = 'second_rail'\nrow = [0, 2]\n"
        "[run]\nscheme = 'viscoelastic'\nend_time = 1\n",
        "rails.toml");
    simulate(*twice.system, twice.initial, twice.run);
    ADD_FAILURE() << "redundant constraints accepted";
  } catch (const InputError& error) {
    EXPECT_TRUE(has(error.what(), "second_rail") && has(error.what(), "event")) << error.what();
  }
  const std::string contact = message("bouncing-ball", {});
  EXPECT_TRUE(has(contact, "viscoelastic")) << contact;
  const std::string across = message("skate", {"initial.velocity=[0, 0.5, 1]"});
  EXPECT_TRUE(has(across, "blade") && has(across, "0.5")) << across;
}

}  // namespace
}  // namespace stickslip::viscoelastic_test
