// SPDX-License-Identifier: Apache-2.0
#include "stickslip/sweep/sweep_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/words.hpp"
#include "stickslip/sweep/random_numbers.hpp"

namespace stickslip {

namespace {

constexpr Words<SweepKind, 4> kKinds{"kind", {"grid", "zip", "random", "latin"}};

double normal_fraction(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace

std::string_view to_string(SweepKind kind) { return kKinds.of(kind); }
SweepKind sweep_kind_from(std::string_view name) { return kKinds.from(name); }

void Distribution::validate() const {
  const bool between = kind == DistributionKind::uniform || kind == DistributionKind::loguniform;
  if (between && !(a < b)) throw InputError(fmt::format("from = {} must lie below to = {}", a, b));
  if (kind == DistributionKind::loguniform && !(a > 0))
    throw InputError(fmt::format("from = {} must be > 0 on a logarithmic scale", a));
  if (!between && !(b > 0)) throw InputError(fmt::format("the standard deviation {} must be > 0", b));
  if (kind == DistributionKind::lognormal && !(a > 0)) throw InputError(fmt::format("the median {} must be > 0", a));
  if (!(min < max)) throw InputError(fmt::format("min = {} must lie below max = {}", min, max));
  // A draw far outside of everything that is likely would be the border itself, again and again.
  const double lower = quantile(0x1p-53), upper = quantile(1 - 0x1p-53);
  if (!(lower < upper))
    throw InputError(fmt::format("nothing of the distribution lies between min = {} and max = {}", min, max));
}

double Distribution::quantile(double u) const {
  const bool logarithmic = kind == DistributionKind::loguniform || kind == DistributionKind::lognormal;
  const auto scale = [&](double x) { return logarithmic ? std::log(std::max(x, 0.0)) : x; };
  const double first = logarithmic ? std::log(a) : a, second = kind == DistributionKind::loguniform ? std::log(b) : b;
  double x = 0;
  if (kind == DistributionKind::uniform || kind == DistributionKind::loguniform) {
    const double low = std::max(first, scale(min)), high = std::min(second, scale(max));
    x = low + u * (high - low);
  } else {
    const double low = normal_fraction((scale(min) - first) / second),
                 high = normal_fraction((scale(max) - first) / second);
    // The sum may round to 0 or 1, whose quantile is infinite.
    const double fraction = std::clamp(low + u * (high - low), std::numeric_limits<double>::min(), 1 - 0x1p-53);
    x = first + second * normal_quantile(fraction);
  }
  return std::clamp(logarithmic ? std::exp(x) : x, min, max);
}

SweepPlan::SweepPlan(std::vector<SweepAxis> axes, const SweepPlanOptions& options)
    : axes_(std::move(axes)), options_(options) {
  if (axes_.empty())
    throw InputError("nothing is swept; name at least one number, as over = { \"parameters.k\" = [1, 2, 3] }");
  const bool lists = options_.kind == SweepKind::grid || options_.kind == SweepKind::zip;
  double runs = 1;
  for (const SweepAxis& axis : axes_) {
    if (axis.distribution) axis.distribution->validate();
    if (axis.values.empty() && (lists || !axis.distribution))
      throw InputError(fmt::format("'{}' has no values", axis.key));
    if (options_.kind == SweepKind::zip && axis.values.size() != axes_[0].values.size())
      throw InputError(fmt::format("kind = \"zip\" joins lists of one length, but '{}' has {} values and '{}' has {}",
                                   axes_[0].key, axes_[0].values.size(), axis.key, axis.values.size()));
    if (options_.kind == SweepKind::grid) runs *= static_cast<double>(axis.values.size());
  }
  if (options_.kind == SweepKind::zip) runs = static_cast<double>(axes_[0].values.size());
  if (!lists) {
    if (options_.count < 1)
      throw InputError(fmt::format("kind = \"{}\" needs the number of runs: count = 100", to_string(options_.kind)));
    runs = static_cast<double>(options_.count);
  }
  if (runs > kMostRuns)
    throw InputError(fmt::format("these are {:g} runs; at most {:g} are possible", runs, kMostRuns));
  size_ = static_cast<long>(runs);
  stride_.assign(axes_.size(), 1);
  for (std::size_t k = axes_.size(); k-- > 1;)
    stride_[k - 1] = stride_[k] * static_cast<long>(std::max<std::size_t>(1, axes_[k].values.size()));
  if (options_.kind == SweepKind::latin)
    for (const SweepAxis& axis : axes_) strata_.push_back(random_order(size_, ~options_.seed, stream_of(axis.key)));
}

double SweepPlan::drawn(std::size_t axis, double u) const {
  const SweepAxis& a = axes_[axis];
  if (a.distribution) return a.distribution->quantile(u);
  const std::size_t k = static_cast<std::size_t>(u * static_cast<double>(a.values.size()));
  return a.values[std::min(k, a.values.size() - 1)];
}

double SweepPlan::value(long index, std::size_t axis) const {
  const SweepAxis& a = axes_[axis];
  switch (options_.kind) {
    case SweepKind::grid:
      return a.values[static_cast<std::size_t>((index / stride_[axis]) % static_cast<long>(a.values.size()))];
    case SweepKind::zip:
      return a.values[static_cast<std::size_t>(index)];
    case SweepKind::random:
    case SweepKind::latin:
      break;
  }
  const double u = random_uniform(options_.seed, stream_of(a.key), static_cast<std::uint64_t>(index));
  if (options_.kind == SweepKind::random) return drawn(axis, u);
  return drawn(axis,
               (static_cast<double>(strata_[axis][static_cast<std::size_t>(index)]) + u) / static_cast<double>(size_));
}

}  // namespace stickslip
