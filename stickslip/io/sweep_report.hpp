// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: every kept number over one swept number (a curve, or points), or over two (a map).
#pragma once

#include "stickslip/io/report_document.hpp"
#include "stickslip/io/sweep_file.hpp"

namespace stickslip {

/// `value(run)` over two axes of a grid, the first along x; of further axes the first value.
ReportMap sweep_map(const SweepTable& table, std::size_t x, std::size_t y, const std::string& label,
                    const std::function<double(long)>& value);

ReportDocument sweep_report(const SweepTable& table, const ResultHeader& header, const SweepEnd& end);

}  // namespace stickslip
