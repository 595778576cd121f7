// SPDX-License-Identifier: Apache-2.0
// The papers that the program reproduces: claims with verdicts computed from runs, figures, tables.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/io/report_document.hpp"

namespace stickslip {

enum class Verdict { confirmed, corrected, failed };
std::string_view to_string(Verdict verdict);

struct Claim {
  std::string claim;
  std::string paper;  ///< what the paper says
  std::string ours;   ///< what the run shows, with its numbers
  Verdict verdict = Verdict::failed;
};

struct Reproduction {
  std::vector<Claim> claims;
  ReportDocument document;                                 ///< figures and tables
  std::vector<std::pair<std::string, std::string>> files;  ///< name and text: the data of the figures
};

/// With the head of its page.
Reproduction begin_reproduction(std::string title, std::string source);
/// What there is so far, marked as interrupted.
Reproduction stopped(Reproduction result);
/// Status of the page and its first block, the table of claims, from result.claims.
void add_claims(Reproduction& result);

/// Called with the fraction done; false asks to stop early. `stop` is heard inside long runs as well.
struct ReproductionProgress {
  std::function<bool(double fraction)> report;  ///< may be empty
  StopRequest stop = nullptr;
  bool operator()(double fraction) const { return (!report || report(fraction)) && !raised(stop); }
};

struct PaperInfo {
  std::string_view name;
  std::string_view reference;
  Reproduction (*reproduce)(const ReproductionProgress& progress);
};
std::span<const PaperInfo> paper_table();

}  // namespace stickslip
