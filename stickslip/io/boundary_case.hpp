// SPDX-License-Identifier: Apache-2.0
// Problems of boundary/ from the tables [shoot] and [fit] of a model file. What is wrong is an InputError with the
// place in the file.
#pragma once

#include "stickslip/boundary/fit.hpp"
#include "stickslip/boundary/shooting.hpp"
#include "stickslip/io/measurement_file.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip {

/// model.shoot must be there.
ShootingProblem shooting_problem(const ModelFile& model);

/// model.fit must be there. Columns of the data that the model has, or that fit.columns names, are compared.
FitProblem fit_problem(const ModelFile& model, const MeasurementTable& data);

/// KEY=VALUE for every unknown: the settings with which `run` makes the same motion.
std::vector<std::string> settings_of(const ModelFile& model, const std::vector<Unknown>& unknowns,
                                     const Vector& values);

}  // namespace stickslip
