// SPDX-License-Identifier: Apache-2.0
// Systems in general coordinates: equations by hand against equations from energies, slopes against differences.
#include "stickslip/model/equation_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/model/matrix_model.hpp"

namespace stickslip::equation_model_test {
namespace {

using Texts = std::vector<std::string>;

/// A model from texts.
struct Source {
  Texts coordinates{};
  std::vector<Texts> mass{};
  std::string kinetic_energy{};
  Texts force{};
  std::string potential{}, dissipation{};

  EquationModel model() const {
    const SymbolTable symbols =
        state_symbols(coordinates, {{"m1", 1.3}, {"m2", 0.7}, {"l1", 0.9}, {"l2", 1.1}, {"g", 9.81}});
    const auto parse = [&](const std::string& text) { return StateFunction(Expression::parse(text, symbols)); };
    EquationModel result;
    result.coordinates = coordinates;
    for (const Texts& row : mass) {
      result.mass.emplace_back();
      for (const std::string& entry : row) result.mass.back().push_back(parse(entry));
    }
    for (const std::string& component : force) result.force.push_back(parse(component));
    if (!kinetic_energy.empty()) result.kinetic_energy = parse(kinetic_energy);
    if (!potential.empty()) result.potential = parse(potential);
    if (!dissipation.empty()) result.dissipation = parse(dissipation);
    return result;
  }
  std::unique_ptr<System> system() const { return make_system(model()); }
};

const Source kPendulumByEnergy{
    .coordinates = {"a", "b"},
    .kinetic_energy = "0.5*(m1+m2)*l1^2*v_a^2 + 0.5*m2*l2^2*v_b^2 + m2*l1*l2*v_a*v_b*cos(a-b)",
    .potential = "-(m1+m2)*g*l1*cos(a) - m2*g*l2*cos(b)"};
const Source kPendulumByHand{
    .coordinates = {"a", "b"},
    .mass = {{"(m1+m2)*l1^2", "m2*l1*l2*cos(a-b)"}, {"m2*l1*l2*cos(a-b)", "m2*l2^2"}},
    .force = {"-m2*l1*l2*sin(a-b)*v_b^2 - (m1+m2)*g*l1*sin(a)", "m2*l1*l2*sin(a-b)*v_a^2 - m2*g*l2*sin(b)"}};
/// Everything at once: inertia, potential, damping and force that depend on all they may.
const Source kRich{.coordinates = {"r", "phi", "z"},
                   .kinetic_energy =
                       "0.5*(2+sin(z))*v_r^2 + 0.5*(1+r^2)*v_phi^2 + 0.5*(1.5+cos(phi)^2)*v_z^2 + "
                       "0.2*v_r*v_z*sin(phi*r) - 0.1*v_phi*v_z*cos(r+z)",
                   .force = {"sin(t)*phi + 0.1*v_z^2", "exp(-r^2)*v_r", "t*z*v_phi"},
                   .potential = "r^2*z + cos(phi)*z^3 + 0.3*r*phi",
                   .dissipation = "0.3*v_r^2*(1+z^2) + 0.1*v_r*v_phi + 0.2*(v_phi-v_z)^4"};
/// The same parts where M is given.
const Source kRichMass{
    .coordinates = {"r", "phi", "z"},
    .mass = {{"2+sin(z)", "0", "0.2*sin(phi*r)"}, {"0", "1+r^2", "0"}, {"0.2*sin(r*phi)", "0", "1.5"}},
    .force = kRich.force,
    .potential = kRich.potential,
    .dissipation = kRich.dissipation};

class Samples {
 public:
  explicit Samples(Index n) : n_(n) {}
  Vector next(double size) {
    Vector x(n_);
    for (double& c : x) c = size * uniform_(random_);
    return x;
  }

 private:
  Index n_;
  std::mt19937 random_{7};
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

Vector force_of(const System& system, double t, const Vector& q, const Vector& v) {
  SystemWorkspace workspace(system);
  Vector h(system.info().nv());
  system.force(t, q, v, workspace, h);
  return h;
}

DenseMatrix mass_of(const System& system, const Vector& q) {
  SystemWorkspace workspace(system);
  return system.inertia().mass(q, workspace).to_dense();
}

struct Slopes {
  DenseMatrix by_q, by_v;
};
Slopes slopes_of(const System& system, double t, const Vector& q, const Vector& v) {
  SystemWorkspace workspace(system);
  SystemMatrix by_q, by_v;
  system.force_slopes(t, q, v, workspace, by_q, by_v);
  return {by_q.to_dense(), by_v.to_dense()};
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(EquationModel, KineticEnergyOfTheDoublePendulum_GivesTheEquationsDerivedByHand) {
  const auto energy = kPendulumByEnergy.system(), hand = kPendulumByHand.system();
  Samples samples(2);
  for (int k = 0; k < 200; ++k) {
    const Vector q = samples.next(3), v = samples.next(k % 2 ? 5 : 500);
    const Vector h = force_of(*hand, 0, q, v);
    // Round-off of a dozen operations on terms as large as m l² v².
    const double scale = 1 + 30 + v.squaredNorm();
    EXPECT_LE((force_of(*energy, 0, q, v) - h).norm(), 1e-14 * scale);
    EXPECT_LE((mass_of(*energy, q) - mass_of(*hand, q)).norm(), 1e-14);
    EXPECT_NEAR(energy->inertia().kinetic_energy(q, v), hand->inertia().kinetic_energy(q, v), 1e-14 * scale);
    const Slopes a = slopes_of(*energy, 0, q, v), b = slopes_of(*hand, 0, q, v);
    EXPECT_LE((a.by_q - b.by_q).norm(), 2e-14 * scale);
    EXPECT_LE((a.by_v - b.by_v).norm(), 2e-14 * scale);
  }
}

TEST(EquationModel, SlopesOfTheForce_AreTheLimitsOfItsDifferences) {
  for (const Source* source : {&kPendulumByEnergy, &kPendulumByHand, &kRich, &kRichMass}) {
    const auto system = source->system();
    const Index n = system->info().nv();
    Samples samples(n);
    for (int k = 0; k < 40; ++k) {
      const Vector q = samples.next(1.5), v = k == 0 ? Vector::Zero(n) : samples.next(2);
      const double t = 0.1 * k;
      const Slopes slopes = slopes_of(*system, t, q, v);
      // Central differences with step d: error d²/6 f''' (f''' up to 1e3 here) and round-off 1e-16 f / d.
      constexpr double d = 1e-5;
      for (Index j = 0; j < n; ++j) {
        const Vector e = d * Vector::Unit(n, j);
        const Vector dq = (force_of(*system, t, q + e, v) - force_of(*system, t, q - e, v)) / (2 * d);
        const Vector dv = (force_of(*system, t, q, v + e) - force_of(*system, t, q, v - e)) / (2 * d);
        EXPECT_LE((slopes.by_q.col(j) - dq).norm(), 1e-7) << source->coordinates[0] << k;
        EXPECT_LE((slopes.by_v.col(j) - dv).norm(), 1e-7) << source->coordinates[0] << k;
      }
    }
  }
}

TEST(EquationModel, PowerBalance_HoldsAtEveryState) {
  // d/dt (T + U) = F v - dampers along M a = h:   v·h + ½ v·Ṁ v + ∂U·v = F·v - P.
  const auto system = kRich.system();
  Samples samples(3);
  SystemWorkspace workspace(*system);
  Vector f(3);
  for (int k = 0; k < 50; ++k) {
    const Vector q = samples.next(1.5), v = samples.next(2);
    constexpr double d = 1e-5;  // central differences as above
    const double inertia =
        (system->inertia().kinetic_energy(q + d * v, v) - system->inertia().kinetic_energy(q - d * v, v)) / (2 * d);
    const double stored =
        (system->forces().potential_energy(q + d * v) - system->forces().potential_energy(q - d * v)) / (2 * d);
    system->forces().applied(0.4, q, v, workspace, f);
    const double power = v.dot(force_of(*system, 0.4, q, v)) + inertia + stored;
    EXPECT_NEAR(power, f.dot(v) - system->forces().damper_power(q, v), 1e-7);
  }
}

TEST(EquationModel, DamperPower_IsVelocityTimesSlopeOfTheDissipation) {
  const auto system = Source{.coordinates = {"x"}, .mass = {{"2"}}, .dissipation = "0.5*3*v_x^2"}.system();
  EXPECT_DOUBLE_EQ(system->forces().damper_power(Vector{{0.0}}, Vector{{2.0}}), 12.0);
  EXPECT_DOUBLE_EQ(force_of(*system, 0, Vector{{0.0}}, Vector{{2.0}})[0], -6.0);
}

TEST(EquationModel, MassOfABeadOnAWire_IsOnePlusSlopeSquared) {
  // y = x²/2: T = ½ (1 + x²) v², c = ∂T/∂x - x v² · 2/1 = -x v².
  const auto system = Source{.coordinates = {"x"}, .kinetic_energy = "0.5*(v_x^2 + (x*v_x)^2)"}.system();
  EXPECT_FALSE(system->inertia().constant());
  EXPECT_DOUBLE_EQ(mass_of(*system, Vector{{3.0}})(0, 0), 10.0);
  EXPECT_DOUBLE_EQ(force_of(*system, 0, Vector{{3.0}}, Vector{{2.0}})[0], -12.0);
}

TEST(EquationModel, ConstantMass_IsCheckedOnceAndDoesNotVary) {
  for (const Source& source : {Source{.coordinates = {"x", "y"}, .mass = {{"2", "1"}, {"1", "2"}}},
                               Source{.coordinates = {"x", "y"}, .kinetic_energy = "v_x^2 + v_x*v_y + v_y^2"}}) {
    const auto system = source.system();
    EXPECT_TRUE(system->inertia().constant());
    EXPECT_TRUE(system->has_quadratic_energy());
    DenseMatrix expected(2, 2);
    expected << 2, 1, 1, 2;
    EXPECT_EQ(mass_of(*system, Vector::Zero(2)), expected);
  }
  EXPECT_FALSE(kPendulumByEnergy.system()->has_quadratic_energy());
  const Source spring{.coordinates = {"x"}, .mass = {{"1"}}, .potential = "0.5*m1*(x-1)^2 + m2*g*x"};
  EXPECT_TRUE(spring.system()->has_quadratic_energy());
  const Source cubic{.coordinates = {"x"}, .mass = {{"1"}}, .potential = "x^3"};
  EXPECT_FALSE(cubic.system()->has_quadratic_energy());
}

TEST(EquationModel, ChainOfThirtyMasses_HasBandedSlopesEqualToItsMatrices) {
  constexpr int n = 30;
  Source chain;
  MatrixModel matrices;
  std::vector<Eigen::Triplet<double, int>> K;
  for (int k = 0; k < n; ++k) {
    chain.coordinates.push_back(fmt::format("x{}", k));
    chain.mass.emplace_back(n, "0");
    chain.mass.back()[static_cast<std::size_t>(k)] = "2";
    const std::string left = k > 0 ? fmt::format(" - 3*(x{} - x{})", k, k - 1) : "";
    const std::string right = k + 1 < n ? fmt::format(" + 3*(x{} - x{})", k + 1, k) : "";
    chain.force.push_back(fmt::format("-0.5*v_x{}{}{}", k, left, right));
  }
  const auto system = chain.system();
  SystemWorkspace workspace(*system);
  SystemMatrix by_q, by_v;
  system->force_slopes(0, Vector::Zero(n), Vector::Zero(n), workspace, by_q, by_v);
  EXPECT_EQ(by_q.storage(), Storage::banded);
  EXPECT_EQ(by_v.storage(), Storage::banded);
  EXPECT_EQ(system->inertia().mass(Vector::Zero(n), workspace).storage(), Storage::banded);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int neighbours = (i > 0) + (i + 1 < n);
      EXPECT_EQ(by_q(i, j), i == j ? -3.0 * neighbours : std::abs(i - j) == 1 ? 3.0 : 0.0);
      EXPECT_EQ(by_v(i, j), i == j ? -0.5 : 0.0);
    }
}

TEST(EquationModel, SparseMassThatVaries_IsFilledInPlace) {
  // One coordinate is coupled to all others: neither banded nor dense.
  constexpr int n = 20;
  Source star;
  for (int k = 0; k < n; ++k) star.coordinates.push_back(fmt::format("x{}", k));
  for (int k = 0; k < n; ++k) {
    star.mass.emplace_back(n, "0");
    star.mass.back()[static_cast<std::size_t>(k)] = "10";
  }
  for (std::size_t k = 1; k < n; ++k) star.mass[0][k] = star.mass[k][0] = fmt::format("sin(x{})", k);
  const auto system = star.system();
  SystemWorkspace workspace(*system);
  Samples samples(n);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Vector q = samples.next(2);
    const SystemMatrix& M = system->inertia().mass(q, workspace);
    EXPECT_EQ(M.storage(), Storage::sparse);
    for (Index k = 1; k < n; ++k) {
      EXPECT_EQ(M(0, k), std::sin(q[k]));
      EXPECT_EQ(M(k, 0), std::sin(q[k]));
      EXPECT_EQ(M(k, k), 10.0);
    }
  }
}

TEST(EquationModel, MassThatLosesItsSign_IsRefusedWithThePlace) {
  const auto system = Source{.coordinates = {"x", "phi"}, .mass = {{"1", "x"}, {"x", "4"}}}.system();
  SystemWorkspace workspace(*system);
  EXPECT_NO_THROW(system->inertia().mass(Vector{{1.99, 0.0}}, workspace));
  EXPECT_EQ(message_of([&] {
              system->inertia().mass(Vector{{3.0, 0.5}}, workspace);
            }),
            "mass is not positive definite at x = 3, phi = 0.5 (pivot -5 for 'phi'); every motion must have a positive "
            "kinetic energy");
  EXPECT_NE(message_of([&] {
              system->inertia().mass(Vector{{2.0, 0.5}}, workspace);
            }).find("not positive definite"),
            std::string::npos);  // singular
  const auto root = Source{.coordinates = {"x"}, .mass = {{"sqrt(x)"}}}.system();
  SystemWorkspace other(*root);
  EXPECT_NE(message_of([&] { root->inertia().mass(Vector{{-1.0}}, other); }).find("nan at x = -1; it must be finite"),
            std::string::npos);
}

TEST(EquationModel, FrictionAndBreakpointsArriveAsForMatrices) {
  EquationModel model = Source{.coordinates = {"x"}, .mass = {{"1"}}, .force = {"if(t < 0.25, 1, 0)"}}.model();
  FrictionElement shoe;
  shoe.name = "shoe";
  shoe.directions = {{{0, 1.0}}};
  shoe.limit = StateFunction(Expression::parse("if(t < 0.5, 1, 2)", state_symbols({"x"}, {})));
  model.friction = {shoe};
  const auto system = make_system(std::move(model));
  EXPECT_EQ(system->breakpoints(0, 1), (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(system->laws().friction()[0].name, "shoe");
  EXPECT_TRUE(system->forces().applied_depends_on_time());
  EXPECT_FALSE(system->forces().applied_depends_on_state());
  EXPECT_EQ(system->linear(), nullptr);
}

TEST(EquationModel, WhatIsNoSystem_IsRefusedWithTheReason) {
  const std::vector<std::pair<Source, std::string>> cases = {
      {{.coordinates = {}, .mass = {}}, "no coordinates"},
      {{.coordinates = {"x"}}, "mass has 0 rows, but there are 1 coordinates"},
      {{.coordinates = {"x"}, .mass = {{"1", "0"}}}, "mass[0] has 2 entries"},
      {{.coordinates = {"x"}, .mass = {{"0"}}}, "mass is not positive definite (pivot 0 for 'x')"},
      {{.coordinates = {"x"}, .mass = {{"-1"}}}, "not positive definite"},
      {{.coordinates = {"x"}, .mass = {{"1+t"}}}, "mass[0][0] depends on t; it may depend on the coordinates"},
      {{.coordinates = {"x"}, .mass = {{"1+v_x^2"}}}, "mass[0][0] depends on v_x"},
      {{.coordinates = {"x"}, .mass = {{"1+i"}}}, "mass[0][0] depends on the index i"},
      {{.coordinates = {"x", "y"}, .mass = {{"2", "x"}, {"y", "2"}}}, "mass is not symmetric: mass[1][0]"},
      {{.coordinates = {"x"}, .mass = {{"1"}}, .kinetic_energy = "v_x^2"}, "both give the inertia"},
      {{.coordinates = {"x"}, .kinetic_energy = "3"}, "kinetic_energy is constant"},
      {{.coordinates = {"x"}, .kinetic_energy = "v_x^2*(1+t)"}, "kinetic_energy depends on t"},
      {{.coordinates = {"x"}, .kinetic_energy = "v_x^2 + v_x"}, "not quadratic in the velocities: at x = "},
      {{.coordinates = {"x"}, .kinetic_energy = "v_x^2 + x"}, "not quadratic"},
      {{.coordinates = {"x"}, .kinetic_energy = "v_x^4"}, "not quadratic"},
      {{.coordinates = {"x"}, .kinetic_energy = "abs(v_x)"}, "not quadratic"},
      {{.coordinates = {"x"}, .kinetic_energy = "-v_x^2"}, "not positive definite"},
      {{.coordinates = {"x", "y"}, .kinetic_energy = "v_x^2"}, "kinetic_energy does not depend on v_y"},
      {{.coordinates = {"x"}, .mass = {{"1"}}, .force = {"1", "2"}}, "force has 2 components"},
      {{.coordinates = {"x"}, .mass = {{"1"}}, .potential = "x*t"}, "potential depends on t"},
      {{.coordinates = {"x"}, .mass = {{"1"}}, .potential = "x*v_x"}, "potential depends on v_x"},
      {{.coordinates = {"x"}, .mass = {{"1"}}, .dissipation = "t*v_x^2"}, "dissipation depends on t"},
  };
  for (const auto& [source, fragment] : cases) {
    const std::string message = message_of([&, &given = source] { given.system(); });
    EXPECT_NE(message.find(fragment), std::string::npos) << "expected '" << fragment << "' in\n" << message;
  }
  EquationModel tabled = Source{.coordinates = {"x"}, .mass = {{"1"}}}.model();
  tabled.potential = StateFunction(TimeTable({0, 1}, {0, 1}, "u.csv"));
  EXPECT_NE(message_of([&] { make_system(std::move(tabled)); }).find("cannot be a table"), std::string::npos);
}

}  // namespace
}  // namespace stickslip::equation_model_test
