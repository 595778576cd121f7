// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/contact_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/common/error.hpp"

namespace stickslip {

void validate(const ContactElement& element) {
  auto refuse = [&](const std::string& what) { throw InputError(fmt::format("contact '{}': {}", element.name, what)); };
  if (element.tangents < 0 || element.tangents > 2)
    refuse(fmt::format("{} tangential directions; 0, 1 or 2 are possible", element.tangents));
  if (!(element.mu >= 0) || !std::isfinite(element.mu))
    refuse(fmt::format("mu = {} must be finite and >= 0", element.mu));
  if (element.mu_static && (!(*element.mu_static >= element.mu) || !std::isfinite(*element.mu_static)))
    refuse(fmt::format("mu_static = {} must be finite and >= mu = {}", *element.mu_static, element.mu));
  if (!(element.restitution >= 0 && element.restitution <= 1))
    refuse(fmt::format("restitution = {} must lie in [0, 1]", element.restitution));
  if (element.impact == ImpactLaw::energetic && element.cone != SetKind::friction_cone)
    refuse(
        "impact = \"energetic\" follows the slip through the impact and needs cone = \"disk\"; use it, or "
        "impact = \"poisson\"");
  if (element.cone != SetKind::friction_cone && element.tangents != 2)
    refuse(fmt::format("the cone '{}' needs two tangential directions", to_string(element.cone)));
  if (element.cone == SetKind::polygonal_cone && (element.facets < 4 || element.facets % 2 != 0))
    refuse(fmt::format("facets = {} must be even and >= 4", element.facets));
}

bool impacts_never_gain(const std::vector<ContactElement>& contacts) {
  const auto all = [&](auto&& holds) { return std::all_of(contacts.begin(), contacts.end(), holds); };
  if (all([](const ContactElement& c) { return c.impact == ImpactLaw::energetic || c.restitution == 0; })) return true;
  const double e = contacts.front().restitution;
  const bool one_e = all([&](const ContactElement& c) { return c.restitution == e; });
  const bool smooth = all([](const ContactElement& c) { return c.tangents == 0 || c.mu == 0; });
  if (all([](const ContactElement& c) { return c.impact == ImpactLaw::newton; })) return one_e && smooth;
  return all([](const ContactElement& c) { return c.impact == ImpactLaw::poisson; }) && (one_e || smooth);
}

double gap_terms(const ContactPoints& found, Index row, const Vector& q) {
  double sum = 0;
  if (q.size() != found.Wt.cols())  // numbers of q that are not those of v: the largest for all
    return found.Wt.row(row).cwiseAbs().sum() * q.lpNorm<Eigen::Infinity>();
  for (int at = found.Wt.outerIndexPtr()[row]; at < found.Wt.outerIndexPtr()[row + 1]; ++at)
    sum += std::abs(found.Wt.valuePtr()[at] * q[found.Wt.innerIndexPtr()[at]]);
  return sum;
}

FrictionSection ContactElement::section() const {
  if (polygon) return *polygon;
  if (cone == SetKind::box_cone) return FrictionSection::box();
  if (cone == SetKind::polygonal_cone) return FrictionSection::regular(facets, false, std::numbers::pi / facets);
  return {};
}

}  // namespace stickslip
