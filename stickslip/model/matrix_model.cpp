// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/matrix_model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/model/expression_laws.hpp"
#include "stickslip/model/function_shape.hpp"
#include "stickslip/model/matrix_layout.hpp"

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

namespace {

class MatrixForces final : public Forces {
 public:
  MatrixForces(ForceField force, SystemMatrix damping, SystemMatrix stiffness, Index n)
      : n_(n),
        force_(std::move(force)),
        damping_(std::move(damping)),
        stiffness_(std::move(stiffness)),
        linear_{damping_, stiffness_} {
    const Index index_slot = 1 + 2 * n_;
    for_each_force([&](Index, const StateFunction& f) {
      state_dependent_ |= f.depends_on_state(index_slot);
      time_dependent_ |= f.depends_on_time();
      zero_ &= f.is_constant() && f({}) == 0.0;
      constant_ &= f.is_constant();
      series_ &= f.has_series();
    });
    series_ &= !state_dependent_;
    set_slope_structure();
    values_.setZero(n_);
    if (constant_) for_each_force([&](Index i, const StateFunction& f) { values_[i] = f({}); });
  }

  void total(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& h) const override {
    applied(t, q, v, w, h);
    damping_.add_product(-1.0, v, h);
    stiffness_.add_product(-1.0, q, h);
  }
  double potential_energy(const Vector& q) const override { return 0.5 * quadratic_form(stiffness_, q); }
  double damper_power(const Vector&, const Vector& v) const override { return quadratic_form(damping_, v); }

  void applied(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& f) const override {
    if (constant_) {
      f = values_;
      return;
    }
    if (state_dependent_) {
      w.variables.set(t, q, v);
    } else {
      w.variables.set_time(t);
    }
    const auto variables = w.variables.span();
    for (Index i = 0; i < n_; ++i) {
      if (force_.common) w.variables.set_index(i);
      f[i] = (force_.common ? *force_.common : force_.components[static_cast<std::size_t>(i)])(variables);
    }
  }
  bool applied_depends_on_state() const override { return state_dependent_; }
  bool applied_depends_on_time() const override { return time_dependent_; }
  bool depends_on_state() const override { return state_dependent_ || !damping_.is_zero() || !stiffness_.is_zero(); }

  void slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
              SystemMatrix& by_v) const override {
    applied_slopes(t, q, v, w, by_q, by_v);
    by_q = SystemMatrix::compact(SparseMatrix(by_q.to_sparse() - stiffness_.to_sparse()));
    by_v = SystemMatrix::compact(SparseMatrix(by_v.to_sparse() - damping_.to_sparse()));
  }
  void applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override {
    double* const dq = by_q_.clear(by_q);
    double* const dv = by_v_.clear(by_v);
    w.variables.set(t, q, v);
    for (const Slope& slope : slopes_) {
      w.variables.set_index(slope.row);
      (slope.by_velocity ? dv : dq)[slope.place] += slope.f->derivative(w.variables.span(), slope.slot);
    }
  }
  const LinearForces* linear() const override { return &linear_; }

  bool has_series() const override { return series_; }
  void series(double t, double rate, SystemWorkspace& w, DenseMatrix& c) const override {
    c.setZero();
    if (zero_) return;
    w.variables.set_time(t);
    const auto variables = w.variables.span();
    for (Index i = 0; i < n_; ++i) {
      w.variables.set_index(i);
      const StateFunction& f = force_.common ? *force_.common : force_.components[static_cast<std::size_t>(i)];
      const Taylor series = f.series(variables, rate);
      for (Index k = 0; k < c.cols(); ++k) c(i, k) = series.c[k];
    }
  }

  void append_time_functions(std::vector<const StateFunction*>& functions) const override {
    for_each_force([&](Index i, const StateFunction& f) {
      if (i == 0 || !force_.common) functions.push_back(&f);
    });
  }
  void append_breakpoints(BreakpointSearch& search) const override {
    const Index index_slot = 1 + 2 * n_;
    for_each_force([&](Index i, const StateFunction& f) {
      const bool by_index = f.depends_on(index_slot) && f.may_switch_over_time();
      if (i == 0 || !force_.common || by_index) f.append_breakpoints(search, {index_slot, static_cast<double>(i)});
    });
  }

 private:
  /// ∂f_row/∂slot and where it goes.
  struct Slope {
    const StateFunction* f;
    Index row, slot;
    bool by_velocity;
    Index place = 0;
  };
  void set_slope_structure() {
    const Index n = n_;
    std::vector<std::pair<Index, Index>> by_q, by_v;
    const auto column = [n](Index slot) { return slot <= n ? slot - 1 : slot - 1 - n; };
    for_each_force([&](Index row, const StateFunction& f) {
      for (const Index slot : f.variables_used()) {
        if (slot == 0 || slot > 2 * n) continue;
        slopes_.push_back({&f, row, slot, slot > n});
        (slot > n ? by_v : by_q).emplace_back(row, column(slot));
      }
    });
    by_q_ = MatrixLayout(n, by_q);
    by_v_ = MatrixLayout(n, by_v);
    for (Slope& slope : slopes_)
      slope.place = (slope.by_velocity ? by_v_ : by_q_).offset(slope.row, column(slope.slot));
  }

  template <class F>
  void for_each_force(F&& f) const {
    if (force_.common) {
      for (Index i = 0; i < n_; ++i) f(i, *force_.common);
    } else {
      for (std::size_t i = 0; i < force_.components.size(); ++i) f(static_cast<Index>(i), force_.components[i]);
    }
  }

  Index n_;
  ForceField force_;
  SystemMatrix damping_, stiffness_;
  LinearForces linear_;
  std::vector<Slope> slopes_;
  MatrixLayout by_q_, by_v_;  // structure of ∂f/∂q, ∂f/∂v
  Vector values_;             // when all components are constant
  bool state_dependent_ = false, time_dependent_ = false, zero_ = true, constant_ = true, series_ = true;
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
  for (SystemMatrix* matrix : {&model.damping, &model.stiffness})
    if (matrix->size() == 0) *matrix = SystemMatrix::zero(n);
  require_square("mass", model.mass, n);
  require_square("damping", model.damping, n);
  require_square("stiffness", model.stiffness, n);
  constexpr double kRounded = 1e-12;  // of the largest entry: a matrix that was computed, or written with fewer digits
  if (const double asymmetry = model.mass.asymmetry(); asymmetry > kRounded)
    throw InputError(
        fmt::format("mass is not symmetric (relative difference {:.2g}); M must equal its transpose", asymmetry));
  PinnedFactor factor;
  if (!factor.factorize(model.mass, std::vector<char>(n, 0)))
    throw InputError("mass is not positive definite; every motion must have a positive kinetic energy");
  if (!model.force.components.empty() && static_cast<Index>(model.force.components.size()) != n)
    throw InputError(
        fmt::format("force has {} components, but there are {} coordinates", model.force.components.size(), n));
  for (std::size_t i = 0; i < model.force.components.size(); ++i)
    require_sizes(model.force.components[i], fmt::format("force[{}]", i), n, n);
  if (model.force.common) require_sizes(*model.force.common, "force", n, n);
  check_laws(model.friction, model.contacts, model.constraints, n);
  auto kinematics = std::make_unique<FlatKinematics>(model.coordinates);
  auto laws =
      expression_laws(std::move(model.friction), std::move(model.contacts), std::move(model.constraints), *kinematics);
  if (model.compliance) laws.set_compliance(std::move(*model.compliance));
  auto forces =
      std::make_unique<MatrixForces>(std::move(model.force), std::move(model.damping), std::move(model.stiffness), n);
  return std::make_unique<System>(SystemParts{std::move(model.title), std::move(kinematics),
                                              std::make_unique<ConstantInertia>(std::move(model.mass)),
                                              std::move(forces), std::move(laws)});
}

}  // namespace stickslip
