// SPDX-License-Identifier: Apache-2.0
// Matrices of a uniform beam along x as a finite-element program writes them: Euler and Bernoulli's elements with six
// coordinates per node, consistent mass; and of the same beam in bricks of eight nodes with three.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "stickslip/common/system_matrix.hpp"

namespace stickslip::beam_elements {

struct Section {
  double length, youngs_modulus, shear_modulus, density, area, Iy, Iz;
};

struct Matrices {
  std::vector<Eigen::Vector3d> nodes;
  SparseMatrix M, K, spun;  ///< spun: geometric stiffness at the spin (0, 0, 1), nodes at their places
};

inline SparseMatrix assembled(Index size, const std::vector<Eigen::Triplet<double>>& entries) {
  SparseMatrix A(size, size);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

inline Matrices rods(const Section& s, int elements) {
  Matrices result;
  std::vector<Eigen::Triplet<double>> mass, stiffness, spun;
  const double l = s.length / elements, m = s.density * s.area * l;
  for (int k = 0; k <= elements; ++k) result.nodes.emplace_back(l * k, 0, 0);
  for (int e = 0; e < elements; ++e) {
    const int at = 6 * e;
    const auto put = [&](std::vector<Eigen::Triplet<double>>& list, const std::vector<int>& places,
                         const DenseMatrix& A) {
      for (std::size_t i = 0; i < places.size(); ++i)
        for (std::size_t j = 0; j < places.size(); ++j)
          list.emplace_back(at + places[i], at + places[j], A(static_cast<Index>(i), static_cast<Index>(j)));
    };
    DenseMatrix two(2, 2), one(2, 2);
    two << 2, 1, 1, 2;
    one << 1, -1, -1, 1;
    put(mass, {0, 6}, m / 6 * two);
    put(mass, {3, 9}, s.density * (s.Iy + s.Iz) * l / 6 * two);
    put(stiffness, {0, 6}, s.youngs_modulus * s.area / l * one);
    put(stiffness, {3, 9}, s.shear_modulus * (s.Iy + s.Iz) / l * one);
    for (const double sign : {1.0, -1.0}) {  // along y with θz, along z with -θy
      const double h = sign * l;
      const std::vector<int> places = sign > 0 ? std::vector<int>{1, 5, 7, 11} : std::vector<int>{2, 4, 8, 10};
      DenseMatrix M(4, 4), K(4, 4), G(4, 4);
      M << 156, 22 * h, 54, -13 * h, 22 * h, 4 * h * h, 13 * h, -3 * h * h, 54, 13 * h, 156, -22 * h, -13 * h,
          -3 * h * h, -22 * h, 4 * h * h;
      K << 12, 6 * h, -12, 6 * h, 6 * h, 4 * h * h, -6 * h, 2 * h * h, -12, -6 * h, 12, -6 * h, 6 * h, 2 * h * h,
          -6 * h, 4 * h * h;
      G << 36, 3 * h, -36, 3 * h, 3 * h, 4 * h * h, -3 * h, -h * h, -36, -3 * h, 36, -3 * h, 3 * h, -h * h, -3 * h,
          4 * h * h;
      put(mass, places, m / 420 * M);
      put(stiffness, places, s.youngs_modulus * (sign > 0 ? s.Iz : s.Iy) / (l * l * l) * K);
      const double middle = l * (e + 0.5), pull = s.density * s.area * (s.length * s.length - middle * middle) / 2;
      put(spun, places, pull / (30 * l) * G);
    }
  }
  const Index size = 6 * (elements + 1);
  result.M = assembled(size, mass);
  result.K = assembled(size, stiffness);
  result.spun = assembled(size, spun);
  return result;
}

/// Bricks with the edges l, b, h, integrated with 2 × 2 × 2 points; Poisson's ratio 0, E as given.
inline Matrices bricks(double length, double width, double height, double youngs_modulus, double density,
                       int elements) {
  Matrices result;
  std::vector<Eigen::Triplet<double>> mass, stiffness;
  const Eigen::Vector3d size(length / elements, width, height);
  for (int k = 0; k <= elements; ++k)
    for (const double y : {-0.5, 0.5})
      for (const double z : {-0.5, 0.5}) result.nodes.emplace_back(size.x() * k, y * width, z * height);
  const auto corner = [](int a) { return Eigen::Vector3d(a / 4 ? 1 : -1, a / 2 % 2 ? 1 : -1, a % 2 ? 1 : -1); };
  DenseMatrix Me = DenseMatrix::Zero(8, 8), Ke = DenseMatrix::Zero(24, 24);
  const double g = 1 / std::sqrt(3.0), weight = size.prod() / 8;
  for (int point = 0; point < 8; ++point) {
    const Eigen::Vector3d x = g * corner(point);
    Vector N(8);
    DenseMatrix D(8, 3);
    for (int a = 0; a < 8; ++a) {
      const Eigen::Vector3d c = corner(a), f = Eigen::Vector3d::Ones() + c.cwiseProduct(x);
      N[a] = f.prod() / 8;
      for (int k = 0; k < 3; ++k) D(a, k) = c[k] / 8 * f[(k + 1) % 3] * f[(k + 2) % 3] * 2 / size[k];
    }
    Me += density * weight * N * N.transpose();
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b) {  // ν = 0: σ = E ε
        const Eigen::Vector3d da = D.row(a), db = D.row(b);
        Ke.block<3, 3>(3 * a, 3 * b) +=
            weight * youngs_modulus * 0.5 * (da.dot(db) * Eigen::Matrix3d::Identity() + db * da.transpose());
      }
  }
  for (int e = 0; e < elements; ++e)
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b)
        for (int i = 0; i < 3; ++i) {
          mass.emplace_back(3 * (4 * e + a) + i, 3 * (4 * e + b) + i, Me(a, b));
          for (int j = 0; j < 3; ++j)
            stiffness.emplace_back(3 * (4 * e + a) + i, 3 * (4 * e + b) + j, Ke(3 * a + i, 3 * b + j));
        }
  result.M = assembled(3 * static_cast<Index>(result.nodes.size()), mass);
  result.K = assembled(3 * static_cast<Index>(result.nodes.size()), stiffness);
  return result;
}

}  // namespace stickslip::beam_elements
