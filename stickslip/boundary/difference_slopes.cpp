// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/boundary/segment_slopes.hpp"

namespace stickslip {

namespace {

constexpr double kRoundOff = 1e-15;

double noise_of(const SimulationOptions& run) {
  return chooses_own_steps(run.scheme) ? std::max(kRoundOff, kNoisePart * run.tolerance) : kRoundOff;
}

class DifferenceDerivative final : public SegmentDerivative {
 public:
  bool evaluate(const Segment& segment, const SegmentPlanOf& plan, const Vector& unknowns,
                const std::optional<State>& start, const SampledRun& center, std::span<const Variation> variations,
                SegmentSlopes& slopes, std::string& message) const override {
    const Kinematics& kinematics = segment.base().system().kinematics();
    const Index count = static_cast<Index>(variations.size());
    slopes.rows.assign(center.rows.size(), DenseMatrix(segment.layout().size(), count));
    slopes.final.resize(2 * kinematics.nv() + center.final.z.size(), count);
    const double part = std::cbrt(noise_of(segment.base().options()));
    for (Index k = 0; k < count; ++k) {
      const Variation& variation = variations[static_cast<std::size_t>(k)];
      const double delta = part * variation.size;
      const auto at = [&](double amount) {
        Vector x = unknowns;
        if (variation.unknown >= 0) {
          x[variation.unknown] += amount;
          return segment.run(plan(x), x, start);
        }
        Vector p = Vector::Zero(2 * kinematics.nv() + start->z.size());
        p[variation.component] = amount;
        return segment.run(plan(x), x, moved_state(kinematics, *start, p));
      };
      std::array<SampledRun, 2> side{at(delta), at(-delta)};
      std::array<double, 3> weights{0.5, -0.5, 0};  // of side[0], side[1] and the centre, times δ
      for (int one = 0; one < 2 && !(side[0].usable() && side[1].usable()); ++one)
        if (side[one].usable()) {
          const double sign = one == 0 ? 1 : -1;
          side[1 - one] = at(2 * sign * delta);
          weights = {sign * (one == 0 ? 2 : -0.5), sign * (one == 0 ? -0.5 : 2), -1.5 * sign};
        }
      for (const SampledRun& run : side)
        if (!run.usable()) {
          message = run.message;
          return false;
        }
      for (std::size_t row = 0; row < center.rows.size(); ++row)
        slopes.rows[row].col(k) = (weights[0] / delta) * (side[0].rows[row] - center.rows[row]) +
                                  (weights[1] / delta) * (side[1].rows[row] - center.rows[row]);
      slopes.final.col(k) = (weights[0] / delta) * state_difference(kinematics, side[0].final, center.final) +
                            (weights[1] / delta) * state_difference(kinematics, side[1].final, center.final);
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<SegmentDerivative> make_difference_derivative() { return std::make_unique<DifferenceDerivative>(); }

}  // namespace stickslip
