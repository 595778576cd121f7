// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/equation_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/model/expression_scratch.hpp"
#include "stickslip/model/function_shape.hpp"
#include "stickslip/model/lagrange_inertia.hpp"
#include "stickslip/model/law_checks.hpp"
#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/model/time_resolution.hpp"

namespace stickslip {

namespace {

using Entries = std::vector<std::pair<Index, Index>>;

/// (t, q, v) for the evaluations that come without a workspace.
std::span<const double> gathered(const Vector& q, const Vector& v) {
  thread_local std::vector<double> values;
  values.resize(static_cast<std::size_t>(2 + q.size() + v.size()));
  values.front() = values.back() = 0.0;
  std::copy_n(v.data(), v.size(), std::copy_n(q.data(), q.size(), values.begin() + 1));
  return values;
}

std::string describe_place(const std::vector<std::string>& coordinates, const Vector& q) {
  constexpr Index kShown = 8;
  std::string text;
  for (Index k = 0; k < std::min(q.size(), kShown); ++k)
    text += fmt::format("{}{} = {:.6g}", k ? ", " : "", coordinates[static_cast<std::size_t>(k)], q[k]);
  return text + (q.size() > kShown ? ", ..." : "");
}

/// First pivot that is not positive (beside round-off), or none; A is overwritten.
std::optional<std::pair<Index, double>> bad_pivot(DenseMatrix& A) {
  const Index n = A.rows();
  for (Index j = 0; j < n; ++j) {
    const double diagonal = A(j, j);
    double pivot = diagonal;
    for (Index k = 0; k < j; ++k) pivot -= A(j, k) * A(j, k);
    const double noise = 4 * static_cast<double>(n) * std::numeric_limits<double>::epsilon() * std::abs(diagonal);
    if (!(pivot > noise) || !std::isfinite(pivot)) return std::pair{j, pivot};
    A(j, j) = std::sqrt(pivot);
    for (Index i = j + 1; i < n; ++i) {
      double sum = A(i, j);
      for (Index k = 0; k < j; ++k) sum -= A(i, k) * A(j, k);
      A(i, j) = sum / A(j, j);
    }
  }
  return std::nullopt;
}

class EquationSystem final : public System, public TimeFunctions {
 public:
  explicit EquationSystem(EquationModel model) : model_(std::move(model)) {
    info_.title = model_.title;
    info_.coordinates = info_.velocities = model_.coordinates;
    n_ = info_.nv();
    law_functions_ = time_functions_of(model_.contacts, model_.constraints);
    contacts_ = ExpressionContacts(std::move(model_.contacts), info_);
    constraints_ = ExpressionConstraints(std::move(model_.constraints), info_);
    if (model_.kinetic_energy) inertia_.emplace(*model_.kinetic_energy->expression(), info_.coordinates);
    unpinned_.assign(static_cast<std::size_t>(n_), 0);
    U_ = model_.potential ? model_.potential->expression() : nullptr;
    R_ = model_.dissipation ? model_.dissipation->expression() : nullptr;
    for (const StateFunction& f : model_.force) {
      state_dependent_ |= f.depends_on_state(1 + 2 * n_);
      time_dependent_ |= f.depends_on_time();
    }
    set_mass_structure();
    set_slope_structure();
    quadratic_ = !mass_varies_ && (!U_ || degree(*model_.potential, info_.coordinates) != Degree::any);
    if (!mass_varies_) {
      SystemWorkspace workspace(info_);
      fill_mass(Vector::Zero(n_), expression_scratch(workspace, info_), constant_mass_);
      check_mass(constant_mass_, nullptr, expression_scratch(workspace, info_));
    }
  }

  const SystemInfo& info() const override { return info_; }
  const std::vector<FrictionElement>& friction() const override { return model_.friction; }
  void position_rate(const Vector&, const Vector& v, Vector& qdot) const override { qdot = v; }
  bool mass_varies() const override { return mass_varies_; }
  bool has_quadratic_energy() const override { return quadratic_; }

  const SystemMatrix& mass(const Vector& q, SystemWorkspace& w) const override {
    if (!mass_varies_) return constant_mass_;
    ExpressionScratch& scratch = expression_scratch(w, info_);
    fill_mass(q, scratch, w.mass);
    check_mass(w.mass, &q, scratch);
    return w.mass;
  }

  void force(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& h) const override {
    applied_force(t, q, v, w, h);
    if (!U_ && !R_ && !inertia_moves()) return;
    w.variables.set(t, q, v);
    const auto x = w.variables.span();
    for (const Index slot : potential_slots_) h[slot - 1] -= U_->derivative(x, slot);
    for (const Index slot : damper_slots_) h[slot - 1 - n_] -= R_->derivative(x, slot);
    if (inertia_moves()) inertia_->add_force(x, expression_scratch(w, info_).second, h);
  }

  double kinetic_energy(const Vector& q, const Vector& v) const override {
    const auto x = gathered(q, v);
    if (inertia_) return inertia_->energy(x);
    double twice = 0;
    for (const MassEntry& entry : mass_entries_)
      twice += (entry.i == entry.j ? 1.0 : 2.0) * entry.value(x) * v[entry.i] * v[entry.j];
    return 0.5 * twice;
  }
  double inertia_power(const Vector& q, const Vector& v) const override {
    if (!mass_varies_ || inertia_) return 0.0;
    thread_local std::vector<double> direction;
    direction.assign(static_cast<std::size_t>(2 + 2 * n_), 0.0);
    std::copy_n(v.data(), n_, direction.begin() + 1);
    const auto x = gathered(q, v);
    double twice = 0;
    for (const MassEntry& entry : mass_entries_)
      if (const Expression* value = entry.value.expression())
        twice += (entry.i == entry.j ? 1.0 : 2.0) * value->directional(x, direction).slope * v[entry.i] * v[entry.j];
    return 0.5 * twice;
  }
  double potential_energy(const Vector& q) const override {
    return model_.potential ? (*model_.potential)(gathered(q, q)) : 0.0;
  }
  double damper_power(const Vector& q, const Vector& v) const override {
    if (!R_) return 0.0;
    const auto x = gathered(q, v);
    double power = 0;
    for (const Index slot : damper_slots_) power += v[slot - 1 - n_] * R_->derivative(x, slot);
    return power;
  }

  void force_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override {
    double* const dq = by_q_.clear(by_q);
    double* const dv = by_v_.clear(by_v);
    w.variables.set(t, q, v);
    const auto x = w.variables.span();
    for (const ForceSlope& slope : force_slopes_)
      (slope.by_velocity ? dv : dq)[slope.place] += slope.f->derivative(x, slope.slot);
    for (const EnergySlope& slope : potential_slopes_) {
      const double value = U_->second_derivative(x, slope.first, slope.second);
      dq[slope.place] -= value;
      if (slope.mirror >= 0) dq[slope.mirror] -= value;
    }
    for (const EnergySlope& slope : damper_slopes_) {
      const double value = R_->second_derivative(x, slope.first, slope.second);
      (slope.by_velocity ? dv : dq)[slope.place] -= value;
      if (slope.mirror >= 0) dv[slope.mirror] -= value;
    }
    if (inertia_moves()) inertia_->add_slopes(x, expression_scratch(w, info_).second, by_q_, dq, by_v_, dv);
  }

  void applied_force(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& f) const override {
    f.setZero(n_);
    if (model_.force.empty()) return;
    w.variables.set(t, q, v);
    const auto x = w.variables.span();
    for (Index i = 0; i < n_; ++i) f[i] = model_.force[static_cast<std::size_t>(i)](x);
  }
  bool applied_force_depends_on_state() const override { return state_dependent_; }
  bool applied_force_depends_on_time() const override { return time_dependent_; }
  void applied_force_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& w, SystemMatrix& by_q,
                              SystemMatrix& by_v) const override {
    double* const dq = applied_by_q_.clear(by_q);
    double* const dv = applied_by_v_.clear(by_v);
    w.variables.set(t, q, v);
    const auto x = w.variables.span();
    for (const ForceSlope& slope : force_slopes_)
      (slope.by_velocity ? dv : dq)[slope.applied_place] += slope.f->derivative(x, slope.slot);
  }
  const LinearPart* linear() const override { return nullptr; }

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

  void append_time_functions(std::vector<const StateFunction*>& functions) const override {
    for (const StateFunction& f : model_.force) functions.push_back(&f);
    for (const StateFunction& f : law_functions_) functions.push_back(&f);
  }

  void append_breakpoints(BreakpointSearch& search) const override {
    for (const StateFunction& f : model_.force) f.append_breakpoints(search);
    stickslip::append_breakpoints(model_.friction, search);
    contacts_.append_breakpoints(search);
    constraints_.append_breakpoints(search);
  }

 private:
  struct MassEntry {  // i <= j
    Index i, j;
    StateFunction value;
    Index place = 0, mirror = 0;
  };
  struct ForceSlope {
    const Expression* f;
    Index slot;
    bool by_velocity;
    Index row, column;
    Index place = 0, applied_place = 0;
  };
  /// ∂²/∂first∂second of U or R, and where it goes; mirror: the transposed place, -1 if there is none.
  struct EnergySlope {
    Index first, second;
    bool by_velocity;
    Index row, column;
    Index place = 0, mirror = -1;
  };

  bool inertia_moves() const { return inertia_ && inertia_->varies(); }
  Entries all_entries() const {
    Entries entries;
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) entries.emplace_back(i, j);
    return entries;
  }

  void set_mass_structure() {
    Entries pattern;
    if (inertia_) {
      pattern = all_entries();
      mass_varies_ = inertia_->varies();
    }
    for (Index i = 0; i < static_cast<Index>(model_.mass.size()); ++i)
      for (Index j = i; j < n_; ++j) {
        StateFunction& value = model_.mass[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        if (value.is_constant() && value({}) == 0.0 && i != j) continue;
        mass_varies_ |= !value.is_constant();
        pattern.emplace_back(i, j);
        pattern.emplace_back(j, i);
        mass_entries_.push_back({i, j, std::move(value)});
      }
    mass_layout_ = MatrixLayout(n_, pattern);
    for (MassEntry& entry : mass_entries_) {
      entry.place = mass_layout_.offset(entry.i, entry.j);
      entry.mirror = mass_layout_.offset(entry.j, entry.i);
    }
  }

  void set_slope_structure() {
    const auto is_position = [&](Index slot) { return slot >= 1 && slot <= n_; };
    const auto is_velocity = [&](Index slot) { return slot > n_ && slot <= 2 * n_; };
    for (std::size_t i = 0; i < model_.force.size(); ++i)
      if (const Expression* f = model_.force[i].expression())
        for (const Index slot : f->variables_used()) {
          const bool velocity = is_velocity(slot);
          if (velocity || is_position(slot))
            force_slopes_.push_back({f, slot, velocity, static_cast<Index>(i), velocity ? slot - 1 - n_ : slot - 1});
        }
    if (U_) potential_slots_ = U_->variables_used();
    for (std::size_t a = 0; a < potential_slots_.size(); ++a)
      for (std::size_t b = a; b < potential_slots_.size(); ++b) {
        const Index i = potential_slots_[a], j = potential_slots_[b];
        potential_slopes_.push_back({i, j, false, i - 1, j - 1});
      }
    if (R_)
      for (const Index slot : R_->variables_used())
        if (is_velocity(slot)) damper_slots_.push_back(slot);
    for (const Index i : damper_slots_)
      for (const Index j : R_->variables_used()) {
        if (is_position(j)) damper_slopes_.push_back({i, j, false, i - 1 - n_, j - 1});
        if (is_velocity(j) && i <= j) damper_slopes_.push_back({i, j, true, i - 1 - n_, j - 1 - n_});
      }

    Entries by_q, by_v;
    for (const ForceSlope& slope : force_slopes_)
      (slope.by_velocity ? by_v : by_q).emplace_back(slope.row, slope.column);
    applied_by_q_ = MatrixLayout(n_, by_q);
    applied_by_v_ = MatrixLayout(n_, by_v);
    for (const auto* slopes : {&potential_slopes_, &damper_slopes_})
      for (const EnergySlope& slope : *slopes) {
        auto& pattern = slope.by_velocity ? by_v : by_q;
        pattern.emplace_back(slope.row, slope.column);
        if (is_symmetric(slope)) pattern.emplace_back(slope.column, slope.row);
      }
    if (inertia_moves()) by_q = by_v = all_entries();
    by_q_ = MatrixLayout(n_, by_q);
    by_v_ = MatrixLayout(n_, by_v);
    for (ForceSlope& slope : force_slopes_) {
      slope.place = (slope.by_velocity ? by_v_ : by_q_).offset(slope.row, slope.column);
      slope.applied_place = (slope.by_velocity ? applied_by_v_ : applied_by_q_).offset(slope.row, slope.column);
    }
    for (auto* slopes : {&potential_slopes_, &damper_slopes_})
      for (EnergySlope& slope : *slopes) {
        const MatrixLayout& layout = slope.by_velocity ? by_v_ : by_q_;
        slope.place = layout.offset(slope.row, slope.column);
        if (is_symmetric(slope)) slope.mirror = layout.offset(slope.column, slope.row);
      }
  }
  /// The transposed entry is the same derivative: both arguments are of one kind, and they differ.
  bool is_symmetric(const EnergySlope& slope) const {
    return (slope.first > n_) == (slope.second > n_) && slope.first != slope.second;
  }

  void fill_mass(const Vector& q, ExpressionScratch& scratch, SystemMatrix& M) const {
    double* const numbers = mass_layout_.clear(M);
    scratch.set_position(0.0, q);
    std::fill_n(scratch.values.begin() + 1 + n_, n_, 0.0);
    for (const MassEntry& entry : mass_entries_)
      numbers[entry.place] = numbers[entry.mirror] = entry.value(scratch.values);
    if (!inertia_) return;
    for (Index i = 0; i < n_; ++i)
      for (Index j = i; j < n_; ++j)
        numbers[mass_layout_.offset(i, j)] = numbers[mass_layout_.offset(j, i)] = inertia_->mass(scratch.values, i, j);
  }

  /// q: null where M is constant.
  void check_mass(const SystemMatrix& M, const Vector* q, ExpressionScratch& scratch) const {
    if (M.storage() == Storage::dense) {
      scratch.cholesky = M.dense();
      if (!bad_pivot(scratch.cholesky)) return;
    } else {
      if (scratch.factor.factorize(M, unpinned_)) return;
    }
    const std::string where = q ? " at " + describe_place(info_.coordinates, *q) : "";
    M.for_each([&](Index i, Index j, double value) {
      if (!std::isfinite(value))
        throw InputError(fmt::format("mass[{}][{}] is {}{}; it must be finite", i, j, value, where));
    });
    std::string reason;
    if (n_ <= 2000) {
      DenseMatrix copy = M.to_dense();
      if (const auto bad = bad_pivot(copy))
        reason = fmt::format(" (pivot {:.6g} for '{}')", bad->second,
                             info_.coordinates[static_cast<std::size_t>(bad->first)]);
    }
    throw InputError(fmt::format("mass is not positive definite{}{}; every motion must have a positive kinetic energy",
                                 where, reason));
  }

  EquationModel model_;
  SystemInfo info_;
  Index n_ = 0;
  ExpressionContacts contacts_;
  std::vector<StateFunction> law_functions_;  // of contacts and constraints, that depend on time
  ExpressionConstraints constraints_;
  std::optional<LagrangeInertia> inertia_;
  const Expression *U_ = nullptr, *R_ = nullptr;  // into model_; null: constant or not given
  std::vector<MassEntry> mass_entries_;
  std::vector<ForceSlope> force_slopes_;
  std::vector<Index> potential_slots_, damper_slots_;
  std::vector<EnergySlope> potential_slopes_, damper_slopes_;
  MatrixLayout mass_layout_, by_q_, by_v_, applied_by_q_, applied_by_v_;
  SystemMatrix constant_mass_;
  std::vector<char> unpinned_;
  bool mass_varies_ = false, quadratic_ = false;
  bool state_dependent_ = false, time_dependent_ = false;
};

void check_mass_functions(const EquationModel& model) {
  const std::size_t n = model.coordinates.size();
  if (model.mass.size() != n)
    throw InputError(fmt::format("mass has {} rows, but there are {} coordinates", model.mass.size(), n));
  for (std::size_t i = 0; i < n; ++i) {
    if (model.mass[i].size() != n)
      throw InputError(
          fmt::format("mass[{}] has {} entries, but there are {} coordinates", i, model.mass[i].size(), n));
    for (std::size_t j = 0; j < n; ++j)
      require_arguments(model.mass[i][j], fmt::format("mass[{}][{}]", i, j), Arguments::position, model.coordinates);
  }
  constexpr int kSamples = 8;
  std::mt19937 random(20043);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Vector q(static_cast<Index>(n));
  for (int sample = 0; sample < kSamples; ++sample) {
    for (double& x : q) x = sample % 2 == 0 ? 2 * uniform(random) : 1 + 0.5 * uniform(random);
    const auto x = gathered(q, Vector::Zero(q.size()));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double lower = model.mass[i][j](x), upper = model.mass[j][i](x);
        constexpr double kRoundOff = 1e-12;
        if (std::abs(lower - upper) > kRoundOff * std::max(std::abs(lower), std::abs(upper)))
          throw InputError(fmt::format(
              "mass is not symmetric: mass[{0}][{1}] = {2:.6g}, but mass[{1}][{0}] = {3:.6g} at {4}; M must "
              "equal its transpose",
              i, j, lower, upper, describe_place(model.coordinates, q)));
      }
  }
}

}  // namespace

std::unique_ptr<System> make_system(EquationModel model) {
  check_coordinates(model.coordinates);
  const Index n = static_cast<Index>(model.coordinates.size());
  if (model.kinetic_energy) {
    if (!model.mass.empty()) throw InputError("mass and kinetic_energy both give the inertia; give one of them");
    require_arguments(*model.kinetic_energy, "kinetic_energy", Arguments::position_velocity, model.coordinates);
    if (model.kinetic_energy->is_constant())
      throw InputError("kinetic_energy is constant; it must be quadratic in the velocities");
  } else {
    check_mass_functions(model);
  }
  if (!model.force.empty() && static_cast<Index>(model.force.size()) != n)
    throw InputError(fmt::format("force has {} components, but there are {} coordinates", model.force.size(), n));
  for (std::size_t i = 0; i < model.force.size(); ++i)
    require_arguments(model.force[i], fmt::format("force[{}]", i), Arguments::time_position_velocity,
                      model.coordinates);
  if (model.potential) require_arguments(*model.potential, "potential", Arguments::position, model.coordinates);
  if (model.dissipation)
    require_arguments(*model.dissipation, "dissipation", Arguments::position_velocity, model.coordinates);
  check_laws(model.friction, model.contacts, model.constraints, n);
  return std::make_unique<EquationSystem>(std::move(model));
}

}  // namespace stickslip
