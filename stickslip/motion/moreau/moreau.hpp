// SPDX-License-Identifier: Apache-2.0
// Velocity-level time stepping (Moreau, Jean): elasticity, damping, friction, contact, impact and constraints of every
// kind of system in one inclusion per step.
//
//   v_θ = θ v1 + (1-θ) v0,   q1 = q0 ⊕ h v_θ,   q_θ = q0 ⊕ θ h v_θ
//   M (v1 - v0) = h [ h(t, q_θ, v_θ) + W (c γ(u_θ) - viscous u_θ) ] + W p + Gᵀ Λ                                 (step)
//   u = Wᵀ v - w,   -(u1 + b + s) ∈ N_K(p),   G1 v1 = rate(t1)
//
// i.e. problem (*) in primal form, A v1 = g + W p, iterated to convergence where M, forces, limits or rows depend on
// the state; p: impulses of the step [N s], of friction in h C, of contact points in their cones.
//   linear      A = M + hθ B' + h²θ² K, B' = B + Σ viscous W Wᵀ; factors are kept; forces of time by their exact mean
//   otherwise   A = M - hθ ∂h/∂v - h²θ² ∂h/∂δ and one step of Newton's method per iteration
//   bodies      (free_motion.hpp) half of the free motion, velocities changed in its middle, the other half: A = M
//   there,
//               with springs A = M - ½h²θ ∂h/∂δ - hθ ∂h/∂v: stable for any stiffness and damping
//   trees       (articulation.hpp) the same equations without a matrix, in O(n) (articulated_step.hpp); where they do
//   not
//               converge, or a contact is near, Newton's method as above
//   constraints are eliminated (constrained_step.hpp); what a step leaves of g, O(h³), is projected out
//
// The law holds at the END velocity u1. With the mean velocity instead, v and q keep their order but the multiplier
// rings (total variation 75 to 467 where the exact one is 4.5). A stuck coordinate has v = w exactly, and q is constant
// to the last bit when the surface is at rest.
//
// Order: 2 in q and v for θ = 1/2 where jumps of the force are step ends; reaction against its mid-step value 2 away
// from events; in L2 3/2 if all events are step ends, else 1/2 (one step holds a mixed mean). Natural velocity
// reversals inside a step reduce the order to 1; with locate_reversals the step is split consistently with the
// inclusion:
//
//   If u_i ≠ 0 at the start and u_i stops or changes sign over the step, find x in (0, h] with ψ_i(x) = 0, ψ_i(x) the
//   end velocity of law i after the same step with size x, its reaction frozen at -c_i sgn(u_i) (a contact point with
//   one tangent: -μ p_N sgn(u_T)) and all other laws solving their inclusion. Take the smallest x, set u_i = 0 exactly,
//   go on with h - x. No split for i if ψ_i(h) has not changed sign, nor where constraints turn the slip around (dead
//   points). Break-away at equal limits needs no treatment: the force is continuous there and the error O(h²).
//
// With static > dynamic limit the force jumps at break-away, so that is located too: the x at which the reaction of the
// held law, extrapolated to the end of the step from its means over both halves, reaches static_limit. Planar friction
// is not located and takes its direction from the end velocity: order 1 where the direction turns. Impacts of shapes,
// and contacts that open or close, are of order 1.
//
// Impacts with restitution of gaps that are functions (stops of hinges) are located likewise: a step ends where the
// first of them arrives, g(q1(x)) = 0, the blow takes an instant of 1e-8 h, and so on with what is left; after
// max_splits the rest of the step has no rebound. Rebounds slower than what the forces of a whole step do are landings.
//
// Static > dynamic limit: a law or contact point at rest at the start of a (sub)step holds up to static_limit
// (μ_static); where it gives way, the step is solved again with its limit lowered. A law that comes to rest at a
// located reversal is at rest. Limits that depend on reactions are solved with them: a fixed point of the mean
// reactions of the step, accelerated (Anderson), so that it is found also where the limits change the reactions by more
// than they follow.
//
// Elastic friction (friction_element.hpp): its force at the middle of the step, by return mapping
// (elastic_friction.hpp), is iterated with the other forces of state, its spring in A; the laws take no part in the
// inclusion.
//
// Energy (θ = 1/2): the balance of step.hpp closes to round-off where energies are quadratic, because v_θ is the mean
// velocity of the step.
//
// Contacts:  q_m = q0 drifted by h/2,  points found there: gap g, directions W;  u0 = Wᵀ v0 - w(t0),  u1 = Wᵀ v1 -
// w(t1)
//
//   w     velocity of the surfaces: at both ends of the step, as v, so that belts and floors that speed up are followed
//         with order 2
//   b     what the law adds to u1, normal component only:
//         rule `velocity`, the textbook scheme: a point takes part if g <= 0, and then b = e u0
//         rule `stabilised` (default):
//           touching, g <= tiny             b = e min(u_a, 0), u_a the velocity of arrival: u0, but for a point of
//                                           the last step what that left there (Newton's impact law)
//                                           tiny: 1e-9 of the smallest shape; for gaps given by expressions, which know
//                                           no length, 1e-9 of the way h |u_N| of the step, and round-off of the gap
//           nearby and about to touch       b = g / h: the point arrives in the middle of the next step and stays; not
//                                           used where an impact with restitution is coming, which must keep its speed
//           shapes, e > 0, arriving with an impact and g < h |u_N|: struck now, because left to itself the point would
//           be inside in the middle of the next step away or leaving, e > 0, while another point is struck: left out,
//           so that it can rebound afterwards
//         With the stabilised rule a resting contact neither opens by rounding nor sinks in.
//
// Poisson's and the energetic impact law (impact.hpp): points that touch and approach, with all that touch beside them,
// first solve the law at the velocity before the step with D = Wᵀ A⁻¹ W, which gives impulses p_i and velocities u⁺.
// The step then is (step) with W p_i on its right-hand side and b = -u_N⁺ at the points that were hit: they leave with
// the velocity that the law gives them, as with Newton's b = e u0, and carry what the forces of the step ask for.
//
// Further blows (free bodies): points with e > 0 that the solution drives in so are struck in the same step, one blow
// after the other, up to 20: u⁺ = u + D p by their impact law at u = Wᵀ(v1 - ½ (v_free - v0)) - w, the velocities with
// half of what the forces of the step do. Two blows with impulses p1, p2 then change T by
//   p1·½(u0 + u1) + p2·½(u⁻ + u⁺) = (p1 + p2)·½(u0 + u1), u1 after both:
// the balance of the step closes with the sums, and elastic blows keep the energy whatever h.
//
// Penetration at the end of the step, of free bodies deeper than 4e-7 of the smallest shape, is removed there, with
// q1 in the place of q_m below (positions_apart.hpp). Elsewhere penetration is removed at q_m before the velocities are
// solved for:
//   minimise ½ δᵀ M δ  subject to  g + W_Nᵀ δ >= 0,   q_m ← q_m ⊕ δ
// where it is deeper than 1e-6 of the smallest shape, or 1e-3 of the way of the step (points that restitution throws
// back at once, or that are on their way out, are left alone). Only positions move; the work against the potential is
// `correction` in the energy ledger.
//
// Accumulating impacts (a bouncing ball coming to rest) pass as ordinary steps; any number of events per step is right
// to O(h).
//
// Energy (θ = 1/2; T quadratic): (T + U) changes by work_in - losses exactly. impact_loss collects p_N · mean u_N,
// friction_loss the tangential part. Newton's impact law with friction can make energy. For e = 0 it cannot: with u_f
// the relative velocity without contact, ½ p·(u1 + u_f) = p·u1 - ½ p·D p <= 0, which for A = M and surfaces at rest is
// T(v1) - T(v_f). This is recorded as contact_gain wherever it is positive, and the audit holds it against zero where
// e = 0. In steps with a rebound of Newton's law contact_gain is the work ½ p·(u0 + u1) where positive. In steps with
// Poisson's or the energetic law contact_gain is the work of p_i, where positive. Where an impact gives a negative
// friction loss (the mean velocity of the step is not the path of the impulse), friction and impact loss of the step
// are counted as one: as impact loss.
//
// Residual of a step: the natural map of law k with its weight ρ_k ≈ 1/D_kk, as a velocity,
//
//   max_k ( |e_k|/ρ_k - round-off of W_kᵀ v1 ) / V_k
//
//   V_k = largest |Wᵀ v_f - w| of all contact points, v_f without reactions; friction laws: their own, or limit/ρ_k
//
// so that a light body under a heavy one counts like any other: relative to the momentum of the step its error would
// not be seen. A step is good at contact_tolerance, accepted and counted up to kNearMiss times that, and above it
// repeated with half its length, down to 1/16, before the run ends.
//
// Few points (up to 64) are solved to round-off after the solver's tolerance is reached; it decides whether a body just
// below its friction angle creeps. More points are so where all that carry load rest, over some steps: a heap at rest
// stays where it is.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "stickslip/motion/constrained_motion.hpp"
#include "stickslip/motion/constraint_audit.hpp"
#include "stickslip/motion/contact_audit.hpp"
#include "stickslip/motion/elastic_friction.hpp"
#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/force_sampler.hpp"
#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/moreau/constrained_step.hpp"
#include "stickslip/motion/moreau/moreau_options.hpp"
#include "stickslip/motion/moreau/positions_apart.hpp"
#include "stickslip/motion/moreau/reaction_audit.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/solvers/anderson.hpp"
#include "stickslip/solvers/impact.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

class ArticulatedStep;
struct StepProblem;

class MoreauScheme final : public Scheme {
 public:
  /// The system must outlive the scheme. `breakpoints`: times at which forces jump, ascending.
  MoreauScheme(const System& system, const MoreauOptions& options, std::vector<double> breakpoints, TimeSpan run);
  ~MoreauScheme() override;
  /// Throws InputError naming the contact if the start penetrates by more than options.start_penetration.
  void start(StepRecord& record) override;
  StepOutcome step(double t_end, StepRecord& record) override;
  bool exchange(Memory& memory) override;
  std::vector<AuditPart*> audit_parts() override;
  /// Of the last step(), which went from start to end (step_problem.hpp).
  StepProblem step_problem(double start, double end, const StepOutcome& outcome) const;

 private:
  static constexpr std::size_t kFewPoints = 64;  // that many points are solved to round-off
  /// A law whose reaction is known while its stop or break-away is looked for: a friction law, or a contact point with
  /// one tangent (by its index among the found points), that slips in direction `sign`, or a friction law that is held
  /// whatever it takes.
  struct Frozen {
    Index law = -1, point = -1;
    double sign = 0;
    bool held = false;
    bool any() const { return law >= 0 || point >= 0; }
  };
  /// Everything up to the solution, from the state of the record; nothing of it changes.
  Status attempt(double h, Frozen frozen, StepRecord& record);
  Status attempt_unsplit(double& h, StepRecord& record);
  // Location of events inside a step (moreau_locate.cpp).
  bool collect_candidates(double h);
  bool locates() const;
  bool ends_at_stop(Index row) const;
  bool passes_dead_point(Index row, double h);
  double thrust_along(Index row) const;
  bool may_give_way(Index law, double h) const;
  bool shares_its_load(Index law);
  void evaluate_limits_at(double share, double h);
  double end_velocity(double h, const Frozen& frozen, StepRecord& record, Status& status);
  double margin_to_break_away(double h, Index law, StepRecord& record, Status& status);
  std::optional<double> reversal(const Frozen& candidate, double before, double h, StepRecord& record, Status& status);
  std::pair<double, Frozen> earliest_event(double h, StepRecord& record, Status& status);
  Index frozen_row() const;
  void freeze(double h, double factor);
  bool frozen_law_stops() const;
  void stop_frozen_law();
  void note_friction_modes(double t1, StepRecord& record);
  // Location of impacts (moreau_arrival.cpp).
  bool may_split() const;
  bool impact_is_located(const ContactSite& point) const;
  /// e of a point: 0 once a step has been split as often as it may be.
  double restitution(const ContactSite& point) const;
  bool waits_for_impact(const ContactSite& point) const;
  bool has_arrived(const ContactSite& point) const;
  bool arrives_later(std::size_t k, Index row, double h) const;
  double instant() const;
  bool blow_now() const;
  double least_gap_at_end(double h);
  bool collect_arrivals(double h, double& nearest);
  Status take_blow(double& h, StepRecord& record);
  Status shorten_to_arrival(double& h, StepRecord& record);
  void note_arrivals();
  /// One point that takes part in the step.
  struct Active {
    int law = 0;               ///< of contacts()
    int found = 0;             ///< index into found_.points
    Index row = 0, first = 0;  ///< of found_.Wt; of p
    Index solved = -1;         ///< of the p of this step without points that were overlooked; -1: it was
    double bias = 0;           ///< of u_N, less `lift`
    bool impact = false;       ///< arrives faster than the forces of one step explain
    bool strikes = false;      ///< `impact`, before a law of its own says whether it was hit
    bool holds = false;        ///< stuck in the last step: μ_static
    bool touches = false;      ///< may take part in an impact now
    double arrival = 0;        ///< Approach::arrival
    double lift = 0;           ///< s_N that the convex relaxation takes away again
    Mode mode = Mode::open;    ///< that it is found in, once the step is solved
  };

  /// Normal velocities of a point [m/s]: before the step, and at its end without reactions.
  struct Approach {
    double before, free;
    double arrival;  ///< what an impact law works on: `before`, but for a point that took part in the last step what
                     ///< that left. The rest of `before` is smooth motion, rows that turn: v²/R h of a path on a gap
                     ///< with the radius R.
    double slow;     ///< what the forces of one step do, and rounding
    bool impact() const { return -arrival > slow; }
    bool leaves() const { return before > slow; }
    double way(double h) const { return h * std::max(std::abs(before), std::abs(free)); }
  };
  Approach approach(std::size_t k, Index row) const;
  double forces_on_bodies(Index row) const;
  /// Of all found points, before an impact law changes v_free_.
  void note_approaches();
  void note_penetration(double h);
  void recall_velocities(double h);
  /// Some point arrives with an impact: those with restitution that are not part of it wait for their own.
  void leave_out_bystanders(double h);
  // Blows that follow one another, and where bodies are at the end of the step (moreau_blows.cpp).
  static constexpr double kEndPenetration = 4e-7;  // of the smallest shape (diameter): deeper is moved out
  bool strikes_now(const ContactSite& point, Index row, const Approach& along, double h) const;
  bool collect_driven(double h);
  void find_blows();
  void fill_blow(std::size_t begin, std::size_t end, double h);
  void spread(Index row, double share, Vector& x) const;
  Status solve_blow();
  void begin_blows();
  void add_blow();
  Status take_further_blows(double h);
  void join_blows();
  bool stays_outside(double h) const;
  double deepest_at_end(double t, const Vector& q, double reach);
  void come_apart(double h, double t, State& s);
  bool carried_load(std::size_t k);  ///< in the last step
  bool carries_load(const Active& active) const;
  void number_rows();
  /// Smaller gaps count as none; deeper penetrations are corrected. [m]
  double touching(const ContactSite& point, Index row, const Approach& approach, double h) const;
  double penetration_tolerance(const ContactSite& point, Index row, const Approach& approach, double h) const;
  const Vector& w_start() const { return surfaces_move_ ? w_start_ : found_.w; }
  const Vector& w_end() const { return surfaces_move_ ? w_end_ : found_.w; }
  double reach_within(double time, const Vector& v, const Vector& other) const;
  void find_points(double h);
  Mode touching_mode(const ContactElement& law, Index row, const Vector& v) const;
  bool leaves_by_itself(std::size_t k, double h) const;
  bool some_point_stays_inside(double h) const;
  Status remove_penetration(double h);
  /// The penetration left by a move, to first order, over that before it; both beyond the tolerance.
  double share_that_stays(const Vector& move, double h) const;
  void set_step_matrix(double h);
  void set_step_matrix_at(double h, const Vector& q, const Vector& v, bool at_iterate = false);
  void renew_slopes(double h);
  // Damping that a step cannot follow (moreau_damping.cpp).
  void prepare_damping();
  void weigh_damping(double t, const Vector& q, bool at_iterate);
  bool swings_back(double h);
  const Vector& damped_velocity(const Vector& v);
  void add_late_damping(double h, double t, const Vector& v, Vector& g);
  void record_late_damping(double h, EnergyLedger& energy);
  void right_hand_side(double h, const Vector& v);
  void begin(double h, const State& state);
  void move(double dt, const Vector& v, Vector& q);
  void free_velocity();
  void select_points(double h);
  double overlooked_speed(std::size_t k, Index row, bool struck, double h);
  bool add_overlooked_points(double h);
  bool rows_are_the_same() const;
  void prepare_rows();
  void fill_laws();
  void fill_velocities();
  /// Index into what is remembered of the last step, or -1.
  int last_index(std::uint64_t key);
  void warm_start();
  void recall_impulses();
  void take_over_impulses();
  bool back_to_back(const Active& a, const Active& b) const;
  void release_squeezed_points();
  bool some_impact_has_a_law_of_its_own() const;
  double half_kick(const Active& active, int c) const;
  void fill_impact();
  Status take_impacts();
  /// Of the whole step: impact and what follows.
  const Vector& impulses() const { return has_impact_ ? impulse_ : solution_.r; }
  Status solve_step(double h);
  Status iterate(double h);
  Status solve_laws(double h);
  Status estimate_reactions(double h);
  bool release_laws();
  bool contacts_rest(bool all) const;
  Status solve_inclusion();
  Status solve_friction();
  void fill_lean();
  void add_forces(double h, const Vector& v);
  bool changes_by_rounding_of_forces(double h) const;
  void add_smooth_friction(double h, const Vector& v);
  void add_elastic_friction(double h, const Vector& v);
  double smooth_impulse(Index law, Index i, double h, double u_theta) const;
  double circulatory_power(double h);
  /// Constant matrices with forces of time: viscous friction is part of them.
  bool linear_implicit() const { return linear_ && !nonlinear_; }
  const Vector& inverse_diagonal();
  void solve_problem(const SolveOptions& options, InclusionSolution& solution);
  Status place_constraints(double h, const Vector& v1);
  Status begin_constraints(double h);
  Status settle_on_constraints(StepRecord& record);
  void count_projection(StepRecord& record);
  void hold_loaded_points();
  void add_up_all_loads();
  bool frozen_point_settles();
  bool relaxation_settles();
  void gather_reactions(double h);
  bool reactions_settle(double h);
  void stick_exactly(State& s) const;
  Status solve_single_point();
  Status require_finite();
  /// Keeps the message for the outcome of the step.
  Status fail(Status status, std::string message);
  /// `forgiving`: less the round-off of u, which is no error of the solver but may be worth polishing.
  double law_residual(bool forgiving = true);
  /// Σ |row_j v_j| + |w|, and its rounding.
  double row_terms(Index row) const;
  double row_rounding(Index row) const;
  /// √(vᵀ diag(A) v), v what there is and what the forces of the step add; over √ρ of a law a velocity along it.
  double momentum_at_hand() const;
  double mobility(Index row);
  Mode point_mode(const Active& point) const;
  Mode friction_mode(Index law) const;
  double friction_coefficient(const Active& point) const;
  Status commit(double h, double t_end, StepRecord& record);
  // Trees (moreau_articulated.cpp).
  std::unique_ptr<ArticulatedStep> make_articulated();
  bool step_articulated(double h, double t_end, StepRecord& record);
  bool contacts_stay_away();
  void commit_articulated(double t_end, StepRecord& record);
  void record_articulated(StepRecord& record);
  void record_friction(StepRecord& record);
  void record_points(double h, StepRecord& record);
  void record_contact_modes(double t, StepRecord& record);
  bool rebounds(std::size_t law) const;
  void raise_to_momentum_before(double& scale);
  void record_friction_balance(StepRecord& record);
  void record_balance(StepRecord& record);
  void record_energy(double h, StepRecord& record);
  void record_contact_work(StepRecord& record);
  double contact_gain();
  bool some_impact_rebounds() const;
  double velocity_at_hand(const Active& active) const;
  void record_contact_velocity();
  void remember_points();

  const System& system_;
  const std::vector<ContactElement>& contacts_;
  const LinearPart* linear_;
  const FreeMotion* free_motion_ = nullptr;
  MoreauOptions options_;
  FrictionAssembly laws_;
  ElasticFriction springs_{laws_};
  ForceSampler forces_;
  SystemWorkspace workspace_;
  bool drift_kick_ = false, iterates_ = false, nonlinear_ = false, damped_ = false, elastic_ = false;
  bool force_is_constant_ = false, force_is_known_ = false, momentum_is_known_ = false;
  bool stiff_ = false, surfaces_move_ = false, relaxed_ = false;
  bool locates_impacts_ = false;  ///< of contacts by functions
  bool lean_ = false;  ///< friction alone: nothing is searched for, long chains step at the cost of their factors
  bool damped_by_model_ = false, circulatory_ = false;
  bool matrix_is_finite_ = true;
  bool beside_singular_ = false;     ///< rows are those of an end of the step (constrained_step.hpp)
  bool away_from_singular_ = false;  ///< asked for: the step did not converge with those of its middle
  Index most_rank_ = 0;              ///< of the rows so far
  double length_ = 0;                ///< smallest shape; 0: there are none [m]

  SystemMatrix mass_, damping_, by_q_, by_v_, viscous_, spring_stiffness_;
  bool damps_late_ = false;                                // some φ exceeds θ
  Vector damping_share_, v_late_, last_increment_;         // φ; v_φ; v1 - v0 of the part before
  SystemMatrix late_damping_, slopes_by_q_, slopes_by_v_;  // what φ and secants add, on its diagonal; of forces alone
  Vector secant_velocity_, secant_force_;                  // where slopes were last made anew
  Vector spring_impulse_;
  MatrixSum step_matrix_;
  double matrix_h_ = -1, sets_h_ = -1;
  unsigned long version_ = 0;
  PinnedFactor factor_;
  std::vector<char> none_pinned_;

  ContactPoints found_;
  std::vector<Active> active_;
  std::vector<char> taken_;                           // per found point
  std::vector<std::pair<double, Index>> overlooked_;  // per found point: overlooked_speed, row
  Vector without_overlooked_;                         // p of this step before points were added; empty: none were
  bool draft_ = false;                // many points: the problem is solved just well enough to see which are overlooked
  std::vector<Approach> approaches_;  // likewise
  std::vector<double> fastest_;       // per contact law: |u_N| so far [m/s]
  // What the rows of problem_ were made from.
  std::vector<Active> filled_;
  SparseMatrix filled_Wt_;
  unsigned long filled_version_ = 0;  // of found_
  unsigned long factor_version_ = 0, factor_version_of_rows_ = kNoVersion;
  // One point alone: A⁻¹ W and D.
  std::array<Vector, 3> single_column_;
  std::array<double, 9> single_D_{};
  // Of the last step, for warm starts and stick.
  std::vector<std::uint64_t> last_keys_;
  std::vector<std::pair<std::uint64_t, int>> last_sorted_;
  std::vector<int> last_first_;
  std::vector<char> last_stuck_;
  std::vector<double> last_normal_, last_position_;  // u_N at its end; three coordinates
  std::vector<double> at_hand_;                      // per active point: velocity_at_hand()
  std::vector<double> recalled_;   // per found point: its u_N at the end of the last step, NaN: took no part in it
  std::vector<Mode> start_modes_;  // of the contact laws: what holds in the first step
  bool stepped_ = false;
  Vector last_impulse_;

  PrimalProblem problem_, correction_;
  struct CorrectionRow {
    std::size_t found;
    Index row;  // of found_.Wt
    double gap;
  };
  std::vector<CorrectionRow> correction_rows_;
  PrimalWorkspace solver_, correction_solver_;
  InclusionSolution solution_, polished_, corrected_;

  bool newton_alone_ = true, has_impact_ = false;
  ImpactProblem impact_;
  ImpactSolution impact_solution_;
  ImpactWorkspace impact_solver_;
  std::vector<std::size_t> impact_points_;  // of active_
  Vector impact_impulse_, impact_momentum_, impulse_;

  /// A point that the solution drives in.
  struct Driven {
    std::size_t found = 0;
    Index row = 0;         // of found_.Wt
    double speed = 0;      // of its approach [m/s]
    bool strikes = false;  // its law throws it back
    int blow = 0;          // first of the points that are struck together
  };
  bool rebounds_ = false;  // some contact does
  std::vector<Driven> driven_;
  std::vector<Index> blow_rows_;
  std::vector<char> struck_;  // per found point
  std::vector<int> blow_of_body_;
  std::vector<double> response_of_row_;
  ImpactSolution blow_solution_;
  Vector blow_impulse_, kick_;  // per row of found_; what the forces of the step do to v
  int blows_ = 0;               // after the first
  double blow_gain_ = 0, inclusion_before_blows_ = 0;
  PositionsApart apart_;
  bool ends_outside_ = false;  // no shape is inside another at the end of the last step

  double t0_ = 0;
  Vector q0_, v0_, q_m_, v_m_, Mv_, f_, v_free_, v_theta_, q_theta_, iterate_, displacement_, scratch_;
  Vector u0_, u1_;          // of the rows of the problem
  Vector w_start_, w_end_;  // of found_, where surfaces speed up
  Vector w_left_;           // just before a jump at the start of the step
  Vector load_;
  VelocityIteration iteration_;
  ResidualWorkspace residuals_;  // where there is friction alone; its u is u1_ there
  Vector mean_force_, mean_velocity_, weakened_;
  double momentum_scale_ = 0;  // largest terms of the balance so far
  Vector w0_friction_, w1_friction_, smooth_, u_theta_, weights_, balance_, inverse_diagonal_;
  std::vector<char> friction_rest_, friction_released_;
  std::vector<char> breaking_;  // a located break-away ended the last part: the limit is the dynamic one from here on
  std::vector<double> held_mean_;   // mean reaction of the last part in which the law was held; NaN otherwise
  std::vector<double> held_limit_;  // static limit that it was held with
  Vector followed_;                 // per constraint: 1 where some limit follows its reaction, else 0
  Vector first_reactions_;          // of the first half of a step whose end is looked at
  std::vector<double> stop_time_;   // of a law brought to rest at a located reversal; NaN otherwise
  struct Candidate {
    Frozen frozen;
    double slip, normal;  // at the start of the step; impulse of the attempt
  };
  std::vector<Candidate> reversing_;
  std::vector<double> contact_stop_time_;  // as stop_time_, per contact law
  std::vector<Index> giving_way_;
  std::vector<std::uint64_t> arriving_;  // points that the attempt drives on to their surface, sorted
  std::vector<std::uint64_t> arrived_;   // likewise, that the last part of the step ended at
  bool arrives_ = false;                 // the attempt ends where the first of them arrives
  ContactPoints at_end_;
  double part_ = 0;  // length of the attempt [s]
  Frozen frozen_;
  double start_slip_ = 0, last_frozen_normal_ = 0;  // of the candidate
  double frozen_normal_ = 0;  // impulse of a frozen point that its friction is computed with; < 0: not known yet
  int splits_ = 0;            // of the step under way
  std::unique_ptr<ArticulatedStep> articulated_;  // null: the step needs a matrix
  bool stops_exactly_ = false;                    // what rests in the step just solved has a velocity of exactly 0
  ConstrainedStep constrained_;
  ConstraintWorkspace constraint_workspace_;
  DenseMatrix held_rows_;
  MomentumAudit momentum_audit_;
  StickAudit stick_audit_;
  ConstraintAudit constraint_audit_;
  ReactionAudit reaction_audit_;
  ContactAudit contact_audit_;
  Vector q_end_, column_, response_, reactions_, next_reactions_, reaction_weights_, mean_limits_;
  Vector reaction_terms_, constraint_terms_;
  bool reactions_known_ = false;
  double reaction_change_ = 0;  // smallest of the iteration
  int reaction_stalled_ = 0;
  Anderson acceleration_;
  TimeSpan run_;
  std::vector<Index> contact_first_;  // component of each contact law in the record
  std::vector<char> law_impact_;
  std::vector<Mode> law_mode_;
  double correction_work_ = 0, approach_speed_ = 0;
  double thrust_ = 0;  ///< what the forces of the step would do, √(Δvᵀ diag(A) Δv)
  int problems_ = 0, iterations_ = 0, near_misses_ = 0;
  double grid_end_ = 0, grid_step_ = 0;  // the step that parts belong to
  double left_ = 0;                      // of it, after its parts so far
  std::string message_;
};

}  // namespace stickslip
