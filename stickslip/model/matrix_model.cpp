// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/matrix_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/common/pinned_factor.hpp"

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

class MatrixSystem final : public System {
 public:
  explicit MatrixSystem(MatrixModel model)
      : model_(std::move(model)), linear_{model_.mass, model_.damping, model_.stiffness} {
    info_.title = model_.title;
    info_.coordinates = info_.velocities = model_.coordinates;
    const Index index_slot = 1 + 2 * info_.nq();
    for_each_force([&](Index, const StateFunction& f) {
      state_dependent_ |= f.depends_on_state(index_slot);
      time_dependent_ |= f.depends_on_time();
      zero_ &= f.is_constant() && f({}) == 0.0;
      constant_ &= f.is_constant();
    });
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
    const Index n = info_.nv();
    w.variables.set(t, q, v);
    std::vector<Eigen::Triplet<double, int>> dq, dv;
    for (int i = 0; i < static_cast<int>(n); ++i) {
      dq.emplace_back(i, i, 0.0);
      dv.emplace_back(i, i, 0.0);
    }
    for_each_force([&](Index i, const StateFunction& f) {
      const Expression* e = f.expression();
      if (!e) return;
      w.variables.set_index(i);
      for (Index slot : e->variables_used()) {
        if (slot == 0 || slot == w.variables.index_slot()) continue;
        const double slope = e->derivative(w.variables.span(), slot);
        auto& entries = slot <= n ? dq : dv;
        entries.emplace_back(static_cast<int>(i), static_cast<int>(slot <= n ? slot - 1 : slot - 1 - n), slope);
      }
    });
    auto assign = [n](SystemMatrix& matrix, const auto& entries) {
      SparseMatrix sparse(n, n);
      sparse.setFromTriplets(entries.begin(), entries.end());
      matrix = n <= 8 ? SystemMatrix(DenseMatrix(sparse)) : SystemMatrix(std::move(sparse));
    };
    assign(by_q, dq);
    assign(by_v, dv);
  }
  const LinearPart* linear() const override { return &linear_; }

  std::vector<double> breakpoints(double from, double to) const override {
    constexpr Index kScan = 4096;
    std::vector<double> times;
    for_each_force([&](Index i, const StateFunction& f) {
      if (i == 0 || !model_.force.common) f.append_breakpoints(from, to, kScan, times);
    });
    for (const FrictionElement& element : model_.friction) {
      element.limit.append_breakpoints(from, to, kScan, times);
      if (element.static_limit) element.static_limit->append_breakpoints(from, to, kScan, times);
      for (const StateFunction& w : element.surface_velocity) w.append_breakpoints(from, to, kScan, times);
    }
    std::sort(times.begin(), times.end());
    const double close = 1e-12 * std::max(std::abs(from), std::abs(to));
    times.erase(std::unique(times.begin(), times.end(), [close](double a, double b) { return b - a <= close; }),
                times.end());
    return times;
  }

 private:
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
  Vector force_;  // the values when all components are constant
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
  if (n == 0) throw InputError("the model has no coordinates");
  if (std::set<std::string>(model.coordinates.begin(), model.coordinates.end()).size() != model.coordinates.size())
    throw InputError("coordinates: two of them have the same name");
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
  std::set<std::string> names;
  for (const FrictionElement& element : model.friction) {
    if (!names.insert(element.name).second) throw InputError(fmt::format("two laws are named '{}'", element.name));
    if (element.directions.empty() || element.directions.size() > 2)
      throw InputError(fmt::format("friction '{}' acts on {} directions; one or two are possible", element.name,
                                   element.directions.size()));
    for (const Direction& direction : element.directions)
      for (const auto& [coordinate, coefficient] : direction)
        if (coordinate < 0 || coordinate >= n || !std::isfinite(coefficient))
          throw InputError(fmt::format("friction '{}': direction entry {} of coordinate {} is out of range",
                                       element.name, coefficient, coordinate));
    if (!(element.viscous >= 0) || !std::isfinite(element.viscous))
      throw InputError(fmt::format("friction '{}': viscous = {} must be >= 0", element.name, element.viscous));
    validate(element.weakening);
  }
  return std::make_unique<MatrixSystem>(std::move(model));
}

}  // namespace stickslip
