// SPDX-License-Identifier: Apache-2.0
// Numbers of a harmonic-balance peer with the same discretisation, and what lies beyond it.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <map>

#include "stickslip/continuation/further_solutions.hpp"
#include "stickslip/continuation/path_following.hpp"
#include "stickslip/periodic/fourier_basis.hpp"
#include "stickslip/periodic/residual_newton.hpp"
#include "stickslip/periodic/weighted_residual.hpp"
#include "tests/support/harmonic_balance_peer.hpp"

namespace stickslip::periodic_peer_test {
namespace {

/// The weighted residual over the frequency of the excitation. Unknowns in units of the model, whatever scales it has
/// at a frequency.
class FrequencyPath final : public PathProblem {
 public:
  FrequencyPath(int harmonics, int samples) : harmonics_(harmonics), samples_(samples) {}
  Index size() const override { return 2 * harmonics_ + 1; }
  bool residual(const Vector& x, double s, Vector& F) override { return evaluate(x, s, F, nullptr); }
  bool jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) override {
    Vector F, plus, minus;
    const double delta = 1e-6;
    if (!evaluate(x, s + delta, plus, nullptr) || !evaluate(x, s - delta, minus, nullptr)) return false;
    by_s = (plus - minus) / (2 * delta);
    return evaluate(x, s, F, &by_x);
  }
  std::unique_ptr<WeightedResidual> problem(double omega) {
    PeriodicOptions options;
    options.period = 2 * M_PI / omega;
    options.harmonics = harmonics_;
    options.samples = samples_;
    system_ = two_masses_with_stop(omega);
    return std::make_unique<WeightedResidual>(*system_, options, 0, Vector::Zero(2));
  }
  Orbit orbit(const Vector& x, double omega) {
    const auto weighted = problem(omega);
    return weighted->orbit(x / weighted->displacement_scale()[0]);
  }

 private:
  bool evaluate(const Vector& x, double s, Vector& F, DenseMatrix* J) {
    const auto weighted = problem(s);
    const double length = weighted->displacement_scale()[0];
    if (!weighted->evaluate(x / length, 0, F, J)) return false;
    F *= weighted->force_scale()[0];
    if (J) *J *= weighted->force_scale()[0] / length;
    return true;
  }
  int harmonics_, samples_;
  std::unique_ptr<System> system_;
};

/// Amplitude of the fundamental.
double fundamental(const Orbit& orbit, Index i) {
  double c = 0, s = 0;
  const auto N = static_cast<double>(orbit.t.size());
  for (std::size_t j = 0; j < orbit.t.size(); ++j) {
    const double angle = 2 * M_PI * static_cast<double>(j) / N;
    c += 2 / N * orbit.q[j][i] * std::cos(angle);
    s += 2 / N * orbit.q[j][i] * std::sin(angle);
  }
  return std::hypot(c, s);
}

TEST(PeriodicPeer, WholeBranchOfTheUnilateralSpringToFiveDigits) {
  FrequencyPath problem(21, 1024);
  PathOptions options;
  options.from = 0.8;
  options.to = 0.5;
  options.lowest = 0.5;
  options.highest = 0.9;
  options.step = 0.0085;
  options.tolerance = 1e-12;
  options.max_corrections = 15;
  options.largest_turn = 0.7;
  const Path path = follow_path(problem, Vector::Zero(43), options);
  EXPECT_EQ(path.status, Status::success) << path.message;
  ASSERT_FALSE(path.points.empty());
  EXPECT_EQ(path.points.back().s, 0.5);  // the peer stops at 0.58064

  std::vector<double> folds;
  for (const SpecialPoint& special : path.special)
    if (special.kind == SpecialPoint::Kind::fold) folds.push_back(special.point.s);
  // The peer's steps come to 0.655012 and 0.755638. Each sample that touches the stop makes a kink, and a few of them,
  // near the upper fold, bends that turn back by some 1e-5.
  ASSERT_GE(folds.size(), 2u);
  EXPECT_LT(folds[0], 0.655012);
  EXPECT_GT(folds[0], 0.652);
  EXPECT_NEAR(*std::max_element(folds.begin(), folds.end()), 0.755638, 1e-4);
  EXPECT_LE(folds.size(), 8u);  // tangents at the kinks change their sign sixteen times

  struct Row {
    double omega;
    std::vector<double> a2, x1;  ///< in the order of the path: low, middle, high
  };
  const std::vector<Row> table{
      {0.75, {0.11786862, 0.79745363, 0}, {0.26912650, 1.05251171, 0}},  // the high one is no solution of the peer
      {0.70, {0.22134025, 0.62027806, 0.77922049}, {0.43372862, 1.02119984, 1.04878106}},
      {0.68, {0.30874179, 0.59384401, 0.73741906}, {0.57400286, 1.01248586, 1.03999577}},
      {0.67, {0.37724189, 0.58451516, 0.72065528}, {0.68420858, 1.00825829, 1.03586812}},
      {0.66, {0.47761181, 0.57734054, 0.70617887}, {0.84587473, 1.00389412, 1.03184931}},
      {0.65, {0.69376537}, {1.02795151}},
      {0.64, {0.68326575}, {1.02410622}},
      {0.635, {0.67870526}, {1.02219391}},
      {0.62, {0.66776895}, {1.01649433}},
      {0.60, {0.66006974}, {1.00870546}}};
  for (const Row& row : table) {
    std::size_t found = 0;
    for (std::size_t k = 1; k < path.points.size(); ++k) {
      const PathPoint &a = path.points[k - 1], &b = path.points[k];
      if ((a.s - row.omega) * (b.s - row.omega) > 0 || a.s == row.omega) continue;
      const double w = (row.omega - a.s) / (b.s - a.s);
      Vector x = (1 - w) * a.x + w * b.x;
      ASSERT_TRUE(solve_at(problem, row.omega, options, x)) << row.omega;
      ASSERT_LT(found, row.a2.size()) << row.omega;
      const Orbit orbit = problem.orbit(x, row.omega);
      if (row.a2[found] > 0) {
        EXPECT_NEAR(fundamental(orbit, 1), row.a2[found], 1e-5 * row.a2[found]) << row.omega << " " << found;
        EXPECT_NEAR(orbit.maximum[0], row.x1[found], 1e-5 * row.x1[found]) << row.omega << " " << found;
      }
      ++found;
    }
    EXPECT_EQ(found, row.a2.size()) << row.omega;
  }
}

TEST(PeriodicPeer, AllThreeMotionsAreFoundFromTheOneThatDoesNotTouch) {
  FrequencyPath problem(21, 256);
  PathOptions options;
  options.tolerance = 1e-11;
  options.max_corrections = 15;
  const double omega = 0.7, near = 1e-3;  // of fewer samples than the peer's
  Vector low = Vector::Zero(43);
  ASSERT_TRUE(solve_at(problem, omega, options, low));
  std::vector<Vector> known{low};
  const auto three = [&](const Vector&) { return known.size() < 3; };
  find_further_solutions(problem, omega, options, {2 * low, 4 * low, -2 * low}, known, three);
  ASSERT_EQ(known.size(), 3u);
  std::sort(known.begin(), known.end(), [&](const Vector& a, const Vector& b) {
    return fundamental(problem.orbit(a, omega), 1) < fundamental(problem.orbit(b, omega), 1);
  });
  EXPECT_NEAR(fundamental(problem.orbit(known[1], omega), 1), 0.62027806, near);
  EXPECT_NEAR(fundamental(problem.orbit(known[2], omega), 1), 0.77922049, near);
  // Where the two outer ones are known, the unstable one between them is found.
  std::vector<Vector> outer{known[0], known[2]};
  known = outer;
  find_further_solutions(problem, omega, options, {}, known, three);
  ASSERT_EQ(known.size(), 3u);
  EXPECT_NEAR(fundamental(problem.orbit(known[2], omega), 1), 0.62027806, near);
}

TEST(PeriodicPeer, WithoutTouchingTheResponseIsThatOfTheLinearSystem) {
  FrequencyPath problem(21, 1024);
  for (const double omega : {0.8, 0.75, 0.7}) {
    Vector x = Vector::Zero(43);
    PathOptions options;
    options.tolerance = 1e-13;
    ASSERT_TRUE(solve_at(problem, omega, options, x));
    using Complex = std::complex<double>;
    Eigen::Matrix2cd Z;
    const Complex s = 1.0 + Complex(0, 0.03 * omega);
    Z << s - omega * omega, -s, -s, 2.0 * s - omega * omega;
    const Eigen::Vector2cd exact = Z.inverse() * Eigen::Vector2cd(0, 0.1);
    EXPECT_NEAR(fundamental(problem.orbit(x, omega), 1), std::abs(exact[1]), 1e-12);
  }
}

/// The peer's RMS: all coefficients alike, the mean among them.
double peer_rms(const Orbit& orbit, Index i, int harmonics) {
  const FourierBasis basis(harmonics, static_cast<int>(orbit.t.size()));
  Vector samples(static_cast<Index>(orbit.t.size())), coefficients(2 * harmonics + 1);
  for (Index j = 0; j < samples.size(); ++j) samples[j] = orbit.q[static_cast<std::size_t>(j)][i];
  basis.fit(BasisField::displacement, samples, coefficients);
  return coefficients.norm() / std::sqrt(2.0);
}

PeriodicOptions beam_options(double omega, int harmonics, int samples) {
  PeriodicOptions options;
  options.period = 2 * M_PI / omega;
  options.harmonics = harmonics;
  options.samples = samples;
  options.tolerance = 1e-11;
  return options;
}

TEST(PeriodicPeer, BeamWithRegularisedFrictionToTenDigits) {
  const Beam beam = clamped_beam(8, 2, 0.1, 0.3, 185e9, 7830);
  EXPECT_NEAR(beam.M(0, 0), 43.624286, 1e-6);
  EXPECT_NEAR(beam.K(0, 0), 7.104e9, 1e4);
  // Of the peer, whose solver stops up to 8e-5 away.
  const std::vector<std::pair<double, double>> table{
      {370, 2.18558543e-08}, {340, 3.01730960e-08}, {310, 4.33870193e-08}, {280, 5.13527128e-08}, {250, 5.61816238e-08},
      {220, 6.26515648e-08}, {200, 6.66773760e-08}, {195, 6.7153264e-08},  {190, 6.68840298e-08}, {170, 5.49386317e-08},
      {150, 4.65982172e-08}, {130, 4.13471976e-08}, {110, 3.79976443e-08}};
  // The same equations solved to 1e-15 by a program of its own (dense finite elements, differences for slopes).
  const std::map<double, double> independent{{340, 3.017308119495e-08},
                                             {310, 4.338355042149e-08},
                                             {200, 6.667497897919e-08},
                                             {195, 6.714992286692e-08},
                                             {110, 3.799827037680e-08}};
  std::size_t row = 0;
  Vector x;  // coefficients of the displacement
  for (int k = 0; k <= 52; ++k) {
    const double omega = 370 - 5 * k;
    const auto system = beam_with_friction(omega, 6e-7);
    WeightedResidual problem(*system, beam_options(omega, 7, 128), 0, Vector::Zero(16));
    ASSERT_EQ(problem.unknowns(), 15);  // of 240: the linear coordinates are condensed
    const Vector start = k == 0 ? problem.linear_start() : Vector(x / problem.displacement_scale()[0]);
    const ResidualSolution solution = solve_residual(problem, start, {.tolerance = 1e-11, .homotopy = false});
    ASSERT_EQ(solution.status, Status::success) << omega << " " << solution.message;
    x = solution.X * problem.displacement_scale()[0];
    if (omega != table[row].first) continue;
    const double rms = table[row++].second;
    const double ours = peer_rms(problem.orbit(solution.X), 14, 7);
    EXPECT_NEAR(ours, rms, 1e-4 * rms) << omega;
    if (const auto exact = independent.find(omega); exact != independent.end()) {
      EXPECT_NEAR(ours, exact->second, 1e-10 * exact->second) << omega;
    }
  }
  EXPECT_EQ(row, table.size());
}

TEST(PeriodicPeer, BeamWithFrictionItselfIsTheLimitOfTheRegularisedOne) {
  // Set-valued friction against ever narrower tanh, each with enough harmonics; then the friction does work as it
  // should.
  const double omega = 195;
  const auto exact = beam_with_friction(omega, 0);
  WeightedResidual problem(*exact, beam_options(omega, 41, 0), 0, Vector::Zero(16));
  const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {.tolerance = 1e-9});
  ASSERT_EQ(solution.status, Status::success) << solution.message;
  const Orbit orbit = problem.orbit(solution.X);
  EXPECT_LT(orbit.friction_work[0], 0);
  const double rms = peer_rms(orbit, 14, 41);
  double before = HUGE_VAL;
  Vector X;
  for (const double width : {6e-7, 2e-7, 7e-8}) {
    const auto system = beam_with_friction(omega, width);
    WeightedResidual smooth(*system, beam_options(omega, 41, 0), 0, Vector::Zero(16));
    const ResidualSolution found =
        solve_residual(smooth, X.size() ? X : smooth.linear_start(), {.tolerance = 1e-9, .homotopy = false});
    ASSERT_EQ(found.status, Status::success) << width << " " << found.message;
    X = found.X;
    const double distance = std::abs(peer_rms(smooth.orbit(X), 14, 41) - rms) / rms;
    EXPECT_LT(distance, 0.7 * before) << width;
    before = distance;
  }
  EXPECT_LT(before, 0.02);
}

}  // namespace
}  // namespace stickslip::periodic_peer_test
