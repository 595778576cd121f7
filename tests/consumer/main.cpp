// SPDX-License-Identifier: Apache-2.0
// A block that slides to rest: v0²/(2 c/m) = 0.5 m.
#include <cmath>
#include <stickslip/io/model_file.hpp>

int main() {
  const stickslip::ModelFile model = stickslip::parse_model(
      "[matrices]\nmass = [[1]]\n[[friction]]\non = 'x1'\nlimit = 1\n[initial]\nvelocity = [1]\n[run]\nstep = "
      "0.01\nend_time = 2\n",
      "block.toml");
  const stickslip::Simulation run = stickslip::simulate(*model.system, model.initial, model.run);
  return std::abs(run.final.q[0] - 0.5) < 1e-12 ? 0 : 1;
}
