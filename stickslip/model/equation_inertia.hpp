// SPDX-License-Identifier: Apache-2.0
// Inertia of a system given by equations: M(q) as a table of functions, or by the kinetic energy T(q, v), which gives
// the velocity terms too (lagrange_inertia.hpp). With a table the forces must hold them: power() is then ½ vᵀ Ṁ v.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "stickslip/model/expression_scratch.hpp"
#include "stickslip/model/inertia.hpp"
#include "stickslip/model/lagrange_inertia.hpp"
#include "stickslip/model/matrix_layout.hpp"

namespace stickslip {

class EquationInertia final : public Inertia {
 public:
  /// n rows of n functions of q, or an energy. Throws InputError where a constant M is not positive definite.
  EquationInertia(std::vector<std::vector<StateFunction>> mass, const std::optional<StateFunction>& kinetic_energy,
                  const std::vector<std::string>& coordinates);

  std::unique_ptr<Scratch> make_scratch() const override;
  bool constant() const override { return !varies_; }
  const SystemMatrix& mass(const Vector& q, SystemWorkspace& workspace) const override;
  double kinetic_energy(const Vector& q, const Vector& v) const override;
  double power(const Vector& q, const Vector& v) const override;
  bool has_velocity_force() const override { return lagrange_ && lagrange_->varies(); }
  void add_velocity_force(const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const override;
  void add_velocity_slopes(const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                           SystemMatrix& by_v) const override;

 private:
  struct Entry {  // i <= j
    Index i, j;
    StateFunction value;
    Index place = 0, mirror = 0;
  };
  struct Memory;
  void set_structure(std::vector<std::vector<StateFunction>>& mass);
  void fill(const Vector& q, Memory& memory, SystemMatrix& M) const;
  void check(const SystemMatrix& M, const Vector* q, Memory& memory) const;

  std::vector<std::string> coordinates_;
  Index n_;
  std::optional<LagrangeInertia> lagrange_;
  std::vector<Entry> entries_;
  MatrixLayout layout_, full_;
  SystemMatrix constant_;
  std::vector<char> unpinned_;
  bool varies_ = false;
};

/// "x = 1, phi = 0.2", for messages.
std::string describe_place(const std::vector<std::string>& coordinates, const Vector& q);

}  // namespace stickslip
