// SPDX-License-Identifier: Apache-2.0
// Several sources of contacts, or of constraints, as one: their laws and rows one after the other.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/model/law_set.hpp"

namespace stickslip {

class JoinedConstraints final : public ConstraintSource {
 public:
  /// Over nv velocities.
  JoinedConstraints(std::vector<std::unique_ptr<ConstraintSource>> sources, Index nv);
  std::unique_ptr<Scratch> make_scratch() const override;
  const std::vector<ConstraintElement>& elements() const override { return elements_; }
  void evaluate(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const override;
  void bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& bias) const override;
  void force_slopes(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                    DenseMatrix& by_q) const override;
  void velocity_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                       DenseMatrix& by_q) const override;
  bool constant_rows() const override;
  void append_breakpoints(BreakpointSearch& search) const override;
  void append_time_functions(std::vector<const StateFunction*>& functions) const override;

 private:
  std::vector<std::unique_ptr<ConstraintSource>> sources_;
  std::vector<ConstraintElement> elements_;
  Index nv_;
};

class JoinedContacts final : public ContactSource {
 public:
  explicit JoinedContacts(std::vector<std::unique_ptr<ContactSource>> sources);
  std::unique_ptr<Scratch> make_scratch() const override;
  ThreadPool* threads(SystemWorkspace& workspace) const override;
  const std::vector<ContactElement>& laws() const override { return laws_; }
  void find(double t, const Vector& q, double margin, SystemWorkspace& workspace, ContactPoints& found) const override;
  void surface(double t, const Vector& q, SystemWorkspace& workspace, const ContactPoints& found,
               Vector& w) const override;
  void bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
            Vector& bias) const override;
  bool surfaces_move() const override;
  bool points_stay() const override;
  bool constant_rows() const override;
  double speed_bound(const Vector& v) const override;
  double spin(const Vector& q, const Vector& v, const ContactSite& site) const override;
  double length() const override;
  void append_breakpoints(BreakpointSearch& search) const override;
  void append_time_functions(std::vector<const StateFunction*>& functions) const override;

 private:
  std::vector<std::unique_ptr<ContactSource>> sources_;
  std::vector<ContactElement> laws_;
};

/// One of them as it is, several joined; null: none.
std::unique_ptr<ConstraintSource> join(std::vector<std::unique_ptr<ConstraintSource>> sources, Index nv);
std::unique_ptr<ContactSource> join(std::vector<std::unique_ptr<ContactSource>> sources);

}  // namespace stickslip
