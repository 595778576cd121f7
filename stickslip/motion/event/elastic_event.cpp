// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/elastic_event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/gauss_legendre.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {
constexpr double kMoment = 1e-2;   // of the run: what a velocity may become in it is its size
constexpr double kAtLimit = 1e-12;  // of the limit: round-off of k d
constexpr double kSide = 1e-13;     // of the time: on the segment's side of a jump
}  // namespace

bool has_elastic_friction(const System& system) {
  const auto& laws = system.laws().friction();
  return std::any_of(laws.begin(), laws.end(), [](const FrictionElement& law) { return law.elastic(); });
}

std::string elastic_event_refusal(const System& system) {
  const char* beside = nullptr;
  if (!system.laws().contacts().empty() || !system.laws().contact_source().points_stay()) beside = "contacts";
  if (!system.laws().constraints().empty()) beside = "constraints";
  if (!system.kinematics().flat()) beside = "rotating bodies";
  for (const FrictionElement& law : system.laws().friction()) {
    if (!law.elastic()) {
      beside = "rigid friction";
      continue;
    }
    const char* why = law.size() != 1                                     ? "two components"
                      : !law.limit.is_constant()                          ? "a limit that varies"
                      : law.static_limit                                  ? "a static limit"
                      : law.viscous > 0                                   ? "a viscous part"
                      : law.weakening.shape != WeakeningShape::none       ? "weakening"
                                                                          : nullptr;
    if (why)
      return fmt::format("scheme 'event' takes friction with a spring in series with one component and a constant limit alone, not "
                         "'{}' with {}; use scheme = \"moreau\"",
                         law.name, why);
  }
  return beside ? fmt::format("scheme 'event' takes friction with a spring in series where there are no {} beside it; use scheme = "
                              "\"moreau\"",
                              beside)
                : "";
}

ElasticEventScheme::ElasticEventScheme(const System& system, double tolerance, TimeSpan span,
                                       std::vector<double> breakpoints, StopRequest stop)
    : system_(system),
      dynamics_(system),
      tolerance_(tolerance),
      span_(span),
      breakpoints_(std::move(breakpoints)),
      stop_(stop),
      n_(system.info().nv()) {
  Variables variables(system.info().nq(), system.info().nv(), system.laws().reaction_count());
  for (const FrictionElement& law : system.laws().friction()) laws_.push_back({law.stiffness, law.limit(variables.span())});
  for (Vector* x : {&q_, &v_, &f_}) x->setZero(n_);
}

bool ElasticEventScheme::rate(double t, const Vector& y, Vector& dydt) {
  q_ = y.head(n_), v_ = y.segment(n_, n_);
  dynamics_.place(std::clamp(t, after_, before_), q_, v_);
  dydt.head(n_) = v_;
  auto a = dydt.segment(n_, n_);
  a = dynamics_.free_acceleration();
  for (std::size_t j = 0; j < laws_.size(); ++j) {
    const auto i = static_cast<Index>(j);
    a -= laws_[j].k * y[2 * n_ + i] * dynamics_.PW().col(i);
    dydt[2 * n_ + i] = modes_[j] == Mode::stick ? dynamics_.u()[i] : 0.0;
  }
  return dydt.allFinite();
}

double ElasticEventScheme::velocity(std::size_t j, double t, const Vector& y) {
  q_ = y.head(n_), v_ = y.segment(n_, n_);
  dynamics_.place(std::clamp(t, after_, before_), q_, v_);
  return dynamics_.u()[static_cast<Index>(j)];
}

double ElasticEventScheme::monitor(std::size_t j, double t, const Vector& y) {
  if (laws_[j].c == 0) return 1;
  if (modes_[j] == Mode::stick)
    return 1 + kAtLimit - std::abs(laws_[j].k * y[2 * n_ + static_cast<Index>(j)]) / laws_[j].c;
  return velocity(j, t, y) * (modes_[j] == Mode::slip_plus ? 1 : -1);
}

void ElasticEventScheme::make_integrator(const State& state) {
  dynamics_.place(state.t, state.q, state.v);
  const double moment = kMoment * span_.length();
  double speed = 0;
  for (Index i = 0; i < n_; ++i)
    speed = std::max({speed, std::abs(state.v[i]), std::abs(dynamics_.free_acceleration()[i]) * moment});
  for (std::size_t j = 0; j < laws_.size(); ++j)
    speed = std::max(speed, laws_[j].c * dynamics_.PW().col(static_cast<Index>(j)).cwiseAbs().maxCoeff() * moment);
  OdeOptions options;
  options.relative_tolerance = tolerance_;
  options.absolute_tolerance = 1e-3 * tolerance_;
  options.stop = stop_;
  options.absolute_scale = Vector::Ones(2 * n_ + static_cast<Index>(laws_.size()));
  if (speed > 0) {
    options.absolute_scale.head(n_).setConstant(speed * moment);
    options.absolute_scale.segment(n_, n_).setConstant(speed);
  }
  for (std::size_t j = 0; j < laws_.size(); ++j)
    if (laws_[j].c > 0) options.absolute_scale[2 * n_ + static_cast<Index>(j)] = laws_[j].c / laws_[j].k;
  integrator_ = std::make_unique<DormandPrince>(options);
}

void ElasticEventScheme::energies(StepRecord& record) {
  const State& s = record.state;
  record.energy.kinetic = system_.inertia().kinetic_energy(s.q, s.v);
  record.energy.potential = system_.forces().potential_energy(s.q);
  for (std::size_t j = 0; j < laws_.size(); ++j) {
    const double d = s.z[static_cast<Index>(j)];
    record.energy.potential += 0.5 * laws_[j].k * d * d;
  }
}

void ElasticEventScheme::start(StepRecord& record) {
  State& s = record.state;
  const auto m = static_cast<Index>(laws_.size());
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse}) *x = Vector::Zero(m);
  record.constraint_impulse.resize(0);
  record.law_work = Vector::Zero(m);
  if (s.z.size() != m) s.z = Vector::Zero(m);
  after_ = -HUGE_VAL, before_ = HUGE_VAL;
  make_integrator(s);
  modes_.assign(laws_.size(), Mode::stick);
  for (std::size_t j = 0; j < laws_.size(); ++j) {
    double& d = s.z[static_cast<Index>(j)];
    const double most = laws_[j].c / laws_[j].k, u = dynamics_.u()[static_cast<Index>(j)];
    if (!(std::abs(d) >= most * (1 - kAtLimit))) continue;
    d = std::copysign(most, d != 0 ? d : u);
    if (u * d > 0 || laws_[j].c == 0) modes_[j] = u > 0 ? Mode::slip_plus : Mode::slip_minus;
  }
  s.modes = modes_;
  record.energy = {};
  energies(record);
  record.energy.initial = record.energy.kinetic + record.energy.potential;
  restart_ = true;
}

std::optional<std::size_t> ElasticEventScheme::find_event(double& t, Vector& y) {
  constexpr int kSamples = 12, kSecants = 60;
  const double t0 = integrator_->t_old(), length = integrator_->t() - t0;
  double last = 0;
  for (int k = 1; k <= kSamples; ++k) {
    const double here = length * k / kSamples;
    if (k == kSamples) {
      trial_ = integrator_->y();
    } else {
      integrator_->interpolate(t0 + here, trial_);
    }
    std::optional<std::size_t> first;
    double first_way = here;
    for (std::size_t j = 0; j < laws_.size(); ++j) {
      if (!(monitor(j, t0 + here, trial_) < 0)) continue;
      // On the step itself, repeated up to the event: the dense output is of lower order.
      double low = last, high = here;
      const auto at = [&](double way) {
        if (!(way > 0)) return monitor(j, t0, integrator_->y_old());
        const auto f = [this](double time, const Vector& state, Vector& slope) { return rate(time, state, slope); };
        if (!integrator_->single_step(f, t0, integrator_->y_old(), way, node_)) return -1.0;
        return monitor(j, t0 + way, node_);
      };
      double f_low = at(low), f_high = at(high);
      for (int i = 0; i < kSecants && high - low > 4e-16 * (std::abs(t0) + length); ++i) {
        double way = low + (high - low) * f_low / (f_low - f_high);
        if (!(way > low && way < high)) way = 0.5 * (low + high);
        const double value = at(way);
        if (value == 0) {
          high = way;
          break;
        }
        if (value > 0) {
          low = way, f_low = value, f_high *= 0.5;  // Illinois
        } else {
          high = way, f_high = value, f_low *= 0.5;
        }
      }
      if (!first || high < first_way) first = j, first_way = high;
    }
    if (first) {
      const auto f = [this](double time, const Vector& state, Vector& slope) { return rate(time, state, slope); };
      if (first_way > 0 && integrator_->single_step(f, t0, integrator_->y_old(), first_way, node_)) y = node_;
      t = t0 + first_way;
      return first;
    }
    last = here;
  }
  return std::nullopt;
}

void ElasticEventScheme::change_mode(std::size_t j, double t, Vector& y, StepRecord& record) {
  const Mode before = modes_[j];
  double& d = y[2 * n_ + static_cast<Index>(j)];
  if (before == Mode::stick) {
    d = std::copysign(laws_[j].c / laws_[j].k, d);
    modes_[j] = d > 0 ? Mode::slip_plus : Mode::slip_minus;
  } else {
    modes_[j] = Mode::stick;
  }
  record.events.push_back({t, static_cast<int>(j), modes_[j] == Mode::stick ? EventKind::stick : EventKind::slip, before,
                           modes_[j], 0, {}, {}});
}

void ElasticEventScheme::accumulate(double from, double to, StepRecord& record) {
  if (!(to > from)) return;
  EnergyLedger& e = record.energy;
  for (const QuadraturePoint& point : kGaussLegendre8) {
    const double t = 0.5 * (from + to) + 0.5 * (to - from) * point.x, weight = (to - from) * point.weight;
    integrator_->interpolate(t, node_);
    q_ = node_.head(n_), v_ = node_.segment(n_, n_);
    dynamics_.place(std::clamp(t, after_, before_), q_, v_);
    for (std::size_t j = 0; j < laws_.size(); ++j) {
      const auto i = static_cast<Index>(j);
      const double r = -laws_[j].k * node_[2 * n_ + i], u = dynamics_.u()[i], w = dynamics_.w()[i];
      record.reaction_impulse[i] += weight * r;
      if (modes_[j] != Mode::stick) e.friction_loss -= weight * r * u;
      e.work_in += weight * r * w;
      record.law_work[i] += weight * r * (u + w);
    }
    system_.forces().applied(std::clamp(t, after_, before_), q_, v_, dynamics_.workspace(), f_);
    e.work_in += weight * (f_.dot(v_) + system_.inertia().power(q_, v_));
    e.damper_loss += weight * system_.forces().damper_power(q_, v_);
  }
}

void ElasticEventScheme::store(double t, const Vector& y, StepRecord& record) const {
  State& s = record.state;
  s.t = t;
  s.q = y.head(n_);
  s.v = y.segment(n_, n_);
  s.z = y.tail(static_cast<Index>(laws_.size()));
  s.modes = modes_;
}

StepOutcome ElasticEventScheme::step(double t_end, StepRecord& record) {
  clear_step(record);
  record.reaction_impulse.setZero();
  State& s = record.state;
  const double begin = s.t, size = std::abs(begin) + span_.length();
  const auto next = std::upper_bound(breakpoints_.begin(), breakpoints_.end(), begin + kSide * size);
  const double limit = next == breakpoints_.end() ? t_end : std::min(t_end, *next);
  after_ = begin + kSide * size;
  before_ = std::max(limit - kSide * size, after_);
  if (y_.size() != 2 * n_ + static_cast<Index>(laws_.size())) y_.resize(2 * n_ + static_cast<Index>(laws_.size()));
  y_ << s.q, s.v, s.z;
  if (restart_ || integrator_->t() != begin || integrator_->y() != y_) integrator_->restart(begin, y_);
  restart_ = false;
  const auto f = [this](double t, const Vector& y, Vector& slope) { return rate(t, y, slope); };
  double t = begin;
  bool event = false;
  while (t < limit && !event) {
    const OdeStep made = integrator_->step(f, limit);
    if (made != OdeStep::accepted) {
      store(t, y_, record);
      const bool stopped = made == OdeStep::stopped;
      return {stopped ? Status::interrupted : Status::not_converged,
              stopped ? "stopped on request"
                      : fmt::format("the integrator cannot go on at t = {:.9g} s: its steps fell to round-off; raise run.tolerance "
                                    "or look for a force that is not finite there",
                                    t)};
    }
    const double from = t;
    t = integrator_->t();
    y_ = integrator_->y();
    const std::optional<std::size_t> law = find_event(t, y_);
    accumulate(from, t, record);
    if (law) {
      change_mode(*law, t, y_, record);
      event = restart_ = true;
    }
  }
  store(t, y_, record);
  record.duration = t - begin;
  energies(record);
  return {};
}

}  // namespace stickslip
