// SPDX-License-Identifier: Apache-2.0
// Many runs of a case at once, in memory: what `stickslip sweep` does, without its files.
#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "python/bindings.hpp"
#include "python/interrupts.hpp"
#include "stickslip/io/result_header.hpp"
#include "stickslip/io/sweep_file.hpp"
#include "stickslip/io/sweep_report.hpp"
#include "stickslip/sweep/sweep.hpp"

namespace py = pybind11;

namespace stickslip::python {

namespace {

using Progress = std::function<void(long, long)>;

/// Rows of the plan, with the tables that runs leave.
struct Rows {
  std::vector<SweepRow> rows;
  std::vector<std::vector<SweepBlock>> blocks;
  void take(std::vector<SweepRecord>&& records) {
    for (SweepRecord& record : records) {
      const auto k = static_cast<std::size_t>(record.index);
      blocks[k] = std::move(record.blocks);
      rows[k] = {true, record.status, std::move(record.message), std::move(record.names), std::move(record.values)};
    }
  }
};

py::dict tables_of(const SweepTable& table, const Rows& rows) {
  const auto runs = static_cast<py::ssize_t>(table.plan.size());
  const auto axes = static_cast<py::ssize_t>(table.plan.axes().size()), kept = static_cast<py::ssize_t>(table.outputs.size());
  py::array_t<double> swept({runs, axes}), outputs({runs, kept});
  py::list statuses, messages, blocks;
  std::vector<double> values(table.outputs.size());
  for (py::ssize_t run = 0; run < runs; ++run) {
    for (py::ssize_t k = 0; k < axes; ++k) swept.mutable_at(run, k) = table.plan.value(run, static_cast<std::size_t>(k));
    const SweepRow& row = table.rows[static_cast<std::size_t>(run)];
    table.outputs_of(run, values);
    for (py::ssize_t k = 0; k < kept; ++k) outputs.mutable_at(run, k) = values[static_cast<std::size_t>(k)];
    statuses.append(row.done ? std::string(to_string(row.status)) : "pending");
    messages.append(row.message);
    py::dict of_run;
    for (const SweepBlock& block : rows.blocks[static_cast<std::size_t>(run)]) {
      const auto columns = static_cast<py::ssize_t>(block.columns.size());
      py::array_t<double> numbers({columns > 0 ? static_cast<py::ssize_t>(block.values.size()) / columns : 0, columns});
      std::copy(block.values.begin(), block.values.end(), numbers.mutable_data());
      of_run[py::str(block.name)] = py::make_tuple(block.columns, numbers);
    }
    blocks.append(of_run);
  }
  std::vector<std::string> keys;
  for (const SweepAxis& axis : table.plan.axes()) keys.push_back(axis.key);
  py::dict tables;
  tables["swept_names"] = py::cast(keys);
  tables["output_names"] = py::cast(table.outputs);
  tables["swept"] = swept;
  tables["outputs"] = outputs;
  tables["statuses"] = statuses;
  tables["messages"] = messages;
  tables["blocks"] = blocks;
  return tables;
}

/// With the lock; let go while runs go on.
SweepSolution compute(const SweepRunner& runner, int threads, const std::optional<Progress>& progress, Interrupts& interrupts,
                      Rows& rows) {
  const auto size = static_cast<std::size_t>(runner.plan().size());
  rows.rows.resize(size);
  rows.blocks.resize(size);
  std::vector<long> all(size);
  std::iota(all.begin(), all.end(), 0L);
  const py::gil_scoped_release unlocked;
  return run_sweep({std::move(all), [&](long index) { return runner.run(index); }}, {threads, interrupts.request()},
                   {[&](std::vector<SweepRecord>&& records) { rows.take(std::move(records)); },
                    [&](long done) {
                      if (interrupts.heard() || !progress) return;
                      const py::gil_scoped_acquire lock;
                      (*progress)(done, runner.plan().size());
                    }});
}

Findings sweep(const PythonCase& c, int threads, const std::optional<Progress>& progress) {
  Interrupts interrupts;
  const ModelFile model = c.current();
  const SweepRunner runner(model, read_sweep(model), interrupts.request());
  const auto begin = std::chrono::steady_clock::now();
  Rows rows;
  const SweepSolution solution = compute(runner, threads, progress, interrupts, rows);
  interrupts.rethrow();
  const SweepTable table(runner, rows.rows);
  SweepEnd end;
  end.status = solution.status;
  end.threads = threads;
  end.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (table.failed() > 0)
    end.message = fmt::format("{} of {} runs ended without success; `messages` has the message of each", table.failed(), runner.plan().size());
  const ResultHeader header = result_header(model, model.path);
  return {sweep_json(table, header, end), sweep_report(table, header, end), nullptr, tables_of(table, rows)};
}

}  // namespace

void bind_sweep(py::module_& module) { module.def("_sweep", &sweep); }

}  // namespace stickslip::python
