// SPDX-License-Identifier: Apache-2.0
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cmath>
#include <cstddef>

#include "cli/report_page.hpp"
#include "python/bindings.hpp"
#include "stickslip/io/result_header.hpp"
#include "stickslip/io/simulation_report.hpp"
#include "stickslip/io/simulation_scene.hpp"

namespace py = pybind11;

namespace stickslip::python {

namespace {

/// A view of memory that `owner` keeps alive; nobody writes through it.
template <class Number>
py::array view(const Number* data, std::vector<py::ssize_t> shape, std::vector<py::ssize_t> strides,
               const py::object& owner) {
  py::array_t<Number> table(std::move(shape), std::move(strides), data, owner);
  table.attr("setflags")(py::arg("write") = false);
  return table;
}

py::array table(const py::object& owner, std::span<const double> numbers, std::size_t columns) {
  const auto rows =
      static_cast<py::ssize_t>(columns > 0 ? numbers.size() / columns : owner.cast<Result&>().run.trajectory.rows());
  constexpr auto kSize = static_cast<py::ssize_t>(sizeof(double));
  const auto n = static_cast<py::ssize_t>(columns);
  return view(numbers.data(), {rows, n}, {n * kSize, kSize}, owner);
}

const Trajectory& trajectory(const py::object& self) { return self.cast<Result&>().run.trajectory; }

py::array times(const py::object& self) {
  const std::span<const double> t = trajectory(self).times();
  return view(t.data(), {static_cast<py::ssize_t>(t.size())}, {static_cast<py::ssize_t>(sizeof(double))}, self);
}

py::dict energy(const py::object& self) {
  const std::span<const EnergyLedger> ledger = trajectory(self).energies();
  const auto part = [&](double EnergyLedger::*field) {
    const double* first = ledger.empty() ? nullptr : &(ledger.front().*field);
    return view(first, {static_cast<py::ssize_t>(ledger.size())}, {static_cast<py::ssize_t>(sizeof(EnergyLedger))},
                self);
  };
  py::dict parts;
  parts["kinetic"] = part(&EnergyLedger::kinetic);
  parts["potential"] = part(&EnergyLedger::potential);
  parts["work_in"] = part(&EnergyLedger::work_in);
  parts["friction_loss"] = part(&EnergyLedger::friction_loss);
  parts["damper_loss"] = part(&EnergyLedger::damper_loss);
  parts["impact_loss"] = part(&EnergyLedger::impact_loss);
  return parts;
}

py::array modes(const py::object& self) {
  using Number = std::underlying_type_t<Mode>;
  const Trajectory& rows = trajectory(self);
  const auto laws = static_cast<py::ssize_t>(rows.names().laws.size());
  constexpr auto kSize = static_cast<py::ssize_t>(sizeof(Number));
  return view(reinterpret_cast<const Number*>(rows.modes().data()), {rows.rows(), laws}, {laws * kSize, kSize}, self);
}

template <class Kind>
std::string text(Kind kind) {
  return std::string(to_string(kind));
}

py::list events(const py::object& self) {
  const Trajectory& rows = trajectory(self);
  const py::object make = py::module_::import("stickslip").attr("Event");
  py::list list;
  for (const Event& event : rows.events)
    list.append(make(event.t, rows.names().laws[static_cast<std::size_t>(event.law)], text(event.kind),
                     text(event.before), text(event.after), event.impulse));
  return list;
}

py::list audit(const Result& result) {
  const py::object make = py::module_::import("stickslip").attr("AuditItem");
  py::list list;
  for (const AuditItem& item : result.run.audit)
    list.append(make(item.name, item.value, item.guaranteed ? py::object(py::float_(item.limit)) : py::none(), item.ok,
                     item.unit, item.meaning));
  return list;
}

std::vector<double> numbers(const Vector& x) { return {x.begin(), x.end()}; }

/// The page of the program, without a folder.
std::string html(const Result& result) {
  const py::gil_scoped_release unlocked;
  const ModelFile model = result.made_of->current();
  const ResultHeader header = result_header(model, model.path);
  ReportDocument page = simulation_report(header, result.run, result.wall_seconds, {.units = report_units(model)});
  page.notes.insert(page.notes.end(), result.run.notes.begin(), result.run.notes.end());
  if (std::optional<ReportScene> scene = simulation_scene(model, result.run))
    page.blocks.insert(page.blocks.begin(), std::move(*scene));
  return page_html(page);
}

/// As summary.json.
std::string json(const Result& result) {
  const ModelFile model = result.made_of->current();
  return summary_json(summary_data(result_header(model, model.path), result.run, result.wall_seconds));
}

}  // namespace

std::string page_html(const ReportDocument& page) { return cli::report_html(page); }

py::object array_of(const std::vector<double>& values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::object table_of(const std::vector<Vector>& rows) {
  const py::ssize_t columns = rows.empty() ? 0 : rows.front().size();
  py::array_t<double> result({static_cast<py::ssize_t>(rows.size()), columns});
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (py::ssize_t i = 0; i < columns; ++i)
      result.mutable_at(static_cast<py::ssize_t>(k), i) = i < rows[k].size() ? rows[k][i] : std::nan("");
  return result;
}

void bind_result(py::module_& module) {
  const auto names = [](const Result& r) -> const TrajectoryNames& { return r.run.trajectory.names(); };
  py::class_<Result, std::shared_ptr<Result>>(module, "Result",
                                              "What a run has computed; arrays are views, not copies.")
      .def_property_readonly("status", [](const Result& r) { return text(r.run.status); })
      .def_property_readonly("ok", [](const Result& r) { return r.run.status == Status::success; })
      .def_property_readonly("message", [](const Result& r) { return r.run.message; })
      .def_property_readonly("scheme",
                             [](const Result& r) { return std::string(to_string(r.made_of->live.options().scheme)); })
      .def_property_readonly("steps", [](const Result& r) { return r.run.steps; })
      .def_property_readonly("notes", [](const Result& r) { return r.run.notes; })
      .def_property_readonly("audit", &audit)
      .def_property_readonly("t", &times, "Times of the rows [s].")
      .def_property_readonly(
          "position",
          [](const py::object& s) {
            return table(s, trajectory(s).positions(), trajectory(s).names().coordinates.size());
          },
          "Times x coordinates [m, rad].")
      .def_property_readonly(
          "velocity",
          [](const py::object& s) { return table(s, trajectory(s).velocities(), s.cast<Result&>().velocities.size()); },
          "Times x velocities [m/s, rad/s].")
      .def_property_readonly(
          "reaction",
          [](const py::object& s) {
            return table(s, trajectory(s).reactions(), trajectory(s).names().reactions.size());
          },
          "Times x components of reactions, mean over the step that ends there [N, N m].")
      .def_property_readonly("mode", &modes, "Times x laws; numbers of stickslip.MODES.")
      .def_property_readonly("energy", &energy, "Parts of the energy balance over the times [J].")
      .def_property_readonly("events", &events, "In the order of time.")
      .def_property_readonly("coordinates", [=](const Result& r) { return names(r).coordinates; })
      .def_property_readonly("velocities", [](const Result& r) { return r.velocities; })
      .def_property_readonly("laws", [=](const Result& r) { return names(r).laws; })
      .def_property_readonly("reactions", [=](const Result& r) { return names(r).reactions; })
      .def_property_readonly("final_time", [](const Result& r) { return r.run.final.t; })
      .def_property_readonly("final_position", [](const Result& r) { return numbers(r.run.final.q); })
      .def_property_readonly("final_velocity", [](const Result& r) { return numbers(r.run.final.v); })
      .def_property_readonly(
          "wall_seconds", [](const Result& r) { return r.wall_seconds; }, "Of the run [s].")
      .def("_html", &html)
      .def("_json", &json);
  py::list modes;
  for (const Mode mode : {Mode::open, Mode::stick, Mode::slip_plus, Mode::slip_minus, Mode::slip, Mode::closed})
    modes.append(text(mode));
  module.attr("MODES") = py::tuple(modes);
}

}  // namespace stickslip::python
