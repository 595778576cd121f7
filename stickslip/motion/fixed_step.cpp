// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/fixed_step.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/solvers/residual.hpp"

namespace stickslip {

void start_record(const System& system, FrictionAssembly& laws, SystemWorkspace& workspace, StepRecord& record) {
  State& s = record.state;
  const Index m = laws.components();
  Vector w(m), u(m);
  laws.evaluate_limits(s.t, s.q, s.v, workspace, /*following=*/false);  // reactions are not known yet
  laws.evaluate_surface(s.t, s.q, s.v, workspace, w);
  laws.relative_velocity(s.v, w, u);
  if (static_cast<Index>(s.modes.size()) != laws.laws()) {
    s.modes.resize(laws.laws());
    for (Index k = 0; k < laws.laws(); ++k) s.modes[k] = laws.mode(k, u);
  }
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse}) *x = Vector::Zero(m);
  record.law_work = Vector::Zero(laws.laws());
  record.energy = {};
  record.energy.kinetic = system.inertia().kinetic_energy(s.q, s.v);
  record.energy.potential = system.forces().potential_energy(s.q);
  record.energy.initial = record.energy.kinetic + record.energy.potential;
  record.events.reserve(64 + 2 * static_cast<std::size_t>(laws.laws()));
}

void clear_step(StepRecord& record) {
  record.events.clear();
  record.inclusion = record.membership = 0;
  record.problems = 0;
}

void InverseDiagonal::refresh(const PrimalProblem& problem) {
  if (version == problem.A_version && value.size() == problem.g.size()) return;
  version = problem.A_version;
  value.resize(problem.g.size());
  for (Index i = 0; i < value.size(); ++i) value[i] = 1.0 / (*problem.A)(i, i);
}

void add_up_loads(const PrimalProblem& problem, const Vector& p, Vector& load) {
  load.resize(problem.g.size());
  for (Index i = 0; i < load.size(); ++i) load[i] = std::abs(problem.g[i]);
  const SparseMatrix& Wt = problem.Wt;
  const int *row = Wt.outerIndexPtr(), *column = Wt.innerIndexPtr();
  const double* value = Wt.valuePtr();
  for (Index k = 0; k < p.size(); ++k)
    for (int at = row[k]; at < row[k + 1]; ++at) load[column[at]] += std::abs(value[at] * p[k]);
}

BalanceSize balance_size(const Vector& balance, const Vector& load, const Vector& inverse_diagonal) {
  BalanceSize size;
  double residual2 = 0, terms2 = 0, twice = 0;
  for (Index i = 0; i < balance.size(); ++i) {
    const double energy = load[i] * load[i] * inverse_diagonal[i];
    raise(residual2, balance[i] * balance[i] * inverse_diagonal[i]);
    raise(terms2, energy);
    twice += energy;
  }
  return {std::sqrt(residual2), std::sqrt(terms2), 0.5 * twice};
}

void VelocityIteration::start(const Vector& v0) {
  size_ = v0.cwiseAbs();
  change_ = HUGE_VAL;
  stalled_ = 0;
}

bool VelocityIteration::settled(const Vector& before, const Vector& v, const Vector& load,
                                const Vector& inverse_diagonal, double tolerance) {
  constexpr double kNearRoundOff = 100;  // times the tolerance
  constexpr int kStalled = 3;
  const double previous = change_;
  double change_energy = 0, energy = 0;
  change_ = 0;
  for (Index i = 0; i < v.size(); ++i) {
    size_[i] = std::max({size_[i], std::abs(v[i]), load[i] * inverse_diagonal[i]});
    const double change = std::abs(v[i] - before[i]);
    if (change > 0 || std::isnan(change)) raise(change_, change / size_[i]);
    change_energy += change * change / inverse_diagonal[i];
    energy += size_[i] * size_[i] / inverse_diagonal[i];
  }
  if (change_ <= tolerance) return true;
  if (change_ < previous) return false;
  if (change_ <= kNearRoundOff * tolerance) return true;
  return ++stalled_ >= kStalled && std::sqrt(change_energy) <= kNearRoundOff * tolerance * std::sqrt(energy);
}

void record_residuals(const PrimalProblem& problem, const FrictionAssembly& laws, const Vector& v, const Vector& p,
                      ResidualWorkspace& workspace, StepRecord& record, MomentumAudit& momentum, StickAudit& stick) {
  Vector& balance = workspace.balance;
  workspace.inverse_diagonal.refresh(problem);
  const Vector& inverse_diagonal = workspace.inverse_diagonal.value;
  add_up_loads(problem, p, workspace.load);
  balance = problem.g;
  laws.add_reactions(1.0, p, balance);
  problem.A->add_product(-1.0, v, balance);
  const BalanceSize size = balance_size(balance, workspace.load, inverse_diagonal);
  raise(workspace.momentum, size.terms);
  raise(momentum.step, workspace.momentum > 0 ? size.residual / workspace.momentum : size.residual);
  record.energy_terms = size.energy;
  if (laws.laws() == 0) return;
  if (workspace.weights.size() != laws.laws()) {
    workspace.weights = natural_weights(problem);
    workspace.u.resize(laws.components());
  }
  laws.relative_velocity(v, problem.w, workspace.u);
  // In the unit of the reactions: what the load would ask of a law. At rest load and reactions cancel.
  double scale = 0;
  const int *row = problem.Wt.outerIndexPtr(), *column = problem.Wt.innerIndexPtr();
  const double* value = problem.Wt.valuePtr();
  double fastest = 0;
  for (Index k = 0; k < laws.laws(); ++k) {
    const double weight = workspace.weights[k];
    for (Index i = laws.first(k), end = i + laws.size(k); i < end; ++i) {
      double velocity = std::abs(problem.w[i]);
      for (int at = row[i]; at < row[i + 1]; ++at)
        velocity += std::abs(value[at]) * workspace.load[column[at]] * inverse_diagonal[column[at]];
      scale = std::max(std::max(scale, std::abs(p[i])), weight * velocity);
      fastest = std::max(fastest, velocity);
    }
  }
  stick.step.terms = fastest * record.duration;
  const double natural = natural_map_residual(problem.sets, p, workspace.u, workspace.weights);
  raise(record.inclusion, scale > 0 ? natural / scale : natural);
  const double outside = membership_residual(problem.sets, p), largest = p.lpNorm<Eigen::Infinity>();
  raise(record.membership, largest > 0 ? outside / largest : outside);
}

double book_impact(double normal_loss, double friction_loss, EnergyLedger& energy) {
  const double loss = normal_loss + friction_loss;
  const bool apart = friction_loss >= 0 && loss >= 0;
  energy.impact_loss += apart ? normal_loss : loss;
  if (apart) energy.friction_loss += friction_loss;
  return std::max(0.0, -loss);
}

}  // namespace stickslip
