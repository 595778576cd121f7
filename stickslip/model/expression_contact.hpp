// SPDX-License-Identifier: Apache-2.0
// Contacts whose gap and tangential displacement are given by expressions: one point per law.
//
//   g(t, q)       gap, >= 0 when open                                                        [m]
//   s_k(t, q)     tangential displacement, one per tangent; or rows over v                   [m]
//   surface       velocity of the other surface along the tangents, a function of t and q    [m/s]
//
//   rows of Wᵀ    normal ∂g/∂q;  tangents ∂s_k/∂q, or the given rows
//   w             normal -∂g/∂t; tangents -∂s_k/∂t + surface_k
//   u = Wᵀ v - w  so that u_N = dg/dt along the motion, u_T = ds/dt - surface
//   bias          d/dt(Wᵀ v - w) at constant v: D²g[(1, v), (1, v)] and likewise for the tangents
//
// The rows are those of expression_row.hpp.
//
// `position` and `normal` (two or three components in the world) are for drawing only. The tangents of the drawn frame
// are those directions t_k normal to `normal` for which t_kᵀ ∂position/∂q is the tangential row, in the sense of least
// squares; a law without tangents gets any.
#pragma once

#include <array>
#include <vector>

#include "stickslip/model/expression_row.hpp"
#include "stickslip/model/law_set.hpp"
#include "stickslip/model/state_function.hpp"

namespace stickslip {

struct ExpressionContact {
  ContactElement law = {};
  StateFunction gap = 0.0;                                 ///< of t, q
  std::vector<StateFunction> slip = {};                    ///< of t, q: one per tangent, or empty with slip_rows
  std::vector<std::vector<StateFunction>> slip_rows = {};  ///< of t, q: nv per tangent
  std::vector<StateFunction> surface_velocity = {};        ///< of t, q: one per tangent, or empty: at rest
  std::vector<StateFunction> position = {};                ///< of t, q: empty, or 2 or 3
  std::vector<StateFunction> normal = {};                  ///< of t, q: as many as `position`; any length
};

/// The contacts of one system. The kinematics must outlive them.
class ExpressionContacts final : public ContactSource {
 public:
  /// Throws InputError naming the contact and what is wrong with it.
  ExpressionContacts(std::vector<ExpressionContact> contacts, const Kinematics& kinematics);

  std::unique_ptr<Scratch> make_scratch() const override;
  const std::vector<ContactElement>& laws() const override { return laws_; }
  void find(double t, const Vector& q, double margin, SystemWorkspace& workspace, ContactPoints& found) const override;
  void surface(double t, const Vector& q, SystemWorkspace& workspace, const ContactPoints& found,
               Vector& w) const override;
  void bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
            Vector& bias) const override;
  bool surfaces_move() const override { return surfaces_move_; }
  bool constant_rows() const override;
  void append_breakpoints(BreakpointSearch& search) const override;
  void append_time_functions(std::vector<const StateFunction*>& functions) const override;

 private:
  struct Law {
    std::vector<ExpressionRow> rows;  ///< normal first
    std::vector<StateFunction> position, normal;
  };

  void set_frame(const Law& law, const ExpressionScratch& scratch, const SparseMatrix& Wt, Index row,
                 ContactSite& point) const;

  const Kinematics* kinematics_;
  std::vector<ContactElement> laws_;
  std::vector<Law> shapes_;
  bool surfaces_move_ = false;
  bool constant_ = true;  ///< every row and surface velocity is constant: nothing needs the expressions
};

}  // namespace stickslip
