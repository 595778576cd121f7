// SPDX-License-Identifier: Apache-2.0
// Inside of WeightedResidual: a law with its rows, scales and signals.
#pragma once

#include "stickslip/periodic/weighted_residual.hpp"

namespace stickslip {

struct WeightedResidual::Law {
  const FrictionElement* friction = nullptr;  ///< or
  const ContactElement* contact = nullptr;
  Index first = 0;  ///< component
  int size = 1;
  std::vector<Index> columns;  ///< kept coordinates that its rows touch
  DenseMatrix W;               ///< size × columns, at the sample
  double rho = 1, rho_n = 1;
  bool smooth = false;  ///< weakening or viscous part
  bool elastic() const { return friction && friction->elastic(); }

  /// A coordinate or velocity that the limit or the surface velocity depends on.
  struct Dependence {
    Index coordinate, slot;  ///< kept; of the function
    int p;
  };
  std::vector<Dependence> depends;

  // With a spring in series:
  std::vector<Index> touched;       ///< kept coordinates that the force depends on
  std::vector<Index> place;         ///< of `columns`, then `depends`, among them
  DenseMatrix marched, slip;        ///< force and velocity of the slider at all samples
  std::vector<DenseMatrix> slopes;  ///< of the force, per component: samples × coefficients of `touched`

  double limit = 0, gap = 0;  ///< at the sample
  Vector u;
  DenseMatrix du;  ///< ∂u/∂q over all kept coordinates, where contact rows are not constant

  // Numbers of the signals, in the order of the loops that fill them.
  std::vector<Index> by_r, by_v, by_q, by_dependence, by_du, force_r, force_v, force_dependence, force_du;
};

}  // namespace stickslip
