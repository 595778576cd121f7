// SPDX-License-Identifier: Apache-2.0
// Friction laws with a spring in series (friction_element.hpp) in a time step: the deformations d as states, the force
// by return mapping.
//
//   r(x) = P_C(-k (d0 + x)),   x: relative displacement since the start of the step          force at a point of the
//   step d1   = -r(h u_θ)/k                                                                       state at its end
//
// Exact where the slider moves one way through the step. Over a reversal of a slider at its limit the force is wrong by
// k times the way since the turn, O(h²): order 2 is kept. The work of the mean force is never less than what d stores:
// with θ = 1/2 a step loses energy or keeps it.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "stickslip/motion/friction_assembly.hpp"

namespace stickslip {

/// Where the law has to be a spring-damper with a limit (laws/viscoelastic_law.hpp): its relaxation time D/k [s], such
/// that the force is off by O(ε) like everything else there, τ = ε √(k/m). m: what the law feels.
inline double relaxation_of_spring(double stiffness, double mass, double epsilon) {
  return epsilon * std::sqrt(stiffness / mass);
}

/// Some friction law has a spring in series.
bool has_elastic_friction(const System& system);

class ElasticFriction {
 public:
  /// The assembly must outlive this.
  explicit ElasticFriction(const FrictionAssembly& laws);
  bool any() const { return !laws_.empty(); }
  bool takes(Index law) const { return any() && elastic_[static_cast<std::size_t>(law)] != 0; }

  /// d of all components of these laws; empty: 0.
  void set(const Vector& deformation);
  const Vector& deformation() const { return d_; }
  static std::vector<std::string> names(const System& system);
  double energy() const;  ///< ½ k |d|² [J]

  /// h r at the fraction θ of a step with the mean relative velocities u of all friction components; 0 at other laws.
  void impulse(double h, double theta, const Vector& u, Vector& impulse) const;
  /// d at the end of that step, and the modes: slip where the limit is reached.
  void advance(double h, const Vector& u);
  Mode mode(Index law) const { return mode_[static_cast<std::size_t>(law)]; }
  /// Σ k W Wᵀ
  SparseMatrix stiffness_matrix() const;

 private:
  /// r at d0 + x of law k; components from `first` on.
  void force(Index k, const double* x, double* r) const;

  const FrictionAssembly& assembly_;
  std::vector<Index> laws_, first_;  ///< of the elastic ones; first component in d_
  std::vector<char> elastic_;
  std::vector<Mode> mode_;  ///< of all laws
  Vector d_;
};

}  // namespace stickslip
