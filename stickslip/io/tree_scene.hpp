// SPDX-License-Identifier: Apache-2.0
// What a tree of bodies adds to an animation: lines for bodies without a shape, hinges with their modes and friction,
// forces of loops.
#pragma once

#include <vector>

#include "stickslip/io/model_file.hpp"
#include "stickslip/io/report_scene.hpp"

namespace stickslip {

/// `rows` of the trajectory are the frames; `offset`: index of the first body of the model among those of the scene.
void add_tree(const ModelFile& model, const Trajectory& trajectory, const std::vector<Index>& rows, int offset,
              ReportScene& scene);

}  // namespace stickslip
