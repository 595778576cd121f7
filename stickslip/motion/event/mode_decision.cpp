// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_decision.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/motion/event/held_reactions.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

namespace {

/// What one law may do, for enumeration.
int choices(const Set& set) {
  switch (set.kind) {
    case SetKind::interval:
      return 3;
    case SetKind::half_line:
      return 2;
    case SetKind::friction_cone:
      return set.size == 2 ? (set.limit > 0 ? 4 : 2) : 0;
    default:
      return 0;
  }
}

constexpr std::array kIntervalModes{Mode::stick, Mode::slip_plus, Mode::slip_minus};
constexpr std::array kHalfLineModes{Mode::closed, Mode::open};
constexpr std::array kConeModes{Mode::stick, Mode::slip_plus, Mode::slip_minus, Mode::open};

Mode choice(const DecisionLaw& law, int k) {
  if (law.set.kind == SetKind::interval) return kIntervalModes[k];
  if (law.set.kind == SetKind::half_line) return kHalfLineModes[k];
  // A contact without friction has no tangential mode.
  return law.set.limit > 0 ? kConeModes[k] : k == 0 ? Mode::closed : Mode::open;
}

double sign_of(Mode mode) { return mode == Mode::slip_plus ? 1.0 : mode == Mode::slip_minus ? -1.0 : 0.0; }

/// D = VᵀU where the caller knows D alone.
void factors_of(const DenseMatrix& D, DenseMatrix& V, DenseMatrix& U) {
  if ((D - D.transpose()).cwiseAbs().sum() > 1e-12 * D.cwiseAbs().sum()) {
    V = D.transpose();
    U = DenseMatrix::Identity(D.rows(), D.cols());
    return;
  }
  const Eigen::LDLT<DenseMatrix> factor(D);
  if (factor.vectorD().minCoeff() < -1e-12 * factor.vectorD().cwiseAbs().maxCoeff()) {
    V = D.transpose();
    U = DenseMatrix::Identity(D.rows(), D.cols());
    return;
  }
  const DenseMatrix L = factor.matrixL();
  V = factor.vectorD().cwiseMax(0).cwiseSqrt().asDiagonal() * L.transpose();
  V = V * factor.transpositionsP();
  U = V;
}

class Enumeration {
 public:
  Enumeration(const DecisionProblem& problem, const DecisionOptions& options) : problem_(problem), options_(options) {
    V_ = problem.rows;
    U_ = problem.columns;
    if (V_.cols() != problem.D.cols()) factors_of(problem.D, V_, U_);
    b_size_ = problem.b_size.size() == problem.b.size() ? problem.b_size : Vector(problem.b.cwiseAbs());
    Index row = 0;
    for (const DecisionLaw& law : problem.laws) {
      first_.push_back(row);
      row += law.set.size;
    }
    modes_.resize(problem.laws.size());
    for (std::size_t l = 0; l < problem.laws.size(); ++l) candidates_.push_back(candidates(l));
  }

  /// At the threshold between two modes round-off may leave neither: reactions then may be outside their sets by more
  /// and more of it.
  Decision run() {
    constexpr double kMostOutside = 1e-10;
    for (; outside_ <= kMostOutside; outside_ *= 10) {
      try_all();
      if (best_.status == Status::interrupted || !accelerations_.empty()) break;
    }
    if (best_.status == Status::interrupted) return std::move(best_);
    best_.admissible = static_cast<int>(accelerations_.size());
    if (best_.admissible == 0) {
      best_.status = Status::no_solution;
      best_.message = "no combination of sticking, slipping, closed and open laws satisfies the equations of motion";
    }
    if (best_.admissible > 0) {
      find_ties();
      load_one_side();
    }
    return std::move(best_);
  }

 private:
  void try_all() {
    std::vector<int> digit(problem_.laws.size(), 0);
    while (true) {
      if (raised(options_.stop)) {
        best_.status = Status::interrupted;
        return;
      }
      for (std::size_t k = 0; k < digit.size(); ++k) modes_[k] = candidates_[k][static_cast<std::size_t>(digit[k])];
      if (one_side_is_open() && solve_mode() && admissible()) consider();
      std::size_t k = 0;
      while (k < digit.size() && ++digit[k] == static_cast<int>(candidates_[k].size())) digit[k++] = 0;
      if (k == digit.size()) return;
    }
  }

  /// The modes of a law that some reactions of the others within their limits allow: without most of those that cannot
  /// be, laws that hardly act on each other leave few combinations. All of them where no bound says anything.
  std::vector<Mode> candidates(std::size_t law) const {
    const DecisionLaw& own = problem_.laws[law];
    const Index i = first_[law];
    std::vector<Mode> all, possible;
    for (int k = 0; k < choices(own.set); ++k) all.push_back(choice(own, k));
    if (own.set.kind != SetKind::interval) return all;
    double others = 0;
    for (std::size_t l = 0; l < problem_.laws.size(); ++l) {
      if (l == law || problem_.D.row(i).segment(first_[l], problem_.laws[l].set.size).isZero(0)) continue;
      if (problem_.laws[l].set.kind != SetKind::interval) return all;
      others += std::abs(problem_.D(i, first_[l])) * problem_.laws[l].static_limit;
    }
    const double b = problem_.b[i], D = problem_.D(i, i);
    const double size = b_size_[i] + others + D * own.static_limit, reach = others + kRoom * size;
    for (const Mode mode : all) {
      const bool rests = mode == Mode::stick, slips = sign_of(mode) != 0;
      if (rests && std::abs(b) > D * own.static_limit + reach) continue;
      if (slips && sign_of(mode) * b - D * own.set.limit + reach < 0) continue;
      possible.push_back(mode);
    }
    return possible.empty() ? all : possible;
  }

  bool one_side_is_open() const {
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const int other = problem_.laws[l].other_side;
      if (other >= 0 && modes_[l] != Mode::open && modes_[static_cast<std::size_t>(other)] != Mode::open) return false;
    }
    return true;
  }

  /// The open side of a guide whose other side is closed is closed too, without a load.
  void load_one_side() {
    const std::vector<Mode> found = best_.modes;
    best_.unloaded.assign(found.size(), 0);
    for (std::size_t l = 0; l < found.size(); ++l) {
      const DecisionLaw& law = problem_.laws[l];
      if (law.other_side < 0 || found[l] != Mode::open) continue;
      const Mode other = found[static_cast<std::size_t>(law.other_side)];
      if (other == Mode::open) continue;
      best_.unloaded[l] = 1;
      const bool frictionless = law.set.kind == SetKind::half_line || law.set.limit == 0;
      const double a = law.set.size == 2 ? best_.acceleration[first_[l] + 1] : 0.0;
      best_.modes[l] = frictionless                                              ? Mode::closed
                       : other == Mode::stick || other == Mode::closed || a == 0 ? Mode::stick
                       : a > 0                                                   ? Mode::slip_plus
                                                                                 : Mode::slip_minus;
    }
  }

  /// What no admissible choice of the reactions can take off the border of its set.
  void find_ties() {
    // The others may be a little outside: where all are on their borders at once, round-off leaves nothing inside.
    constexpr double kNear = 1e-9, kOutside = -1e-11;
    best_.tied.assign(best_.modes.size(), not_tied);
    auto stays = [&](int law, bool normal) {
      std::vector<double> inset(best_bounds_.size(), kOutside);
      bool any = false;
      for (std::size_t j = 0; j < inset.size(); ++j)
        if (best_bounds_[j].law == law && (best_bounds_[j].tangents == 0) == normal) inset[j] = kNear, any = true;
      Vector x = best_x_;
      return any && !best_held_.smallest_within(best_bounds_, inset, x);
    };
    for (std::size_t l = 0; l < best_.modes.size(); ++l) {
      const int law = static_cast<int>(l);
      const Mode mode = best_.modes[l];
      if (mode == Mode::open || (sign_of(mode) != 0 && problem_.laws[l].set.kind == SetKind::interval)) continue;
      best_.tied[l] = stays(law, true)                           ? tied_to_lift
                      : mode == Mode::stick && stays(law, false) ? tied_to_slip
                                                                 : not_tied;
    }
  }

  /// r and u' of one combination; false where it has none.
  bool solve_mode() {
    within_ = false;
    const Index m = problem_.b.size();
    rows_.clear();
    columns_.resize(m, m);
    fixed_.setZero(m);
    Index k = 0;
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const DecisionLaw& law = problem_.laws[l];
      const Index i = first_[l];
      const Mode mode = modes_[l];
      if (mode == Mode::open || mode == Mode::slip) continue;
      if (law.set.kind == SetKind::interval) {
        if (mode == Mode::stick) {
          add_unknown(i, k++);
        } else {
          fixed_[i] = -law.set.limit * sign_of(mode);
        }
        continue;
      }
      add_unknown(i, k);
      if (mode != Mode::stick && law.set.size == 2) columns_(i + 1, k) = -law.set.limit * sign_of(mode);
      ++k;
      if (mode == Mode::stick) add_unknown(i + 1, k++);
    }
    if (k > 0) {
      DenseMatrix V(V_.rows(), k);
      Vector g(k), size(k);
      const Vector b = problem_.b + problem_.D * fixed_;
      const Vector terms = b_size_ + problem_.D.cwiseAbs() * fixed_.cwiseAbs();
      for (Index i = 0; i < k; ++i) {
        V.col(i) = V_.col(rows_[i]);
        g[i] = -b[rows_[i]];
        size[i] = terms[rows_[i]];
      }
      held_.factor(V, U_ * columns_.leftCols(k));
      held_.shortest(g, x_);
      if (!held_.consistent(g, size, x_)) return false;
      collect_bounds();
      within_ = held_.redundant();
      if (within_) {
        const double inset = outside_ > options_.tolerance ? -outside_ : 0.0;
        if (!held_.smallest_within(bounds_, std::vector<double>(bounds_.size(), inset), x_)) return false;
      }
      r_ = fixed_ + columns_.leftCols(k) * x_;
    } else {
      bounds_.clear();
      x_.resize(0);
      r_ = fixed_;
    }
    a_ = problem_.b + problem_.D * r_;
    scale_ = b_size_ + problem_.D.cwiseAbs() * r_.cwiseAbs();
    for (const Index i : rows_) a_[i] = 0;
    return true;
  }
  void add_unknown(Index i, Index column) {
    rows_.push_back(i);
    columns_.col(column).setZero();
    columns_(i, column) = 1;
  }

  /// Sets of the unknowns, in their order.
  void collect_bounds() {
    bounds_.clear();
    Index k = 0;
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const DecisionLaw& law = problem_.laws[l];
      const Mode mode = modes_[l];
      const int id = static_cast<int>(l);
      if (mode == Mode::open || mode == Mode::slip) continue;
      if (law.set.kind == SetKind::interval) {
        if (mode == Mode::stick) append_friction_bounds(id, law.static_limit, 0, -1, k++, 1, bounds_);
        continue;
      }
      bounds_.push_back(pushing(id, k));
      if (mode == Mode::stick) append_friction_bounds(id, 0, law.static_limit, k, k + 1, 1, bounds_);
      k += mode == Mode::stick ? 2 : 1;
    }
  }

  /// Reactions that were chosen within their sets are in them, to round-off of the largest force in the metric of the
  /// mass, which may be more than round-off of a small limit beside it.
  bool admissible() const {
    const double force = r_.size() > 0 ? r_.lpNorm<Eigen::Infinity>() : 0;
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const DecisionLaw& law = problem_.laws[l];
      const Index i = first_[l];
      const Mode mode = modes_[l];
      const double tiny_force = outside_ * (force + law.static_limit);
      if (mode == Mode::slip) continue;
      if (law.set.kind == SetKind::interval) {
        if (mode == Mode::stick) {
          if (!within_ && std::abs(r_[i]) > law.static_limit + tiny_force) return false;
        } else if (!(sign_of(mode) * a_[i] > options_.tolerance * scale_[i])) {
          return false;
        }
        continue;
      }
      if (mode == Mode::open) {
        if (!(a_[i] >= -options_.tolerance * scale_[i])) return false;
        continue;
      }
      if (!within_ && !(r_[i] >= -tiny_force)) return false;
      if (!within_ && mode == Mode::stick && std::abs(r_[i + 1]) > law.static_limit * r_[i] + tiny_force) return false;
      if (sign_of(mode) != 0 && !(sign_of(mode) * a_[i + 1] > options_.tolerance * scale_[i + 1])) return false;
    }
    return true;
  }

  /// Counts it if its acceleration is new, and keeps it if the policy prefers it.
  void consider() {
    const double tiny = 1e3 * options_.tolerance;
    const bool known = std::any_of(accelerations_.begin(), accelerations_.end(), [&](const Vector& a) {
      return ((a - a_).cwiseAbs().array() <= tiny * (scale_.array() + 1e-300)).all();
    });
    if (!known) accelerations_.push_back(a_);
    std::array<int, 3> score{};
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const DecisionLaw& law = problem_.laws[l];
      const bool rests = modes_[l] == Mode::stick || modes_[l] == Mode::closed;
      if (law.role == LawRole::released) score[0] += law.static_limit > law.set.limit ? !rests : 0;
      if (law.role == LawRole::stuck) score[1] += rests;
      if (law.role == LawRole::stopped) score[2] += rests;
    }
    if (!best_.modes.empty() && !(score > best_score_)) return;
    best_score_ = score;
    best_.r = r_;
    best_.acceleration = a_;
    best_.modes = modes_;
    best_held_ = held_;
    best_bounds_ = bounds_;
    best_x_ = x_;
  }

  const DecisionProblem& problem_;
  const DecisionOptions& options_;
  static constexpr double kRoom = 1e-9;  // of the terms: no combination is left out by round-off
  std::vector<Index> first_, rows_;
  std::vector<std::vector<Mode>> candidates_;  // per law
  std::vector<Mode> modes_;
  DenseMatrix columns_, V_, U_;
  Vector fixed_, r_, a_, scale_, b_size_, x_, best_x_;
  HeldReactions held_, best_held_;
  std::vector<ReactionBound> bounds_, best_bounds_;
  std::vector<Vector> accelerations_;
  std::array<int, 3> best_score_{};
  double outside_ = options_.tolerance;  // of the largest force: how far reactions may be outside their sets
  bool within_ = false;                  // redundant reactions were chosen in their sets, to that, in weights of their own
  Decision best_;
};

/// `limit` is the one it was solved with. A law whose reaction lies inside its set rests, whatever round-off made of
/// its acceleration.
Mode mode_of_solution(const DecisionLaw& law, double limit, const double* r, const double* a, const double* tiny_a,
                      double tiny_r) {
  const Set& set = law.set;
  constexpr double kInside = 1 - 1e-12;
  switch (set.kind) {
    case SetKind::interval:
      if (std::abs(r[0]) < kInside * limit) return Mode::stick;
      return a[0] > tiny_a[0] ? Mode::slip_plus : a[0] < -tiny_a[0] ? Mode::slip_minus : Mode::stick;
    case SetKind::half_line:
      return r[0] <= tiny_r && a[0] > tiny_a[0] ? Mode::open : Mode::closed;
    case SetKind::disk:
    case SetKind::polygon:
    case SetKind::box:
      if (std::hypot(r[0], r[1]) < kInside * limit) return Mode::stick;
      return std::abs(a[0]) > tiny_a[0] || std::abs(a[1]) > tiny_a[1] ? Mode::slip : Mode::stick;
    default:
      break;
  }
  if (r[0] <= tiny_r && a[0] > tiny_a[0]) return Mode::open;
  if (set.limit == 0 && law.static_limit == 0) return Mode::closed;
  if (std::hypot(r[1], set.size == 3 ? r[2] : 0.0) < (1 - 1e-9) * limit * r[0]) return Mode::stick;
  if (set.size == 2) return a[1] > tiny_a[1] ? Mode::slip_plus : a[1] < -tiny_a[1] ? Mode::slip_minus : Mode::stick;
  return std::abs(a[1]) > tiny_a[1] || std::abs(a[2]) > tiny_a[2] ? Mode::slip : Mode::stick;
}

/// A few intervals and half-lines by least-index exchanges on the stack: most events concern one or two laws, and the
/// general solver costs more to call than to run there. False: leave it to that one.
bool solve_few_boxes(const DualProblem& problem, Vector& r) {
  constexpr int kMost = 6, kRounds = 64;
  const int m = static_cast<int>(problem.b.size());
  if (m > kMost || m == 0) return false;
  const DenseMatrix& D = std::get<DenseMatrix>(problem.D);
  std::array<double, kMost> lo, hi, x;
  std::array<int, kMost> at{};  // 0 between, -1 lower, +1 upper
  for (int i = 0; i < m; ++i) {
    const Set& set = problem.sets[static_cast<std::size_t>(i)];
    lo[i] = set.kind == SetKind::half_line ? 0 : -set.limit;
    hi[i] = set.kind == SetKind::half_line ? HUGE_VAL : set.limit;
  }
  for (int round = 0; round < kRounds; ++round) {
    std::array<std::array<double, kMost + 1>, kMost> T;
    std::array<int, kMost> free;
    int k = 0;
    for (int i = 0; i < m; ++i)
      if (at[i] == 0) free[k++] = i;
    for (int i = 0; i < m; ++i) x[i] = at[i] < 0 ? lo[i] : hi[i];
    for (int i = 0; i < k; ++i) {
      T[i][k] = -problem.b[free[i]];
      for (int j = 0; j < m; ++j)
        if (at[j] != 0) T[i][k] -= D(free[i], j) * x[j];
      for (int j = 0; j < k; ++j) T[i][j] = D(free[i], free[j]);
    }
    for (int c = 0; c < k; ++c) {
      if (!(T[c][c] > 1e-10 * D(free[c], free[c]))) return false;  // positive definite: no pivots needed
      for (int i = c + 1; i < k; ++i) {
        const double factor = T[i][c] / T[c][c];
        for (int j = c + 1; j <= k; ++j) T[i][j] -= factor * T[c][j];
      }
    }
    for (int c = k - 1; c >= 0; --c) {
      for (int j = c + 1; j < k; ++j) T[c][k] -= T[c][j] * x[free[j]];
      x[free[c]] = T[c][k] / T[c][c];
    }
    int wrong = -1;
    for (int i = 0; i < m && wrong < 0; ++i) {
      double u = problem.b[i], size = std::abs(problem.b[i]);
      for (int j = 0; j < m; ++j) {
        u += D(i, j) * x[j];
        size += std::abs(D(i, j) * x[j]);
      }
      const double tiny = 1e-14 * size, tiny_r = 1e-14 * (std::abs(x[i]) + 1e-300);
      if (at[i] == 0 && x[i] < lo[i] - tiny_r)
        at[i] = -1, wrong = i;
      else if (at[i] == 0 && x[i] > hi[i] + tiny_r)
        at[i] = 1, wrong = i;
      else if ((at[i] < 0 && u < -tiny) || (at[i] > 0 && u > tiny))
        at[i] = 0, wrong = i;
    }
    if (wrong >= 0) continue;
    r.resize(m);
    for (int i = 0; i < m; ++i) r[i] = std::clamp(x[i], lo[i], hi[i]);
    return true;
  }
  return false;
}

/// Solves the inclusion as it stands; where a law with a static limit gives way, its dynamic limit takes over.
Decision solve_inclusion(const DecisionProblem& problem, const DecisionOptions& options) {
  Decision decision;
  DualProblem dual{problem.D, problem.b, {}};
  bool excess = false;
  for (const DecisionLaw& law : problem.laws) {
    Set set = law.set;
    if (law.role != LawRole::released) set.limit = law.static_limit;
    excess |= set.limit > law.set.limit;
    dual.sets.push_back(set);
  }
  const bool boxes = all_boxes(dual.sets);
  SolveOptions solve_options;
  solve_options.tolerance = boxes ? options.tolerance : 1e-14;
  solve_options.max_seconds = 10;
  solve_options.stop = options.stop;
  for (std::size_t round = 0; round <= problem.laws.size(); ++round) {
    InclusionSolution solution;
    if (boxes && problem.monotone && solve_few_boxes(dual, solution.r)) {
      solution.status = Status::success;
    } else {
      solution = solve(dual, solve_options);
    }
    // Round-off may keep a cone from its very last digits; what counts is that it is solved well.
    if (solution.status != Status::success && !(solution.residuals.inclusion < 1e-11)) {
      decision.status = solution.status;
      decision.message = solution.message;
      return decision;
    }
    decision.r = solution.r;
    decision.acceleration = problem.b + problem.D * solution.r;
    Vector tiny = problem.b.cwiseAbs() + problem.D.cwiseAbs() * solution.r.cwiseAbs();
    tiny *= boxes ? options.tolerance : 1e-10;
    const double tiny_r =
        (boxes ? options.tolerance : 1e-10) * (solution.r.size() > 0 ? solution.r.lpNorm<Eigen::Infinity>() : 0);
    decision.modes.clear();
    bool changed = false;
    Index i = 0;
    for (std::size_t l = 0; l < problem.laws.size(); ++l) {
      const DecisionLaw& law = problem.laws[l];
      const Mode mode =
          mode_of_solution(law, dual.sets[l].limit, &decision.r[i], &decision.acceleration[i], &tiny[i], tiny_r);
      const bool slips = mode == Mode::slip || mode == Mode::slip_plus || mode == Mode::slip_minus;
      if (slips && dual.sets[l].limit > law.set.limit) {
        dual.sets[l].limit = law.set.limit;
        changed = true;
      }
      decision.modes.push_back(mode);
      i += law.set.size;
    }
    if (!changed) break;
  }
  const bool cones = std::any_of(dual.sets.begin(), dual.sets.end(), [](const Set& set) { return is_cone(set.kind); });
  decision.admissible = excess || cones ? 0 : 1;
  return decision;
}

/// |r| against the border of the set of a law that rests.
void find_ties(const DecisionProblem& problem, Decision& decision) {
  constexpr double kNear = 1e-9;
  decision.tied.assign(problem.laws.size(), not_tied);
  Index i = 0;
  for (std::size_t l = 0; l < problem.laws.size(); i += problem.laws[l].set.size, ++l) {
    const DecisionLaw& law = problem.laws[l];
    const double c = law.static_limit, r = decision.r[i];
    const bool tangents = law.set.size > 1;
    switch (decision.modes[l]) {
      case Mode::closed:
        if (r <= kNear * decision.r.lpNorm<Eigen::Infinity>()) decision.tied[l] = tied_to_lift;
        break;
      case Mode::stick:
        if (!is_cone(law.set.kind)) {
          const double size = tangents ? std::hypot(r, decision.r[i + 1]) : std::abs(r);
          if (size >= c * (1 - kNear)) decision.tied[l] = tied_to_slip;
        } else {
          const double size =
              law.set.size == 2 ? std::abs(decision.r[i + 1]) : std::hypot(decision.r[i + 1], decision.r[i + 2]);
          if (size >= c * r * (1 - kNear)) decision.tied[l] = tied_to_slip;
          if (r <= kNear * decision.r.lpNorm<Eigen::Infinity>()) decision.tied[l] = tied_to_lift;
        }
        break;
      default:
        break;
    }
  }
}

/// A few laws that nearly (or do) depend on one another: the combinations are tried one by one, without forming D.
bool doubtful(const DecisionProblem& problem) {
  constexpr Index kMost = 8;
  constexpr double kNoDoubt = 1e-3;
  if (problem.rows.cols() != problem.D.cols() || problem.D.cols() > kMost) return false;
  const Vector scale = problem.D.diagonal().cwiseSqrt().cwiseInverse();
  if (!scale.allFinite()) return true;
  const Eigen::LDLT<DenseMatrix> factor(scale.asDiagonal() * problem.D * scale.asDiagonal());
  return !(factor.vectorD().minCoeff() >= kNoDoubt);
}

}  // namespace

Decision decide_modes(const DecisionProblem& problem, const DecisionOptions& options) {
  double combinations = 1;
  bool convex = problem.monotone;
  for (const DecisionLaw& law : problem.laws) {
    combinations *= choices(law.set);
    convex &= law.static_limit <= law.set.limit && !(is_cone(law.set.kind) && law.set.limit > 0);
  }
  convex = convex && (problem.D - problem.D.transpose()).cwiseAbs().sum() <= 1e-12 * problem.D.cwiseAbs().sum();
  const bool few = combinations > 0 && combinations <= static_cast<double>(options.most_enumerated);
  if (few && (!convex || doubtful(problem))) return Enumeration(problem, options).run();
  Decision decision = solve_inclusion(problem, options);
  if (decision.status == Status::success) find_ties(problem, decision);
  return decision;
}

}  // namespace stickslip
