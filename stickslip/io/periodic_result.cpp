// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/periodic_result.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stickslip/common/error.hpp"
#include "stickslip/io/csv_writer.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/motion/event/mode_dynamics.hpp"

namespace stickslip {

namespace {

using Json = nlohmann::ordered_json;

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
Json array(const Vector& x) {
  Json list = Json::array();
  for (const double value : x) list.push_back(number(value));
  return list;
}
Json flag(const std::optional<bool>& stable) { return stable ? Json(*stable) : Json(nullptr); }

Json branch_json(const PeriodicResult& result) {
  Json points = Json::array(), folds = Json::array(), bifurcations = Json::array();
  for (const BranchPoint& point : result.branch.points) {
    Json entry{{"value", number(point.value)},        {"period", number(point.period)},
               {"amplitude", array(point.amplitude)}, {"stable", flag(point.stable)},
               {"residual", number(point.residual)},  {"branch", point.branch}};
    if (!point.rejected.empty()) entry["rejected"] = point.rejected;
    points.push_back(std::move(entry));
  }
  for (const Bifurcation& b : result.branch.bifurcations) {
    if (b.kind == "fold") folds.push_back(number(b.value));
    bifurcations.push_back({{"kind", b.kind}, {"value", number(b.value)}, {"branch", b.branch}});
  }
  return {{"parameter", result.branch_options.parameter},
          {"points", points},
          {"folds", folds},
          {"bifurcations", bifurcations}};
}

Json mode_json(const System& system, const NonlinearMode& mode) {
  Json points = Json::array(), response = Json::array();
  for (const NonlinearModePoint& p : mode.points)
    points.push_back({{"amplitude", number(p.amplitude)},
                      {"frequency", number(p.omega)},
                      {"damping", number(p.damping)},
                      {"residual", number(p.residual)}});
  for (const SynthesisedPoint& p : mode.response())
    response.push_back({{"frequency", number(p.omega)}, {"amplitude", number(p.amplitude)}});
  return {{"coordinate", system.info().coordinates[static_cast<std::size_t>(mode.coordinate)]},
          {"linear_frequency", number(mode.linear_omega)},
          {"points", points},
          {"response", response}};
}

}  // namespace

std::string mode_csv(const System& system, const NonlinearMode& mode) {
  const TrajectoryNames names = trajectory_names(system, false);
  std::string text = "amplitude,frequency,damping,residual";
  for (const std::string& name : names.coordinates) text += "," + csv_cell("amplitude_" + name);
  for (const std::string& law : names.laws) text += "," + csv_cell("stick_" + law);
  text += "\n";
  for (const NonlinearModePoint& p : mode.points) {
    text += fmt::format("{},{},{},{}", p.amplitude, p.omega, p.damping, p.residual);
    for (const Vector* list : {&p.maximum, &p.stick_fraction})
      for (const double x : *list) text += fmt::format(",{}", x);
    text += "\n";
  }
  return text;
}

std::string periodic_json(const PeriodicResult& result) {
  const PeriodicSolution& s = result.solution;
  const TrajectoryNames names = trajectory_names(result.system, false);
  Json sticks = Json::object(), multipliers = Json::array(), certificates = Json::array(), parameters = Json::object();
  for (std::size_t k = 0; k < names.laws.size() && static_cast<Index>(k) < s.orbit.stick_fraction.size(); ++k)
    sticks[names.laws[k]] = number(s.orbit.stick_fraction[static_cast<Index>(k)]);
  for (const auto& value : s.multipliers) multipliers.push_back({number(value.real()), number(value.imag())});
  Json hill = Json::array();
  for (const auto& value : s.hill) hill.push_back({number(value.real()), number(value.imag())});
  for (const Certificate& c : s.certificates)
    certificates.push_back({{"name", c.name},
                            {"value", number(c.value)},
                            {"limit", number(c.limit)},
                            {"ok", c.ok},
                            {"meaning", c.meaning}});
  for (const auto& [name, value] : result.header.inputs.parameters) parameters[name] = number(value);
  Json json{{"status", periodic_status_name(s.status)},
            {"message", s.message},
            {"title", result.header.title},
            {"model", result.header.model},
            {"method", s.method},
            {"version", result.header.version},
            {"period", number(s.period)},
            {"coordinates", names.coordinates},
            {"minimum", array(s.orbit.minimum)},
            {"maximum", array(s.orbit.maximum)},
            {"amplitude", array(s.amplitude())},
            {"stick_fraction", sticks},
            {"multipliers", multipliers},
            {"hill", hill},
            {"stable", flag(s.stable)},
            {"residual", number(s.residual)},
            {"iterations", s.iterations},
            {"unknowns", s.unknowns},
            {"polished", s.polished},
            {"certificates", certificates},
            {"notes", s.notes}};
  if (!result.branch_options.parameter.empty()) json["branch"] = branch_json(result);
  if (result.mode) json["mode"] = mode_json(result.system, *result.mode);
  json["wall_seconds"] = result.wall_seconds;
  json["date"] = result.header.inputs.date;
  json["set"] = result.header.inputs.settings;
  json["parameters"] = parameters;
  json["model_text"] = result.header.inputs.model_text;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_orbit(const std::filesystem::path& folder, const System& system, const Orbit& orbit) {
  const TrajectoryNames names = trajectory_names(system, false);
  Trajectory rows(names, system.info().nq(), system.info().nv(), static_cast<Index>(orbit.t.size()));
  for (std::size_t j = 0; j < orbit.t.size(); ++j) {
    OutputRow row;
    row.t = orbit.t[j];
    row.q = orbit.q[j];
    row.v = orbit.v[j];
    row.reaction = j < orbit.r.size() ? orbit.r[j] : Vector::Zero(static_cast<Index>(names.reactions.size()));
    row.smooth = Vector::Zero(row.reaction.size());
    row.modes = orbit.modes[j];
    rows.append(row);
  }
  rows.events = orbit.events;
  write_trajectory_csv(folder / "orbit.csv", rows);
  write_events_csv(folder / "events.csv", rows);
}

std::string branch_csv_header(const System& system) {
  const TrajectoryNames names = trajectory_names(system, false);
  std::string text = "value,period,stable,residual";
  for (const char* what : {"amplitude_", "minimum_", "maximum_"})
    for (const std::string& name : names.coordinates) text += "," + csv_cell(what + name);
  for (const std::string& law : names.laws) text += "," + csv_cell("stick_" + law);
  return text + ",multiplier,branch\n";
}

std::string branch_csv_row(const BranchPoint& point) {
  std::string text = fmt::format("{},{},{},{}", point.value, point.period,
                                 point.stable ? (*point.stable ? "1" : "0") : "nan", point.residual);
  for (const Vector* list : {&point.amplitude, &point.minimum, &point.maximum, &point.stick_fraction})
    for (const double x : *list) text += fmt::format(",{}", x);
  double largest = NAN;
  for (const auto& value : point.multipliers) largest = std::fmax(largest, std::abs(value));
  return text + fmt::format(",{},{}\n", largest, point.branch);
}

Orbit read_orbit(const std::filesystem::path& file, const System& system) {
  constexpr std::size_t kLargest = 1024 * kMebibyte;
  std::istringstream text(read_text_file(file.string(), kLargest));
  std::string line, wanted;
  const TrajectoryNames names = trajectory_names(system, false);
  for (const std::string& column : trajectory_columns(names)) wanted += (wanted.empty() ? "" : ",") + csv_cell(column);
  std::getline(text, line);
  if (line != wanted)
    throw InputError(fmt::format("{}: the columns are '{}', this model's are '{}'; give an orbit of the same model",
                                 file.string(), line, wanted));
  const Index nq = system.info().nq(), nv = system.info().nv(), m = static_cast<Index>(names.reactions.size());
  Orbit orbit;
  for (int number = 2; std::getline(text, line); ++number) {
    std::vector<double> cells;
    const char *at = line.data(), *end = at + line.size();
    while (at < end) {
      double value = 0;
      const auto [next, error] = std::from_chars(at, end, value);
      if (error != std::errc{}) break;
      cells.push_back(value);
      at = next < end ? next + 1 : next;
    }
    if (static_cast<Index>(cells.size()) < 1 + nq + nv + m)
      throw InputError(
          fmt::format("{}:{}: {} numbers instead of {}", file.string(), number, cells.size(), 1 + nq + nv + m));
    orbit.t.push_back(cells[0]);
    orbit.q.push_back(Eigen::Map<const Vector>(cells.data() + 1, nq));
    orbit.v.push_back(Eigen::Map<const Vector>(cells.data() + 1 + nq, nv));
    orbit.r.push_back(Eigen::Map<const Vector>(cells.data() + 1 + nq + nv, m));
  }
  if (orbit.t.size() < 4) throw InputError(fmt::format("{}: an orbit needs at least four rows", file.string()));
  orbit.t0 = orbit.t.front();
  orbit.period = orbit.t.back() - orbit.t.front();
  const ModeDynamics laws(system);
  ModeDynamics dynamics(system);
  for (std::size_t j = 0; j < orbit.t.size(); ++j) {
    dynamics.place(orbit.t[j], orbit.q[j], orbit.v[j]);
    std::vector<Mode> modes;
    for (std::size_t k = 0; k < dynamics.laws().size(); ++k) {
      const ModeDynamics::Law& law = dynamics.laws()[k];
      const auto u = dynamics.u().segment(law.tangent(), law.tangents);
      const bool open = law.contact && !(orbit.r[j][law.first] > 0);
      modes.push_back(open                ? Mode::open
                      : law.tangents == 0 ? Mode::closed
                      : law.tangents == 1 ? mode_of(u[0])
                                          : mode_of(u[0], u[1]));
    }
    orbit.u.push_back(dynamics.u());
    orbit.gap.push_back(dynamics.gaps());
    orbit.limit.push_back(Vector::Zero(static_cast<Index>(modes.size())));
    orbit.modes.push_back(std::move(modes));
  }
  read_rows(orbit);
  return orbit;
}

}  // namespace stickslip
