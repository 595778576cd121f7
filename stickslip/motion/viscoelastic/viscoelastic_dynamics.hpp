// SPDX-License-Identifier: Apache-2.0
// A system whose constraints and friction laws are stiff spring-dampers, as an ordinary differential equation:
//
//   q' = v,   M v' = h - Aᵀ Λ,   ζ' of laws/viscoelastic_law.hpp,      u = A v - rate,   y = (q, v, ζ)
//
//   A, rate   rows of the constraints, then of the friction laws (surface velocity as rate)
//   ζ = K z   elastic forces. As a state z would be of size ε and its accuracy a question of units; ζ is a force like
//             any other, and error weights mean the same for every ε
//   Λ         = ζ + D u within the limit; the reaction on the system is λ = -Λ
//   K = c/ε,  D = d/ε^κ                                                             (paper 4, eq. 5)
//
// Roots of the fast motion: for each eigenvalue β of B = A M⁻¹ Aᵀ and equal rows, s² + D β s + K β = 0, i.e. of size
// ε^(-1/2) at κ = 1/2, with damping ratio √b/2, b = d² β/c; in general b is an eigenvalue of S B S, S = D/√K.
// The source asks for b >= 2 (eq. 12), which is sufficient for an estimate and not necessary: the fast motion decays
// for every b > 0.
//
// The Jacobian is analytic except for ∂(M v')/∂q, which is not stiff and taken by differences of M.
//
// Source: Fidlin, Deppler, Braun, Convergency of viscoelastic constraints to nonholonomic idealization (paper 4).
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <vector>

#include "stickslip/laws/viscoelastic_law.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/friction_assembly.hpp"

namespace stickslip {

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
  Index size() const { return 2 * n_ + m_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const System& system() const { return system_; }

  /// Everything at (t, y). Throws InputError as the system does.
  void place(double t, const Vector& y);
  const Vector& u() const { return u_; }
  const Vector& force() const { return force_; }       ///< Λ
  const Vector& zeta_rate() const { return rate_z_; }  ///< ζ'
  bool slips(std::size_t block) const { return slips_[block] != 0; }
  /// |s| - c of a block with a limit: positive while it slips.
  double excess(std::size_t block) const { return excess_[block]; }
  const Vector& positions() const { return rows_.position; }  ///< g of the constraints

  /// dydt; places.
  bool derivative(double t, const Vector& y, Vector& dydt);
  bool jacobian(double t, const Vector& y, DenseMatrix& J);
  /// At the placed state. Powers: work brought in, damper loss, friction loss; then λ per row; then the power of each
  /// friction law on the system.
  Index powers_size() const { return 3 + m_ + friction_.laws(); }
  void powers(double t, const Vector& y, Vector& out);
  /// Σ ½ ζ²/K
  double spring_energy(const Vector& y) const;
  /// Smallest eigenvalue b of S B S at the placed state; infinite without rows.
  double fast_damping();

  /// What round-off of the velocities at the placed state makes of a force: ε_machine |A v| max(D, √(K/B_ii)).
  double force_round_off(Index row);

  Vector z_of(const Vector& y) const;
  void zeta_from(const Vector& z, Vector& y) const;

 private:
  void add_constraint_blocks(double epsilon);
  void add_friction_blocks(double epsilon);
  void factor_mass();
  void accelerate(double t);
  void add_mass_slope(DenseMatrix& X);

  const System& system_;
  SystemWorkspace workspace_;
  FrictionAssembly friction_;
  Index n_ = 0, m_ = 0, constraints_ = 0;
  double epsilon_ = 0;
  std::vector<Block> blocks_;
  std::vector<char> open_;  // blocks whose c and d are left to complete()
  std::vector<char> slips_;
  std::vector<double> excess_, limit_;
  bool factored_ = false;

  Vector q_, v_, zeta_, u_, rate_, w_, force_, rate_z_, h_, a_, f_, product_, moved_, K_, constraint_force_;
  DenseMatrix A_, M_, X_, V_, Z_, U_, force_by_q_, velocity_by_q_, PM_, B_;
  ConstraintRows rows_;
  SystemMatrix by_q_, by_v_;
  Eigen::LLT<DenseMatrix> llt_;
  Eigen::SelfAdjointEigenSolver<DenseMatrix> eigen_;
};

}  // namespace stickslip
