// SPDX-License-Identifier: Apache-2.0
// A system with compliant contacts as an ordinary differential equation with Lipschitz right-hand side:
//
//   q' = T(q) v,   M(q) v' = h(t, q, v) + W λ,   δ_T' of the contacts        y = (q - origin, v, δ_T, sums, S)
//
//   λ, δ_T'    forces and deformation rates of compliant_contacts.hpp
//   bilateral constraints are ideal: M v' = h + W λ + Aᵀ Λ, A v' = -bias, by the null space of their rows
//              (constrained_mass.hpp), redundant rows allowed; the caller projects states against drift
//   sums       integrals beside the motion, where the layout asks for them: work of applied forces and moving surfaces,
//              losses of dampers and of friction; then per component ∫λ of friction laws and contacts, ∫ of the smooth
//              part of friction, ∫Λ; then work per law
//   S          sensitivities, one column x = (dq, dv, dδ_T) per unknown p: x' = (∂Φ/∂y) x + ∂Φ/∂p, with an element of
//   the
//              generalised Jacobian at kinks, where x has a kink and no jump. Beside each column its own ∫dλ
//
// Slopes of the contacts are exact (vary() of the solver). Slopes of what is smooth around them (geometry, forces,
// masses) are exact for constant matrices and rows, else central differences of fourth order along the direction asked
// for: an error of about 1e-11 of their size.
//
// Source: Pang 2014 (paper 3), W = Gᵀ (J Ψ)ᵀ transposed against the source; the right-hand side is Φ there.
#pragma once

#include <functional>
#include <vector>

#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/common/shifted_factor.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/compliant/compliant_contacts.hpp"
#include "stickslip/motion/constrained_mass.hpp"
#include "stickslip/motion/state.hpp"

namespace stickslip {

class CompliantDynamics {
 public:
  explicit CompliantDynamics(const System& system);

  CompliantContacts& contacts() { return contacts_; }
  const CompliantContacts& contacts() const { return contacts_; }
  const System& system() const { return system_; }
  SystemWorkspace& workspace() { return workspace_; }

  /// What y holds beside the motion.
  void set_layout(bool sums, Index unknowns) {
    sums_ = sums;
    unknowns_ = unknowns;
  }
  Index motion_size() const { return nq_ + nv_ + contacts_.tangents(); }  ///< of (q, v, δ_T), and of a column of S
  Index all_sums() const { return 3 + components_ + smooth_ + constraints_ + laws_; }
  Index sums_size() const { return sums_ ? all_sums() : 0; }
  /// Of sums: λ, the smooth part of friction, Λ, work per law.
  Index component_sums() const { return 3; }
  Index smooth_sums() const { return 3 + components_; }
  Index constraint_sums() const { return 3 + components_ + smooth_; }
  Index components() const { return components_; }
  Index smooth_components() const { return smooth_; }
  Index constraints() const { return constraints_; }
  Index laws() const { return laws_; }
  /// Reactions whose derivatives stand beside a column: components, then constraints.
  Index reactions() const { return components_ + constraints_; }
  Index column_size() const { return motion_size() + (sums_ ? reactions() : 0); }
  Index size() const { return motion_size() + sums_size() + unknowns_ * column_size(); }
  Index column_at(Index unknown) const { return motion_size() + sums_size() + unknown * column_size(); }
  /// y holds q - origin where q' = v, so that errors are small beside the way and not beside where it is measured from.
  void set_origin(const Vector& q0);
  const Vector& origin() const { return origin_; }
  /// q of y, and back.
  void position_of(const Vector& y, Vector& q) const;
  void put_position(const Vector& q, Vector& y) const { y.head(nq_) = q - origin_; }
  /// Size of every component of the motion, for differences.
  void set_sizes(const Vector& sizes) { sizes_ = sizes; }
  /// Length of the run [s], for differences in time.
  void set_span(double span) { span_ = span; }

  /// W M⁻¹ Wᵀ = 1/m of each friction law along its direction and each contact law along its normal at q, under the
  /// constraints: the largest of the nearest points between the bodies of a law, up to a hundred times the smallest
  /// shape apart; else that of the other laws.
  void contact_weights(double t, const Vector& q, Vector& weights);
  /// Time in which the motion at the start crosses its own size: bodies with smallest shape L √(2L/a) or L/v, whichever
  /// is less; contacts given by functions v/a, √(2Ψ/a) or Ψ/v at their rows. a: acceleration by forces without those of
  /// contacts. `otherwise`, where nothing moves and nothing pulls. [s]
  double natural_time(double t, const Vector& q, const Vector& v, double otherwise);
  /// ε of contacts that have no compliance of their own: as given, or by natural_time. The power of ten makes it a
  /// constant of the model for derivatives, and the same in units that differ by powers of ten. [s²]
  double default_epsilon(double given, const State& start, double span);

  /// Forces at (t, y). False as CompliantContacts::place.
  bool place(double t, const Vector& y);
  /// All of y'; places.
  bool derivative(double t, const Vector& y, Vector& dydt);
  /// y' of the sums, at the placed state.
  void sum_rates(double t, Vector& rates);
  /// ∂(y')/∂y of the motion, dense.
  bool jacobian(double t, const Vector& y, DenseMatrix& J);
  /// The same as M⁻¹ times sparse slopes, for many coordinates: a matrix for Newton's method, without the turning of
  /// rows, of velocities and of deformations, which are not stiff. Not for constraints.
  bool jacobian(double t, const Vector& y, SlopePencil& J);
  /// The sparse one can be had.
  bool sparse_jacobian(const Vector& q);
  const Vector& q() const { return q_; }
  const Vector& v() const { return v_; }

  /// CompliantContacts::collect() with the masses at q.
  double collect(double t, const Vector& q, double margin, DenseMatrix& deformation);

  // Without inertia: 0 = h + W λ.
  void drop_inertia() { inertia_ = false; }
  /// (h + W λ, δ_T') at (t, y); places.
  bool balance(double t, const Vector& y, Vector& out);
  /// Slopes of these at the placed state by (q, δ_T) and by (v, 0).
  void balance_slopes(double t, DenseMatrix& by_x, DenseMatrix& by_rate);

  /// x' = (∂Φ/∂y) x at the placed and accelerated state; dλ is left in change().
  void vary(double t, const Vector& x, Vector& rate);
  /// v' and Λ at the placed state; false: not finite.
  bool accelerate(double t);
  /// y' of the motion, and λ per component with Λ per constraint, at the placed and accelerated state.
  void motion_rate(Vector& rate);
  void reaction_rate(Vector& rate);
  const Vector& multiplier() const { return multiplier_; }  ///< Λ
  /// √(v'ᵀ M v') at the placed state, with the forces of the contacts and without; the same in any coordinates.
  struct Accelerations {
    double all = 0, without_contacts = 0;
  };
  Accelerations accelerations(double t);
  /// x' += ∂Φ/∂p of unknown k there; returns how fast its time goes over that of the motion, beyond 1, where it moves
  /// breakpoints (compliant_neighbours.hpp): columns are derivatives at a fixed place between these.
  using ParameterSlope = std::function<double(double t, Index unknown, Vector& rate)>;
  void set_parameter_slope(ParameterSlope slope) { parameter_slope_ = std::move(slope); }
  /// What a parameter changes in the data of the contacts and in the balance h + W λ - M v' at fixed λ and v'.
  struct DataChange {
    CompliantContacts::Change contacts;
    Vector balance, constraint;  ///< constraint: A v' + bias
  };
  /// These at the placed state for a system that is a neighbour of this one in some parameter.
  void data_of(double t, const System& other, CompliantContacts& other_contacts, SystemWorkspace& other_workspace,
               DataChange& values);
  /// Adds what they do to x'.
  void add_data_change(DataChange& change, Vector& rate);
  /// What they do to balance().
  void balance_data_change(DataChange& change, Vector& out);
  const CompliantContacts::Change& change() const { return change_; }
  /// The transpose of vary() and of add_data_change() (compliant_pull_back.cpp): for weights U on x', one column per
  /// functional, those on x into `by_state`, and on what parameters change into `by_data`, one per functional. At the
  /// placed and accelerated state; exact where vary() is, else every direction of (q, v) is tried once for all columns.
  void pull_back(double t, const DenseMatrix& U, DenseMatrix& by_state, std::vector<DataChange>& by_data);
  /// Those on the data alone.
  void pull_back_data(const DenseMatrix& U, std::vector<DataChange>& by_data);
  /// Σ of products, number by number.
  static double product(const DataChange& weights, const DataChange& change);

 private:
  void factor_mass();
  double weight_along(const SparseMatrix& Wt, Index row);
  double lightest_weight(const Vector& q);
  /// M⁻¹ f, or the acceleration that f and A v' = -e make under the constraints.
  /// Adds what Λ does to multiplier_change_.
  void solve_mass(Vector& f, const Vector& e);
  /// h -= -Aᵀ Λ and residual = A v' + bias at another state, Λ and v' as they are.
  void add_constraints(const System& system, double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                       Vector& h, Vector& residual);
  /// Slopes along (dq, dv): of gaps and velocities of the contacts into change_, of h + W λ - M a into balance_.
  void smooth_slopes(double t, const Vector& x);
  /// Forces of the model; with the velocity terms of the inertia, if there is one.
  void model_force(double t, const Vector& q, const Vector& v, Vector& h);
  /// Slopes of h + W λ - M v' (into balance_) and of δ_T' (into change_) along x.
  void vary_balance(double t, const Vector& x);
  void exact_slopes(double t, const Vector& x);
  void pull_back_exact(const DenseMatrix& U, const std::vector<DataChange>& by_data, DenseMatrix& by_state);
  void pull_back_smooth(double t, const DenseMatrix& U, const std::vector<DataChange>& by_data, DenseMatrix& by_state);
  /// What smooth_slopes() differentiates, at one state: contacts into near_, h + W λ - M v' into probe_h_, A v' + bias
  /// into near_bias_, q' into probe_qdot_.
  void probe(double t, bool data);
  void add_columns(double t, Vector& y, Vector& dydt);
  void column_sums(Vector& rate) const;

  const System& system_;
  SystemWorkspace workspace_;
  CompliantContacts contacts_;
  bool sums_ = false, exact_ = false, inertia_ = true, circulatory_ = false;
  Index unknowns_ = 0;
  ParameterSlope parameter_slope_;
  Index nq_ = 0, nv_ = 0, components_ = 0, laws_ = 0, smooth_ = 0, constraints_ = 0;
  ConstraintRows rows_, near_rows_;
  ConstrainedMass constrained_;
  Vector bias_, multiplier_, near_bias_, constraint_change_, law_smooth_, solved_, multiplier_change_;
  bool factored_ = false;
  PinnedFactor mass_;
  std::vector<char> none_pinned_;
  Vector sizes_, origin_;
  double span_ = 1;
  Vector q_, v_, delta_, h_, a_, f_, qdot_, law_components_, law_power_;
  Vector normal_, tangential_, balance_, probe_q_, probe_v_, probe_f_, probe_h_, probe_qdot_, qdot_change_;
  CompliantContacts::Change change_, near_;
  Vector x_, x_rate_;
  SystemMatrix by_q_, by_v_;
  RateMap rate_map_;
};

/// What run.compliant.epsilon = 0 stands for in a run of length `span` [s] from `start`, for runs that are parts of it
/// [s²].
double default_compliance(const System& system, const State& start, double span);

}  // namespace stickslip
