// SPDX-License-Identifier: Apache-2.0
// Contacts with local compliance (paper 3): the motion of compliant_dynamics.hpp, integrated.
//
//   explicit   Dormand-Prince of order 8 with error control: the right-hand side is Lipschitz, so the error follows the
//              tolerance through kinks, where steps shrink by themselves
//   stiff      Radau IIA of order 5 with the generalised Jacobian, for stiff contacts over long times
//   automatic  stiff where the fastest rate of the contacts times the length of the run is above kStiffTimes; else
//   explicit,
//              and stiff from where stability limits the steps and the implicit method would be cheaper
//   heun, rk4  fixed steps of [run] step, order 2 and 4 between switches; a switch inside a step costs O(h²): for
//   studies of
//              order
//
//   locate_switches   an integrator with error control ends its step where a contact opens, closes, sticks, slips or
//                     changes facets, and begins anew there; else it steps over switches. Either way every switch
//                     becomes an event, its time found on the dense output. Runs with derivatives locate them: slopes
//                     jump there. Closings (a touch may lie between the stages of a step, where no estimate sees it)
//                     and switches at which a force jumps by more than the tolerance are located always, and so
//                     are kinks for which a step would have to shrink: such a step is repeated on the pieces of its
//                     start, where the motion is smooth, and ended where a contact changes. Likewise kinks that the
//                     error control cannot weigh: those in steps of the implicit method whose estimate is above the
//                     tolerance (its own test allows more, by the order that it has where the motion is smooth), and
//                     in explicit steps all of contacts that are coupled, whose pieces cannot be kept
//
// Where a force jumps (a damped normal that closes with speed, a static coefficient that gives way) at t*(p), g(t*, y,
// p) = 0, columns of derivatives jump as well (compliant_jumps.cpp):
//
//   S⁺ = S⁻ + (f⁻ - f⁺) dt*/dp,    dt*/dp = -(∂g/∂y S⁻ + ∂g/∂p)/(dg/dt)⁻,    y' = f
//
// Where several forces jump at one instant each of them adds its own (compliant_jumps.cpp). Where one of them changes
// what another waits for, or contacts are coupled, and an unknown moves them apart, the derivative does not exist: its
// column is no number from there on.
//
// Bilateral constraints: the state is projected onto them after every step.
//
// Sums of work and impulses are integrated with the motion (explicit, heun, rk4) or with the quadrature of the method
// (stiff), so that the balance of energy closes to the tolerance.
//
// Unique C¹ motion with finite forces: source, with Lipschitz forces as its condition. Not covered by it:
// normal_damping, which makes the force jump where surfaces meet with speed, and says so in the notes of a run.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>

#include "stickslip/common/ode.hpp"
#include "stickslip/model/time_resolution.hpp"
#include "stickslip/motion/compliant/compliant_neighbours.hpp"
#include "stickslip/motion/compliant/compliant_options.hpp"
#include "stickslip/motion/compliant/compliant_tape.hpp"
#include "stickslip/motion/compliant/deepest_point.hpp"
#include "stickslip/motion/compliant/switch_audit.hpp"
#include "stickslip/motion/constrained_motion.hpp"
#include "stickslip/motion/constraint_audit.hpp"
#include "stickslip/motion/contact_audit.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/motion/smooth_stretch.hpp"

namespace stickslip {

class Radau;

class CompliantScheme final : public Scheme {
 public:
  /// The system must outlive the scheme. step: of heun and rk4 [s]. whole_start: of the run that this one is a part of
  /// (SimulationOptions).
  CompliantScheme(const System& system, const CompliantOptions& options, double tolerance, double step, TimeSpan span,
                  std::vector<double> breakpoints, StopRequest stop = nullptr, const Variations* variations = nullptr,
                  std::shared_ptr<const State> whole_start = nullptr);
  ~CompliantScheme() override;
  /// Throws InputError naming the contact where the start is deeper inside than compliance can mean.
  void start(StepRecord& record) override;
  StepOutcome step(double t_end, StepRecord& record) override;
  bool exchange(Memory& memory) override;
  std::vector<AuditPart*> audit_parts() override;
  void add_notes(std::vector<std::string>& notes) const override;

  /// Before start(): the motion is kept in the tape, and no columns are carried for the variations. After the run the
  /// gradients of the functionals marked in it: functionals × unknowns. False: stopped, or none could be computed.
  void record_on(CompliantTape& tape);
  /// On that tape, a functional that looks at the motion where it has come to: its slope by (q, v) there.
  void mark(Index functional, double t, const Vector& weights);
  bool gradient(Index functionals, DenseMatrix& gradient, bool& exists);

  const SwitchAudit& switches() const { return switches_; }
  const OdeCounters& counters() const { return integrator_->counters(); }

 private:
  /// The implicit step to a time inside the step at hand, by nodes of its quadrature: up to when, and the states there.
  struct Part {
    double end = NAN;
    std::array<Vector, 3> nodes, rates;
  };
  void require_start(const State& state);
  void require_dampers();
  void require_apart(const State& state);
  void set_scales(const State& state);
  void raise_scales();
  void raise_to_round_off();
  void raise_columns_to_round_off(std::size_t slot, const SparseMatrix& Wt, Index row);
  void make_integrator();
  void assemble(const State& state);
  // Sensitivities (compliant_sensitivity.cpp)
  void seed_columns(const DenseMatrix& S);
  void seed_probe();
  void keep_column_sums();
  double add_parameter_slope(double t, Index unknown, Vector& rate);
  void take_sensitivity(const Vector& y, StepRecord& record);
  bool moves_breakpoints() const;
  /// y with columns at fixed times in place of fixed places between breakpoints; sign = -1: back.
  void put_columns_at_fixed_time(double t, Vector& y, double sign = 1);
  void exchange_columns(Memory& memory, Vector& y);
  void go_on_from(const Vector& motion, bool stiff);
  // Derivatives over jumps of forces (compliant_jumps.cpp)
  struct ForceJumps {
    std::vector<std::size_t> slots;  ///< whose jump_function() is 0
    Vector before;                   ///< f⁻ of the motion
    DenseMatrix change;              ///< f⁻ - f_k, one column per slot; of all together where contacts are coupled
  };
  struct Approach {
    std::vector<ContactPieces> pieces = {};  ///< on which jump_function() is smooth; empty: not kept
    double rate = 0;                         ///< its rate before all jumps
    bool alone = true;                       ///< and after those of the others
  };
  /// From rate_before_ to rate_after_ at (t, y): of slots that have closed; of slots that have given way.
  ForceJumps closings(double t, const Vector& y, const std::vector<ContactPieces>& before);
  ForceJumps releases(double t, const Vector& y, const std::vector<CompliantContacts::Slot>& held,
                      const std::vector<std::size_t>& given_way);
  Approach approach(double t, const Vector& y, const ForceJumps& jumps, std::size_t k);
  bool motion_rate(double t, const Vector& y, Vector& f);
  void jump_columns(double t, const ForceJumps& jumps, Vector& y);
  /// Columns of derivatives are carried, or the tape will be gone back along.
  bool derives() const { return unknowns_ > 0 || tape_; }
  void record_step(double t, const Vector& y, double h, bool cut);
  void record_fixed_step(double t, double h, const std::vector<ContactPieces>* kept);
  TapeJump record_jump(double t, const ForceJumps& jumps, const std::vector<Approach>& ways, bool alone,
                       const Vector& y);
  void record_holds(const std::vector<CompliantContacts::Slot>& before);
  Vector column_of(const Vector& y, const DenseMatrix& S, Index k) const;
  std::vector<ContactPieces> pieces_before_jump(std::size_t slot) const;
  /// d/dx of `value` along a change x of the motion and `by_time` of the time, on the pieces given, if any. `longest`:
  /// the largest factor of x that is small.
  double slope_along(double t, const Vector& y, const std::vector<ContactPieces>& pieces, const Vector& x,
                     double by_time, const std::function<double()>& value, double longest = HUGE_VAL);
  /// The factor of x that is small beside the penetration of a slot with a normal law of its own.
  double small_beside_penetration(double t, const Vector& y, std::size_t slot, const Vector& x, double by_time);
  double jump_slope(double t, const Vector& y, std::size_t slot, const std::vector<ContactPieces>& pieces,
                    const Vector& x, double by_time);
  double jump_slope_by_unknown(double t, const Vector& y, std::size_t slot, const std::vector<ContactPieces>& pieces,
                               Index unknown);
  // Derivatives over jumps of slopes (compliant_kinks.cpp)
  double since_switch(double t, const Vector& y, const std::vector<ContactPieces>& before, std::size_t slot,
                      const ContactPieces& after, const Vector& f);
  std::vector<PiecesInTime> beyond_switches(double t, const Vector& y, const std::vector<ContactPieces>& before,
                                            double farthest);
  /// y at t, reached on the pieces `before`, as if contacts had changed to pieces_ where their borders are; of a force
  /// that has jumped as well: `jump`. Borders further away in time than `farthest` are left alone.
  void correct_switches(double t, double farthest, const std::vector<ContactPieces>& before, bool jump, Vector& y);
  void settle(double t);
  void share_holds() { neighbours_.share_holds(); }
  bool push_over_switch(double t, StepRecord& record);
  void project(double t);
  void take_modes(State& state) const;
  bool dense_jacobian(double t, const Vector& y, DenseMatrix& J);
  void collect(double t);
  void enter_stretch(double t);
  void begin(double t);
  double absolute_tolerance() const {
    return options_.absolute_tolerance > 0 ? options_.absolute_tolerance : 1e-3 * tolerance_;
  }
  bool rate(double t, const Vector& y, Vector& dydt);
  StepOutcome advance(StepRecord& record);
  OdeStep integrate(double limit);
  void set_continuation();
  void step_back(double t);
  void watch_stiffness();
  double fastest_rate(double t);
  void go_stiff();
  void take_integrator(bool stiff);
  StepOutcome failure(OdeStep step, double t);
  StepOutcome fixed_step(double t_end, StepRecord& record);
  bool fixed_method(double t, double h, const std::vector<ContactPieces>* kept);
  double fixed_part(double t, double until, StepRecord& record);
  void look_for_switches(StepRecord& record);
  bool touched_between(double t, double& next);
  double deepest_without_force(double at, const std::vector<ContactPieces>& before);
  bool pieces_hold() const;
  std::vector<double> lengths_to_switch(double h) const;
  double shortest_beside_own_law() const;
  double step_behind_closing(const std::vector<ContactPieces>& before);
  void expect_rebound(std::size_t slot, double time, double weight);
  void step_to(double at, Vector& y);
  void end_step_at(double before, double after, bool jump, const std::vector<ContactPieces>& pieces_before);
  /// y just before a jump of forces, over it by its rate, columns included; from about `way` on. The time it is there.
  double carry_over_jump(double t, double way, const std::vector<ContactPieces>& before, Vector& y);
  /// From pieces_ to what the contacts do at the placed state.
  void note_switch(double t, StepRecord& record);
  void state_at(double t, Vector& y);
  void integrate_sums(double t, const Vector& y);
  void add_sums(double from, double to, const Vector* last);
  void take_slip(const Vector& rates);
  void add_part_sums(const Part& part);
  bool passed(const std::vector<ContactPieces>& before, const std::vector<ContactPieces>& beyond) const;
  void sample(double t, StepRecord& record);
  void take_state(double t, const Vector& y, StepRecord& record);

  const System& system_;
  CompliantOptions options_;
  double tolerance_, fixed_;
  TimeSpan span_;
  SmoothStretch stretch_;
  StopRequest stop_;
  TimeResolution resolution_;  // no pulse of a force between two steps
  CompliantDynamics dynamics_;
  std::unique_ptr<OdeIntegrator> integrator_;
  std::unique_ptr<Radau> rows_integrator_;
  const Variations* variations_ = nullptr;
  CompliantNeighbours neighbours_;
  Index unknowns_ = 0;  // carried as columns; for a tape one that steps are held to
  CompliantTape* tape_ = nullptr;
  Vector start_y_;
  DenseMatrix T_;  // q' = T v at the state of the last record
  /// The state at `at` on the dense output, its forces placed: whether some contact does another thing than in pieces_.
  bool looks_changed(double at);
  /// From low, where nothing has changed, and high, where something has, to the two sides of the instant.
  void narrow(double& low, double& high);
  /// Changes of contacts are looked for in every evaluation, and some was seen; the step at hand is a continuation on
  /// the pieces of its start; the next one is to do without.
  bool ends_own_law_ = false;  ///< the step at hand is cut where a normal law of its own ends
  bool watching_ = false, saw_change_ = false, continued_ = false, without_continuation_ = false;
  bool sparse_ = false, want_stiff_ = false;
  int steps_since_look_ = 0;
  Vector power_;            // of fastest_rate()
  double energy_size_ = 0;  // of the motion, from what moves it at the start [J]
  bool stiff_ = false, in_step_ = false, cut_ = false, pushed_ = false, restart_ = true;
  std::shared_ptr<const State> whole_start_;  // null: this is the whole run
  double recorded_ = 0;                       // time of the last record
  double first_step_ = 0, step_start_ = 0, step_end_ = 0, way_since_search_ = 0;
  double dropped_energy_ = 0;  // of deformations that were given up; the dampers' [J]
  double force_size_ = 0;
  Vector weights_, mass_diagonal_;  // 1/m per law, and the diagonal of the mass, both of the start
  std::string refusal_;
  SwitchAudit switches_;
  std::vector<ContactPieces> pieces_, step_pieces_;  // now, and before the switch that ended the step
  std::vector<double> column_gain_;
  DenseMatrix column_size_;           // largest of every component so far
  std::vector<double> switch_times_;  // in the step
  Part part_, reached_part_;          // the last one made; that to a switch
  /// Where the integrator's part of a cut step ends, the state there, and the sums of what was carried beyond by rates.
  double reached_ = 0;
  Vector reached_y_, carried_sums_;
  Vector y_, y1_, sample_y_, switch_y_, switch_rate_, scale_, size_, way_, q_start_, force_at_start_, rates_, k1_, k2_,
      k3_, k4_;
  Vector sums_, sums_base_, sums_reached_;
  Vector column_reached_;  // ∫dλ of all unknowns
  Vector at_fixed_time_;
  ContactAudit audit_;
  DeepestPoint deepest_;
  std::vector<GapDip> dips_;
  double touch_until_ = HUGE_VAL;  // longest end of the step after a closing
  ConstraintWorkspace constraints_;
  ConstraintAudit constraint_audit_;
  double epsilon_ = 0;             // of laws without a compliance of their own
  std::vector<char> column_lost_;  // its derivative does not exist any more
  Vector rate_before_, rate_after_, motion_before_, probe_, project_q_, project_v_;
  long evaluations_seen_ = 0, fixed_evaluations_ = 0;
};

}  // namespace stickslip
