// SPDX-License-Identifier: Apache-2.0

// Scheme (1) of harness.hpp by Siconos in first-order form: state x = (q, v), friction as a relay on y = v.
//
//   [I 0; 0 M] x' = [0 I; -K 0] x + (0, f) + B λ,    y = C x = v,    -y ∈ N_[-c,c](λ)
//
// Its θ-method on this system is scheme (1): b is constant for the integrator and rewritten before each step with
// f(t+h). The state has 2N unknowns and all matrices are dense, which is what the formulation offers.
//
// Formulations: lemke (pivoting), pgs (projected Gauss-Seidel) for the relay problem of the step.

#include <SolverOptions.h>

#include <SiconosKernel.hpp>
#include <algorithm>
#include <memory>

#include "harness.hpp"

namespace {

using throughput::kStep;

class RelaySimulation {
 public:
  RelaySimulation(int n, int solver, long steps) : n_(n) {
    SP::SiconosVector x0(new SiconosVector(2 * n));
    SP::SimpleMatrix m(new SimpleMatrix(2 * n, 2 * n)), a(new SimpleMatrix(2 * n, 2 * n));
    SP::SimpleMatrix c(new SimpleMatrix(n, 2 * n)), b(new SimpleMatrix(2 * n, n));
    const std::vector<double> q0 = throughput::initial_positions(n);
    for (int i = 0; i < n; ++i) {
      (*x0)(i) = q0[i];
      (*m)(i, i) = 1.0;
      (*a)(i, n + i) = 1.0;
      (*c)(i, n + i) = 1.0;
      (*b)(n + i, i) = 1.0;
      for (int j = 0; j < n; ++j) {
        (*m)(n + i, n + j) = throughput::mass(n, i, j);
        (*a)(n + i, j) = -throughput::stiffness(i, j);
      }
    }
    load_.reset(new SiconosVector(2 * n));
    body_.reset(new FirstOrderLinearTIDS(x0, a, load_));
    if (n == 2) body_->setMPtr(m);  // an identity left out saves the peer a dense product per step

    SP::NonSmoothLaw law(new RelayNSL(n, -throughput::kLimit, throughput::kLimit));
    SP::Relation relation(new FirstOrderLinearTIR(c, b));
    SP::Interaction interaction(new Interaction(law, relation));
    SP::NonSmoothDynamicalSystem model(new NonSmoothDynamicalSystem(0.0, (steps + 10) * kStep));
    model->insertDynamicalSystem(body_);
    model->link(interaction, body_);

    SP::TimeDiscretisation grid(new TimeDiscretisation(0.0, kStep));
    SP::OneStepIntegrator integrator(new EulerMoreauOSI(throughput::kTheta));
    SP::Relay problem(new Relay(solver));
    problem->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = 1e-12;
    problem->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
    simulation_.reset(new TimeStepping(model, grid, integrator, problem));
    // The system is linear: one Newton iteration is exact, and the residual check that would follow is skipped.
    simulation_->setNewtonOptions(SICONOS_TS_LINEAR);
    simulation_->initialize();
  }

  void step(double t_end) {
    double* load = load_->getArray() + n_;
    for (int i = 0; i < n_; ++i) load[i] = throughput::force(t_end, i);
    simulation_->computeOneStep();
    simulation_->nextStep();
  }

  double x0() const { return (*body_->x())(0); }

 private:
  int n_;
  SP::SiconosVector load_;
  SP::FirstOrderLinearTIDS body_;
  SP::TimeStepping simulation_;
};

}  // namespace

int main(int argc, char** argv) {
  throughput::Arguments arguments = throughput::parse(argc, argv, {"lemke", "pgs"});
  const int solver = arguments.formulation == "lemke" ? SICONOS_RELAY_LEMKE : SICONOS_RELAY_PGS;
  if (arguments.steps == 0) {
    arguments.steps = arguments.n <= 2 ? 150000 : arguments.n <= 10 ? 20000 : arguments.n <= 100 ? 60 : 2;
  }
  throughput::measure("siconos_relay", arguments, kStep,
                      [&] { return std::make_unique<RelaySimulation>(arguments.n, solver, arguments.steps); });
}
