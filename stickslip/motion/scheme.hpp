// SPDX-License-Identifier: Apache-2.0
// What a time-integration scheme is, and how each is described: what it takes, what it guarantees, how it is made.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/status.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/audit.hpp"
#include "stickslip/motion/memory.hpp"
#include "stickslip/motion/step.hpp"
#include "stickslip/motion/trajectory.hpp"

namespace stickslip {

/// The outcome of one step; the message carries the remedy.
struct StepOutcome {
  Status status = Status::success;
  std::string message;
};

class Scheme {
 public:
  virtual ~Scheme() = default;
  /// Sizes the record, decides the modes at rest and evaluates the energies of record.state.
  virtual void start(StepRecord& record) = 0;
  /// From record.state to t_end, or to a located event before it: record.state.t says how far, and the next call goes
  /// on. Fixed steps allocate nothing after the first of their size; schemes that decide modes may, at laws and events.
  virtual StepOutcome step(double t_end, StepRecord& record) = 0;
  /// What it keeps from step to step beside the state (warm starts, the step size of its factors, ...), written or read
  /// after start(): with it a run goes on bit by bit as if it had never stopped. False: it keeps nothing there and goes
  /// on from the state as start() left it.
  virtual bool exchange(Memory& /*memory*/) { return false; }

  // What one scheme alone knows.
  /// Into a row of the output, at the state of the last step.
  virtual void add_to_row(OutputRow& /*row*/) const {}
  /// What it measures beside what all schemes do; asked once, after start(). They belong to the scheme.
  virtual std::vector<AuditPart*> audit_parts() { return {}; }
  /// What there is to know about the run that only the run has shown; asked at its end.
  virtual void add_notes(std::vector<std::string>& /*notes*/) const {}
};

enum class SchemeKind { splitting, moreau, event, compliant, viscoelastic };

/// By numbers of the case: none; of the state, StepRecord::sensitivity; and of the reactions, reaction_sensitivity.
enum class Derivatives { none, state, state_and_reactions };

struct SimulationOptions;
class Variations;

/// All that is to be known of a scheme without running it. Each is written in the folder of its scheme; the table in
/// scheme_table.cpp has a line for each.
struct SchemeDescription {
  SchemeKind kind;
  std::string_view name;
  std::string_view source;
  std::string_view takes;  ///< models and laws
  std::string_view guarantees;
  bool own_steps;            ///< step sizes follow from a tolerance
  bool friction_velocity;    ///< rows keep the velocity after the friction part of a step
  bool refuses_penetration;  ///< a start inside a contact is refused or corrected, and so looked for beforehand
  Derivatives derivatives;   ///< what it carries along of them (motion/sensitivity.hpp)
  /// Throws InputError with the reason and the scheme to use instead if the scheme does not take this system.
  void (*require)(const System& system);
  /// The system and the variations must outlive the scheme. `breakpoints`: times at which forces jump, ascending.
  /// `variations`: what the motion is differentiated by; null: nothing.
  std::unique_ptr<Scheme> (*make)(const System& system, const SimulationOptions& options,
                                  std::vector<double> breakpoints, StopRequest stop, const Variations* variations);
  /// What it guarantees for this system, in numbers.
  AuditLimits (*limits)(const System& system, const SimulationOptions& options);
  /// Cases in which it has a lower order for this system.
  void (*add_notes)(const System& system, const SimulationOptions& options, std::vector<std::string>& notes);
  /// Names of State::z where their number is fixed; null, or empty: there are none, or they come and go and are kept in
  /// the memory of the scheme.
  std::vector<std::string> (*internal)(const System& system) = nullptr;
  /// Some law has a polygonal section whose active facets the scheme follows; null: it does not.
  bool (*facets)(const System& system) = nullptr;
  /// Of a scheme with own_steps: these options give it steps of run.step all the same; null: none do.
  bool (*fixed_steps)(const SimulationOptions& options) = nullptr;
};
std::span<const SchemeDescription> scheme_table();
const SchemeDescription& describe(SchemeKind kind);
inline std::string_view to_string(SchemeKind kind) { return describe(kind).name; }
inline bool chooses_own_steps(SchemeKind kind) { return describe(kind).own_steps; }
/// Steps end where the scheme likes, and at the times of the output; else at multiples of run.step, with rows between
/// them interpolated.
bool chooses_own_steps(const SimulationOptions& options);
/// Throws InputError naming the nearest known scheme.
SchemeKind scheme_from(std::string_view name);
/// Throws InputError that names the schemes with derivatives where this one has none.
void require_sensitivities(SchemeKind kind);
/// SchemeDescription::require of this scheme.
void require_supported(SchemeKind kind, const System& system);

/// Limit of the energy balance of schemes with error control: errors add up over the steps, some ten to a hundred in
/// our models' runs; a run that loses more than a hundredth is not resolved, whatever tolerance was asked for.
double integration_limit(double tolerance, double round_off);
/// Throws InputError that names the friction law whose limit depends on a reaction.
void refuse_reaction_limits(std::string_view scheme, const System& system);
/// Throws InputError that names the contact whose polygon is not the inscribed one with a vertex on the first tangent.
void refuse_other_polygons(std::string_view scheme, const System& system);

}  // namespace stickslip
