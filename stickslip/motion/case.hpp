// SPDX-License-Identifier: Apache-2.0
// What an analysis takes: a system, a state to start from, and the options of a run, made of named numbers that stay
// live.
//
//   Case block({{"mu", 0.3}, {"speed", 1.0}}, [](const Parameters& p) {
//     return CaseParts{make_system(MatrixModel{...p["mu"]...}), {.q = .., .v = Vector{{p["speed"]}}}, {.end_time = 2}};
//   });
//   block.set("mu", 0.4);
//   Simulation s = block.run();
//
// A case of a model file (io/model_case.hpp) knows every number of the file by its path as well: initial.velocity.0,
// friction.shoe.limit, run.step. Setting a number makes the parts anew from what is in memory; no file is read. A case
// is a value: copies share what does not change, and are set independently.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stickslip/model/parameters.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/simulate.hpp"
#include "stickslip/motion/state.hpp"

namespace stickslip {

struct CaseParts {
  std::shared_ptr<const System> system;
  State initial = {};
  SimulationOptions options = {};
};

/// Where a case comes from; shared by its copies and never changed.
class CaseSource {
 public:
  virtual ~CaseSource() = default;
  struct Built {
    CaseParts parts;
    Parameters parameters;  ///< with their values after the changes
  };
  /// `changes` are applied in order. Throws InputError with the nearest known name.
  virtual Built build(std::span<const NamedNumber> changes) const = 0;
  /// A number that is no parameter, after the changes. Likewise.
  virtual double number(std::span<const NamedNumber> changes, const std::string& name) const = 0;
};

class Case {
 public:
  using Build = std::function<CaseParts(const Parameters&)>;
  /// The builder is called here and by set().
  Case(Parameters parameters, Build build);
  /// Without parameters.
  Case(std::shared_ptr<const System> system, State initial, SimulationOptions options);
  /// `built`: what the source makes without changes.
  Case(std::shared_ptr<const CaseSource> source, CaseSource::Built built);

  /// A wrong name, or a value that the model does not take, is an InputError and leaves the case as it was.
  void set(const std::string& name, double value);
  /// Several at once, so that what is in between need not be possible.
  void set(std::span<const NamedNumber> values);
  double get(const std::string& name) const;
  const Parameters& parameters() const { return built_.parameters; }
  /// What was set and not in the source, in order.
  const std::vector<NamedNumber>& changes() const { return changes_; }

  const System& system() const { return *built_.parts.system; }
  std::shared_ptr<const System> shared_system() const { return built_.parts.system; }
  const State& initial() const { return initial_ ? *initial_ : built_.parts.initial; }
  const SimulationOptions& options() const { return options_ ? *options_ : built_.parts.options; }
  /// In place of what the source says, from now on whatever is set().
  void set_initial(State initial) { initial_ = std::move(initial); }
  void set_options(SimulationOptions options) { options_ = std::move(options); }

  /// With the derivatives by options().sensitivities (sensitivity.hpp). They are those of the start that the source
  /// gives: after set_initial() no number of the case moves the start.
  Simulation run(const SimulationHooks& hooks = {}) const;

 private:
  std::shared_ptr<const CaseSource> source_;
  CaseSource::Built built_;
  std::vector<NamedNumber> changes_;
  std::optional<State> initial_;
  std::optional<SimulationOptions> options_;
};

}  // namespace stickslip
