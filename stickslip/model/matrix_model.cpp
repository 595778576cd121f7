// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/matrix_model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/model/law_checks.hpp"
#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/model/time_resolution.hpp"

namespace stickslip {

SymbolTable state_symbols(const std::vector<std::string>& coordinates,
                          const std::vector<std::pair<std::string, double>>& parameters) {
  SymbolTable symbols;
  symbols.add_variable("t");
  for (const std::string& name : coordinates) symbols.add_variable(name);
  for (const std::string& name : coordinates) symbols.add_variable("v_" + name);
  symbols.add_variable("i");
  for (const auto& [name, value] : parameters) symbols.add_constant(name, value);
  return symbols;
}

SparseMatrix friction_directions(const System& system) {
  std::vector<Eigen::Triplet<double, int>> entries;
  int row = 0;
  for (const FrictionElement& element : system.friction())
    for (const Direction& direction : element.directions) {
      for (const auto& [coordinate, coefficient] : direction)
        entries.emplace_back(row, static_cast<int>(coordinate), coefficient);
      ++row;
    }
  SparseMatrix Wt(row, system.info().nv());
  Wt.setFromTriplets(entries.begin(), entries.end());
  return Wt;
}

namespace {

class MatrixSystem final : public System, public TimeFunctions {
 public:
  explicit MatrixSystem(MatrixModel model)
      : model_(std::move(model)), linear_{model_.mass, model_.damping, model_.stiffness} {
    info_.title = model_.title;
    info_.coordinates = info_.velocities = model_.coordinates;
    law_functions_ = time_functions_of(model_.contacts, model_.constraints);
    contacts_ = ExpressionContacts(std::move(model_.contacts), info_);
    constraints_ = ExpressionConstraints(std::move(model_.constraints), info_);
    const Index index_slot = 1 + 2 * info_.nq();
    for_each_force([&](Index, const StateFunction& f) {
      state_dependent_ |= f.depends_on_state(index_slot);
      time_dependent_ |= f.depends_on_time();
      zero_ &= f.is_constant() && f({}) == 0.0;
      constant_ &= f.is_constant();
    });
    set_slope_structure();
    force_.resize(info_.nv());
    if (constant_) for_each_force([&](Index i, const StateFunction& f) { force_[i] = f({}); });
    if (model_.force.components.empty() && !model_.force.common) force_.setZero();
  }

  const SystemInfo& info() const override { return info_; }
  const std::vector<FrictionElement>& friction() const override { return model_.friction; }
  void position_rate(const Vector&, const Vector& v, Vector& qdot) const override { qdot = v; }
  const SystemMatrix& mass(const Vector&, SystemWorkspace&) const override { return model_.mass; }

  void force(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& h) const override {
    applied_force(t, q, v, w, h);
    model_.damping.add_product(-1.0, v, h);
    model_.stiffness.add_product(-1.0, q, h);
  }
  double kinetic_energy(const Vector&, const Vector& v) const override { return 0.5 * form(model_.mass, v); }
  double potential_energy(const Vector& q) const override { return 0.5 * form(model_.stiffness, q); }
  double damper_power(const Vector&, const Vector& v) const override { return form(model_.damping, v); }

  void applied_force(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& f) const override {
    if (constant_) {
      f = force_;
      return;
    }
    if (state_dependent_) {
      w.variables.set(t, q, v);
    } else {
      w.variables.set_time(t);
    }
    const auto variables = w.variables.span();
    if (model_.force.common) {
      const StateFunction& common = *model_.force.common;
      for (Index i = 0; i < info_.nv(); ++i) {
        w.variables.set_index(i);
        f[i] = common(variables);
      }
    } else {
      for (Index i = 0; i < info_.nv(); ++i) f[i] = model_.force.components[i](variables);
    }
  }
  bool applied_force_depends_on_state() const override { return state_dependent_; }
  bool applied_force_depends_on_time() const override { return time_dependent_; }

  void applied_force_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
                              SystemMatrix& by_v) const override {
    double* const dq = by_q_.clear(by_q);
    double* const dv = by_v_.clear(by_v);
    w.variables.set(t, q, v);
    for (const Slope& slope : slopes_) {
      w.variables.set_index(slope.row);
      (slope.by_velocity ? dv : dq)[slope.place] += slope.f->derivative(w.variables.span(), slope.slot);
    }
  }
  const LinearPart* linear() const override { return &linear_; }

  const std::vector<ContactElement>& contacts() const override { return contacts_.laws(); }
  void find_contacts(double t, const Vector& q, double margin, SystemWorkspace& w,
                     ContactPoints& found) const override {
    contacts_.find(t, q, margin, w, found);
  }
  bool surfaces_move() const override { return contacts_.surfaces_move(); }
  void contact_surface(double t, const Vector& q, SystemWorkspace& w, const ContactPoints& found,
                       Vector& surface) const override {
    contacts_.surface(t, q, w, found, surface);
  }
  void contact_bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& w,
                    Vector& bias) const override {
    contacts_.bias(t, q, v, margin, w, bias);
  }

  const std::vector<ConstraintElement>& constraints() const override { return constraints_.elements(); }
  void evaluate_constraints(double t, const Vector& q, SystemWorkspace& w, ConstraintRows& rows) const override {
    constraints_.evaluate(t, q, w, rows);
  }
  void constraint_bias(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& bias) const override {
    constraints_.bias(t, q, v, w, bias);
  }
  void constraint_force_jacobian(double t, const Vector& q, const Vector& lambda, SystemWorkspace& w,
                                 DenseMatrix& by_q) const override {
    constraints_.force_jacobian(t, q, lambda, w, by_q);
  }
  void constraint_velocity_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& w,
                                    DenseMatrix& by_q) const override {
    constraints_.velocity_jacobian(t, q, v, w, by_q);
  }

  bool has_series() const override {
    return !state_dependent_ && contacts_.directions_are_constant() && constraints_.directions_are_constant();
  }
  void force_series(double t, double rate, SystemWorkspace& w, DenseMatrix& c) const override {
    c.setZero();
    if (zero_) return;
    w.variables.set_time(t);
    const auto variables = w.variables.span();
    for (Index i = 0; i < info_.nv(); ++i) {
      w.variables.set_index(i);
      const StateFunction& f = model_.force.common ? *model_.force.common : model_.force.components[i];
      const Taylor series = f.series(variables, rate);
      for (Index k = 0; k < c.cols(); ++k) c(i, k) = series.c[k];
    }
  }

  void append_time_functions(std::vector<const StateFunction*>& functions) const override {
    for_each_force([&](Index i, const StateFunction& f) {
      if (i == 0 || !model_.force.common) functions.push_back(&f);
    });
    for (const StateFunction& f : law_functions_) functions.push_back(&f);
  }

  void append_breakpoints(BreakpointSearch& search) const override {
    const Index index_slot = 1 + 2 * info_.nq();
    for_each_force([&](Index i, const StateFunction& f) {
      const bool by_index =
          f.expression() && f.expression()->depends_on(index_slot) && f.expression()->has_switch_of(0);
      if (i == 0 || !model_.force.common || by_index)
        f.append_breakpoints(search, {index_slot, static_cast<double>(i)});
    });
    stickslip::append_breakpoints(model_.friction, search);
    contacts_.append_breakpoints(search);
    constraints_.append_breakpoints(search);
  }

 private:
  /// ∂f_row/∂slot and where it goes.
  struct Slope {
    const Expression* f;
    Index row, slot;
    bool by_velocity;
    Index place = 0;
  };
  void set_slope_structure() {
    const Index n = info_.nv();
    std::vector<std::pair<Index, Index>> by_q, by_v;
    const auto column = [n](Index slot) { return slot <= n ? slot - 1 : slot - 1 - n; };
    for_each_force([&](Index row, const StateFunction& f) {
      if (!f.expression()) return;
      for (const Index slot : f.expression()->variables_used()) {
        if (slot == 0 || slot > 2 * n) continue;
        slopes_.push_back({f.expression(), row, slot, slot > n});
        (slot > n ? by_v : by_q).emplace_back(row, column(slot));
      }
    });
    by_q_ = MatrixLayout(n, by_q);
    by_v_ = MatrixLayout(n, by_v);
    for (Slope& slope : slopes_)
      slope.place = (slope.by_velocity ? by_v_ : by_q_).offset(slope.row, column(slope.slot));
  }

  static double form(const SystemMatrix& A, const Vector& x) {
    double sum = 0;
    for (Index i = 0; i < x.size(); ++i) sum += x[i] * A.row_product(i, x);
    return sum;
  }
  template <class F>
  void for_each_force(F&& f) const {
    if (model_.force.common) {
      for (Index i = 0; i < info_.nv(); ++i) f(i, *model_.force.common);
    } else {
      for (std::size_t i = 0; i < model_.force.components.size(); ++i)
        f(static_cast<Index>(i), model_.force.components[i]);
    }
  }

  MatrixModel model_;
  LinearPart linear_;
  SystemInfo info_;
  ExpressionContacts contacts_;
  std::vector<StateFunction> law_functions_;  // of contacts and constraints, that depend on time
  ExpressionConstraints constraints_;
  std::vector<Slope> slopes_;
  MatrixLayout by_q_, by_v_;  // structure of ∂f/∂q, ∂f/∂v
  Vector force_;              // the values when all components are constant
  bool state_dependent_ = false, time_dependent_ = false, zero_ = true, constant_ = true;
};

void require_square(const char* key, const SystemMatrix& matrix, Index n) {
  if (matrix.size() != n)
    throw InputError(fmt::format("{} is {} x {}, but there are {} coordinates", key, matrix.size(), matrix.size(), n));
  matrix.for_each([&](Index i, Index j, double value) {
    if (!std::isfinite(value))
      throw InputError(fmt::format("{}[{}][{}] = {} is not a finite number", key, i, j, value));
  });
}

}  // namespace

std::unique_ptr<System> make_system(MatrixModel model) {
  const Index n = static_cast<Index>(model.coordinates.size());
  check_coordinates(model.coordinates);
  require_square("mass", model.mass, n);
  require_square("damping", model.damping, n);
  require_square("stiffness", model.stiffness, n);
  if (const double asymmetry = model.mass.asymmetry(); asymmetry > 1e-12)
    throw InputError(
        fmt::format("mass is not symmetric (relative difference {:.2g}); M must equal its transpose", asymmetry));
  PinnedFactor factor;
  if (!factor.factorize(model.mass, std::vector<char>(n, 0)))
    throw InputError("mass is not positive definite; every motion must have a positive kinetic energy");
  if (!model.force.components.empty() && static_cast<Index>(model.force.components.size()) != n)
    throw InputError(
        fmt::format("force has {} components, but there are {} coordinates", model.force.components.size(), n));
  check_laws(model.friction, model.contacts, model.constraints, n);
  return std::make_unique<MatrixSystem>(std::move(model));
}

}  // namespace stickslip
