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
constexpr double kNoRow = 1e-10;  // of the longest row

/// diag(M) at q.
void refresh_inertia(const System& system, const Vector& q, ConstraintWorkspace& workspace) {
  const SystemMatrix& mass = system.inertia().mass(q, workspace.system);
  workspace.inertia.resize(mass.size());
  for (Index j = 0; j < mass.size(); ++j) workspace.inertia[j] = mass(j, j);
}

/// √(Σ_j M_jj x_j²) of a velocity or displacement.
double length(const Vector& inertia, const Vector& x) { return std::sqrt(inertia.dot(x.cwiseAbs2())); }

double position_length(const Vector& q, ConstraintWorkspace& workspace) {
  return length(workspace.inertia, workspace.reach(q));
}

/// |a_i| = √(Σ_j A_ij²/M_jj): times a length of x it bounds the terms A_ij x_j and has the unit of the row.
double row_length(const DenseMatrix& A, Index i, const Vector& inertia) {
  return std::sqrt(A.row(i).cwiseAbs2().dot(inertia.cwiseInverse()));
}

/// Largest of |residual_i| beside |a_i| size + |own_i|, and its row. A row that has all but vanished, as in a singular
/// position, is measured against a millionth of the longest; one that no coordinate moves, as across the plane of a
/// planar linkage, against the longest: its residual is the rounding of positions.
struct Relative {
  double value = 0;
  Index row = -1;
};
Relative relative_size(const Vector& residual, const ConstraintWorkspace& workspace, double size,
                       const Vector* own = nullptr) {
  const DenseMatrix& A = workspace.rows.A;
  double longest = 0;
  for (Index i = 0; i < residual.size(); ++i) longest = std::max(longest, row_length(A, i, workspace.inertia));
  Relative worst;
  for (Index i = 0; i < residual.size(); ++i) {
    const double own_length = row_length(A, i, workspace.inertia);
    const double terms = (own_length < kNoRow * longest ? longest : std::max(own_length, 1e-6 * longest)) * size;
    const double value = residual[i] == 0 ? 0.0 : std::abs(residual[i]) / (terms + (own ? std::abs((*own)[i]) : 0.0));
    if (value >= worst.value) worst = {value, i};
  }
  return worst;
}

void velocity_residual(const ConstraintRows& rows, const Vector& v, Vector& residual) {
  residual = -rows.rate;
  residual.noalias() += rows.A * v;
}

/// x with A x = e and H x = 0. False: not finite.
bool hold_and_correct(const SystemMatrix& M, const DenseMatrix& held, ConstrainedMass& mass, ConstraintWorkspace& w) {
  const DenseMatrix& A = w.rows.A;
  if (held.rows() == 0) {
    if (!mass.refresh(M, A)) return false;
    mass.correction(w.residual, w.correction);
    return true;
  }
  w.stacked.resize(A.rows() + held.rows(), A.cols());
  w.stacked << A, held;
  w.start = w.residual;
  w.residual.conservativeResize(w.stacked.rows());
  w.residual.tail(held.rows()).setZero();
  if (!w.combined.refresh(M, w.stacked)) return false;
  w.combined.correction(w.residual, w.correction);
  w.residual = w.start;
  return true;
}

const std::string& name_of(const System& system, Index row) {
  return system.laws().constraints()[static_cast<std::size_t>(row)].name;
}

}  // namespace

bool refresh_constraints(const System& system, double t, const Vector& q, ConstraintWorkspace& workspace) {
  system.laws().constraint_source().evaluate(t, q, workspace.system, workspace.rows);
  return workspace.mass.refresh(system.inertia().mass(q, workspace.system), workspace.rows.A);
}

bool constrained_acceleration(const System& system, double t, const Vector& q, const Vector& v,
                              ConstraintWorkspace& workspace, Vector& acceleration, Vector& lambda) {
  if (!refresh_constraints(system, t, q, workspace)) return false;
  workspace.force.resize(v.size());
  system.force(t, q, v, workspace.system, workspace.force);
  system.laws().constraint_source().bias(t, q, v, workspace.system, workspace.bias);
  workspace.mass.acceleration(workspace.force, workspace.bias, acceleration);
  workspace.mass.multipliers(workspace.force, acceleration, lambda);
  return acceleration.allFinite();
}

ConstraintDrift constraint_drift(const System& system, double t, const Vector& q, const Vector& v,
                                 ConstraintWorkspace& workspace) {
  ConstraintDrift drift;
  system.laws().constraint_source().evaluate(t, q, workspace.system, workspace.rows);
  if (workspace.rows.A.rows() == 0) return drift;
  drift.position = workspace.rows.position.cwiseAbs().maxCoeff(&drift.worst_position);
  velocity_residual(workspace.rows, v, workspace.residual);
  drift.velocity = workspace.residual.cwiseAbs().maxCoeff(&drift.worst_velocity);
  return drift;
}

Status project_position(const System& system, double t, Vector& q, ConstraintWorkspace& workspace,
                        const DenseMatrix& held) {
  constexpr int kMostIterations = 30;
  constexpr double kAccepted = 1e-6;
  if (system.laws().constraints().empty()) return Status::success;
  ConstraintRows& rows = workspace.rows;
  Vector& best = workspace.best;
  auto make_correction = [&] {
    workspace.residual = -rows.position;
    return hold_and_correct(system.inertia().mass(q, workspace.system), held, workspace.holonomic, workspace);
  };
  refresh_inertia(system, q, workspace);
  double smallest = HUGE_VAL, reach = 0;
  best = q;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    system.laws().constraint_source().evaluate(t, q, workspace.system, rows);
    for (Index i = 0; i < rows.A.rows(); ++i)
      if (!system.laws().constraints()[static_cast<std::size_t>(i)].holonomic) rows.A.row(i).setZero();
    if (!rows.position.allFinite()) return Status::not_finite;
    reach = std::max(reach, position_length(q, workspace));
    if (!(reach > 0)) {  // from the origin
      if (!make_correction()) return Status::not_finite;
      reach = length(workspace.inertia, workspace.correction);
    }
    const double size = relative_size(rows.position, workspace, reach).value;
    // Near the solution Newton halves at least, unless round-off is all that is left; far away it may be slow.
    const bool stalled = iteration > 0 && !(size < (smallest < kAccepted ? 0.5 : 0.99) * smallest);
    if (size < smallest) {
      smallest = size;
      best = q;
    }
    if (smallest <= 8 * kEpsilon || stalled) break;
    if (!make_correction()) return Status::not_finite;
    system.kinematics().displace(workspace.correction, q);
  }
  q = best;
  return smallest <= kAccepted ? Status::success : Status::not_converged;
}

Status project_velocity(const System& system, double t, const Vector& q, Vector& v, ConstraintWorkspace& workspace,
                        const DenseMatrix& held) {
  if (system.laws().constraints().empty()) return Status::success;
  if (!refresh_constraints(system, t, q, workspace)) return Status::not_finite;
  refresh_inertia(system, q, workspace);
  for (int pass = 0; pass < 2; ++pass) {
    velocity_residual(workspace.rows, v, workspace.residual);
    const double speed = length(workspace.inertia, v);
    if (pass > 0 && relative_size(workspace.residual, workspace, speed, &workspace.rows.rate).value <= 8 * kEpsilon)
      break;
    if (held.rows() == 0) {
      workspace.mass.correction(workspace.residual, workspace.correction);
    } else if (!hold_and_correct(system.inertia().mass(q, workspace.system), held, workspace.mass, workspace)) {
      return Status::not_finite;
    }
    v -= workspace.correction;
  }
  return v.allFinite() ? Status::success : Status::not_finite;
}

RankReport rank_report(const System& system, double t, const Vector& q, ConstraintWorkspace& workspace) {
  RankReport report;
  report.rows = static_cast<Index>(system.laws().constraints().size());
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
    if (system_.laws().constraints().empty()) {
      start.rank.freedoms = system_.info().nv();
      return start;
    }
    start.given = constraint_drift(system_, t_, q, v, workspace_);
    check_finite(v);
    measure(q, v);
    // Whether a start exists at all comes first: to refuse what is given, where none would do, would mislead.
    Vector residual = workspace_.rows.position;
    Relative worst = relative_size(residual, workspace_, position_);
    if (project_position(system_, t_, start.q, workspace_) != Status::success) no_position(start.q);
    if (too_large(worst))
      refuse(worst.row, "position", residual[worst.row], nearest(q, start.q, system_.info().coordinates));
    system_.laws().constraint_source().evaluate(t_, start.q, workspace_.system, workspace_.rows);
    velocity_residual(workspace_.rows, v, residual);
    worst = relative_size(residual, workspace_, velocity_, &workspace_.rows.rate);
    if (project_velocity(system_, t_, start.q, start.v, workspace_) != Status::success) check_finite(start.v);
    require_solvable(start);
    if (too_large(worst))
      refuse(worst.row, "velocity", residual[worst.row], nearest(v, start.v, system_.info().velocities));
    start.rank = rank_report(system_, t_, start.q, workspace_);
    return start;
  }

 private:
  /// What positions, velocities and accelerations are small against.
  void measure(const Vector& q, const Vector& v) {
    refresh_inertia(system_, q, workspace_);
    workspace_.force.resize(v.size());
    system_.force(t_, q, v, workspace_.system, workspace_.force);
    acceleration_ = std::sqrt(workspace_.force.cwiseAbs2().dot(workspace_.inertia.cwiseInverse()));
    if (!std::isfinite(acceleration_)) acceleration_ = 0;  // said below, with the name of what is not finite
    velocity_ = length(workspace_.inertia, v) + acceleration_ * options_.span;
    position_ = position_length(q, workspace_) + velocity_ * options_.span;
  }

  bool too_large(const Relative& worst) const {
    return options_.policy == StartPolicy::refuse && worst.value > options_.tolerance;
  }

  void check_finite(const Vector& v) {
    for (Index i = 0; i < workspace_.rows.A.rows(); ++i)
      if (!std::isfinite(workspace_.rows.position[i]) || !std::isfinite(workspace_.rows.A.row(i).dot(v)) ||
          !std::isfinite(workspace_.rows.rate[i]))
        throw InputError(fmt::format("constraint '{}' has no finite value at the start", name_of(system_, i)));
  }

  [[noreturn]] void refuse(Index row, const char* level, double residual, const std::string& near) const {
    throw InputError(fmt::format(
        "the initial {0} violates constraint '{1}' by {2:.6g} ({3}); correct it, or set initial.consistent = "
        "\"project\" to start from the nearest {0} on the constraints: {4}",
        level, name_of(system_, row), residual, *level == 'p' ? "position must be 0" : "row . v - rate must be 0",
        near));
  }

  /// "x = 1.2, y = 3": what differs, or all; no more than a line.
  static std::string nearest(const Vector& given, const Vector& found, const std::vector<std::string>& names) {
    constexpr Index kShown = 8;
    std::string text;
    Index shown = 0;
    for (Index k = 0; k < found.size(); ++k) {
      if (found[k] == given[k] && found.size() > kShown) continue;
      if (++shown > kShown) return text + ", ...";
      text += fmt::format("{}{} = {:.9g}", text.empty() ? "" : ", ", names[static_cast<std::size_t>(k)], found[k]);
    }
    return text;
  }

  /// All rows whose residual is beyond the tolerance.
  std::vector<std::string> violated(const Vector& residual, double size) const {
    std::vector<std::string> names;
    for (Index i = 0; i < residual.size(); ++i)
      if (std::abs(residual[i]) > options_.tolerance * row_length(workspace_.rows.A, i, workspace_.inertia) * size)
        names.push_back(fmt::format("'{}' ({:.6g})", name_of(system_, i), residual[i]));
    return names;
  }

  [[noreturn]] void no_position(const Vector& q) {
    system_.laws().constraint_source().evaluate(t_, q, workspace_.system, workspace_.rows);
    throw InputError(
        fmt::format("no position near the initial one satisfies all constraints: violated are {}; they contradict "
                    "each other, or the start is too far off. They are nearest to it at {}",
                    fmt::join(violated(workspace_.rows.position, position_length(q, workspace_)), ", "),
                    nearest(Vector::Constant(q.size(), std::nan("")), q, system_.info().coordinates)));
  }

  /// Rows that depend on each other must agree in velocity and acceleration.
  void require_solvable(const ConsistentStart& start) {
    velocity_residual(workspace_.rows, start.v, workspace_.residual);
    const double speed = std::max(velocity_, length(workspace_.inertia, start.v));
    if (relative_size(workspace_.residual, workspace_, speed, &workspace_.rows.rate).value > options_.tolerance)
      throw InputError(
          fmt::format("the constraints contradict each other: no velocity satisfies all of them, violated "
                      "are {}; change their rates or remove one",
                      fmt::join(violated(workspace_.residual, speed), ", ")));
    Vector a, lambda;
    if (!constrained_acceleration(system_, t_, start.q, start.v, workspace_, a, lambda))
      throw InputError("a force or constraint has no finite value at the start");
    workspace_.residual = workspace_.bias;
    workspace_.residual.noalias() += workspace_.rows.A * a;
    const double size = std::max(acceleration_, length(workspace_.inertia, a));
    if (relative_size(workspace_.residual, workspace_, size, &workspace_.bias).value > options_.tolerance)
      throw InputError(
          fmt::format("the constraints contradict each other: no acceleration satisfies all of them, "
                      "violated are {}; change them or remove one",
                      fmt::join(violated(workspace_.residual, size), ", ")));
  }

  const System& system_;
  double t_;
  ConsistentStartOptions options_;
  ConstraintWorkspace workspace_;
  double position_ = 0, velocity_ = 0, acceleration_ = 0;
};

}  // namespace

ConsistentStart make_consistent(const System& system, double t, const Vector& q, const Vector& v,
                                const ConsistentStartOptions& options) {
  return Start(system, t, options).make(q, v);
}

}  // namespace stickslip
