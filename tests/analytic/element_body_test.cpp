// SPDX-License-Identifier: Apache-2.0
// Beams as matrices of finite elements are the built-in beams: inertia, stiffening by rotation, buckling, motion of
// mechanisms.
#include "stickslip/model/multibody/element_body.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/model/multibody/beam_body.hpp"
#include "stickslip/motion/simulate.hpp"
#include "tests/support/beam_elements.hpp"
#include "tests/support/spinning_body.hpp"

namespace stickslip::element_body_test {
namespace {

const beam_elements::Section kSection{2.0, 7e10, 2.7e10, 2700, 4e-4, 1.2e-8, 2e-8};
/// sqrt(EI/(ρ A L⁴)) of the flap. [rad/s]
double unit(double I) { return std::sqrt(7e10 * I / (2700 * 4e-4 * 16)); }

ElementBodyOptions clamped(const beam_elements::Matrices& matrices, Index modes) {
  ElementBodyOptions o;
  o.nodes = matrices.nodes;
  o.interfaces = {{"root", {0}}, {"tip", {static_cast<Index>(matrices.nodes.size()) - 1}}};
  o.held = {"root"};
  o.modes = modes;
  return o;
}

BeamOptions built_in(Index modes, int elements) {
  BeamOptions o;
  o.length = kSection.length;
  o.youngs_modulus = kSection.youngs_modulus;
  o.shear_modulus = kSection.shear_modulus;
  o.density = kSection.density;
  o.first = o.last = {kSection.area, kSection.Iy, kSection.Iz, 0};
  o.modes = modes;
  o.elements = elements;
  return o;
}

const FlexibleStation& node(const FlexibleBody& body, const std::string& name) {
  return *std::find_if(body.stations.begin(), body.stations.end(),
                       [&](const FlexibleStation& it) { return it.node == name; });
}

/// Nearest of the frequencies, in units.
double nearest(const Vector& frequencies, double value) {
  double best = frequencies[0];
  for (const double it : frequencies)
    if (std::abs(it - value) < std::abs(best - value)) best = it;
  return best;
}

TEST(ElementBody, ABeamOfSixCoordinatesHasTheInertiaOfItsMatrices) {
  const auto matrices = beam_elements::rods(kSection, 10);
  ElementBodyOptions o = clamped(matrices, 3);
  o.kept = {"tip"};
  const FlexibleBody body = make_element_body(matrices.M, matrices.K, o);
  ASSERT_EQ(body.modes(), 9);
  const Index n = body.modes();
  DenseMatrix modal = DenseMatrix::Zero(n, n);
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
  Eigen::Vector3d first = Eigen::Vector3d::Zero();
  for (const FlexibleStation& it : body.stations) {
    modal += it.mass * it.shift.transpose() * it.shift;
    inertia +=
        it.mass * (it.position.squaredNorm() * Eigen::Matrix3d::Identity() - it.position * it.position.transpose());
    first += it.mass * it.position;
  }
  const double m = kSection.density * kSection.area * kSection.length;
  EXPECT_NEAR(body.mass(), m, 1e-12 * m);
  EXPECT_LT((first - Eigen::Vector3d(m, 0, 0)).norm(), 1e-12 * m);
  EXPECT_NEAR(inertia(0, 0), kSection.density * (kSection.Iy + kSection.Iz) * kSection.length, 1e-9 * inertia(0, 0));
  EXPECT_NEAR(inertia(2, 2), m * 4 / 3, 1e-12 * m);
  const Vector squares = Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix>(body.stiffness, modal).eigenvalues();
  EXPECT_LT((squares.cwiseSqrt() - body.frequency).cwiseQuotient(body.frequency).cwiseAbs().maxCoeff(), 1e-9);
}

/// Flap, lag and, with a stiff axis, torsion follow Ritz with twelve functions, without and with a file of geometric
/// stiffness.
TEST(ElementBody, ARotatingCantileverStiffensAsTheBuiltInOne) {
  struct Row {
    double rate, flap1, flap2, lag1;
  };
  const auto matrices = beam_elements::rods(kSection, 40);
  for (const bool file : {false, true}) {
    ElementBodyOptions o = clamped(matrices, 20);
    if (file) o.geometric = {{matrices.spun, GeometricLoad::spin, {0, 0, 1}}};
    const BodyModel model = spinning(make_element_body(matrices.M, matrices.K, o));
    for (const Row& row : {Row{0, 3.516015, 22.034492, 3.516015}, Row{2, 4.137320, 22.614922, 3.621797},
                           Row{5, 6.449545, 25.446080, 4.073896}, Row{8, 9.256838, 29.995382, 4.657150},
                           Row{12, 13.170150, 37.603112, 5.427049}}) {
      const Vector flap = frequencies_at(model, row.rate * unit(kSection.Iy)) / unit(kSection.Iy),
                   lag = frequencies_at(model, row.rate * unit(kSection.Iz)) / unit(kSection.Iz);
      EXPECT_NEAR(nearest(flap, row.flap1), row.flap1, 1e-3 * row.flap1) << file;
      EXPECT_NEAR(nearest(flap, row.flap2), row.flap2, 1e-3 * row.flap2) << file;
      EXPECT_NEAR(nearest(lag, row.lag1), row.lag1, 1e-3 * row.lag1) << file;
    }
  }
  ElementBodyOptions o = clamped(matrices, 20);
  o.stiffening = false;
  const BodyModel model = spinning(make_element_body(matrices.M, matrices.K, o));
  EXPECT_LT(nearest(frequencies_at(model, 5 * unit(kSection.Iy)) / unit(kSection.Iy), 6.449545), 0.95 * 6.449545);
}

/// Twice the stiffness of the file is twice the stiffening: it is the file that enters.
TEST(ElementBody, GeometricStiffnessOfAFileEntersAsItIs) {
  const auto matrices = beam_elements::rods(kSection, 12);
  ElementBodyOptions o = clamped(matrices, 6);
  const auto square = [&](double factor, const Eigen::Vector3d& spin) {
    o.geometric = {{SparseMatrix(factor * matrices.spun), GeometricLoad::spin, spin}};
    const Vector all = frequencies_at(spinning(make_element_body(matrices.M, matrices.K, o)), 4 * unit(kSection.Iy));
    return all[0] * all[0];
  };
  const double none = square(0, {0, 0, 1}), one = square(1, {0, 0, 1}), two = square(2, {0, 0, 1});
  EXPECT_GT(one, 1.2 * none);
  EXPECT_NEAR(two - one, one - none, 0.05 * (one - none));
  EXPECT_NEAR(square(4, {0, 0, 2}), one, 1e-9 * one);
  o.geometric = {{matrices.spun, GeometricLoad::spin, {0, 0, 1}},
                 {SparseMatrix(2 * matrices.spun), GeometricLoad::spin, {0, 0, 1}}};
  EXPECT_THROW(make_element_body(matrices.M, matrices.K, o), InputError);
  o.geometric = {{matrices.spun, GeometricLoad::force, {1, 0, 0}, "hand"}};
  EXPECT_THROW(make_element_body(matrices.M, matrices.K, o), InputError);
}

/// A push along the beam takes its stiffness away at Euler's load, π² E I/(4 L²).
TEST(ElementBody, ABeamBucklesAtEulersLoad) {
  const auto matrices = beam_elements::rods(kSection, 16);
  const FlexibleBody body = make_element_body(matrices.M, matrices.K, clamped(matrices, 10));
  const DenseMatrix Q = -node(body, "tip").shortening[0];
  const Vector inverse =
      Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix>(0.5 * (Q + Q.transpose()), body.stiffness).eigenvalues();
  const double euler = M_PI * M_PI * kSection.youngs_modulus * kSection.Iy / (4 * kSection.length * kSection.length);
  EXPECT_NEAR(1 / inverse[inverse.size() - 1], euler, 1e-3 * euler);
}

/// Bricks with three displacements per node: unit by their own frequency at rest.
TEST(ElementBody, ABeamOfBricksStiffens) {
  const auto matrices = beam_elements::bricks(2.0, 0.04, 0.02, 7e10, 2700, 40);
  ElementBodyOptions o;
  o.nodes = matrices.nodes;
  o.interfaces = {{"root", {0, 1, 2, 3}}, {"tip", {160, 161, 162, 163}}};
  o.held = {"root"};
  o.modes = 10;
  const BodyModel model = spinning(make_element_body(matrices.M, matrices.K, o));
  const Vector rest = frequencies_at(model, 0);
  const double flap = rest[0] / 3.516015;  // the thin side: along z
  EXPECT_NEAR(nearest(frequencies_at(model, 5 * flap), 6.449545 * flap) / flap, 6.449545, 1e-2);
  EXPECT_NEAR(nearest(frequencies_at(model, 12 * flap), 13.170150 * flap) / flap, 13.170150, 2e-2);
}

/// A crank, a rod, a slider: the rod as matrices and as a built-in beam.
Vector slider_crank(const FlexibleBody& flexible) {
  BodyModel model;
  RigidBody crank, rod, tip, slider;
  crank.name = "crank";
  crank.mass = 0.36;
  crank.center = {0.075, 0, 0};
  crank.inertia = Eigen::Vector3d(1e-5, 7e-4, 7e-4).asDiagonal();
  rod.name = "rod";
  rod.flexible = std::make_shared<const FlexibleBody>(flexible);
  tip.name = "rod.tip";
  tip.node_of = "rod";
  tip.node = "tip";
  slider.name = "slider";
  slider.mass = 0.075552;
  slider.inertia = Eigen::Vector3d(1e-5, 1e-5, 1e-5).asDiagonal();
  model.bodies = {crank, rod, tip, slider};
  Hinge main, pin, guide;
  main.name = "main";
  main.axes = {HingeAxis::rz};
  main.velocity_0 = {20};
  pin.name = "pin";
  pin.parent = 0;
  pin.child = 1;
  pin.position = {0.15, 0, 0};
  pin.axes = {HingeAxis::rz};
  pin.velocity_0 = {-30};
  guide.name = "guide";
  guide.child = 3;
  guide.position = {0.45, 0, 0};
  guide.axes = {HingeAxis::tx};
  model.hinges = {main, pin, guide};
  Loop wrist;  // at the angle that the tip of a rod at rest has; it turns with the node
  wrist.name = "wrist";
  wrist.body_a = 3;
  wrist.body_b = 2;
  wrist.axes = {HingeAxis::tz, HingeAxis::ball};
  model.loops = {wrist};
  const auto system = make_system(model);
  State start;
  start.q = start_positions(model);
  start.v = start_velocities(model);
  SimulationOptions options;
  options.scheme = SchemeKind::event;
  options.end_time = 0.1;
  options.tolerance = 1e-8;
  const Simulation run = simulate(*system, start, options);
  EXPECT_EQ(run.status, Status::success) << run.message;
  const FlexibleStation& end = node(flexible, "tip");
  const Vector eta = run.final.q.segment(2, flexible.modes());
  Vector result(5);
  result << run.final.q[0], run.final.q[1], run.final.q[2 + flexible.modes()], end.shift.row(1).dot(eta),
      end.turn.row(2).dot(eta);
  return result;
}

TEST(ElementBody, ASliderCrankMovesAsWithTheBuiltInRod) {
  const beam_elements::Section section{0.3, 2e11, 8e10, 7870, 6.4e-5, 3.413333e-10, 3.413333e-10};
  BeamOptions o;
  o.length = 0.3;
  o.youngs_modulus = 2e11;
  o.shear_modulus = 8e10;
  o.density = 7870;
  o.first = o.last = {6.4e-5, 3.413333e-10, 3.413333e-10, 0};
  o.elements = 12;
  o.modes = 4;
  const auto matrices = beam_elements::rods(section, 12);
  const Vector ours = slider_crank(make_element_body(matrices.M, matrices.K, clamped(matrices, 4))),
               beam = slider_crank(make_beam(o));
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(ours[k], beam[k], 1e-5) << k;
  for (int k = 3; k < 5; ++k) EXPECT_NEAR(ours[k], beam[k], 1e-3 * std::abs(beam[k])) << k;
  EXPECT_GT(std::abs(beam[3]), 1e-6);
}

/// Rotations without inertia of their own, as lumped elements have them, and a mass that hangs beside its node.
TEST(ElementBody, LumpedMassesWithoutRotationInertiaAndMassesBesideTheirNode) {
  auto matrices = beam_elements::rods(kSection, 12);
  std::vector<Eigen::Triplet<double>> mass;
  const double m = kSection.density * kSection.area * kSection.length / 12;
  for (int k = 0; k <= 12; ++k)
    for (int c = 0; c < 3; ++c) mass.emplace_back(6 * k + c, 6 * k + c, k == 0 || k == 12 ? m / 2 : m);
  for (int c = 0; c < 3; ++c) mass.emplace_back(72 + c, 72 + c, 0.7);  // 0.7 kg at (0, 0.1, 0) of the tip
  mass.emplace_back(72, 77, -0.07);
  mass.emplace_back(77, 72, -0.07);
  mass.emplace_back(74, 75, 0.07);
  mass.emplace_back(75, 74, 0.07);
  mass.emplace_back(75, 75, 0.007);
  mass.emplace_back(77, 77, 0.007);
  matrices.M = beam_elements::assembled(78, mass);
  const FlexibleBody body = make_element_body(matrices.M, matrices.K, clamped(matrices, 6));
  Eigen::Vector3d first = Eigen::Vector3d::Zero();
  for (const FlexibleStation& it : body.stations) first += it.mass * it.position;
  EXPECT_NEAR(body.mass(), 12 * m + 0.7, 1e-12);
  EXPECT_LT((first - Eigen::Vector3d(12 * m + 1.4, 0.07, 0)).norm(), 1e-12);
  // Against the built-in beam with a body welded to its tip.
  BodyModel ours = spinning(body), other = spinning(make_beam(built_in(6, 12)));
  RigidBody tip, lump;
  tip.name = "beam.tip";
  tip.node_of = "beam";
  tip.node = "tip";
  lump.name = "lump";
  lump.mass = 0.7;
  lump.center = {0, 0.1, 0};
  lump.inertia = 1e-9 * Eigen::Matrix3d::Identity();
  other.bodies.push_back(tip);
  other.bodies.push_back(lump);
  Hinge weld;
  weld.name = "weld";
  weld.parent = 1;
  weld.child = 2;
  other.hinges.push_back(weld);
  for (const double rate : {0.0, 20.0}) {
    const Vector a = frequencies_at(ours, rate), b = frequencies_at(other, rate);
    for (Index k = 0; k < 2; ++k) EXPECT_NEAR(a[k], b[k], 1e-2 * b[k]) << rate << " " << k;
  }
}

TEST(ElementBody, MatricesThatAreNoneOfABodyAreRefused) {
  auto matrices = beam_elements::rods(kSection, 4);
  const ElementBodyOptions o = clamped(matrices, 3);
  SparseMatrix swapped = matrices.M;  // rotations first
  std::vector<Eigen::Triplet<double>> entries;
  for (Index row = 0; row < matrices.M.outerSize(); ++row)
    for (SparseMatrix::InnerIterator it(matrices.M, row); it; ++it)
      entries.emplace_back(static_cast<int>(it.row() / 6 * 6 + (it.row() + 3) % 6),
                           static_cast<int>(it.col() / 6 * 6 + (it.col() + 3) % 6), it.value());
  swapped.setZero();
  swapped.setFromTriplets(entries.begin(), entries.end());
  EXPECT_THROW(make_element_body(swapped, matrices.K, o), InputError);
  ElementBodyOptions fewer = o;
  fewer.nodes.pop_back();
  EXPECT_THROW(make_element_body(matrices.M, matrices.K, fewer), InputError);
}

}  // namespace
}  // namespace stickslip::element_body_test
