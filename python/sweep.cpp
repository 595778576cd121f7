// SPDX-License-Identifier: Apache-2.0
// Many runs of a case at once: what `stickslip sweep` does, in memory or in a folder; and bifurcation diagrams.
#include "stickslip/sweep/sweep.hpp"

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
#include "stickslip/io/bifurcation.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_folder.hpp"
#include "stickslip/io/result_header.hpp"
#include "stickslip/io/sweep_file.hpp"
#include "stickslip/io/sweep_report.hpp"

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
  const auto axes = static_cast<py::ssize_t>(table.plan.axes().size()),
             kept = static_cast<py::ssize_t>(table.outputs.size());
  py::array_t<double> swept({runs, axes}), outputs({runs, kept});
  py::list statuses, messages, blocks;
  std::vector<double> values(table.outputs.size());
  for (py::ssize_t run = 0; run < runs; ++run) {
    for (py::ssize_t k = 0; k < axes; ++k)
      swept.mutable_at(run, k) = table.plan.value(run, static_cast<std::size_t>(k));
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

/// With the lock; let go while runs go on. `take` stores what has come in.
SweepSolution compute(const SweepRunner& runner, std::vector<long> pending, int threads,
                      const std::optional<Progress>& progress, Interrupts& interrupts,
                      const std::function<void(std::vector<SweepRecord>&&)>& take) {
  const long before = runner.plan().size() - static_cast<long>(pending.size());
  const py::gil_scoped_release unlocked;
  return run_sweep({std::move(pending), [&](long index) { return runner.run(index); }}, {threads, interrupts.request()},
                   {take, [&](long done) {
                      if (interrupts.heard() || !progress) return;
                      const py::gil_scoped_acquire lock;
                      (*progress)(before + done, runner.plan().size());
                    }});
}

/// In memory.
SweepSolution gather(const SweepRunner& runner, int threads, const std::optional<Progress>& progress,
                     Interrupts& interrupts, Rows& rows) {
  std::vector<long> all(rows.rows.size());
  std::iota(all.begin(), all.end(), 0L);
  return compute(runner, std::move(all), threads, progress, interrupts,
                 [&](std::vector<SweepRecord>&& records) { rows.take(std::move(records)); });
}

std::string failure_message(const SweepTable& table, const char* where) {
  if (table.failed() == 0) return "";
  return fmt::format("{} of {} runs ended without success; {} has the message of each", table.failed(),
                     table.plan.size(), where);
}

/// In a folder, as the program does; what an unfinished sweep left there is gone on with.
Findings sweep_into(const PythonCase& c, int threads, const std::optional<Progress>& progress, const std::string& out,
                    bool fresh) {
  Interrupts interrupts;
  const ModelFile model = c.current();
  const SweepRunner runner(model, read_sweep(model), interrupts.request());
  const ResultHeader header = result_header(model, model.path);
  ResultFolder folder(out);
  const std::filesystem::path path = folder.open(), journal_path = path / "sweep.journal";
  std::error_code ignored;
  // Whether functions of Python are still the same, nobody can tell.
  if (fresh || (c.functions && !c.functions->empty())) std::filesystem::remove(journal_path, ignored);
  SweepJournal journal(journal_path, sweep_identity(runner, header), runner.plan().size());
  folder.open_cleared();
  const auto begin = std::chrono::steady_clock::now();
  SweepEnd end;
  end.resumed = journal.done();
  end.threads = threads;
  const SweepSolution solution =
      compute(runner, journal.pending(), threads, progress, interrupts,
              [&](std::vector<SweepRecord>&& records) { journal.append(std::move(records)); });
  journal.sync();
  interrupts.rethrow();
  end.status = solution.status;
  end.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Rows rows;
  rows.rows = journal.rows();
  for (long k = 0; k < runner.plan().size(); ++k) rows.blocks.push_back(journal.blocks(k));
  const SweepTable table(runner, rows.rows);
  end.message = failure_message(table, "sweep.csv");
  folder.require_in_place();
  const std::string summary =
      write_sweep_tables(path, table, header, end, [&](long k) { return rows.blocks[static_cast<std::size_t>(k)]; });
  ReportDocument page = sweep_report(table, header, end);
  write_text_file(path / "report.html", page_html(page));
  if (end.status == Status::success) std::filesystem::remove(journal_path, ignored);
  return {summary, std::move(page), nullptr, tables_of(table, rows)};
}

Findings sweep(const PythonCase& c, int threads, const std::optional<Progress>& progress,
               const std::optional<std::string>& out, bool fresh) {
  if (threads == 0) threads = usable_processors();
  if (out) return sweep_into(c, threads, progress, *out, fresh);
  Interrupts interrupts;
  const ModelFile model = c.current();
  const SweepRunner runner(model, read_sweep(model), interrupts.request());
  const auto begin = std::chrono::steady_clock::now();
  Rows rows;
  rows.rows.resize(static_cast<std::size_t>(runner.plan().size()));
  rows.blocks.resize(rows.rows.size());
  const SweepSolution solution = gather(runner, threads, progress, interrupts, rows);
  interrupts.rethrow();
  const SweepTable table(runner, rows.rows);
  SweepEnd end;
  end.status = solution.status;
  end.threads = threads;
  end.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  end.message = failure_message(table, "`messages`");
  const ResultHeader header = result_header(model, model.path);
  return {sweep_json(table, header, end), sweep_report(table, header, end), nullptr, tables_of(table, rows)};
}

/// `journal`: a file that this call may use. `plan`: keys as in the summary.
Findings bifurcation(const PythonCase& c, const std::string& journal_path, const std::string& key, double from,
                     double to, long count, const std::string& observe, int transient, int record, bool peaks,
                     const std::optional<Progress>& progress) {
  Interrupts interrupts;
  const ModelFile model = c.current();
  BifurcationPlan plan{key, from, to, count, observe, transient, record, peaks};
  plan.validate();
  const BifurcationRunner runner(model, plan, interrupts.request());
  const ResultHeader header = result_header(model, model.path);
  SweepJournal journal(journal_path, bifurcation_identity(runner, header.version), plan.records());
  const auto begin = std::chrono::steady_clock::now();
  {
    const py::gil_scoped_release unlocked;
    runner.follow(journal, [&](long done) {
      if (interrupts.heard() || !progress) return;
      const py::gil_scoped_acquire lock;
      (*progress)(done, plan.records());
    });
  }
  interrupts.rethrow();
  BifurcationEnd end = bifurcation_end(runner.plan(), journal);
  end.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  py::dict tables;
  for (const bool up : {true, false}) {
    std::vector<double> values, points;
    for (long index = up ? 0 : count; index < (up ? count : 2 * count); ++index)
      for (const double point : bifurcation_points(journal.blocks(index))) {
        values.push_back(plan.value_of(index));
        points.push_back(point);
      }
    tables[up ? "up" : "down"] = py::make_tuple(array_of(values), array_of(points));
  }
  return {bifurcation_json(runner, header, end), bifurcation_report(runner, journal, header, end), nullptr, tables};
}

}  // namespace

void bind_sweep(py::module_& module) {
  module.def("_sweep", &sweep);
  module.def("_bifurcation", &bifurcation);
}

}  // namespace stickslip::python
