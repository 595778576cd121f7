// SPDX-License-Identifier: Apache-2.0
// Columns of results over one another, as a picture: several runs overlaid, phase portraits, friction over slip,
// Poincaré sections, spectra.
#include "cli/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unsupported/Eigen/FFT>

#include "cli/commands.hpp"
#include "cli/figure.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/csv_reader.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/result_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

fs::path table_of(const std::string& result) {
  if (fs::is_regular_file(result)) return result;
  if (const std::string name = result_table_name(result); !name.empty()) return fs::path(result) / name;
  throw InputError(fmt::format(
      "{}: {}", result,
      fs::exists(result) ? "the folder holds no trajectory.csv, branch.csv, orbit.csv, sweep.csv or bifurcation.csv"
                         : "there is no such folder or CSV file; run a model first"));
}

void read_csv(const fs::path& path, ResultTable& table) {
  constexpr std::size_t kLargest = 4096 * kMebibyte;
  const std::string text = read_text_file(path.string(), kLargest);
  CsvReader lines(text);
  std::vector<std::string_view> cells;
  while (lines.next(cells)) {
    if (table.names.empty()) {
      table.names.assign(cells.begin(), cells.end());
      table.values.resize(table.names.size());
      continue;
    }
    if (cells.size() != table.names.size()) continue;  // the last line of a file that is being written
    for (std::size_t k = 0; k < cells.size(); ++k)
      table.values[k].push_back(parse_finite_number(cells[k]).value_or(kNaN));
  }
}

/// Time, positions, velocities and reactions, whose names come first among those of the text.
void read_growing(const fs::path& path, ResultTable& table) {
  const ResultFile file = read_result_file(path);
  table.names = trajectory_columns(file.names);
  table.values = {file.t};
  for (const RowMatrix* part : {&file.position, &file.velocity, &file.reaction})
    for (Index j = 0; j < part->cols(); ++j) {
      std::vector<double>& column = table.values.emplace_back();
      for (Index i = 0; i < part->rows(); ++i) column.push_back((*part)(i, j));
    }
  table.names.resize(std::min(table.names.size(), table.values.size()));
  table.values.resize(table.names.size());
}

const std::vector<double>& column(const ResultTable& table, const std::string& name, const char* option) {
  const auto at = std::find(table.names.begin(), table.names.end(), name);
  if (at == table.names.end())
    throw InputError(
        fmt::format("{} {}: {} has no such column{}", option, name, table.path, name_hint(name, table.names)));
  return table.values[static_cast<std::size_t>(at - table.names.begin())];
}

bool has_numbers(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// The first column that holds numbers: of a trajectory the time.
const std::string& default_x(const ResultTable& table) {
  for (std::size_t k = 0; k < table.names.size(); ++k)
    if (has_numbers(table.values[k])) return table.names[k];
  throw InputError(fmt::format("{}: no column holds numbers", table.path));
}

/// Coordinates of a trajectory; of other tables what holds numbers, behind the column along the axis.
std::vector<std::string> default_columns(const ResultTable& table) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> chosen;
  const auto derived = [&](const std::string& name) {
    return name.starts_with("v_") || name.starts_with("r_") || name.starts_with("d_") || name.starts_with("u_");
  };
  for (const bool coordinates : {true, false}) {
    const auto x = std::find(table.names.begin(), table.names.end(), default_x(table)) - table.names.begin();
    for (auto k = static_cast<std::size_t>(x) + 1; k < table.names.size() && chosen.size() < kMost; ++k)
      if (derived(table.names[k]) != coordinates && has_numbers(table.values[k])) chosen.push_back(table.names[k]);
    if (!chosen.empty()) break;
  }
  if (chosen.empty()) throw InputError(fmt::format("{}: no column but the first holds numbers", table.path));
  return chosen;
}

std::string with_unit(const std::string& name) {
  if (name == "t") return "t [s]";
  if (name.starts_with("r_")) return name + " [N or N m]";
  return name;
}

/// A name with a comma in it stands in quotes.
std::vector<std::string> split(const std::string& text) {
  CsvReader reader(text);
  std::vector<std::string_view> fields;
  reader.next(fields);
  return {fields.begin(), fields.end()};
}

/// The value at time t, on the line between the rows around it.
double at_time(const std::vector<double>& t, const std::vector<double>& y, double time) {
  const auto after = std::lower_bound(t.begin(), t.end(), time);
  if (after == t.end()) return y.back();
  const auto i = static_cast<std::size_t>(after - t.begin());
  if (i == 0 || t[i] == time || !(t[i] > t[i - 1])) return y[i];
  const double share = (time - t[i - 1]) / (t[i] - t[i - 1]);
  return (1 - share) * y[i - 1] + share * y[i];
}

/// Once per period from `after` on.
FigureSeries section(const ResultTable& table, const std::string& x, const std::string& y, double period,
                     double after) {
  const std::vector<double>& t = column(table, "t", "--section needs the column");
  constexpr double kMost = 1e6;
  FigureSeries points;
  points.points = true;
  if ((t.back() - t.front()) / period > kMost)
    throw InputError(fmt::format(
        "the period of {:g} s of a section is shorter than a millionth of the run; give that of the motion in s",
        period));
  const auto first = static_cast<long>(std::ceil((after - t.front()) / period - 1e-9));
  for (long k = std::max(0L, first);; ++k) {
    const double time = t.front() + static_cast<double>(k) * period;
    if (time > t.back() * (1 + 1e-12)) break;
    points.x.push_back(at_time(t, column(table, x, "--x"), time));
    points.y.push_back(at_time(t, column(table, y, "--y"), time));
  }
  if (points.x.empty())
    throw InputError(fmt::format("--section {}: {} is over before one period has passed", period, table.path));
  return points;
}

/// Amplitudes over frequency [Hz]: equal times by lines between the rows, mean taken off, Hann's window.
FigureSeries spectrum(const ResultTable& table, const std::string& y, double after) {
  const std::vector<double>&t = column(table, "t", "--spectrum needs the column"), &values = column(table, y, "--y");
  const double from = std::max(after, t.front()), length = t.back() - from;
  std::size_t count = 16;
  while (count < t.size() && count < (std::size_t{1} << 20)) count *= 2;
  if (!(length > 0))
    throw InputError(
        fmt::format("{}: no time is left for a spectrum; it needs rows at ascending times, and --after before the last",
                    table.path));
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t[i] >= from && !std::isfinite(values[i]))
      throw InputError(fmt::format(
          "--spectrum: {} of {} has no number at t = {:g} s; a spectrum needs all of them, so choose another "
          "column, or begin later with --after",
          y, table.path, t[i]));
  std::vector<double> samples(count);
  double mean = 0;
  for (std::size_t i = 0; i < count; ++i) {
    samples[i] = at_time(t, values, from + length * static_cast<double>(i) / static_cast<double>(count));
    mean += samples[i] / static_cast<double>(count);
  }
  for (std::size_t i = 0; i < count; ++i)
    samples[i] = (samples[i] - mean) * (1 - std::cos(2 * M_PI * static_cast<double>(i) / static_cast<double>(count)));
  std::vector<std::complex<double>> transformed;
  Eigen::FFT<double> fft;
  fft.fwd(transformed, samples);
  FigureSeries result;
  for (std::size_t k = 0; k <= count / 2; ++k) {
    result.x.push_back(static_cast<double>(k) / length);
    result.y.push_back(2 * std::abs(transformed[k]) / static_cast<double>(count));
  }
  return result;
}

FigureSeries rows_after(const ResultTable& table, const std::string& x, const std::string& y, double after) {
  const std::vector<double>&xs = column(table, x, "--x"), &ys = column(table, y, "--y");
  const bool timed = table.names.front() == "t";
  FigureSeries series;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (timed && table.values.front()[i] < after) continue;
    series.x.push_back(xs[i]);
    series.y.push_back(ys[i]);
  }
  return series;
}

/// How many points, and where the largest number is: what a spectrum is looked at for.
nlohmann::json described(const FigureSeries& series) {
  std::size_t top = 0;
  for (std::size_t i = 0; i < series.y.size(); ++i)
    if (!(series.y[i] <= series.y[top])) top = std::isnan(series.y[i]) ? top : i;
  nlohmann::json json{{"label", series.label}, {"points", series.x.size()}};
  if (!series.y.empty()) json["largest"] = {series.x[top], series.y[top]};
  return json;
}

}  // namespace

std::string result_table_name(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"trajectory.csv", "branch.csv", "orbit.csv", "sweep.csv", "bifurcation.csv", "result.h5"})
    if (fs::exists(folder / name, ignored)) return name;
  return "";
}

ResultTable read_result_table(const std::string& result) {
  const fs::path path = table_of(result);
  ResultTable table{result, path.string(), {}, {}};
  while (table.label.size() > 1 && table.label.back() == '/') table.label.pop_back();
  path.extension() == ".h5" ? read_growing(path, table) : read_csv(path, table);
  if (table.names.empty() || table.values.front().empty())
    throw InputError(fmt::format("{}: there are no rows in it", table.path));
  return table;
}

Figure compose_figure(const PlotCommand& command, const std::vector<ResultTable>& tables) {
  Figure figure;
  figure.title = command.title;
  figure.width = command.width;
  figure.height = command.height;
  figure.dark = command.dark;
  const std::string x = command.x.empty() ? default_x(tables.front()) : command.x;
  const std::vector<std::string> ys = command.y.empty() ? default_columns(tables.front()) : split(command.y);
  for (const std::string& y : ys) {
    FigurePanel panel{
        command.spectrum ? "frequency [Hz]" : with_unit(x), command.spectrum ? "amplitude of " + y : with_unit(y), {}};
    for (const ResultTable& table : tables) {
      FigureSeries series = command.spectrum      ? spectrum(table, y, command.after)
                            : command.section > 0 ? section(table, x, y, command.section, command.after)
                                                  : rows_after(table, x, y, command.after);
      series.points |= fs::path(table.path).filename() == "bifurcation.csv";
      if (tables.size() > 1) series.label = table.label;
      if (series.x.empty())
        throw InputError(fmt::format("--after {:g}: {} has no rows then", command.after, table.path));
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

int plot(const PlotCommand& command) {
  for (const auto& [option, value] : {std::pair{"--section", command.section},
                                      {"--after", command.after},
                                      {"--width", command.width},
                                      {"--height", command.height}})
    if (std::isnan(value) || value == HUGE_VAL)
      throw InputError(fmt::format("{} {}: a finite number belongs here", option, value));
  if (command.spectrum && (command.section > 0 || !command.x.empty()))
    throw InputError("--spectrum has its own axis: leave --x and --section out");
  std::vector<ResultTable> tables;
  for (const std::string& result : command.results) tables.push_back(read_result_table(result));
  const Figure figure = compose_figure(command, tables);
  write_figure(figure, command.out);
  if (command.json) {
    nlohmann::json panels = nlohmann::json::array();
    for (const FigurePanel& panel : figure.panels) {
      nlohmann::json drawn = nlohmann::json::array();
      for (const FigureSeries& series : panel.series) drawn.push_back(described(series));
      panels.push_back({{"x", panel.x_label}, {"y", panel.y_label}, {"series", drawn}});
    }
    write_out(nlohmann::json{{"status", "success"}, {"file", command.out}, {"panels", panels}}.dump(2) + "\n");
  } else {
    print_out("{}\n", command.out);
  }
  return kSuccess;
}

}  // namespace stickslip::cli
