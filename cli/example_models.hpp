// SPDX-License-Identifier: Apache-2.0
// The model files that come with the program: models/ of the source tree, or of the installation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stickslip::cli {

struct ExampleModel {
  std::string path, title;
};
/// Empty if it is not found.
std::filesystem::path example_models_folder();
/// None if the folder is not found.
std::vector<ExampleModel> example_models();

}  // namespace stickslip::cli
