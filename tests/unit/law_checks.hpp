// SPDX-License-Identifier: Apache-2.0
// Random inclusion problems with every kind of law, and the laws checked by their mechanical meaning.
#pragma once

#include <gtest/gtest.h>

#include "tests/unit/set_samples.hpp"
#include "tests/unit/solver_samples.hpp"

namespace stickslip::samples {

/// One law: r in C (definition), and maximal dissipation u·(y - r) >= 0 for members y of C at the same normal force; a
/// contact moreover r_N >= 0, u_N >= 0, r_N u_N = 0. `tolerance` is for r and u of order 1.
inline void expect_law(const Set& set, const Point& r, const Point& u, Engine& engine, double tolerance) {
  EXPECT_LE(violation(set, r), tolerance) << label(set);
  if (is_cone(set.kind)) {
    EXPECT_GE(u[0], -tolerance) << label(set);
    EXPECT_LE(std::abs(std::min(r[0], u[0])), tolerance) << label(set);
  }
  for (int trial = 0; trial < 30; ++trial) {
    Point y = member(set, engine, 10.0);
    if (is_cone(set.kind)) {
      y = section_member(set, engine);
      for (double& t : y) t *= r[0];
      y.insert(y.begin(), r[0]);
    }
    double work = 0;
    for (std::size_t c = is_cone(set.kind) ? 1 : 0; c < y.size(); ++c) work += u[c] * (y[c] - r[c]);
    EXPECT_GE(work, -10 * tolerance * (1 + norm(u)) * (1 + norm(y))) << label(set);
  }
}

inline void expect_laws(const std::vector<Set>& sets, const Vector& r, const Vector& u, Engine& engine,
                        double tolerance) {
  ASSERT_TRUE(r.allFinite() && u.allFinite());
  Index first = 0;
  for (const Set& set : sets) {
    expect_law(set, Point(r.data() + first, r.data() + first + set.size),
               Point(u.data() + first, u.data() + first + set.size), engine, tolerance);
    first += set.size;
  }
}

enum class Kinds { planar, all };

/// Laws without shift for Kinds::planar; contact cones among them for Kinds::all.
inline std::vector<Set> random_laws(Engine& engine, int laws, Kinds kinds) {
  std::vector<Set> sets;
  for (int k = 0; k < laws; ++k) {
    const double c = draw(engine, 0.2, 1.5), mu = draw(engine, 0.1, 0.5);
    const int facets = 4 + 2 * static_cast<int>(engine() % 4);
    switch (engine() % (kinds == Kinds::planar ? 6 : 10)) {
      case 0:
        sets.push_back(line_set());
        break;
      case 1:
        sets.push_back(half_line_set());
        break;
      case 2:
        sets.push_back(interval_set(c));
        break;
      case 3:
        sets.push_back(disk_set(c));
        break;
      case 4:
        sets.push_back(polygon_set(c, facets));
        break;
      case 5:
        sets.push_back(box_set(c));
        break;
      case 6:
        sets.push_back(friction_cone_set(mu, 2));
        break;
      case 7:
        sets.push_back(friction_cone_set(mu, 3));
        break;
      case 8:
        sets.push_back(polygonal_cone_set(mu, facets));
        break;
      default:
        sets.push_back(box_cone_set(mu));
    }
  }
  return sets;
}

/// D symmetric positive definite with weak coupling, where contact with friction below 0.5 has one solution.
inline DualProblem random_problem(Engine& engine, int laws, Kinds kinds) {
  std::vector<Set> sets = random_laws(engine, laws, kinds);
  const Index m = reaction_size(sets);
  DenseMatrix D = kinds == Kinds::planar ? random_spd(engine, m)
                                         : DenseMatrix(0.2 * random_spd(engine, m) + DenseMatrix::Identity(m, m));
  return {std::move(D), random_vector(engine, m, 2.0), std::move(sets)};
}

}  // namespace stickslip::samples
