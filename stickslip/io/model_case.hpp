// SPDX-License-Identifier: Apache-2.0
// Model files as cases: every number of the file is live.
//
//   Case c = read_case("brake.toml");
//   c.set("k", 3.0);                      // [parameters]; also "parameters.k"
//   c.set("friction.shoe.limit", 2.0);    // whatever --set can address
//   c.get("initial.velocity.0");
//
// A change is an override after those of the reading (model_file.hpp): the document and the files that it names are
// kept as they were read, and are interpreted anew.
#pragma once

#include <span>
#include <string>

#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/case.hpp"

namespace stickslip {

Case read_case(const std::string& path, std::span<const std::string> overrides = {});
Case make_case(ModelFile model);

/// KEY=VALUE that stands for a change of such a case, as in summary.json and for --set.
std::string setting_of(const Parameters& parameters, const NamedNumber& change);

}  // namespace stickslip
