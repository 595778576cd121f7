// SPDX-License-Identifier: Apache-2.0
// Accelerations and reactions of a system whose laws keep given modes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/motion/event/mode_dynamics.hpp"

namespace stickslip {

namespace {

/// By inversions: Eigen's determinant allocates.
double sign_of(const Eigen::PartialPivLU<DenseMatrix>::PermutationType& P) {
  double sign = 1;
  for (Index i = 0; i < P.size(); ++i)
    for (Index j = 0; j < i; ++j)
      if (P.indices()[i] < P.indices()[j]) sign = -sign;
  return sign;
}

}  // namespace

void ModeDynamics::slip_direction(std::size_t k, Mode mode, double d[2]) const {
  const Law& law = laws_[k];
  d[0] = d[1] = 0;
  if (mode == Mode::slip_plus) d[0] = 1;
  if (mode == Mode::slip_minus) d[0] = -1;
  if (mode != Mode::slip || law.tangents != 2) return;
  const double u1 = u_[law.tangent()], u2 = u_[law.tangent() + 1],
               speed = heading_[k] == Heading::velocity ? std::hypot(u1, u2) : 0.0;
  d[0] = speed > 0 ? u1 / speed : direction_(0, static_cast<Index>(k));
  d[1] = speed > 0 ? u2 / speed : direction_(1, static_cast<Index>(k));
}

double ModeDynamics::slip_speed(std::size_t k, const double d[2]) const {
  const Law& law = laws_[k];
  if (law.size == 1) return d[0] * u_[law.first];
  if (heading_[k] != Heading::velocity) return d[0] * u_[law.first] + d[1] * u_[law.first + 1];
  return std::hypot(u_[law.first], u_[law.first + 1]);
}

void ModeDynamics::known_forces(const std::vector<Mode>& modes, Vector& r, Vector& smooth) const {
  r.setZero(m_);
  smooth.setZero(m_);
  for (std::size_t k = 0; k < static_cast<std::size_t>(friction_.laws()); ++k) {
    const Law& law = laws_[k];
    if (law.holds(modes[k])) continue;
    const FrictionElement& element = friction_.element(static_cast<Index>(k));
    double d[2];
    if (law.springs()) {
      spring_direction(k, modes[k], d);
      const double force = modes[k] == Mode::stick ? law.stiffness * spring_length(k) : limit_[k];
      for (int c = 0; c < law.size; ++c) {
        r[law.first + c] = -force * d[c];
        smooth[law.first + c] = -element.viscous * u_[law.first + c];
      }
      continue;
    }
    slip_direction(k, modes[k], d);
    const double lessened = limit_[k] * weakening(element.weakening, slip_speed(k, d));
    for (int c = 0; c < law.size; ++c) {
      r[law.first + c] = -limit_[k] * d[c];
      smooth[law.first + c] = lessened * d[c] - element.viscous * u_[law.first + c];
    }
  }
}

void ModeDynamics::make_factor(const std::vector<Mode>& modes, ModeFactor& factor) const {
  factor.rows.clear();
  factor.regularity = 1;
  factor.redundant = false;
  factor.by_lu = true;
  auto loaded = [&](std::size_t k) { return modes[k] != Mode::open && !unloaded_[k]; };
  Index unknowns = 0;
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    if (!loaded(k)) continue;
    if (laws_[k].holds(modes[k])) unknowns += laws_[k].size;
    if (laws_[k].contact && modes[k] != Mode::stick) ++unknowns;
  }
  factor.E.setZero(m_, unknowns);
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const Law& law = laws_[k];
    const Mode mode = modes[k];
    if (!loaded(k)) continue;
    auto add = [&](Index component) {
      factor.E(component, static_cast<Index>(factor.rows.size())) = 1;
      factor.rows.push_back(component);
    };
    if (law.holds(mode)) {
      for (int c = 0; c < law.size; ++c) add(law.first + c);
    } else if (law.contact) {
      add(law.first);
      double d[2];
      slip_direction(k, mode, d);
      for (int c = 0; c < law.tangents; ++c)
        factor.E(law.tangent() + c, static_cast<Index>(factor.rows.size()) - 1) = -limit_[k] * d[c];
    }
  }
  if (unknowns == 0) return;
  factor.PWE.noalias() = PW_ * factor.E;
  factor.matrix.resize(unknowns, unknowns);
  for (Index i = 0; i < unknowns; ++i) factor.matrix.row(i).noalias() = Wt_.row(factor.rows[i]) * factor.PWE;
  factor.lu.compute(factor.matrix);
  // det over Π D_ii; its size is bounded by 1 for symmetric matrices
  double det = sign_of(factor.lu.permutationP()), smallest = HUGE_VAL;
  for (Index i = 0; i < unknowns; ++i) {
    const double diagonal = D_(factor.rows[i], factor.rows[i]);
    const double pivot = diagonal > 0 ? factor.lu.matrixLU()(i, i) / diagonal : 0.0;
    det *= pivot;
    smallest = std::min(smallest, std::abs(pivot));
  }
  factor.regularity = det;
  constexpr double kNoDoubt = 1e-3;
  if (smallest >= kNoDoubt) return;
  DenseMatrix V(NW_.rows(), unknowns);
  for (Index i = 0; i < unknowns; ++i) V.col(i) = NW_.col(factor.rows[i]);
  factor.held.factor(V, NW_ * factor.E);
  factor.by_lu = false;
  factor.redundant = factor.held.redundant();
  factor.regularity = factor.held.regularity();
}

void ModeDynamics::ModeFactor::solve(const Vector& right, Vector& x) const {
  if (by_lu) {
    x = lu.solve(right);
  } else {
    held.shortest(right, x);
  }
}

/// Sets of the unknowns of factor_.
void ModeDynamics::reaction_bounds(const std::vector<Mode>& modes) {
  bounds_.clear();
  Index i = 0;
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const Law& law = laws_[k];
    const int id = static_cast<int>(k);
    if (modes[k] == Mode::open || unloaded_[k]) continue;
    if (law.holds(modes[k]) && !law.contact) {
      append_friction_bounds(id, static_limit_[k], 0, -1, i, law.tangents, bounds_);
      i += law.size;
    } else if (law.contact) {
      bounds_.push_back(pushing(id, i));
      if (modes[k] == Mode::stick) append_friction_bounds(id, 0, static_limit_[k], i, i + 1, law.tangents, bounds_);
      i += modes[k] == Mode::stick ? law.size : 1;
    }
  }
}

/// What a unit of each unknown does to the reactions that limits name.
void ModeDynamics::follow_choice(const std::vector<Mode>& modes, const Vector& x) {
  const Index contacts = m_ - friction_components_, unknowns = x.size();
  r_ = known_r_ + factor_.E * x;
  a_ = known_a_ + factor_.PWE * x;
  read_reactions(R_);
  unit_R_.resize(R_.size(), unknowns);
  unit_R_.topRows(contacts) = factor_.E.bottomRows(contacts);
  for (Index j = 0; j < unknowns && R_.size() > contacts; ++j) {
    scratch_.noalias() = Wt_.transpose() * factor_.E.col(j);
    unit_a_ = factor_.PWE.col(j);
    mass_.multipliers(scratch_, unit_a_, lambda_);
    unit_R_.col(j).tail(lambda_.size()) = lambda_;
  }
  for (const std::size_t law : following_.laws()) {
    const auto k = static_cast<Index>(law);
    if (modes[law] == Mode::stick) limit_[k] = following_.limit(law, R_);
    static_limit_[k] = std::max(limit_[k], following_.static_limit(law, R_));
  }
  reaction_bounds(modes);
  for (ReactionBound& bound : bounds_) {
    const auto law = static_cast<std::size_t>(bound.law);
    if (!follows(law)) continue;
    bound.slopes.resize(unknowns);
    for (Index j = 0; j < unknowns; ++j) {
      unit_ = unit_R_.col(j);
      const double slope = following_.static_along(law, R_, unit_).slope;
      bound.slopes[j] = std::isfinite(slope) ? slope : 0.0;
    }
    bound.shift = -bound.slopes.dot(x);
  }
}

/// Redundant reactions x in their sets, from the shortest ones; r_ and a_ are those without x before and after.
bool ModeDynamics::choose_within(const std::vector<Mode>& modes, double inset, Vector& x) {
  if (following_.empty()) {
    reaction_bounds(modes);
    return factor_.held.smallest_within(bounds_, std::vector<double>(bounds_.size(), inset), x);
  }
  known_r_ = r_;
  known_a_ = a_;
  const BoundsAt tangents = [&](const Vector& at, std::vector<ReactionBound>& /*bounds_*/) {
    follow_choice(modes, at);
  };
  const bool found = smallest_within(factor_.held, tangents, inset, bounds_, x);
  r_ = known_r_;
  a_ = known_a_;
  return found;
}

void ModeDynamics::right_side(const std::vector<Mode>& modes) {
  make_factor(modes, factor_);
  regularity_ = factor_.regularity;
  redundant_ = factor_.redundant;
  admissible_ = true;
  load(modes);
}

/// Known forces and what they leave to the unknown reactions.
void ModeDynamics::load(const std::vector<Mode>& modes) {
  known_forces(modes, r_, smooth_);
  known_ = r_ + smooth_;
  a_ = a_free_;
  a_.noalias() += PW_ * known_;
  const Index unknowns = static_cast<Index>(factor_.rows.size());
  right_.resize(unknowns);
  for (Index i = 0; i < unknowns; ++i) {
    const Index row = factor_.rows[i];
    right_[i] = -(Wt_.row(row).dot(a_) + bias_[row]);
  }
}

bool ModeDynamics::finish(const std::vector<Mode>& modes) {
  if (right_.size() > 0) {
    factor_.solve(right_, x_);
    if (redundant_) admissible_ = choose_within(modes, 0, x_);
    a_.noalias() += factor_.PWE * x_;
    r_.noalias() += factor_.E * x_;
  }
  for (std::size_t k = 0; k < laws_.size(); ++k)
    for (Index i = laws_[k].first; laws_[k].holds(modes[k]) && i < laws_[k].first + laws_[k].size; ++i)
      if (const Index at = own_[static_cast<std::size_t>(i)]; at >= 0) a_[at] = -bias_[i];
  return a_.allFinite() && r_.allFinite();
}

bool ModeDynamics::solve(const std::vector<Mode>& modes) { return solve_given(modes) && turn_directions(modes); }

/// d of law k from u' at hand: b = u' + c D d is what it has without its own friction, and (c D + λ) d = b, |d| = 1. A
/// little below its limit λ < 0 goes on smoothly: states beside one that has just broken away. True: d has changed.
bool ModeDynamics::turn_direction(std::size_t k, Mode mode) {
  constexpr int kMostSteps = 50;
  constexpr double kSame = 4 * std::numeric_limits<double>::epsilon(), kLittle = 0.25;
  const Law& law = laws_[k];
  const Index i = law.tangent();
  double d[2];
  slip_direction(k, mode, d);
  const double c = law.contact ? limit_[k] * r_[law.first] : limit_[k];
  const Eigen::Matrix2d own = c * D_.block<2, 2>(i, i);
  const Eigen::Vector2d at(d[0], d[1]), b = Wt_.middleRows(i, 2) * a_ + bias_.segment(i, 2) + own * at;
  if (!(c > 0) || !(own.determinant() > 0)) return false;
  const double least = -kLittle * own.determinant() / own.trace();  // above minus the smaller eigenvalue
  double slip = 0;                                                  // λ
  Eigen::Vector2d x = own.inverse() * b;
  for (int step = 0; step < kMostSteps && std::abs(x.norm() - 1) > kSame; ++step) {
    const Eigen::Matrix2d inverse = (own + slip * Eigen::Matrix2d::Identity()).inverse();
    slip += x.squaredNorm() * (x.norm() - 1) / x.dot(inverse * x);
    if (!(slip > least)) return false;
    x = (own + slip * Eigen::Matrix2d::Identity()).inverse() * b;
  }
  x.normalize();
  set_direction(k, x[0], x[1]);
  return (x - at).norm() > kSame;
}

/// Other laws answer to a direction that turns: repeated until all stay.
bool ModeDynamics::turn_directions(const std::vector<Mode>& modes) {
  constexpr int kMostTurns = 20;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    bool turned = false;
    for (std::size_t k = 0; k < laws_.size(); ++k)
      if (heading_[k] == Heading::acceleration && modes[k] == Mode::slip && laws_[k].tangents == 2)
        turned |= turn_direction(k, modes[k]);
    if (!turned) return true;
    if (!solve_given(modes)) return false;
  }
  return true;
}

bool ModeDynamics::solve_given(const std::vector<Mode>& modes) {
  if (!following_.empty()) return follow_reactions(modes);
  right_side(modes);
  return finish(modes);
}

void ModeDynamics::slip_force(std::size_t k, Mode mode, double e[2]) const {
  const Law& law = laws_[k];
  slip_direction(k, mode, e);
  const double left = 1 - weakening(friction_.element(static_cast<Index>(k)).weakening, slip_speed(k, e));
  for (int c = 0; c < law.size; ++c) e[c] *= -left;
}

/// Of the acceleration and reactions at hand, in the order that limits name them.
void ModeDynamics::read_reactions(Vector& R) {
  const Index contacts = m_ - friction_components_;
  R.resize(following_.reactions());
  R.head(contacts) = r_.tail(contacts);
  if (R.size() == contacts) return;
  constraint_forces(lambda_);
  R.tail(R.size() - contacts) = lambda_;
}

/// R0 and R1 of the laws that slip; the factor is that of the modes.
void ModeDynamics::pose_loop(const std::vector<Mode>& modes) {
  const Index contacts = m_ - friction_components_, unknowns = static_cast<Index>(factor_.rows.size());
  read_reactions(loop_.R0);
  loop_.R1.resize(loop_.R0.size(), static_cast<Index>(loop_.laws.size()));
  for (std::size_t j = 0; j < loop_.laws.size(); ++j) {
    const std::size_t k = loop_.laws[j];
    double e[2];
    slip_force(k, modes[k], e);
    unit_.setZero(m_);
    for (int c = 0; c < laws_[k].size; ++c) unit_[laws_[k].first + c] = e[c];
    unit_a_.noalias() = PW_ * unit_;
    if (unknowns > 0) {
      for (Index i = 0; i < unknowns; ++i) right_[i] = -Wt_.row(factor_.rows[i]).dot(unit_a_);
      factor_.solve(right_, x_);
      unit_a_.noalias() += factor_.PWE * x_;
      unit_.noalias() += factor_.E * x_;
    }
    auto R = loop_.R1.col(static_cast<Index>(j));
    R.head(contacts) = unit_.tail(contacts);
    if (R.size() == contacts) continue;
    scratch_.noalias() = Wt_.transpose() * unit_;
    mass_.multipliers(scratch_, unit_a_, lambda_);
    R.tail(R.size() - contacts) = lambda_;
  }
}

bool ModeDynamics::follow_reactions(const std::vector<Mode>& modes) {
  loop_.laws.clear();
  for (const std::size_t k : following_.laws())
    if (modes[k] != Mode::stick) {
      loop_.laws.push_back(k);
      limit_[static_cast<Index>(k)] = 0;
    }
  right_side(modes);
  if (!finish(modes)) return false;
  if (!loop_.laws.empty()) {
    pose_loop(modes);
    if (!loop_.solve(following_, loop_c_)) return false;
    regularity_ *= loop_.regularity();
    for (std::size_t j = 0; j < loop_.laws.size(); ++j)
      limit_[static_cast<Index>(loop_.laws[j])] = loop_c_[static_cast<Index>(j)];
    load(modes);
    if (!finish(modes)) return false;
  }
  return settle_limits(modes);
}

/// Limits at the reactions at hand. Where those are a choice among many, which the limits take part in, both are
/// repeated until they agree.
bool ModeDynamics::settle_limits(const std::vector<Mode>& modes) {
  constexpr int kMostRounds = 100;
  constexpr double kSettled = 1e-13;  // of a limit
  for (int round = 0; round < kMostRounds; ++round) {
    read_reactions(R_);
    bool settled = true;
    for (const std::size_t law : following_.laws()) {
      const auto k = static_cast<Index>(law);
      // Of a law that slips the root itself, whose last digits R would take through all of its terms again. Where no
      // choice holds there is nothing to settle.
      const double c = modes[law] == Mode::stick || redundant_ ? following_.limit(law, R_) : limit_[k];
      const double c_s = std::max(c, following_.static_limit(law, R_));
      settled &= std::abs(c - limit_[k]) <= kSettled * c && std::abs(c_s - static_limit_[k]) <= kSettled * c_s;
      limit_[k] = c;
      static_limit_[k] = c_s;
    }
    if (!redundant_ || settled || !admissible_) return true;
    // A choice that comes out again is one, whatever the last digits of its reactions make of the limits.
    const Vector last = x_;
    load(modes);
    if (!finish(modes)) return false;
    if (last.size() == x_.size() && (x_ - last).lpNorm<Eigen::Infinity>() <= kSettled * x_.lpNorm<Eigen::Infinity>())
      return true;
  }
  return false;
}

bool ModeDynamics::central_reactions(const std::vector<Mode>& modes, Vector& x) {
  if (!following_.empty() && (!solve(modes) || !admissible_)) return false;
  right_side(modes);
  factor_.solve(right_, x);
  const Vector shortest = x;
  if (!choose_within(modes, 0, x)) return false;
  const Vector within = x;
  if (!following_.empty()) follow_choice(modes, within);  // tangents at a choice that holds are within the sets
  constexpr double kDeepest = 0.25, kShallowest = 1e-13;  // of the largest force
  for (double inset = kDeepest; inset > kShallowest; inset *= 0.1) {
    x = shortest;
    if (factor_.held.smallest_within(bounds_, std::vector<double>(bounds_.size(), inset), x)) return true;
  }
  x = within;
  return true;
}

void ModeDynamics::slacks_near(const std::vector<Mode>& modes, const Vector& x, Vector& slacks) {
  if (!following_.empty()) solve(modes);
  right_side(modes);
  factor_.solve(right_, x_);
  if (redundant_ && x.size() == x_.size()) factor_.held.nearest(x, x_);
  known_r_ = r_;
  known_a_ = a_;
  following_.empty() ? reaction_bounds(modes) : follow_choice(modes, x_);
  const Index count = static_cast<Index>(bounds_.size());
  slacks.setZero(count + 1);
  if (factor_.by_lu) return;
  slacks[count] = factor_.held.force_scale(bounds_, x_);
  for (Index j = 0; j < count; ++j) slacks[j] = factor_.held.relative_slack(bounds_[static_cast<std::size_t>(j)], x_);
}

void ModeDynamics::constraint_forces(Vector& lambda) {
  scratch_ = h_;
  known_ = r_ + smooth_;
  scratch_.noalias() += Wt_.transpose() * known_;
  mass_.multipliers(scratch_, a_, lambda);
}

}  // namespace stickslip
