// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/status.hpp"

namespace stickslip {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::success:
      return "success";
    case Status::not_converged:
      return "not converged";
    case Status::no_solution:
      return "no solution";
    case Status::refused:
      return "refused";
    case Status::not_finite:
      return "not finite";
    case Status::interrupted:
      return "interrupted";
    case Status::audit_failed:
      return "audit failed";
  }
  return "unknown";
}

}  // namespace stickslip
