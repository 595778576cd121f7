// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/period_map.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "stickslip/common/error.hpp"
#include "stickslip/common/null_space.hpp"
#include "stickslip/motion/elastic_friction.hpp"
#include "stickslip/motion/event/taylor_flow.hpp"

namespace stickslip {

std::string event_refusal(const System& system) {
  try {
    require_supported(SchemeKind::event, system);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

PeriodMap::PeriodMap(const System& system, double t0, Vector q_scale, Vector v_scale, const PeriodMapOptions& options)
    : system_(system),
      t0_(t0),
      q_scale_(std::move(q_scale)),
      v_scale_(std::move(v_scale)),
      options_(options),
      dynamics_(system) {
  std::string reason;
  elastic_ = has_elastic_friction(system);
  z_scale_.setOnes(dynamics_.spring_components());
  exact_ = TaylorFlow::takes(system, reason) && options.event.flow != FlowKind::integrator;
}

const std::vector<double>& PeriodMap::breakpoints(double from, double to) {
  if (from < searched_from_ || to > searched_to_) {
    searched_from_ = from;
    searched_to_ = to + (to - from);
    breakpoints_ = system_.breakpoints(searched_from_, searched_to_);
  }
  return breakpoints_;
}

bool PeriodMap::flow(State state, double t_end, const std::vector<double>& times, const Watch& watch,
                     StepRecord& record, const Variations* variations) {
  message_.clear();
  try {
    require_supported(SchemeKind::event, system_);
    const TimeSpan span{state.t, t_end};
    const auto scheme = std::make_unique<EventScheme>(system_, options_.event, options_.tolerance, span,
                                                      breakpoints(state.t, t_end), options_.stop, variations);
    record = {};
    record.state = std::move(state);
    scheme->start(record);
    if (watch) watch(record);
    std::size_t next = 0;
    while (record.state.t < t_end) {
      while (next < times.size() && times[next] <= record.state.t) ++next;
      const double target = next < times.size() ? std::min(times[next], t_end) : t_end;
      const StepOutcome outcome = scheme->step(target, record);
      if (outcome.status != Status::success) {
        message_ = outcome.message;
        return false;
      }
      if (watch) watch(record);
    }
  } catch (const InputError& error) {
    message_ = error.what();
    return false;
  }
  return record.state.q.allFinite() && record.state.v.allFinite();
}

DenseMatrix PeriodMap::directions(const State& state, const std::vector<std::size_t>& held) {
  const Index n = system_.info().nv(), nz = z_scale_.size();
  dynamics_.place(state.t, state.q, state.v);
  scale_springs();
  std::vector<Vector> rows;  // · (δq, δv, δz) = 0
  const auto position = [&](const auto& row) {
    rows.push_back(Vector::Zero(2 * n + nz));
    rows.back().head(n) = row.transpose();
  };
  const auto velocity = [&](const auto& row) {
    rows.push_back(Vector::Zero(2 * n + nz));
    rows.back().segment(n, n) = row.transpose();
  };
  for (std::size_t k = 0; k < dynamics_.laws().size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    const Mode mode = state.modes[k];
    const bool stays = std::find(held.begin(), held.end(), k) != held.end();
    if (law.springs()) {
      if (mode == Mode::stick && !stays) continue;  // its spring has the length that history gave it
      if (mode != Mode::stick && law.size > 1) {    // at its limit in some direction
        rows.push_back(Vector::Zero(2 * n + nz));
        rows.back().segment(2 * n + law.spring, law.size) = state.z.segment(law.spring, law.size);
        continue;
      }
      for (int a = 0; a < law.size; ++a) {
        rows.push_back(Vector::Zero(2 * n + nz));
        rows.back()[2 * n + law.spring + a] = 1;
        if (mode == Mode::stick) rows.back().head(n) = -dynamics_.Wt().row(law.tangent() + a).transpose();
      }
      continue;
    }
    if (mode == Mode::open) continue;
    if (law.contact) {
      position(dynamics_.Wt().row(law.first));
      velocity(dynamics_.Wt().row(law.first));
    }
    if (mode != Mode::stick) continue;
    for (int a = 0; a < law.tangents; ++a) {
      velocity(dynamics_.Wt().row(law.tangent() + a));
      if (stays) position(dynamics_.Wt().row(law.tangent() + a));
    }
  }
  const auto& constraints = system_.laws().constraints();
  for (std::size_t k = 0; k < constraints.size(); ++k) {
    const auto row = dynamics_.constraint_rows().A.row(static_cast<Index>(k));
    if (constraints[k].holonomic) position(row);
    velocity(row);
  }
  DenseMatrix A(static_cast<Index>(rows.size()), 2 * n + nz);
  for (std::size_t k = 0; k < rows.size(); ++k)
    A.row(static_cast<Index>(k)) = rows[k].cwiseProduct(scales()).normalized().transpose();
  return null_space(A).V2;
}

/// What the motion may make of a spring.
void PeriodMap::scale_springs() {
  for (const ModeDynamics::Law& law : dynamics_.laws())
    for (int a = 0; law.springs() && a < law.size; ++a) {
      const double way = dynamics_.Wt().row(law.tangent() + a).cwiseAbs().dot(q_scale_);
      z_scale_[law.spring + a] = way > 0 ? way : 1;
    }
}

Vector PeriodMap::scales() const {
  Vector all(2 * v_scale_.size() + z_scale_.size());
  all << q_scale_, v_scale_, z_scale_;
  return all;
}

Vector PeriodMap::difference(const State& to, const State& from) const {
  const Index n = v_scale_.size(), nz = z_scale_.size();
  Vector delta(n), y = Vector::Zero(2 * n + nz);
  system_.kinematics().difference(to.q, from.q, delta);
  y.head(2 * n) << delta, to.v - from.v;
  if (nz > 0 && to.z.size() == nz && from.z.size() == nz) y.tail(nz) = to.z - from.z;
  return y.cwiseQuotient(scales());
}

void PeriodMap::displace(const Vector& step, State& state) {
  const Index n = v_scale_.size(), nz = z_scale_.size();
  system_.kinematics().displace(step.head(n).cwiseProduct(q_scale_), state.q);
  state.v += step.segment(n, n).cwiseProduct(v_scale_);
  if (nz == 0 || state.z.size() != nz) return;
  state.z += step.tail(nz).cwiseProduct(z_scale_);
  dynamics_.place(state.t, state.q, state.v);
  for (std::size_t k = 0; k < state.modes.size(); ++k) {  // limits follow the state
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (!law.springs() || state.modes[k] == Mode::stick) continue;
    auto z = state.z.segment(law.spring, law.size);
    if (z.norm() > 0) z *= dynamics_.limit(k) / (law.stiffness * z.norm());
  }
}

bool PeriodMap::derivative(const State& start, double T, const DenseMatrix& Z, DenseMatrix& D) {
  // Contacts that stay closed on surfaces of time are not carried: differences serve there.
  const bool carry = !elastic_ && !system_.laws().contact_source().surfaces_move();
  carried_ = carry && carried_derivative(start, T, Z, D);
  return carried_ || difference_derivative(start, T, Z, D);
}

bool PeriodMap::carried_derivative(const State& start, double T, const DenseMatrix& Z, DenseMatrix& D) {
  const Index n = v_scale_.size();
  State first = start;
  first.modes.clear();
  const Variations variations = Variations::of_state(system_, first);
  StepRecord record;
  if (!flow(first, start.t + T, {}, {}, record, &variations)) return false;
  const DenseMatrix& S = record.sensitivity;
  if (S.rows() < 2 * n || S.cols() < 2 * n || !S.allFinite()) return false;
  Vector scale(2 * n);
  scale << q_scale_, v_scale_;
  D = scale.cwiseInverse().asDiagonal() * S.topLeftCorner(2 * n, 2 * n) * scale.asDiagonal() * Z;
  return true;
}

bool PeriodMap::difference_derivative(const State& start, double T, const DenseMatrix& Z, DenseMatrix& D) {
  // Fourth order where the flow is exact to round-off; with an integrator its noise asks for longer steps.
  const double delta = exact_ ? 3e-5 : 1e-4;
  D.resize(Z.rows(), Z.cols());
  StepRecord record;
  for (Index k = 0; k < Z.cols(); ++k) {
    Vector sum = Vector::Zero(Z.rows());
    for (const auto& [place, weight] : {std::pair{1.0, 8.0}, {-1.0, -8.0}, {2.0, -1.0}, {-2.0, 1.0}}) {
      State neighbour = start;
      displace(place * delta * Z.col(k), neighbour);
      neighbour.modes.clear();
      if (!flow(neighbour, start.t + T, {}, {}, record)) return false;
      sum += weight / (12 * delta) * difference(record.state, start);
    }
    D.col(k) = sum;
  }
  return D.allFinite();
}

}  // namespace stickslip
