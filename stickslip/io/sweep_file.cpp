// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/sweep_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "stickslip/common/version.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/hdf5_file.hpp"
#include "stickslip/io/output_error.hpp"
#include "stickslip/io/output_file.hpp"

namespace stickslip {

namespace {

using Json = nlohmann::ordered_json;

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

constexpr std::array kStatuses{Status::success,    Status::not_converged, Status::no_solution, Status::refused,
                               Status::not_finite, Status::interrupted,   Status::audit_failed};

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

SweepTable::SweepTable(const SweepRunner& runner, const std::vector<SweepRow>& given)
    : section(runner.section()), plan(runner.plan()), rows(given) {
  std::vector<NameList> lists;
  const std::vector<std::string>* last = nullptr;
  for (const SweepRow& row : rows) {
    if (!row.names || row.names.get() == last) continue;
    last = row.names.get();
    const bool known =
        std::any_of(lists.begin(), lists.end(), [&](const NameList& list) { return *list == *row.names; });
    if (known) continue;
    lists.push_back(row.names);
    for (const std::string& name : *row.names)
      if (std::find(outputs.begin(), outputs.end(), name) == outputs.end()) outputs.push_back(name);
  }
  for (const NameList& list : lists) {
    std::vector<long> places;
    for (const std::string& name : outputs) {
      const auto found = std::find(list->begin(), list->end(), name);
      places.push_back(found == list->end() ? -1 : found - list->begin());
    }
    places_.emplace_back(list, std::move(places));
  }
}

const std::vector<long>* SweepTable::places_of(const NameList& names) const {
  if (!names) return nullptr;
  for (const auto& [list, places] : places_)
    if (list == names) return &places;
  for (const auto& [list, places] : places_)
    if (*list == *names) return &places;
  return nullptr;
}

void SweepTable::outputs_of(long index, std::vector<double>& values) const {
  values.assign(outputs.size(), NAN);
  const SweepRow& row = rows[static_cast<std::size_t>(index)];
  const std::vector<long>* places = row.done ? places_of(row.names) : nullptr;
  for (std::size_t k = 0; places && k < outputs.size(); ++k)
    if (const long at = (*places)[k]; at >= 0) values[k] = row.values[static_cast<std::size_t>(at)];
}

double SweepTable::output(long index, std::size_t column) const {
  const SweepRow& row = rows[static_cast<std::size_t>(index)];
  const std::vector<long>* places = row.done ? places_of(row.names) : nullptr;
  const long at = places ? (*places)[column] : -1;
  return at < 0 ? NAN : row.values[static_cast<std::size_t>(at)];
}

long SweepTable::done() const {
  return std::count_if(rows.begin(), rows.end(), [](const SweepRow& row) { return row.done; });
}
long SweepTable::failed() const {
  return std::count_if(rows.begin(), rows.end(),
                       [](const SweepRow& row) { return row.done && row.status != Status::success; });
}

OutputStatistics statistics_of(const SweepTable& table, std::size_t column) {
  OutputStatistics s{0, HUGE_VAL, -HUGE_VAL, 0, 0};
  double squares = 0;  // Welford: no difference of large sums
  for (long k = 0; k < table.plan.size(); ++k) {
    const double x = table.output(k, column);
    if (!std::isfinite(x)) continue;
    ++s.count;
    s.minimum = std::min(s.minimum, x);
    s.maximum = std::max(s.maximum, x);
    const double before = x - s.mean;
    s.mean += before / static_cast<double>(s.count);
    squares += before * (x - s.mean);
  }
  if (s.count == 0) return {0, NAN, NAN, NAN, NAN};
  s.deviation = s.count > 1 ? std::sqrt(squares / static_cast<double>(s.count - 1)) : NAN;
  return s;
}

double OutputStatistics::half_interval() const {
  constexpr double kNormal95 = 1.959964;
  return kNormal95 * deviation / std::sqrt(static_cast<double>(count));
}

std::vector<double> quantiles_of(const SweepTable& table, std::size_t column, const std::vector<double>& fractions) {
  std::vector<double> sorted, values;
  for (long k = 0; k < table.plan.size(); ++k)
    if (const double x = table.output(k, column); std::isfinite(x)) sorted.push_back(x);
  std::sort(sorted.begin(), sorted.end());
  for (const double fraction : fractions) {
    if (sorted.empty()) {
      values.push_back(NAN);
      continue;
    }
    const double at = fraction * static_cast<double>(sorted.size() - 1);
    const auto k = std::min(static_cast<std::size_t>(at), sorted.size() - 1);
    const double next = sorted[std::min(k + 1, sorted.size() - 1)];
    values.push_back(sorted[k] + (at - static_cast<double>(k)) * (next - sorted[k]));
  }
  return values;
}

std::pair<double, double> success_interval(long succeeded, long done) {
  if (done == 0) return {NAN, NAN};
  constexpr double z = 1.959964;
  const double n = static_cast<double>(done), p = static_cast<double>(succeeded) / n;
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

std::string sweep_csv(const SweepTable& table) {
  std::string text = "run";
  for (const SweepAxis& axis : table.plan.axes()) text += "," + csv_cell(axis.key);
  text += ",status,message";
  for (const std::string& name : table.outputs) text += "," + csv_cell(name);
  text += "\n";
  std::vector<double> values;
  const auto out = std::back_inserter(text);
  for (long k = 0; k < table.plan.size(); ++k) {
    const SweepRow& row = table.rows[static_cast<std::size_t>(k)];
    fmt::format_to(out, "{}", k);
    for (std::size_t axis = 0; axis < table.plan.axes().size(); ++axis)
      fmt::format_to(out, ",{}", table.plan.value(k, axis));
    fmt::format_to(out, ",{},{}", row.done ? to_string(row.status) : "pending", csv_cell(row.message));
    table.outputs_of(k, values);
    for (const double x : values) {
      text += ',';
      if (!std::isnan(x)) fmt::format_to(out, "{}", x);
    }
    text += '\n';
  }
  return text;
}

namespace {

void fill_sweep_h5(const std::filesystem::path& path, const SweepTable& table, const ResultHeader& header,
                   const std::function<std::vector<SweepBlock>(long)>& blocks) {
  hdf5::File file = hdf5::File::create(path);
  const auto runs = static_cast<hsize_t>(table.plan.size());
  const std::size_t axes = table.plan.axes().size(), columns = table.outputs.size();
  std::vector<double> swept, outputs, row_outputs;
  std::vector<std::int8_t> status;
  std::vector<std::int32_t> message;
  std::vector<std::string> messages, axis_names, status_names;
  std::map<std::string, std::int32_t> message_rows;
  for (long k = 0; k < table.plan.size(); ++k) {
    const SweepRow& row = table.rows[static_cast<std::size_t>(k)];
    for (std::size_t axis = 0; axis < axes; ++axis) swept.push_back(table.plan.value(k, axis));
    table.outputs_of(k, row_outputs);
    outputs.insert(outputs.end(), row_outputs.begin(), row_outputs.end());
    status.push_back(row.done ? static_cast<std::int8_t>(row.status) : std::int8_t{-1});
    if (row.message.empty()) {
      message.push_back(-1);
      continue;
    }
    const auto [found, fresh] = message_rows.emplace(row.message, static_cast<std::int32_t>(messages.size()));
    if (fresh) messages.push_back(row.message);
    message.push_back(found->second);
  }
  for (const SweepAxis& axis : table.plan.axes()) axis_names.push_back(axis.key);
  for (const Status s : kStatuses) status_names.emplace_back(to_string(s));
  hdf5::make_matrix(file, "swept", hdf5::Element::float64, runs, axes, swept.data());
  if (columns > 0) hdf5::make_matrix(file, "outputs", hdf5::Element::float64, runs, columns, outputs.data());
  hdf5::make_matrix(file, "status", hdf5::Element::int8, runs, 0, status.data());
  hdf5::make_matrix(file, "message", hdf5::Element::int32, runs, 0, message.data());
  hdf5::make_texts(file, "swept_names", axis_names);
  hdf5::make_texts(file, "output_names", table.outputs);
  hdf5::make_texts(file, "status_names", status_names);
  hdf5::make_texts(file, "messages", messages);
  hdf5::make_text(file, "model_text", header.inputs.model_text, header.inputs.model_text.size());
  hdf5::make_texts(file, "settings", header.inputs.settings);
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"title", header.title},
           {"model", header.model},
           {"version", header.version},
           {"analysis", std::string(to_string(table.section.analysis))},
           {"kind", std::string(to_string(table.plan.options().kind))}})
    hdf5::make_text_attribute(file, "/", name, value);
  bool group = false;
  for (long k = 0; k < table.plan.size(); ++k) {
    if (table.rows[static_cast<std::size_t>(k)].length == 0) continue;
    if (!group) hdf5::make_group(file, "runs");
    group = true;
    const std::string run = fmt::format("runs/{:06}", k);
    hdf5::make_group(file, run);
    for (const SweepBlock& block : blocks(k)) {
      const std::string name = run + "/" + block.name;
      const std::size_t width = std::max<std::size_t>(1, block.columns.size());
      hdf5::make_matrix(file, name, hdf5::Element::float64, block.values.size() / width, width, block.values.data());
      hdf5::make_texts_attribute(file, name, "columns", block.columns);
    }
  }
  file.close();
}

}  // namespace

void write_sweep_h5(const std::filesystem::path& path, const SweepTable& table, const ResultHeader& header,
                    const std::function<std::vector<SweepBlock>(long)>& blocks) {
  const hdf5::Quiet quiet;
  std::filesystem::path part = path;
  part += ".part";
  try {
    fill_sweep_h5(part, table, header, blocks);
    std::filesystem::rename(part, path);
  } catch (const std::filesystem::filesystem_error& error) {
    throw OutputError(fmt::format("{}: cannot write: {}", path.string(), error.code().message()));
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw;
  }
}

std::string sweep_status(const SweepTable& table, const SweepEnd& end) {
  if (end.status != Status::success) return std::string(to_string(end.status));
  return table.failed() > 0 ? "failures" : "success";
}

std::string sweep_json(const SweepTable& table, const ResultHeader& header, const SweepEnd& end) {
  const SweepKind kind = table.plan.options().kind;
  const bool drawn = kind == SweepKind::random || kind == SweepKind::latin;
  Json over = Json::array(), outputs = Json::array(), failures = Json::array(), parameters = Json::object();
  for (std::size_t k = 0; k < table.plan.axes().size(); ++k) {
    double least = HUGE_VAL, greatest = -HUGE_VAL;
    for (long run = 0; run < table.plan.size(); ++run) {
      least = std::min(least, table.plan.value(run, k));
      greatest = std::max(greatest, table.plan.value(run, k));
    }
    const SweepAxis& axis = table.plan.axes()[k];
    over.push_back({{"key", axis.key},
                    {"count", axis.values.empty() ? table.plan.size() : static_cast<long>(axis.values.size())},
                    {"minimum", number(least)},
                    {"maximum", number(greatest)}});
  }
  for (std::size_t k = 0; k < table.outputs.size(); ++k) {
    const OutputStatistics s = statistics_of(table, k);
    outputs.push_back({{"name", table.outputs[k]},
                       {"minimum", number(s.minimum)},
                       {"maximum", number(s.maximum)},
                       {"mean", number(s.mean)},
                       {"deviation", number(s.deviation)},
                       {"count", s.count}});
    if (!drawn) continue;
    outputs.back()["confidence"] = {number(s.mean - s.half_interval()), number(s.mean + s.half_interval())};
    const std::vector<double> fractions{0.05, 0.25, 0.5, 0.75, 0.95}, quantiles = quantiles_of(table, k, fractions);
    for (std::size_t q = 0; q < fractions.size(); ++q)
      outputs.back()["quantiles"][fmt::format("{}", fractions[q])] = number(quantiles[q]);
  }
  constexpr std::size_t kMostFailures = 100;
  for (long run = 0; run < table.plan.size() && failures.size() < kMostFailures; ++run) {
    const SweepRow& row = table.rows[static_cast<std::size_t>(run)];
    if (!row.done || row.status == Status::success) continue;
    Json values = Json::object();
    for (std::size_t k = 0; k < table.plan.axes().size(); ++k)
      values[table.plan.axes()[k].key] = number(table.plan.value(run, k));
    failures.push_back({{"run", run}, {"status", to_string(row.status)}, {"message", row.message}, {"values", values}});
  }
  for (const auto& [name, value] : header.inputs.parameters) parameters[name] = number(value);
  const long done = table.done(), failed = table.failed();
  Json json{{"status", sweep_status(table, end)},
            {"message", end.message},
            {"title", header.title},
            {"model", header.model},
            {"analysis", to_string(table.section.analysis)},
            {"kind", to_string(table.plan.options().kind)},
            {"runs", table.plan.size()},
            {"done", done},
            {"succeeded", done - failed},
            {"failed", failed},
            {"over", over},
            {"outputs", outputs},
            {"failures", failures},
            {"threads", end.threads},
            {"processes", end.processes},
            {"resumed", end.resumed},
            {"wall_seconds", end.wall_seconds},
            {"version", header.version},
            {"date", header.inputs.date},
            {"set", header.inputs.settings},
            {"parameters", parameters},
            {"model_text", header.inputs.model_text}};
  if (drawn) {
    const auto [low, high] = success_interval(done - failed, done);
    json["success_interval"] = {number(low), number(high)};
  }
  return dumped(json, 2) + "\n";
}

std::string write_sweep_tables(const std::filesystem::path& folder, const SweepTable& table, const ResultHeader& header,
                               const SweepEnd& end, const std::function<std::vector<SweepBlock>(long)>& blocks) {
  const std::string summary = sweep_json(table, header, end);
  write_text_file(folder / "sweep.csv", sweep_csv(table));
  write_sweep_h5(folder / "sweep.h5", table, header, blocks);
  write_text_file(folder / "summary.json", summary);
  return summary;
}

std::string sweep_identity(const SweepRunner& runner, const ResultHeader& header) {
  Json files = Json::array();
  for (const auto& [name, text] : header.inputs.files) files.push_back({name, text});
  if (runner.data_text()) files.push_back({"data", *runner.data_text()});
  return dumped(Json{{"version", header.version},
                     {"model_text", header.inputs.model_text},
                     {"settings", header.inputs.settings},
                     {"files", files}},
                -1);
}

}  // namespace stickslip
