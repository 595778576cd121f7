// SPDX-License-Identifier: Apache-2.0
// Sections of friction cones: projection in a metric against its definition.
#include "stickslip/laws/friction_section.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "stickslip/common/error.hpp"

namespace stickslip::friction_section_test {
namespace {

using Kind = SectionPiece::Kind;

/// (y - l)ᵀ G (l - z) >= 0 for every y of the set: l is the projection of z, and nothing else is. Checked at the
/// corners, or along the rim; relative to the terms.
double worst_angle(const FrictionSection& section, double rho, const Metric& G, const PlaneForce& z,
                   const PlaneForce& l) {
  const double d1 = l[0] - z[0], d2 = l[1] - z[1];
  const double g1 = G.g11 * d1 + G.g12 * d2, g2 = G.g12 * d1 + G.g22 * d2;
  const double size = std::hypot(g1, g2) * (rho + std::hypot(z[0], z[1])) + 1e-300;
  double worst = 0;
  const auto look = [&](double y1, double y2) {
    worst = std::min(worst, ((y1 - l[0]) * g1 + (y2 - l[1]) * g2) / size);
  };
  for (int k = 0; k < section.facets(); ++k) look(rho * section.vertex(k)[0], rho * section.vertex(k)[1]);
  for (int k = 0; section.round() && k < 720; ++k)
    look(rho * std::cos(std::numbers::pi * k / 360), rho * std::sin(std::numbers::pi * k / 360));
  return worst;
}

std::vector<FrictionSection> samples() {
  const std::vector<PlaneForce> skew{{1, 0}, {0.3, 2}, {-1.5, 0.2}, {-0.1, -1}, {0.2, 0.1}};
  return {FrictionSection(),
          FrictionSection::box(),
          FrictionSection::regular(3, true, 0.4),
          FrictionSection::regular(8, false, 0),
          FrictionSection::regular(64, true, 0.1),
          FrictionSection::from_rows(skew)};
}

TEST(FrictionSection, CheckValueInAMetricThatIsNotRound) {
  // C_T = [20 5; 5 30], metric C_T⁻¹; the reference has 14 digits.
  const double det = 20 * 30 - 25;
  const Metric G{30 / det, -5 / det, 20 / det};
  PlaneForce l{};
  const SectionPiece piece = FrictionSection().project(2.943, G, {-40, -20}, l);
  EXPECT_EQ(piece.kind, Kind::rim);
  EXPECT_NEAR(l[0], -2.88604198746395, 1e-12);
  EXPECT_NEAR(l[1], -0.57620365027927, 1e-12);
  EXPECT_NEAR(piece.nu, 0.612422774432469, 1e-12);
}

TEST(FrictionSection, ProjectionIsTheNearestPointInTheMetric) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(-3, 3);
  for (const FrictionSection& section : samples())
    for (int k = 0; k < 2000; ++k) {
      const double a = number(random), b = number(random), c = number(random);
      const Metric G{a * a + b * b + 0.01, b * c, c * c + 0.01};
      const double rho = std::abs(number(random));
      const PlaneForce z{number(random), number(random)};
      PlaneForce l{};
      const SectionPiece piece = section.project(rho, G, z, l);
      EXPECT_LE(section.excess(rho, l), 1e-13 * rho);
      EXPECT_GE(worst_angle(section, rho, G, z, l), -1e-10);
      if (piece.kind == Kind::inside) {
        EXPECT_EQ(l, z);
      }
    }
}

TEST(FrictionSection, PieceOfAnEmptyConeIsThatOfASmallOne) {
  for (const FrictionSection& section : samples()) {
    PlaneForce l{1, 1};
    const PlaneForce z{0.7, -0.4};
    const Metric G{2, 0.3, 1};
    const SectionPiece at_zero = section.project(0, G, z, l);
    EXPECT_EQ(l, (PlaneForce{0, 0}));
    PlaneForce small{};
    const SectionPiece near = section.project(1e-9, G, z, small);
    if (near.kind != Kind::facet) {
      EXPECT_EQ(at_zero.kind, near.kind);
    }
  }
}

TEST(FrictionSection, CircumscribedSquareIsTheBox) {
  const FrictionSection square = FrictionSection::regular(4, true, 0), box = FrictionSection::box();
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-2, 2);
  for (int k = 0; k < 500; ++k) {
    const PlaneForce z{number(random), number(random)};
    PlaneForce a{}, b{};
    square.project(0.8, {}, z, a);
    box.project(0.8, {}, z, b);
    EXPECT_EQ(a, b);
    EXPECT_NEAR(a[0], std::clamp(z[0], -0.8, 0.8), 1e-15);
    EXPECT_NEAR(a[1], std::clamp(z[1], -0.8, 0.8), 1e-15);
  }
}

TEST(FrictionSection, InscribedPolygonsLieInTheDiskAndCircumscribedOnesAroundIt) {
  for (const int n : {3, 4, 5, 8, 31}) {
    const FrictionSection in = FrictionSection::regular(n, false, 0.2), out = FrictionSection::regular(n, true, 0.2);
    for (int k = 0; k < n; ++k) {
      EXPECT_NEAR(std::hypot(in.vertex(k)[0], in.vertex(k)[1]), 1, 1e-14);
      EXPECT_NEAR(std::hypot(out.row(k)[0], out.row(k)[1]), 1, 1e-14);
      EXPECT_GT(std::hypot(out.vertex(k)[0], out.vertex(k)[1]), 1);
    }
  }
}

TEST(FrictionSection, RowsThatBoundNothingAreLeftOutAndOpenPolygonsRefused) {
  const std::vector<PlaneForce> rows{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {0.4, 0.4}};
  EXPECT_EQ(FrictionSection::from_rows(rows).facets(), 4);
  EXPECT_THROW(FrictionSection::from_rows(std::vector<PlaneForce>{{1, 0}, {0, 1}, {0, -1}}), InputError);
  EXPECT_THROW(FrictionSection::from_rows(std::vector<PlaneForce>{{1, 0}, {-1, 0}}), InputError);
  EXPECT_THROW(FrictionSection::from_rows(std::vector<PlaneForce>{{1, 0}, {0, 0}, {-1, 1}, {-1, -1}}), InputError);
  EXPECT_THROW(FrictionSection::regular(2, true, 0), InputError);
  EXPECT_THROW(FrictionSection::from_rows({}), InputError);
  EXPECT_EQ(FrictionSection::regular(8, true, 1e17).facets(), 8);  // far turns are turns
}

}  // namespace
}  // namespace stickslip::friction_section_test
