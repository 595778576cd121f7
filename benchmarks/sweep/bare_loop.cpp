// SPDX-License-Identifier: Apache-2.0
// What a sweep is compared with: a loop over the library, nothing stored but the final position. Prints wall-clock and
// processor seconds and the sum of the positions.
#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <cstdlib>

#include "stickslip/io/model_case.hpp"

using namespace stickslip;

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "bare_loop MODEL K_COUNT LIMIT_COUNT\n");
    return 2;
  }
  Case model = read_case(argv[1]);
  const int rows = std::atoi(argv[2]), columns = std::atoi(argv[3]);
  double sum = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const NamedNumber values[] = {{"k", 1 + 3.0 * i / (rows - 1)},
                                    {"friction.0.limit", 0.1 + 1.9 * j / (columns - 1)}};
      model.set(values);
      SimulationHooks hooks;
      hooks.keep_trajectory = false;
      sum += model.run(hooks).final.q[0];
    }
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{} {} {}\n", wall, static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec), sum);
}
