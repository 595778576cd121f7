// SPDX-License-Identifier: Apache-2.0
// Linear coordinates eliminated harmonic by harmonic: the dynamic stiffness that the kept ones see.
//
//   Z(ω) = K + i ω B - ω² M,   kept coordinates c, eliminated ones e
//   S = Z_cc - Z_ce Z_ee⁻¹ Z_ec,   load = F_c - Z_ce Z_ee⁻¹ F_e                  F: phasor of the applied forces [N]
//   S x_c = load + (forces on the kept coordinates),   x_e = Z_ee⁻¹ (F_e - Z_ec x_c)
//
// Cyclic symmetry (cyclic_symmetry.hpp): coordinates on the right cut are expressed by those on the left one,
// Z ← Tᴴ Z T, F ← Tᴴ F with the phase of the harmonic: a bladed disc at the cost of a sector.
// Source: D.L. Thomas, Int. J. Numer. Meth. Eng. 14, 1979.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "stickslip/model/system.hpp"
#include "stickslip/periodic/cyclic_symmetry.hpp"

namespace stickslip {

using ComplexVector = Eigen::VectorXcd;
using ComplexMatrix = Eigen::MatrixXcd;

struct HarmonicStiffness {
  ComplexMatrix S;        ///< kept × kept
  ComplexMatrix S_omega;  ///< ∂S/∂ω, where asked for
  ComplexVector load;
  bool singular = false;  ///< Z_ee is: the eliminated coordinates resonate with the kept ones held
};

class HarmonicElimination {
 public:
  /// `kept` ascending, none of them on the right cut. The linear part must outlive this.
  HarmonicElimination(const LinearPart& linear, std::vector<Index> kept, const CyclicSymmetry& cyclic = {});
  ~HarmonicElimination();
  const std::vector<Index>& kept() const { return kept_; }
  /// Of harmonic h, at its angular frequency ω; F of all coordinates.
  HarmonicStiffness stiffness(double omega, const ComplexVector& F, int h = 0, bool slope = true) const;
  /// All coordinates from the kept ones.
  ComplexVector expand(double omega, const ComplexVector& F, const ComplexVector& x_kept, int h = 0) const;

 private:
  struct Parts;
  const LinearPart& linear_;
  std::vector<Index> kept_, eliminated_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace stickslip
