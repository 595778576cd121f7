// SPDX-License-Identifier: Apache-2.0
// The animation of one run: bodies with their shapes, or the [[drawing]]s of a planar model, and contact forces.
#pragma once

#include <optional>

#include "stickslip/io/model_file.hpp"
#include "stickslip/io/report_scene.hpp"

namespace stickslip {

/// Nothing where the model has neither shapes nor drawings. At most `frames` rows of the trajectory, evenly spread, and
/// at most `numbers` numbers in all, so that a page stays small.
std::optional<ReportScene> simulation_scene(const ModelFile& model, const Simulation& simulation, Index frames = 600,
                                            Index numbers = 4'000'000);

}  // namespace stickslip
