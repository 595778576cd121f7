// SPDX-License-Identifier: Apache-2.0
// What Python sees of the library: a case of a model, the result of a run, a run step by step, and what the other
// analyses found. Each noun binds itself to the module.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stickslip/io/model_case.hpp"
#include "stickslip/io/report_document.hpp"

namespace stickslip::python {

/// Functions of Python that a model names, for pickling.
using Functions = std::map<std::string, pybind11::object>;

/// A model whose numbers stay live. Numbers go through Case::set(); everything else (a scheme, a list, a text) is an
/// override that interprets the model anew, as --set does. A value: copies share the model, which never changes.
struct PythonCase {
  std::shared_ptr<const ModelFile> model;
  Case live;
  std::shared_ptr<const Functions> functions;
  /// The last variation that was asked for, by its settings: the same analysis is often called again.
  std::shared_ptr<const std::pair<std::string, PythonCase>> variation = nullptr;
  explicit PythonCase(ModelFile file, std::shared_ptr<const Functions> given = nullptr)
      : model(std::make_shared<const ModelFile>(std::move(file))),
        live(make_case(*model)),
        functions(std::move(given)) {}

  /// The model with the numbers that were set.
  ModelFile current() const;
  /// Of the model and of what was set, each as KEY=VALUE for --set.
  std::vector<std::string> settings() const;
  /// Throws InputError as the program does.
  void require_run() const;
};

/// The case with other values: in one go, numbers alone through the live case, else all as overrides.
PythonCase changed(const PythonCase& c, const pybind11::dict& values);

/// A run, and the case it was made of.
struct Result {
  Simulation run;
  std::shared_ptr<const PythonCase> made_of;
  double wall_seconds = 0;
  std::vector<std::string> velocities;  ///< names of the columns
  void name_columns() { velocities = velocity_columns(run.trajectory.names()); }
};

/// What an analysis found: what the program prints with --json, and its page.
struct Findings {
  std::string json;
  ReportDocument page;
  std::shared_ptr<Result> motion = nullptr;  ///< shoot, fit: with the values found; periodic: the orbit
  pybind11::dict tables = {};                ///< numbers as arrays
};

/// The page as HTML.
std::string page_html(const ReportDocument& page);

/// A copy as an array.
pybind11::object array_of(const std::vector<double>& numbers);
/// Rows of the same length.
pybind11::object table_of(const std::vector<Vector>& rows);

/// A float or int of Python, or what converts itself to one. Throws TypeError or InputError that name `what`.
double number_of(const pybind11::handle& value, const std::string& what);
/// A key. Throws TypeError.
std::string name_of(const pybind11::handle& key);

/// f(t, q, v) of Python, which may be called from any thread.
ProgramFunction program_function(const pybind11::object& function);

void bind_case(pybind11::module_& module);
void bind_result(pybind11::module_& module);
void bind_analyses(pybind11::module_& module);
void bind_simulation(pybind11::module_& module);
void bind_sweep(pybind11::module_& module);

}  // namespace stickslip::python
