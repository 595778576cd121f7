// SPDX-License-Identifier: Apache-2.0
// The weighted-residual problem of a periodic motion (paper 5, (10), (11)): unknown coefficients of displacements and
// reactions, every relation tested with the basis.
//
//   x_i(θ) = Σ x_ik φ_k, r_a(θ) = Σ r_ak ψ_k,  θ = ω t, ω = 2π/T;  v = ω x', a = ω² x''
//   <φ_k, M a - h(t, x, v) - W (r + s)> = 0          motion; s: weakening and viscous part of the laws
//   <ψ_k, E(r, u, g)> = 0                            laws as equalities (law_equality.hpp)
//   elastic friction: r = r(x) by marching through the samples (weighted_residual_elastic.cpp)
//
// Departures from the paper: laws by projection instead of (4) and (5), which do not say which way friction points;
// linear coordinates without laws and nonlinear forces are eliminated harmonic by harmonic (Fourier basis,
// harmonic_stiffness.hpp); autonomous motions have ω as an unknown, with a phase condition, and a further condition
// where orbits form a family. Jacobians are exact but for mass matrices and contact rows that depend on the position,
// whose slopes are central differences at every sample.
//
// Unknowns and equations are numbers without unit: displacements over `x_scale`, reactions and laws over the size of
// the law's force, equations of motion over the largest force in them, ω over its first guess. The projection's ρ is
// `rho` √(k m) of the law, with m = 1/(wᵀM⁻¹w) and k = wᵀKw/(wᵀw)² (m ω where there is no spring); ρ_N is `rho` k.
//
// Not taken: bilateral constraints, limits that follow reactions, static limits above the dynamic one (no convex law;
// the event orbit has them), contacts between shapes.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stickslip/model/system.hpp"
#include "stickslip/periodic/basis.hpp"
#include "stickslip/periodic/harmonic_stiffness.hpp"
#include "stickslip/periodic/orbit.hpp"
#include "stickslip/periodic/periodic_equations.hpp"
#include "stickslip/periodic/periodic_options.hpp"
#include "stickslip/periodic/signal_table.hpp"

namespace stickslip {

/// Empty, or why the weighted residual does not take the system, with what does.
std::string weighted_residual_refusal(const System& system);

class WeightedResidual final : public DenseEquations {
 public:
  /// The system must outlive this. q_reference: a position near the motion, for scales. Throws InputError.
  /// like: equations of the same thread whose basis is taken over where it is the same.
  WeightedResidual(const System& system, const PeriodicOptions& options, double t0, const Vector& q_reference,
                   const WeightedResidual* like = nullptr);
  ~WeightedResidual() override;

  Index unknowns() const override { return unknowns_; }
  Index equations() const override { return equations_; }
  /// Nonlinear forces are linearised at the reference.
  Vector linear_start() override;
  Vector start_from(const Orbit& orbit) const override;

  /// F(X) and, where asked for, its generalised Jacobian; smoothing ε >= 0 of law_equality.hpp. False: not finite.
  bool evaluate(const Vector& X, double smoothing, Vector& F, DenseMatrix* jacobian);
  bool residual(const Vector& X, double smoothing, Vector& F) override { return evaluate(X, smoothing, F, nullptr); }
  bool linearize(const Vector& X, double smoothing, Vector& F) override {
    if (!evaluate(X, smoothing, F, &J_)) return false;
    pin_held_laws();
    return true;
  }
  double displacement_unit() const override { return x_scale_.size() ? x_scale_.maxCoeff() : 1; }
  void set_phase_reference(const Vector& X) override;

  /// Where the equations of motion are linear, displacements are eliminated harmonic by harmonic: the factor is that of
  /// the reactions alone.
  bool newton_step(const Vector& F, Vector& step) override;
  std::string_view resolution() const override { return fourier_ ? "harmonics" : "steps"; }

  double period(const Vector& X) const override;
  Orbit orbit(const Vector& X) override;
  const PeriodicBasis& basis() const { return *basis_; }
  /// Of Hill's method (hill.hpp). False: coordinates were eliminated, or not finite.
  bool hill_matrices(const Vector& X, DenseMatrix& A0, DenseMatrix& A1, DenseMatrix& A2);
  Index multiplier_count() const { return 2 * system_.info().nv(); }
  /// Coordinates that the coefficients belong to, and what these are over: x = scale X, equation of motion = force F.
  const std::vector<Index>& kept() const { return kept_; }
  const Vector& displacement_scale() const { return x_scale_; }
  const Vector& force_scale() const { return f_scale_; }

 private:
  struct Law;
  void choose_coordinates();
  void require_sector(const std::set<Index>& kept, bool all) const;
  void make_laws();
  void prepare_march(Law& law) const;
  void make_linear(double omega);
  void make_scales(const Vector& q_reference);
  void sample_loads();
  void read_functions();
  void register_signals();
  void sample_fields(const Vector& X);
  void sample_forces(Index j, bool slopes);
  void sample_law(Law& law, Index j, double smoothing, bool slopes);
  void sample_contacts(Index j, bool slopes);
  void add_inertia(Index j, bool slopes);
  bool assemble(const Vector& X, Vector& F, DenseMatrix* jacobian);
  void add_signals(DenseMatrix& J);
  void make_shapes();
  void march(Law& law, bool slopes);
  void add_elastic(DenseMatrix& J);
  bool condenses() const;
  std::vector<Index> held_components() const;
  void pin_held_laws();
  void add_conditions(const Vector& X, Vector& F, DenseMatrix* J);
  double time(Index j) const { return t0_ + basis_->angle(j) / omega_; }
  Index x_block(Index i) const { return i * nx_; }
  Index r_block(Index a) const { return nb_ * nx_ + a * nr_; }
  ComplexVector harmonic_load(int h) const;

  const System& system_;
  PeriodicOptions options_;
  std::shared_ptr<const PeriodicBasis> basis_;
  bool fourier_ = false, linear_ = false, state_forces_ = false, constant_contacts_ = true;
  double t0_, omega_ = 1, omega_guess_ = 1, omega_of_linear_ = -1;
  Index nb_ = 0, m_ = 0, nx_ = 0, nr_ = 0, N_ = 0, unknowns_ = 0, equations_ = 0;
  std::vector<Index> kept_, place_;  ///< place_: of a coordinate among the kept ones, -1: eliminated
  std::unique_ptr<HarmonicElimination> elimination_;
  std::vector<Law> laws_;
  SystemWorkspace workspace_;
  Vector x_scale_, f_scale_, r_scale_;
  DenseMatrix forces_;  ///< applied forces of time alone at the samples (coordinates × N)
  DenseMatrix linear_operator_, linear_slope_, phi0_;
  Vector load_, phase_row_;
  std::vector<std::vector<DenseMatrix>> constant_products_;
  SignalTable signals_;
  DenseMatrix Q_, V_, A_, R_, U_, E_;  ///< samples (one column each)
  std::array<DenseMatrix, 2> shapes_;  ///< φ_k and φ_k' at the samples, one row per k; where they are needed
  Vector q_, v_, a_, h_, w_, product_;
  ContactPoints found_, found_shifted_;
  SystemMatrix by_q_, by_v_;
  Vector q_reference_;
  std::array<double, 2> condition_size_{};         ///< of phase and condition, from the first evaluation
  std::array<std::vector<Index>, 3> force_slots_;  ///< signal of (equation, coordinate) per derivative, -1: none
  DenseMatrix J_block_;

  /// Applied forces of a linear system as one function per coordinate, where they are given so: kept ones are asked
  /// alone.
  struct ForceSlope {
    const StateFunction* function;
    Index variable, signal;
  };
  std::vector<const StateFunction*> functions_;  ///< empty: not so given
  std::vector<ForceSlope> force_slopes_;
  bool velocities_ = true;  ///< something depends on them
};

}  // namespace stickslip
