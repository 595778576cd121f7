// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "stickslip/io/report_document.hpp"

namespace stickslip::cli {

/// The interactive page.
std::string report_html(const ReportDocument& document);
/// Writes the interactive page to `path`. Throws InputError with the reason if that is impossible.
void write_report(const std::filesystem::path& path, const ReportDocument& document);

}  // namespace stickslip::cli
