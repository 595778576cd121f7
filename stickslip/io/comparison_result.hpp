// SPDX-License-Identifier: Apache-2.0
// What a comparison of schemes found, written: summary.json and the page.
#pragma once

#include <string>
#include <vector>

#include "stickslip/io/model_file.hpp"
#include "stickslip/io/report_document.hpp"
#include "stickslip/motion/comparison.hpp"

namespace stickslip {

/// Steps to compare where none are given: 4, 2, 1 and 1/2 times that of the run. [s]
std::vector<double> default_steps(const SimulationOptions& run);

/// `named`: the model file as the user named it.
std::string comparison_json(const std::string& named, const Comparison& comparison);
ReportDocument comparison_report(const ModelFile& model, const Comparison& comparison);

/// In words.
std::string reference_text(const Comparison& comparison);
std::string order_text(double order, const std::string& reason);

}  // namespace stickslip
