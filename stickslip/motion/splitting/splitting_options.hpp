// SPDX-License-Identifier: Apache-2.0
// Options of the scheme `splitting` (splitting.hpp), and its description.
#pragma once

#include <string_view>

#include "stickslip/motion/force_sampling.hpp"

namespace stickslip {

struct SchemeDescription;

enum class SplittingVariant { lie, symmetrised, friction_first };
enum class FrictionStep { exact, multiplier };

/// Field names are the keys of [run.splitting].
struct SplittingOptions {
  SplittingVariant variant = SplittingVariant::lie;
  FrictionStep friction = FrictionStep::exact;
  int substeps = 1;          ///< P of the paper
  double rho = 0;            ///< of the multiplier iteration; 0: the best fixed value 2/(τ_f (β_1 + β_d))
  double tolerance = 1e-12;  ///< of the multiplier iteration, on λ
  int max_iterations = 100000;
  ForceSampling force = ForceSampling::end;
  void validate() const;
};
std::string_view to_string(SplittingVariant variant);
std::string_view to_string(FrictionStep step);
/// Throw InputError naming the known words.
SplittingVariant splitting_variant_from(std::string_view name);
FrictionStep friction_step_from(std::string_view name);

SchemeDescription splitting_description();

}  // namespace stickslip
