// SPDX-License-Identifier: Apache-2.0
// The chain by MuJoCo: hinges with frictionloss. `steps` is mj_step with its default settings: semi-implicit Euler
// (order 1), joint friction as a soft (Huber) constraint row each, Newton's solver with at most 100 iterations to 1e-8.
// Variant `noslip`: ten iterations of its projection that keeps rows from creeping. `dynamics` is mj_forward without
// constraints: composite bodies, sparse factor of M, Newton-Euler.
#include <mujoco/mujoco.h>

#include <cstring>
#include <memory>
#include <string>

#include "chain.hpp"

namespace {

/// As URDF, which is flat: the XML reader of MuJoCo refuses elements that are nested a hundred deep.
std::string model_of(int n, double limit) {
  char text[512];
  std::string xml = "<robot name=\"chain\"><link name=\"link-1\"/>";
  for (int i = 0; i < n; ++i) {
    std::snprintf(text, sizeof text,
                  "<link name=\"link%d\"><inertial><origin xyz=\"%g 0 0\"/><mass value=\"%g\"/><inertia ixx=\"%.17g\" "
                  "iyy=\"%.17g\" izz=\"%.17g\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>",
                  i, chain::kLength / 2, chain::kMass, chain::kInertiaAlong, chain::kInertiaAcross,
                  chain::kInertiaAcross);
    xml += text;
    std::snprintf(
        text, sizeof text,
        "<joint name=\"hinge%d\" type=\"continuous\"><parent link=\"link%d\"/><child link=\"link%d\"/><origin "
        "xyz=\"%g 0 0\"/><axis xyz=\"%s\"/><dynamics friction=\"%g\"/></joint>",
        i, i - 1, i, i == 0 ? 0.0 : chain::kLength, i % 2 == 0 ? "0 1 0" : "0 0 1", limit);
    xml += text;
  }
  return xml + "</robot>";
}

}  // namespace

int main(int argc, char** argv) {
  const chain::Arguments arguments = chain::parse(argc, argv);
  const std::string xml = model_of(arguments.n, arguments.steps ? chain::kLimit : 0.0);
  auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "chain.urdf", static_cast<int>(xml.size()) + 1);
  std::memcpy(files->filedata[mj_findFileVFS(files.get(), "chain.urdf")], xml.c_str(), xml.size() + 1);
  char error[1000] = "";
  mjModel* const model = mj_loadXML("chain.urdf", files.get(), error, sizeof error);
  if (!model) {
    std::fprintf(stderr, "%s\n", error);
    return 1;
  }
  model->opt.timestep = chain::kStep;
  model->opt.gravity[2] = -chain::kGravity;
  model->opt.noslip_iterations = arguments.variant == "noslip" ? 10 : 0;
  mjData* const data = mj_makeData(model);
  const int n = arguments.n;
  const auto start = [&](bool moving) {
    mj_resetData(model, data);
    for (int i = 0; i < n; ++i) {
      data->qpos[i] = chain::position(i);
      data->qvel[i] = moving ? chain::velocity(i) : 0.0;
    }
  };
  if (arguments.steps) {
    const double rate = chain::best_steps_per_second([&] {
      start(false);
      mj_forward(model, data);
      const double begin = chain::cpu_seconds();
      for (int k = 0; k < chain::kSteps; ++k) mj_step(model, data);
      return chain::cpu_seconds() - begin;
    });
    chain::print("mujoco", arguments, rate, data->qpos[0], data->qpos[n - 1]);
  } else {
    start(true);
    const double rate = chain::rate_of([&] { mj_forwardSkip(model, data, mjSTAGE_NONE, 1); });
    chain::print("mujoco", arguments, rate, data->qacc[0], data->qacc[n - 1]);
  }
}
