// SPDX-License-Identifier: Apache-2.0
// Part of a system: its laws. One set of rows serves every kind of model.
//
//   friction      fixed directions over the velocities, limits and surface velocities as functions
//   (friction_element.hpp) contacts      points found at (t, q), whose number may change; rows with gap, surface
//   velocity and cone
//                 (contact_element.hpp)
//   constraints   one row each, bilateral (constraint_element.hpp)
//
//   u = W(t, q)ᵀ v - w(t, q)           relative velocity of a row; reactions r put W r on the right-hand side
//   bias = du/dt at constant v         so that u' = Wᵀ v' + bias
//
// Where points come from, and how constraints are computed, is the business of a ContactSource and a ConstraintSource:
// expressions, shapes that touch, or what a user writes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "stickslip/model/constraint_element.hpp"
#include "stickslip/model/contact_element.hpp"
#include "stickslip/model/friction_element.hpp"
#include "stickslip/model/workspace.hpp"

namespace stickslip {

class ThreadPool;

/// Evaluations allocate nothing once the number of points stays the same.
class ContactSource {
 public:
  virtual ~ContactSource() = default;
  virtual std::unique_ptr<Scratch> make_scratch() const { return nullptr; }
  /// That look for contacts; whoever owns the workspace may have them share other work. Null: the caller's alone.
  virtual ThreadPool* threads(SystemWorkspace& /*workspace*/) const { return nullptr; }
  virtual const std::vector<ContactElement>& laws() const = 0;
  /// All points with gap <= margin at (t, q).
  virtual void find(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                    ContactPoints& found) const = 0;
  /// w of the rows of `found` at another time, at the place q they were found at.
  virtual void surface(double t, const Vector& q, SystemWorkspace& workspace, const ContactPoints& found,
                       Vector& w) const;
  /// Of the rows of find() with the same arguments. [m/s²]
  virtual void bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
                    Vector& bias) const = 0;
  /// w of some row depends on time: surfaces that speed up, gaps that depend on time.
  virtual bool surfaces_move() const { return false; }
  /// Every law has exactly one point, wherever the system is: smooth motion between events can follow it.
  virtual bool points_stay() const { return true; }
  /// Rows and surface velocities are constant.
  virtual bool constant_rows() const { return false; }
  /// Nothing moves faster at v; contacts farther apart than that can bridge need not be looked at. [m/s]
  virtual double speed_bound(const Vector& v) const;
  /// Rate at which the bodies of a point turn about its normal, seen in the frame of the point: what is bound to the
  /// surfaces turns with it. [rad/s]
  virtual double spin(const Vector& /*q*/, const Vector& /*v*/, const ContactSite& /*site*/) const { return 0.0; }
  /// The smallest shape, which gaps are small against; 0: gaps know no length. [m]
  virtual double length() const { return 0.0; }
  virtual void append_breakpoints(BreakpointSearch& /*search*/) const {}
  virtual void append_time_functions(std::vector<const StateFunction*>& /*functions*/) const {}
};

/// Likewise.
class ConstraintSource {
 public:
  virtual ~ConstraintSource() = default;
  virtual std::unique_ptr<Scratch> make_scratch() const { return nullptr; }
  virtual const std::vector<ConstraintElement>& elements() const = 0;
  virtual void evaluate(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const = 0;
  /// bias = d/dt(A v - rate) at constant v, so that A v' = -bias.
  virtual void bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& bias) const = 0;
  /// by_q = ∂(Aᵀ λ)/∂δ at fixed λ (nv × nv); near enough for Newton's iteration.
  virtual void force_slopes(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                            DenseMatrix& by_q) const = 0;
  /// by_q = ∂(A v - rate)/∂δ at fixed v (m × nv), likewise.
  virtual void velocity_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                               DenseMatrix& by_q) const = 0;
  virtual bool constant_rows() const { return false; }
  virtual void append_breakpoints(BreakpointSearch& /*search*/) const {}
  virtual void append_time_functions(std::vector<const StateFunction*>& /*functions*/) const {}
};

class LawSet {
 public:
  /// Over nv velocities. Either source may be null: there are none then.
  explicit LawSet(Index nv, std::vector<FrictionElement> friction = {},
                  std::unique_ptr<ContactSource> contacts = nullptr,
                  std::unique_ptr<ConstraintSource> constraints = nullptr);

  const std::vector<FrictionElement>& friction() const { return friction_; }
  const std::vector<ContactElement>& contacts() const { return contacts_->laws(); }
  const std::vector<ConstraintElement>& constraints() const { return constraints_->elements(); }
  const ContactSource& contact_source() const { return *contacts_; }
  const ConstraintSource& constraint_source() const { return *constraints_; }
  /// Of all contacts together; null: contact by contact, or none.
  const CoupledCompliance* compliance() const { return compliance_.get(); }
  void set_compliance(CoupledCompliance compliance) {
    compliance_ = std::make_shared<const CoupledCompliance>(std::move(compliance));
  }

  /// Reactions that limits may name: components of the contacts (normal first), then one per constraint.
  Index reaction_count() const;
  /// Wᵀ of the friction laws, one row per component.
  SparseMatrix friction_rows() const;
  /// Rows of contacts and constraints, and what they move along, are constant.
  bool constant_rows() const { return contacts_->constant_rows() && constraints_->constant_rows(); }
  void append_breakpoints(BreakpointSearch& search) const;
  void append_time_functions(std::vector<const StateFunction*>& functions) const;

 private:
  Index nv_;
  std::vector<FrictionElement> friction_;
  std::unique_ptr<ContactSource> contacts_;
  std::unique_ptr<ConstraintSource> constraints_;
  std::shared_ptr<const CoupledCompliance> compliance_;
};

}  // namespace stickslip
