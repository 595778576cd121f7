// SPDX-License-Identifier: Apache-2.0
// A bladed disc with friction between neighbouring blades, excited by an engine order.
//
//   sector   disc: a polar grid of radial × around nodes that move along the axis, springs to the four neighbours, the
//            innermost ring on springs to the ground; blade: a chain from the middle of the rim outwards
//   friction between the platforms (a fifth up) of blades s and s + 1, one law per sector
//   force    P cos(ωt - 2π d s/N) at the tip of blade s
// Units: a blade on a rigid disc has the frequency 1 rad/s and the mass 1 kg.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/model/reduction.hpp"

namespace stickslip {

struct BladedDisc {
  int sectors = 50, radial = 10, around = 10, blade = 102;
  int order = 3;           ///< of the engine, d
  double force = 0.01;     ///< P [N]
  double limit = 0.004;    ///< of friction [N]
  double stiffness = 0;    ///< of a spring in series with it; 0: rigid
  double damping = 0.004;  ///< B = damping K [s]

  Index sector_size() const { return static_cast<Index>(radial) * around + blade; }
  Index size() const { return sectors * sector_size(); }
  Index platform(int s) const { return (s % sectors) * sector_size() + radial * around + blade / 5; }
  Index tip(int s) const { return (s % sectors + 1) * sector_size() - 1; }

  /// M and K of all coordinates.
  std::pair<SparseMatrix, SparseMatrix> matrices() const {
    std::vector<Eigen::Triplet<double, int>> M, K;
    const auto mass = [&](Index i, double m) { M.emplace_back(static_cast<int>(i), static_cast<int>(i), m); };
    const auto spring = [&](Index i, Index j, double k) {  // j < 0: to the ground
      K.emplace_back(static_cast<int>(i), static_cast<int>(i), k);
      if (j < 0) return;
      K.emplace_back(static_cast<int>(j), static_cast<int>(j), k);
      K.emplace_back(static_cast<int>(i), static_cast<int>(j), -k);
      K.emplace_back(static_cast<int>(j), static_cast<int>(i), -k);
    };
    const auto node = [&](int s, int r, int a) {  // around the disc
      const int column = (s * around + a) % (sectors * around);
      return (column / around) * sector_size() + (column % around) * radial + r;
    };
    const double disc_mass = 5.0 / (radial * around), disc_spring = 40.0;
    const double blade_mass = 1.0 / blade, blade_spring = std::pow(2 * blade / M_PI, 2) * blade_mass;
    for (int s = 0; s < sectors; ++s) {
      for (int a = 0; a < around; ++a)
        for (int r = 0; r < radial; ++r) {
          mass(node(s, r, a), disc_mass);
          if (r + 1 < radial) spring(node(s, r, a), node(s, r + 1, a), disc_spring);
          spring(node(s, r, a), node(s, r, a + 1), disc_spring);
          if (r == 0) spring(node(s, r, a), -1, disc_spring);
        }
      for (int b = 0; b < blade; ++b) {
        const Index i = s * sector_size() + radial * around + b;
        mass(i, blade_mass);
        spring(i, b == 0 ? node(s, radial - 1, around / 2) : i - 1, blade_spring);
      }
    }
    SparseMatrix m(size(), size()), k(size(), size());
    m.setFromTriplets(M.begin(), M.end());
    k.setFromTriplets(K.begin(), K.end());
    return {std::move(m), std::move(k)};
  }

  std::unique_ptr<System> system(double omega) const {
    const auto [m, k] = matrices();
    MatrixModel model;
    model.mass = SystemMatrix::compact(m);
    model.stiffness = SystemMatrix::compact(k);
    model.damping = SystemMatrix::compact(SparseMatrix(damping * k));
    return with_laws(std::move(model), size(), omega, [](Index i) { return i; });
  }

  /// Platforms, tips and some interior modes alone (reduction.hpp).
  std::unique_ptr<System> reduced_system(double omega, Index modes) const {
    const auto [m, k] = matrices();
    ReductionOptions options;
    options.modes = modes;
    for (int s = 0; s < sectors; ++s) options.kept.push_back(platform(s)), options.kept.push_back(tip(s));
    std::sort(options.kept.begin(), options.kept.end());
    const Reduction reduction = reduce(m, SparseMatrix(damping * k), k, options);
    MatrixModel model;
    model.mass = SystemMatrix(reduction.M);
    model.stiffness = SystemMatrix(reduction.K);
    model.damping = SystemMatrix(reduction.B);
    return with_laws(std::move(model), reduction.M.rows(), omega, [&](Index i) {
      return std::lower_bound(options.kept.begin(), options.kept.end(), i) - options.kept.begin();
    });
  }
  Index reduced_tip(int s) const { return 2 * s + 1; }  ///< the platform of a sector comes before its tip

 private:
  template <class Place>
  std::unique_ptr<System> with_laws(MatrixModel model, Index coordinates, double omega, Place place) const {
    for (Index i = 1; i <= coordinates; ++i) model.coordinates.push_back(fmt::format("x{}", i));
    model.force.components.assign(static_cast<std::size_t>(coordinates), StateFunction(0.0));
    SymbolTable symbols;
    symbols.add_variable("t");
    for (int s = 0; s < sectors; ++s) {
      model.force.components[static_cast<std::size_t>(place(tip(s)))] = StateFunction(Expression::parse(
          fmt::format("{:.17g}*cos({:.17g}*t - {:.17g})", force, omega, 2 * M_PI * order * s / sectors), symbols));
      FrictionElement law;
      law.name = fmt::format("platform{}", s + 1);
      law.directions = {between(place(platform(s)), place(platform(s + 1)))};
      law.limit = limit;
      law.stiffness = stiffness;
      model.friction.push_back(law);
    }
    return make_system(std::move(model));
  }
};

}  // namespace stickslip
