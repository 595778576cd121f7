// SPDX-License-Identifier: Apache-2.0
// Flexible bodies: frequencies and deflections of beams, stiffening by rotation, exact slopes, what free motion keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "stickslip/model/multibody/beam_body.hpp"
#include "stickslip/model/multibody/element_body.hpp"
#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/motion/simulate.hpp"
#include "tests/support/spinning_body.hpp"

namespace stickslip::flexible_body_test {
namespace {

constexpr double kLength = 2.0, kE = 7e10, kG = 2.7e10, kRho = 2700, kArea = 4e-4, kIy = 1.2e-8, kIz = 2e-8;
/// sqrt(EI/(ρ A L⁴)), the unit of the frequencies. [rad/s]
double unit(double I) { return std::sqrt(kE * I / (kRho * kArea * std::pow(kLength, 4))); }

BeamOptions beam(BeamEnd first, BeamEnd last) {
  BeamOptions o;
  o.length = kLength;
  o.youngs_modulus = kE;
  o.shear_modulus = kG;
  o.density = kRho;
  o.first = o.last = {kArea, kIy, kIz, 0};
  o.first_end = first;
  o.last_end = last;
  return o;
}

BeamOptions in_plane(BeamEnd first, BeamEnd last) {
  BeamOptions o = beam(first, last);
  o.bends_z = o.stretches = o.twists = false;
  return o;
}

std::shared_ptr<const FlexibleBody> shared(const BeamOptions& o) {
  return std::make_shared<const FlexibleBody>(make_beam(o));
}

TEST(FlexibleBody, BeamsHaveTheirFrequencies) {
  struct Case {
    BeamEnd first, last;
    std::array<double, 2> root;  // (β L)² of the first two modes
  };
  for (const Case& it : {Case{BeamEnd::clamped, BeamEnd::free, {3.5160152685, 22.0344915647}},
                         Case{BeamEnd::pinned, BeamEnd::pinned, {M_PI * M_PI, 4 * M_PI * M_PI}},
                         Case{BeamEnd::clamped, BeamEnd::pinned, {15.4182057169, 49.9648620318}},
                         Case{BeamEnd::clamped, BeamEnd::clamped, {22.3732854481, 61.6728228676}},
                         Case{BeamEnd::free, BeamEnd::free, {22.3732854481, 61.6728228676}}}) {
    BeamOptions o = in_plane(it.first, it.last);
    o.elements = 24;
    const FlexibleBody body = make_beam(o);
    for (Index k = 0; k < 2; ++k)
      EXPECT_NEAR(body.frequency[k] / unit(kIz), it.root[static_cast<std::size_t>(k)],
                  2e-5 * it.root[static_cast<std::size_t>(k)]);
    EXPECT_NEAR(body.mass(), kRho * kArea * kLength, 1e-12);
  }
  // Axial and torsional waves: a quarter of a wave length.
  BeamOptions o = beam(BeamEnd::clamped, BeamEnd::free);
  o.bends_y = o.bends_z = o.twists = false;
  o.elements = 20;
  EXPECT_NEAR(make_beam(o).frequency[0] / (M_PI / (2 * kLength) * std::sqrt(kE / kRho)), 1, 3e-4);
  o.stretches = false;
  o.twists = true;
  EXPECT_NEAR(make_beam(o).frequency[0] / (M_PI / (2 * kLength) * std::sqrt(kG / kRho)), 1, 3e-4);
}

TEST(FlexibleBody, ShearLowersFrequenciesAsTimoshenkosEquationSays) {
  BeamOptions o = in_plane(BeamEnd::pinned, BeamEnd::pinned);
  o.length = 0.2;  // short: shear matters
  o.shear_factor = 5.0 / 6;
  o.elements = 48;
  const FlexibleBody body = make_beam(o);
  for (int n : {1, 2}) {
    // | κGA k² - ρA ω²      -κGA k          | = 0
    // | -κGA k        EI k² + κGA - ρI ω²   |
    const double k = n * M_PI / o.length, S = o.shear_factor * kG * kArea, a = kRho * kArea * kRho * kIz,
                 b = kRho * kArea * (kE * kIz * k * k + S) + kRho * kIz * S * k * k, c = S * k * k * kE * kIz * k * k;
    const double exact = std::sqrt((b - std::sqrt(b * b - 4 * a * c)) / (2 * a));
    EXPECT_NEAR(body.frequency[n - 1], exact, 2e-4 * exact);
    EXPECT_LT(exact, 0.99 * k * k * std::sqrt(kE * kIz / (kRho * kArea)));
  }
}

TEST(FlexibleBody, ATaperedBeamHasItsFrequencies) {
  // Width linear to a point, thickness constant: 7.1565.
  BeamOptions o = in_plane(BeamEnd::clamped, BeamEnd::free);
  o.elements = 24;
  o.last = {1e-5 * kArea, 1e-5 * kIy, 1e-5 * kIz, 0};
  const FlexibleBody body = make_beam(o);
  EXPECT_NEAR(body.frequency[0] / unit(kIz), 7.1565, 1e-3);
  EXPECT_NEAR(body.mass(), 0.5 * kRho * kArea * kLength, 1e-4);
}

TEST(FlexibleBody, AKeptTipDeflectsExactly) {
  for (const double shear : {0.0, 5.0 / 6}) {
    BeamOptions o = in_plane(BeamEnd::clamped, BeamEnd::free);
    o.kept = {"tip"};
    o.modes = 1;
    o.shear_factor = shear;
    const FlexibleBody body = make_beam(o);
    const auto tip = std::find_if(body.stations.begin(), body.stations.end(),
                                  [](const FlexibleStation& it) { return it.node == "tip"; });
    const Vector row = tip->shift.row(1).transpose(), turn = tip->turn.row(2).transpose();
    const Vector eta = body.stiffness.ldlt().solve(row);  // of a unit load
    const double bend = std::pow(kLength, 3) / (3 * kE * kIz), slide = shear > 0 ? kLength / (shear * kG * kArea) : 0;
    EXPECT_NEAR(row.dot(eta), bend + slide, 1e-9 * bend);
    EXPECT_NEAR(turn.dot(eta), kLength * kLength / (2 * kE * kIz), 1e-9 * bend);
  }
}

/// Ritz with twelve functions.
TEST(FlexibleBody, ARotatingCantileverStiffens) {
  struct Row {
    double rate, flap1, flap2, lag1;
  };
  for (const Row& row : {Row{0, 3.516015, 22.034492, 3.516015}, Row{2, 4.137320, 22.614922, 3.621797},
                         Row{5, 6.449545, 25.446080, 4.073896}, Row{8, 9.256838, 29.995382, 4.657150},
                         Row{12, 13.170150, 37.603112, 5.427049}}) {
    BeamOptions o = in_plane(BeamEnd::clamped, BeamEnd::free);
    o.elements = 16;
    o.modes = 10;
    EXPECT_NEAR(frequencies_at(spinning(make_beam(o)), row.rate * unit(kIz))[0] / unit(kIz), row.lag1, 1e-3 * row.lag1);
    std::swap(o.bends_y, o.bends_z);
    const Vector flap = frequencies_at(spinning(make_beam(o)), row.rate * unit(kIy)) / unit(kIy);
    EXPECT_NEAR(flap[0], row.flap1, 1e-3 * row.flap1);
    EXPECT_NEAR(flap[1], row.flap2, 1e-3 * row.flap2);
    if (row.rate < 5) continue;
    o.stiffening = false;
    EXPECT_LT(frequencies_at(spinning(make_beam(o)), row.rate * unit(kIy))[0] / unit(kIy), 0.7 * row.flap1);
  }
}

/// E A (s + u)... of a rod: u'' + k² (s + u) = 0, u(L) = tan(kL)/k - L, k = Ω sqrt(ρ/E); ρ A Ω² L³/(3 E A) to first
/// order.
TEST(FlexibleBody, ASpinningRodExtends) {
  BeamOptions o = beam(BeamEnd::clamped, BeamEnd::free);
  o.bends_y = o.bends_z = o.twists = false;
  o.length = 10;
  o.youngs_modulus = 2.8e7;
  o.density = 1.2;
  o.first = o.last = {1.0, 5e-4, 5e-4, 0};
  o.modes = 8;
  o.elements = 24;
  const double rate = 6;
  const BodyModel model = spinning(make_beam(o));
  const auto system = make_system(model);
  SystemWorkspace workspace(*system);
  const Index n = system->info().nv() - 1;
  Vector q = Vector::Zero(n + 1), v = q, h;
  v[0] = rate;
  SystemMatrix by_q, by_v;
  for (int k = 0; k < 3; ++k) {
    system->force(0, q, v, workspace, h);
    system->force_slopes(0, q, v, workspace, by_q, by_v);
    q.tail(n) -= by_q.dense().bottomRightCorner(n, n).lu().solve(h.tail(n));
  }
  const auto& stations = model.bodies[0].flexible->stations;
  const double tip = stations.back().shift.row(0).dot(q.tail(n)), k = rate * std::sqrt(1.2 / 2.8e7);
  EXPECT_EQ(stations.back().node, "tip");
  EXPECT_NEAR(tip, std::tan(k * 10) / k - 10, 1e-3 * tip);
  EXPECT_NEAR(tip, 5.142857e-4, 1e-3 * tip);
}

/// A rigid bar, a flexible one on it by a ball, a load at its middle, its tip closed to the ground by a loop.
BodyModel mechanism() {
  BodyModel model;
  model.gravity = {0.3, -9.81, 1.0};
  RigidBody bar;
  bar.name = "bar";
  bar.mass = 1.5;
  bar.center = {0.2, 0.01, 0.02};
  bar.inertia = Eigen::Vector3d(0.02, 0.03, 0.04).asDiagonal();
  model.bodies.push_back(bar);
  RigidBody rod;
  rod.name = "rod";
  BeamOptions o = beam(BeamEnd::clamped, BeamEnd::free);
  o.elements = 3;
  o.modes = 5;
  o.nodes = {{"middle", 0.9}};
  o.damping = 0.02;
  o.shear_factor = 5.0 / 6;
  rod.flexible = shared(o);
  model.bodies.push_back(rod);
  for (const char* name : {"tip", "middle"}) {
    RigidBody node;
    node.name = std::string("rod.") + name;
    node.node_of = "rod";
    node.node = name;
    model.bodies.push_back(node);
  }
  RigidBody hand;
  hand.name = "hand";
  hand.mass = 0.3;
  hand.center = {0.1, 0, 0};
  hand.inertia = Eigen::Vector3d(0.001, 0.002, 0.003).asDiagonal();
  model.bodies.push_back(hand);
  Hinge shoulder, elbow, wrist;
  shoulder.name = "shoulder";
  shoulder.axes = {HingeAxis::rz, HingeAxis::ry};
  shoulder.stiffness = {3, 2};
  elbow.name = "elbow";
  elbow.parent = 0;
  elbow.child = 1;
  elbow.position = {0.4, 0, 0};
  elbow.axes = {HingeAxis::ball};
  wrist.name = "wrist";
  wrist.parent = 2;
  wrist.child = 4;
  wrist.axes = {HingeAxis::rx};
  model.hinges = {shoulder, elbow, wrist};
  PointSpring spring;
  spring.body_a = 3;
  spring.point_b = {1, 1, 1};
  spring.stiffness = 40;
  spring.damping = 2;
  model.springs.push_back(spring);
  Loop loop;
  loop.name = "close";
  loop.body_a = kGroundBody;
  loop.point_a = {2, 0.5, 0.1};
  loop.body_b = 2;
  loop.axes = {HingeAxis::ball};
  model.loops.push_back(loop);
  return model;
}

struct RandomState {
  Vector q, v;
};

RandomState random_state(const BodyModel& model, const System& system) {
  RandomState state{start_positions(model), Vector(system.info().nv())};
  Vector delta(system.info().nv());
  for (Index k = 0; k < delta.size(); ++k) {
    const bool modal = system.info().velocities[static_cast<std::size_t>(k)].starts_with("rod.m");
    delta[k] = (modal ? 0.03 : 0.5) * std::sin(1.0 + 1.7 * static_cast<double>(k));
    state.v[k] = std::cos(0.3 + 2.1 * static_cast<double>(k)) * (modal ? 0.4 : 1.0);
  }
  system.kinematics().displace(delta, state.q);
  return state;
}

TEST(FlexibleBody, MassIsTheHessianOfTheEnergyAndSlopesAreThoseOfDifferences) {
  const BodyModel model = mechanism();
  const auto system = make_system(model);
  SystemWorkspace workspace(*system);
  const RandomState state = random_state(model, *system);
  const Index n = system->info().nv();
  const DenseMatrix M = system->inertia().mass(state.q, workspace).dense();
  for (Index i = 0; i < n; ++i) {
    const Vector e = Vector::Unit(n, i);
    for (Index j = 0; j < n; ++j) {
      const Vector f = Vector::Unit(n, j);
      const double both = system->inertia().kinetic_energy(state.q, e + f),
                   one = system->inertia().kinetic_energy(state.q, e),
                   two = system->inertia().kinetic_energy(state.q, f);
      EXPECT_NEAR(M(i, j), both - one - two, 1e-12 * M.cwiseAbs().maxCoeff());
    }
  }
  SystemMatrix by_q, by_v;
  system->force_slopes(0, state.q, state.v, workspace, by_q, by_v);
  const double h = 1e-6;
  const auto force = [&](Index k, double along_q, double along_v) {
    Vector q = state.q, v = state.v, result;
    system->kinematics().displace(along_q * Vector::Unit(n, k), q);
    v[k] += along_v;
    system->force(0, q, v, workspace, result);
    return result;
  };
  for (Index k = 0; k < n; ++k) {
    const Vector dq = (force(k, h, 0) - force(k, -h, 0)) / (2 * h), dv = (force(k, 0, h) - force(k, 0, -h)) / (2 * h);
    EXPECT_LT((by_q.dense().col(k) - dq).norm(), 1e-7 * std::max(1.0, dq.norm())) << k;
    EXPECT_LT((by_v.dense().col(k) - dv).norm(), 1e-7 * std::max(1.0, dv.norm())) << k;
  }
}

TEST(FlexibleBody, LoopsHaveTheirRowsBiasAndSlopes) {
  const BodyModel model = mechanism();
  const auto system = make_system(model);
  SystemWorkspace workspace(*system);
  const RandomState state = random_state(model, *system);
  const Index n = system->info().nv();
  const ConstraintSource& source = system->laws().constraint_source();
  ConstraintRows rows, plus, minus;
  source.evaluate(0, state.q, workspace, rows);
  ASSERT_EQ(rows.A.rows(), 3);
  const double h = 1e-6;
  const Vector lambda = Eigen::Vector3d(1, -2, 0.5);
  DenseMatrix forces, speeds;
  source.force_slopes(0, state.q, lambda, workspace, forces);
  source.velocity_slopes(0, state.q, state.v, workspace, speeds);
  for (Index k = 0; k < n; ++k) {
    Vector ahead = state.q, back = state.q;
    system->kinematics().displace(h * Vector::Unit(n, k), ahead);
    system->kinematics().displace(-h * Vector::Unit(n, k), back);
    source.evaluate(0, ahead, workspace, plus);
    source.evaluate(0, back, workspace, minus);
    EXPECT_LT((rows.A.col(k) - (plus.position - minus.position) / (2 * h)).norm(), 1e-8);
    EXPECT_LT((speeds.col(k) - (plus.A - minus.A) * state.v / (2 * h)).norm(), 1e-7);
    EXPECT_LT((forces.col(k) - (plus.A - minus.A).transpose() * lambda / (2 * h)).norm(), 1e-7);
  }
  Vector ahead = state.q, back = state.q, bias;
  system->kinematics().displace(h * state.v, ahead);
  system->kinematics().displace(-h * state.v, back);
  source.evaluate(0, ahead, workspace, plus);
  source.evaluate(0, back, workspace, minus);
  source.bias(0, state.q, state.v, workspace, bias);
  EXPECT_LT((bias - (plus.A - minus.A) * state.v / (2 * h)).norm(), 1e-6 * std::max(1.0, bias.norm()));
}

/// A beam in space that turns and vibrates keeps its energy, momentum and angular momentum.
TEST(FlexibleBody, AFreeBeamKeepsEnergyAndMomentum) {
  BodyModel model;
  RigidBody body;
  body.name = "beam";
  BeamOptions o = beam(BeamEnd::free, BeamEnd::free);
  o.stretches = o.twists = false;
  o.modes = 4;
  o.elements = 4;
  body.flexible = shared(o);
  body.velocity = {0.3, -0.2, 0.1};
  body.spin = {0.5, 2.0, 3.0};
  model.bodies.push_back(body);
  const auto system = make_system(model);
  State start;
  start.q = start_positions(model);
  start.v = start_velocities(model);
  start.v.tail(4) << 0.5, -0.3, 0.2, 0.1;
  const auto kept = [&](const Vector& q, const Vector& v) {
    SystemWorkspace workspace(*system);
    const Vector momentum = system->inertia().mass(q, workspace).dense() * v;
    const Eigen::Quaterniond turn(q[3], q[4], q[5], q[6]);
    Eigen::Matrix<double, 7, 1> all;
    const Eigen::Vector3d p = momentum.head<3>(), x = q.head<3>();
    all << system->inertia().kinetic_energy(q, v) + system->forces().potential_energy(q), p,
        x.cross(p) + turn * Eigen::Vector3d(momentum.segment<3>(3));
    return all;
  };
  SimulationOptions options;
  options.scheme = SchemeKind::event;
  options.end_time = 0.3;
  options.tolerance = 1e-10;
  const Simulation run = simulate(*system, start, options);
  ASSERT_EQ(run.status, Status::success) << run.message;
  EXPECT_LT((kept(run.final.q, run.final.v) - kept(start.q, start.v)).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_GT((run.final.q - start.q).tail(4).norm(), 1e-4);
}

/// Twenty masses in three rows, joined by springs: the few masses that stand for them have their kinetic energy.
TEST(FlexibleBody, PairsOfMassesStandForFiniteElements) {
  ElementBodyOptions o;
  std::vector<Eigen::Triplet<double>> mass, stiffness;
  const Index n = 20;
  for (Index k = 0; k < n; ++k)
    o.nodes.emplace_back(0.1 * static_cast<double>(k), 0.05 * std::sin(static_cast<double>(3 * k)),
                         0.05 * std::cos(static_cast<double>(5 * k)));
  for (Index a = 0; a < n; ++a)
    for (Index b = 0; b < n; ++b) {
      const double m = a == b ? 0.3 : std::abs(a - b) == 1 ? 0.05 : 0.0;
      for (int c = 0; c < 3 && m > 0; ++c)
        mass.emplace_back(static_cast<int>(3 * a) + c, static_cast<int>(3 * b) + c, m);
      if (b <= a || b - a > 4) continue;
      const Eigen::Vector3d d =
          (o.nodes[static_cast<std::size_t>(b)] - o.nodes[static_cast<std::size_t>(a)]).normalized();
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          for (const auto& [r, s, sign] : {std::tuple{a, a, 1.0}, {b, b, 1.0}, {a, b, -1.0}, {b, a, -1.0}})
            stiffness.emplace_back(static_cast<int>(3 * r) + i, static_cast<int>(3 * s) + j, sign * 1e4 * d[i] * d[j]);
    }
  SparseMatrix M(3 * n, 3 * n), K(3 * n, 3 * n);
  M.setFromTriplets(mass.begin(), mass.end());
  K.setFromTriplets(stiffness.begin(), stiffness.end());
  o.interfaces = {{"root", {0, 1, 2}}, {"end", {17, 18, 19}}};
  for (const bool held : {true, false}) {
    o.held = held ? std::vector<std::string>{"root"} : std::vector<std::string>{};
    o.kept = held ? std::vector<std::string>{"end"} : std::vector<std::string>{};
    o.modes = 3;
    const FlexibleBody body = make_element_body(M, K, o);
    const Index modes = body.modes();
    EXPECT_EQ(modes, held ? 12 : 3);
    // Mass of η alone: eigenvalues of (K, M) are the frequencies.
    DenseMatrix reduced = DenseMatrix::Zero(modes, modes);
    double total = 0;
    for (const FlexibleStation& station : body.stations) {
      reduced += station.mass * station.shift.transpose() * station.shift;
      total += station.mass;
    }
    EXPECT_NEAR(total, M.sum() / 3, 1e-12);
    const Vector squares = Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix>(body.stiffness, reduced).eigenvalues();
    EXPECT_LT((squares.cwiseSqrt() - body.frequency).norm(), 1e-8 * body.frequency.norm());
    // Rigid rotation about any axis: Σ m_ab (ω × x_a)·(ω × x_b).
    const Eigen::Vector3d w(0.3, -0.7, 0.5);
    double exact = 0, found = 0;
    for (Index a = 0; a < n; ++a)
      for (Index b = 0; b < n; ++b)
        exact += M.coeff(3 * a, 3 * b) *
                 w.cross(o.nodes[static_cast<std::size_t>(a)]).dot(w.cross(o.nodes[static_cast<std::size_t>(b)]));
    for (const FlexibleStation& station : body.stations)
      found += station.mass * w.cross(station.position).squaredNorm();
    EXPECT_NEAR(found, exact, 1e-10 * exact);
  }
}

}  // namespace
}  // namespace stickslip::flexible_body_test
