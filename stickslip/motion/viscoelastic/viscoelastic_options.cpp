// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/viscoelastic/viscoelastic_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

void ViscoelasticOptions::validate() const {
  if (!(epsilon >= 0) || !std::isfinite(epsilon))
    throw InputError(fmt::format("run.viscoelastic.epsilon = {} must be > 0", epsilon));
  if (!(absolute_tolerance >= 0) || !std::isfinite(absolute_tolerance))
    throw InputError(fmt::format("run.viscoelastic.absolute_tolerance = {} must be >= 0", absolute_tolerance));
}

}  // namespace stickslip
