// SPDX-License-Identifier: Apache-2.0
// A run step by step, with inputs that Python sets in between.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <utility>

#include "python/bindings.hpp"
#include "python/interrupts.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/motion/stepping.hpp"

namespace py = pybind11;

namespace stickslip::python {

namespace {

py::array_t<double> array(const Vector& x) { return py::array_t<double>(static_cast<py::ssize_t>(x.size()), x.data()); }

/// Marks a simulation as taken by a thread while it lives.
class Taken {
 public:
  explicit Taken(std::atomic<bool>& taken) : taken_(taken) {
    if (taken_.exchange(true))
      throw std::runtime_error("a simulation belongs to one thread, and to one call, at a time");
  }
  ~Taken() { taken_ = false; }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

 private:
  std::atomic<bool>& taken_;
};

class Session {
 public:
  /// A model of its own, so that nobody else evaluates its inputs.
  Session(const PythonCase& c, std::optional<double> period, bool keep)
      : case_(std::make_shared<const PythonCase>(c)), model_(with_overrides(*c.model, own_settings(c))), keep_(keep) {
    c.require_run();
    options_ = model_.run;
    if (period) set_period(*period);
    for (const ModelInput& input : model_.inputs) names_.push_back(input.name);
    start(std::nullopt, std::nullopt);
  }

  void start(const std::optional<std::vector<double>>& position, const std::optional<std::vector<double>>& velocity) {
    const Taken taken(taken_);
    State initial = model_.initial;
    const auto replace = [](const char* what, const std::vector<double>& by, Vector& numbers) {
      if (static_cast<Index>(by.size()) != numbers.size())
        throw InputError(fmt::format("{} has {} numbers, expected {}", what, by.size(), numbers.size()));
      numbers = Eigen::Map<const Vector>(by.data(), numbers.size());
    };
    if (position) replace("position", *position, initial.q);
    if (velocity) replace("velocity", *velocity, initial.v);
    values_.clear();
    for (const ModelInput& input : model_.inputs) {
      input.set(input.start);
      values_.push_back(input.start);
    }
    SimulationHooks hooks;
    hooks.keep_trajectory = keep_;
    hooks.on_event = [this](const Event& event) { events_.push_back(event); };
    hooks.stop = &stop_;
    stop_ = false;
    finished_ = changed_ = false;
    events_.clear();
    const py::gil_scoped_release unlocked;
    run_.reset();
    run_.emplace(*model_.system, initial, options_, hooks);
    if (period_ > 0 && !chooses_own_steps(options_.scheme)) count_steps();
  }

  bool step(const py::args& args, const py::kwargs& named) {
    const Taken taken(taken_);
    if (done())
      throw InputError(
          finished_ ? "the run has ended with result(); reset() begins it anew"
          : run_->status() != Status::success
              ? fmt::format("the run has ended: {}: {}", to_string(run_->status()), run_->message())
              : fmt::format("the run is over at t = {:.9g} s; give simulation(end_time=..) more, or reset()",
                            run_->state().t));
    if (args.size() > 1) throw py::type_error("step() takes the inputs as one number, list, array or dict, or by name");
    if (args.size() == 1) take(args[0]);
    if (!named.empty()) take_named(named);
    events_.clear();
    Interrupts interrupts(&stop_);
    bool goes_on = true;
    {
      const py::gil_scoped_release unlocked;
      if (std::exchange(changed_, false)) run_->inputs_changed();
      for (long n = 0; n < steps_ && goes_on; ++n) {
        goes_on = run_->step();
        if (interrupts.heard()) break;
      }
    }
    interrupts.rethrow();
    return goes_on;
  }

  /// Of the whole run so far, which ends here.
  std::shared_ptr<Result> result() {
    const Taken taken(taken_);
    if (finished_) throw InputError("the result was taken already; reset() begins the run anew");
    auto result = std::make_shared<Result>();
    finished_ = true;
    last_ = run_->state();
    result->run = run_->finish();
    result->made_of = case_;
    result->name_columns();
    return result;
  }

  bool done() const { return finished_ || run_->done(); }
  const State& state() {
    const Taken taken(taken_);
    return finished_ ? last_ : run_->state();
  }
  Stepping& run() {
    const Taken taken(taken_);
    return *run_;
  }
  const std::vector<std::string>& inputs() const { return names_; }
  const std::vector<double>& values() const { return values_; }
  double period() const { return period_ > 0 ? period_ : run_->grid_step(); }

  py::list events() const {
    const py::object make = py::module_::import("stickslip").attr("Event");
    const std::vector<std::string> laws = trajectory_names(*model_.system, options_).laws;
    py::list list;
    for (const Event& event : events_)
      list.append(make(event.t, laws[static_cast<std::size_t>(event.law)], std::string(to_string(event.kind)),
                       std::string(to_string(event.before)), std::string(to_string(event.after)), event.impulse));
    return list;
  }

 private:
  static std::vector<std::string> own_settings(const PythonCase& c) {
    const std::vector<std::string> all = c.settings();
    return {all.begin() + static_cast<std::ptrdiff_t>(c.model->settings.size()), all.end()};
  }

  void set_period(double period) {
    if (!(period > 0) || !std::isfinite(period))
      throw InputError(
          fmt::format("period = {}: the time between two settings of inputs must be positive [s]", period));
    period_ = period;
    if (!chooses_own_steps(options_.scheme)) return;
    options_.output_times.clear();
    options_.output_step = period;
  }

  void count_steps() {
    constexpr double kRoundOff = 1e-9;
    const double ratio = period_ / run_->grid_step();
    steps_ = std::lround(ratio);
    if (steps_ < 1 || std::abs(ratio - static_cast<double>(steps_)) > kRoundOff * ratio)
      throw InputError(fmt::format("period = {} s is no multiple of the step {} s; set run.step to a part of it",
                                   period_, run_->grid_step()));
  }

  void set(std::size_t k, double value) {
    if (!std::isfinite(value))
      throw InputError(fmt::format("input {} = {}: it must be a finite number", names_[k], value));
    if (value == values_[k]) return;
    values_[k] = value;
    model_.inputs[k].set(value);
    changed_ = true;
  }

  void take(const py::handle& given) {
    if (given.is_none())
      throw py::type_error(
          fmt::format("step(None) at t = {:.9g} s: give the values of the inputs (a function that ends without return "
                      "gives None); step() leaves them as they are",
                      run_->state().t));
    if (PyDict_Check(given.ptr())) return take_named(py::reinterpret_borrow<py::dict>(given));
    if (PyFloat_Check(given.ptr()) || PyLong_Check(given.ptr())) return take_one(given);
    const bool array = py::isinstance<py::array>(given);
    if (!array && !PyList_Check(given.ptr()) && !PyTuple_Check(given.ptr())) return take_one(given);
    if (array) {
      const auto numbers = py::reinterpret_borrow<py::array>(given);
      if (numbers.dtype().kind() == 'f' && numbers.itemsize() == 8 && numbers.ndim() <= 1) {  // the usual one, fast
        const auto values = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
        require_count(static_cast<std::size_t>(values.size()));
        for (std::size_t k = 0; k < names_.size(); ++k) set(k, values.data()[k]);
        return;
      }
    }
    const py::list items =
        array ? py::list(given.attr("ravel")().attr("tolist")()) : py::list(py::reinterpret_borrow<py::object>(given));
    require_count(items.size());
    for (std::size_t k = 0; k < names_.size(); ++k) set(k, number_of(items[k], "input " + names_[k]));
  }

  void take_one(const py::handle& given) {
    const double value = number_of(given, names_.empty() ? "step()" : "input " + names_[0]);
    require_count(1);
    set(0, value);
  }

  void take_named(const py::dict& given) {
    for (const auto& [key, value] : given) {
      const std::string name = name_of(key);
      const auto at = std::find(names_.begin(), names_.end(), name);
      if (at == names_.end())
        throw InputError(
            fmt::format("there is no input '{}'{}; [inputs] of the model names them", name, name_hint(name, names_)));
      set(static_cast<std::size_t>(at - names_.begin()), number_of(value, "input " + name));
    }
  }

  void require_count(std::size_t count) const {
    if (count == names_.size()) return;
    if (names_.empty()) throw InputError("the model has no inputs; name them under [inputs] and use them as u(t)");
    throw InputError(fmt::format("step() got {} number{}, but the inputs are: {}", count, count == 1 ? "" : "s",
                                 fmt::join(names_, ", ")));
  }

  std::shared_ptr<const PythonCase> case_;
  ModelFile model_;
  SimulationOptions options_;
  bool keep_ = true, finished_ = false, changed_ = false;
  double period_ = 0;
  long steps_ = 1;
  std::vector<std::string> names_;
  std::vector<double> values_;
  std::vector<Event> events_;  ///< of the last step
  std::atomic<bool> stop_ = false, taken_ = false;
  State last_;
  std::optional<Stepping> run_;
};

py::array modes(Session& s) {
  std::vector<std::int32_t> numbers;
  for (const Mode mode : s.state().modes) numbers.push_back(static_cast<std::int32_t>(mode));
  return py::array_t<std::int32_t>(static_cast<py::ssize_t>(numbers.size()), numbers.data());
}

}  // namespace

void bind_simulation(py::module_& module) {
  py::class_<Session>(module, "Simulation", "A run step by step; made by Case.simulation().")
      .def(py::init<const PythonCase&, std::optional<double>, bool>())
      .def("step", &Session::step,
           "Sets inputs (a number, a list in the order of `inputs`, a dict, or by name), holds them, and goes one "
           "period\n"
           "further. Inputs that are not given keep their value. False: the run has ended.")
      .def("_reset", &Session::start)
      .def("result", &Session::result, "Ends the run: what has come of it, with its audit.")
      .def_property_readonly(
          "t", [](Session& s) { return s.state().t; }, "Time [s].")
      .def_property_readonly(
          "position", [](Session& s) { return array(s.state().q); }, "Of the coordinates [m, rad].")
      .def_property_readonly(
          "velocity", [](Session& s) { return array(s.state().v); }, "[m/s, rad/s]")
      .def_property_readonly(
          "reaction", [](Session& s) { return array(s.run().reaction()); },
          "Mean over the last step of the scheme [N, N m].")
      .def_property_readonly("mode", &modes, "Of the laws; numbers of stickslip.MODES.")
      .def_property_readonly("events", &Session::events, "Of the last step().")
      .def_property_readonly("done", &Session::done)
      .def_property_readonly("status", [](Session& s) { return std::string(to_string(s.run().status())); })
      .def_property_readonly("message", [](Session& s) { return s.run().message(); })
      .def_property_readonly("period", &Session::period, "Of one step() [s].")
      .def_property_readonly(
          "inputs",
          [](Session& s) {
            py::dict all;
            for (std::size_t k = 0; k < s.inputs().size(); ++k) all[py::str(s.inputs()[k])] = s.values()[k];
            return all;
          },
          "Names and values.");
}

}  // namespace stickslip::python
