// SPDX-License-Identifier: Apache-2.0
#include "cli/report_page.hpp"

#include "stickslip/io/output_file.hpp"

namespace stickslip::embedded {
extern const std::string_view report_template;
}

namespace stickslip::cli {

std::string report_html(const ReportDocument& document) {
  return render_report(embedded::report_template, report_document_json(document));
}

void write_report(const std::filesystem::path& path, const ReportDocument& document) {
  write_text_file(path, report_html(document));
}

}  // namespace stickslip::cli
