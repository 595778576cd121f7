// SPDX-License-Identifier: Apache-2.0
// Models that tests hold as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stickslip/io/model_file.hpp"

namespace stickslip {

inline Simulation run_text(std::string_view text, const std::vector<std::string>& overrides = {}) {
  const ModelFile model = parse_model(text, "test.toml", overrides);
  return simulate(*model.system, model.initial, model.run);
}

}  // namespace stickslip
