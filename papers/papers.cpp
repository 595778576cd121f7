// SPDX-License-Identifier: Apache-2.0
#include "papers/papers.hpp"

#include <fmt/format.h>

#include <array>

#include "papers/compliance/compliance_paper.hpp"
#include "papers/periodic/periodic_paper.hpp"
#include "papers/splitting/splitting_paper.hpp"
#include "papers/stick-slip/stick_slip_paper.hpp"
#include "papers/viscoelastic/viscoelastic_paper.hpp"
#include "stickslip/common/version.hpp"

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
  static constexpr std::array<PaperInfo, 5> papers{{
      {"splitting",
       "R. Glowinski, L.J. Shiau, Y.M. Kuo, G. Nasser, The Numerical Simulation of Friction Constrained Motions (II), "
       "2004",
       reproduce_splitting},
      {"stick-slip",
       "R.J. VanderVoort, R.P. Singh, Notes on Implementation of Coulomb Friction in Coupled Dynamical Simulations, "
       "NASA N87-22746, 1987",
       reproduce_stick_slip},
      {"compliance",
       "J.S. Pang, Favorable Mathematical Properties of Frictional Contact Problems with Local Compliance, 2014",
       reproduce_compliance},
      {"viscoelastic",
       "A. Fidlin, J. Deppler, B. Braun, Convergency of viscoelastic constraints to nonholonomic idealization",
       reproduce_viscoelastic},
      {"periodic",
       "M. Legrand, C. Pierre, Compact weighted residual formulation for periodic solutions of systems undergoing "
       "unilateral contact and frictional occurrences",
       reproduce_periodic},
  }};
  return papers;
}

Reproduction begin_reproduction(std::string title, std::string source) {
  Reproduction result;
  result.document.title = std::move(title);
  result.document.subtitle = std::move(source);
  result.document.generator = fmt::format("stickslip {}", version());
  return result;
}

Reproduction stopped(Reproduction result) {
  result.document.ok = false;
  result.document.status = "interrupted";
  return result;
}

void add_claims(Reproduction& result) {
  ReportDocument& page = result.document;
  ReportTable claims{
      "Claims", "Every verdict is computed from the runs of this page.", {"claim", "paper", "ours", "verdict"}, {}, 3};
  page.ok = true;
  for (const Claim& claim : result.claims) {
    claims.rows.push_back({claim.claim, claim.paper, claim.ours, std::string(to_string(claim.verdict))});
    page.ok &= claim.verdict != Verdict::failed;
  }
  page.status = page.ok ? "every claim confirmed or corrected" : "a claim failed";
  page.blocks.push_back(claims);
}

}  // namespace stickslip
