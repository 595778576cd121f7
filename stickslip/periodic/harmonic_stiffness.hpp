// SPDX-License-Identifier: Apache-2.0
// Linear coordinates eliminated harmonic by harmonic: the dynamic stiffness that the kept ones see.
//
//   Z(ω) = K + i ω B - ω² M,   kept coordinates c, eliminated ones e
//   S = Z_cc - Z_ce Z_ee⁻¹ Z_ec,   load = F_c - Z_ce Z_ee⁻¹ F_e                  F: phasor of the applied forces [N]
//   S x_c = load + (forces on the kept coordinates),   x_e = Z_ee⁻¹ (F_e - Z_ec x_c)
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "stickslip/model/system.hpp"

namespace stickslip {

using ComplexVector = Eigen::VectorXcd;
using ComplexMatrix = Eigen::MatrixXcd;

struct HarmonicStiffness {
  ComplexMatrix S;        ///< kept × kept
  ComplexMatrix S_omega;  ///< ∂S/∂ω
  ComplexVector load;
  bool singular = false;  ///< Z_ee is: the eliminated coordinates resonate with the kept ones held
};

class HarmonicElimination {
 public:
  /// `kept` ascending. The linear part must outlive this.
  HarmonicElimination(const LinearPart& linear, std::vector<Index> kept);
  ~HarmonicElimination();
  const std::vector<Index>& kept() const { return kept_; }
  /// At the angular frequency ω of this harmonic; F of all coordinates.
  HarmonicStiffness stiffness(double omega, const ComplexVector& F) const;
  /// All coordinates from the kept ones.
  ComplexVector expand(double omega, const ComplexVector& F, const ComplexVector& x_kept) const;

 private:
  struct Parts;
  const LinearPart& linear_;
  std::vector<Index> kept_, eliminated_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace stickslip
