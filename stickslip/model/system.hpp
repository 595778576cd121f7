// SPDX-License-Identifier: Apache-2.0
// What every model becomes, and all that the schemes see of it: its parts, each with a small interface of its own.
//
//   q' = T(q) v,      M(q) v' = h(t, q, v) + W r,      laws on u = Wᵀ v - w
//
//   kinematics   q' = T(q) v, q ⊕ δ, q1 ⊖ q0, names                                       (kinematics.hpp)
//   inertia      M(q), its velocity terms c, kinetic energy                                (inertia.hpp)
//   forces       h without c, slopes, potential, dampers, applied forces                   (forces.hpp)
//   laws         friction, contacts, bilateral constraints: rows W with w and their sets   (law_set.hpp)
//   free motion  where the system has one of its own                                       (free_motion.hpp)
//   articulation where M can be solved with in O(n)                                        (articulation.hpp)
//
//   q positions (nq), v velocities (nv), M mass [kg, kg m²], h all forces but inertia and reactions [N, N m],
//   W directions of the laws (nv × m), r reactions [N, N m], w velocity of the surfaces.
//
// Kinds of model differ in their parts only. What is constant, linear or a series is a property computed once, here.
// Evaluations are const and re-entrant: scratch space belongs to the caller (workspace.hpp). Parameters of a model stay
// live in a Case (motion/case.hpp), which makes the parts anew.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/model/articulation.hpp"
#include "stickslip/model/forces.hpp"
#include "stickslip/model/free_motion.hpp"
#include "stickslip/model/inertia.hpp"
#include "stickslip/model/kinematics.hpp"
#include "stickslip/model/law_set.hpp"

namespace stickslip {

/// Constant matrices of M v' + B v + K q = f(t, q, v) + W r with q' = v. Owned by the parts.
struct LinearPart {
  const SystemMatrix& M;
  const SystemMatrix& B;
  const SystemMatrix& K;
};

struct SystemParts {
  std::string title;
  std::unique_ptr<Kinematics> kinematics;
  std::unique_ptr<Inertia> inertia;
  std::unique_ptr<Forces> forces;
  LawSet laws;
  std::unique_ptr<FreeMotion> free_motion = nullptr;  ///< null: it has none of its own
  /// Of these very inertia, forces and kinematics; null: M is a matrix.
  std::unique_ptr<Articulation> articulation = nullptr;
};

class System {
 public:
  explicit System(SystemParts parts);
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  /// To build another system from these parts.
  SystemParts take_apart() && { return std::move(parts_); }

  const SystemInfo& info() const { return info_; }
  const Kinematics& kinematics() const { return *parts_.kinematics; }
  const Inertia& inertia() const { return *parts_.inertia; }
  const Forces& forces() const { return *parts_.forces; }
  const LawSet& laws() const { return parts_.laws; }
  const FreeMotion* free_motion() const { return parts_.free_motion.get(); }
  const Articulation* articulation() const { return parts_.articulation.get(); }

  /// Null unless the mass is constant and the forces are linear but for f.
  const LinearPart* linear() const { return linear_ ? &*linear_ : nullptr; }
  /// Constant matrices, forces of time alone, constant rows: the motion between events is a power series whose
  /// coefficients follow from one another.
  bool has_series() const { return has_series_; }
  /// Kinetic and potential energy are quadratic, so that the midpoint rule balances them exactly.
  bool has_quadratic_energy() const { return quadratic_energy_; }

  /// h(t, q, v), velocity terms of the inertia included.
  void force(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const {
    forces().total(t, q, v, workspace, h);
    if (velocity_force_) inertia().add_velocity_force(q, v, workspace, h);
  }
  /// ∂h/∂δ and ∂h/∂v of the same.
  void force_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                    SystemMatrix& by_v) const;

  /// Times in (from, to) at which a force, limit, constraint or surface velocity jumps or has a kink, ascending; of
  /// several that agree to 1e-12 of the time one. How far all were found is in complete_until (expression.hpp). A stop
  /// request ends the search, and then the answer is of no use.
  BreakpointSearch find_breakpoints(double from, double to, StopRequest stop = nullptr) const;
  std::vector<double> breakpoints(double from, double to) const { return find_breakpoints(from, to).times; }

 private:
  SystemParts parts_;
  SystemInfo info_;
  std::optional<LinearPart> linear_;
  bool has_series_ = false, quadratic_energy_ = false, velocity_force_ = false;
};

}  // namespace stickslip
