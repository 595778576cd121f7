// SPDX-License-Identifier: Apache-2.0
// Event-driven scheme: smooth motion at high order, located events, the next mode decided for all laws at once.
//
//   between events   M v' = h + Aᵀλ + W r with every law in its mode (mode_dynamics.hpp): an exact power series where
//                    the system is linear (taylor_flow.hpp), else an integrator with error control (ode_flow.hpp)
//   event            the first quantity that ends a mode falls to zero (flow.hpp); all that do so at that instant count
//   next mode        problem (V) for all laws at rest together (mode_decision.hpp). Where u' = 0 with the reaction on
//                    the border of its set, the mode that is valid a moment later is taken
//   impact           contacts that touch with u_N < 0: the impact law with Coulomb friction for all touching contacts
//   at
//                    once (solvers/impact.hpp). Dry friction with a limit carries no impulse
//   accumulation     a bouncing contact comes to rest in finite time with infinitely many impacts. With rebound speed
//                    u_N⁺ and approach acceleration a_N < 0 the impacts to come last 2 u_N⁺/(|a_N| (1 - e)). Where that
//                    is below `accumulation_time` the contact closes at once: its impulse then is that of the impacts
//                    left out, and so is the friction of a contact that slides through them. The same where one
//                    flight is shorter than 1e-12 of the time: the next impact would be no later instant (e near 1)
//
//   redundancy       where reactions of resting laws are not unique (a ladder, a table on four legs) the event is that
//                    no admissible choice of them holds any more. At the two ends of a segment a choice well inside the
//                    sets is found (held_reactions.hpp); if the choices nearest to the line between the two stay in the
//                    sets, nothing happens in between; else the segment is halved, down to 1/64 of it, or to
//                    round-off of t where no choice is left. A guide without play (two contacts back to back) is loaded
//                    on one side at a time
//
// Source: VanderVoort, Singh 1987 (paper 2); their decision hinge by hinge, step halving and SIGN(0) = 0 are not used
// (mode_decision.hpp says why). Static above dynamic limit: policy of mode_decision.hpp.
//
// Accuracy: that of round-off with the exact flow, of `tolerance` with the integrator, through any number of events.
// Contacts between bodies with shapes are not taken: their points appear and vanish with the geometry.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "stickslip/motion/constraint_audit.hpp"
#include "stickslip/motion/contact_audit.hpp"
#include "stickslip/motion/event/event_options.hpp"
#include "stickslip/motion/event/flow.hpp"
#include "stickslip/motion/event/ode_flow.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/motion/step_audit.hpp"
#include "stickslip/motion/time_span.hpp"
#include "stickslip/solvers/impact.hpp"

namespace stickslip {

class EventTangent;
class TaylorFlow;
class Variations;

/// What impacts that accumulate may still last where they are ended, of the length of the run.
inline constexpr double kAccumulation = 1e-10;
/// Gap of a contact that touches, of gap_size().
inline constexpr double kTouching = 1e-10;

/// `times`, and the start of the run if a function of time jumps or has a kink there.
std::vector<double> breakpoints_with_start(const System& system, std::vector<double> times, TimeSpan span);

class EventScheme final : public Scheme {
 public:
  /// The system must outlive the scheme. tolerance: relative, of the integrator. Throws InputError where the system is
  /// not taken, or flow = exact does not apply. A stop request ends a step where the last whole segment did.
  EventScheme(const System& system, const EventOptions& options, double tolerance, TimeSpan span,
              std::vector<double> breakpoints, StopRequest stop = nullptr, const Variations* variations = nullptr);
  ~EventScheme() override;
  void start(StepRecord& record) override;
  StepOutcome step(double t_end, StepRecord& record) override;
  void add_notes(std::vector<std::string>& notes) const override;
  std::vector<AuditPart*> audit_parts() override;

 private:
  /// The dynamics at a state, its springs included.
  void place(double t, const State& state);
  /// What |u| of component i may be by round-off of its terms, and by the time between state.t and that of the placed
  /// state.
  double velocity_round_off(Index i, const State& state);
  /// Times up to this far apart are told apart to round-off: the run's length, and t.
  double time_size(double t) const { return span_.length() + std::abs(t); }
  double shortest_flight(double t) const;
  double accumulation_time() const {
    return options_.accumulation_time > 0 ? options_.accumulation_time : kAccumulation * span_.length();
  }
  /// What a gap is small against: its terms, and the way of a free fall over the run (to round-off).
  double gap_size(std::size_t law, const Vector& q);
  bool touches(std::size_t law, const Vector& q);
  bool starts_from_surface(std::size_t law, const State& state);
  double force_size(Index i, double D) const;
  void classify(State& state, double t);
  double limit_after(double t) const;
  std::optional<double> breakpoint_at(double t) const;
  double just_after(double t) const;
  double just_before(double t) const;
  enum class Jump : char { none, surface, gap_up, gap_down };
  bool look_for_jumps(const State& state);
  StepOutcome cross_jumps(StepRecord& record);
  bool constraint_velocity_jumps(const ConstraintRows& before, const Vector& bias, double between,
                                 const Vector& v) const;
  StepOutcome take_constraint_jump(StepRecord& record);
  StepOutcome pass_instant(StepRecord& record);
  TimeSpan smooth_window() const;
  void start_tangent(StepRecord& record);
  void leave_segment(const State& state);
  void leave_start(const State& state);
  StepOutcome read_triggers(State& state);
  void stop_together(State& state);
  void snap_to_breakpoint(State& state) const;
  StepOutcome take_impacts(StepRecord& record, bool jumped);
  /// P: impulses of the reactions that limits may name.
  StepOutcome refuse_impulsive_limits(const State& state, const Vector& P, std::string_view cause) const;
  Vector impulses_of_reactions(const std::vector<Index>& rows, const Vector& impulses);
  void audit_constraints(const StepRecord& record);
  void find_accumulating(const State& state);
  StepOutcome close_accumulating(StepRecord& record);
  void set_mode_by_velocity(std::size_t law, double tiny, State& state);
  StepOutcome decide(State& state);
  StepOutcome several_modes(const State& state, const Decision& decision) const;
  StepOutcome several_limits(const State& state, std::size_t law) const;
  StepOutcome no_mode(const State& state, const Decision& decision) const;
  /// A law at rest on the border of its set, and the two modes it may have.
  struct Tie {
    int law;
    Mode rest, give;
    char kind;       ///< a Tied
    int other = -1;  ///< side of a guide that takes over; the modes stay
    bool gives = false;
  };
  StepOutcome begin_segment(State& state);
  void choose_flow();
  void use_stepper();
  void cut_where_no_choice_holds(const State& state);
  bool find_choice(double t, const State& state, Vector& x);
  bool choices_hold(double from, const Vector& x_from, double to, const Vector& x_to, const State& state);
  double last_choice(double from, const Vector& x_from, double to, const Vector* x_to, int depth, const State& state);
  void name_tied_laws(const State& state);
  void move_other_side(std::size_t law, State& state);
  void turn_tie(Tie& tie, bool gives, State& state);
  void settle_ties(State& state);
  bool move_a_moment_on(const State& state);
  bool holds_a_moment_later(const State& state);
  void ask_how_ties_give(const State& state);
  /// Law k, the j-th of the decision.
  char tie_of_released(std::size_t k, const Decision& decision, std::size_t j, Index first) const;
  bool tie_holds(const Tie& tie, const std::vector<Mode>& modes, const Vector& du);
  void note_changes(const std::vector<Mode>& before, StepRecord& record);
  void accumulate(double from, double to, StepRecord& record);
  void accumulate_in_closed_form(double from, double to, StepRecord& record);
  void relative_velocity(double t, const FlowSample& sample);
  void audit(StepRecord& record, double duration, double t);
  double reaction_round_off(Index first, int size, double t);
  void energies(StepRecord& record);
  void project(const std::vector<Mode>& modes, State& state, double t);  ///< onto rows and surfaces at t
  const std::vector<Mode>& modes_held_before(const State& state);
  StepOutcome settle(State& state, double t);
  void settle_springs(State& state);

  const System& system_;
  EventOptions options_;
  ModeDynamics dynamics_;
  std::unique_ptr<TaylorFlow> exact_;
  std::unique_ptr<Flow> stepper_;  // where the first does not apply
  OdeFlowOptions stepper_options_;
  Flow* flow_ = nullptr;
  std::vector<double> breakpoints_;
  StopRequest stop_ = nullptr;
  DecisionOptions decision_options_;
  double snap_ = 1e-14;  // of time_size(); how near to a jump of a force an event is one with it
  TimeSpan span_;
  double last_length_ = 0;
  bool in_segment_ = false, continued_ = false, pending_ = true, circulatory_ = false;
  long events_ = 0, at_this_instant_ = 0;
  double last_event_time_ = -1;

  std::vector<char> at_rest_, impact_, sliding_;
  std::vector<char> told_;  // laws with a spring in series whose mode this instant's event has said
  std::vector<LawRole> roles_;
  std::vector<Jump> jumps_;
  int jumping_constraint_ = -1;
  bool velocity_jumps_ = false;  // of a constraint: its row or rate
  std::vector<LawStart> starts_;
  std::vector<double> largest_force_;  // per law, of the run so far
  std::vector<Tie> ties_;
  std::vector<char> right_;  // per tie
  Vector slacks_;
  double segment_end_ = 0;
  std::vector<Monitor> triggers_;  // at segment_end_
  std::vector<int> chosen_;
  DecisionProblem problem_;
  FlowSample sample_, node_;
  Vector u_, w_, f_, lambda_, Kq_, Kv_, weights_;
  ConstraintRows rows_;
  bool redundant_ = false;    // reactions of the segment are one choice among many
  bool closed_form_ = false;  // of the energies between events
  StickAudit stick_audit_;
  ConstraintAudit constraint_audit_{system_};
  ContactAudit contact_audit_;
  /// Modes among which the policy of mode_decision.hpp has chosen.
  class ChoiceAudit final : public AuditPart {
   public:
    int step = 0;  ///< admissible at one event of the step
    void account(const AuditLedger& run) override;
    void exchange(Memory& memory) override;
    void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const override;

   private:
    int most_ = 0;
  } choice_audit_;
  Vector closed_impulse_, path_;
  std::vector<Mode> held_;
  std::vector<Set> one_set_{1};
  std::array<Vector, 3> one_r_, one_u_;
  Vector one_rho_ = Vector::Ones(1);
  std::vector<Mode> before_;
  std::vector<double> impact_impulse_;
  ImpactWorkspace impact_workspace_;
  std::vector<std::size_t> ending_;    // contacts whose impacts end at this instant
  std::vector<std::size_t> touching_;  // contacts of the impact at this instant
  const Variations* variations_ = nullptr;
  std::unique_ptr<EventTangent> tangent_;  // null: no derivatives
  bool tangent_loaded_ = false;
};

}  // namespace stickslip
