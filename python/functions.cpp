// SPDX-License-Identifier: Apache-2.0
// Functions of Python in place of expressions.
#include <pybind11/numpy.h>

#include <cmath>

#include "python/bindings.hpp"
#include "stickslip/common/error.hpp"

namespace py = pybind11;

namespace stickslip::python {

namespace {

/// A copy: the function may keep it.
py::array_t<double> array(std::span<const double> x) {
  return py::array_t<double>(static_cast<py::ssize_t>(x.size()), x.data());
}

/// Kept and let go under the lock, wherever the library does so.
std::shared_ptr<py::object> shared(const py::object& object) {
  return {new py::object(object), [](py::object* kept) {
            const py::gil_scoped_acquire lock;
            delete kept;
          }};
}

}  // namespace

ProgramFunction program_function(const py::object& function) {
  return [f = shared(function)](double t, std::span<const double> q, std::span<const double> v) {
    const py::gil_scoped_acquire lock;
    const py::object value = (*f)(t, array(q), array(v));
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred()) throw py::error_already_set();
    return number;
  };
}

}  // namespace stickslip::python
