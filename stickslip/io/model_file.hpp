// SPDX-License-Identifier: Apache-2.0
// Model files (TOML): everything about a system and its run in one text. docs/model-file.md lists the keys with units,
// ranges and defaults; they are the names of the option structs' fields.
//
// Reading checks everything that can be checked before a run. Every mistake is an InputError with one message:
//   path:LINE:COLUMN: key 'run.stpe': unknown key (did you mean 'step'?)
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stickslip/boundary/fit.hpp"
#include "stickslip/boundary/shooting.hpp"
#include "stickslip/io/drawing.hpp"
#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/constrained_motion.hpp"
#include "stickslip/motion/simulate.hpp"
#include "stickslip/motion/state.hpp"
#include "stickslip/periodic/branch.hpp"
#include "stickslip/periodic/nonlinear_mode.hpp"

namespace stickslip {

struct TomlNode;
namespace model_detail {
struct KeptReduction;
}

/// A file that a model names: its path as read_model() makes it, and what was in it.
using FileText = std::pair<std::string, std::string>;

/// A function of the program that a model names by { function = "name" }: f(t, q, v).
using ProgramFunction = std::function<double(double, std::span<const double>, std::span<const double>)>;
using ProgramFunctions = std::map<std::string, ProgramFunction>;

/// One of [inputs]: a number that a program sets while the system moves, held between two settings; u(t) in
/// expressions.
struct ModelInput {
  std::string name;
  double start = 0;                  ///< its value in the file
  std::shared_ptr<TimeTable> value;  ///< that the expressions of this model look at
  /// For all that is evaluated from now on. Nobody may evaluate the model meanwhile.
  void set(double number) const;
};

/// [periodic]
struct PeriodicSection {
  PeriodicOptions options;
  BranchOptions branch;                      ///< periodic.continue; its parameter is empty where there is none
  std::optional<NonlinearModeOptions> mode;  ///< periodic.mode
};

/// [shoot]
struct ShootSection {
  std::vector<Unknown> unknowns;
  std::vector<std::string> unknown_places;  ///< "path:LINE:COLUMN: key '..'" of each key, for messages
  std::vector<Condition> conditions;
  double end_time = 0;  ///< [s]
  int segments = 1;
  std::vector<double> nodes;  ///< [s]; in place of segments
  ShootingOptions options;
};

/// [fit]
struct FitSection {
  std::vector<Unknown> unknowns;
  std::vector<std::string> unknown_places;
  struct Column {
    std::string name;  ///< in the data
    Expression model;
  };
  std::vector<Column> columns;  ///< that are compared; none: all of the data
  std::vector<std::pair<std::string, double>> sigma, weights;
  std::string data;  ///< file, seen from here; empty: given otherwise
  FitOptions options;
};

struct ModelFile {
  std::string path, title;
  std::shared_ptr<const System> system;
  State initial;                            ///< q and v on the constraints, at run.start_time
  RankReport constraint_rank;               ///< of the constraints at the start
  SimulationOptions run;                    ///< validated if has_run, else the defaults
  bool has_run = false;                     ///< the file has a [run] table
  std::optional<PeriodicSection> periodic;  ///< validated
  std::optional<ShootSection> shoot;
  std::optional<FitSection> fit;
  std::vector<std::pair<std::string, double>> parameters;  ///< in the order of the file
  std::vector<std::string> tables;                         ///< of [tables], one line each
  std::vector<ModelInput> inputs;                          ///< of [inputs]
  std::shared_ptr<const ProgramFunctions> functions;       ///< that the model may name; null: none
  std::vector<std::string> angles;                         ///< coordinates that are angles [rad]
  std::shared_ptr<const BodyModel> bodies;                 ///< of a system given by bodies, for drawing
  std::shared_ptr<const Tree> tree;                        ///< of bodies with hinges; else null
  std::vector<Drawing> drawings;                           ///< what the report shows of a planar model
  std::vector<std::string> notes;                          ///< what of robot files is not used, and what was chosen
  std::string text;                                        ///< of the file
  std::shared_ptr<const TomlNode> document;                ///< the text parsed, before the settings
  std::vector<std::string> settings;                       ///< the overrides, in order
  std::vector<FileText> files;                             ///< that the model names, in the order they were read
  std::shared_ptr<const model_detail::KeptReduction> reduction;  ///< of matrices.reduce, kept for with_overrides()
  std::string storage;  ///< of the matrices together: "dense", "banded (1 below, 1 above)", "sparse (1234 entries)"
};

/// The law acts on angles alone: its force is a moment [N m].
bool acts_on_angles(const ModelFile& model, const FrictionElement& law);

/// `overrides` are applied in order before anything is interpreted, each KEY=VALUE with KEY a dotted path:
///   run.step=0.001   parameters.k=3   friction.shoe.limit=2   friction.0.limit=2   initial.position=[0,1]
/// An element of a list is addressed by its index (from 0), a law also by its name. VALUE is a TOML value, or else a
/// text. A key that the file does not hold is added; of two keys that exclude each other (step and steps, output_step
/// and output_times, on and direction) the override replaces the one in the file. Mistakes name the override.
ModelFile read_model(const std::string& path, std::span<const std::string> overrides = {});

/// The same from a text; files it names are looked for among the `stored` ones, then in the folder of
/// `path_for_messages`. `functions`: what { function = "name" } stands for.
ModelFile parse_model(std::string_view text, const std::string& path_for_messages,
                      std::span<const std::string> overrides = {}, std::span<const FileText> stored = {},
                      std::shared_ptr<const ProgramFunctions> functions = nullptr);

/// The same model with more overrides after its own, from what is in memory: no file is read that it has read before.
ModelFile with_overrides(const ModelFile& model, std::span<const std::string> more);

}  // namespace stickslip
