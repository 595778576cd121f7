// SPDX-License-Identifier: Apache-2.0
// The parts of a system with flexible bodies: those of the tree of all links, seen from its free coordinates
// (tree_map.hpp). Slopes are exact where those of the tree are.
//
//   M = Gᵀ M_t G,    c = -Gᵀ τ(X, V, b),  τ inverse dynamics with the accelerations b(v) of driven links
//   h = Gᵀ H(t, X, V) - K η - D η'
//   rows A = A_t G,  their bias that of the tree + A_t b
#pragma once

#include <memory>

#include "stickslip/model/forces.hpp"
#include "stickslip/model/inertia.hpp"
#include "stickslip/model/law_set.hpp"
#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/model/multibody/tree_dynamics.hpp"
#include "stickslip/model/multibody/tree_map.hpp"

namespace stickslip {

class MappedInertia final : public Inertia {
 public:
  explicit MappedInertia(std::shared_ptr<const TreeMap> map);
  std::unique_ptr<Scratch> make_scratch() const override;
  bool constant() const override { return false; }
  const SystemMatrix& mass(const Vector& q, SystemWorkspace& workspace) const override;
  double kinetic_energy(const Vector& q, const Vector& v) const override;
  bool has_velocity_force() const override { return true; }
  void add_velocity_force(const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const override;
  void add_velocity_slopes(const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                           SystemMatrix& by_v) const override;

 private:
  struct Memory;
  /// M_t, full.
  void tree_mass(Memory& memory) const;
  std::shared_ptr<const TreeMap> map_;
  MatrixLayout full_;
};

class MappedForces final : public Forces {
 public:
  MappedForces(std::unique_ptr<Forces> inner, std::shared_ptr<const TreeMap> map);
  std::unique_ptr<Scratch> make_scratch() const override;
  void total(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const override;
  void applied(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f) const override;
  double potential_energy(const Vector& q) const override;
  double damper_power(const Vector& q, const Vector& v) const override;
  void slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
              SystemMatrix& by_v) const override;
  void applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override;
  bool applied_depends_on_state() const override { return inner_->applied_depends_on_state(); }
  bool applied_depends_on_time() const override { return inner_->applied_depends_on_time(); }
  bool depends_on_state() const override { return true; }
  bool quadratic_potential() const override { return false; }
  void append_breakpoints(BreakpointSearch& search) const override { inner_->append_breakpoints(search); }
  void append_time_functions(std::vector<const StateFunction*>& list) const override {
    inner_->append_time_functions(list);
  }

 private:
  struct Memory;
  /// Slopes of the tree in `memory` as those along the free coordinates, added to full matrices.
  void map_slopes(const Vector& q, const Vector& v, Memory& memory, double* dq, double* dv) const;
  std::unique_ptr<Forces> inner_;
  std::shared_ptr<const TreeMap> map_;
  MatrixLayout full_;
};

class MappedConstraints final : public ConstraintSource {
 public:
  MappedConstraints(std::unique_ptr<ConstraintSource> inner, std::shared_ptr<const TreeMap> map);
  std::unique_ptr<Scratch> make_scratch() const override;
  const std::vector<ConstraintElement>& elements() const override { return inner_->elements(); }
  void evaluate(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const override;
  void bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& bias) const override;
  void force_slopes(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                    DenseMatrix& by_q) const override;
  void velocity_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                       DenseMatrix& by_q) const override;

 private:
  std::unique_ptr<ConstraintSource> inner_;
  std::shared_ptr<const TreeMap> map_;
};

class MappedContacts final : public ContactSource {
 public:
  MappedContacts(std::unique_ptr<ContactSource> inner, std::shared_ptr<const TreeMap> map);
  std::unique_ptr<Scratch> make_scratch() const override;
  const std::vector<ContactElement>& laws() const override { return inner_->laws(); }
  void find(double t, const Vector& q, double margin, SystemWorkspace& workspace, ContactPoints& found) const override;
  void surface(double t, const Vector& q, SystemWorkspace& workspace, const ContactPoints& found,
               Vector& w) const override;
  void bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
            Vector& bias) const override;
  bool surfaces_move() const override { return inner_->surfaces_move(); }
  bool points_stay() const override { return inner_->points_stay(); }
  /// Deformations are taken as no larger than the body.
  double speed_bound(const Vector& v) const override;
  double spin(const Vector& q, const Vector& v, const ContactSite& site) const override;
  double length() const override { return inner_->length(); }
  void append_breakpoints(BreakpointSearch& search) const override { inner_->append_breakpoints(search); }
  void append_time_functions(std::vector<const StateFunction*>& list) const override {
    inner_->append_time_functions(list);
  }

 private:
  std::unique_ptr<ContactSource> inner_;
  std::shared_ptr<const TreeMap> map_;
};

}  // namespace stickslip
