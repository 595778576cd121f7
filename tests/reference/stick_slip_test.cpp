// SPDX-License-Identifier: Apache-2.0
// Cases 1-4 of paper 2 against the 40-digit numbers of its sheet (sections 4.1-4.4).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tests/support/two_hinges.hpp"

namespace stickslip::stick_slip_test {
namespace {

struct Row {
  double t, y1, y2, v1, v2;
};
constexpr std::array<Row, 4> kCase1{
    {{5, -0.06217281364368838, -0.3045670576354806, 0.80376040750853, 0.2982085386588},
     {10, -0.6640329494855691, -0.5853336060393997, -0.25438831425403, -0.29046808303636},
     {15, 0.6531956620498427, 0.05348737984979909, -0.50292776682665, -0.49034070947032},
     {20, 0.6694975942305495, 0.0756819906887076, 0.75484882196078, 0.032189798017244}}};
constexpr std::array<Row, 4> kCase2{
    {{5, -0.1092406479367021, -0.2330207170851895, 0.71301251136713, 0.23553201492802},
     {10, -0.5055813757198812, -0.4212466409148772, -0.13143794735659, -0.28677253633085},
     {15, 0.4357821666748532, 0.03328606915029226, -0.2576586978998, -0.40963876173632},
     {20, 0.3047925192378028, 0.0183561406937687, 0.43470541692352, -0.011296825609562}}};
constexpr std::array<Row, 4> kCase3{
    {{5, -0.1636676492744145, -0.1563185835024484, 0.65881954595823, 0.25654990678949},
     {10, -0.4948607417781269, -0.227989250414767, -0.22537556785678, -0.11121984407452},
     {15, 0.2652556100152082, 0.1706691986244067, -0.30459038757371, -0.064599723683464},
     {20, 0.1017535125630469, 0.06005634710031071, 0.17470593151096, 0.10103664037316}}};
constexpr std::array<Row, 4> kCase4{{{5, 0.1911128576437423, 0.2, 0.81508563346367, 0},
                                     {10, -0.5953964938996941, 0.2, 0.35361372207809, 0},
                                     {15, -0.3678283520723517, 0.2, -0.35765831208641, 0},
                                     {20, 0.1928287216346872, 0.2, -0.31953083775467, 0}}};
// events of hinge 1, case 2
constexpr double kEvents2[] = {
    3.646306024228672, 7.272701275736272, 10.82639254880188, 13.43383390377070, 14.23255728470925, 14.28399692455317,
    16.97725912891616, 20.58240102544508, 24.20967228129045, 27.84514508787387, 31.47929249640130, 35.09842910410113,
    35.81149831128309, 36.00671056026435, 38.66225009571365, 40.27291019628482, 42.17066645977711};
struct NamedEvent {
  double t;
  int law;
  EventKind kind;
};
constexpr NamedEvent kEvents3[] = {
    {0.9654250675399462, 1, EventKind::reversal}, {2.892276832329131, 1, EventKind::reversal},
    {3.567458798316729, 0, EventKind::reversal},  {6.677096117216971, 1, EventKind::reversal},
    {7.003200504973077, 0, EventKind::reversal},  {10.42765207791473, 1, EventKind::stick},
    {10.48259775541568, 0, EventKind::reversal},  {10.48259775541568, 1, EventKind::slip},
    {13.69568084247438, 1, EventKind::stick},     {13.98623831723675, 0, EventKind::reversal},
    {14.43384623531305, 1, EventKind::slip},      {16.99188622317126, 1, EventKind::stick},
    {17.49942440265247, 0, EventKind::reversal},  {17.90527731249294, 1, EventKind::slip},
    {20.50975163645166, 1, EventKind::stick},     {21.01212782491315, 0, EventKind::reversal},
    {21.82096922979082, 1, EventKind::slip},      {24.06735707738626, 1, EventKind::stick},
    {24.51348057701436, 0, EventKind::reversal},  {25.91796479332789, 1, EventKind::slip},
    {27.84753142860285, 1, EventKind::stick},     {27.87531685795770, 0, EventKind::stick}};

Simulation run(double limit1, double limit2, double end_time, FlowKind flow = FlowKind::exact) {
  SimulationOptions options;
  options.scheme = SchemeKind::event;
  options.end_time = end_time;
  options.output_step = 5;
  options.event.flow = flow;
  options.tolerance = 1e-12;
  return simulate(*two_hinges::system(limit1, limit2), two_hinges::initial(), options);
}

template <std::size_t N>
void expect_rows(const Simulation& s, const std::array<Row, N>& rows, double position, double velocity) {
  ASSERT_EQ(s.status, Status::success) << s.message;
  for (const Row& row : rows) {
    Index k = 0;
    while (k < s.trajectory.rows() && std::abs(s.trajectory.t(k) - row.t) > 1e-9) ++k;
    ASSERT_LT(k, s.trajectory.rows());
    EXPECT_NEAR(s.trajectory.q(k, 0), row.y1, position) << "t = " << row.t;
    EXPECT_NEAR(s.trajectory.q(k, 1), row.y2, position) << "t = " << row.t;
    EXPECT_NEAR(s.trajectory.v(k, 0), row.v1, velocity) << "t = " << row.t;
    EXPECT_NEAR(s.trajectory.v(k, 1), row.v2, velocity) << "t = " << row.t;
  }
}

// The sheet asks for 1e-11; its own double-precision runs agree to 6e-14 (velocities are printed to 14 digits).
constexpr double kExact = 1e-13, kExactTime = 1e-12, kIntegrated = 1e-9;

TEST(StickSlipCases, WithoutFrictionTwoModesBeat) {
  expect_rows(run(0, 0, 20), kCase1, kExact, kExact);
  expect_rows(run(0, 0, 20, FlowKind::integrator), kCase1, kIntegrated, kIntegrated);
}

TEST(StickSlipCases, OneHingeWithFrictionSticksForEverWhileTheOtherRings) {
  const Simulation s = run(0.1, 0, 60);
  expect_rows(s, kCase2, kExact, kExact);
  ASSERT_EQ(s.trajectory.events.size(), std::size(kEvents2));
  for (std::size_t k = 0; k < std::size(kEvents2); ++k) EXPECT_NEAR(s.trajectory.events[k].t, kEvents2[k], kExactTime);
  EXPECT_EQ(s.trajectory.events.back().kind, EventKind::stick);
  EXPECT_NEAR(s.final.q[0], 0.01949797570835918, kExact);
  const double amplitude = std::hypot(s.final.q[1], s.final.v[1] / std::sqrt(2.5));
  EXPECT_NEAR(amplitude, 0.006657447460251583, kExact);
  expect_rows(run(0.1, 0, 20, FlowKind::integrator), kCase2, kIntegrated, kIntegrated);
}

TEST(StickSlipCases, BothHingesWithFrictionComeToRest) {
  for (const FlowKind flow : {FlowKind::exact, FlowKind::integrator}) {
    const bool exact = flow == FlowKind::exact;
    const Simulation s = run(0.1, 0.1, 30, flow);
    expect_rows(s, kCase3, exact ? kExact : kIntegrated, exact ? kExact : kIntegrated);
    ASSERT_EQ(s.trajectory.events.size(), std::size(kEvents3));
    for (std::size_t k = 0; k < std::size(kEvents3); ++k) {
      EXPECT_NEAR(s.trajectory.events[k].t, kEvents3[k].t, exact ? kExactTime : kIntegrated) << "event " << k;
      EXPECT_EQ(s.trajectory.events[k].law, kEvents3[k].law) << "event " << k;
      EXPECT_EQ(s.trajectory.events[k].kind, kEvents3[k].kind) << "event " << k;
    }
    EXPECT_EQ(s.final.v[0], 0.0);
    EXPECT_EQ(s.final.v[1], 0.0);
    EXPECT_EQ(s.final.modes, (std::vector{Mode::stick, Mode::stick}));
  }
}

TEST(StickSlipCases, AHingeLockedByFrictionLeavesLinearDecay) {
  for (const FlowKind flow : {FlowKind::exact, FlowKind::integrator}) {
    const double tolerance = flow == FlowKind::exact ? kExact : kIntegrated;
    const Simulation s = run(0.1, 8000, 35, flow);
    expect_rows(s, kCase4, tolerance, tolerance);
    // Turning points (-1)^n (1 - n/10) at n π; at 10 π hinge 1 stops at 0 with its spring unloaded.
    ASSERT_EQ(s.trajectory.events.size(), 10u);
    for (std::size_t n = 1; n <= 10; ++n)
      EXPECT_NEAR(s.trajectory.events[n - 1].t, static_cast<double>(n) * std::numbers::pi,
                  flow == FlowKind::exact ? kExactTime : kIntegrated);
    EXPECT_NEAR(s.final.q[0], 0, tolerance);
    EXPECT_EQ(s.final.q[1], 0.2);
  }
}

}  // namespace
}  // namespace stickslip::stick_slip_test
