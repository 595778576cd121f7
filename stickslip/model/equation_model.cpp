// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/equation_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/model/equation_forces.hpp"
#include "stickslip/model/equation_inertia.hpp"
#include "stickslip/model/expression_laws.hpp"
#include "stickslip/model/function_shape.hpp"

namespace stickslip {

namespace {

void check_mass_functions(const EquationModel& model) {
  const std::size_t n = model.coordinates.size();
  if (model.mass.size() != n)
    throw InputError(fmt::format("mass has {} rows, but there are {} coordinates", model.mass.size(), n));
  for (std::size_t i = 0; i < n; ++i) {
    if (model.mass[i].size() != n)
      throw InputError(
          fmt::format("mass[{}] has {} entries, but there are {} coordinates", i, model.mass[i].size(), n));
    for (std::size_t j = 0; j < n; ++j)
      require_arguments(model.mass[i][j], fmt::format("mass[{}][{}]", i, j), Arguments::position, model.coordinates);
  }
  constexpr int kSamples = 8;
  std::mt19937 random(20043);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Vector q(static_cast<Index>(n));
  for (int sample = 0; sample < kSamples; ++sample) {
    for (double& x : q) x = sample % 2 == 0 ? 2 * uniform(random) : 1 + 0.5 * uniform(random);
    const auto x = gathered_variables(q, Vector::Zero(q.size()));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double lower = model.mass[i][j](x), upper = model.mass[j][i](x);
        constexpr double kRoundOff = 1e-12;
        if (std::abs(lower - upper) > kRoundOff * std::max(std::abs(lower), std::abs(upper)))
          throw InputError(fmt::format(
              "mass is not symmetric: mass[{0}][{1}] = {2:.6g}, but mass[{1}][{0}] = {3:.6g} at {4}; M must "
              "equal its transpose",
              i, j, lower, upper, describe_place(model.coordinates, q)));
      }
  }
}

}  // namespace

std::unique_ptr<System> make_system(EquationModel model) {
  check_coordinates(model.coordinates);
  const Index n = static_cast<Index>(model.coordinates.size());
  if (model.kinetic_energy) {
    if (!model.mass.empty()) throw InputError("mass and kinetic_energy both give the inertia; give one of them");
    require_arguments(*model.kinetic_energy, "kinetic_energy", Arguments::position_velocity, model.coordinates);
    if (model.kinetic_energy->is_constant())
      throw InputError("kinetic_energy is constant; it must be quadratic in the velocities");
  } else {
    check_mass_functions(model);
  }
  if (!model.force.empty() && static_cast<Index>(model.force.size()) != n)
    throw InputError(fmt::format("force has {} components, but there are {} coordinates", model.force.size(), n));
  for (std::size_t i = 0; i < model.force.size(); ++i)
    require_arguments(model.force[i], fmt::format("force[{}]", i), Arguments::time_position_velocity,
                      model.coordinates);
  if (model.potential) require_arguments(*model.potential, "potential", Arguments::position, model.coordinates);
  if (model.dissipation)
    require_arguments(*model.dissipation, "dissipation", Arguments::position_velocity, model.coordinates);
  check_laws(model.friction, model.contacts, model.constraints, n);
  auto kinematics = std::make_unique<FlatKinematics>(model.coordinates);
  auto laws =
      expression_laws(std::move(model.friction), std::move(model.contacts), std::move(model.constraints), *kinematics);
  if (model.compliance) laws.set_compliance(std::move(*model.compliance));
  auto inertia = std::make_unique<EquationInertia>(std::move(model.mass), model.kinetic_energy, model.coordinates);
  auto forces = std::make_unique<EquationForces>(model, inertia->has_velocity_force());
  return std::make_unique<System>(SystemParts{std::move(model.title), std::move(kinematics), std::move(inertia),
                                              std::move(forces), std::move(laws)});
}

}  // namespace stickslip
