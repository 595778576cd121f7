// SPDX-License-Identifier: Apache-2.0
// What was understood of a model, without a run.
#pragma once

#include <string>
#include <vector>

#include "stickslip/io/model_file.hpp"
#include "stickslip/model/expression.hpp"

namespace stickslip {

struct ModelCheck {
  BreakpointSearch jumps;          ///< of forces, limits and surface velocities over the run
  std::vector<std::string> notes;  ///< what to know before a run
};

/// Throws InputError for what a run would refuse at its first instant, in the same words.
ModelCheck check_model(const ModelFile& model);

/// What laws are called and do, in the order of the file.
struct LawLine {
  std::string name, kind, description;
};
std::vector<LawLine> describe_laws(const ModelFile& model);

/// "mesh hopper: 128 triangles, ...": one line for each surface of triangles.
std::vector<std::string> describe_surfaces(const ModelFile& model);

/// `named`: the model file as the user named it.
std::string check_json(const std::string& named, const ModelFile& model, const ModelCheck& found);

}  // namespace stickslip
