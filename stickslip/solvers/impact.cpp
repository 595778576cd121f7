// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/impact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "stickslip/solvers/one_law.hpp"
#include "stickslip/solvers/poisson_expansion.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

namespace {

constexpr int kMostSweeps = 20'000;       // of the expansion
constexpr int kPlainSweeps = 100;         // before all friction is solved together, once
constexpr double kSettled = 1e-15;        // change of an impulse in a sweep, relative to the largest
constexpr double kNearlySettled = 1e-10;  // what is taken after the last sweep
constexpr double kEcho = 1e-8;            // approach that is left after a path, relative to that before

using Block = std::array<double, 9>;
using Triple = std::array<double, 3>;

struct Outcome {
  Status status = Status::success;
  std::string message;
};

/// One part of the problem: contacts that D joins.
class Impact {
 public:
  Impact(const ImpactProblem& problem, const ImpactOptions& options, EnergeticPath& path, Vector& p)
      : problem_(problem), options_(options), path_(path), p_(p) {
    p_.setZero(problem.u.size());
  }

  Outcome solve_newton() {
    Vector b = problem_.u;
    Index i = 0;
    for (const ImpactContact& contact : problem_.contacts) {
      if (b[i] < 0) b[i] *= 1 + contact.restitution;
      i += contact.set.size;
    }
    return solve_inclusion(b);
  }

  Outcome solve_poisson() {
    if (Outcome compressed = compress(); compressed.status != Status::success) return compressed;
    const bool returns = std::any_of(problem_.contacts.begin(), problem_.contacts.end(),
                                     [](const ImpactContact& contact) { return contact.restitution > 0; });
    if (!returns) return {};
    if (problem_.contacts.size() == 1) {
      const int size = problem_.contacts[0].set.size;
      Triple u_c{}, expanded{};
      const Block D = block(0, size);
      for (int i = 0; i < size; ++i) {
        u_c[static_cast<std::size_t>(i)] = problem_.u[i];
        for (int j = 0; j < size; ++j) u_c[static_cast<std::size_t>(i)] += problem_.D(i, j) * p_[j];
      }
      if (p_[0] > 0) u_c[0] = 0;
      if (!expand(problem_.contacts[0].set, D.data(), u_c.data(), problem_.contacts[0].restitution * p_[0],
                  expanded.data()))
        return jammed();
      for (int i = 0; i < size; ++i) p_[i] += expanded[static_cast<std::size_t>(i)];
      return {};
    }
    return expand_all();
  }

  Outcome solve_energetic() {
    const Set& first = problem_.contacts[0].set;
    if (problem_.contacts.size() == 1 && first.size <= 2) {
      const Block D = block(0, first.size);
      Triple u{}, p{};
      for (int i = 0; i < first.size; ++i) u[static_cast<std::size_t>(i)] = problem_.u[i];
      if (!solve_planar_energetic(first.limit, problem_.contacts[0].restitution, first.size, D.data(), u.data(),
                                  p.data()))
        return jammed();
      for (int i = 0; i < first.size; ++i) p_[i] = p[static_cast<std::size_t>(i)];
      return {};
    }
    path_.start(problem_.D, problem_.u);
    for (const ImpactContact& contact : problem_.contacts) path_.add(contact.set, contact.restitution);
    const Status status = path_.follow(options_.max_seconds, options_.stop, p_);
    if (status == Status::success) return path_.collapsed() ? end_without_rebound() : Outcome{};
    if (status == Status::interrupted) return {status, "stopped within an impact"};
    return {status, fmt::format("the energetic impact law at {} contacts does not come to an end; use impact = "
                                "\"poisson\" there",
                                problem_.contacts.size())};
  }

 private:
  Block block(Index first, int size) const {
    Block D{};
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) D[static_cast<std::size_t>(i * size + j)] = problem_.D(first + i, first + j);
    return D;
  }
  static Outcome jammed() {
    return {Status::no_solution, "no finite impulse ends the impact: its contact cannot move away from the surface"};
  }

  Outcome solve_inclusion(const Vector& b) {
    DualProblem dual;
    dual.D = problem_.D;
    dual.b = b;
    for (const ImpactContact& contact : problem_.contacts) dual.sets.push_back(contact.set);
    SolveOptions options;
    options.tolerance = options_.tolerance;
    options.max_seconds = options_.max_seconds;
    options.stop = options_.stop;
    InclusionSolution solution = solve(dual, options);
    if (solution.status != Status::success && !(solution.residuals.inclusion < options_.acceptable))
      return {solution.status, std::move(solution.message)};
    p_ = solution.r;
    return {};
  }

  /// p_ is known up to there.
  Outcome end_without_rebound() {
    const Vector so_far = p_, u = problem_.u + problem_.D * so_far;
    double before = 0, left = 0;
    Index i = 0;
    for (const ImpactContact& contact : problem_.contacts) {
      before = std::max(before, -problem_.u[i]);
      left = std::max(left, -u[i]);
      i += contact.set.size;
    }
    if (left <= kEcho * before) return {};  // no more than rounding of the path leaves
    Outcome outcome = solve_inclusion(u);
    p_ += so_far;
    return outcome;
  }

  Outcome compress() {
    if (problem_.contacts.size() > 1) return solve_inclusion(problem_.u);
    const Set& set = problem_.contacts[0].set;
    const Block D = block(0, set.size);
    Triple q{}, r{};
    for (int i = 0; i < set.size; ++i) q[static_cast<std::size_t>(i)] = problem_.u[i];
    if (!solve_one_law(set, D.data(), q.data(), r.data())) return jammed();
    for (int i = 0; i < set.size; ++i) p_[i] = r[static_cast<std::size_t>(i)];
    return {};
  }

  /// Largest change of an impulse by exact local solutions, contact by contact; nothing: one would have to push for
  /// ever.
  std::optional<double> sweep(const Vector& compressed, const Vector& u_c, Vector& x) const {
    double change = 0;
    Index i = 0;
    for (const ImpactContact& contact : problem_.contacts) {
      const int size = contact.set.size;
      const Block D = block(i, size);
      Triple q{}, r{};
      for (int c = 0; c < size; ++c) {
        double own = 0;
        for (int d = 0; d < size; ++d) own += problem_.D(i + c, i + d) * x[i + d];
        q[static_cast<std::size_t>(c)] = u_c[i + c] + problem_.D.row(i + c).dot(x) - own;
        r[static_cast<std::size_t>(c)] = x[i + c];
      }
      if (!expand(contact.set, D.data(), q.data(), contact.restitution * compressed[i], r.data())) return std::nullopt;
      for (int c = 0; c < size; ++c) {
        change = std::max(change, std::abs(r[static_cast<std::size_t>(c)] - x[i + c]));
        x[i + c] = r[static_cast<std::size_t>(c)];
      }
      i += size;
    }
    return change;
  }

  /// All friction together, with the normal impulses that there are.
  void solve_friction(const Vector& u_c, Vector& x) const {
    std::vector<Index> rows;
    DualProblem dual;
    Vector normal = x;
    Index i = 0;
    for (const ImpactContact& contact : problem_.contacts) {
      for (Index row = i + 1; row < i + contact.set.size; ++row) {
        rows.push_back(row);
        normal[row] = 0;
      }
      if (contact.set.size > 1) dual.sets.push_back(friction_set(contact.set, x[i]));
      i += contact.set.size;
    }
    if (rows.empty()) return;
    const DenseMatrix D = problem_.D(rows, rows);
    const Vector b = (u_c + problem_.D * normal)(rows);
    dual.D = D;
    dual.b = b;
    SolveOptions options;
    options.tolerance = options_.tolerance;
    options.max_seconds = options_.max_seconds;
    options.stop = options_.stop;
    const InclusionSolution solution = solve(dual, options);
    if (solution.r.allFinite() && solution.r.size() == b.size()) x(rows) = solution.r;
  }

  /// Sweeps until nothing changes. Contacts whose tangents are nearly one line pass friction from one to the other, a
  /// little in each sweep: then all friction is solved together in between.
  Outcome expand_all() {
    const Vector compressed = p_, u_c = problem_.u + problem_.D * p_;
    Vector x = Vector::Zero(p_.size());
    Index i = 0;
    for (const ImpactContact& contact : problem_.contacts) {
      x.segment(i, contact.set.size) = contact.restitution * compressed.segment(i, contact.set.size);
      i += contact.set.size;
    }
    const Deadline deadline(options_.max_seconds, options_.stop);
    const double largest = compressed.lpNorm<Eigen::Infinity>();
    double change = 0;
    for (int count = 1; count <= kMostSweeps && !deadline.passed(); ++count) {
      if (count % kPlainSweeps == 0 && change > kNearlySettled * largest) solve_friction(u_c, x);
      const std::optional<double> changed = sweep(compressed, u_c, x);
      if (!changed) return jammed();
      change = *changed;
      if (change <= kSettled * largest) break;
    }
    if (deadline.stopped()) return {Status::interrupted, "stopped within an impact"};
    if (!(change <= kNearlySettled * largest))
      return {Status::not_converged,
              fmt::format("the expansion of Poisson's impact law at {} contacts does not settle (impulses still change "
                          "by {:.2g}); use impact = \"energetic\" there, or a restitution of 0",
                          problem_.contacts.size(), change / largest)};
    p_ = compressed + x;
    return {};
  }

  const ImpactProblem& problem_;
  const ImpactOptions& options_;
  EnergeticPath& path_;
  Vector& p_;
};

bool joined(const DenseMatrix& D, int row, int rows, int column, int columns) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (D(row + i, column + j) != 0) return true;
  return false;
}

/// group[k]: smallest contact that contact k is joined with.
void find_groups(const ImpactProblem& problem, ImpactWorkspace& workspace) {
  const int count = static_cast<int>(problem.contacts.size());
  std::vector<int>& group = workspace.group;
  group.resize(problem.contacts.size());
  workspace.first.resize(problem.contacts.size());
  for (int k = 0, row = 0; k < count; ++k) {
    group[static_cast<std::size_t>(k)] = k;
    workspace.first[static_cast<std::size_t>(k)] = row;
    row += problem.contacts[static_cast<std::size_t>(k)].set.size;
  }
  for (int k = 1; k < count; ++k)
    for (int j = 0; j < k; ++j) {
      const auto a = static_cast<std::size_t>(k), b = static_cast<std::size_t>(j);
      if (group[a] == group[b] || !joined(problem.D, workspace.first[a], problem.contacts[a].set.size,
                                          workspace.first[b], problem.contacts[b].set.size))
        continue;
      const int low = std::min(group[a], group[b]), high = std::max(group[a], group[b]);
      std::replace(group.begin(), group.end(), high, low);
    }
}

ImpactLaw strongest(const std::vector<ImpactContact>& contacts) {
  ImpactLaw law = ImpactLaw::newton;
  for (const ImpactContact& contact : contacts) law = std::max(law, contact.law);
  return law;
}

/// The contacts of one group as a problem of their own; false: none of them approaches.
bool cut_out(const ImpactProblem& problem, int group, ImpactWorkspace& workspace) {
  ImpactProblem& part = workspace.part;
  workspace.members.clear();
  part.contacts.clear();
  Index rows = 0;
  bool approaches = false;
  for (std::size_t k = 0; k < problem.contacts.size(); ++k) {
    if (workspace.group[k] != group) continue;
    workspace.members.push_back(static_cast<int>(k));
    part.contacts.push_back(problem.contacts[k]);
    rows += problem.contacts[k].set.size;
    approaches |= problem.u[workspace.first[k]] < 0;
  }
  if (!approaches) return false;
  part.D.resize(rows, rows);
  part.u.resize(rows);
  Index to = 0;
  for (const int k : workspace.members) {
    const Index size = problem.contacts[static_cast<std::size_t>(k)].set.size,
                first = workspace.first[static_cast<std::size_t>(k)];
    part.u.segment(to, size) = problem.u.segment(first, size);
    Index column = 0;
    for (const int j : workspace.members) {
      const Index columns = problem.contacts[static_cast<std::size_t>(j)].set.size;
      part.D.block(to, column, size, columns) =
          problem.D.block(first, workspace.first[static_cast<std::size_t>(j)], size, columns);
      column += columns;
    }
    to += size;
  }
  return true;
}

}  // namespace

void solve(const ImpactProblem& problem, const ImpactOptions& options, ImpactWorkspace& workspace,
           ImpactSolution& solution) {
  solution.p.setZero(problem.u.size());
  Outcome outcome;
  if (strongest(problem.contacts) == ImpactLaw::newton) {
    outcome = Impact(problem, options, workspace.path, solution.p).solve_newton();
  } else {
    find_groups(problem, workspace);
    for (int k = 0; k < static_cast<int>(problem.contacts.size()) && outcome.status == Status::success; ++k) {
      if (workspace.group[static_cast<std::size_t>(k)] != k || !cut_out(problem, k, workspace)) continue;
      Impact impact(workspace.part, options, workspace.path, workspace.part_p);
      const ImpactLaw law = strongest(workspace.part.contacts);
      outcome = law == ImpactLaw::newton    ? impact.solve_newton()
                : law == ImpactLaw::poisson ? impact.solve_poisson()
                                            : impact.solve_energetic();
      Index from = 0;
      for (const int member : workspace.members) {
        const auto j = static_cast<std::size_t>(member);
        solution.p.segment(workspace.first[j], problem.contacts[j].set.size) =
            workspace.part_p.segment(from, problem.contacts[j].set.size);
        from += problem.contacts[j].set.size;
      }
    }
  }
  solution.status = outcome.status;
  solution.message = std::move(outcome.message);
  solution.u = problem.u;
  solution.u.noalias() += problem.D * solution.p;
  solution.work = 0.5 * solution.p.dot(problem.u + solution.u);
}

}  // namespace stickslip
