// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/constrained_motion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/common/null_space.hpp"

namespace stickslip {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Σ_j |A_ij| max(1, |x_j|): what an error of row i is measured against. (Σ_j |A_ij| where x is a position and nq ≠
/// nv.)
double row_size(const DenseMatrix& A, Index i, const Vector& x) {
  double size = 0;
  const bool matched = x.size() == A.cols();
  for (Index j = 0; j < A.cols(); ++j) size += std::abs(A(i, j)) * (matched ? std::max(1.0, std::abs(x[j])) : 1.0);
  return size;
}

/// Largest of |residual_i| beside row_size(), and its row. A row that has all but vanished, as in a singular position,
/// is measured against a millionth of the largest.
struct Relative {
  double value = 0;
  Index row = -1;
};
Relative relative_size(const Vector& residual, const DenseMatrix& A, const Vector& x) {
  double largest = 0;
  for (Index i = 0; i < residual.size(); ++i) largest = std::max(largest, row_size(A, i, x));
  Relative worst;
  for (Index i = 0; i < residual.size(); ++i) {
    const double size = std::max(row_size(A, i, x), 1e-6 * largest);
    const double value = residual[i] == 0 ? 0.0 : std::abs(residual[i]) / size;
    if (value >= worst.value) worst = {value, i};
  }
  return worst;
}

void velocity_residual(const ConstraintRows& rows, const Vector& v, Vector& residual) {
  residual = -rows.rate;
  residual.noalias() += rows.A * v;
}

const std::string& name_of(const System& system, Index row) {
  return system.constraints()[static_cast<std::size_t>(row)].name;
}

}  // namespace

bool refresh_constraints(const System& system, double t, const Vector& q, ConstraintWorkspace& workspace) {
  system.evaluate_constraints(t, q, workspace.system, workspace.rows);
  return workspace.mass.refresh(system.mass(q, workspace.system), workspace.rows.A);
}

bool constrained_acceleration(const System& system, double t, const Vector& q, const Vector& v,
                              ConstraintWorkspace& workspace, Vector& acceleration, Vector& lambda) {
  if (!refresh_constraints(system, t, q, workspace)) return false;
  workspace.force.resize(v.size());
  system.force(t, q, v, workspace.system, workspace.force);
  system.constraint_bias(t, q, v, workspace.system, workspace.bias);
  workspace.mass.acceleration(workspace.force, workspace.bias, acceleration);
  workspace.mass.multipliers(workspace.force, acceleration, lambda);
  return acceleration.allFinite();
}

ConstraintDrift constraint_drift(const System& system, double t, const Vector& q, const Vector& v,
                                 ConstraintWorkspace& workspace) {
  ConstraintDrift drift;
  system.evaluate_constraints(t, q, workspace.system, workspace.rows);
  if (workspace.rows.A.rows() == 0) return drift;
  drift.position = workspace.rows.position.cwiseAbs().maxCoeff(&drift.worst_position);
  velocity_residual(workspace.rows, v, workspace.residual);
  drift.velocity = workspace.residual.cwiseAbs().maxCoeff(&drift.worst_velocity);
  return drift;
}

Status project_position(const System& system, double t, Vector& q, ConstraintWorkspace& workspace) {
  constexpr int kMostIterations = 30;
  constexpr double kAccepted = 1e-6;
  if (system.constraints().empty()) return Status::success;
  Vector& best = workspace.best;
  double smallest = HUGE_VAL;
  best = q;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    system.evaluate_constraints(t, q, workspace.system, workspace.rows);
    ConstraintRows& rows = workspace.rows;
    for (Index i = 0; i < rows.A.rows(); ++i)
      if (!system.constraints()[static_cast<std::size_t>(i)].holonomic) rows.A.row(i).setZero();
    const double size = relative_size(rows.position, rows.A, q).value;
    // Near the solution Newton halves at least, unless round-off is all that is left; far away it may be slow.
    const bool stalled = iteration > 0 && !(size < (smallest < kAccepted ? 0.5 : 0.99) * smallest);
    if (size < smallest) {
      smallest = size;
      best = q;
    }
    if (smallest <= 8 * kEpsilon || stalled) break;
    if (!std::isfinite(size)) return Status::not_finite;
    if (!workspace.holonomic.refresh(system.mass(q, workspace.system), rows.A)) return Status::not_finite;
    workspace.residual = -rows.position;
    workspace.holonomic.correction(workspace.residual, workspace.correction);
    system.displace(workspace.correction, q, workspace.scratch);
  }
  q = best;
  return smallest <= kAccepted ? Status::success : Status::not_converged;
}

Status project_velocity(const System& system, double t, const Vector& q, Vector& v, ConstraintWorkspace& workspace) {
  if (system.constraints().empty()) return Status::success;
  if (!refresh_constraints(system, t, q, workspace)) return Status::not_finite;
  for (int pass = 0; pass < 2; ++pass) {
    velocity_residual(workspace.rows, v, workspace.residual);
    if (pass > 0 && relative_size(workspace.residual, workspace.rows.A, v).value <= 8 * kEpsilon) break;
    workspace.mass.correction(workspace.residual, workspace.correction);
    v -= workspace.correction;
  }
  return v.allFinite() ? Status::success : Status::not_finite;
}

RankReport rank_report(const System& system, double t, const Vector& q, ConstraintWorkspace& workspace) {
  RankReport report;
  report.rows = static_cast<Index>(system.constraints().size());
  if (!refresh_constraints(system, t, q, workspace))
    throw InputError("a constraint has no finite value at the start; change initial.position");
  report.rank = workspace.mass.rank();
  report.freedoms = system.info().nv() - report.rank;
  if (report.rank < report.rows)
    for (const Index row : dependent_rows(workspace.rows.A)) report.dependent.push_back(name_of(system, row));
  return report;
}

std::string describe(const RankReport& report) {
  std::string text =
      fmt::format("{} constraint{} of rank {}, {} degree{} of freedom left", report.rows, report.rows == 1 ? "" : "s",
                  report.rank, report.freedoms, report.freedoms == 1 ? "" : "s");
  if (!report.dependent.empty())
    text += fmt::format("; dependent on the others: {}", fmt::join(report.dependent, ", "));
  return text;
}

namespace {

class Start {
 public:
  Start(const System& system, double t, const ConsistentStartOptions& options)
      : system_(system), t_(t), options_(options), workspace_(system) {}

  ConsistentStart make(const Vector& q, const Vector& v) {
    ConsistentStart start{q, v, {}, {}};
    if (system_.constraints().empty()) {
      start.rank.freedoms = system_.info().nv();
      return start;
    }
    start.given = constraint_drift(system_, t_, q, v, workspace_);
    check_finite(v);
    // Whether a start exists at all comes first: to refuse what is given, where none would do, would mislead.
    Vector residual = workspace_.rows.position;
    Relative worst = relative_size(residual, workspace_.rows.A, q);
    if (project_position(system_, t_, start.q, workspace_) != Status::success) no_position(start.q);
    if (too_large(worst)) refuse(worst.row, "position", residual[worst.row]);
    system_.evaluate_constraints(t_, start.q, workspace_.system, workspace_.rows);
    velocity_residual(workspace_.rows, v, residual);
    worst = relative_size(residual, workspace_.rows.A, v);
    if (project_velocity(system_, t_, start.q, start.v, workspace_) != Status::success) check_finite(start.v);
    require_solvable(start);
    if (too_large(worst)) refuse(worst.row, "velocity", residual[worst.row]);
    start.rank = rank_report(system_, t_, start.q, workspace_);
    return start;
  }

 private:
  bool too_large(const Relative& worst) const {
    return options_.policy == StartPolicy::refuse && worst.value > options_.tolerance;
  }

  void check_finite(const Vector& v) {
    for (Index i = 0; i < workspace_.rows.A.rows(); ++i)
      if (!std::isfinite(workspace_.rows.position[i]) || !std::isfinite(workspace_.rows.A.row(i).dot(v)) ||
          !std::isfinite(workspace_.rows.rate[i]))
        throw InputError(fmt::format("constraint '{}' has no finite value at the start", name_of(system_, i)));
  }

  [[noreturn]] void refuse(Index row, const char* level, double residual) const {
    throw InputError(fmt::format(
        "the initial {0} violates constraint '{1}' by {2:.6g} ({3}); correct it, or set initial.consistent = "
        "\"project\" to start from the nearest {0} on the constraints",
        level, name_of(system_, row), residual, *level == 'p' ? "position must be 0" : "row . v - rate must be 0"));
  }

  /// All rows whose residual is beyond the tolerance.
  std::vector<std::string> violated(const Vector& residual, const Vector& x) const {
    std::vector<std::string> names;
    for (Index i = 0; i < residual.size(); ++i)
      if (std::abs(residual[i]) > options_.tolerance * row_size(workspace_.rows.A, i, x))
        names.push_back(fmt::format("'{}' ({:.6g})", name_of(system_, i), residual[i]));
    return names;
  }

  [[noreturn]] void no_position(const Vector& q) {
    system_.evaluate_constraints(t_, q, workspace_.system, workspace_.rows);
    throw InputError(
        fmt::format("no position near the initial one satisfies all constraints: violated are {}; they contradict "
                    "each other, or initial.position is too far off",
                    fmt::join(violated(workspace_.rows.position, q), ", ")));
  }

  /// Rows that depend on each other must agree in velocity and acceleration.
  void require_solvable(const ConsistentStart& start) {
    velocity_residual(workspace_.rows, start.v, workspace_.residual);
    if (relative_size(workspace_.residual, workspace_.rows.A, start.v).value > options_.tolerance)
      throw InputError(
          fmt::format("the constraints contradict each other: no velocity satisfies all of them, violated "
                      "are {}; change their rates or remove one",
                      fmt::join(violated(workspace_.residual, start.v), ", ")));
    Vector a, lambda;
    if (!constrained_acceleration(system_, t_, start.q, start.v, workspace_, a, lambda))
      throw InputError("a force or constraint has no finite value at the start");
    workspace_.residual = workspace_.bias;
    workspace_.residual.noalias() += workspace_.rows.A * a;
    if (relative_size(workspace_.residual, workspace_.rows.A, a).value > options_.tolerance)
      throw InputError(
          fmt::format("the constraints contradict each other: no acceleration satisfies all of them, "
                      "violated are {}; change them or remove one",
                      fmt::join(violated(workspace_.residual, a), ", ")));
  }

  const System& system_;
  double t_;
  ConsistentStartOptions options_;
  ConstraintWorkspace workspace_;
};

}  // namespace

ConsistentStart make_consistent(const System& system, double t, const Vector& q, const Vector& v,
                                const ConsistentStartOptions& options) {
  return Start(system, t, options).make(q, v);
}

}  // namespace stickslip
