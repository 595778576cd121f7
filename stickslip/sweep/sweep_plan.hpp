// SPDX-License-Identifier: Apache-2.0
// Which values the runs of a sweep have. Run `index` of a plan has the value value(index, axis) of every swept number;
// it depends on the plan alone, not on who asks or in which order.
//
//   grid     all combinations; the last axis changes fastest
//   zip      the k-th values of all axes together
//   random   `count` independent draws. The first n are the same for every count >= n
//   latin    a Latin hypercube (McKay, Beckman, Conover 1979): each axis cut into `count` parts of equal probability,
//            one draw in each, the parts of the axes joined at random
//
// An axis of a grid or zip is a list. An axis of random or latin is a distribution, given by its quantile function; a
// list there is drawn from, each entry as likely as the others.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace stickslip {

enum class SweepKind { grid, zip, random, latin };
std::string_view to_string(SweepKind kind);
/// Throws InputError with the nearest known word.
SweepKind sweep_kind_from(std::string_view name);

enum class DistributionKind { uniform, loguniform, normal, lognormal };

/// uniform, loguniform: between a and b. normal: mean a, standard deviation b. lognormal: median a > 0, the logarithm
/// has the standard deviation b. Cut off outside [min, max], where that is given: the rest is scaled up to 1.
struct Distribution {
  DistributionKind kind = DistributionKind::uniform;
  double a = 0, b = 1;
  double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();

  /// Throws InputError with the relation that does not hold.
  void validate() const;
  /// The value below which lies the fraction u of all draws, 0 < u < 1.
  double quantile(double u) const;
};

/// One swept number.
struct SweepAxis {
  std::string key;                                ///< as in --set, or the name of a parameter
  std::vector<double> values = {};                ///< of a grid or zip; or drawn from
  std::optional<Distribution> distribution = {};  ///< in place of values
};

struct SweepPlanOptions {
  SweepKind kind = SweepKind::grid;
  long count = 0;          ///< of random and latin
  std::uint64_t seed = 1;  ///< of random and latin
};

/// Runs of one sweep, at most: their numbers alone fill the memory then.
inline constexpr double kMostRuns = 1e8;

class SweepPlan {
 public:
  /// Throws InputError: no axis, an empty list, lists of a zip with unequal lengths, no count, more than kMostRuns.
  SweepPlan(std::vector<SweepAxis> axes, const SweepPlanOptions& options);
  const std::vector<SweepAxis>& axes() const { return axes_; }
  const SweepPlanOptions& options() const { return options_; }
  long size() const { return size_; }
  double value(long index, std::size_t axis) const;

 private:
  double drawn(std::size_t axis, double u) const;
  std::vector<SweepAxis> axes_;
  SweepPlanOptions options_;
  long size_ = 0;
  std::vector<long> stride_;               // of a grid
  std::vector<std::vector<long>> strata_;  // of a Latin hypercube, per axis
};

}  // namespace stickslip
