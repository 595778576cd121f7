// SPDX-License-Identifier: Apache-2.0
// Derivatives of one run, or one part of it (segment.hpp), by unknowns and by the state at its start.
//
// Schemes that carry derivatives along (SchemeDescription::derivatives) give them with one run for all unknowns and
// one for all directions of the start. For the others, for the end time, and where reactions are used: differences of
// whole runs,
//
//   ∂f/∂p ≈ [f(p + δ) - f(p - δ)] / 2δ,     δ = η^(1/3) s,     error about η^(2/3) s f' and δ² f'''/6
//
//   s   size of p (Unknown::size; of the state: what the motion has)
//   η   how far a run is from a smooth function of p: round-off with fixed steps, a hundredth of run.tolerance where
//       the scheme chooses its steps by it (kNoisePart; measured, see docs/theory-shooting.md)
//
// Where the model takes p on one side alone (a limit of 0), f(p), f(p + δ), f(p + 2δ) give the same order. At a kink
// (the run gains a stick phase at p) the difference is a mean of the slopes on both sides: an element of the
// generalised Jacobian, which is all that the semismooth Newton method asks for.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "stickslip/boundary/segment.hpp"

namespace stickslip {

constexpr double kNoisePart = 1e-2;

/// What is varied: an unknown, or a component of the tangent space of the state at the start.
struct Variation {
  Index unknown = -1;  ///< -1: a component of the start
  Index component = -1;
  double size = 1;  ///< s
};

struct SegmentSlopes {
  std::vector<DenseMatrix> rows;  ///< one per time of the plan: columns of the layout × variations
  DenseMatrix final;              ///< (δq, δv, δz) at the end × variations
};

/// d(columns of the layout)/d(unknown j) at fixed motion: parameters that follow from it, and itself.
Vector number_slopes(const Segment& segment, const Vector& unknowns, Index j, double size);

/// What gives derivatives of a part. `center` is the run at (unknowns, start). False: none could be computed, and
/// `message` says why.
class SegmentDerivative {
 public:
  virtual ~SegmentDerivative() = default;
  virtual bool evaluate(const Segment& segment, const SegmentPlanOf& plan, const Vector& unknowns,
                        const std::optional<State>& start, const SampledRun& center,
                        std::span<const Variation> variations, SegmentSlopes& slopes, std::string& message) const = 0;
};

/// Differences of whole runs: any scheme, any column.
std::unique_ptr<SegmentDerivative> make_difference_derivative();
/// What the scheme carries along, differences for the rest.
std::unique_ptr<SegmentDerivative> make_segment_derivative();

}  // namespace stickslip
