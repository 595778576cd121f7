// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "stickslip/common/error.hpp"
#include "stickslip/io/fclib.hpp"
#include "stickslip/io/matrix_market.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/robot/mesh_file.hpp"
#include "stickslip/io/time_table_file.hpp"
#include "stickslip/motion/run_notes.hpp"

namespace stickslip::fuzz {

namespace {

/// Raises its flag when work takes too long, so that a hard but honest computation does not hold up the rest. What does
/// not hear it hangs.
class Patience {
 public:
  static Patience& instance() {
    static Patience patience;
    return patience;
  }
  std::atomic<bool>* begin() {
    const std::lock_guard lock(mutex_);
    raised_ = false;
    deadline_ = Clock::now() + std::chrono::seconds(1);
    wake_.notify_one();
    return &raised_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    deadline_ = Clock::time_point::max();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Patience() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      wake_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
      if (Clock::now() > deadline_) raised_ = true;
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::atomic<bool> raised_ = false;
  Clock::time_point deadline_ = Clock::time_point::max();
  std::jthread thread_;
};

/// What `check` looks at.
void inspect(const ModelFile& model) {
  SystemWorkspace workspace(*model.system);
  ContactPoints found;
  if (!model.system->laws().contacts().empty())
    model.system->laws().contact_source().find(model.run.start_time, model.initial.q, 0.01, workspace, found);
  model.system->inertia().kinetic_energy(model.initial.q, model.initial.v);
  model.system->forces().potential_energy(model.initial.q);
  if (!model.has_run) return;
  run_notes(*model.system, model.run, model.system->find_breakpoints(model.run.start_time, model.run.end_time));
}

/// A few steps, or the beginning of a run that chooses its own.
void run_a_little(ModelFile& model) {
  SimulationOptions& run = model.run;
  const double span = run.end_time - run.start_time;
  const double step = run.steps > 0 ? span / static_cast<double>(run.steps) : run.step > 0 ? run.step : 0.01 * span;
  run.end_time = std::min(run.end_time, run.start_time + 3 * step);
  if (!(run.end_time > run.start_time)) return;
  run.steps = 0;
  run.step = step;
  run.output_step = 0;
  run.output_times.clear();
  run.event.max_events = std::min(run.event.max_events, 50L);
  SimulationHooks hooks;
  hooks.stop = Patience::instance().begin();
  hooks.keep_going = [&](const State&) { return !hooks.stop->load(); };
  try {
    simulate(*model.system, model.initial, run, hooks);
  } catch (...) {
    Patience::instance().end();
    throw;
  }
  Patience::instance().end();
}

Outcome feed_model(const std::string& text, const std::string& path) {
  constexpr Index kLargest = 200;  // velocities: larger systems cost time and show nothing new
  ModelFile model;
  try {
    model = parse_model(text, path);
  } catch (const InputError& error) {
    if (!std::string_view(error.what()).starts_with(path + ":"))
      throw std::logic_error(std::string("the message does not name its file: ") + error.what());
    return Outcome::refused;
  }
  if (model.system->info().nv() > kLargest) return Outcome::accepted;
  try {
    inspect(model);
    if (model.has_run) run_a_little(model);
  } catch (const InputError&) {
    return Outcome::refused;
  }
  return Outcome::accepted;
}

Outcome feed_mesh(const std::string& bytes) {
  bool read = false;
  for (const char* path : {"m.stl", "m.obj"}) {
    try {
      robot::hull_points(robot::mesh_points(bytes, path), 20);
      read = true;
    } catch (const InputError&) {
    }
  }
  return read ? Outcome::accepted : Outcome::refused;
}

Outcome feed_expression(const std::string& text) {
  SymbolTable symbols;
  for (const char* name : {"t", "x", "v_x"}) symbols.add_variable(name);
  symbols.add_constant("k", 2.0);
  symbols.add_table("road", std::make_shared<TimeTable>(std::vector<double>{0, 1, 1, 2},
                                                        std::vector<double>{0, 1, 3, 2}, "road.csv"));
  try {
    const Expression f = Expression::parse(text, symbols);
    const std::array<double, 3> point = {0.7, -1.3, 2.0};
    f(point);
    for (Index k = 0; k < 3; ++k) f.derivative(point, k);
    f.second_derivative(point, 0, 1);
    f.series(point, 0, 0.5);
    BreakpointSearch search{-1, 3};
    search.most = 1000;  // sin(1e9*t) takes seconds otherwise
    f.append_breakpoints(0, search);
    return Outcome::accepted;
  } catch (const ExpressionError&) {
    return Outcome::refused;
  }
}

Outcome feed_table(const std::string& text, const std::string& path) {
  try {
    const TimeTable lines = parse_time_table(text, path);
    for (const double x : {-1.0, 0.5, 1e300}) lines(x);
    const TimeTable spline = parse_time_table(text, path, 2, Interpolation::cubic);
    for (const double x : {-1.0, 0.5, 1e300}) spline(x);
    return Outcome::accepted;
  } catch (const InputError&) {
    return Outcome::refused;
  }
}

Outcome feed_matrix(const std::string& text, const std::string& path) {
  try {
    parse_matrix_market(text, path);
    return Outcome::accepted;
  } catch (const InputError&) {
    return Outcome::refused;
  }
}

Outcome feed_fclib(const std::string& bytes, const std::filesystem::path& path) {
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    const FclibProblem problem = read_fclib(path);
    std::visit([](const auto& p) { validate(p); }, problem);
    read_fclib_solution(path, problem);
    read_fclib_guesses(path, problem);
    return Outcome::accepted;
  } catch (const InputError&) {
    return Outcome::refused;
  }
}

}  // namespace

Outcome feed(std::string_view target, const std::string& input, const std::filesystem::path& folder) {
  if (target == "model") return feed_model(input, (folder / "model.toml").string());
  if (target == "robot") return feed_model(input, (folder / "robot.urdf").string());
  if (target == "mesh") return feed_mesh(input);
  if (target == "expression") return feed_expression(input);
  if (target == "table") return feed_table(input, (folder / "input.csv").string());
  if (target == "matrix") return feed_matrix(input, (folder / "input.mtx").string());
  if (target == "fclib") return feed_fclib(input, folder / "input.hdf5");
  throw std::invalid_argument("unknown target");
}

}  // namespace stickslip::fuzz
