// SPDX-License-Identifier: Apache-2.0
// How a computation ended. A numerical outcome is a status with a remedy, never an exception.
#pragma once

#include <string_view>

namespace stickslip {

enum class Status {
  success,
  not_converged,  ///< the iteration or time limit was reached; the residual says how far it came
  no_solution,    ///< certified: the problem has none
  refused,        ///< the method does not apply to this problem (the message says which does)
  not_finite,     ///< a force, limit or state became NaN or infinite
  interrupted,    ///< stopped on request; everything computed so far is kept
  audit_failed    ///< the run broke a guarantee of its scheme
};

std::string_view to_string(Status status);

}  // namespace stickslip
