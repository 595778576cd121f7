// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: every kept number over one swept number (a curve, or points), or over two (a map).
#pragma once

#include "stickslip/io/report_document.hpp"
#include "stickslip/io/sweep_file.hpp"

namespace stickslip {

ReportDocument sweep_report(const SweepTable& table, const ResultHeader& header, const SweepEnd& end);

}  // namespace stickslip
