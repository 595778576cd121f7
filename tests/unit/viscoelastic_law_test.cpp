// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/viscoelastic_law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace stickslip::viscoelastic_law_test {
namespace {

struct Sample {
  ViscoelasticLaw law;
  double limit = 0, zeta[2]{}, u[2]{};
};

Sample random_sample(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1), exponent(-2, 4);
  Sample s;
  s.law.K = std::pow(10, exponent(random));
  s.law.D = std::pow(10, exponent(random));
  s.law.size = uniform(random) > 0 ? 2 : 1;
  s.limit = std::pow(10, 0.5 * exponent(random));
  // ζ of a motion that began inside the set never leaves it
  const double radius = s.limit * std::abs(uniform(random)), angle = 3 * uniform(random);
  s.zeta[0] = s.law.size == 1 ? std::copysign(radius, uniform(random)) : radius * std::cos(angle);
  s.zeta[1] = s.law.size == 1 ? 0 : radius * std::sin(angle);
  for (int i = 0; i < s.law.size; ++i) s.u[i] = 3 * s.limit / s.law.D * uniform(random);
  return s;
}

TEST(ViscoelasticLaw, WithoutALimitItIsASpringAndADamper) {
  const double zeta = 3, u = -2;
  const ViscoelasticForce force = viscoelastic_force({.K = 5, .D = 0.5, .size = 1}, kNoLimit, &zeta, &u);
  EXPECT_EQ(force.force[0], 2);
  EXPECT_EQ(force.rate[0], -10);
  EXPECT_FALSE(force.slips);
}

TEST(ViscoelasticLaw, ForceStaysInItsSetAndNeverMakesEnergy) {
  std::mt19937 random(4);
  int slipping = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Sample s = random_sample(random);
    const ViscoelasticForce f = viscoelastic_force(s.law, s.limit, s.zeta, s.u);
    slipping += f.slips;
    EXPECT_LE(std::hypot(f.force[0], f.force[1]), s.limit * (1 + 1e-14));
    double damper = 0, friction = 0, scale = 0;
    for (int i = 0; i < s.law.size; ++i) {
      const double z_rate = f.rate[i] / s.law.K;
      damper += (f.force[i] - s.zeta[i]) * z_rate;
      friction += f.force[i] * (s.u[i] - z_rate);
      scale += std::abs(f.force[i] * s.u[i]) + std::abs(s.zeta[i] * z_rate);
    }
    EXPECT_GE(damper, -1e-13 * scale);
    EXPECT_GE(friction, -1e-13 * scale);  // slip is along the force
    if (!f.slips) {
      EXPECT_NEAR(friction, 0, 1e-13 * scale);
    }
  }
  EXPECT_GT(slipping, 2000);
  EXPECT_LT(slipping, 18000);
}

TEST(ViscoelasticLaw, SlopesAreThoseOfTheForce) {
  std::mt19937 random(44);
  int checked = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Sample s = random_sample(random);
    double size = 0;
    for (int i = 0; i < s.law.size; ++i) size = std::hypot(size, s.zeta[i] + s.law.D * s.u[i]);
    if (std::abs(size - s.limit) < 1e-3 * s.limit) continue;  // there the law has a kink
    ++checked;
    const ViscoelasticSlopes slopes = viscoelastic_slopes(s.law, s.limit, s.zeta, s.u);
    const double h = 1e-6 * s.limit;
    for (int j = 0; j < s.law.size; ++j) {
      double up[2]{s.zeta[0], s.zeta[1]}, down[2]{s.zeta[0], s.zeta[1]};
      up[j] += h;
      down[j] -= h;
      const auto a = viscoelastic_force(s.law, s.limit, up, s.u), b = viscoelastic_force(s.law, s.limit, down, s.u);
      for (int i = 0; i < s.law.size; ++i)  // central differences: h² relative, round-off over h
        EXPECT_NEAR((a.force[i] - b.force[i]) / (2 * h), slopes.by_s[static_cast<std::size_t>(2 * i + j)], 1e-8);
    }
    const auto a = viscoelastic_force(s.law, s.limit + h, s.zeta, s.u),
               b = viscoelastic_force(s.law, s.limit - h, s.zeta, s.u);
    for (int i = 0; i < s.law.size; ++i)
      EXPECT_NEAR((a.force[i] - b.force[i]) / (2 * h), slopes.by_limit[static_cast<std::size_t>(i)], 1e-8);
  }
  EXPECT_GT(checked, 2500);
}

}  // namespace
}  // namespace stickslip::viscoelastic_law_test
