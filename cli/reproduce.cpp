// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/report_page.hpp"
#include "cli/terminal.hpp"
#include "papers/papers.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_folder.hpp"

namespace stickslip::cli {

namespace {

std::vector<const PaperInfo*> selected(const std::string& name) {
  std::vector<const PaperInfo*> papers;
  std::vector<std::string> known{"all"};
  for (const PaperInfo& paper : paper_table()) {
    known.emplace_back(paper.name);
    if (name == "all" || name == paper.name) papers.push_back(&paper);
  }
  if (papers.empty()) throw InputError(fmt::format("reproduce: unknown paper '{}'{}", name, name_hint(name, known)));
  return papers;
}

}  // namespace

int reproduce(const ReproduceCommand& command) {
  const std::vector<const PaperInfo*> papers = selected(command.paper);
  ResultFolder results(command.out.empty() ? "reproduction" : command.out);
  const std::filesystem::path& folder = results.open();
  catch_interrupts();
  nlohmann::ordered_json claims = nlohmann::ordered_json::array();
  bool failed = false;
  for (const PaperInfo* paper : papers) {
    ProgressBar bar(fmt::format("reproducing {}", paper->name), !command.json);
    const auto report = [&](double fraction) {
      bar.update(fraction);
      return !interrupted();
    };
    const Reproduction reproduction = paper->reproduce({report, interrupt_request()});
    bar.finish();
    const std::filesystem::path paper_folder = folder / paper->name;
    results.require_in_place();
    create_folder(paper_folder);
    for (const auto& [name, text] : reproduction.files) write_text_file(paper_folder / name, text);
    write_report(paper_folder / "report.html", reproduction.document);
    if (!command.json) print_out("{}\n", paper->reference);
    for (const Claim& claim : reproduction.claims) {
      claims.push_back({{"claim", claim.claim},
                        {"paper", claim.paper},
                        {"ours", claim.ours},
                        {"verdict", to_string(claim.verdict)}});
      failed |= claim.verdict == Verdict::failed;
      if (!command.json)
        print_out("  {:<10} {}\n             paper: {}\n             ours:  {}\n", to_string(claim.verdict),
                  claim.claim, claim.paper, claim.ours);
    }
    if (!command.json) print_out("  figures and tables: {}\n", (paper_folder / "report.html").string());
    if (interrupted()) failed = true;
  }
  const std::string json = nlohmann::ordered_json{{"status", interrupted() ? "interrupted"
                                                             : failed      ? "failed"
                                                                           : "success"},
                                                  {"claims", claims}}
                               .dump(2) +
                           "\n";
  results.require_in_place();
  write_text_file(folder / "summary.json", json);
  if (command.json) print_out("{}", json);
  return failed ? kNoSuccess : kSuccess;
}

}  // namespace stickslip::cli
