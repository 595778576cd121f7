// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <optional>

#include "python/bindings.hpp"
#include "python/interrupts.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/motion/trajectory.hpp"

namespace py = pybind11;

namespace stickslip::python {

namespace {

/// As a TOML basic string.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + "\"";
}

std::string type_of(const py::handle& value) { return py::type::of(value).attr("__name__").cast<std::string>(); }

/// A value as a model file writes it.
std::string toml_value(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (py::isinstance<py::str>(value)) return quoted(value.cast<std::string>());
  if (py::isinstance<py::dict>(value)) {
    std::string text = "{";
    for (const auto& [key, entry] : value.cast<py::dict>())
      text += (text.size() > 1 ? ", " : " ") + quoted(name_of(key)) + " = " + toml_value(entry);
    return text + " }";
  }
  if (py::isinstance<py::sequence>(value) || py::hasattr(value, "tolist")) {
    const py::object list =
        py::hasattr(value, "tolist") ? value.attr("tolist")() : py::reinterpret_borrow<py::object>(value);
    if (!py::isinstance<py::sequence>(list)) return toml_value(list);
    std::string text = "[";
    for (const py::handle entry : list.cast<py::sequence>()) text += (text.size() > 1 ? ", " : "") + toml_value(entry);
    return text + "]";
  }
  if (!PyFloat_Check(value.ptr()) && !PyLong_Check(value.ptr()) && !py::hasattr(value, "__float__"))
    throw py::type_error(
        fmt::format("{} of type {} is no value of a model: numbers, texts, lists, arrays and dicts are",
                    py::repr(value).cast<std::string>(), type_of(value)));
  if (!PyFloat_Check(value.ptr()) && !PyLong_Check(value.ptr()))
    return py::repr(py::float_(number_of(value, "a value")));
  if (PyLong_Check(value.ptr()) && _PyLong_NumBits(value.ptr()) > 62)
    return py::repr(py::float_(number_of(value, "a value")));
  return py::repr(value).cast<std::string>();  // of a float: the shortest text that reads back as the same bits
}

/// The right side of --set: a text stands there as it is.
std::string setting_value(const py::handle& value) {
  return py::isinstance<py::str>(value) ? value.cast<std::string>() : toml_value(value);
}

bool is_number(const py::handle& value) {
  return !py::isinstance<py::bool_>(value) && !py::isinstance<py::str>(value) &&
         (PyFloat_Check(value.ptr()) || PyIndex_Check(value.ptr()) || py::hasattr(value, "__float__")) &&
         !py::hasattr(value, "__len__");
}

std::vector<std::string> change_settings(const Case& live) {
  std::vector<std::string> settings;
  for (const NamedNumber& change : live.changes()) settings.push_back(setting_of(live.parameters(), change));
  return settings;
}

using Watch = std::function<py::object(double, const std::vector<double>&, const std::vector<double>&)>;

/// False, and nothing else, stops a run.
bool goes_on(const Watch& watch, const State& state) {
  const py::gil_scoped_acquire lock;
  const py::object answer = watch(state.t, {state.q.begin(), state.q.end()}, {state.v.begin(), state.v.end()});
  return !answer.is(py::bool_(false));
}

std::shared_ptr<Result> run(const PythonCase& c, const std::optional<Watch>& watch) {
  c.require_run();
  auto result = std::make_shared<Result>();
  result->made_of = std::make_shared<const PythonCase>(c);  // another thread may set the case meanwhile
  Interrupts interrupts;
  SimulationHooks hooks;
  hooks.keep_going = [&](const State& state) { return !interrupts.heard() && (!watch || goes_on(*watch, state)); };
  hooks.stop = interrupts.request();
  {
    const py::gil_scoped_release unlocked;
    const auto begin = std::chrono::steady_clock::now();
    result->run = result->made_of->live.run(hooks);
    result->wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result->name_columns();
  }
  interrupts.rethrow();
  return result;
}

py::dict parameters(const PythonCase& c) {
  py::dict all;
  for (const auto& [name, value] : c.live.parameters()) all[py::str(name)] = value;
  return all;
}

py::dict inputs(const PythonCase& c) {
  py::dict all;
  for (const ModelInput& input : c.current().inputs) all[py::str(input.name)] = input.start;
  return all;
}

using Texts = std::vector<std::string>;

PythonCase parse(const std::string& text, const std::string& path, const Texts& set, const std::vector<FileText>& files,
                 const Functions& functions) {
  auto given = std::make_shared<ProgramFunctions>();
  for (const auto& [name, function] : functions) (*given)[name] = program_function(function);
  return PythonCase(parse_model(text, path, set, files, std::move(given)),
                    std::make_shared<const Functions>(functions));
}

py::tuple state_of(const PythonCase& c) {
  return py::make_tuple(c.model->text, c.model->path, c.settings(), c.model->files,
                        c.functions ? *c.functions : Functions{});
}

PythonCase restore(const py::tuple& state) {
  return parse(state[0].cast<std::string>(), state[1].cast<std::string>(), state[2].cast<Texts>(),
               state[3].cast<std::vector<FileText>>(), state[4].cast<Functions>());
}

const TrajectoryNames names(const PythonCase& c) { return trajectory_names(c.live.system(), c.live.options()); }

}  // namespace

double number_of(const py::handle& value, const std::string& what) {
  const bool text = PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr());
  const double number = text ? -1 : PyFloat_AsDouble(value.ptr());
  if (!text && !PyErr_Occurred()) return number;
  const bool large = PyErr_ExceptionMatches(PyExc_OverflowError);
  const bool mistake = text || PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
  if (!large && !mistake) throw py::error_already_set();  // what a conversion of its own raised
  PyErr_Clear();
  if (large)
    throw InputError(fmt::format("{}: the number is larger than any that can be computed with (1.8e308)", what));
  throw py::type_error(fmt::format("{}: a number is expected, not {} of type {}", what,
                                   py::repr(value).cast<std::string>(), type_of(value)));
}

std::string name_of(const py::handle& key) {
  if (!PyUnicode_Check(key.ptr()))
    throw py::type_error(fmt::format("names are texts, as \"k\" or \"run.step\"; {} is of type {}",
                                     py::repr(key).cast<std::string>(), type_of(key)));
  return key.cast<std::string>();
}

ModelFile PythonCase::current() const {
  return live.changes().empty() ? *model : with_overrides(*model, change_settings(live));
}

std::vector<std::string> PythonCase::settings() const {
  std::vector<std::string> all = model->settings;
  for (std::string& setting : change_settings(live)) all.push_back(std::move(setting));
  return all;
}

void PythonCase::require_run() const {
  if (!model->has_run)
    throw InputError(
        fmt::format("{}: there is no [run] table; add one with end_time and step, or use check()", model->path));
}

PythonCase changed(const PythonCase& c, const py::dict& values) {
  std::vector<NamedNumber> numbers;
  for (const auto& [key, value] : values)
    if (is_number(value)) numbers.push_back({name_of(key), number_of(value, name_of(key))});
  if (numbers.size() == values.size() && c.model->has_run) {
    PythonCase result = c;
    result.variation = nullptr;
    result.live.set(numbers);
    return result;
  }
  std::vector<std::string> overrides = change_settings(c.live);
  for (const auto& [key, value] : values) {
    const std::string name = name_of(key);
    overrides.push_back((c.live.parameters().find(name) ? "parameters." : "") + name + "=" + setting_value(value));
  }
  return PythonCase(with_overrides(*c.model, overrides), c.functions);
}

/// The case with other keys of one table, for one analysis alone.
static PythonCase varied(PythonCase& c, const std::string& table, const py::dict& options) {
  std::string settings;
  py::dict values;
  for (const auto& [key, value] : options) {
    if (value.is_none()) continue;
    const std::string path = table + "." + name_of(key);
    settings += path + "=" + setting_value(value) + "\n";
    values[py::str(path)] = value;
  }
  if (values.empty()) return c;
  if (!c.variation || c.variation->first != settings)
    c.variation = std::make_shared<const std::pair<std::string, PythonCase>>(settings, changed(c, values));
  return c.variation->second;
}

void bind_case(py::module_& module) {
  py::class_<PythonCase>(module, "Case", "A system, its start and the options of a run; every number of it is live.")
      .def("_set", [](PythonCase& c, const py::dict& values) { c = changed(c, values); })
      .def("_varied", &varied)
      .def("_run", &run, py::arg("watch") = py::none())
      .def("__getitem__", [](const PythonCase& c, const py::object& name) { return c.live.get(name_of(name)); })
      .def(
          "copy", [](const PythonCase& c) { return c; }, "An independent case with the same numbers.")
      .def("__copy__", [](const PythonCase& c) { return c; })
      .def("__deepcopy__", [](const PythonCase& c, const py::dict&) { return c; })
      .def_property_readonly("parameters", &parameters, "Names and values of [parameters].")
      .def_property_readonly("inputs", &inputs, "Names and values at the start of [inputs].")
      .def_property_readonly("settings", &PythonCase::settings, "What was set, each as KEY=VALUE for --set.")
      .def_property_readonly("title", [](const PythonCase& c) { return c.model->title; })
      .def_property_readonly("path", [](const PythonCase& c) { return c.model->path; })
      .def_property_readonly(
          "text", [](const PythonCase& c) { return c.model->text; }, "Of the model file.")
      .def_property_readonly(
          "files", [](const PythonCase& c) { return c.model->files; }, "That the model names, as (path, text).")
      .def_property_readonly("scheme",
                             [](const PythonCase& c) { return std::string(to_string(c.live.options().scheme)); })
      .def_property_readonly("coordinates", [](const PythonCase& c) { return names(c).coordinates; })
      .def_property_readonly("velocities", [](const PythonCase& c) { return velocity_columns(names(c)); })
      .def_property_readonly("laws", [](const PythonCase& c) { return names(c).laws; })
      .def_property_readonly("reactions", [](const PythonCase& c) { return names(c).reactions; })
      .def("_state", &state_of);
  module.def("_read", [](const std::string& path, const Texts& set) { return PythonCase(read_model(path, set)); });
  module.def("_parse", &parse);
  module.def("_restore", &restore);
  module.def("_toml_value", &toml_value);
  module.def("_setting_value", &setting_value);
}

}  // namespace stickslip::python
