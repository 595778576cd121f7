// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/splitting/splitting_options.hpp"

#include <fmt/format.h>

#include "stickslip/common/error.hpp"
#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {
constexpr Words<SplittingVariant, 3> kVariants{"splitting variant", {"lie", "symmetrised", "friction_first"}};
constexpr Words<FrictionStep, 2> kFrictionSteps{"friction step", {"exact", "multiplier"}};
}  // namespace

std::string_view to_string(SplittingVariant variant) { return kVariants.of(variant); }
std::string_view to_string(FrictionStep step) { return kFrictionSteps.of(step); }
SplittingVariant splitting_variant_from(std::string_view name) { return kVariants.from(name); }
FrictionStep friction_step_from(std::string_view name) { return kFrictionSteps.from(name); }

void SplittingOptions::validate() const {
  if (substeps < 1) throw InputError(fmt::format("run.splitting.substeps = {} must be >= 1", substeps));
  if (!(rho >= 0)) throw InputError(fmt::format("run.splitting.rho = {} must be > 0 (or 0 for the best value)", rho));
  if (!(tolerance > 0)) throw InputError(fmt::format("run.splitting.tolerance = {} must be > 0", tolerance));
  if (max_iterations < 1)
    throw InputError(fmt::format("run.splitting.max_iterations = {} must be >= 1", max_iterations));
}

}  // namespace stickslip
