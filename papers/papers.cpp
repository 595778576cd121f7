// SPDX-License-Identifier: Apache-2.0
#include "papers/papers.hpp"

#include <array>

#include "papers/splitting/splitting_paper.hpp"

namespace stickslip {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::confirmed:
      return "confirmed";
    case Verdict::corrected:
      return "corrected";
    case Verdict::failed:
      break;
  }
  return "failed";
}

std::span<const PaperInfo> paper_table() {
  static constexpr std::array<PaperInfo, 1> papers{{
      {"splitting",
       "R. Glowinski, L.J. Shiau, Y.M. Kuo, G. Nasser, The Numerical Simulation of Friction Constrained Motions (II), "
       "2004",
       reproduce_splitting},
  }};
  return papers;
}

}  // namespace stickslip
