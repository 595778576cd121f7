// SPDX-License-Identifier: Apache-2.0
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <chrono>
#include <optional>

#include "python/bindings.hpp"
#include "stickslip/motion/trajectory.hpp"

namespace py = pybind11;

namespace stickslip::python {

namespace {

/// A value as a model file writes it.
std::string toml_value(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::sequence>(value) || py::hasattr(value, "tolist")) {
    const py::object list = py::hasattr(value, "tolist") ? value.attr("tolist")() : py::reinterpret_borrow<py::object>(value);
    if (!py::isinstance<py::sequence>(list)) return toml_value(list);
    std::string text = "[";
    for (const py::handle entry : list.cast<py::sequence>()) {
      if (text.size() > 1) text += ", ";
      text += py::isinstance<py::str>(entry) ? "\"" + entry.cast<std::string>() + "\"" : toml_value(entry);
    }
    return text + "]";
  }
  return py::repr(value).cast<std::string>();  // of a float: the shortest text that reads back as the same bits
}

bool is_number(const py::handle& value) {
  return !py::isinstance<py::bool_>(value) && !py::isinstance<py::str>(value) &&
         (PyFloat_Check(value.ptr()) || PyIndex_Check(value.ptr()) || py::hasattr(value, "__float__")) &&
         !py::hasattr(value, "__len__");
}

std::vector<std::string> settings_of(const PythonCase& c) {
  std::vector<std::string> settings = c.model.settings;
  for (const NamedNumber& change : c.live.changes()) settings.push_back(setting_of(c.live.parameters(), change));
  return settings;
}

/// In one go: numbers alone through the live case, else all as overrides.
void set(PythonCase& c, const py::dict& values) {
  std::vector<NamedNumber> numbers;
  for (const auto& [key, value] : values)
    if (is_number(value)) numbers.push_back({key.cast<std::string>(), value.cast<double>()});
  if (numbers.size() == values.size()) {
    c.live.set(numbers);
    return;
  }
  std::vector<std::string> overrides;
  for (const NamedNumber& change : c.live.changes()) overrides.push_back(setting_of(c.live.parameters(), change));
  for (const auto& [key, value] : values)
    overrides.push_back(key.cast<std::string>() + "=" + toml_value(value));
  c = PythonCase(with_overrides(c.model, overrides));
}

/// Python hears Ctrl-C when it is asked; asking takes its lock, so that is done a few times a second.
class Interrupts {
 public:
  bool heard() {
    constexpr std::chrono::milliseconds kPause{50};
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kPause) return heard_;
    last_ = now;
    const py::gil_scoped_acquire lock;
    heard_ = heard_ || PyErr_CheckSignals() != 0;
    return heard_;
  }
  bool was_heard() const { return heard_; }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool heard_ = false;
};

using Watch = std::function<py::object(double, const std::vector<double>&, const std::vector<double>&)>;

/// False, and nothing else, stops a run.
bool goes_on(const Watch& watch, const State& state) {
  const py::gil_scoped_acquire lock;
  const py::object answer = watch(state.t, {state.q.begin(), state.q.end()}, {state.v.begin(), state.v.end()});
  return !answer.is(py::bool_(false));
}

std::shared_ptr<Result> run(const PythonCase& c, const std::optional<Watch>& watch) {
  auto result = std::make_shared<Result>();
  Interrupts interrupts;
  SimulationHooks hooks;
  hooks.keep_going = [&](const State& state) { return !interrupts.heard() && (!watch || goes_on(*watch, state)); };
  {
    const Case live = c.live;  // another thread may set the case meanwhile
    const py::gil_scoped_release unlocked;
    result->run = live.run(hooks);
    result->scheme = to_string(live.options().scheme);
    result->velocities = velocity_columns(result->run.trajectory.names());
  }
  if (interrupts.was_heard()) throw py::error_already_set();
  return result;
}

py::dict parameters(const PythonCase& c) {
  py::dict all;
  for (const auto& [name, value] : c.live.parameters()) all[py::str(name)] = value;
  return all;
}

PythonCase restore(const py::tuple& state) {
  using Texts = std::vector<std::string>;
  return PythonCase(parse_model(state[0].cast<std::string>(), state[1].cast<std::string>(), state[2].cast<Texts>(),
                                state[3].cast<std::vector<FileText>>()));
}

}  // namespace

void bind_case(py::module_& module) {
  py::class_<PythonCase>(module, "Case", "A system, its start and the options of a run; every number of it is live.")
      .def("_set", &set)
      .def("_run", &run, py::arg("watch") = py::none())
      .def("__getitem__", [](const PythonCase& c, const std::string& name) { return c.live.get(name); })
      .def("copy", [](const PythonCase& c) { return c; }, "An independent case with the same numbers.")
      .def("__copy__", [](const PythonCase& c) { return c; })
      .def("__deepcopy__", [](const PythonCase& c, const py::dict&) { return c; })
      .def_property_readonly("parameters", &parameters, "Names and values of [parameters].")
      .def_property_readonly("settings", &settings_of, "What was set, each as KEY=VALUE for --set.")
      .def_property_readonly("title", [](const PythonCase& c) { return c.model.title; })
      .def_property_readonly("path", [](const PythonCase& c) { return c.model.path; })
      .def_property_readonly("text", [](const PythonCase& c) { return c.model.text; }, "Of the model file.")
      .def_property_readonly("scheme",
                             [](const PythonCase& c) { return std::string(to_string(c.live.options().scheme)); })
      .def_property_readonly(
          "coordinates",
          [](const PythonCase& c) { return trajectory_names(c.live.system(), c.live.options()).coordinates; })
      .def_property_readonly(
          "velocities",
          [](const PythonCase& c) { return velocity_columns(trajectory_names(c.live.system(), c.live.options())); })
      .def_property_readonly(
          "laws", [](const PythonCase& c) { return trajectory_names(c.live.system(), c.live.options()).laws; })
      .def(py::pickle(
          [](const PythonCase& c) { return py::make_tuple(c.model.text, c.model.path, settings_of(c), c.model.files); },
          &restore));
  using Texts = std::vector<std::string>;
  module.def("_read", [](const std::string& path, const Texts& set) { return PythonCase(read_model(path, set)); });
  module.def("_parse", [](const std::string& text, const std::string& path, const Texts& set) {
    return PythonCase(parse_model(text, path, set));
  });
  module.def("_toml_value", &toml_value);
}

}  // namespace stickslip::python
