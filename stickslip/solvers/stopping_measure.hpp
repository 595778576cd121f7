// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace stickslip {

/// Which of the residuals (problem.hpp) ends a solve. With strict_error, unit_free decides about success and
/// strict_error is brought below the tolerance too where a bounded effort can (contact_solver.hpp).
enum class StoppingMeasure { inclusion, error, strict_error, unit_free };

}  // namespace stickslip
