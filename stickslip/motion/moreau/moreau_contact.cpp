// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/moreau_contact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/one_law.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

namespace {

constexpr double kTouching = 1e-9;              // of the length scale: closer counts as touching
constexpr double kRoundOff = 1e-15;             // relative residual that cannot be bettered by much
constexpr std::size_t kFewPoints = 64;          // that many points are solved to round-off
constexpr int kPolishing = 100;                 // iterations for that
constexpr double kNoise = 1e-12;                // relative to the fastest velocity
constexpr double kAcceptable = 10;              // times the solver's tolerance: the audit's limit
constexpr double kPenetrationTolerance = 1e-6;  // of the length scale: deeper is corrected

}  // namespace

MoreauContactScheme::MoreauContactScheme(const System& system, const MoreauOptions& options,
                                         std::vector<double> breakpoints)
    : system_(system),
      contacts_(system.contacts()),
      linear_(system.linear()),
      options_(options),
      laws_(system),
      forces_(system, std::move(breakpoints)),
      workspace_(system.info()) {
  options_.validate();
  if (!contacts_.empty()) options_.solver.tolerance = options_.contact_tolerance;
  const Index n = system.info().nv(), m = laws_.components();
  drift_kick_ = system.step_form() == StepForm::drift_kick;
  nonlinear_ = !drift_kick_ && (!linear_ || system.applied_force_depends_on_state());
  iterates_ = nonlinear_ || laws_.has_weakening() || laws_.has_viscous() || laws_.limits_depend_on_state();
  if (options_.contact_rule == ContactRule::stabilised) touching_ = kTouching * system.length_scale();
  penetration_tolerance_ = kPenetrationTolerance * system.length_scale();
  if (linear_) {
    damping_ = linear_->B;
    damped_ = !damping_.is_zero();
    elastic_ = !linear_->K.is_zero();
    force_is_constant_ = !nonlinear_ && !system.applied_force_depends_on_time();
  }
  none_pinned_.assign(n, 0);
  for (Vector* x : {&v0_, &v_m_, &Mv_, &f_, &v_free_, &v_theta_, &scratch_, &balance_, &inverse_diagonal_})
    *x = Vector::Zero(n);
  problem_.g = Vector::Zero(n);
  w0_friction_ = w1_friction_ = smooth_ = u_theta_ = Vector::Zero(m);
  Index component = m;
  for (const ContactElement& contact : system.contacts()) {
    contact_first_.push_back(component);
    component += contact.size();
  }
  friction_rest_.assign(laws_.laws(), 0);
  friction_released_.assign(laws_.laws(), 0);
  law_impact_.assign(system.contacts().size(), 0);
  law_mode_.assign(system.contacts().size(), Mode::open);
}

void MoreauContactScheme::start(StepRecord& record) {
  State& s = record.state;
  const std::vector<Mode> given = s.modes;
  s.modes.resize(std::min<std::size_t>(given.size(), laws_.laws()));
  start_record(system_, laws_, workspace_, record);
  s.modes.resize(laws_.laws() + contacts_.size(), Mode::open);
  if (given.size() == s.modes.size())
    std::copy(given.begin() + laws_.laws(), given.end(), s.modes.begin() + laws_.laws());
  Index m = laws_.components();
  for (const ContactElement& contact : contacts_) m += contact.size();
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse}) *x = Vector::Zero(m);
  record.law_work = Vector::Zero(static_cast<Index>(s.modes.size()));

  // The mass must be known before the first step, and where it is not constant, so must its structure.
  mass_ = system_.mass(s.q, workspace_);
  std::vector<const SystemMatrix*> terms{&mass_};
  if (linear_) terms.insert(terms.end(), {&damping_, &linear_->K});
  if (nonlinear_) {
    if (linear_) {
      system_.applied_force_jacobian(s.t, s.q, s.v, workspace_, by_q_, by_v_);
    } else {
      system_.force_jacobian(s.t, s.q, s.v, workspace_, by_q_, by_v_);
    }
    terms.insert(terms.end(), {&by_q_, &by_v_});
  }
  step_matrix_ = MatrixSum(terms);
  problem_.A = &step_matrix_.value();
  matrix_h_ = -1;

  system_.find_contacts(s.t, s.q, touching_, workspace_, found_);
  Index row = 0;
  for (const ContactSite& point : found_.points) {
    const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
    if (point.gap < -options_.start_penetration)
      throw InputError(
          fmt::format("contact '{}' penetrates by {:.3g} m at the start; move the bodies apart, or raise "
                      "run.moreau.start_penetration above that to have it corrected",
                      law.name, -point.gap));
    Mode& mode = s.modes[static_cast<std::size_t>(laws_.laws()) + static_cast<std::size_t>(point.law)];
    if (given.empty() && point.gap <= touching_ && mode == Mode::open) mode = touching_mode(law, row, s.v);
    row += law.size();
  }
}

/// Of a point that touches at the start, from its velocity.
Mode MoreauContactScheme::touching_mode(const ContactElement& law, Index row, const Vector& v) const {
  auto velocity = [&](int c) { return row_times(found_.Wt, row + c, v) - found_.w[row + c]; };
  if (velocity(0) != 0) return Mode::open;
  if (law.tangents == 0) return Mode::closed;
  return law.tangents == 1 ? mode_of(velocity(1)) : mode_of(velocity(1), velocity(2));
}

StepOutcome MoreauContactScheme::step(double t_end, StepRecord& record) {
  clear_step(record);
  record.penetration = record.contact_gain = 0;
  record.loaded_points = record.iterations = 0;
  problems_ = iterations_ = 0;
  correction_work_ = 0;
  State& s = record.state;
  double h = t_end - s.t;
  // Grid times carry rounding; a step that differs from the last one by no more is the same step and keeps its factors.
  if (std::abs(h - matrix_h_) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(t_end)) h = matrix_h_;
  t0_ = s.t;
  q0_ = q_m_ = s.q;
  v0_ = v_m_ = s.v;
  if (linear_ && !momentum_is_known_) linear_->M.product(v0_, Mv_);
  system_.drift(0.5 * h, q_m_, v_m_);

  if (laws_.surface_moves()) {
    laws_.evaluate_surface(t0_, q0_, v0_, workspace_, w0_friction_);
    laws_.evaluate_surface(forces_.left_limit(t0_ + h, h), q0_, v0_, workspace_, w1_friction_);
  }
  set_step_matrix(h);
  right_hand_side(h, v0_);
  free_velocity();
  const bool stabilised = options_.contact_rule == ContactRule::stabilised;
  const double margin =
      stabilised ? touching_ + 2 * h * std::max(system_.speed_bound(v_m_), system_.speed_bound(v_free_)) : 0.0;
  impact_speed_ = -1;
  system_.find_contacts(t0_ + 0.5 * h, q_m_, margin, workspace_, found_);
  for (const ContactSite& point : found_.points) raise(record.penetration, -point.gap);
  StepOutcome outcome;
  if (stabilised && record.penetration > penetration_tolerance_ && some_point_stays_inside()) {
    outcome = remove_penetration();
    if (outcome.status != Status::success) return outcome;
    system_.find_contacts(t0_ + 0.5 * h, q_m_, margin, workspace_, found_);  // where impulses act has moved
    right_hand_side(h, v0_);
    free_velocity();
  }
  outcome = solve_step(h);
  record.problems = problems_;
  record.iterations = iterations_;
  if (outcome.status == Status::success) commit(h, t_end, record);
  return outcome;
}

MoreauContactScheme::Approach MoreauContactScheme::approach(Index row) {
  const double before = row_times(found_.Wt, row, v_m_) - found_.w[row];
  const double free = row_times(found_.Wt, row, v_free_) - found_.w[row];
  return {before, free, -before > std::abs(free - before) && -before > impact_speed()};
}

/// Slower approaches cannot be told from what the forces of one step do, or from rounding.
double MoreauContactScheme::impact_speed() {
  if (impact_speed_ < 0)
    impact_speed_ = std::max((v_free_ - v_m_).lpNorm<Eigen::Infinity>(), kNoise * v_m_.lpNorm<Eigen::Infinity>());
  return impact_speed_;
}

/// A point that is thrown back by restitution, or on its way out already, needs no help; lifting it as well would feed
/// a bouncing body for ever.
bool MoreauContactScheme::leaves_by_itself(const ContactSite& point, Index row) {
  const auto [before, free, impact] = approach(row);
  if (impact) return contacts_[static_cast<std::size_t>(point.law)].restitution > 0;
  return before > std::abs(free - before);
}

bool MoreauContactScheme::some_point_stays_inside() {
  Index row = 0;
  for (const ContactSite& point : found_.points) {
    if (point.gap < -penetration_tolerance_ && !leaves_by_itself(point, row)) return true;
    row += contacts_[static_cast<std::size_t>(point.law)].size();
  }
  return false;
}

/// Positions leave the penetration along the shortest way in the metric of the mass.
StepOutcome MoreauContactScheme::remove_penetration() {
  const Index n = system_.info().nv();
  const double potential = system_.potential_energy(q_m_);
  correction_.A = &mass_;
  correction_.A_version = ++version_;
  correction_.g = Vector::Zero(n);
  correction_rows_.clear();
  Index row = 0;
  for (const ContactSite& point : found_.points) {
    if (!leaves_by_itself(point, row)) correction_rows_.emplace_back(row, point.gap);
    row += contacts_[static_cast<std::size_t>(point.law)].size();
  }
  const auto count = static_cast<Index>(correction_rows_.size());
  correction_.w.resize(count);
  correction_.sets.assign(correction_rows_.size(), half_line_set());
  correction_.Wt.resize(count, n);
  correction_.Wt.reserve(found_.Wt.nonZeros());
  for (Index k = 0; k < count; ++k) {
    const auto& [from, gap] = correction_rows_[static_cast<std::size_t>(k)];
    correction_.Wt.startVec(k);
    for (SparseMatrix::InnerIterator entry(found_.Wt, from); entry; ++entry)
      correction_.Wt.insertBack(k, entry.col()) = entry.value();
    correction_.w[k] = -gap;
  }
  correction_.Wt.finalize();
  SolveOptions options;
  constexpr Index kMany = 200;
  if (count > kMany) {  // a pile needs a push in the right direction, not the exact projection
    options.solver = SolverKind::gauss_seidel;
    options.tolerance = 1e-3;
    options.max_iterations = 100;
  }
  corrected_.r.resize(0);
  solve(correction_, options, correction_solver_, corrected_);
  if (corrected_.status != Status::success && count <= kMany)
    return {corrected_.status,
            fmt::format("moreau: penetration at t = {:.9g} s cannot be removed ({}); reduce run.step, "
                        "or use run.moreau.contact_rule = \"velocity\"",
                        t0_, corrected_.message)};
  const double kinetic = system_.kinetic_energy(q_m_, v_m_);
  system_.displace(corrected_.v, q_m_, v_m_);
  if (!drift_kick_) q0_ += corrected_.v;
  correction_work_ = system_.potential_energy(q_m_) - potential + system_.kinetic_energy(q_m_, v_m_) - kinetic;
  return {};
}

void MoreauContactScheme::set_step_matrix(double h) {
  if (h == matrix_h_ && !nonlinear_) return;
  const double theta = options_.theta;
  std::array<double, 5> alpha{1};
  std::size_t terms = 1;
  if (linear_) {
    alpha[terms++] = h * theta;
    alpha[terms++] = h * h * theta * theta;
  }
  if (nonlinear_) {
    if (!linear_) mass_ = system_.mass(q_m_, workspace_);
    if (linear_) {
      system_.applied_force_jacobian(t0_ + 0.5 * h, q_m_, v0_, workspace_, by_q_, by_v_);
    } else {
      system_.force_jacobian(t0_ + 0.5 * h, q_m_, v0_, workspace_, by_q_, by_v_);
    }
    alpha[terms++] = -h * h * theta * theta;
    alpha[terms++] = -h * theta;
  }
  step_matrix_.evaluate({alpha.data(), terms});
  matrix_h_ = h;
  problem_.A_version = ++version_;
  ++factor_version_;
  if (!factor_.factorize(step_matrix_.value(), none_pinned_))
    throw InputError(
        fmt::format("moreau: the matrix of the step at t = {:.9g} s is not positive definite (a force with a "
                    "negative slope too strong for the step); reduce run.step",
                    t0_));
  const SystemMatrix& A = step_matrix_.value();
  for (Index i = 0; i < A.size(); ++i) inverse_diagonal_[i] = 1.0 / A(i, i);
}

/// Everything but the reactions, with forces at the iterate v1 = v.
void MoreauContactScheme::right_hand_side(double h, const Vector& v) {
  const double theta = options_.theta;
  Vector& g = problem_.g;
  if (drift_kick_) {
    mass_.product(v_m_, g);
    system_.force(forces_.left_limit(t0_ + 0.5 * h, h), q_m_, v_m_, workspace_, f_);
    g += h * f_;
  } else if (nonlinear_) {
    // One step of Newton for M (v1 - v0) = h F + W p; whatever A is, its fixed point solves the step.
    v_theta_ = theta * v + (1 - theta) * v0_;
    q_theta_ = q0_ + (theta * h) * v_theta_;
    step_matrix_.value().product(v, g);
    scratch_ = v - v0_;
    (linear_ ? linear_->M : system_.mass(q_theta_, workspace_)).add_product(-1.0, scratch_, g);
    const double t = t0_ + (options_.force == ForceSampling::end ? 1.0 : theta) * h;
    system_.force(forces_.left_limit(t, h), q_theta_, v_theta_, workspace_, f_);
    g += h * f_;
  } else {
    g = Mv_;
    if (damped_) damping_.add_product(-h * (1 - theta), v0_, g);
    if (elastic_) {
      scratch_ = q0_ + (h * theta * (1 - theta)) * v0_;
      linear_->K.add_product(-h, scratch_, g);
    }
    if (!force_is_known_) forces_.sample(options_.force, t0_, t0_ + h, q0_, v0_, workspace_, f_);
    force_is_known_ = force_is_constant_;
    g += h * f_;
  }
  if (!laws_.has_weakening() && !laws_.has_viscous()) return;
  laws_.relative_velocity(v_m_, w0_friction_, smooth_);
  laws_.relative_velocity(v, w1_friction_, u_theta_);
  u_theta_ = theta * u_theta_ + (1 - theta) * smooth_;
  laws_.weakening_force(u_theta_, h, smooth_);
  for (Index k = 0; k < laws_.laws(); ++k)
    smooth_.segment(laws_.first(k), laws_.size(k)) -=
        h * laws_.viscous(k) * u_theta_.segment(laws_.first(k), laws_.size(k));
  laws_.add_reactions(1.0, smooth_, g);
}

void MoreauContactScheme::free_velocity() {
  v_free_ = problem_.g;
  factor_.solve(v_free_);
}

void MoreauContactScheme::select_points(double h) {
  active_.clear();
  taken_.assign(found_.points.size(), 0);
  const bool stabilised = options_.contact_rule == ContactRule::stabilised;
  Index row = 0, first = laws_.components();
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const ContactSite& point = found_.points[k];
    const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
    const auto [before, free, impact] = approach(row);
    Active active{point.law, static_cast<int>(k), row, first, 0, impact, false};
    bool takes_part;
    if (!stabilised) {
      takes_part = point.gap <= 0;
      active.bias = law.restitution * before;
    } else if (point.gap <= touching_) {
      takes_part = true;
      active.bias = law.restitution * std::min(before, 0.0);
    } else {
      takes_part = h * free < -point.gap && !(impact && law.restitution > 0);
      active.bias = point.gap / h;
      active.impact &= takes_part;
    }
    if (takes_part) {
      active_.push_back(active);
      taken_[k] = 1;
      first += law.size();
    }
    row += law.size();
  }
}

/// Points left out because they were free to stay away, but which the solution closes.
bool MoreauContactScheme::add_overlooked_points(double h) {
  if (options_.contact_rule != ContactRule::stabilised) return false;
  bool added = false;
  Index row = 0;
  for (std::size_t k = 0; k < found_.points.size(); ++k) {
    const ContactSite& point = found_.points[k];
    const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
    if (!taken_[k]) {
      const double after = row_times(found_.Wt, row, solution_.v) - found_.w[row];
      const double before = row_times(found_.Wt, row, v_m_) - found_.w[row];
      const double tolerance = 1e-3 * touching_;
      if (h * after < -point.gap - tolerance && !(law.restitution > 0 && before < 0)) {
        Active active{point.law, static_cast<int>(k), row, 0, point.gap / h, false, false};
        active_.push_back(active);
        taken_[k] = 1;
        added = true;
      }
    }
    row += law.size();
  }
  if (!added) return false;
  std::sort(active_.begin(), active_.end(), [](const Active& a, const Active& b) { return a.found < b.found; });
  Index first = laws_.components();
  for (Active& active : active_) {
    active.first = first;
    first += contacts_[static_cast<std::size_t>(active.law)].size();
  }
  return true;
}

double MoreauContactScheme::friction_coefficient(const Active& point) const {
  const ContactElement& law = contacts_[static_cast<std::size_t>(point.law)];
  return point.holds && law.mu_static ? *law.mu_static : law.mu;
}

/// The rows of the last step again, to the last bit: W need not be built, nor anything that follows from it.
bool MoreauContactScheme::rows_are_the_same() const {
  if (active_.size() != filled_.size()) return false;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const Active &now = active_[k], &before = filled_[k];
    if (now.law != before.law || now.row != before.row) return false;
  }
  const SparseMatrix &a = found_.Wt, &b = filled_Wt_;
  return a.rows() == b.rows() && a.nonZeros() == b.nonZeros() &&
         std::equal(a.innerIndexPtr(), a.innerIndexPtr() + a.nonZeros(), b.innerIndexPtr()) &&
         std::equal(a.valuePtr(), a.valuePtr() + a.nonZeros(), b.valuePtr());
}

void MoreauContactScheme::fill_laws() {
  if (factor_version_of_rows_ == factor_version_ && rows_are_the_same()) {
    fill_velocities();
    return;
  }
  factor_version_of_rows_ = factor_version_;
  const Index n = system_.info().nv(), friction = laws_.components();
  Index m = friction, entries = laws_.Wt().nonZeros();
  for (const Active& active : active_) m += contacts_[static_cast<std::size_t>(active.law)].size();
  SparseMatrix& Wt = problem_.Wt;
  if (Wt.rows() != m || Wt.cols() != n) Wt.resize(m, n);
  Wt.setZero();
  Wt.reserve(entries + found_.Wt.nonZeros());
  problem_.w.resize(m);
  problem_.sets.clear();
  auto copy_row = [&](const SparseMatrix& from, Index row, Index to) {
    Wt.startVec(to);
    for (SparseMatrix::InnerIterator entry(from, row); entry; ++entry) Wt.insertBack(to, entry.col()) = entry.value();
  };
  for (Index i = 0; i < friction; ++i) copy_row(laws_.Wt(), i, i);
  for (Index k = 0; k < laws_.laws(); ++k) problem_.sets.push_back(laws_.element(k).set(0.0));
  for (const Active& active : active_) {
    const ContactElement& law = contacts_[static_cast<std::size_t>(active.law)];
    for (int c = 0; c < law.size(); ++c) copy_row(found_.Wt, active.row + c, active.first + c);
    problem_.sets.push_back(law.set(friction_coefficient(active)));
  }
  Wt.finalize();
  problem_.A_version = ++version_;
  ++problem_.sets_version;
  u0_.resize(m);
  fill_velocities();
  filled_ = active_;
  filled_Wt_ = found_.Wt;
  if (laws_.laws() > 0 || active_.size() != 1) return;
  const int size = problem_.sets[0].size;
  for (int c = 0; c < size; ++c) {
    Vector& column = single_column_[static_cast<std::size_t>(c)];
    column.setZero(n);
    for (SparseMatrix::InnerIterator entry(Wt, c); entry; ++entry) column[entry.col()] = entry.value();
    factor_.solve(column);
    for (int d = 0; d < size; ++d) single_D_[static_cast<std::size_t>(d * size + c)] = row_times(Wt, d, column);
  }
}

/// What changes from step to step while the rows stay: velocities of the surfaces, and those before the step.
void MoreauContactScheme::fill_velocities() {
  const Index friction = laws_.components();
  problem_.w.head(friction) = w1_friction_;
  for (Index i = 0; i < friction; ++i) u0_[i] = row_times(problem_.Wt, i, v_m_) - w0_friction_[i];
  for (const Active& active : active_) {
    for (int c = 0; c < contacts_[static_cast<std::size_t>(active.law)].size(); ++c) {
      const double surface = found_.w[active.row + c];
      problem_.w[active.first + c] = surface;
      u0_[active.first + c] = row_times(problem_.Wt, active.first + c, v_m_) - surface;
    }
    problem_.w[active.first] -= active.bias;
  }
}

void MoreauContactScheme::warm_start() {
  const bool same_points =
      last_keys_.size() == active_.size() &&
      std::equal(active_.begin(), active_.end(), last_keys_.begin(), [&](const Active& active, std::uint64_t key) {
        return found_.points[static_cast<std::size_t>(active.found)].key == key;
      });
  Vector& r = solution_.r;
  const Index m = problem_.Wt.rows();
  if (!same_points && last_sorted_.empty()) {
    for (std::size_t k = 0; k < last_keys_.size(); ++k) last_sorted_.emplace_back(last_keys_[k], static_cast<int>(k));
    std::sort(last_sorted_.begin(), last_sorted_.end());
  }
  r.resize(m);
  r.setZero();
  const Index friction = laws_.components();
  if (last_impulse_.size() >= friction) r.head(friction) = last_impulse_.head(friction);
  for (std::size_t k = 0; k < active_.size(); ++k) {
    Active& active = active_[k];
    int last = -1;
    if (same_points) {
      last = static_cast<int>(k);
    } else {
      const std::uint64_t key = found_.points[static_cast<std::size_t>(active.found)].key;
      const auto at =
          std::lower_bound(last_sorted_.begin(), last_sorted_.end(), std::pair<std::uint64_t, int>(key, -1));
      if (at != last_sorted_.end() && at->first == key) last = at->second;
    }
    if (last < 0) continue;
    active.holds = last_stuck_[static_cast<std::size_t>(last)];
    const int size = contacts_[static_cast<std::size_t>(active.law)].size();
    for (int c = 0; c < size; ++c) r[active.first + c] = last_impulse_[last_first_[static_cast<std::size_t>(last)] + c];
  }
}

StepOutcome MoreauContactScheme::solve_step(double h) {
  select_points(h);
  while (true) {
    fill_laws();
    warm_start();
    const StepOutcome outcome = iterates_ ? iterate(h) : solve_laws(h);
    if (outcome.status != Status::success || !add_overlooked_points(h)) return outcome;
  }
}

StepOutcome MoreauContactScheme::iterate(double h) {
  iterate_ = v0_;
  double change = HUGE_VAL, size = 0;
  for (int iteration = 0; iteration < options_.max_fixed_point; ++iteration) {
    right_hand_side(h, iterate_);
    if (laws_.limits_depend_on_state()) {
      v_theta_ = 0.5 * (iterate_ + v0_);
      q_theta_ = q0_ + (0.5 * h) * v_theta_;
      laws_.evaluate_limits(t0_ + 0.5 * h, q_theta_, v_theta_, workspace_);
    }
    if (StepOutcome outcome = solve_laws(h); outcome.status != Status::success) return outcome;
    const double previous_change = change;
    change = (solution_.v - iterate_).lpNorm<Eigen::Infinity>();
    size = std::max({size, solution_.v.lpNorm<Eigen::Infinity>(), v0_.lpNorm<Eigen::Infinity>()});
    iterate_ = solution_.v;
    if (change <= options_.fixed_point_tolerance * size ||
        (change <= 100 * options_.fixed_point_tolerance * size && change >= previous_change))
      return {};
  }
  return {Status::not_converged, fmt::format("moreau: the step from t = {:.9g} s did not converge in {} iterations "
                                             "(velocity still changes by {:.2g}); reduce run.step",
                                             t0_, options_.max_fixed_point, change)};
}

StepOutcome MoreauContactScheme::solve_laws(double h) {
  const auto friction = static_cast<std::size_t>(laws_.laws());
  if (problem_.sets.empty()) {
    solution_.v = problem_.g;
    factor_.solve(solution_.v);
    solution_.r.resize(0);
    solution_.u.resize(0);
    return {};
  }
  if (laws_.laws() > 0 && !laws_.limits_depend_on_state())
    laws_.evaluate_limits(forces_.left_limit(t0_ + 0.5 * h, h), q0_, v0_, workspace_);
  std::fill(friction_released_.begin(), friction_released_.end(), 0);
  while (true) {
    for (Index k = 0; k < laws_.laws(); ++k) {
      const bool holds = friction_rest_[k] && !friction_released_[k];
      problem_.sets[static_cast<std::size_t>(k)].limit = h * (holds ? laws_.static_limit(k) : laws_.limit(k));
    }
    for (std::size_t k = 0; k < active_.size(); ++k)
      problem_.sets[friction + k].limit = friction_coefficient(active_[k]);
    ++problem_.sets_version;
    if (StepOutcome outcome = solve_inclusion(); outcome.status != Status::success) return outcome;
    bool gave_way = false;
    for (Index k = 0; k < laws_.laws(); ++k)
      if (friction_rest_[k] && !friction_released_[k] && laws_.static_limit(k) > laws_.limit(k) &&
          laws_.mode(k, solution_.u) != Mode::stick) {
        friction_released_[k] = 1;
        gave_way = true;
      }
    for (Active& active : active_)
      if (active.holds && contacts_[static_cast<std::size_t>(active.law)].mu_static &&
          point_mode(active) != Mode::stick) {
        active.holds = false;
        gave_way = true;
      }
    if (!gave_way) break;
  }
  if (!solution_.v.allFinite())
    return {
        Status::not_finite,
        fmt::format("moreau: the velocity is not finite after t = {:.9g} s; check forces, or reduce run.step", t0_)};
  return {};
}

/// One point alone has an exact solution in closed form.
StepOutcome MoreauContactScheme::solve_single_point() {
  const Set& set = problem_.sets[0];
  if (iterates_) free_velocity();
  std::array<double, 3> q{}, r{};
  for (int c = 0; c < set.size; ++c) {
    q[static_cast<std::size_t>(c)] = row_times(problem_.Wt, c, v_free_) - problem_.w[c];
    r[static_cast<std::size_t>(c)] = solution_.r[c];
  }
  if (!solve_one_law(set, single_D_.data(), q.data(), r.data()))
    return {
        Status::no_solution,
        fmt::format("moreau: contact '{}' at t = {:.9g} s has no admissible reaction: it would have to push for ever",
                    contacts_[static_cast<std::size_t>(active_[0].law)].name, t0_)};
  solution_.v = v_free_;
  solution_.u.resize(set.size);
  for (int c = 0; c < set.size; ++c) {
    const auto i = static_cast<std::size_t>(c);
    solution_.r[c] = r[i];
    solution_.v += r[i] * single_column_[i];
    double u = q[i];
    for (int d = 0; d < set.size; ++d)
      u += single_D_[static_cast<std::size_t>(c * set.size + d)] * r[static_cast<std::size_t>(d)];
    solution_.u[c] = u;
  }
  ++iterations_;
  solution_.status = Status::success;
  return {};
}

/// To the tolerance asked for, then, for few points, to round-off: at the edge of sticking the velocity is only as
/// exact as the square root of the residual, or worse.
StepOutcome MoreauContactScheme::solve_inclusion() {
  ++problems_;
  if (laws_.laws() == 0 && active_.size() == 1) return solve_single_point();
  solve(problem_, options_.solver, solver_, solution_);
  iterations_ += solution_.iterations;
  double residual = law_residual();
  // The goal may lie below what rounding allows; what the audit accepts is good enough to go on with.
  const bool stalled_close =
      solution_.status == Status::not_converged && residual <= kAcceptable * options_.solver.tolerance;
  if (solution_.status != Status::success && !stalled_close)
    return {solution_.status, fmt::format("moreau: contact and friction at t = {:.9g} s: {}", t0_, solution_.message)};
  if (residual > kRoundOff && active_.size() <= kFewPoints) {
    polished_ = solution_;
    SolveOptions options = options_.solver;
    options.tolerance = kRoundOff;
    options.max_iterations = kPolishing;
    solve(problem_, options, solver_, polished_);
    iterations_ += polished_.iterations;
    std::swap(solution_, polished_);
    if (!(law_residual() < residual)) std::swap(solution_, polished_);
  }
  return {};
}

void MoreauContactScheme::commit(double h, double t_end, StepRecord& record) {
  const double theta = options_.theta;
  State& s = record.state;
  const Vector& v1 = solution_.v;
  v_theta_ = theta * v1 + (1 - theta) * v_m_;
  s.v = v1;
  if (drift_kick_) {
    s.q = q_m_;
    system_.drift(0.5 * h, s.q, s.v);
  } else {
    s.q = q0_ + h * v_theta_;
  }
  s.t = t_end;
  record.duration = h;
  record.jumped = false;
  record_points(h, record);
  record_modes(t_end, record);
  record_balance(record);
  record_energy(h, record);
  remember_points();
}

}  // namespace stickslip
