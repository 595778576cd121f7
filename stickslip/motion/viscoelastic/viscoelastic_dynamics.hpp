// SPDX-License-Identifier: Apache-2.0
// A system whose constraints and friction laws are stiff spring-dampers, as an ordinary differential equation:
//
//   q' = T(q) v,   M v' = h - Aᵀ Λ,   ζ' of laws/viscoelastic_law.hpp,      u = A v - rate,   y = (q, v, ζ)
//
//   q         the numbers of the positions (nq), integrated as they are; where they obey a condition of their own (unit
//             quaternions) states that are handed out are put back on it
//   A, rate   rows of the constraints, then of the friction laws (surface velocity as rate)
//   ζ = K z   elastic forces. As a state z would be of size ε and its accuracy a question of units; ζ is a force like
//             any other, and error weights mean the same for every ε
//   Λ         = ζ + D u within the limit; the reaction on the system is λ = -Λ
//   K = c/ε,  D = d/ε^κ                                                             (paper 4, eq. 5)
//   friction with a spring k in series: K = k, D/K as relaxation_of_spring() says (elastic_friction.hpp)
//
// Roots of the fast motion: for each eigenvalue β of B = A M⁻¹ Aᵀ and equal rows, s² + D β s + K β = 0, i.e. of size
// ε^(-1/2) at κ = 1/2, with damping ratio √b/2, b = d² β/c; in general b is an eigenvalue of S B S, S = D/√K.
// The source asks for b >= 2 (eq. 12), which is sufficient for an estimate and not necessary: the fast motion decays
// for every b > 0.
//
// The Jacobian is analytic except for ∂(M v')/∂q, which is not stiff and taken by differences of M. It is given as
// sparse M and slopes of M v', never as M⁻¹ times these, which is full: a chain costs O(n). Slopes along δ (nv columns)
// become slopes by the numbers of q by δ = T⁺ dq, T⁺ the pseudo-inverse of T(q); ∂(T v)/∂q is taken by differences.
//
// Source: Fidlin, Deppler, Braun, Convergency of viscoelastic constraints to nonholonomic idealization (paper 4).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/common/shifted_factor.hpp"
#include "stickslip/laws/viscoelastic_law.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/friction_assembly.hpp"

namespace stickslip {

/// What components of y are small beside, for error weights; of the motion so far, so that no unit enters. One number
/// for each component: |v_i|, the way |q_i - q_i(0)| and |Λ_k| at most, and for components that hardly move what the
/// others' energy would make of them.
struct ViscoelasticScales {
  Vector position, velocity, force;
  Vector mass;        ///< M_ii
  Vector round_off;   ///< per velocity along the row: what it makes of a force, in units of the error weight
  double time = 0;    ///< 1/frequency of the slowest spring [s]
  double vigour = 0;  ///< sqrt(Σ M_ii v_i²) at most: its square may be no number
  DenseMatrix turn;   ///< |T(q)|; empty: q' = v
  /// In the order of y; all > 0.
  void collect(Vector& scale) const;
};

class ViscoelasticDynamics {
 public:
  /// Rows that share one force limit, or a single row without.
  struct Block {
    std::array<Index, 2> row{};
    ViscoelasticLaw law;
    Index friction = -1;                   ///< index of the friction law; -1: a constraint
    const StateFunction* limit = nullptr;  ///< of a constraint; null: none
    bool prepared = true;
    ViscoelasticConstraint given;  ///< c, d, ε, κ that K and D come from
  };

  /// The system must outlive this object. epsilon > 0 replaces that of every row. Throws InputError naming the
  /// constraint whose parameters do not fit.
  ViscoelasticDynamics(const System& system, double epsilon);

  /// Completes parameters that the model leaves open, from the masses at the start: c = 1/β, d = 2/β with β = B_ii, so
  /// that every row has the frequency ε^(-1/2) rad/s and is critically damped.
  void complete(double t, const Vector& q);
  /// Forces that the exact laws would have at the start, as far as they are known: ideal multipliers of constraints,
  /// limits of sliding friction laws, 0 for friction at rest.
  void ideal_forces(double t, const Vector& q, const Vector& v, Vector& force);

  Index rows() const { return m_; }
  Index constraint_rows() const { return constraints_; }
  Index size() const { return nq_ + n_ + m_; }
  /// Where v and ζ begin in y.
  Index velocities() const { return nq_; }
  Index springs() const { return nq_ + n_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const System& system() const { return system_; }

  /// Everything at (t, y). Throws InputError as the system does.
  void place(double t, const Vector& y);
  const Vector& u() const { return u_; }
  const Vector& force() const { return force_; }       ///< Λ
  const Vector& zeta_rate() const { return rate_z_; }  ///< ζ'
  bool slips(std::size_t block) const { return slips_[block] != 0; }
  double limit(std::size_t block) const { return limit_[block]; }
  /// |s| - c of a block with a limit: positive while it slips.
  double excess(std::size_t block) const { return excess_[block]; }
  const Vector& positions() const { return rows_.position; }  ///< g of the constraints

  /// dydt; places.
  bool derivative(double t, const Vector& y, Vector& dydt);
  /// ∂(dydt)/∂y; places.
  void jacobian(double t, const Vector& y, SlopePencil& J);
  /// At the placed state. Powers: work brought in, damper loss, friction loss; then λ per row; then the power of each
  /// friction law on the system.
  Index powers_size() const { return 3 + m_ + friction_.laws(); }
  void powers(double t, const Vector& y, Vector& out);
  /// Σ ½ ζ²/K
  double spring_energy(const Vector& y) const;
  /// Smallest eigenvalue b of S B S at the placed state; infinite without rows.
  double fast_damping();

  /// 1/frequency of the slowest spring whose parameters were left to complete(); 0 without. [s]
  double longest_default_time() const { return longest_default_time_; }
  /// Scales at the placed start, from velocities, from the accelerations that forces and limits make in `time`, and
  /// from the ideal forces. round_off: weight of ε_machine |A v| max(D, √(K/B_ii)), what round-off of velocities makes
  /// of a force: no error below it can be asked for.
  void first_scales(double start, double end, const Vector& ideal, double round_off, ViscoelasticScales& scales);
  /// At the placed state of a step's end.
  void raise_scales(const Vector& q_start, ViscoelasticScales& scales);

  void z_of(const Vector& y, Vector& z) const;
  void zeta_from(const Vector& z, Vector& y) const;

 private:
  void add_constraint_blocks(double epsilon);
  void add_friction_blocks(double epsilon);
  void factor_mass();
  void accelerate(double t);
  /// out = row i of A
  void row_of(Index i, Vector& out) const;
  /// g -= Aᵀ Λ
  void subtract_forces(const Vector& force, Vector& g);
  void add_force_slopes(double t, MatrixEntries& G);
  void add_mass_slopes(MatrixEntries& G);
  void raise_force_scales(ViscoelasticScales& scales);
  void add_block_slopes(double t, std::size_t block, MatrixEntries& G);
  void add_rate_slopes(MatrixEntries& G);
  /// f(column of y, ∂/∂ that number) for a slope along δ_j.
  template <class F>
  void by_numbers(Index j, double slope, F&& f) const;
  /// Positions displaced along δ_j for a difference quotient; returns the increment.
  double displace_a_little(Index j);
  void set_tangents();

  const System& system_;
  SystemWorkspace workspace_;
  FrictionAssembly friction_;
  Index nq_ = 0, n_ = 0, m_ = 0, constraints_ = 0;
  double epsilon_ = 0, longest_default_time_ = 0, span_ = 0;
  std::vector<Block> blocks_;
  std::vector<char> open_;  // blocks whose c and d are left to complete()
  std::vector<char> slips_;
  std::vector<double> excess_, limit_;
  bool factored_ = false;

  Vector q_, v_, zeta_, u_, rate_, w_, force_, rate_z_, h_, a_, f_, product_, moved_, K_, constraint_force_,
      friction_u_, friction_force_, reach_, qdot_, rate_q_, tangent_;
  DenseMatrix force_by_q_, velocity_by_q_, B_;
  DenseMatrix metric_;
  Eigen::LLT<DenseMatrix> metric_factor_;
  DenseMatrix T_, to_delta_;  // T(q) and its pseudo-inverse; empty: q' = v
  /// Of the rows of one block: A, and ∂u by position and by velocity. (column, value)
  using RowEntries = std::vector<std::pair<Index, double>>;
  std::array<RowEntries, 2> direction_, by_position_, by_velocity_;
  ConstraintRows rows_;
  SystemMatrix by_q_, by_v_;
  PinnedFactor mass_;
  std::vector<char> none_pinned_;
  Eigen::SelfAdjointEigenSolver<DenseMatrix> eigen_;
};

}  // namespace stickslip
