// SPDX-License-Identifier: Apache-2.0
// What a time-integration scheme is, and the table of those there are: which laws each takes, what it guarantees.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stickslip/common/status.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/memory.hpp"
#include "stickslip/motion/step.hpp"

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
  /// on. Allocates nothing after the first call with the same step size.
  virtual StepOutcome step(double t_end, StepRecord& record) = 0;
  /// What it keeps from step to step beside the state (warm starts, the step size of its factors, ...), written or read
  /// after start(): with it a run goes on bit by bit as if it had never stopped. False: it keeps nothing there and goes
  /// on from the state as start() left it.
  virtual bool exchange(Memory& /*memory*/) { return false; }
};

enum class SchemeKind { splitting, moreau, event, viscoelastic };

struct SchemeInfo {
  SchemeKind kind;
  std::string_view name;
  std::string_view source;
  std::string_view takes;  ///< models and laws
  std::string_view guarantees;
};
std::span<const SchemeInfo> scheme_table();
std::string_view to_string(SchemeKind kind);
/// Step sizes follow from a tolerance.
inline bool chooses_own_steps(SchemeKind kind) { return kind == SchemeKind::event || kind == SchemeKind::viscoelastic; }
/// Throws InputError naming the nearest known scheme.
SchemeKind scheme_from(std::string_view name);
/// Throws InputError with the reason and the scheme to use instead if the scheme does not take this system.
void require_supported(SchemeKind kind, const System& system);

}  // namespace stickslip
