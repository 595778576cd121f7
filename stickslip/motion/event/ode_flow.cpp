// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/ode_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/dormand_prince.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/radau.hpp"

namespace stickslip {

namespace {
constexpr double kStopped = 1e-11;  // of the largest speed since the slip began
// The direction of slip turns to that of the force with rate (friction's own acceleration)/speed, beyond all bounds at
// a stop; below the tolerance nothing but stability (steps times rate up to about 6) ties the steps to it.
constexpr double kTurns = 3;
constexpr double kCreep = 1e-8;  // of the run's length, of friction's own acceleration; its direction is as much behind
constexpr double kCreepFine =
    3e-10;  // the same where tolerances ask for more; steps up to it grow in number with 1/sqrt
constexpr double kCreptFar =
    4;  // times the speed from which a law has a direction: no step that began below ends above
constexpr int kShorterSteps = 6;     // tried before a law that has just changed is taken to change back
constexpr double kShortest = 1e-12;  // of the time: no later instant

/// What round-off of the positions does to the velocities in a moment, by accelerations at neighbouring numbers: far
/// from the origin no tolerance below that can be met. Leaves the dynamics at (t, q, v).
Vector velocity_noise(ModeDynamics& dynamics, double t, const Vector& q, const Vector& v, double moment) {
  Vector next = q;
  for (double& x : next) x = std::nextafter(x, HUGE_VAL);
  dynamics.place(t, next, v);
  const Vector a = dynamics.free_acceleration();
  dynamics.place(t, q, v);
  return moment * (a - dynamics.free_acceleration()).cwiseAbs();
}

}  // namespace

OdeFlow::OdeFlow(ModeDynamics& dynamics, const OdeFlowOptions& options, std::vector<double> breakpoints, TimeSpan span)
    : Flow(span.length()),
      dynamics_(dynamics),
      options_(options),
      breakpoints_(std::move(breakpoints)),
      resolution_(dynamics.system(), span.start, span.end, kResolvedOrder, kResolvedAccuracy) {
  n_ = dynamics.system().info().nv();
  nq_ = dynamics.system().info().nq();
  q_.resize(nq_);
  qdot_.resize(nq_);
  v_.resize(n_);
  springs_ = dynamics.spring_components();
  y_.resize(nq_ + n_ + springs_);
  curved_ = dynamics.friction().has_weakening() || dynamics.friction().limits_vary();
  largest_speed_.assign(dynamics.laws().size(), 0);
  creeping_.assign(dynamics.laws().size(), 0);
}

/// Without the laws, at the start; where nothing acts there, of forces that come later.
Vector OdeFlow::largest_acceleration(const Vector& q, const Vector& v) {
  constexpr int kTimes = 16;
  Vector largest = dynamics_.free_acceleration().cwiseAbs();
  if (v.cwiseAbs().maxCoeff() > 0 || largest.maxCoeff() > 0) return largest;
  for (int k = 1; k <= kTimes; ++k) try {
      dynamics_.place(t0_ + span_ * k / kTimes, q, v);
      largest = largest.cwiseMax(dynamics_.free_acceleration().cwiseAbs());
    } catch (const InputError&) {  // a function that is not defined there, at this place
    }
  dynamics_.place(t0_, q, v);
  return largest;
}

/// What a component of (q, v) is small against: the speed that has the kinetic energy of the fastest one, and the way
/// that it makes in a hundredth of the run. (A scale of its own for each would ask components that stay at 0 for digits
/// that the others' round-off does not leave them.)
void OdeFlow::make_integrator(const Vector& q, const Vector& v) {
  const double moment = kMoment * span_;
  const System& system = dynamics_.system();
  Vector diagonal = Vector::Ones(n_), speed(n_);
  system.inertia().mass(q, dynamics_.workspace()).for_each([&](Index i, Index j, double value) {
    if (i == j) diagonal[i] = value;
  });
  const Vector noise = velocity_noise(dynamics_, t0_, q, v, moment);
  double energy = 0;
  const Vector acceleration = largest_acceleration(q, v);
  for (Index i = 0; i < n_; ++i) {
    speed[i] = std::max(std::abs(v[i]), acceleration[i] * moment);
    energy = std::max(energy, diagonal[i] * speed[i] * speed[i]);
  }
  OdeOptions ode;
  ode.relative_tolerance = options_.relative_tolerance;
  ode.absolute_tolerance = options_.absolute_tolerance;
  ode.stop = options_.stop;
  ode.absolute_scale = Vector::Ones(nq_ + n_ + springs_);
  Vector way = dynamics_.reach().sizes(q);
  for (Index i = 0; i < n_; ++i) {
    speed[i] = std::max(speed[i], std::sqrt(energy / diagonal[i]));
    if (speed[i] > 0) ode.absolute_scale[nq_ + i] = std::max(speed[i], noise[i] / options_.absolute_tolerance);
    v_.setZero();
    v_[i] = speed[i] * moment;
    system.kinematics().rate(q, v_, qdot_);
    way = way.cwiseMax(qdot_.cwiseAbs());
  }
  for (Index k = 0; k < nq_; ++k)
    if (way[k] > 0) ode.absolute_scale[k] = way[k];
  for (std::size_t k = 0; k < dynamics_.laws().size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    for (int c = 0; law.springs() && c < law.size; ++c) {
      const double way_of_law = dynamics_.Wt().row(law.first + c).cwiseAbs().dot(speed) * moment;
      const double length = std::max(way_of_law, dynamics_.limit(k) / law.stiffness);
      if (length > 0) ode.absolute_scale[nq_ + n_ + law.spring + c] = length;
    }
  }
  if (!ode.absolute_scale.allFinite())
    throw InputError(
        fmt::format("the run lasts {:g} s, in which what moves gets farther than numbers reach; let it end earlier "
                    "(run.end_time)",
                    span_));
  scale_ = ode.absolute_scale;
  if (options_.integrator == IntegratorKind::radau) {
    integrator_ = std::make_unique<Radau>(ode);
  } else {
    integrator_ = std::make_unique<DormandPrince>(ode);
  }
}

void OdeFlow::place(double t, const Vector& y) {
  q_ = y.head(nq_);
  v_ = y.segment(nq_, n_);
  if (springs_ > 0) {
    d_ = y.tail(springs_);
    dynamics_.set_deformation(d_);
  }
  dynamics_.place(std::clamp(t, after_, before_), q_, v_);
}

bool OdeFlow::rate(double t, const Vector& y, Vector& dydt) {
  try {
    place(t, y);
  } catch (const InputError& error) {
    refusal_ = error.what();
    return false;  // a stage that left the domain of the model; the step is reduced
  }
  if (!dynamics_.solve(modes_)) {
    unsolved_ = true;
    return false;
  }
  dynamics_.system().kinematics().rate(q_, v_, qdot_);
  dydt.head(nq_) = qdot_;
  dydt.segment(nq_, n_) = dynamics_.acceleration();
  if (springs_ > 0) {
    dynamics_.deformation_rate(modes_, d_);
    dydt.tail(springs_) = d_;
  }
  return true;
}

void OdeFlow::set_creeping(std::size_t law, bool creeping) {
  creeping_[law] = creeping;
  dynamics_.set_heading(law, creeping ? ModeDynamics::Heading::acceleration : ModeDynamics::Heading::velocity);
}

/// The placed and solved state decides how far a step may go while a law with two tangents slows down; a law that has
/// stopped becomes a trigger at once.
double OdeFlow::longest_step(double t, const Vector& y, std::string& message) {
  double longest = HUGE_VAL;
  place(t, y);
  if (!dynamics_.solve(modes_)) {
    message = fmt::format("the motion is not finite at t = {:.9g}", t);
    return 0;
  }
  for (std::size_t k = 0; k < modes_.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (modes_[k] != Mode::slip || law.tangents != 2 || dynamics_.idle(k) || law.springs()) {
      largest_speed_[k] = 0;
      set_creeping(k, false);
      continue;
    }
    const Index i = law.tangent();
    const double u1 = dynamics_.u()[i], u2 = dynamics_.u()[i + 1], speed = std::hypot(u1, u2);
    const Vector& a = dynamics_.acceleration();
    const double a1 = dynamics_.Wt().row(i).dot(a) + dynamics_.bias()[i],
                 a2 = dynamics_.Wt().row(i + 1).dot(a) + dynamics_.bias()[i + 1];
    const double border = law.contact ? dynamics_.limit(k) * dynamics_.reaction()[law.first] : dynamics_.limit(k);
    if (largest_speed_[k] == 0) {
      const double fine = std::clamp(options_.relative_tolerance, kCreepFine, kCreep);
      const double creep = fine * span_ * border * dynamics_.D()(i, i);
      set_creeping(k, speed < creep);
      largest_speed_[k] = std::max(speed, creep);
    }
    if (creeping_[k] && speed >= largest_speed_[k]) set_creeping(k, false);
    largest_speed_[k] = std::max(largest_speed_[k], speed);
    if (creeping_[k]) {
      longest = std::min(longest, largest_speed_[k] / std::hypot(a1, a2));
      continue;
    }
    const double fall = -(u1 * a1 + u2 * a2);  // -|u| d|u|/dt
    if (!(fall > 0)) continue;
    const double left = speed * speed / fall;
    if (speed <= kStopped * largest_speed_[k]) {
      triggers_.push_back({static_cast<int>(k), Trigger::stop, 1, 0});
      t1_ = std::max(t1_, t + left);
    }
    const double own = border * std::max(dynamics_.D()(i, i), dynamics_.D()(i + 1, i + 1));
    longest = std::min({longest, 0.5 * left, own > 0 ? kTurns * speed / own : HUGE_VAL});
  }
  return longest;
}

/// Of a step through which laws creep, the part after which the fastest of them has hardly a direction: 1 where that is
/// the whole. Velocities begin between s and s², so what is left of a step is less than half of what would have done.
double OdeFlow::part_of_creep() {
  double part = 1;
  for (std::size_t k = 0; k < modes_.size(); ++k) {
    if (!creeping_[k]) continue;
    place(integrator_->t(), integrator_->y());
    const Index i = dynamics_.laws()[k].tangent();
    const double speed = std::hypot(dynamics_.u()[i], dynamics_.u()[i + 1]);
    if (speed > kCreptFar * largest_speed_[k]) part = std::min(part, 0.5 * std::sqrt(largest_speed_[k] / speed));
  }
  return part;
}

/// Twice the shortest flight of the contacts that leave their surface here: a step far longer than it would see of its
/// end what its own accuracy leaves.
double OdeFlow::shortest_rebound(const std::vector<LawStart>& start, double longest) const {
  for (std::size_t k = 0; k < start.size(); ++k) {
    if (modes_[k] != Mode::open || start[k].gap != 1) continue;
    const Index i = dynamics_.laws()[k].first;
    const double u = dynamics_.u()[i], a = dynamics_.Wt().row(i).dot(dynamics_.acceleration()) + dynamics_.bias()[i];
    if (u > 0 && a < 0) longest = std::min(longest, std::max(4 * u / -a, kShortest * time_size(t0_)));
  }
  return longest;
}

StepOutcome OdeFlow::begin(double t, const Vector& q, const Vector& v, const std::vector<Mode>& modes,
                           const std::vector<LawStart>& start, double t_limit, bool continued) {
  modes_ = modes;
  t0_ = t1_ = t;
  if (!integrator_) make_integrator(q, v);
  triggers_.clear();
  at_event_ = false;
  const double near = kSameInstant * time_size(t);
  auto is_break = [&](double x) {
    const auto at = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), x - near);
    return at != breakpoints_.end() && *at <= x + near;
  };
  after_ = is_break(t) ? std::nextafter(t + near, HUGE_VAL) : -HUGE_VAL;
  before_ = is_break(t_limit) ? std::nextafter(t_limit - near, -HUGE_VAL) : HUGE_VAL;
  if (after_ > before_) after_ = before_;
  const Vector d = dynamics_.deformation();
  const auto begin_again = [&] {
    y_.head(nq_) = q;
    y_.segment(nq_, n_) = v;
    y_.tail(springs_) = d;
  };
  begin_again();
  event_y_ = y_;  // what sample() shows of a step that time's round-off leaves without length
  std::string message;
  double longest = longest_step(t, y_, message);
  if (!message.empty()) return {Status::not_finite, message};
  longest = std::min(longest, shortest_rebound(start, t_limit - t));
  if (!triggers_.empty()) {
    q_ = q;
    v_ = (t1_ - t) * v;
    dynamics_.system().kinematics().displace(v_, q_);
    event_y_ = y_;
    event_y_.head(nq_) = q_;
    at_event_ = true;
    return {};
  }
  auto f = [this](double time, const Vector& y, Vector& dydt) { return rate_on_rows(time, y, dydt); };
  const double passing = pass_singular_position(t, t_limit);
  if (passing < t_limit) {
    longest = std::min(longest, passing - t);
    integrator_->restart(t, y_, passing - t);
  } else if (!continued || y_ != integrator_->y() || t != integrator_->t()) {
    integrator_->restart(t, y_, std::min(integrator_->suggested_step(), longest));
  }
  double limit = std::min(resolution_.until(t, t_limit), t + longest);
  if (resolution_.stuck()) return too_fast(t);
  double event = std::nan("");
  std::vector<Monitor> triggers_there;
  const double stretch = dynamics_.mass().row_count() > 0 ? dynamics_.mass().stretch() : 0.0;
  for (int attempt = 0, shortened = 0;;) {
    refusal_.clear();
    unsolved_ = false;
    const OdeStep step = integrator_->step(f, limit);
    if (step == OdeStep::stopped) return {Status::interrupted, ""};
    if (step != OdeStep::accepted) {
      begin_again();
      return ends_at_a_limit(start) ? StepOutcome{} : no_step(t);
    }
    if (integrator_->t() == event) {
      t1_ = event;
      triggers_ = triggers_there;
      break;
    }
    const double h = integrator_->t() - t;
    const bool beside = shortened < kShorterSteps && ends_beside_singular_position(stretch);
    const double part = beside ? 0.5 : part_of_creep();
    if (part < 1) {
      shortened += beside;
      limit = t + part * h;
      begin_again();
      integrator_->restart(t, y_, limit - t);
      continue;
    }
    find_events(start, h);
    take_first(h);
    // What begins like s³ is below the error of a long step; that of a shorter one falls with s⁸.
    const bool in_noise = falls_in_noise(t) && attempt < kShorterSteps && 0.1 * h > kShortest * time_size(t);
    // A law goes on beyond u = 0 as if it slipped the same way still, and a weakening is over there within |u| < ε: the
    // step across may have seen nothing of it. So the one up to the event has to meet the tolerance, too.
    const bool repeat = curved_ && !triggers_.empty() && t1_ - t > kShortest * time_size(t);
    if (!in_noise && !repeat) break;
    begin_again();
    if (in_noise) {
      ++attempt;
      limit = t + 0.1 * h;
    } else {
      limit = event = t1_;
      triggers_there = triggers_;
    }
    integrator_->restart(t, y_, limit - t);
    if (in_noise) longest_step(t, y_, message);
  }
  const double h = integrator_->t() - t;
  if (triggers_.empty()) {
    t1_ = integrator_->t();
  } else {
    polish(h);
  }
  // Events found after a request may be incomplete.
  if (raised(integrator_->options().stop)) return {Status::interrupted, ""};
  return {};
}

/// Steps have shrunk to round-off because beyond t0 no limit belongs to its own reactions. Of one law that is a
/// statement (limit_loop.hpp finds every root), of several it is none.
bool OdeFlow::ends_at_a_limit(const std::vector<LawStart>& start) {
  if (!unsolved_) return false;
  place(t0_, y_);
  dynamics_.solve(modes_);
  make_monitors(dynamics_, modes_, start, monitors_);
  for (const Monitor& monitor : monitors_)
    if (monitor.trigger == Trigger::singular && dynamics_.follows(static_cast<std::size_t>(monitor.law)))
      triggers_.push_back(monitor);
  if (triggers_.size() != 1) {
    triggers_.clear();
    return false;
  }
  t1_ = t0_;
  event_y_ = y_;
  at_event_ = true;
  return true;
}

StepOutcome OdeFlow::no_step(double t) const {
  if (!refusal_.empty()) return {Status::refused, refusal_};
  return {Status::not_converged,
          fmt::format("the integrator cannot meet the tolerance at t = {:.9g} (step below round-off); a force that "
                      "is not smooth, or reactions that grow without bound, cause this; use scheme = \"moreau\" "
                      "there, or a larger run.tolerance",
                      t)};
}

void OdeFlow::sample(double t, FlowSample& sample) {
  if (at_event_ && t == t1_) {
    y_ = event_y_;
  } else if (t1_ == t0_) {
    y_ = event_y_;
  } else {
    integrator_->interpolate(t, y_);
  }
  place(t, y_);
  dynamics_.solve(modes_);
  sample.q = q_;
  dynamics_.system().kinematics().normalize(sample.q);
  sample.v = v_;
  sample.d = dynamics_.deformation();
  if (springs_ > 0) dynamics_.stretch_to_limits(modes_, sample.d);
  sample.r = dynamics_.reaction();
  sample.smooth = dynamics_.smooth();
}

}  // namespace stickslip
