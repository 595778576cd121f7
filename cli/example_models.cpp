// SPDX-License-Identifier: Apache-2.0
#include "cli/example_models.hpp"

#include <algorithm>
#include <filesystem>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::cli {

namespace fs = std::filesystem;

fs::path example_models_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  // build/PRESET/bin/stickslip in the source tree; PREFIX/bin/stickslip when installed
  for (const fs::path& folder : {fs::path("models"), program.parent_path() / "../../../models",
                                 program.parent_path() / "../share/stickslip/models"})
    if (fs::is_directory(folder, error)) return folder.lexically_normal();
  return {};
}

std::vector<ExampleModel> example_models() {
  std::error_code error;
  std::vector<ExampleModel> models;
  for (const auto& entry : fs::directory_iterator(example_models_folder(), error))
    if (entry.path().extension() == ".toml") {
      const std::string path = entry.path().lexically_normal().string();
      try {
        models.push_back({path, read_model(path).title});
      } catch (const InputError&) {
        models.push_back({path, "(not readable by this version)"});
      }
    }
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return models;
}

}  // namespace stickslip::cli
