// SPDX-License-Identifier: Apache-2.0
// Every scheme on every kind of system that it takes; what it does not take it refuses, naming a scheme that does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "stickslip/common/error.hpp"
#include "stickslip/model/equation_model.hpp"
#include "tests/support/body_models.hpp"
#include "tests/support/contact_models.hpp"
#include "tests/support/one_mass.hpp"

namespace stickslip::every_kind_test {
namespace {

using contact_models::contact_law;
using contact_models::function;

struct Kind {
  const char* name;
  std::function<std::unique_ptr<System>()> make;
  std::function<State()> start;
  double end_time, step;
  std::function<Vector()> end;  ///< final position, leading components
  double accuracy;              ///< of fixed steps of that size, in position
  double soft_accuracy;         ///< of spring-dampers with ε = 1e-6
};

State state(const Vector& q, const Vector& v) {
  State s;
  s.q = q;
  s.v = v;
  return s;
}

FrictionElement coulomb(const std::string& name, std::vector<Direction> directions, double limit) {
  FrictionElement law;
  law.name = name;
  law.directions = std::move(directions);
  law.limit = StateFunction(limit);
  return law;
}

/// 1 kg on a table, x and y free.
std::unique_ptr<System> puck() {
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = SystemMatrix(DenseMatrix::Identity(2, 2));
  model.damping = model.stiffness = SystemMatrix(DenseMatrix::Zero(2, 2));
  model.friction = {coulomb("table", {{{0, 1.0}}, {{1, 1.0}}}, 2)};
  return make_system(std::move(model));
}

/// A block thrown along the ground, by matrices or by equations.
std::unique_ptr<System> block_on_ground(bool equations) {
  const std::vector<std::string> names{"x", "y"};
  const ExpressionContact ground{
      contact_law("ground", 1, 0.5, 0), function("y", names), {function("x", names)}, {}, {}, {}, {}};
  if (equations) {
    EquationModel model;
    model.coordinates = names;
    model.kinetic_energy = function("(v_x^2 + v_y^2)/2", names);
    model.potential = function("9.81*y", names);
    model.contacts = {ground};
    return make_system(std::move(model));
  }
  MatrixModel model;
  model.coordinates = names;
  model.mass = SystemMatrix(DenseMatrix::Identity(2, 2));
  model.damping = model.stiffness = SystemMatrix(DenseMatrix::Zero(2, 2));
  model.force.components = {StateFunction(0.0), StateFunction(-9.81)};
  model.contacts = {ground};
  return make_system(std::move(model));
}

/// A pendulum of 1 m by its angle, with friction in its joint that stops it.
std::unique_ptr<System> pendulum_with_friction() {
  EquationModel model;
  model.coordinates = {"phi"};
  model.kinetic_energy = function("v_phi^2/2", model.coordinates);
  model.potential = function("-9.81*cos(phi)", model.coordinates);
  model.friction = {coulomb("joint", {{{0, 1.0}}}, 6)};
  return make_system(std::move(model));
}

/// A bead on a circle by Cartesian coordinates and a constraint, no gravity: it goes round uniformly.
std::unique_ptr<System> bead_on_circle() {
  EquationModel model;
  model.coordinates = {"x", "y"};
  model.kinetic_energy = function("(v_x^2 + v_y^2)/2", model.coordinates);
  ExpressionConstraint ring;
  ring.element.name = "ring";
  ring.element.holonomic = true;
  ring.position = function("(x^2 + y^2 - 1)/2", model.coordinates);
  model.constraints = {ring};
  return make_system(std::move(model));
}

/// Where the pendulum from phi = 1 stops first: 9.81 (cos phi - cos 1) = 6 (1 - phi), by bisection; it stays there
/// because 9.81 sin|phi| < 6.
double pendulum_stop() {
  auto left = [](double phi) { return 9.81 * (std::cos(phi) - std::cos(1.0)) - 6 * (1 - phi); };
  double a = -0.99, b = 0.99;
  for (int k = 0; k < 200; ++k) (left(0.5 * (a + b)) < 0 ? a : b) = 0.5 * (a + b);
  return b;
}

const double kPuckStop = 1.25 / (2 * 2);           // |v|²/(2 c/m) along v = (1, 0.5)
const double kBlockStop = 4.0 / (2 * 0.5 * 9.81);  // v²/(2 μ g) with v = 2

// Matrices: each half swing about ±0.7/4 loses 2 · 0.7/4 of 1, 0.65, 0.3; at 0.05 the spring pulls with 0.2 < 0.7.
//
// Accuracies: fixed steps of 1 ms of first order at worst (a stop or an impact inside a step). Spring-dampers: ε times
// force over mass where a law comes to rest, √ε where slip reverses or starts from rest.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"matrices", [] { return make_system(OneMass{.stiffness = 4, .limit = 0.7}); },
       [] { return state(Vector{{1}}, Vector{{0}}); }, 6, 1e-3, [] { return Vector{{0.05}}.eval(); }, 3e-3, 2e-3},
      {"planar", puck,
       [] {
         return state(Vector{{0, 0}}, Vector{{1, 0.5}});
       },
       1, 1e-3,
       [] {
         return Vector{{kPuckStop / std::sqrt(1.25), 0.5 * kPuckStop / std::sqrt(1.25)}}.eval();
       },
       1e-3, 1e-5},
      {"contact", [] { return contact_models::bouncing_ball(0); }, [] { return state(Vector{{1}}, Vector{{0}}); }, 1,
       1e-3, [] { return Vector{{0}}.eval(); }, 5e-3, 0},
      {"contact_and_friction", [] { return block_on_ground(false); },
       [] {
         return state(Vector{{0, 0}}, Vector{{2, 0}});
       },
       1, 1e-3,
       [] {
         return Vector{{kBlockStop, 0}}.eval();
       },
       2e-3, 0},
      {"equations", pendulum_with_friction, [] { return state(Vector{{1}}, Vector{{0}}); }, 3, 1e-3,
       [] { return Vector{{pendulum_stop()}}.eval(); }, 2e-3, 2e-3},
      {"equations_and_contact", [] { return block_on_ground(true); },
       [] {
         return state(Vector{{0, 0}}, Vector{{2, 0}});
       },
       1, 1e-3,
       [] {
         return Vector{{kBlockStop, 0}}.eval();
       },
       2e-3, 0},
      {"constraints", bead_on_circle,
       [] {
         return state(Vector{{1, 0}}, Vector{{0, 2}});
       },
       1, 1e-3,
       [] {
         return Vector{{std::cos(2.0), std::sin(2.0)}}.eval();
       },
       1e-6, 1e-4},
      {"bodies", [] { return make_system(body_models::cube_on_plane(0.5)); },
       [] {
         return body_models::start(body_models::cube_on_plane(0.5, 0, {2, 0, 0}));
       },
       1, 1e-3,
       [] {
         return Vector{{kBlockStop, 0, 0.5}}.eval();
       },
       2e-3, 0},
  };
  return all;
}

constexpr SchemeKind kSchemes[] = {SchemeKind::splitting, SchemeKind::moreau, SchemeKind::event,
                                   SchemeKind::viscoelastic};

/// Empty, or why the scheme does not take the kind.
std::string refusal(SchemeKind scheme, const Kind& kind) {
  try {
    require_supported(scheme, *kind.make());
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

using Pair = std::tuple<SchemeKind, std::size_t>;

std::vector<Pair> pairs_taken() {
  std::vector<Pair> pairs;
  for (const SchemeKind scheme : kSchemes)
    for (std::size_t k = 0; k < kinds().size(); ++k)
      if (refusal(scheme, kinds()[k]).empty()) pairs.emplace_back(scheme, k);
  return pairs;
}

TEST(EveryKindOfSystem, IsTakenOrRefusedWithASchemeThatTakesIt) {
  for (const Kind& kind : kinds()) {
    int taken = 0;
    for (const SchemeKind scheme : kSchemes) {
      const std::string why = refusal(scheme, kind);
      taken += why.empty();
      if (why.empty()) continue;
      bool helps = false;
      for (const SchemeKind other : kSchemes)
        helps |= why.find(fmt::format("\"{}\"", to_string(other))) != std::string::npos && refusal(other, kind).empty();
      EXPECT_TRUE(helps) << kind.name << ": " << why;
    }
    EXPECT_GT(taken, 0) << kind.name;
  }
  EXPECT_EQ(pairs_taken().size(), 21u);  // of 32: what is added to a scheme or taken from it shows here
}

class EveryKind : public testing::TestWithParam<Pair> {
 protected:
  void SetUp() override { system_ = kind().make(); }
  SchemeKind scheme() const { return std::get<0>(GetParam()); }
  const Kind& kind() const { return kinds()[std::get<1>(GetParam())]; }
  double accuracy() const {
    if (scheme() == SchemeKind::event) return 1e-7;
    return scheme() == SchemeKind::viscoelastic ? kind().soft_accuracy : kind().accuracy;
  }
  SimulationOptions options() const {
    SimulationOptions o;
    o.scheme = scheme();
    o.step = kind().step;
    o.end_time = kind().end_time;
    return o;
  }
  Simulation run(const SimulationOptions& o, const SimulationHooks& hooks = {}) const {
    return simulate(*system_, kind().start(), o, hooks);
  }
  std::unique_ptr<System> system_;
};

TEST_P(EveryKind, EndsWhereTheClosedFormSaysAndPassesItsAudit) {
  const Simulation s = run(options());
  EXPECT_EQ(s.status, Status::success) << s.message;
  const Vector end = kind().end();
  for (Index i = 0; i < end.size(); ++i) EXPECT_NEAR(s.final.q[i], end[i], accuracy()) << i;
}

TEST_P(EveryKind, SameRunTwiceIsTheSameToTheLastBit) {
  const Simulation a = run(options()), b = run(options());
  EXPECT_EQ(a.final.q, b.final.q);
  EXPECT_EQ(a.final.v, b.final.v);
  EXPECT_EQ(a.trajectory.events.size(), b.trajectory.events.size());
}

TEST_P(EveryKind, GoesOnFromAStoredStateAsIfNothingHadHappened) {
  SimulationOptions o = options();
  o.step = 0x1p-10;  // grid times are the same numbers in both runs
  const Simulation whole = run(o);
  const double end = o.end_time;
  o.end_time = 0.125;
  const Simulation first = run(o);
  o.start_time = 0.125;
  o.end_time = end;
  const Simulation second = simulate(*system_, first.final, o);
  // Schemes with an integrator begin it anew: other steps, each within the tolerance.
  const double near = chooses_own_steps(scheme()) ? 1e2 * o.tolerance : 1e-9;
  EXPECT_LT((second.final.q - whole.final.q).lpNorm<Eigen::Infinity>(), near);
}

TEST_P(EveryKind, StopRequestKeepsEverythingUpToThere) {
  SimulationHooks hooks;
  hooks.keep_going = [](const State& s) { return s.t < 0.0995; };
  const Simulation s = run(options(), hooks);
  EXPECT_EQ(s.status, Status::interrupted);
  EXPECT_EQ(s.trajectory.rows(), 101);
  EXPECT_NEAR(s.final.t, 0.1, 1e-12);
}

TEST_P(EveryKind, RaisedFlagStopsBeforeTheFirstStepOrRightAfterIt) {
  const std::atomic<bool> stop = true;
  SimulationHooks hooks;
  hooks.stop = &stop;
  const Simulation s = run(options(), hooks);
  EXPECT_EQ(s.status, Status::interrupted);
  EXPECT_LE(s.steps, 1);
  EXPECT_GE(s.trajectory.rows(), 1);
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryKind, testing::ValuesIn(pairs_taken()), [](const auto& row) {
  return std::string(to_string(std::get<0>(row.param))) + "_on_" + kinds()[std::get<1>(row.param)].name;
});

}  // namespace
}  // namespace stickslip::every_kind_test
