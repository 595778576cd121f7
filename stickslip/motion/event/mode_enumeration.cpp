// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_enumeration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "stickslip/motion/event/mode_combination.hpp"

namespace stickslip {

namespace {

constexpr double kRoom = 1e-9;             // of the terms: no combination is left out by round-off
constexpr double kMostOutside = 1e-10;     // of the largest force: see run()
constexpr double kSameAcceleration = 1e3;  // of the tolerance, times the terms: two ways to the same u'
constexpr double kNear = 1e-9;             // of the largest force: on the border of a set
constexpr double kBeside = 1e-11;          // likewise: how far outside the others may be where all are on their borders

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

class Enumeration {
 public:
  Enumeration(const DecisionProblem& problem, const DecisionOptions& options)
      : problem_(problem), options_(options), combination_(problem, options.tolerance) {
    modes_.resize(problem.laws.size());
    for (std::size_t l = 0; l < problem.laws.size(); ++l) candidates_.push_back(candidates(l));
  }

  /// At the threshold between two modes round-off may leave neither: reactions then may be outside their sets by more
  /// and more of it.
  Decision run() {
    for (double& outside = combination_.outside; outside <= kMostOutside; outside *= 10) {
      try_all();
      if (best_.status == Status::interrupted || !accelerations_.empty()) break;
    }
    if (best_.status == Status::interrupted) return std::move(best_);
    best_.admissible = static_cast<int>(accelerations_.size());
    if (best_.admissible == 0) {
      best_.status = Status::no_solution;
      best_.proven = proven_;
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
    combination_.pose(modes_);
    if (problem_.limits)
      proven_ &=
          combination_.looped().size() <= 1 && !(combination_.unknown_rows() > 0 && combination_.held().redundant());
    int found = 0;
    for (const Vector& limits : combination_.find_limits())
      if (combination_.solve(limits) && combination_.admissible()) consider(found++);
  }

  /// The modes of a law that some reactions of the others within their limits allow: without most of those that cannot
  /// be, laws that hardly act on each other leave few combinations. All of them where no bound says anything.
  std::vector<Mode> candidates(std::size_t law) const {
    const DecisionLaw& own = problem_.laws[law];
    const Index i = combination_.first(law);
    const std::span<const Mode> given = modes_of(own);
    std::vector<Mode> all(given.begin(), given.end()), possible;
    if (own.set.kind != SetKind::interval || own.follows >= 0) return all;
    double others = 0;
    for (std::size_t l = 0; l < problem_.laws.size(); ++l) {
      if (l == law || problem_.D.row(i).segment(combination_.first(l), problem_.laws[l].set.size).isZero(0)) continue;
      if (problem_.laws[l].set.kind != SetKind::interval || problem_.laws[l].follows >= 0) return all;
      others += std::abs(problem_.D(i, combination_.first(l))) * problem_.laws[l].static_limit;
    }
    const double b = problem_.b[i], D = problem_.D(i, i);
    const double size = combination_.b_size()[i] + others + D * own.static_limit, reach = others + kRoom * size;
    for (const Mode mode : all) {
      const bool rests = mode == Mode::stick, slips = slip_sign(mode) != 0;
      if (rests && std::abs(b) > D * own.static_limit + reach) continue;
      if (slips && slip_sign(mode) * b - D * own.set.limit + reach < 0) continue;
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
      const double a = law.set.size == 2 ? best_.acceleration[combination_.first(l) + 1] : 0.0;
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
      if (mode == Mode::open || (slip_sign(mode) != 0 && problem_.laws[l].set.kind == SetKind::interval)) continue;
      best_.tied[l] = stays(law, true)                           ? tied_to_lift
                      : mode == Mode::stick && stays(law, false) ? tied_to_slip
                                                                 : not_tied;
    }
  }

  /// Counts it if its acceleration is new, and keeps it if the policy prefers it. `root`: its number among those of the
  /// same combination.
  void consider(int root) {
    const double tiny = kSameAcceleration * options_.tolerance, least = std::numeric_limits<double>::min();
    const Vector &found = combination_.acceleration(), &scale = combination_.scale();
    const bool known = std::any_of(accelerations_.begin(), accelerations_.end(), [&](const Vector& a) {
      return ((a - found).cwiseAbs().array() <= tiny * (scale.array() + least)).all();
    });
    if (!known) accelerations_.push_back(found);
    if (root > 0) {
      if (!known && modes_ == best_.modes) best_.several = static_cast<int>(combination_.looped().front());
      return;
    }
    std::array<int, 3> score{};
    for (std::size_t l = 0; l < modes_.size(); ++l) {
      const DecisionLaw& law = problem_.laws[l];
      const bool rests = modes_[l] == Mode::stick || modes_[l] == Mode::closed;
      if (law.role == LawRole::released)
        score[0] += combination_.static_limit()[l] > combination_.limit()[l] || law.follows >= 0 ? !rests : 0;
      if (law.role == LawRole::stuck) score[1] += rests;
      if (law.role == LawRole::stopped) score[2] += rests;
    }
    if (!best_.modes.empty() && !(score > best_score_)) return;
    best_score_ = score;
    best_.r = combination_.reaction();
    best_.acceleration = found;
    best_.modes = modes_;
    best_.limit = combination_.limit();
    best_.static_limit = combination_.static_limit();
    best_.several = -1;
    best_held_ = combination_.held();
    best_bounds_ = combination_.bounds();
    best_x_ = combination_.unknowns();
  }

  const DecisionProblem& problem_;
  const DecisionOptions& options_;
  ModeCombination combination_;
  std::vector<std::vector<Mode>> candidates_;  // per law
  std::vector<Mode> modes_;                    // of the combination
  std::vector<Vector> accelerations_;
  bool proven_ = true;
  std::array<int, 3> best_score_{};
  Decision best_;
  HeldReactions best_held_;
  std::vector<ReactionBound> best_bounds_;
  Vector best_x_;
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
