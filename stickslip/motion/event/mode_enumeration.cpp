// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_enumeration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/motion/event/held_reactions.hpp"
#include "stickslip/motion/event/limit_loop.hpp"

namespace stickslip {

namespace {

constexpr double kSymmetric = 1e-12;     // of the entries of D: round-off
constexpr double kRoom = 1e-9;           // of the terms: no combination is left out by round-off
constexpr double kMostOutside = 1e-10;   // of the largest force: see run()
constexpr double kSameAcceleration = 1e3;  // of the tolerance, times the terms: two ways to the same u'
constexpr double kNear = 1e-9;           // of the largest force: on the border of a set
constexpr double kBeside = 1e-11;        // likewise: how far outside the others may be where all are on their borders

/// What one law may do.
std::span<const Mode> modes_of(const DecisionLaw& law) {
  static constexpr std::array kInterval{Mode::stick, Mode::slip_plus, Mode::slip_minus};
  static constexpr std::array kHalfLine{Mode::closed, Mode::open};
  static constexpr std::array kCone{Mode::stick, Mode::slip_plus, Mode::slip_minus, Mode::open};
  if (law.slips) return {&law.slip_mode, 1};
  if (law.set.kind == SetKind::interval) return kInterval;
  if (law.set.kind == SetKind::half_line) return kHalfLine;
  if (law.set.kind != SetKind::friction_cone || law.set.size != 2) return {};
  if (law.set.limit > 0) return kCone;
  return kHalfLine;  // a contact without friction has no tangential mode
}

double sign_of(Mode mode) { return mode == Mode::slip_plus ? 1.0 : mode == Mode::slip_minus ? -1.0 : 0.0; }

/// D = VᵀU where the caller knows D alone.
void factors_of(const DenseMatrix& D, DenseMatrix& V, DenseMatrix& U) {
  auto keep = [&] {
    V = D.transpose();
    U = DenseMatrix::Identity(D.rows(), D.cols());
  };
  if ((D - D.transpose()).cwiseAbs().sum() > kSymmetric * D.cwiseAbs().sum()) return keep();
  const Eigen::LDLT<DenseMatrix> factor(D);
  if (factor.vectorD().minCoeff() < -kSymmetric * factor.vectorD().cwiseAbs().maxCoeff()) return keep();
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
      limit_.push_back(law.set.limit);
      static_limit_.push_back(law.static_limit);
    }
    modes_.resize(problem.laws.size());
    for (std::size_t l = 0; l < problem.laws.size(); ++l) candidates_.push_back(candidates(l));
  }

  /// At the threshold between two modes round-off may leave neither: reactions then may be outside their sets by more
  /// and more of it.
  Decision run() {
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
      if (one_side_is_open()) try_combination();
      std::size_t k = 0;
      while (k < digit.size() && ++digit[k] == static_cast<int>(candidates_[k].size())) digit[k++] = 0;
      if (k == digit.size()) return;
    }
  }

  /// All solutions of one combination.
  void try_combination() {
    pose();
    find_limits(roots_);
    int found = 0;
    for (const Vector& root : roots_) {
      set_limits(root);
      if (!solve_mode()) continue;
      if (problem_.limits) follow();
      if (admissible()) consider(found++);
    }
  }

  /// The modes of a law that some reactions of the others within their limits allow: without most of those that cannot
  /// be, laws that hardly act on each other leave few combinations. All of them where no bound says anything.
  std::vector<Mode> candidates(std::size_t law) const {
    const DecisionLaw& own = problem_.laws[law];
    const Index i = first_[law];
    const std::span<const Mode> given = modes_of(own);
    std::vector<Mode> all(given.begin(), given.end()), possible;
    if (own.set.kind != SetKind::interval || own.follows >= 0) return all;
    double others = 0;
    for (std::size_t l = 0; l < problem_.laws.size(); ++l) {
      if (l == law || problem_.D.row(i).segment(first_[l], problem_.laws[l].set.size).isZero(0)) continue;
      if (problem_.laws[l].set.kind != SetKind::interval || problem_.laws[l].follows >= 0) return all;
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
    best_.tied.assign(best_.modes.size(), not_tied);
    auto stays = [&](int law, bool normal) {
      std::vector<double> inset(best_bounds_.size(), -kBeside);
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

  /// Rows that hold and what the unknowns do, of one combination.
  void pose() {
    const Index m = problem_.b.size();
    rows_.clear();
    columns_.resize(m, m);
    loop_.laws.clear();
    looped_.clear();
    Index k = 0;
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const DecisionLaw& law = problem_.laws[l];
      const Index i = first_[l];
      const Mode mode = modes_[l];
      if (law.follows >= 0 && mode != Mode::stick) {
        loop_.laws.push_back(static_cast<std::size_t>(law.follows));
        looped_.push_back(l);
      }
      if (mode == Mode::open || mode == Mode::slip || law.slips) continue;
      if (law.set.kind == SetKind::interval) {
        if (mode == Mode::stick) add_unknown(i, k++);
        continue;
      }
      add_unknown(i, k);
      if (mode != Mode::stick && law.set.size == 2) columns_(i + 1, k) = -law.set.limit * sign_of(mode);
      ++k;
      if (mode == Mode::stick) add_unknown(i + 1, k++);
    }
    if (k == 0) return;
    DenseMatrix V(V_.rows(), k);
    for (Index i = 0; i < k; ++i) V.col(i) = V_.col(rows_[i]);
    held_.factor(V, U_ * columns_.leftCols(k));
  }
  void add_unknown(Index i, Index column) {
    rows_.push_back(i);
    columns_.col(column).setZero();
    columns_(i, column) = 1;
  }

  /// r of a friction law that slips, per unit of its limit.
  void slip_force(std::size_t l, double c, Vector& r) const {
    const DecisionLaw& law = problem_.laws[l];
    if (!law.slips) {
      r[first_[l]] = -c * sign_of(modes_[l]);
      return;
    }
    for (int i = 0; i < law.set.size; ++i) r[first_[l] + i] = c * law.force[static_cast<std::size_t>(i)];
  }

  /// r with forces `fixed` and the shortest reactions of the rows that hold, u' = b + D r along those being 0.
  Vector held_response(const Vector& b, const Vector& fixed) {
    const auto k = static_cast<Index>(rows_.size());
    if (k == 0) return fixed;
    const Vector free = b + problem_.D * fixed;
    Vector g(k), x;
    for (Index i = 0; i < k; ++i) g[i] = -free[rows_[i]];
    held_.shortest(g, x);
    return fixed + columns_.leftCols(k) * x;
  }

  /// Limits of the laws that slip and follow reactions: one vector per solution.
  void find_limits(std::vector<Vector>& roots) {
    if (loop_.laws.empty()) {
      roots.assign(1, Vector());
      return;
    }
    const Index m = problem_.b.size();
    const Vector zero = Vector::Zero(m);
    for (const std::size_t l : looped_) limit_[l] = 0;
    loop_.R0 = problem_.R0 + problem_.R1 * held_response(problem_.b, fixed_forces());
    loop_.R1.resize(problem_.R0.size(), static_cast<Index>(looped_.size()));
    for (std::size_t j = 0; j < looped_.size(); ++j) {
      Vector unit = zero;
      slip_force(looped_[j], 1, unit);
      loop_.R1.col(static_cast<Index>(j)) = problem_.R1 * held_response(zero, unit);
    }
    loop_.solve_all(*problem_.limits, roots);
  }

  void set_limits(const Vector& c) {
    for (std::size_t j = 0; j < looped_.size(); ++j) limit_[looped_[j]] = c[static_cast<Index>(j)];
  }

  Vector fixed_forces() const {
    Vector fixed = Vector::Zero(problem_.b.size());
    for (std::size_t l = 0; l < modes_.size(); ++l)
      if (problem_.laws[l].slips || (problem_.laws[l].set.kind == SetKind::interval && modes_[l] != Mode::stick))
        slip_force(l, limit_[l], fixed);
    return fixed;
  }

  /// r and u' of one combination; false where it has none.
  bool solve_mode() {
    within_ = false;
    const Vector fixed = fixed_forces();
    const auto k = static_cast<Index>(rows_.size());
    bounds_.clear();
    x_.resize(0);
    r_ = fixed;
    if (k > 0) {
      Vector g(k), size(k);
      const Vector b = problem_.b + problem_.D * fixed;
      const Vector terms = b_size_ + problem_.D.cwiseAbs() * fixed.cwiseAbs();
      for (Index i = 0; i < k; ++i) {
        g[i] = -b[rows_[i]];
        size[i] = terms[rows_[i]];
      }
      held_.shortest(g, x_);
      if (!held_.consistent(g, size, x_)) return false;
      within_ = held_.redundant();
      if (!choose_reactions(fixed)) return false;
      r_ = fixed + columns_.leftCols(k) * x_;
    }
    a_ = problem_.b + problem_.D * r_;
    scale_ = b_size_ + problem_.D.cwiseAbs() * r_.cwiseAbs();
    for (const Index i : rows_) a_[i] = 0;
    return true;
  }

  /// x within the sets where it is not unique; sets that follow reactions are those of the choice before, until they
  /// stay.
  bool choose_reactions(const Vector& fixed) {
    constexpr int kMostRounds = 50;
    const auto k = static_cast<Index>(rows_.size());
    const Vector shortest = x_;
    for (int round = 0; round < kMostRounds; ++round) {
      bool settled = true;
      if (problem_.limits) {
        r_ = fixed + columns_.leftCols(k) * x_;
        settled = !follow();
      }
      collect_bounds();
      if (!within_) return true;
      if (round > 0 && settled) return true;
      const double inset = outside_ > options_.tolerance ? -outside_ : 0.0;
      x_ = shortest;
      if (!held_.smallest_within(bounds_, std::vector<double>(bounds_.size(), inset), x_)) return false;
      if (!problem_.limits) return true;
    }
    return false;
  }

  /// Limits of laws that stick at r_; true: some changed.
  bool follow() {
    const Vector R = problem_.R0 + problem_.R1 * r_;
    bool changed = false;
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const int law = problem_.laws[l].follows;
      if (law < 0) continue;
      if (modes_[l] == Mode::stick) limit_[l] = problem_.limits->limit(static_cast<std::size_t>(law), R);
      const double c_s = std::max(limit_[l], problem_.limits->static_limit(static_cast<std::size_t>(law), R));
      changed |= std::abs(c_s - static_limit_[l]) > options_.tolerance * c_s;
      static_limit_[l] = c_s;
    }
    return changed;
  }

  /// Sets of the unknowns, in their order.
  void collect_bounds() {
    bounds_.clear();
    Index k = 0;
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const DecisionLaw& law = problem_.laws[l];
      const Mode mode = modes_[l];
      const int id = static_cast<int>(l);
      if (mode == Mode::open || mode == Mode::slip || law.slips) continue;
      if (law.set.kind == SetKind::interval) {
        if (mode == Mode::stick) append_friction_bounds(id, static_limit_[l], 0, -1, k++, 1, bounds_);
        continue;
      }
      bounds_.push_back(pushing(id, k));
      if (mode == Mode::stick) append_friction_bounds(id, 0, static_limit_[l], k, k + 1, 1, bounds_);
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
      // The limit of an interval is a force, that of a cone a coefficient.
      const double tiny_force = outside_ * (force + (law.set.kind == SetKind::interval ? static_limit_[l] : 0.0));
      if (mode == Mode::slip || law.slips) continue;
      if (law.set.kind == SetKind::interval) {
        if (mode == Mode::stick) {
          if (!within_ && std::abs(r_[i]) > static_limit_[l] + tiny_force) return false;
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
      if (!within_ && mode == Mode::stick && std::abs(r_[i + 1]) > static_limit_[l] * r_[i] + tiny_force) return false;
      if (sign_of(mode) != 0 && !(sign_of(mode) * a_[i + 1] > options_.tolerance * scale_[i + 1])) return false;
    }
    return true;
  }

  /// Counts it if its acceleration is new, and keeps it if the policy prefers it. `root`: its number among those of the
  /// same combination.
  void consider(int root) {
    const double tiny = kSameAcceleration * options_.tolerance, least = std::numeric_limits<double>::min();
    const bool known = std::any_of(accelerations_.begin(), accelerations_.end(), [&](const Vector& a) {
      return ((a - a_).cwiseAbs().array() <= tiny * (scale_.array() + least)).all();
    });
    if (!known) accelerations_.push_back(a_);
    if (root > 0) {
      if (!known && modes_ == best_.modes) best_.several = static_cast<int>(looped_.front());
      return;
    }
    std::array<int, 3> score{};
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const DecisionLaw& law = problem_.laws[l];
      const bool rests = modes_[l] == Mode::stick || modes_[l] == Mode::closed;
      if (law.role == LawRole::released) score[0] += static_limit_[l] > limit_[l] ? !rests : 0;
      if (law.role == LawRole::stuck) score[1] += rests;
      if (law.role == LawRole::stopped) score[2] += rests;
    }
    if (!best_.modes.empty() && !(score > best_score_)) return;
    best_score_ = score;
    best_.r = r_;
    best_.acceleration = a_;
    best_.modes = modes_;
    best_.limit = limit_;
    best_.static_limit = static_limit_;
    best_.several = -1;
    best_held_ = held_;
    best_bounds_ = bounds_;
    best_x_ = x_;
  }

  const DecisionProblem& problem_;
  const DecisionOptions& options_;
  std::vector<Index> first_, rows_;
  std::vector<std::vector<Mode>> candidates_;  // per law
  std::vector<Mode> modes_;
  std::vector<double> limit_, static_limit_;  // per law, of the combination
  LimitLoop loop_;
  std::vector<std::size_t> looped_;  // laws of the problem, in the order of the loop
  std::vector<Vector> roots_;
  DenseMatrix columns_, V_, U_;
  Vector r_, a_, scale_, b_size_, x_, best_x_;
  HeldReactions held_, best_held_;
  std::vector<ReactionBound> bounds_, best_bounds_;
  std::vector<Vector> accelerations_;
  std::array<int, 3> best_score_{};
  double outside_ = options_.tolerance;  // of the largest force: how far reactions may be outside their sets
  bool within_ = false;                  // redundant reactions were chosen in their sets, to that, in weights of their own
  Decision best_;
};

}  // namespace

double combinations(const DecisionProblem& problem) {
  double count = 1;
  for (const DecisionLaw& law : problem.laws) count *= static_cast<double>(modes_of(law).size());
  return count;
}

Decision enumerate_modes(const DecisionProblem& problem, const DecisionOptions& options) {
  return Enumeration(problem, options).run();
}

}  // namespace stickslip
