// SPDX-License-Identifier: Apache-2.0
// Derivatives of the conditions of single shooting by one way back along the run.
#include <fmt/format.h>

#include <algorithm>

#include "stickslip/boundary/shooting_map.hpp"
#include "stickslip/common/error.hpp"

namespace stickslip {

/// Some condition names a parameter or an unknown.
bool ShootingMap::uses_numbers() const {
  for (const Condition& condition : problem_->conditions)
    for (const Index slot : condition.value.variables_used())
      if (slot >= segment_.layout().first_parameter()) return true;
  return false;
}

DerivativeMethod ShootingMap::choose_method(DerivativeMethod wanted) const {
  const SimulationOptions& run = problem_->model.options();
  const bool reactions = std::any_of(problem_->conditions.begin(), problem_->conditions.end(),
                                     [&](const Condition& c) { return c.uses_reactions(segment_.layout()); });
  const char* none = !has_adjoint(run)   ? "scheme 'compliant' with its inertia has an adjoint, no other"
                     : node_count() > 0  ? "multiple shooting needs the derivatives of every state at a cut"
                     : end_unknown_ >= 0 ? "the end time is an unknown"
                     : reactions         ? "a condition names a reaction"
                                         : nullptr;
  if (wanted == DerivativeMethod::adjoint && none)
    throw InputError(
        fmt::format("derivatives = \"adjoint\" cannot be had: {}; use \"forward\" or \"automatic\"", none));
  if (wanted != DerivativeMethod::automatic) return wanted;
  return none ? DerivativeMethod::forward : cheaper_method(run, condition_count(), n_);
}

bool ShootingMap::adjoint_slope(const Vector& x, DenseMatrix& J) {
  const Index m = condition_count();
  const ColumnLayout& layout = segment_.layout();
  const Index first = layout.first_position(), numbers = layout.first_reaction() - first;
  J.setZero(m, n_);
  try {
    const SegmentPlan now = plan(0, x);
    SegmentInput input = segment_.input(now, x, std::nullopt);
    input.model.set_options(input.options);
    std::vector<std::string> names;
    for (const Unknown& unknown : problem_->unknowns) names.push_back(unknown.key);
    const Variations variations(input.model, names);
    std::vector<Functional> functionals;
    for (std::size_t i = 0; i < problem_->conditions.size(); ++i) {
      const Expression& value = problem_->conditions[i].value;
      functionals.push_back(
          {now.times[condition_row_[i]], [&, i](const State& state, Vector& slope) {
             Vector row = parts_[0].rows[condition_row_[i]];
             row.segment(first, numbers) << state.q, state.v;
             std::vector<double> gradient(value.variables_used().size());
             const double g = value.gradient({row.data(), static_cast<std::size_t>(row.size())}, gradient);
             for (std::size_t k = 0; k < gradient.size(); ++k)
               if (const Index slot = value.variables_used()[k]; slot >= first && slot < first + numbers)
                 slope[slot - first] = gradient[k];
             return g;
           }});
    }
    const GradientSolution back =
        solve(GradientProblem{input.model.system(), input.start, input.options, variations, std::move(functionals)},
              {DerivativeMethod::adjoint, stop_});
    segment_.count_run();
    message_ = back.message;
    if (back.status != Status::success) return false;
    J = back.gradient;
  } catch (const InputError& error) {
    message_ = error.what();
    return false;
  }
  if (uses_numbers()) add_number_slopes(x, J);
  for (Index i = 0; i < m; ++i) J.row(i) /= scales_[i];
  return J.allFinite();
}

/// What conditions owe to parameters and unknowns that they name.
void ShootingMap::add_number_slopes(const Vector& x, DenseMatrix& J) const {
  const ColumnLayout& layout = segment_.layout();
  for (Index j = 0; j < n_; ++j) {
    const Vector slope = number_slopes(segment_, x, j, problem_->unknowns[static_cast<std::size_t>(j)].size(x[j]));
    for (std::size_t i = 0; i < problem_->conditions.size(); ++i) {
      const Expression& value = problem_->conditions[i].value;
      const Vector& row = parts_[0].rows[condition_row_[i]];
      std::vector<double> gradient(value.variables_used().size());
      value.gradient({row.data(), static_cast<std::size_t>(row.size())}, gradient);
      for (std::size_t k = 0; k < gradient.size(); ++k)
        if (const Index slot = value.variables_used()[k]; slot >= layout.first_parameter())
          J(static_cast<Index>(i), j) += gradient[k] * slope[slot];
    }
  }
}

}  // namespace stickslip
