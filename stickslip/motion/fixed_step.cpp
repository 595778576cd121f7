// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/fixed_step.hpp"

#include <algorithm>

#include "stickslip/solvers/residual.hpp"

namespace stickslip {

void start_record(const System& system, FrictionAssembly& laws, SystemWorkspace& workspace, StepRecord& record) {
  State& s = record.state;
  const Index m = laws.components();
  Vector w(m), u(m);
  laws.evaluate_limits(s.t, s.q, s.v, workspace);
  laws.evaluate_surface(s.t, s.q, s.v, workspace, w);
  laws.relative_velocity(s.v, w, u);
  if (static_cast<Index>(s.modes.size()) != laws.laws()) {
    s.modes.resize(laws.laws());
    for (Index k = 0; k < laws.laws(); ++k) s.modes[k] = laws.mode(k, u);
  }
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse}) *x = Vector::Zero(m);
  record.law_work = Vector::Zero(laws.laws());
  record.friction_velocity = s.v;
  record.energy = {};
  record.energy.kinetic = system.kinetic_energy(s.q, s.v);
  record.energy.potential = system.potential_energy(s.q);
  record.energy.initial = record.energy.kinetic + record.energy.potential;
  record.events.reserve(64 + 2 * static_cast<std::size_t>(laws.laws()));
}

void clear_step(StepRecord& record) {
  record.events.clear();
  record.inclusion = record.membership = record.equation = record.stuck_motion = 0;
  record.problems = 0;
}

void record_residuals(const PrimalProblem& problem, const FrictionAssembly& laws, const Vector& v, const Vector& p,
                      ResidualWorkspace& workspace, StepRecord& record) {
  Vector& balance = workspace.balance;
  balance = problem.g;
  laws.add_reactions(1.0, p, balance);
  // At rest the load and the reactions cancel: the size of the load is then the scale.
  const double scale = std::max(balance.lpNorm<Eigen::Infinity>(), problem.g.lpNorm<Eigen::Infinity>());
  auto relative = [scale](double value) { return scale > 0 ? value / scale : value; };
  problem.A->add_product(-1.0, v, balance);
  raise(record.equation, relative(balance.lpNorm<Eigen::Infinity>()));
  if (laws.laws() == 0) return;
  if (workspace.weights.size() != laws.laws()) {
    workspace.weights = natural_weights(problem);
    workspace.u.resize(laws.components());
  }
  laws.relative_velocity(v, problem.w, workspace.u);
  raise(record.inclusion, relative(natural_map_residual(problem.sets, p, workspace.u, workspace.weights)));
  const double outside = membership_residual(problem.sets, p), largest = p.lpNorm<Eigen::Infinity>();
  raise(record.membership, largest > 0 ? outside / largest : outside);
}

void book_impact(double normal_loss, double friction_loss, StepRecord& record) {
  const double loss = normal_loss + friction_loss;
  const bool apart = friction_loss >= 0 && loss >= 0;
  record.energy.impact_loss += apart ? normal_loss : loss;
  if (apart) record.energy.friction_loss += friction_loss;
  if (loss < 0) record.contact_gain -= loss;
}

}  // namespace stickslip
