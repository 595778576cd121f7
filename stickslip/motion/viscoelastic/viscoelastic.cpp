// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/viscoelastic/viscoelastic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/dormand_prince.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/gauss_legendre.hpp"
#include "stickslip/common/radau.hpp"
#include "stickslip/motion/constrained_motion.hpp"
#include "stickslip/motion/elastic_friction.hpp"
#include "stickslip/motion/event/flow.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {
const double kRoot6 = std::sqrt(6.0);
constexpr double kRoundOff = 20;     // error weights in units of the round-off of a force
constexpr int kHalvings = 30;        // of a step in which a law changes its branch, until its energy is explained
constexpr double kNearLimit = 0.25;  // of the limit below it: a force that may pass it within a step and come back
constexpr int kLooks = 6;            // parts of such a step between which the excess is looked at
constexpr double kFastTimes = 10;    // of 1/frequency of the springs that a run lasts at least
constexpr double kClockRoundOff = 4 * std::numeric_limits<double>::epsilon();  // times nearer than that are one
/// Nodes and weights of Radau IIA: with these the sums are of the order of the method.
const QuadraturePoint kRadauRule[3] = {
    {(4 - kRoot6) / 10, (16 - kRoot6) / 36}, {(4 + kRoot6) / 10, (16 + kRoot6) / 36}, {1, 1.0 / 9}};
}  // namespace

ViscoelasticScheme::ViscoelasticScheme(const System& system, const ViscoelasticOptions& options, double tolerance,
                                       TimeSpan span, std::vector<double> breakpoints, StopRequest stop)
    : system_(system),
      options_(options),
      tolerance_(tolerance),
      span_(span),
      stretch_(std::move(breakpoints), span),
      stop_(stop),
      resolution_(system, span.start, span.end, kResolvedOrder, kResolvedAccuracy),
      dynamics_(system, options.epsilon) {}

ViscoelasticScheme::~ViscoelasticScheme() = default;

void ViscoelasticScheme::start(StepRecord& record) {
  State& s = record.state;
  const Index n = system_.info().nv(), m = dynamics_.rows(),
              laws = static_cast<Index>(system_.laws().friction().size());
  // A run that goes on brings its springs with it, and a velocity that they have let off the constraints.
  const bool goes_on = m > 0 && s.z.size() == m;
  if (!goes_on && !system_.laws().constraints().empty()) {
    ConsistentStart consistent = make_consistent(system_, s.t, s.q, s.v, {.span = span_.length()});
    if (consistent.rank.rank < consistent.rank.rows)
      throw InputError(
          fmt::format("scheme 'viscoelastic' needs independent constraints, but of {} only {} are at the "
                      "start; '{}' depends on the others: leave it out, or use scheme = \"event\"",
                      consistent.rank.rows, consistent.rank.rank, fmt::join(consistent.rank.dependent, "', '")));
    s.q = consistent.q;
    s.v = consistent.v;
  }
  dynamics_.complete(s.t, s.q);
  y_.setZero(dynamics_.size());
  rate_.setZero(dynamics_.size());
  y_.head(s.q.size()) = s.q;
  y_.segment(dynamics_.velocities(), n) = s.v;
  Vector ideal;
  dynamics_.ideal_forces(s.t, s.q, s.v, ideal);
  if (goes_on) {
    dynamics_.zeta_from(s.z, y_);
  } else {
    for (const auto& block : dynamics_.blocks())
      for (int c = 0; c < block.law.size; ++c) {
        const Index i = block.row[static_cast<std::size_t>(c)];
        y_[dynamics_.springs() + i] = block.prepared ? ideal[i] : 0.0;
      }
  }
  OdeOptions ode;
  ode.stop = stop_;
  ode.relative_tolerance = tolerance_;
  ode.absolute_tolerance = options_.absolute_tolerance > 0 ? options_.absolute_tolerance : 1e-3 * tolerance_;
  const double weight =
      ode.absolute_tolerance / tolerance_ *
      (options_.integrator == IntegratorKind::radau ? 0.1 * std::pow(tolerance_, 2.0 / 3) : tolerance_);
  dynamics_.place(s.t, y_);
  dynamics_.first_scales(s.t, span_.end, ideal, kRoundOff / weight, scales_);
  require_fast_springs(s.t);
  q_start_ = s.q;
  scales_.collect(scale_);
  ode.absolute_scale = scale_;
  const OdePencil jacobian = [this](double t, const Vector& y, SlopePencil& J) {
    try {
      dynamics_.jacobian(stretch_.inside(t), y, J);
      return true;
    } catch (const InputError&) {
      return false;
    }
  };
  if (options_.integrator == IntegratorKind::radau) {
    integrator_ = std::make_unique<Radau>(ode, jacobian);
    rows_integrator_ = std::make_unique<Radau>(ode, jacobian);
    rows_integrator_->restart(s.t, y_);
  } else {
    integrator_ = std::make_unique<DormandPrince>(ode);
  }
  audit_.integrator = integrator_.get();
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse})
    *x = Vector::Zero(m - dynamics_.constraint_rows());
  record.constraint_impulse = Vector::Zero(dynamics_.constraint_rows());
  record.law_work = Vector::Zero(laws);
  record.events.reserve(64 + 4 * static_cast<std::size_t>(laws));
  springs_ = has_elastic_friction(system_);
  changed_.reserve(dynamics_.blocks().size());
  near_.reserve(2 * dynamics_.blocks().size());
  for (Vector* x : {&powers_, &sum_, &base_, &reached_}) x->setZero(dynamics_.powers_size());
  dynamics_.place(s.t, y_);
  force_ = dynamics_.force();
  dynamics_.z_of(y_, s.z);
  s.modes.assign(static_cast<std::size_t>(laws), Mode::stick);
  for (std::size_t k = 0; k < dynamics_.blocks().size(); ++k)
    if (dynamics_.blocks()[k].friction >= 0)
      s.modes[static_cast<std::size_t>(dynamics_.blocks()[k].friction)] = mode_of_block(k);
  audit_.lowest_damping = dynamics_.fast_damping();
  record.energy = {};
  record.energy.kinetic = system_.inertia().kinetic_energy(s.q, s.v);
  record.energy.potential = system_.forces().potential_energy(s.q) + dynamics_.spring_energy(y_);
  record.energy.initial = record.energy.kinetic + record.energy.potential;
}

/// Springs that a run leaves to the scheme have the period 2π √ε s; a run that is short beside it would show the
/// springs and not what they replace.
void ViscoelasticScheme::require_fast_springs(double start) const {
  const double span = span_.end - start, own = dynamics_.longest_default_time();
  if (!(span > 0) || options_.epsilon > 0 || span >= kFastTimes * own) return;
  throw InputError(
      fmt::format("the run of {:.3g} s is too short beside the springs that scheme 'viscoelastic' takes by itself "
                  "(1/frequency = {:.3g} s, {:g} of these are needed); set run.viscoelastic.epsilon = {:.3g} [s^2]",
                  span, own, kFastTimes, 1e-6 * span * span));
}

bool ViscoelasticScheme::exchange(Memory& memory) {
  memory.exchange(reached_);
  if (memory.reading()) sum_ = base_ = reached_;
  return true;
}

void ViscoelasticScheme::Audit::account(const AuditLedger& /*run*/) {
  evaluations += integrator->counters().evaluations - seen;
  seen = integrator->counters().evaluations;
}

void ViscoelasticScheme::Audit::exchange(Memory& memory) {
  memory.exchange(position);
  memory.exchange(velocity);
  memory.exchange(lowest_damping);
  memory.exchange(evaluations);
}

void ViscoelasticScheme::Audit::add_items(const AuditLedger& /*run*/, const AuditLimits& /*limits*/,
                                          std::vector<AuditItem>& items) const {
  items.push_back(reported("constraint_position", position, "m, rad",
                           "largest violation of a holonomic constraint; of the size of epsilon"));
  items.push_back(
      reported("constraint_velocity", velocity, "m/s, rad/s",
               "largest violation of a constraint by the velocities; of the size of epsilon after the initial "
               "layer"));
  if (std::isfinite(lowest_damping))
    items.push_back(reported("fast_damping", lowest_damping, "",
                             "smallest b = (d^2/c) eigenvalue of A M^-1 A' along the motion; the source asks for b >= "
                             "2, which is sufficient and not necessary: the fast motion decays for every b > 0"));
  items.push_back(reported("evaluations", static_cast<double>(evaluations), "", "evaluations of the right-hand side"));
}

void ViscoelasticScheme::begin(double t) {
  stretch_.enter(t);
  integrator_->restart(t, y_);
  restart_ = false;
}

Mode ViscoelasticScheme::mode_of_block(std::size_t k) const {
  const auto& block = dynamics_.blocks()[k];
  if (!dynamics_.slips(k)) return Mode::stick;
  if (block.law.size == 2) return Mode::slip;
  // Where the limit is 0 the force has no direction, but the slip has.
  const double force = dynamics_.force()[block.row[0]];
  return (force != 0 ? force : dynamics_.u()[block.row[0]]) > 0 ? Mode::slip_plus : Mode::slip_minus;
}

/// One step of the integrator; where a law changes its branch within it, not beyond the next row.
StepOutcome ViscoelasticScheme::advance(StepRecord& record, double row) {
  if (restart_) begin(record.state.t);
  if (std::exchange(switched_,
                    false)) {  // slopes of the branch before would pass for a small residual of the one after
    y_ = integrator_->y();
    integrator_->restart(integrator_->t(), y_, integrator_->suggested_step());
  }
  refusal_.clear();
  auto f = [this](double t, const Vector& y, Vector& dydt) {
    try {
      return dynamics_.derivative(stretch_.inside(t), y, dydt);
    } catch (const InputError& error) {
      refusal_ = error.what();
      return false;
    }
  };
  const double end = stretch_.end_after(integrator_->t());
  double limit = resolution_.until(integrator_->t(), end);
  // A rest no longer than the round-off of the clock would pass for the breakpoint.
  if (end - limit <= 2 * stretch_.same_time(end)) limit = end;
  if (resolution_.stuck()) return too_fast(integrator_->t());
  OdeStep step = integrator_->step(f, limit);
  base_ = sum_;
  for (int halving = 0; step == OdeStep::accepted && halving < kHalvings; ++halving) {
    const bool changes = find_changes(record), passes_row = changes && row < integrator_->t();
    if (!passes_row && (changes || springs_ ? explained(record) : !slips_within())) break;
    const double start = integrator_->t_old(), h = passes_row ? row - start : 0.5 * (integrator_->t() - start);
    y_ = integrator_->y_old();
    integrator_->restart(start, y_, h);
    step = integrator_->step(f, start + h);
  }
  sum_ = base_;
  if (step == OdeStep::stopped) return {Status::interrupted, ""};
  if (step != OdeStep::accepted) {
    if (!refusal_.empty()) return {Status::refused, refusal_};
    const double t = integrator_->t();
    y_ = integrator_->y();
    if (!f(t + SmoothStretch::kMoment * stretch_.same_time(t), y_, rate_) || !rate_.allFinite())
      return {Status::not_finite,
              fmt::format("the motion cannot be continued beyond t = {:.9g}: a force is not finite there", t)};
    return {
        Status::not_converged,
        fmt::format("the integrator cannot meet the tolerance at t = {:.9g}; use a larger run.tolerance or a larger "
                    "epsilon, or scheme = \"event\"",
                    integrator_->t())};
  }
  in_step_ = true;
  switched_ = !changed_.empty();
  note_changes(record);
  dynamics_.place(stretch_.inside(integrator_->t()), integrator_->y());
  audit_.lowest_damping = std::min(audit_.lowest_damping, dynamics_.fast_damping());
  dynamics_.raise_scales(q_start_, scales_);
  scales_.collect(scale_);
  integrator_->set_absolute_scale(scale_);
  if (rows_integrator_) rows_integrator_->set_absolute_scale(scale_);
  return {};
}

StepOutcome ViscoelasticScheme::take_own_step(StepRecord& record) {
  return in_step_ ? StepOutcome{} : advance(record, kNoLimit);
}

/// Friction laws that end the integrator's step on another branch than they began it on.
bool ViscoelasticScheme::find_changes(const StepRecord& record) {
  dynamics_.place(stretch_.inside(integrator_->t()), integrator_->y());
  changed_.clear();
  for (std::size_t k = 0; k < dynamics_.blocks().size(); ++k)
    if (const Index law = dynamics_.blocks()[k].friction; law >= 0)
      if (const Mode after = mode_of_block(k); after != record.state.modes[static_cast<std::size_t>(law)])
        changed_.push_back({k, after});
  return !changed_.empty();
}

double ViscoelasticScheme::excess_at(double t, std::size_t law) {
  integrator_->interpolate(t, y_);
  dynamics_.place(stretch_.inside(t), y_);
  return dynamics_.excess(law);
}

/// Whether a law that sticks at both ends of the step comes above its limit between them: the stages of the step may
/// all have missed it. The highest point of its excess on the dense output, from three looks around it and the parabola
/// through them.
bool ViscoelasticScheme::slips_within() {
  const double from = integrator_->t_old(), h = integrator_->t() - from;
  near_.clear();
  for (const double t : {from, from + h}) {
    excess_at(t, 0);
    for (std::size_t k = 0; k < dynamics_.blocks().size(); ++k)
      if (dynamics_.blocks()[k].friction >= 0 && dynamics_.excess(k) < 0 &&
          dynamics_.excess(k) > -kNearLimit * dynamics_.limit(k))
        near_.push_back(k);
  }
  for (const std::size_t k : near_) {
    double looks[kLooks + 1];
    for (int i = 0; i <= kLooks; ++i) looks[i] = excess_at(from + h * i / kLooks, k);
    const auto highest = std::max_element(looks + 1, looks + kLooks);
    const double left = *highest - highest[-1], right = *highest - highest[1], bend = left + right;
    const double shift = bend > 0 ? std::clamp(0.5 * (left - right) / bend, -1.0, 1.0) : 0.0;
    const double peak = excess_at(from + h * (static_cast<double>(highest - looks) + shift) / kLooks, k);
    if (std::max(peak, *highest) > tolerance_ * dynamics_.limit(k)) return true;
  }
  return false;
}

double ViscoelasticScheme::energy_of(const Vector& y) {
  const Index nq = q_start_.size(), n = system_.info().nv();
  row_.q = y.head(nq);
  row_.v = y.segment(dynamics_.velocities(), n);
  return system_.inertia().kinetic_energy(row_.q, row_.v) + system_.forces().potential_energy(row_.q) +
         dynamics_.spring_energy(y);
}

/// Whether the step accounts for its energy to the tolerance. The integrator's estimate takes the right-hand side for
/// smooth and compares with the largest velocities and forces of the run, so where a law changes its branch within the
/// step it may see nothing.
bool ViscoelasticScheme::explained(const StepRecord& record) {
  reach(integrator_->t(), y_, sum_);
  const double before = energy_of(integrator_->y_old()), after = energy_of(integrator_->y());
  const double gap = after - before - (sum_[0] - base_[0]) + (sum_[1] - base_[1]) + (sum_[2] - base_[2]);
  const double scale = std::max(
      {std::abs(before), std::abs(after), std::abs(sum_[0]), sum_[1], sum_[2], std::abs(record.energy.initial)});
  return std::abs(gap) <= tolerance_ * scale;
}

/// Stick and slip of friction laws, located on the dense output.
void ViscoelasticScheme::note_changes(StepRecord& record) {
  State& s = record.state;
  for (const auto& [k, after] : changed_) {
    const Index law = dynamics_.blocks()[k].friction;
    Mode& mode = s.modes[static_cast<std::size_t>(law)];
    double from = integrator_->t_old(), to = integrator_->t();
    const double near = kClockRoundOff * std::max(std::abs(from), std::abs(to));
    for (int round = 0; round < 60 && to - from > near; ++round) {
      const double middle = 0.5 * (from + to);
      integrator_->interpolate(middle, y_);
      dynamics_.place(stretch_.inside(middle), y_);
      (mode_of_block(k) == after ? to : from) = middle;
    }
    if (const auto kind = event_between(mode, after))
      record.events.push_back({to, static_cast<int>(law), *kind, mode, after, 0});
    mode = after;
  }
}

/// y at t within the integrator's step, and sum = base + ∫ powers from the start of that step. Both are of one
/// collocation from there to t: the dense output is of a lower order, and where the law changes its branch within the
/// step its work would not be that of the state.
void ViscoelasticScheme::reach(double t, Vector& y, Vector& sum) {
  const double from = integrator_->t_old(), h = t - from;
  sum = base_;
  auto add = [&](double at, double weight) {
    dynamics_.powers(stretch_.inside(at), y, powers_);
    sum += weight * powers_;
  };
  auto f = [this](double time, const Vector& at, Vector& dydt) {
    try {
      return dynamics_.derivative(stretch_.inside(time), at, dydt);
    } catch (const InputError&) {
      return false;
    }
  };
  const bool whole = t == integrator_->t(), radau = rows_integrator_ != nullptr;
  const bool part = !whole && radau && rows_integrator_->single_step(f, from, integrator_->y_old(), h, y);
  if (part || (whole && radau)) {
    for (int i = 0; i < 3; ++i) {
      const QuadraturePoint& point = kRadauRule[i];
      const double at = i == 2 ? t : from + point.x * h;
      part ? rows_integrator_->stage(i, integrator_->y_old(), y) : integrator_->interpolate(at, y);
      add(at, h * point.weight);
    }
    if (whole) y = integrator_->y();
    return;
  }
  for (const QuadraturePoint& point : kGaussLegendre8) {
    const double at = from + 0.5 * (1 + point.x) * h;
    integrator_->interpolate(at, y);
    add(at, h * point.weight);
  }
  if (whole)
    y = integrator_->y();
  else
    integrator_->interpolate(t, y);
}

void ViscoelasticScheme::sample(double t, StepRecord& record) {
  State& s = record.state;
  const Index n = system_.info().nv(), m = dynamics_.rows(), own = dynamics_.constraint_rows();
  reach(t, y_, sum_);
  dynamics_.place(stretch_.inside(t), y_);
  force_ = dynamics_.force();
  s.t = t;
  s.q = y_.head(s.q.size());
  system_.kinematics().normalize(s.q);
  s.v = y_.segment(dynamics_.velocities(), n);
  dynamics_.z_of(y_, s.z);
  record.constraint_impulse += sum_.segment(3, own) - reached_.segment(3, own);
  record.reaction_impulse += sum_.segment(3 + own, m - own) - reached_.segment(3 + own, m - own);
  record.law_work = sum_.tail(record.law_work.size());
  reached_ = sum_;
  EnergyLedger& e = record.energy;
  e.work_in = sum_[0];
  e.damper_loss = sum_[1];
  e.friction_loss = sum_[2];
  e.kinetic = system_.inertia().kinetic_energy(s.q, s.v);
  e.potential = system_.forces().potential_energy(s.q) + dynamics_.spring_energy(y_);
  if (own > 0) {
    raise(audit_.position, dynamics_.positions().lpNorm<Eigen::Infinity>());
    raise(audit_.velocity, dynamics_.u().head(own).lpNorm<Eigen::Infinity>());
  }
}

StepOutcome ViscoelasticScheme::step(double t_end, StepRecord& record) {
  clear_step(record);
  record.constraint_impulse.setZero();
  record.reaction_impulse.setZero();
  const double t_start = record.state.t;
  StepOutcome outcome;
  while (record.state.t < t_end) {
    if (!in_step_) outcome = advance(record, t_end);
    if (outcome.status != Status::success) break;
    const double t = std::min(t_end, integrator_->t());
    sample(t, record);
    if (t == integrator_->t()) {
      in_step_ = false;
      restart_ = stretch_.ends_at(t);
    }
  }
  record.duration = record.state.t - t_start;
  return outcome;
}

}  // namespace stickslip
