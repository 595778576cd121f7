// SPDX-License-Identifier: Apache-2.0
// Forward dynamics of the chain by Simbody: articulated bodies, O(n). Its hinges have no friction element.
#include <Simbody.h>

#include "chain.hpp"

int main(int argc, char** argv) {
  using namespace SimTK;
  const chain::Arguments arguments = chain::parse(argc, argv);
  if (arguments.steps) {
    std::fprintf(stderr, "Simbody has no joint friction\n");
    return 2;
  }
  MultibodySystem system;
  SimbodyMatterSubsystem matter(system);
  GeneralForceSubsystem forces(system);
  Force::Gravity gravity(forces, matter, -ZAxis, chain::kGravity);
  const Vec3 center(chain::kLength / 2, 0, 0);
  const Inertia central(chain::kInertiaAlong, chain::kInertiaAcross, chain::kInertiaAcross);
  const Body::Rigid link(MassProperties(chain::kMass, center, central.shiftFromMassCenter(center, chain::kMass)));
  // A pin turns about z of its frames; y of the link becomes their z.
  const Rotation about_y(-Pi / 2, XAxis);
  MobilizedBody parent = matter.Ground();
  for (int i = 0; i < arguments.n; ++i) {
    const Rotation frame = i % 2 == 0 ? about_y : Rotation();
    parent = MobilizedBody::Pin(parent, Transform(frame, Vec3(i == 0 ? 0 : chain::kLength, 0, 0)), link,
                                Transform(frame, Vec3(0)));
  }
  State state = system.realizeTopology();
  system.realizeModel(state);
  for (int i = 0; i < arguments.n; ++i) {
    state.updQ()[i] = chain::position(i);
    state.updU()[i] = chain::velocity(i);
  }
  const double rate = chain::rate_of([&] {
    state.updQ();  // all from positions on is computed anew
    system.realize(state, Stage::Acceleration);
  });
  chain::print("simbody", arguments, rate, state.getUDot()[0], state.getUDot()[arguments.n - 1]);
}
