// SPDX-License-Identifier: Apache-2.0
// Compliant contacts without inertia: motion so slow that forces balance at every instant.
//
//   0 = h(t, q, v) + W λ(q, v, δ_T),     δ_T' of the contacts,     q' = v          x = (q, δ_T)
//
// λ depends on v through the dampers of contacts that stick; where one slips its friction does not, and the balance is
// an equation for q. So the velocity JUMPS where slip begins or ends; positions and forces are continuous. The jump is
// part of the event, and the largest one is reported.
//
// Method: collocation of x at the nodes of Radau IIA (order 5, stiffly accurate: the balance holds at every step's
// end), solved by Newton with the generalised Jacobian of the contacts; where that fails from the rate of before and
// from rest, from the balance with every contact held, each step cut until Newton's next one is shorter. Error by two
// half steps against a whole one, of positions and deformations (order 5) and of velocities (order 3). A step in which
// a contact changes is repeated up to the change, found by bisection, and the next one begins with the new modes. Work
// and impulses are summed at the nodes.
//
// A coordinate on which nothing acts (of a contact that just touches without a load) stays where it is.
// Start: q moves into the nearest balance that Newton finds with the deformations given; how far is said in the notes.
//
// Derivatives S = ∂x/∂p of every unknown: those of the collocation of each step, exact in the pieces of its contacts.
// Where a contact changes at t*(p), g(t*, x, x'; p) = 0, the velocity jumps and S with it:
//
//   S⁺ = S⁻ + (x'⁻ - x'⁺) dt*/dp,    dt*/dp = -(∂g/∂x S⁻ + ∂g/∂x' S'⁻ + ∂g/∂p)/(dg/dt)⁻
//
// g: elastic normal force, or how far the trial force lies outside its section (CompliantContacts::border_function).
// Columns of the reactions are those of their impulses, ∫ ∂λ/∂p dt, summed at the nodes as the impulses are.
// Breakpoints of the forces that an unknown moves are followed (compliant_neighbours.hpp): S is carried along the
// shifted time.
// Columns are no numbers from where several contacts change the velocity at one instant that an unknown moves apart.
//
// Drive it by a spring, a displacement (gaps and slips that depend on time) or a velocity (surfaces that move). A force
// beyond the friction limit has no balance: the run is refused there with the reason.
//
// Source: Pang 2014 (paper 3), quasistatic variant.
#pragma once

#include <array>
#include <memory>

#include "stickslip/motion/compliant/compliant.hpp"

namespace stickslip {

class QuasistaticScheme final : public Scheme {
 public:
  /// The system must outlive the scheme. whole_start: of the run that this one is a part of (SimulationOptions).
  QuasistaticScheme(const System& system, const CompliantOptions& options, double tolerance, TimeSpan span,
                    std::vector<double> breakpoints, StopRequest stop = nullptr, const Variations* variations = nullptr,
                    std::shared_ptr<const State> whole_start = nullptr);
  void start(StepRecord& record) override;
  StepOutcome step(double t_end, StepRecord& record) override;
  bool exchange(Memory& memory) override;
  std::vector<AuditPart*> audit_parts() override;
  void add_notes(std::vector<std::string>& notes) const override;

 private:
  static constexpr double kHalving = 31;  // a step of order 5 against two halves of it, over what the halves are off
  static constexpr double kSafety = 0.9;
  static constexpr double kNewton = 1e-13;   // of the size of a component, or a fraction of the tolerance
  static constexpr double kNotMoved = 1e-9;  // of the sizes at hand: a start that is where it was given
  /// x and x' at the three nodes; the last is the end of the step.
  struct Stages {
    std::array<Vector, 3> x, rate;
  };
  enum class Solved { yes, no, singular };
  bool residual(double t, const Vector& x, const Vector& rate, Vector& F);
  void pack(const Vector& x, const Vector& rate);
  /// With the rate of before as first guess, with none (what slipped may stick now), and from contacts that are held.
  Solved collocate(double t, const Vector& x0, double h, Stages& stages);
  bool hold_all(double t, const Vector& x0, double h, Stages& stages);
  Solved newton(double t, const Vector& x0, double h, bool guarded, Stages& stages);
  bool balance_nodes(double t, const Vector& x0, double h, Stages& stages, bool slopes);
  void descend(double t, const Vector& x0, double h, Stages& stages);
  bool factor_nodes();  ///< of J_ at nodes_; false: singular
  Vector solve_nodes(const Vector& right) const;
  double size_of(const Vector& nodes) const;
  void require_dampers() const;
  void find_sizes(double t);
  CompliantContacts::BorderWidth border_width(double h) const;
  /// At the start of a step that follows a change; h: of the step before, to which rate_ is known.
  void find_what_may_change(double t, double h);
  double limit_of(std::size_t slot, double normal) const;  ///< of friction [N]
  bool same_pieces(double t, double h, const Stages& stages);
  double step_error() const;
  double rate_error(double h) const;
  static double step_factor(double error);  ///< for the length of a step with an error of so many tolerances
  StepOutcome advance(double limit, StepRecord& record);
  StepOutcome find_step(double t, double shortest, double& h);
  void find_new_pieces(double t, double h);
  StepOutcome no_balance(double t, Solved why);
  void add_sums(double t, double h, const Stages& stages);
  void take_state(double t, StepRecord& record);
  void note_switch(double t, StepRecord& record);
  // Derivatives (quasistatic_sensitivity.cpp)
  struct Columns {
    DenseMatrix x, rate, impulse;
  };
  void seed(StepRecord& record);
  /// S and S' at the end of a step from S0.
  void vary_step(double t, double h, const Stages& stages, const DenseMatrix& S0, DenseMatrix& S, DenseMatrix& S_rate);
  void vary_settled(double t, double h, const Stages& stages, bool rate);
  /// Over the switch from pieces_ to found_pieces_ at t; x' jumps from rate_.
  void jump_columns(double t, const Vector& rate_after);
  /// dt*/dp of the switch of one slot.
  double shift_of_switch(double t, std::size_t slot, Index unknown);
  template <class Value>
  double slope_along(double t, const Vector& dx, const Vector& dr, double dt, Value&& value);
  /// Over the switch at the start of a step, if there is one, and to its end. Returns the factor for the length of the
  /// step that their error asks for: below 1, and a step that would not be too short then, they stay as they were.
  double carry_columns(double t, double h, double shortest);
  double column_error(const DenseMatrix& whole);
  /// After vary_step(): what the step adds to the impulses' columns, from the slopes at its nodes.
  void add_impulse_columns(double t, double h, const Stages& stages, const DenseMatrix& S0);
  /// From those along the shifted time (compliant_neighbours.hpp) to those at time t, at the placed state; sign = -1:
  /// the other way.
  Columns at_fixed_time(double t, Columns columns, double sign = 1);
  void take_sensitivity(StepRecord& record);

  const System& system_;
  double tolerance_;
  TimeSpan span_;
  SmoothStretch stretch_;
  StopRequest stop_;
  double epsilon_;
  Vector weights_;                            // 1/m of every law, for those without a compliance of their own
  std::shared_ptr<const State> whole_start_;  // null: this is the whole run
  double recorded_ = 0;                       // time of the last record
  CompliantDynamics dynamics_;
  const Variations* variations_;
  CompliantNeighbours neighbours_;
  Index unknowns_;
  DenseMatrix S_, S_rate_, S_middle_, right_;      // columns: unknowns
  DenseMatrix impulse_columns_, impulse_reached_;  // of ∫ λ along the shifted time; at the last record, at its time
  Vector bend_, slope_;                            // x'' at the end of the last step
  double step_start_ = 0;
  std::vector<char> column_lost_;
  Vector column_gain_;  // largest of a column over the sizes so far: what is left of one that fades is round-off
  Index n_ = 0, T_ = 0;
  double h_ = 0, last_h_ = 0;
  bool fresh_ = true;       // modes may differ from pieces_ at once: the last step ended at a change
  double touch_ = 0;        // what the forces of the start make of the softest contact [m]
  double energy_size_ = 0;  // of the forces of later on, where there are none at the start [J]
  double moved_ = 0;
  Vector x_, rate_, y_, F_, column_, column_rate_, scale_, update_, nodes_, sums_, sums_reached_, sum_rates_, reaction_,
      reaction_after_;
  Vector speed_;   // largest |q'| so far, or what the sizes would make of the run
  Vector levers_;  // way of a contact per change of a coordinate, at the start
  std::vector<Index> pinned_;
  Vector rows_, columns_;  // sizes of the factor
  Stages whole_, first_, second_;
  DenseMatrix J_, by_x_, by_rate_;
  Eigen::PartialPivLU<DenseMatrix> lu_;
  std::vector<ContactPieces> pieces_, found_pieces_;  // before the step; at the end of one that begins anew
  std::vector<char> may_change_;                      // at the start of a step that begins anew
  std::vector<char> border_;                          // of the end of a step that begins anew
  bool changes_ = false;                              // the step ends where a contact changes
  SwitchAudit switches_;
  ContactAudit audit_;
};

}  // namespace stickslip
