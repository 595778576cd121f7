// SPDX-License-Identifier: Apache-2.0

// The bouncing ball by Siconos: one Lagrangian body with three coordinates (height, sideways, rotation), Moreau-Jean
// time stepping with θ = 1/2, Newton's impact law, a linear complementarity problem in each step with a contact.
// The first 400 steps are mostly flight; of 20000 steps most are at rest on the ground.

#include <SiconosKernel.hpp>
#include <memory>

#include "harness.hpp"

namespace {

using throughput::kBallStep;

class BallSimulation {
 public:
  explicit BallSimulation(long steps) {
    SP::SiconosVector q(new SiconosVector(3)), v(new SiconosVector(3)), weight(new SiconosVector(3));
    SP::SimpleMatrix m(new SimpleMatrix(3, 3)), direction(new SimpleMatrix(1, 3));
    (*q)(0) = throughput::kBallHeight;
    (*m)(0, 0) = 1.0;
    (*m)(1, 1) = 1.0;
    (*m)(2, 2) = 0.004;
    (*weight)(0) = -throughput::kGravity;
    (*direction)(0, 0) = 1.0;
    ball_.reset(new LagrangianLinearTIDS(q, v, m));
    ball_->setFExtPtr(weight);

    SP::NonSmoothLaw law(new NewtonImpactNSL(throughput::kRestitution));
    SP::Relation relation(new LagrangianLinearTIR(direction));
    SP::Interaction contact(new Interaction(law, relation));
    SP::NonSmoothDynamicalSystem model(new NonSmoothDynamicalSystem(0.0, (steps + 10) * kBallStep));
    model->insertDynamicalSystem(ball_);
    model->link(contact, ball_);

    SP::TimeDiscretisation grid(new TimeDiscretisation(0.0, kBallStep));
    SP::OneStepIntegrator integrator(new MoreauJeanOSI(0.5));
    SP::OneStepNSProblem problem(new LCP());
    simulation_.reset(new TimeStepping(model, grid, integrator, problem));
    simulation_->setNewtonOptions(SICONOS_TS_LINEAR);
    simulation_->initialize();
  }

  void step(double) {
    simulation_->computeOneStep();
    simulation_->nextStep();
  }

  double x0() const { return (*ball_->q())(0); }

 private:
  SP::LagrangianLinearTIDS ball_;
  SP::TimeStepping simulation_;
};

}  // namespace

int main(int argc, char** argv) {
  throughput::Arguments arguments = throughput::parse(argc, argv, {"ball"});
  arguments.n = 1;
  if (arguments.steps == 0) arguments.steps = 20000;
  throughput::measure("siconos_ball", arguments, kBallStep,
                      [&] { return std::make_unique<BallSimulation>(arguments.steps); });
}
