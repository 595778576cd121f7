// SPDX-License-Identifier: Apache-2.0
// A motion of the scheme `compliant` as the chain of maps that its steps were, for the way back through them
// (compliant_adjoint.hpp): everything that moves a column of derivatives, in the order of time.
//
//   step     one step of a Runge-Kutta method from (t, y) of size h, on the pieces of its contacts or on given ones
//   jump     a force jumps at g(t, y, p) = 0: S⁺ = S⁻ + Σ (f⁻ - f_k) dt_k/dp (compliant_jumps.cpp)
//   kink     slopes jump beside the end of a step: S⁺ = S⁻ + Σ τ_s (S'_s - S'_b) (compliant_kinks.cpp)
//   slots    contact points came or went: δ_T⁺ = P δ_T⁻
//   mark     a functional looks at the state
#pragma once

#include <array>
#include <memory>
#include <variant>
#include <vector>

#include "stickslip/motion/compliant/compliant_contacts.hpp"

namespace stickslip {

enum class TapeMethod { dormand_prince, heun, rk4, radau };

struct TapeStep {
  TapeMethod method = TapeMethod::dormand_prince;
  double t = 0, h = 0;                   ///< [s]
  Vector y = {};                         ///< (q, v, δ_T) there
  std::vector<ContactPieces> kept = {};  ///< that the contacts keep through the step; empty: their own
  std::array<Vector, 3> stages = {};     ///< of radau
};

struct TapeJump {
  DenseMatrix change = {};      ///< f⁻ - f_k, one column per force that jumps; of all where contacts are coupled
  DenseMatrix by_state = {};    ///< -(∂g/∂y)/(dg/dt)⁻, one column per force that jumps
  DenseMatrix by_unknown = {};  ///< -(∂g/∂p)/(dg/dt)⁻, likewise
  bool alone = true;            ///< no force changes what another waits for
};

struct PiecesInTime {
  std::vector<ContactPieces> pieces = {};
  double time = 0;              ///< for which they count, negative: for which they do not [s]
  std::vector<char> mean = {};  ///< slots that have closed or opened (CompliantContacts::take_mean_slopes)
};

struct TapeKink {
  double t = 0;  ///< [s]
  Vector y = {};
  std::vector<PiecesInTime> parts = {};
};

struct TapeSlots {
  std::vector<CompliantContacts::Slot> before = {};
  DenseMatrix moved = {};  ///< P
};

struct TapeMark {
  Index functional = 0;
  Vector weights = {};     ///< of the functional on (q, v)
  Vector by_unknown = {};  ///< what the times of jumps that unknowns move do to it; empty: nothing
};

using TapeEntry = std::variant<TapeStep, TapeJump, TapeKink, TapeSlots, TapeMark>;
using CompliantTape = std::vector<TapeEntry>;

}  // namespace stickslip
