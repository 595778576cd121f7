// SPDX-License-Identifier: Apache-2.0
// The first model of the README as a file and as a program: the same system, the same run, bit by bit.
#include <cstdio>

#include "stickslip/io/model_case.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/case.hpp"

using namespace stickslip;

namespace {

const char* const kFile = R"toml(
[parameters]
k = 4.0
c = 0.5
[matrices]
mass      = [[1.0]]
stiffness = [["k"]]
force     = ["2*sin(t)"]
[[friction]]
on    = "x1"
limit = "c"
static_limit = 0.8
[run]
step     = 0.01
end_time = 20
)toml";

}  // namespace

int main() {
  Case first({{"k", 4.0}, {"c", 0.5}}, [](const Parameters& p) {
    MatrixModel model{.coordinates = {"x1"},
                      .mass = dense({{1.0}}),
                      .stiffness = dense({{p["k"]}}),
                      .force = {.components = {function_of_time([](auto t) { return 2.0 * sin(t); })}},
                      .friction = {{.name = "table", .directions = {on(0)}, .limit = p["c"], .static_limit = 0.8}}};
    return CaseParts{.system = make_system(std::move(model)),
                     .initial = {.q = Vector{{0.0}}, .v = Vector{{0.0}}},
                     .options = {.step = 0.01, .end_time = 20}};
  });
  first.set("k", 3.0);
  const Simulation run = first.run();

  Case file = make_case(parse_model(kFile, "first.toml"));
  file.set("k", 3.0);
  const Simulation again = file.run();
  std::printf("x1(20 s) = %.15f m as a program, %.15f m as a file\n", run.final.q[0], again.final.q[0]);
  const bool right = run.status == Status::success && run.final.q == again.final.q && run.final.v == again.final.v;
  return right ? 0 : 1;
}
