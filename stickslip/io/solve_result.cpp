// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/solve_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "stickslip/common/version.hpp"

namespace stickslip {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::vector<std::string> solvers_of(const std::vector<SolveRow>& rows) {
  std::vector<std::string> names;
  for (const SolveRow& row : rows)
    if (std::find(names.begin(), names.end(), row.solver) == names.end()) names.push_back(row.solver);
  return names;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

ReportFigure profile_figure(const SolveSummary& summary, bool several) {
  ReportFigure figure;
  figure.title = "Performance profile";
  figure.note =
      several ? "Fraction of the problems that a solver solves within τ times the time of the best solver on that "
                "problem. At τ = 1: how often it is the fastest. At the right: how many it solves at all."
              : "Fraction of the problems solved within a CPU time.";
  figure.x =
      several ? ReportAxis{"τ: time over the best time", "", true} : ReportAxis{"CPU time per problem", "s", true};
  figure.y = {"fraction solved", "", false};
  const std::vector<Profile> profiles = performance_profiles(summary.rows);
  double last = several ? 10 : 1e-6, first = HUGE_VAL;
  for (const Profile& profile : profiles)
    if (!profile.x.empty()) {
      last = std::max(last, 2 * profile.x.back());
      first = std::min(first, profile.x.front());
    }
  if (several) first = 1;
  for (const Profile& profile : profiles) {
    ReportSeries series;
    series.name = profile.solver;
    series.step = true;
    if (!profile.x.empty() && profile.x.front() > first) {
      series.x.push_back(first);
      series.y.push_back(0);
    }
    series.x.insert(series.x.end(), profile.x.begin(), profile.x.end());
    series.y.insert(series.y.end(), profile.fraction.begin(), profile.fraction.end());
    series.x.push_back(last);
    series.y.push_back(profile.fraction.empty() ? 0 : profile.fraction.back());
    figure.series.push_back(std::move(series));
  }
  return figure;
}

ReportFigure size_figure(const SolveSummary& summary) {
  ReportFigure figure;
  figure.title = "Time against size";
  figure.note = "One mark per solved problem.";
  figure.x = {"contacts", "", true};
  figure.y = {"CPU time", "s", true};
  for (const std::string& solver : solvers_of(summary.rows)) {
    ReportSeries series;
    series.name = solver;
    series.points = true;
    series.line = false;
    for (const SolveRow& row : summary.rows)
      if (row.solver == solver && row.solved) {
        series.x.push_back(static_cast<double>(row.contacts));
        series.y.push_back(row.seconds);
      }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace

std::vector<Profile> performance_profiles(const std::vector<SolveRow>& rows) {
  const std::vector<std::string> solvers = solvers_of(rows);
  std::map<std::string, double> best;
  for (const SolveRow& row : rows) {
    auto& time = best.try_emplace(row.file, HUGE_VAL).first->second;
    if (row.solved) time = std::min(time, row.seconds);
  }
  std::vector<Profile> profiles;
  for (const std::string& solver : solvers) {
    std::vector<double> at;
    for (const SolveRow& row : rows)
      if (row.solver == solver && row.solved)
        at.push_back(solvers.size() == 1 ? row.seconds : best[row.file] > 0 ? row.seconds / best[row.file] : 1.0);
    std::sort(at.begin(), at.end());
    Profile profile{solver, {}, {}};
    for (std::size_t k = 0; k < at.size(); ++k) {
      const double fraction = static_cast<double>(k + 1) / static_cast<double>(best.size());
      if (!profile.x.empty() && profile.x.back() == at[k]) {
        profile.fraction.back() = fraction;
      } else {
        profile.x.push_back(at[k]);
        profile.fraction.push_back(fraction);
      }
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::string solve_csv(const std::vector<SolveRow>& rows) {
  std::string text = "file,contacts,status,solver,error,strict_error,iterations,seconds,method\n";
  for (const SolveRow& row : rows)
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_text(row.file), row.contacts, row.status, row.solver,
                        row.error, row.strict_error, row.iterations, row.seconds, csv_text(row.method));
  return text;
}

ReportDocument solve_report(const SolveSummary& summary) {
  const bool several = solvers_of(summary.rows).size() > 1;
  ReportDocument page;
  page.title = "Friction-contact problems";
  page.subtitle = fmt::format("{} of {} solved", summary.solved, summary.files);
  page.generator = fmt::format("stickslip {}", version());
  page.ok = summary.status == "success";
  page.status = summary.message.empty() ? summary.status : summary.message;
  page.facts = {{"solved", fmt::format("{} of {}", summary.solved, summary.files)},
                {"tolerance", fmt::format("unit_free <= {:g}", summary.tolerance)},
                {"wall-clock time at most", fmt::format("{:g} s each", summary.max_seconds)}};
  ReportTable table{
      "Problems",
      "error: natural map with ρ = 1 over max(|q|, |r|, |u|), the measure of other programs; strict_error: over "
      "|q| alone; unit_free: the same in units that follow from the problem, which alone decides about success. All "
      "are "
      "computed from r after the solver has ended.",
      {"file", "contacts", "status", "solver", "method", "unit_free", "error", "strict_error", "iterations", "seconds"},
      {},
      2};
  for (const SolveRow& row : summary.rows)
    table.rows.push_back({std::filesystem::path(row.file).filename().string(), static_cast<double>(row.contacts),
                          row.status, row.solver, row.method, row.unit_free, row.error, row.strict_error,
                          static_cast<double>(row.iterations), row.seconds});
  page.blocks = {profile_figure(summary, several), size_figure(summary), table};
  if (!summary.unread.empty()) {
    ReportText text{"Not read", {}};
    for (const SolveSummary::Unread& unread : summary.unread) text.paragraphs.push_back(unread.message);
    page.blocks.emplace_back(std::move(text));
  }
  return page;
}

std::string solve_json(const SolveSummary& summary) {
  Json problems = Json::array(), profiles = Json::array(), unread = Json::array();
  for (const SolveRow& row : summary.rows)
    problems.push_back({{"file", row.file},
                        {"contacts", row.contacts},
                        {"status", row.status},
                        {"solver", row.solver},
                        {"error", number(row.error)},
                        {"strict_error", number(row.strict_error)},
                        {"iterations", row.iterations},
                        {"seconds", row.seconds},
                        {"message", row.message},
                        {"method", row.method},
                        {"unit_free", number(row.unit_free)},
                        {"dimension", row.dimension},
                        {"form", row.form}});
  for (const Profile& profile : performance_profiles(summary.rows))
    profiles.push_back({{"solver", profile.solver}, {"x", profile.x}, {"fraction", profile.fraction}});
  for (const SolveSummary::Unread& bad : summary.unread)
    unread.push_back({{"file", bad.file}, {"message", bad.message}});
  const Json json{{"status", summary.status}, {"message", summary.message},     {"files", summary.files},
                  {"solved", summary.solved}, {"tolerance", summary.tolerance}, {"max_seconds", summary.max_seconds},
                  {"problems", problems},     {"profiles", profiles},           {"unread", unread}};
  return json.dump(2) + "\n";
}

}  // namespace stickslip
