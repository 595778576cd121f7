// SPDX-License-Identifier: Apache-2.0
#include "cli/report_page.hpp"

#include "stickslip/io/output_file.hpp"

namespace stickslip::embedded {
extern const std::string_view report_template;
}

namespace stickslip::cli {

void write_report(const std::filesystem::path& path, const ReportDocument& document) {
  write_text_file(path, render_report(embedded::report_template, report_document_json(document)));
}

}  // namespace stickslip::cli
