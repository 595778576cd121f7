// SPDX-License-Identifier: Apache-2.0
// The smooth motion of a system while every law keeps its mode: accelerations and reactions at a state.
//
//   M v' = h + Aᵀλ + W (r + smooth),   A v' = -bias_A                 bilateral constraints by the null space
//   u = Wᵀ v - w,   u' = Wᵀ v' + bias                                 bias = d/dt(Wᵀ v - w) at constant v
//
//   mode              reaction                                         what holds
//   stick             unknown r (all components)                       u' = 0
//   slip+, slip-      r = -c sgn(u);  contact: r_T = -μ sgn(u_T) r_N   contact: u_N' = 0, r_N unknown
//   slip              r = -c u/|u|;   contact: r_T = -μ r_N u_T/|u_T|  contact: u_N' = 0, r_N unknown
//   closed            r_N unknown                                      u_N' = 0
//   open              0
//
// With P = V2 (V2ᵀ M V2)⁻¹ V2ᵀ (constrained_mass.hpp; M⁻¹ without constraints) the unknown reactions x solve
//   (Wᵀ P W E) x = -(Wᵀ a_0 + bias)   on the rows that hold,     E: unknowns to components, with the friction of
//   sliding
// where a_0 is the acceleration with all known forces. Redundant rows leave x open: the smallest one within the sets of
// the laws is taken (held_reactions.hpp; the smallest of all where no choice is admissible), `redundant` says so.
// Sliding friction makes the matrix unsymmetric; where its determinant is not positive the sliding motion has no or
// several solutions (Painlevé), see regularity().
//
// Two contacts back to back (a guide without play: gap and -gap) are one constraint with two sides. No force says how
// hard they are pressed against each other, so they are not: one side is loaded, the other one `unloaded` (r = 0) in
// the mode it has.
//
// Limits that follow reactions R of contacts and constraints hold for the R of the same instant: x and λ are affine in
// the limits c of the laws that slip, and c = f(R(c)) is solved with them (limit_loop.hpp). Laws that stick have the
// limit f(R), which changes nothing but the border of their sets; where reactions are redundant these are taken at the
// choice that was made with the ones before, until both agree.
//
// A spring in series (friction_element.hpp) makes a law's force known in both of its modes; its deformation d is a
// state beside q and v, and the law is never among those that hold rows or are decided:
//   stick   r = -k d,              d' = u                              until k |d| = c
//   slip    r = -c n, n = d/|d|,   d' = (c n/k)'                       until the slider stops: n·u - c'/k = 0
//
// Laws in order: friction elements, then contacts (one point each); components as in StepRecord.
#pragma once

#include <vector>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/least_norm.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/constrained_motion.hpp"
#include "stickslip/motion/event/held_reactions.hpp"
#include "stickslip/motion/event/limit_loop.hpp"
#include "stickslip/motion/event/mode_decision.hpp"
#include "stickslip/motion/friction_assembly.hpp"

namespace stickslip {

class ModeDynamics {
 public:
  struct Law {
    const ContactElement* contact = nullptr;  ///< null: friction
    Index first = 0;                          ///< component
    int size = 1;
    int tangents = 0;      ///< components of friction: size, or size - 1 for a contact
    double stiffness = 0;  ///< of a spring in series; 0: none
    Index spring = -1;     ///< first component of its deformation
    bool springs() const { return spring >= 0; }
    /// Its rows hold, with reactions that are unknown.
    bool holds(Mode mode) const { return mode == Mode::stick && !springs(); }
    /// Something to be decided where forces change.
    bool rests(Mode mode) const { return holds(mode) || mode == Mode::closed; }
    Index tangent() const { return first + (contact ? 1 : 0); }
  };

  /// The system must outlive this object.
  explicit ModeDynamics(const System& system);

  const System& system() const { return system_; }
  const std::vector<Law>& laws() const { return laws_; }
  std::string_view name(std::size_t law) const;
  Index components() const { return m_; }
  /// Directions, limits and masses do not change with time and state.
  bool constant_geometry() const { return constant_geometry_; }

  /// Everything that the laws and forces are at a state. Throws InputError as the system does.
  void place(double t, const Vector& q, const Vector& v);
  double t() const { return t_; }
  const Vector& u() const { return u_; }
  const Vector& w() const { return w_; }
  const Vector& bias() const { return bias_; }
  double gap(std::size_t law) const { return gap_[law]; }
  const Vector& gaps() const { return gap_; }  ///< per law
  /// Dynamic: c or μ. One that follows reactions is that of the last solve().
  double limit(std::size_t law) const { return limit_[law]; }
  double static_limit(std::size_t law) const { return static_limit_[law]; }
  void set_limits(std::size_t law, double limit, double static_limit);
  FollowingLimits& following() { return following_; }
  const FollowingLimits& following() const { return following_; }
  bool follows(std::size_t law) const { return following_.follows(law); }
  /// Friction whose limits are 0 for ever: the law does nothing and has no events.
  bool idle(std::size_t law) const { return idle_[law] != 0; }
  const DenseMatrix& Wt() const { return Wt_; }
  const DenseMatrix& PW() const { return PW_; }
  const DenseMatrix& D() const { return D_; }
  /// D_ii without the constraints, WᵀM⁻¹W [1/kg].
  double free_D(Index i) const { return length_[i] * length_[i]; }
  /// The constraints alone fix the velocity along component i here: NᵀW_i is round-off of W_i and counts as 0. Its
  /// reaction moves nothing; it rests only as long as what the constraints make of u' is 0.
  bool blocked(Index i) const { return D_(i, i) == 0; }
  /// What W_i · x is small against, x a velocity or acceleration: its terms. Along a blocked row they vanish with it,
  /// and what is left of them is round-off of all of x: |L⁻¹W_i| (xᵀM x)^½.
  double terms(Index i, const Vector& x);
  ConstrainedMass& mass() { return mass_; }
  const ConstraintRows& constraint_rows() const { return rows_; }
  const Vector& constraint_bias() const { return constraint_bias_; }  ///< A v' = -bias
  const Vector& force() const { return h_; }
  /// Without the reactions of the laws.
  const Vector& free_acceleration() const { return a_free_; }

  /// d of all laws with a spring in series, which place() and solve() take as it is. [m, rad]
  const Vector& deformation() const { return d_; }
  void set_deformation(const Vector& d) { d_ = d; }
  Index spring_components() const { return d_.size(); }
  /// d' in these modes at the solved state.
  void deformation_rate(const std::vector<Mode>& modes, Vector& rate);
  /// Velocity of the slider of a law that slips, along n; of one that sticks 0. At the solved state.
  double slider_speed(std::size_t law, Mode mode);
  /// Unit vector n of its deformation.
  void spring_direction(std::size_t law, Mode mode, double n[2]) const;
  double spring_length(std::size_t law) const;  ///< |d|
  /// Deformations that lie beyond the limit, or belong to a slider that slips, become c/k long; modes that those and
  /// the velocities contradict change. `settled`: laws whose mode an event has just said.
  void settle_springs(const std::vector<char>& settled, std::vector<Mode>& modes);
  /// d of the sliders that slip, as long as their limits at the placed state make it.
  void stretch_to_limits(const std::vector<Mode>& modes, Vector& d) const;
  double spring_energy(const Vector& d) const;  ///< ½ Σ k |d|²

  /// Direction of slip of a law with two tangents while its velocity is exactly 0.
  void set_direction(std::size_t law, double d1, double d2);
  /// Where a law with two tangents takes its direction of slip d from: u/|u|; what was set, whatever u is; or, from
  /// there on, the direction in which it accelerates, u' = λ d, λ >= 0: what (V) says of a law that has just broken
  /// away, whose u is 0 but for its last digits.
  enum class Heading : char { velocity, set, acceleration };
  void set_heading(std::size_t law, Heading heading) { heading_[law] = heading; }
  Heading heading(std::size_t law) const { return heading_[law]; }
  /// Directions and unloaded sides of the same laws in a neighbouring system.
  void take_choices(const ModeDynamics& other);

  /// Acceleration and reactions in the given modes at the placed state. False if they are not finite, or no limits
  /// belong to their own reactions.
  bool solve(const std::vector<Mode>& modes);
  const Vector& acceleration() const { return a_; }
  const Vector& reaction() const { return r_; }  ///< set-valued part, per component
  const Vector& smooth() const { return smooth_; }
  /// Determinant of the matrix above, each row over its diagonal entry of D, times that of the limits' loop; 1 without
  /// unknowns.
  double regularity() const { return regularity_; }
  bool redundant() const { return redundant_; }
  /// The choice among redundant reactions acts on the motion (sliding contacts).
  bool choice_moves() const { return redundant_ && factor_.held.choice_moves(); }
  /// Of the last solve(), where reactions are redundant: some choice lies in all sets.
  bool admissible() const { return admissible_; }
  /// Unknown reactions of the last solve() as far inside their sets as bisection finds (a tenth of what is possible).
  /// False: no choice is admissible.
  bool central_reactions(const std::vector<Mode>& modes, Vector& x);
  /// Weighted slack of every set at the choice nearest to x, in an order that does not change with the state; then the
  /// largest force.
  void slacks_near(const std::vector<Mode>& modes, const Vector& x, Vector& slacks);
  void constraint_forces(Vector& lambda);  ///< λ, shortest where the rows are redundant

  bool unloaded(std::size_t law) const { return unloaded_[law] != 0; }
  void set_unloaded(std::size_t law, bool unloaded) { unloaded_[law] = unloaded; }
  /// The contact that is this one's other side, among those that are not open in these modes; -1: none.
  int other_side(std::size_t law, const std::vector<Mode>& modes) const;

  /// Problem (V) for the laws flagged at_rest (contacts: touching and not lifting); others act as `modes` says.
  /// `chosen`: laws in the order of the problem. `sliding` contacts enter by their normal alone, and friction that
  /// slips under a limit that follows reactions by that limit.
  void decision_problem(const std::vector<Mode>& modes, const std::vector<char>& at_rest,
                        const std::vector<LawRole>& roles, DecisionProblem& problem, std::vector<int>& chosen,
                        std::vector<char>& sliding);
  /// Unit direction of slip of law k at the placed state.
  void slip_direction(std::size_t law, Mode mode, double d[2]) const;

  /// From the placed state onto what holds in these modes, in the metric of the mass: q onto holonomic constraints and
  /// the gaps of contacts that are not open, v onto A v = rate, u = 0 (stick) and u_N = 0 (contacts that are not open).
  /// Positions at the time t_q: beside a kink of a position they are those of the kink itself, velocities those of a
  /// side.
  void project(const std::vector<Mode>& modes, double t_q, Vector& q, Vector& v);

  SystemWorkspace& workspace() { return workspace_; }
  FrictionAssembly& friction() { return friction_; }
  PositionReach& reach() { return reach_; }

  /// Unknowns of a mode and its factor, for flows that keep them.
  struct ModeFactor {
    std::vector<Index> rows;  ///< components that hold
    DenseMatrix E;            ///< m × unknowns
    DenseMatrix PWE;          ///< nv × unknowns
    DenseMatrix matrix;       ///< of the unknowns
    Eigen::PartialPivLU<DenseMatrix> lu;
    HeldReactions held;  ///< where the pivots of lu leave doubt
    bool by_lu = true, redundant = false;
    double regularity = 1;
    void solve(const Vector& right, Vector& x) const;
  };
  void make_factor(const std::vector<Mode>& modes, ModeFactor& factor) const;
  /// Known friction forces: r of slipping friction laws, and the smooth part.
  void known_forces(const std::vector<Mode>& modes, Vector& r, Vector& smooth) const;

 private:
  void reaction_bounds(const std::vector<Mode>& modes);
  /// bounds_ with limits that follow reactions at the choice x, and their tangents there. known_r_: r without x.
  void follow_choice(const std::vector<Mode>& modes, const Vector& x);
  bool choose_within(const std::vector<Mode>& modes, double inset, Vector& x);
  bool solve_given(const std::vector<Mode>& modes);
  bool turn_directions(const std::vector<Mode>& modes);
  bool turn_direction(std::size_t law, Mode mode);
  void right_side(const std::vector<Mode>& modes);
  void load(const std::vector<Mode>& modes);
  bool finish(const std::vector<Mode>& modes);
  bool follow_reactions(const std::vector<Mode>& modes);
  bool settle_limits(const std::vector<Mode>& modes);
  void pose_loop(const std::vector<Mode>& modes);
  void read_reactions(Vector& R);
  /// |u| of a law that slips, along its direction where that is kept: smooth through u = 0.
  double slip_speed(std::size_t law, const double d[2]) const;
  /// Reaction of a law that slips per unit of its limit, smooth part included.
  void slip_force(std::size_t law, Mode mode, double e[2]) const;
  DecisionLaw posed_law(std::size_t k, Mode mode, LawRole role, bool slides);
  void pose_reactions(const DenseMatrix& E, DecisionProblem& problem);
  void place_contacts(double t, const Vector& q, const Vector& v);
  void place_mass(const Vector& q);
  void friction_bias(double t, const Vector& q, const Vector& v);
  void keep_stuck_coordinates(const std::vector<Mode>& modes, Vector& q) const;
  void project_gaps(const std::vector<Mode>& modes, double t, Vector& q);
  void project_rows(const std::vector<Mode>& modes, Vector& v);
  double limit_rate(std::size_t law);

  const System& system_;
  SystemWorkspace workspace_;
  FrictionAssembly friction_;
  FollowingLimits following_;
  LimitLoop loop_;
  PositionReach reach_;
  ConstraintWorkspace projection_;
  std::vector<Law> laws_;
  std::vector<Heading> heading_;
  std::vector<char> unloaded_, idle_;
  std::vector<ReactionBound> bounds_;
  std::vector<Index> own_;  ///< coordinate of a component that is one of them, -1: none. It sticks to the last bit
  Index m_ = 0, n_ = 0, friction_components_ = 0;
  bool constant_geometry_ = false, placed_ = false;

  double t_ = 0;
  Vector d_, q_, v_;  ///< deformations; the placed state, where there are some
  Vector u_, w_, bias_, gap_, limit_, static_limit_, h_, a_free_, constraint_bias_, length_;
  DenseMatrix Wt_, NW_, PW_, D_, direction_, columns_;
  ContactPoints found_;
  ConstraintRows rows_;
  ConstrainedMass mass_;

  ModeFactor factor_;
  /// Memory of project(), one for the velocities and one for the gaps: their sizes differ.
  struct {
    std::vector<Index> rows;
    DenseMatrix D;
    Vector u, weight, p;
    LeastNorm inverse;
  } projected_rows_;
  struct {
    std::vector<std::size_t> closed;
    DenseMatrix D;
    Vector gap, p, step;
    LeastNorm inverse;
  } projected_gaps_;
  Vector a_, r_, smooth_, x_, right_, scratch_, known_, w_friction_, contact_bias_, qdot_, scratch_q_;
  Vector loop_c_, R_, lambda_, unit_, unit_a_, known_r_, known_a_;
  DenseMatrix unit_R_;
  double regularity_ = 1;
  bool redundant_ = false, admissible_ = true;
};

}  // namespace stickslip
