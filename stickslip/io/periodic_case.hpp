// SPDX-License-Identifier: Apache-2.0
// Periodic motions of a model file: what its table [periodic] asks for, solved. What is wrong is an InputError with the
// name of the file.
#pragma once

#include <string>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/periodic_result.hpp"

namespace stickslip {

/// Throws InputError where the model has no [periodic].
void require_periodic(const ModelFile& model);

/// The model must have [periodic].
BranchCase branch_case(const ModelFile& model);
/// The model, which must outlive it, with another value of the parameter: by its name, or a number by its path.
BranchBuilder branch_builder(const ModelFile& model, const std::string& parameter);

/// Empty, of that model, which must outlive it. `named`: the model file as the user named it.
PeriodicResult periodic_result(const ModelFile& model, const std::string& named, const BranchOptions& branch);
/// One orbit into the result; from the file of [periodic] start where it names one.
void solve_orbit(const ModelFile& model, PeriodicResult& result, const PeriodicHooks& hooks);
/// periodic.mode
void solve_mode(const ModelFile& model, PeriodicResult& result, StopRequest stop);
/// What the branch ended with, as the solution.
void take_last_of_branch(PeriodicResult& result);

/// Runs an action whose InputErrors are about the model.
template <class Action>
void about_model(const ModelFile& model, const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.starts_with(model.path) ? message : model.path + ": " + message);
  }
}

}  // namespace stickslip
