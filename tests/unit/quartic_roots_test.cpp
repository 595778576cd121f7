// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/quartic_roots.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace stickslip::quartic_roots_test {
namespace {

Quartic with_roots(std::initializer_list<double> roots, double factor) {
  Quartic p{factor};
  for (const double root : roots) p = product(p, {-root, 1});
  return p;
}

double distance(const RootList& found, double root) {
  double nearest = HUGE_VAL;
  for (int k = 0; k < found.count; ++k) nearest = std::min(nearest, std::abs(found.at[k] - root));
  return nearest;
}

TEST(QuarticRoots, AreFoundOnBothSidesOfTheScaleAndWhateverTheFactor) {
  for (const double factor : {1.0, -1e-200, 1e200}) {
    RootList found;
    positive_roots(with_roots({-2, 0.125, 0.5, 64}, factor), 1, found);
    for (const double root : {0.125, 0.5, 64.0}) EXPECT_LE(distance(found, root), 1e-13 * root) << factor;
  }
}

TEST(QuarticRoots, DoubleOnesAreAmongThoseOfTheDerivative) {
  RootList found;
  positive_roots(with_roots({0.25, 0.25, 3, 3}, 1), 1, found);
  // The derivative has simple roots there.
  EXPECT_LE(distance(found, 0.25), 1e-14);
  EXPECT_LE(distance(found, 3), 1e-13);
}

TEST(QuarticRoots, OfALineAndOfNothing) {
  RootList found;
  positive_roots({-3, 2}, 1, found);
  EXPECT_LE(distance(found, 1.5), 1e-15);
  positive_roots({}, 1, found);  // every number is a root; none is not finite
  for (int k = 0; k < found.count; ++k) EXPECT_TRUE(std::isfinite(found.at[k]));
}

}  // namespace
}  // namespace stickslip::quartic_roots_test
