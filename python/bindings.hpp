// SPDX-License-Identifier: Apache-2.0
// What Python sees of the library: a case of a model file, and the result of a run. Each noun binds itself to the module.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "stickslip/io/model_case.hpp"

namespace stickslip::python {

/// A model file whose numbers stay live. Numbers go through Case::set(); everything else (a scheme, a list, a text) is an
/// override that interprets the model anew, as --set does.
struct PythonCase {
  ModelFile model;
  Case live;
  explicit PythonCase(ModelFile file) : model(std::move(file)), live(make_case(model)) {}
};

/// A run and what its columns are called.
struct Result {
  Simulation run;
  std::string scheme;
  std::vector<std::string> velocities;
};

void bind_case(pybind11::module_& module);
void bind_result(pybind11::module_& module);

}  // namespace stickslip::python
