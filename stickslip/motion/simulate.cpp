// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/run_notes.hpp"

namespace stickslip {

void SimulationOptions::validate() const {
  if (!std::isfinite(end_time) || !(end_time > start_time))
    throw InputError(fmt::format("run.end_time = {} must be a finite time after the start ({})", end_time, start_time));
  const bool own_steps = chooses_own_steps(scheme) && step == 0 && steps == 0;
  if (!own_steps && (step != 0) == (steps != 0)) throw InputError("run needs exactly one of step and steps");
  if (steps < 0) throw InputError(fmt::format("run.steps = {} must be >= 1", steps));
  if (!own_steps && steps == 0 && !(step > 0 && std::isfinite(step)))
    throw InputError(fmt::format("run.step = {} must be a finite time > 0", step));
  if (!(tolerance >= 1e-14 && tolerance <= 0.1))
    throw InputError(fmt::format("run.tolerance = {} must lie in [1e-14, 0.1]", tolerance));
  if (step > 0 && (end_time - start_time) / step > 1e12)
    throw InputError(fmt::format("run.step = {} makes more than 1e12 steps up to end_time = {}", step, end_time));
  if (!(output_step >= 0) || !std::isfinite(output_step))
    throw InputError(fmt::format("run.output_step = {} must be > 0", output_step));
  if (output_step > 0 && !output_times.empty()) throw InputError("run takes output_step or output_times, not both");
  for (std::size_t i = 0; i < output_times.size(); ++i)
    if (!std::isfinite(output_times[i]) || (i > 0 && output_times[i] <= output_times[i - 1]))
      throw InputError(fmt::format("run.output_times must ascend; entry {} is {}", i + 1, output_times[i]));
  moreau.validate();
  splitting.validate();
  event.validate();
  viscoelastic.validate();
}

namespace {

/// Constant matrices with friction alone have the step of moreau.hpp, which locates reversals; all else that of
/// moreau_contact.hpp.
bool takes_contact_steps(const System& system) { return !system.linear() || !system.contacts().empty(); }

std::unique_ptr<Scheme> make_scheme(const System& system, const SimulationOptions& options, StopRequest stop,
                                    std::vector<double> breakpoints) {
  if (options.scheme == SchemeKind::viscoelastic)
    return std::make_unique<ViscoelasticScheme>(system, options.viscoelastic, options.tolerance, options.end_time,
                                                std::move(breakpoints), stop);
  if (options.scheme == SchemeKind::event)
    return std::make_unique<EventScheme>(system, options.event, options.tolerance, options.end_time,
                                         std::move(breakpoints), stop);
  if (options.scheme == SchemeKind::splitting)
    return std::make_unique<SplittingScheme>(system, options.splitting, std::move(breakpoints));
  MoreauOptions moreau = options.moreau;
  moreau.solver.stop = stop;
  if (takes_contact_steps(system)) return std::make_unique<MoreauContactScheme>(system, moreau, std::move(breakpoints));
  return std::make_unique<MoreauScheme>(system, moreau, std::move(breakpoints));
}

AuditLimits audit_limits(const System& system, const SimulationOptions& options) {
  AuditLimits limits;
  if (options.scheme == SchemeKind::splitting) {
    limits.energy = system.linear()->K.asymmetry() == 0;
    return limits;
  }
  limits.contacts = !system.contacts().empty();
  limits.own_steps = chooses_own_steps(options.scheme);
  if (options.scheme == SchemeKind::viscoelastic) {
    limits.viscoelastic = true;
    limits.energy = true;
    limits.energy_limit = std::max(1e-9, 1e4 * options.tolerance);
    return limits;
  }
  if (options.scheme == SchemeKind::event) {
    limits.constraints = !system.constraints().empty();
    limits.inclusion = std::max(limits.inclusion, options.tolerance);
    limits.set = std::max(limits.set, options.tolerance);
    limits.energy = true;
    limits.energy_limit = std::max(1e-10, 1e4 * options.tolerance);
    limits.stuck_motion = true;
    limits.stuck_motion_limit = 1e-9;
    limits.no_gain = impacts_never_gain(system.contacts());
    return limits;
  }
  limits.inclusion = std::max(limits.inclusion, limits.contacts ? kNearMiss * options.moreau.contact_tolerance
                                                                : 10 * options.moreau.solver.tolerance);
  limits.no_gain = impacts_never_gain(system.contacts());
  // The step with contacts does not count the work of circulatory forces apart.
  const bool circulatory = takes_contact_steps(system) && system.linear() && system.linear()->K.asymmetry() > 0;
  limits.energy = options.moreau.theta == 0.5 && !circulatory;
  // Elsewhere the midpoint rule leaves O(h²): a run that loses or makes more than this is not resolved, or unstable.
  constexpr double kResolved = 0.1;
  if (!system.has_quadratic_energy()) limits.energy_limit = kResolved;
  constexpr double kContactVelocity = 0.05;  // far above what the solver's tolerance leaves, far below giving way
  limits.contact_velocity = limits.contacts ? kContactVelocity : 0.0;
  limits.length = system.step_form() == StepForm::drift_kick ? system.length_scale() : 0.0;
  limits.stuck_motion = true;
  // Exactly zero where each law has a coordinate to itself and the surface rests; to round-off of every step elsewhere.
  bool exact = true;
  std::vector<char> taken(system.info().nv(), 0);
  for (const FrictionElement& element : system.friction()) {
    for (const StateFunction& w : element.surface_velocity) exact &= w.is_constant();
    for (const Direction& direction : element.directions) {
      exact &= direction.size() == 1 && direction[0].second == 1.0 && !taken[direction[0].first];
      for (const auto& entry : direction) taken[entry.first] = 1;
    }
  }
  exact &= !takes_contact_steps(system);
  limits.stuck_motion_limit = exact ? 0.0 : 1e-9;
  return limits;
}

/// Largest at the state beyond round-off of the gap, by a search that knows nothing of the run.
double penetration_at(const System& system, const State& s) {
  constexpr double kRoundOff = 1e-12;  // of the terms of a gap that is an expression
  if (system.contacts().empty() || !s.q.allFinite()) return 0.0;
  SystemWorkspace workspace(system.info());
  ContactPoints found;
  system.find_contacts(s.t, s.q, 0.0, workspace, found);
  double deepest = 0;
  Index row = 0;
  for (const ContactSite& point : found.points) {
    double terms = 0;
    if (system.step_form() == StepForm::implicit_theta)
      for (SparseMatrix::InnerIterator entry(found.Wt, row); entry; ++entry)
        terms += std::abs(entry.value() * s.q[entry.col()]);
    deepest = std::max(deepest, -point.gap - kRoundOff * terms);
    row += system.contacts()[static_cast<std::size_t>(point.law)].size();
  }
  return deepest;
}

/// Ends of the steps. Schemes that choose their own steps are asked for the times of the output alone.
class Grid {
 public:
  explicit Grid(const SimulationOptions& options) : start_(options.start_time), end_(options.end_time) {
    const double span = end_ - start_;
    double h = options.steps > 0 ? span / static_cast<double>(options.steps) : options.step;
    if (chooses_own_steps(options.scheme)) {
      for (const double t : options.output_times)
        if (t > start_ && t < end_) times_.push_back(t);
      if (!options.output_times.empty()) times_.push_back(end_);
      if (options.output_step > 0) h = options.output_step;
      if (h == 0) h = span / 1000;
    }
    steps_ = !times_.empty() ? static_cast<long>(times_.size())
             : options.steps > 0 && options.output_step == 0
                 ? options.steps
                 : std::max(1L, static_cast<long>(std::ceil(span / h - 1e-9)));
    if (!chooses_own_steps(options.scheme) && options.steps > 0) steps_ = options.steps;
    step_ = std::min(h, span);
  }
  long steps() const { return steps_; }
  double step() const { return step_; }
  double end(long n) const {
    if (n + 1 == steps_) return end_;
    return times_.empty() ? start_ + static_cast<double>(n + 1) * step_ : times_[static_cast<std::size_t>(n)];
  }

 private:
  double start_, end_, step_ = 0;
  long steps_ = 0;
  std::vector<double> times_;
};

/// Decides which rows to keep and fills them.
class Recorder {
 public:
  Recorder(const System& system, const SimulationOptions& options, double grid_step, Trajectory& trajectory,
           const SimulationHooks& hooks)
      : system_(system),
        options_(options),
        step_(grid_step),
        margin_(1e-9 * grid_step),
        trajectory_(trajectory),
        hooks_(hooks) {
    every_step_ = options.output_step == 0 && options.output_times.empty();
  }

  void start(const StepRecord& record) {
    constraints_ = record.constraint_impulse.size();
    reaction_ = Vector::Zero(record.reaction_impulse.size() + constraints_);
    smooth_ = reaction_;
    row_.reaction = reaction_;
    row_.smooth = smooth_;
    q_ = record.state.q;
    v_ = record.state.v;
    t_ = record.state.t;
    row_.q = q_;
    row_.v = v_;
    if (every_step_ || due() <= t_ + margin_) {
      while (!every_step_ && due() <= t_ + margin_) ++next_;
      write(record, t_);
    }
  }

  /// One part of a step: rows that fall inside it are interpolated here, between the two states where nothing jumps.
  void part_done(const StepRecord& record, bool first, bool last) {
    add_part(record, first, last);
    const double t0 = t_, t1 = record.state.t, h = t1 - t0;
    if (!every_step_) {
      while (due() < t1 - margin_) {
        interpolate(record, t0, h, due());
        ++next_;
      }
      if (due() <= t1 + margin_ && last) {
        ++next_;
        write(record, t1);
      }
    } else if (last) {
      write(record, t1);
    }
    t_ = t1;
    if (every_step_ || due() > t1 + 2 * step_) return;  // only the start of an interpolated part is needed
    q_ = record.state.q;
    v_ = record.state.v;
  }
  /// Over the step so far; zero before the first.
  Vector mean_reaction(const StepRecord& record) const {
    if (whole_) {
      Vector mean = Vector::Zero(reaction_.size());
      join(record.reaction_impulse, record.constraint_impulse, 1 / record.duration, mean);
      return mean;
    }
    return reaction_ / (duration_ > 0 ? duration_ : 1.0);
  }

 private:
  /// Sums up the parts of a step that is cut; a step in one part stays where it is.
  void add_part(const StepRecord& record, bool first, bool last) {
    whole_ = first && last;
    if (whole_) return;
    if (first) {
      reaction_.setZero();
      smooth_.setZero();
      duration_ = 0;
    }
    const Index laws = reaction_.size() - constraints_;
    reaction_.head(laws) += record.reaction_impulse;
    smooth_.head(laws) += record.smooth_impulse;
    if (constraints_ > 0) reaction_.tail(constraints_) += record.constraint_impulse;
    duration_ += record.duration;
  }
  /// Reactions of the laws, then those of the constraints.
  void join(const Vector& laws, const Vector& constraints, double factor, Vector& out) const {
    out.head(laws.size()) = factor * laws;
    if (constraints_ > 0) out.tail(constraints_) = factor * constraints;
  }
  double due() const {
    if (options_.output_step > 0) return options_.start_time + static_cast<double>(next_) * options_.output_step;
    return next_ < options_.output_times.size() ? options_.output_times[next_] : HUGE_VAL;
  }
  void write(const StepRecord& record, double t) {
    row_.t = t;
    row_.q = record.state.q;
    row_.v = record.state.v;
    finish(record);
  }
  void interpolate(const StepRecord& record, double t0, double h, double t) {
    const double s = (t - t0) / h;
    row_.t = t;
    system_.interpolate(q_, v_, record.state.q, record.state.v, h, s, !record.jumped, row_.q);
    row_.v = (1 - s) * v_ + s * record.state.v;
    finish(record);
  }
  void finish(const StepRecord& record) {
    const double duration = whole_ ? record.duration : duration_ > 0 ? duration_ : 1.0;
    if (whole_) {
      join(record.reaction_impulse, record.constraint_impulse, 1 / duration, row_.reaction);
      row_.smooth.head(record.smooth_impulse.size()) = record.smooth_impulse / duration;
    } else {
      row_.reaction = reaction_ / duration;
      row_.smooth = smooth_ / duration;
    }
    row_.friction_velocity = record.friction_velocity;
    row_.energy = record.energy;
    row_.modes = record.state.modes;
    row_.point_forces = record.point_forces;
    trajectory_.append(row_);
    if (hooks_.on_row) hooks_.on_row(row_);
  }

  const System& system_;
  const SimulationOptions& options_;
  double step_, margin_;
  Trajectory& trajectory_;
  const SimulationHooks& hooks_;
  bool every_step_ = true, whole_ = false;
  std::size_t next_ = 0;
  double t_ = 0, duration_ = 0;
  Index constraints_ = 0;  // components of the rows that are reactions of constraints; they come last
  Vector q_, v_, reaction_, smooth_;
  OutputRow row_;
};

/// A force or limit that turns out to be impossible on the way ends the run like a numerical failure: what was computed
/// so far is kept.
StepOutcome take_step(Scheme& scheme, double t_end, StepRecord& record) {
  try {
    return scheme.step(t_end, record);
  } catch (const InputError& error) {
    return {Status::refused, error.what()};
  }
}

void require_state(const System& system, const State& s) {
  const SystemInfo& info = system.info();
  if (s.q.size() != info.nq())
    throw InputError(fmt::format("initial.position has {} entries, expected {}", s.q.size(), info.nq()));
  if (s.v.size() != info.nv())
    throw InputError(fmt::format("initial.velocity has {} entries, expected {}", s.v.size(), info.nv()));
  if (!s.q.allFinite() || !s.v.allFinite()) throw InputError("initial position and velocity must be finite numbers");
}

}  // namespace

Simulation simulate(const System& system, const State& initial, const SimulationOptions& options,
                    const SimulationHooks& hooks) {
  options.validate();
  require_supported(options.scheme, system);
  require_state(system, initial);
  const double start = options.start_time, span = options.end_time - start;
  const Grid grid(options);
  const long steps = grid.steps();
  const double h = grid.step();
  const BreakpointSearch search = system.find_breakpoints(start, options.end_time);
  const std::vector<double>& breakpoints = search.times;
  const std::unique_ptr<Scheme> scheme = make_scheme(system, options, hooks.stop, breakpoints);

  Simulation result;
  result.notes = run_notes(system, options, search);
  double rows = static_cast<double>(steps) + 2;
  if (options.output_step > 0) rows = std::min(span / options.output_step + 3, 1e9);
  if (!options.output_times.empty()) rows = static_cast<double>(options.output_times.size()) + 2;
  constexpr double kReservedRows = 4e6;
  const double reserved = std::min(rows, std::max(16.0, kReservedRows / static_cast<double>(1 + system.info().nq())));
  result.trajectory = Trajectory(trajectory_names(system, options.scheme == SchemeKind::splitting), system.info().nq(),
                                 system.info().nv(), static_cast<Index>(reserved));
  StepRecord record;
  record.state = initial;
  record.state.t = start;
  scheme->start(record);
  AuditLedger ledger;
  Recorder recorder(system, options, h, result.trajectory, hooks);
  recorder.start(record);

  auto next_break = std::upper_bound(breakpoints.begin(), breakpoints.end(), start);
  for (long n = 0; n < steps && result.status == Status::success; ++n) {
    bool first_part = true;
    const double t1 = grid.end(n);
    while (record.state.t < t1) {
      double target = t1;
      if (options.breakpoints == BreakpointPolicy::step_ends) {
        while (next_break != breakpoints.end() && *next_break <= record.state.t + 1e-9 * h) ++next_break;
        if (next_break != breakpoints.end() && *next_break < t1 - 1e-9 * h) target = *next_break;
      }
      const double t0 = record.state.t;
      const StepOutcome outcome = take_step(*scheme, target, record);
      for (const Event& event : record.events) {
        result.trajectory.events.push_back(event);
        if (hooks.on_event) hooks.on_event(event);
      }
      // Schemes that choose their own steps have come somewhere when a request stops them, and that counts.
      const bool stopped_inside = outcome.status == Status::interrupted && record.state.t > t0;
      if (outcome.status != Status::success) {
        result.status = outcome.status;
        result.message = outcome.message;
        if (!stopped_inside) break;
      }
      ledger.add(record);
      recorder.part_done(record, first_part, record.state.t >= t1);
      first_part = false;
      // A scheme that stops at every event may need many parts for one step.
      if (raised(hooks.stop) && record.state.t < t1) result.status = Status::interrupted;
      if (result.status != Status::success) break;
    }
    if (result.status != Status::success) break;
    ++result.steps;
    const bool go_on = (!hooks.keep_going || hooks.keep_going(record.state)) && !raised(hooks.stop);
    if (!go_on && n + 1 < steps) result.status = Status::interrupted;
  }
  if (result.status == Status::interrupted)
    result.message = fmt::format("stopped at t = {:.9g} s of {:.9g} s; everything up to there is kept", record.state.t,
                                 options.end_time);
  result.final = record.state;
  result.final_reaction = recorder.mean_reaction(record);
  result.problems = ledger.problems;
  ledger.final_penetration = penetration_at(system, record.state);
  result.audit = audit_report(ledger, record.energy, audit_limits(system, options));
  if (result.status == Status::success && !passed(result.audit)) {
    result.status = Status::audit_failed;
    for (const AuditItem& item : result.audit)
      if (!item.ok)
        result.message += fmt::format(
            "{}audit: {} = {:.3g} is above the limit {:.3g} that the scheme guarantees ({}); {}",
            result.message.empty() ? "" : "; ", item.name, item.value, item.limit, item.meaning, item.remedy);
  }
  return result;
}

}  // namespace stickslip
