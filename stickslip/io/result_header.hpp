// SPDX-License-Identifier: Apache-2.0
// What results say of the model that they come from.
#pragma once

#include <string>

#include "stickslip/io/model_file.hpp"
#include "stickslip/io/report_columns.hpp"
#include "stickslip/io/summary.hpp"

namespace stickslip {

/// `named`: the model file as the user named it. The date is now.
ResultHeader result_header(const ModelFile& model, const std::string& named);

ReportUnits report_units(const ModelFile& model);

}  // namespace stickslip
