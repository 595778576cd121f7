// SPDX-License-Identifier: Apache-2.0
#include "python/bindings.hpp"
#include "python/interrupts.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/version.hpp"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled part of stickslip.";
  module.attr("__version__") = stickslip::version();
  pybind11::register_exception<stickslip::InputError>(module, "InputError", PyExc_ValueError);
  stickslip::python::find_main_thread();
  stickslip::python::bind_result(module);
  stickslip::python::bind_case(module);
  stickslip::python::bind_simulation(module);
  stickslip::python::bind_analyses(module);
}
