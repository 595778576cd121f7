// SPDX-License-Identifier: Apache-2.0
// [run] of a model file.
#include <fmt/format.h>

#include "stickslip/io/model_dump.hpp"
#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::model_detail {

namespace {

void read_moreau(const Field& field, MoreauOptions& options) {
  const TableReader table(field, {"theta", "locate_reversals", "force", "solver", "solver_tolerance", "max_iterations",
                                  "fixed_point_tolerance", "max_fixed_point", "max_splits", "contact_rule",
                                  "relaxation", "contact_tolerance", "start_penetration", "strict"});
  table.number("theta", options.theta, {.low = 0.5, .high = 1});
  table.boolean("locate_reversals", options.locate_reversals);
  table.word("force", [&](std::string_view word) { options.force = force_sampling_from(word); });
  table.word("solver", [&](std::string_view word) { options.solver.solver = solver_from(word); });
  table.number("solver_tolerance", options.solver.tolerance, kPositive);
  table.integer("max_iterations", options.solver.max_iterations, 0);
  table.number("fixed_point_tolerance", options.fixed_point_tolerance, kPositive);
  table.integer("max_fixed_point", options.max_fixed_point, 1);
  table.integer("max_splits", options.max_splits, 0);
  table.number("contact_tolerance", options.contact_tolerance, kPositive);
  table.boolean("strict", options.strict);
  table.word("relaxation", [&](std::string_view word) { options.relaxation = contact_relaxation_from(word); });
  table.word("contact_rule", [&](std::string_view word) { options.contact_rule = contact_rule_from(word); });
  table.number("start_penetration", options.start_penetration, kNotNegative);
}

void read_splitting(const Field& field, SplittingOptions& options) {
  const TableReader table(field, {"variant", "friction", "substeps", "rho", "tolerance", "max_iterations", "force"});
  table.word("variant", [&](std::string_view word) { options.variant = splitting_variant_from(word); });
  table.word("friction", [&](std::string_view word) { options.friction = friction_step_from(word); });
  table.integer("substeps", options.substeps, 1);
  table.number("rho", options.rho, kNotNegative);
  table.number("tolerance", options.tolerance, kPositive);
  table.integer("max_iterations", options.max_iterations, 1);
  table.word("force", [&](std::string_view word) { options.force = force_sampling_from(word); });
}

void read_event(const Field& field, EventOptions& options) {
  const TableReader table(field, {"flow", "integrator", "absolute_tolerance", "accumulation_time", "max_events"});
  table.word("flow", [&](std::string_view word) { options.flow = flow_kind_from(word); });
  table.word("integrator", [&](std::string_view word) { options.integrator = integrator_from(word); });
  table.number("absolute_tolerance", options.absolute_tolerance, kNotNegative);
  table.number("accumulation_time", options.accumulation_time, kNotNegative);
  if (const auto most = table.find("max_events"))
    options.max_events = static_cast<long>(most->integer(1, 1'000'000'000'000));
}

void read_compliant(const Field& field, CompliantOptions& options) {
  const TableReader table(field, {"integrator", "quasistatic", "locate_switches", "epsilon", "absolute_tolerance"});
  table.word("integrator", [&](std::string_view word) { options.integrator = compliant_integrator_from(word); });
  table.boolean("quasistatic", options.quasistatic);
  table.boolean("locate_switches", options.locate_switches);
  table.number("epsilon", options.epsilon, kPositive);
  table.number("absolute_tolerance", options.absolute_tolerance, kNotNegative);
}

void read_viscoelastic_run(const Field& field, ViscoelasticOptions& options) {
  const TableReader table(field, {"integrator", "epsilon", "absolute_tolerance"});
  table.word("integrator", [&](std::string_view word) { options.integrator = integrator_from(word); });
  table.number("epsilon", options.epsilon, kPositive);
  table.number("absolute_tolerance", options.absolute_tolerance, kNotNegative);
}

BreakpointPolicy read_breakpoints(std::string_view word) {
  if (word == "step_ends") return BreakpointPolicy::step_ends;
  if (word == "ignore") return BreakpointPolicy::ignore;
  const std::vector<std::string> known{"step_ends", "ignore"};
  throw InputError(fmt::format("unknown word {}{}", in_quotes(word), hint(word, known)));
}

void read_grid(const TableReader& table, SimulationOptions& run) {
  table.number("start_time", run.start_time, kAnyNumber);
  const Field end = table.require("end_time", "give the time in s at which the run ends");
  run.end_time = end.number();
  if (!(run.end_time > run.start_time))
    end.fail(fmt::format("the value {} must be after start_time = {}", run.end_time, run.start_time));
  const auto step = table.find("step"), steps = table.find("steps");
  if (step && steps) steps->fail("'step' and 'steps' both set the step size; give one of them");
  const bool needed = !chooses_own_steps(run.scheme);
  if (needed && !step && !steps)
    table.field().fail("'step' is missing; give step = .. in s, or steps = the number of steps");
  constexpr long long kMostSteps = 1'000'000'000'000;
  if (steps) run.steps = static_cast<long>(steps->integer(1, kMostSteps));
  if (step) {
    run.step = step->number(kPositive);
    if ((run.end_time - run.start_time) / run.step > static_cast<double>(kMostSteps))
      step->fail(fmt::format("the value {} makes more than {:g} steps up to end_time = {}", run.step,
                             static_cast<double>(kMostSteps), run.end_time));
  }
}

void read_output(const TableReader& table, SimulationOptions& run) {
  const auto every = table.find("output_step"), times = table.find("output_times");
  if (every && times) times->fail("'output_step' and 'output_times' both set the output; give one of them");
  if (every) run.output_step = every->number(kPositive);
  if (times) run.output_times = read_times(*times, run.start_time, run.end_time);
}

}  // namespace

std::vector<double> read_times(const Field& field, double start, double end) {
  const TomlArray& items = field.list("a list of times");
  if (items.empty()) field.fail("the list holds no time");
  std::vector<double> times;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Field item = field.item(k);
    const double time = item.number();
    if (k > 0 && !(time > times.back()))
      item.fail(fmt::format("the time {} must be after {}; times must ascend", time, times.back()));
    if (time < start || time > end)
      item.fail(fmt::format("the time {} must lie in the run, [{}, {}]", time, start, end));
    times.push_back(time);
  }
  return times;
}

SimulationOptions read_run(const Field& field) {
  const TableReader table(
      field, {"scheme", "step", "steps", "start_time", "end_time", "breakpoints", "output_step", "output_times", "dump",
              "threads", "sensitivities", "tolerance", "moreau", "splitting", "event", "compliant", "viscoelastic"});
  SimulationOptions run;
  table.word("scheme", [&](std::string_view word) { run.scheme = scheme_from(word); });
  read_grid(table, run);
  table.number("tolerance", run.tolerance, {.low = 1e-14, .high = 0.1});
  table.word("breakpoints", [&](std::string_view word) { run.breakpoints = read_breakpoints(word); });
  read_output(table, run);
  if (const auto dump = table.find("dump")) {  // kept by dump_times()
    read_times(*dump, run.start_time, run.end_time);
    if (run.scheme != SchemeKind::moreau)
      dump->fail(
          "only the steps of 'moreau' solve a contact problem of their own; set scheme = \"moreau\", or remove it");
  }
  if (const auto unknowns = table.find("sensitivities"))
    for (std::size_t k = 0; k < unknowns->list("a list of names of numbers").size(); ++k)
      run.sensitivities.push_back(unknowns->item(k).text("the name of a number, as \"parameters.mu\""));
  if (const auto moreau = table.find("moreau")) read_moreau(*moreau, run.moreau);
  if (const auto splitting = table.find("splitting")) read_splitting(*splitting, run.splitting);
  if (const auto event = table.find("event")) read_event(*event, run.event);
  if (const auto compliant = table.find("compliant")) read_compliant(*compliant, run.compliant);
  if (const auto soft = table.find("viscoelastic")) read_viscoelastic_run(*soft, run.viscoelastic);
  field.about([&] { run.validate(); });
  return run;
}

}  // namespace stickslip::model_detail
