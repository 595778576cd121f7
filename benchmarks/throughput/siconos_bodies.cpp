// SPDX-License-Identifier: Apache-2.0

// The problem of harness.hpp by Siconos with planar contact: every coordinate x_i gets a height y_i, weight 1 N and a
// contact y_i ≥ 0 with Coulomb friction µ = c / (1 N), so that the friction limit is c as long as the contact carries
// the weight. The nonsmooth problem is solved by Gauss-Seidel over contacts on block storage.
//
// separate: N bodies (x_i, y_i) of unit mass; the springs enter as external forces from the old positions, so no
//           matrix couples two contacts and storage stays sparse. ANOTHER SCHEME, and for N = 2 another mass matrix
//           (I):
//             v⁺ = v + h (f(t+h) - K q) + h r,  q⁺ = q + h v⁺     (θ = 1: symplectic Euler; θ = 1/2 would gain energy)
//           plain_loop --formulation explicit steps the same recursion.
// one_body: one Lagrangian system with 2N coordinates, full M and K, θ = 1/2: scheme (1) of harness.hpp.

#include <SolverOptions.h>

#include <SiconosKernel.hpp>
#include <algorithm>
#include <memory>

#include "harness.hpp"

namespace {

using throughput::kStep;

constexpr double kWeight = 1.0;  // N

// A body at rest on the ground has a gap of 0 up to rounding and must not be seen as open.
constexpr double kGapThreshold = 1e-9;  // m

SP::Interaction planar_contact(int coordinates, int x, int y) {
  SP::SimpleMatrix directions(new SimpleMatrix(2, coordinates));
  (*directions)(0, y) = 1.0;
  (*directions)(1, x) = 1.0;
  SP::NonSmoothLaw law(new NewtonImpactFrictionNSL(0.0, 0.0, throughput::kLimit / kWeight, 2));
  SP::Relation relation(new LagrangianLinearTIR(directions));
  return SP::Interaction(new Interaction(law, relation));
}

SP::TimeStepping time_stepping(SP::NonSmoothDynamicalSystem model, double theta, NM_types storage) {
  SP::TimeDiscretisation grid(new TimeDiscretisation(0.0, kStep));
  SP::MoreauJeanOSI integrator(new MoreauJeanOSI(theta));
  integrator->setConstraintActivationThreshold(kGapThreshold);
  SP::FrictionContact problem(new FrictionContact(2, SICONOS_FRICTION_2D_NSGS));
  problem->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = 1e-12;
  problem->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
  problem->setMStorageType(storage);
  SP::TimeStepping simulation(new TimeStepping(model, grid, integrator, problem));
  simulation->setNewtonOptions(SICONOS_TS_LINEAR);
  simulation->initialize();
  return simulation;
}

class SeparateBodies {
 public:
  SeparateBodies(int n, long steps) : n_(n), x_(n + 2, 0.0) {
    SP::NonSmoothDynamicalSystem model(new NonSmoothDynamicalSystem(0.0, (steps + 10) * kStep));
    const std::vector<double> q0 = throughput::initial_positions(n);
    for (int i = 0; i < n; ++i) {
      SP::SiconosVector q(new SiconosVector(2)), v(new SiconosVector(2)), load(new SiconosVector(2));
      SP::SimpleMatrix m(new SimpleMatrix(2, 2));
      (*q)(0) = q0[i];
      (*load)(1) = -kWeight;
      m->eye();
      SP::LagrangianLinearTIDS body(new LagrangianLinearTIDS(q, v, m));
      body->setFExtPtr(load);
      model->insertDynamicalSystem(body);
      model->link(planar_contact(2, 0, 1), body);
      bodies_.push_back(body);
      loads_.push_back(load);
    }
    simulation_ = time_stepping(model, 1.0, NM_SPARSE_BLOCK);
  }

  void step(double t_end) {
    for (int i = 0; i < n_; ++i) x_[i + 1] = bodies_[i]->q()->getArray()[0];
    for (int i = 0; i < n_; ++i) {
      const double spring = 2.0 * x_[i + 1] - x_[i] - x_[i + 2];
      loads_[i]->getArray()[0] = throughput::force(t_end, i) - spring;
    }
    simulation_->computeOneStep();
    simulation_->nextStep();
  }

  double x0() const { return (*bodies_[0]->q())(0); }

 private:
  int n_;
  std::vector<double> x_;  // with a zero at either end: the walls
  std::vector<SP::LagrangianLinearTIDS> bodies_;
  std::vector<SP::SiconosVector> loads_;
  SP::TimeStepping simulation_;
};

class OneBody {
 public:
  OneBody(int n, long steps) : n_(n), load_(new SiconosVector(2 * n)) {
    SP::SiconosVector q(new SiconosVector(2 * n)), v(new SiconosVector(2 * n));
    SP::SimpleMatrix m(new SimpleMatrix(2 * n, 2 * n)), k(new SimpleMatrix(2 * n, 2 * n));
    SP::SimpleMatrix no_damping(new SimpleMatrix(2 * n, 2 * n));
    const std::vector<double> q0 = throughput::initial_positions(n);
    for (int i = 0; i < n; ++i) {
      (*q)(i) = q0[i];
      (*m)(n + i, n + i) = 1.0;
      (*load_)(n + i) = -kWeight;
      for (int j = 0; j < n; ++j) {
        (*m)(i, j) = throughput::mass(n, i, j);
        (*k)(i, j) = throughput::stiffness(i, j);
      }
    }
    body_.reset(new LagrangianLinearTIDS(q, v, m, k, no_damping));
    body_->setFExtPtr(load_);
    SP::NonSmoothDynamicalSystem model(new NonSmoothDynamicalSystem(0.0, (steps + 10) * kStep));
    model->insertDynamicalSystem(body_);
    for (int i = 0; i < n; ++i) model->link(planar_contact(2 * n, i, n + i), body_);
    simulation_ = time_stepping(model, throughput::kTheta, NM_SPARSE_BLOCK);
  }

  void step(double t_end) {
    for (int i = 0; i < n_; ++i) load_->getArray()[i] = throughput::force(t_end, i);
    simulation_->computeOneStep();
    simulation_->nextStep();
  }

  double x0() const { return (*body_->q())(0); }

 private:
  int n_;
  SP::SiconosVector load_;
  SP::LagrangianLinearTIDS body_;
  SP::TimeStepping simulation_;
};

}  // namespace

int main(int argc, char** argv) {
  throughput::Arguments arguments = throughput::parse(argc, argv, {"separate", "one_body"});
  const bool separate = arguments.formulation == "separate";
  if (arguments.steps == 0) {
    const long n = arguments.n;
    arguments.steps = std::max(2L, separate ? 200000 / n : 300000 / (n * n));
  }
  if (separate) {
    throughput::measure("siconos_bodies", arguments, kStep,
                        [&] { return std::make_unique<SeparateBodies>(arguments.n, arguments.steps); });
  } else {
    throughput::measure("siconos_bodies", arguments, kStep,
                        [&] { return std::make_unique<OneBody>(arguments.n, arguments.steps); });
  }
}
