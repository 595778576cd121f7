// SPDX-License-Identifier: Apache-2.0
// The chain by DART: Coulomb friction in the joints by its boxed LCP (Dantzig), semi-implicit Euler; forward dynamics
// by articulated bodies.
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/DegreeOfFreedom.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/simulation/World.hpp>

#include "chain.hpp"

namespace {

dart::dynamics::SkeletonPtr make_chain(int n, double limit) {
  using namespace dart::dynamics;
  SkeletonPtr skeleton = Skeleton::create("chain");
  BodyNode* parent = nullptr;
  for (int i = 0; i < n; ++i) {
    RevoluteJoint::Properties joint;
    joint.mName = "hinge" + std::to_string(i);
    joint.mAxis = i % 2 == 0 ? Eigen::Vector3d::UnitY() : Eigen::Vector3d::UnitZ();
    joint.mT_ParentBodyToJoint.translation() = Eigen::Vector3d(i == 0 ? 0 : chain::kLength, 0, 0);
    BodyNode::Properties body;
    body.mName = "link" + std::to_string(i);
    body.mInertia = Inertia(chain::kMass, Eigen::Vector3d(chain::kLength / 2, 0, 0),
                            Eigen::Vector3d(chain::kInertiaAlong, chain::kInertiaAcross, chain::kInertiaAcross)
                                .asDiagonal()
                                .toDenseMatrix());
    parent = skeleton->createJointAndBodyNodePair<RevoluteJoint>(parent, joint, body).second;
    skeleton->getDof(i)->setCoulombFriction(limit);
    skeleton->getDof(i)->setPosition(chain::position(i));
  }
  return skeleton;
}

}  // namespace

int main(int argc, char** argv) {
  const chain::Arguments arguments = chain::parse(argc, argv);
  const int n = arguments.n;
  if (arguments.steps) {
    dart::dynamics::SkeletonPtr skeleton;
    const int steps = n > 50 ? 60 : n > 10 ? 400 : chain::kSteps;  // it is slow
    const double rate = chain::best_steps_per_second([&] {
      skeleton = make_chain(n, chain::kLimit);
      dart::simulation::WorldPtr world = dart::simulation::World::create();
      world->setTimeStep(chain::kStep);
      world->setGravity(Eigen::Vector3d(0, 0, -chain::kGravity));
      world->addSkeleton(skeleton);
      const double begin = chain::cpu_seconds();
      for (int k = 0; k < steps; ++k) world->step();
      return (chain::cpu_seconds() - begin) * chain::kSteps / steps;
    });
    chain::print("dart", arguments, rate, steps == chain::kSteps ? skeleton->getPosition(0) : NAN,
                 steps == chain::kSteps ? skeleton->getPosition(n - 1) : NAN);
    return 0;
  }
  dart::dynamics::SkeletonPtr skeleton = make_chain(n, 0);
  skeleton->setGravity(Eigen::Vector3d(0, 0, -chain::kGravity));
  Eigen::VectorXd q(n), v(n);
  for (int i = 0; i < n; ++i) {
    q[i] = chain::position(i);
    v[i] = chain::velocity(i);
  }
  const double rate = chain::rate_of([&] {
    skeleton->setPositions(q);
    skeleton->setVelocities(v);
    skeleton->computeForwardDynamics();
  });
  chain::print("dart", arguments, rate, skeleton->getAcceleration(0), skeleton->getAcceleration(n - 1));
}
