// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <Eigen/Core>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/ranks.hpp"
#include "cli/starters.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/io/hdf5_session.hpp"
#include "stickslip/io/model_case.hpp"
#include "stickslip/io/result_reader.hpp"
#include "stickslip/io/result_thinning.hpp"
#include "stickslip/io/result_writer.hpp"
#include "stickslip/io/sweep_outputs.hpp"

namespace stickslip::cli {

namespace {

/// Empty: all is well; else what is not.
struct Check {
  std::string name, found;
  bool ok = true;
};

/// A block slides to rest: x = v^2/(2 c/m), at t = v/(c/m), and not a bit further.
constexpr const char* kBlock = R"(
[matrices]
coordinates = ["x"]
mass = [[2]]
[[friction]]
on = "x"
limit = 3
[initial]
velocity = [1.5]
[run]
scheme = "moreau"
step = 0.001
end_time = 2
)";

Check check_scheme(const char* scheme, double allowed) {
  const double exact = 1.5 * 1.5 / (2 * 3.0 / 2);
  const Case block =
      make_case(parse_model(kBlock, "self-check", std::vector<std::string>{fmt::format("run.scheme={}", scheme)}));
  const Simulation s = block.run();
  const double error = std::abs(s.final.q[0] / exact - 1);
  const bool rests = s.final.v[0] == 0;
  return {fmt::format("scheme {}", scheme),
          fmt::format("a block slides to rest: distance off by {:.1g} (allowed {:.0g}), final velocity {:g}", error,
                      allowed, s.final.v[0]),
          s.status == Status::success && error <= allowed && rests};
}

Check check_starters() {
  for (const Starter& starter : starter_table()) parse_model(starter.text, std::string(starter.kind));
  return {"models", fmt::format("{} starters are understood (stickslip new)", starter_table().size()), true};
}

Check check_threads() {
  const ModelFile model =
      parse_model(kBlock, "self-check",
                  std::vector<std::string>{"sweep.over={\"friction.0.limit\" = {from = 1, to = 5, count = 40}}"});
  const SweepRunner runner(model, read_sweep(model), nullptr);
  const auto sum_with = [&](int threads) {
    std::vector<double> ends(40);
    std::vector<long> all;
    for (long k = 0; k < 40; ++k) all.push_back(k);
    SweepHooks hooks;
    hooks.on_records = [&](std::vector<SweepRecord>&& records) {
      for (const SweepRecord& record : records) ends[static_cast<std::size_t>(record.index)] = record.values.at(0);
    };
    run_sweep({all, [&](long index) { return runner.run(index); }}, {threads, nullptr}, hooks);
    return ends;
  };
  const int threads = std::max(2, usable_processors());
  return {"threads", fmt::format("40 runs on {} threads are those on one, bit for bit", threads),
          sum_with(1) == sum_with(threads)};
}

Check check_results() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("stickslip-doctor-{}", getpid());
  fs::create_directories(folder);
  const Case block = make_case(parse_model(kBlock, "self-check"));
  const Simulation s = block.run();
  bool same = false;
  {
    ResultWriter writer(folder, s.trajectory.names(), {});
    OutputRow row;
    row.q = s.final.q;
    row.v = s.final.v;
    row.reaction = s.final_reaction;
    row.smooth = Vector::Zero(row.reaction.size());
    row.modes = s.final.modes;
    writer.add(row);
    writer.close(s, 0);
    same = read_trajectory(ResultStream(folder), {0}, false).q(0, 0) == s.final.q[0];
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return {"results", "result.h5 is written and read back to the bit", same};
}

std::vector<Check> all_checks() {
  const std::vector<std::pair<std::string, std::function<Check()>>> checks{
      {"scheme moreau", [] { return check_scheme("moreau", 1e-6); }},
      {"scheme event", [] { return check_scheme("event", 1e-9); }},
      {"scheme splitting", [] { return check_scheme("splitting", 1e-2); }},
      {"models", check_starters},
      {"threads", check_threads},
      {"results", check_results}};
  std::vector<Check> done;
  for (const auto& [name, check] : checks) try {
      done.push_back(check());
    } catch (const std::exception& error) {
      done.push_back({name, error.what(), false});
    }
  return done;
}

}  // namespace

int doctor(const DoctorCommand& command) {
  const std::vector<std::pair<std::string, std::string>> facts{
      {"version", std::string(version())},
      {"compiler", "GCC " __VERSION__},
      {"eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
      {"hdf5", hdf5_version()},
      {"processors", fmt::format("{} of {}", usable_processors(), sysconf(_SC_NPROCESSORS_ONLN))},
      {"mpi", mpi_description()}};
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Check> checks = all_checks();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool ok = std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.ok; });
  if (command.json) {
    nlohmann::ordered_json json{{"status", ok ? "success" : "failed"}};
    for (const auto& [name, value] : facts) json[name] = value;
    json["checks"] = nlohmann::ordered_json::array();
    for (const Check& check : checks)
      json["checks"].push_back({{"name", check.name}, {"ok", check.ok}, {"found", check.found}});
    json["wall_seconds"] = seconds;
    write_out(json.dump(2) + "\n");
  } else {
    for (const auto& [name, value] : facts) print_out("{:<18}{}\n", name, value);
    for (const Check& check : checks)
      print_out("{:<18}{}  {}\n", check.name, check.ok ? "ok    " : "FAILED", check.found);
    print_out("{} in {:.2g} s\n", ok ? "all is well" : "something is wrong: please report it with this output",
              seconds);
  }
  return ok ? kSuccess : kNoSuccess;
}

}  // namespace stickslip::cli
