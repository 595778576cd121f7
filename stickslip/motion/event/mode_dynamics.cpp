// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stickslip {

ModeDynamics::ModeDynamics(const System& system) : system_(system), workspace_(system), friction_(system) {
  n_ = system.info().nv();
  for (Index k = 0; k < friction_.laws(); ++k)
    laws_.push_back({nullptr, friction_.first(k), friction_.size(k), friction_.size(k)});
  friction_components_ = m_ = friction_.components();
  for (const ContactElement& contact : system.laws().contacts()) {
    laws_.push_back({&contact, m_, contact.size(), contact.tangents});
    m_ += contact.size();
  }
  const bool only_friction = system.laws().contacts().empty() && system.laws().constraints().empty();
  constant_geometry_ = system.inertia().constant() && (only_friction || system.has_series());
  for (Vector* x : {&u_, &w_, &bias_, &r_, &smooth_}) x->setZero(m_);
  w_friction_.setZero(friction_components_);
  for (Vector* x : {&gap_, &limit_, &static_limit_}) x->setZero(static_cast<Index>(laws_.size()));
  for (Vector* x : {&h_, &a_free_, &a_, &scratch_}) x->setZero(n_);
  Wt_.setZero(m_, n_);
  Wt_.topRows(friction_components_) = DenseMatrix(friction_.Wt());
  own_.assign(static_cast<std::size_t>(m_), -1);
  for (Index i = 0; i < friction_components_; ++i) {
    Index at = 0;
    if (Wt_.row(i).cwiseAbs().maxCoeff(&at) == 1 && Wt_(i, at) == 1 && Wt_.row(i).cwiseAbs().sum() == 1)
      own_[static_cast<std::size_t>(i)] = at;
  }
  PW_.setZero(n_, m_);
  D_.setZero(m_, m_);
  direction_.setZero(2, static_cast<Index>(laws_.size()));
  direction_kept_.assign(laws_.size(), 0);
  unloaded_.assign(laws_.size(), 0);
  idle_.assign(laws_.size(), 0);
  auto vanishes = [](const StateFunction& f) { return f.is_constant() && f({}) == 0; };
  for (Index k = 0; k < friction_.laws(); ++k) {
    const FrictionElement& element = friction_.element(k);
    idle_[static_cast<std::size_t>(k)] =
        vanishes(element.limit) && (!element.static_limit || vanishes(*element.static_limit));
  }
  for (std::size_t k = 0; k < laws_.size(); ++k)
    if (const ContactElement* contact = laws_[k].contact) {
      limit_[k] = contact->mu;
      static_limit_[k] = contact->mu_static.value_or(contact->mu);
    }
  constraint_bias_.setZero(static_cast<Index>(system.laws().constraints().size()));
}

std::string_view ModeDynamics::name(std::size_t law) const {
  if (laws_[law].contact) return laws_[law].contact->name;
  return friction_.element(static_cast<Index>(law)).name;
}

void ModeDynamics::set_direction(std::size_t law, double d1, double d2) {
  direction_(0, static_cast<Index>(law)) = d1;
  direction_(1, static_cast<Index>(law)) = d2;
}

/// Only the gaps change where the rows are constant.
void ModeDynamics::place_contacts(double t, const Vector& q, const Vector& v) {
  if (system_.laws().contacts().empty()) return;
  system_.laws().contact_source().find(t, q, HUGE_VAL, workspace_, found_);
  const std::size_t first_law = static_cast<std::size_t>(friction_.laws());
  for (const ContactSite& point : found_.points) gap_[static_cast<Index>(first_law) + point.law] = point.gap;
  if (constant_geometry_ && placed_) return;
  Wt_.bottomRows(m_ - friction_components_) = DenseMatrix(found_.Wt);
  w_.tail(m_ - friction_components_) = found_.w;
  system_.laws().contact_source().bias(t, q, v, HUGE_VAL, workspace_, contact_bias_);
  bias_.tail(m_ - friction_components_) = contact_bias_;
}

/// -dw/dt along the motion at constant v.
void ModeDynamics::friction_bias(double t, const Vector& q, const Vector& v) {
  friction_.evaluate_surface(t, q, v, workspace_, w_friction_);
  w_.head(friction_components_) = w_friction_;
  if (!friction_.surface_moves()) return;
  workspace_.variables.set(t, q, v);
  const auto variables = workspace_.variables.span();
  for (Index k = 0; k < friction_.laws(); ++k) {
    const auto& surface = friction_.element(k).surface_velocity;
    for (std::size_t c = 0; c < surface.size(); ++c) {
      double rate = 0;
      for (const Index slot : surface[c].variables_used()) {
        const double speed = slot == 0 ? 1.0 : slot <= n_ ? v[slot - 1] : 0.0;
        if (speed != 0) rate += speed * surface[c].derivative(variables, slot);
      }
      bias_[friction_.first(k) + static_cast<Index>(c)] = -rate;
    }
  }
}

void ModeDynamics::place_mass(const Vector& q) {
  constexpr double kBlocked = 1e-12;  // of the length of a row: round-off of N, with some digits for constraints that
                                      // are nearly dependent
  if (rows_.A.cols() != n_) rows_.A.resize(0, n_);
  mass_.refresh(system_.inertia().mass(q, workspace_), rows_.A);
  columns_ = Wt_.transpose();
  const DenseMatrix& N = mass_.free_directions();
  NW_.noalias() = N.transpose() * columns_;
  mass_.lengths(columns_, length_);
  mass_.apply(columns_, PW_);
  D_.noalias() = Wt_ * PW_;  // to the last bit what PW_ does to u: what sticks on a coordinate of its own does not creep
  for (Index i = 0; i < m_; ++i)
    if (NW_.col(i).norm() <= kBlocked * length_[i]) {
      NW_.col(i).setZero();
      PW_.col(i).setZero();
      D_.col(i).setZero();
      D_.row(i).setZero();
    }
}

double ModeDynamics::terms(Index i, const Vector& x) {
  return blocked(i) ? length_[i] * mass_.norm(x) : Wt_.row(i).cwiseAbs().dot(x.cwiseAbs());
}

void ModeDynamics::place(double t, const Vector& q, const Vector& v) {
  t_ = t;
  friction_.evaluate_limits(t, q, v, workspace_);
  for (Index k = 0; k < friction_.laws(); ++k) {
    limit_[k] = friction_.limit(k);
    static_limit_[k] = friction_.static_limit(k);
  }
  friction_bias(t, q, v);
  place_contacts(t, q, v);
  u_.noalias() = Wt_ * v - w_;
  if (!system_.laws().constraints().empty()) {
    if (!constant_geometry_ || !placed_) system_.laws().constraint_source().evaluate(t, q, workspace_, rows_);
    system_.laws().constraint_source().bias(t, q, v, workspace_, constraint_bias_);
  }
  if (!constant_geometry_ || !placed_) place_mass(q);
  placed_ = true;
  system_.force(t, q, v, workspace_, h_);
  mass_.acceleration(h_, constraint_bias_, a_free_);
}

void ModeDynamics::slip_direction(std::size_t k, Mode mode, double d[2]) const {
  const Law& law = laws_[k];
  d[0] = d[1] = 0;
  if (mode == Mode::slip_plus) d[0] = 1;
  if (mode == Mode::slip_minus) d[0] = -1;
  if (mode != Mode::slip || law.tangents != 2) return;
  const double u1 = u_[law.tangent()], u2 = u_[law.tangent() + 1],
               speed = direction_kept_[k] ? 0.0 : std::hypot(u1, u2);
  d[0] = speed > 0 ? u1 / speed : direction_(0, static_cast<Index>(k));
  d[1] = speed > 0 ? u2 / speed : direction_(1, static_cast<Index>(k));
}

void ModeDynamics::known_forces(const std::vector<Mode>& modes, Vector& r, Vector& smooth) const {
  r.setZero(m_);
  smooth.setZero(m_);
  for (std::size_t k = 0; k < static_cast<std::size_t>(friction_.laws()); ++k) {
    const Law& law = laws_[k];
    if (modes[k] == Mode::stick) continue;
    const FrictionElement& element = friction_.element(static_cast<Index>(k));
    double d[2];
    slip_direction(k, modes[k], d);
    double speed = 0;
    for (int c = 0; c < law.size; ++c) speed = std::hypot(speed, u_[law.first + c]);
    const double lessened = limit_[k] * weakening(element.weakening, speed);
    for (int c = 0; c < law.size; ++c) {
      r[law.first + c] = -limit_[k] * d[c];
      smooth[law.first + c] = lessened * d[c] - element.viscous * u_[law.first + c];
    }
  }
}

int ModeDynamics::other_side(std::size_t law, const std::vector<Mode>& modes) const {
  constexpr double kBackToBack = 1e-9;  // of the difference of their unit normals, in the metric of the mass
  if (!laws_[law].contact || modes[law] == Mode::open) return -1;
  const Index i = laws_[law].first;
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const Index j = laws_[k].first;
    if (k == law || !laws_[k].contact || modes[k] == Mode::open || !(D_(i, j) < 0)) continue;
    const double length_i = std::sqrt(D_(i, i)), length_j = std::sqrt(D_(j, j));
    if (D_(i, j) > -0.999 * length_i * length_j) continue;
    // D itself cannot tell: a heavy body on a light one has normals that differ by the root of the mass ratio.
    if ((NW_.col(i) / length_i + NW_.col(j) / length_j).norm() <= kBackToBack) return static_cast<int>(k);
  }
  return -1;
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
    if (modes[k] == Mode::stick) unknowns += laws_[k].size;
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
    if (mode == Mode::stick) {
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
  DenseMatrix matrix(unknowns, unknowns);
  for (Index i = 0; i < unknowns; ++i) matrix.row(i).noalias() = Wt_.row(factor.rows[i]) * factor.PWE;
  factor.lu.compute(matrix);
  // det over Π D_ii; its size is bounded by 1 for symmetric matrices
  double det = factor.lu.permutationP().determinant(), smallest = HUGE_VAL;
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
    if (modes[k] == Mode::stick && !law.contact) {
      append_friction_bounds(id, static_limit_[k], 0, -1, i, law.tangents, bounds_);
      i += law.size;
    } else if (law.contact) {
      bounds_.push_back(pushing(id, i));
      if (modes[k] == Mode::stick) append_friction_bounds(id, 0, static_limit_[k], i, i + 1, law.tangents, bounds_);
      i += modes[k] == Mode::stick ? law.size : 1;
    }
  }
}

/// Known forces and what they leave to the unknown reactions.
void ModeDynamics::right_side(const std::vector<Mode>& modes) {
  known_forces(modes, r_, smooth_);
  known_ = r_ + smooth_;
  a_ = a_free_;
  a_.noalias() += PW_ * known_;
  make_factor(modes, factor_);
  regularity_ = factor_.regularity;
  redundant_ = factor_.redundant;
  admissible_ = true;
  const Index unknowns = static_cast<Index>(factor_.rows.size());
  right_.resize(unknowns);
  for (Index i = 0; i < unknowns; ++i) {
    const Index row = factor_.rows[i];
    right_[i] = -(Wt_.row(row).dot(a_) + bias_[row]);
  }
}

bool ModeDynamics::solve(const std::vector<Mode>& modes) {
  right_side(modes);
  if (right_.size() > 0) {
    factor_.solve(right_, x_);
    if (redundant_) {
      reaction_bounds(modes);
      admissible_ = factor_.held.smallest_within(bounds_, {}, x_);
    }
    a_.noalias() += factor_.PWE * x_;
    r_.noalias() += factor_.E * x_;
  }
  for (std::size_t k = 0; k < laws_.size(); ++k)
    for (Index i = laws_[k].first; modes[k] == Mode::stick && i < laws_[k].first + laws_[k].size; ++i)
      if (const Index at = own_[static_cast<std::size_t>(i)]; at >= 0) a_[at] = -bias_[i];
  return a_.allFinite() && r_.allFinite();
}

bool ModeDynamics::central_reactions(const std::vector<Mode>& modes, Vector& x) {
  right_side(modes);
  reaction_bounds(modes);
  factor_.solve(right_, x);
  const Vector shortest = x;
  constexpr double kDeepest = 0.25;  // of the largest force
  for (double inset = kDeepest; inset > 1e-13; inset *= 0.1) {
    x = shortest;
    if (factor_.held.smallest_within(bounds_, std::vector<double>(bounds_.size(), inset), x)) return true;
  }
  x = shortest;
  return factor_.held.smallest_within(bounds_, {}, x);
}

void ModeDynamics::slacks_near(const std::vector<Mode>& modes, const Vector& x, Vector& slacks) {
  right_side(modes);
  reaction_bounds(modes);
  factor_.solve(right_, x_);
  if (redundant_ && x.size() == x_.size()) factor_.held.nearest(x, x_);
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

void ModeDynamics::decision_problem(const std::vector<Mode>& modes, const std::vector<char>& at_rest,
                                    const std::vector<LawRole>& roles, DecisionProblem& problem,
                                    std::vector<int>& chosen, std::vector<char>& sliding) {
  chosen.clear();
  problem.monotone = true;
  sliding.assign(laws_.size(), 0);
  problem.laws.clear();
  // Components of the problem, and what a unit of each does to the components of r.
  std::vector<Index> rows;
  std::vector<std::size_t> owner;
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const Law& law = laws_[k];
    const bool slides = law.contact && modes[k] != Mode::open && !at_rest[k];
    if (!at_rest[k] && !slides) continue;
    sliding[k] = slides;
    chosen.push_back(static_cast<int>(k));
    DecisionLaw decided;
    decided.role = roles[k];
    if (slides) {
      problem.monotone &= limit_[k] == 0;
      decided.set = half_line_set();
    } else {
      decided.set = law.contact ? law.contact->set(limit_[k]) : friction_.element(static_cast<Index>(k)).set(limit_[k]);
      decided.static_limit = static_limit_[k];
    }
    for (int c = 0; c < decided.set.size; ++c) {
      rows.push_back(law.first + c);
      owner.push_back(k);
    }
    problem.laws.push_back(decided);
  }
  const Index size = static_cast<Index>(rows.size());
  DenseMatrix E = DenseMatrix::Zero(m_, size);
  for (Index i = 0; i < size; ++i) {
    E(rows[i], i) = 1;
    const std::size_t k = owner[i];
    if (!sliding[k]) continue;
    double d[2];
    slip_direction(k, modes[k], d);
    for (int c = 0; c < laws_[k].tangents; ++c) E(laws_[k].tangent() + c, i) = -limit_[k] * d[c];
  }
  Vector r, smooth;
  known_forces(modes, r, smooth);
  for (std::size_t k = 0; k < laws_.size(); ++k)
    if (at_rest[k] && !laws_[k].contact) r.segment(laws_[k].first, laws_[k].size).setZero();
  const Vector a = a_free_ + PW_ * (r + smooth);
  problem.D.resize(size, size);
  problem.b.resize(size);
  problem.b_size.resize(size);
  constexpr double kNothing = 1e-12;  // of its terms
  const DenseMatrix DE = D_ * E;
  problem.columns.noalias() = NW_ * E;
  problem.rows.resize(NW_.rows(), size);
  for (Index i = 0; i < size; ++i) {
    problem.D.row(i) = DE.row(rows[i]);
    problem.rows.col(i) = NW_.col(rows[i]);
    problem.b[i] = Wt_.row(rows[i]).dot(a) + bias_[rows[i]];
    problem.b_size[i] = terms(rows[i], a) + std::abs(bias_[rows[i]]);
    // No reaction could answer what round-off makes of a velocity that the constraints keep.
    if (blocked(rows[i]) && std::abs(problem.b[i]) <= kNothing * problem.b_size[i]) problem.b[i] = 0;
  }
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    const int other = other_side(static_cast<std::size_t>(chosen[j]), modes);
    const auto at = std::find(chosen.begin(), chosen.end(), other);
    if (other >= 0 && at != chosen.end()) problem.laws[j].other_side = static_cast<int>(at - chosen.begin());
  }
}

void ModeDynamics::project_velocity(const std::vector<Mode>& modes, Vector& v) {
  if (rows_.A.rows() > 0) {
    residual_ = rows_.A * v - rows_.rate;
    mass_.correction(residual_, scratch_);
    v -= scratch_;
  }
  std::vector<Index> rows;
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    if (modes[k] == Mode::stick)
      for (int c = 0; c < laws_[k].size; ++c) rows.push_back(laws_[k].first + c);
    else if (laws_[k].contact && modes[k] != Mode::open)
      rows.push_back(laws_[k].first);
  }
  if (rows.empty()) return;
  std::erase_if(rows, [&](Index i) { return blocked(i); });
  const Index size = static_cast<Index>(rows.size());
  if (size == 0) return;
  DenseMatrix D(size, size);
  Vector u(size), inverse(size);
  for (Index i = 0; i < size; ++i) {
    inverse[i] = 1 / std::sqrt(D_(rows[i], rows[i]));
    u[i] = inverse[i] * (Wt_.row(rows[i]).dot(v) - w_[rows[i]]);
  }
  if (u.isZero(0)) return;
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) D(i, j) = inverse[i] * D_(rows[i], rows[j]) * inverse[j];
  const Vector p = D.completeOrthogonalDecomposition().solve(u).cwiseProduct(inverse);
  for (Index i = 0; i < size; ++i) v.noalias() -= p[i] * PW_.col(rows[i]);
  for (const Index i : rows)
    if (const Index at = own_[static_cast<std::size_t>(i)]; at >= 0) v[at] = w_[i];
}

namespace {

/// |value| over the terms of row · q: unit-free, and as small as round-off lets it be where a projection ends.
double relative_error(double value, const Eigen::Ref<const Eigen::RowVectorXd>& row, const Vector& q) {
  const double terms = q.size() == row.size() ? row.cwiseAbs().dot(q.cwiseAbs()) : 0.0;
  return terms > 0 ? std::abs(value) / terms : std::abs(value);
}

/// Newton's steps go on while they at least halve the error: the last ones are limited by round-off alone.
class Halving {
 public:
  bool goes_on(double error) {
    const bool halved = error > 0 && error < 0.5 * last_ && ++rounds_ <= kMost;
    last_ = error;
    return halved;
  }

 private:
  static constexpr int kMost = 8;
  double last_ = HUGE_VAL;
  int rounds_ = 0;
};

}  // namespace

void ModeDynamics::project_position(const std::vector<Mode>& modes, Vector& q) {
  Vector best;
  double least = HUGE_VAL;
  for (Halving halving; rows_.A.rows() > 0;) {
    system_.laws().constraint_source().evaluate(t_, q, workspace_, rows_);
    double error = 0;
    for (Index i = 0; i < rows_.A.rows(); ++i)
      error = std::max(error, relative_error(rows_.position[i], rows_.A.row(i), q));
    if (error < least) {
      least = error;
      best = q;
    }
    if (!halving.goes_on(error)) break;
    mass_.correction(rows_.position, scratch_);
    scratch_ = -scratch_;
    system_.kinematics().displace(scratch_, q);
  }
  if (rows_.A.rows() > 0 && least < HUGE_VAL) q = best;
  std::vector<std::size_t> closed;
  for (std::size_t k = 0; k < laws_.size(); ++k)
    if (laws_[k].contact && modes[k] != Mode::open) closed.push_back(k);
  if (closed.empty()) return;
  const Index size = static_cast<Index>(closed.size());
  DenseMatrix D(size, size);
  Vector gap(size);
  for (Halving halving;;) {
    double error = 0;
    for (Index i = 0; i < size; ++i) {
      gap[i] = gap_[static_cast<Index>(closed[i])];
      error = std::max(error, relative_error(gap[i], Wt_.row(laws_[closed[i]].first), q));
      for (Index j = 0; j < size; ++j) D(i, j) = D_(laws_[closed[i]].first, laws_[closed[j]].first);
    }
    if (!halving.goes_on(error)) return;
    const Vector p = D.completeOrthogonalDecomposition().solve(gap);
    Vector step = Vector::Zero(n_);
    for (Index i = 0; i < size; ++i) step.noalias() -= p[i] * PW_.col(laws_[closed[i]].first);
    system_.kinematics().displace(step, q);
    system_.laws().contact_source().find(t_, q, HUGE_VAL, workspace_, found_);
    for (const ContactSite& point : found_.points) gap_[friction_.laws() + point.law] = point.gap;
  }
}

}  // namespace stickslip
