// SPDX-License-Identifier: Apache-2.0
// Borders between what compliant contacts do: where they are, whether a force jumps there, and the continuation beyond.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/motion/compliant/compliant_contacts.hpp"

namespace stickslip {

namespace {

/// Smallest ρ with l ∈ ρ S.
double gauge(const FrictionSection& section, const PlaneForce& l) {
  if (section.round()) return std::hypot(l[0], l[1]);
  double largest = 0;
  for (int k = 0; k < section.facets(); ++k)
    largest = std::max(largest, section.row(k)[0] * l[0] + section.row(k)[1] * l[1]);
  return largest;
}

}  // namespace

bool CompliantContacts::on_the_border(std::size_t slot, const BorderWidth& width) const {
  if (slots_[slot].tangents == 0) return false;
  const auto [group, k] = places_[slot];
  const CompliantSolution& s = group->solution;
  const CompliantPoint& point = group->problem.points[k];
  const double rho = point.mu * s.normal[static_cast<Index>(k)];
  const auto force = s.tangential.segment(point.first, point.tangents);
  const Vector slip = group->problem.C * s.slip;  // as a force
  const PlaneForce l{force[0], point.tangents == 2 ? force[1] : 0.0};
  double unknown = width.part * rho;
  for (Index i = point.first; i < point.first + point.tangents; ++i)
    unknown = std::max(unknown, stiffness_of(slot) * width.way + group->problem.C(i, i) * width.speed);
  const double within = rho - unknown;
  const bool at_limit =
      within <= 0 || (point.tangents == 1 ? std::abs(l[0]) >= within : point.section.excess(within, l) > 0);
  return at_limit && slip.segment(point.first, point.tangents).norm() <= unknown;
}

/// How far the trial force lies outside its section.
double CompliantContacts::outside(std::size_t slot) const {
  const auto [group, k] = places_[slot];
  const CompliantProblem& p = group->problem;
  const CompliantPoint& point = p.points[k];
  PlaneForce trial{};
  for (int c = 0; c < point.tangents; ++c)
    trial[static_cast<std::size_t>(c)] =
        group->solution.tangential[point.first + c] - p.C.row(point.first + c).dot(group->solution.slip);
  const double rho = point.mu * group->solution.normal[static_cast<Index>(k)];
  return (point.tangents == 1 ? std::abs(trial[0]) : gauge(point.section, trial)) - rho;
}

double CompliantContacts::jump_function(std::size_t slot) const {
  const auto [group, k] = places_[slot];
  return slots_[slot].held ? outside(slot) : elastic_normal_if_closed(group->problem, group->solution, k);
}

double CompliantContacts::border_function(std::size_t slot, const ContactPieces& from, const ContactPieces& to) const {
  using Kind = SectionPiece::Kind;
  const auto [group, k] = places_[slot];
  const double elastic = elastic_normal_if_closed(group->problem, group->solution, k);
  if (from.closed != to.closed) return elastic;
  const CompliantPoint& point = group->problem.points[k];
  if (from.pulls != to.pulls)
    return (point.own_normal ? point.own_force : elastic) -
           point.normal_damping * group->problem.normal_velocity[static_cast<Index>(k)];
  if ((from.tangential.kind == Kind::inside) != (to.tangential.kind == Kind::inside)) return outside(slot);
  return std::numeric_limits<double>::quiet_NaN();
}

PlaneForce CompliantContacts::own_rate(std::size_t slot, const Eigen::Ref<const Vector>& rates) const {
  const Slot& s = slots_[slot];
  const Vector& delta = places_[slot].group->problem.deformation;
  PlaneForce rate{};
  for (int c = 0; c < s.tangents; ++c) rate[static_cast<std::size_t>(c)] = rates[s.first + c];
  if (const double spin = spin_[static_cast<Index>(slot)]; s.tangents == 2 && spin != 0) {
    rate[0] += spin * delta[1];
    rate[1] -= spin * delta[0];
  }
  return rate;
}

bool CompliantContacts::slips_alone(std::size_t slot, const ContactPieces& piece) const {
  return slots_[slot].tangents > 0 && places_[slot].group->slots.size() == 1 && piece.closed && !piece.pulls &&
         piece.tangential.kind != SectionPiece::Kind::inside;
}

void CompliantContacts::decide_by_rates(const std::vector<ContactPieces>& before,
                                        const Eigen::Ref<const Vector>& rates) {
  for (std::size_t s = 0; s < slots_.size() && s < before.size(); ++s) {
    if (!slips_alone(s, before[s]) || !pieces_[s].closed || pieces_[s].pulls) continue;
    const Group& group = *places_[s].group;
    pieces_[s].tangential =
        piece_by_rate(group.problem, group.workspace, group.solution, before[s].tangential, own_rate(s, rates));
  }
}

void CompliantContacts::take_slip(const Eigen::Ref<const Vector>& rates) {
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (!slips_alone(s, pieces_[s])) continue;
    CompliantSolution& solution = places_[s].group->solution;
    const PlaneForce rate = own_rate(s, rates);
    for (int c = 0; c < slots_[s].tangents; ++c) {
      solution.rate[c] = rate[static_cast<std::size_t>(c)];
      solution.slip[c] = solution.rate[c] + places_[s].group->problem.velocity[c];
    }
  }
}

void CompliantContacts::keep_pieces(const std::vector<ContactPieces>& pieces) {
  for (std::size_t s = 0; s < slots_.size() && s < pieces.size(); ++s) {
    const auto [group, k] = places_[s];
    group->problem.keep_pieces = true;
    if (group->solution.pieces.size() <= k) group->solution.pieces.resize(k + 1);
    group->solution.pieces[k] = pieces[s];
  }
}

void CompliantContacts::let_go() {
  for (const auto& group : groups_) group->problem.keep_pieces = false;
  mean_slopes_.clear();
}

std::vector<std::size_t> CompliantContacts::closed_since(const std::vector<ContactPieces>& before) const {
  std::vector<std::size_t> closed;
  for (std::size_t s = 0; s < slots_.size() && s < before.size(); ++s)
    if (slots_[s].law >= 0 && !before[s].closed && pieces_[s].closed) closed.push_back(s);
  return closed;
}

bool CompliantContacts::own_laws_end_since(const std::vector<ContactPieces>& before) const {
  for (std::size_t s = 0; s < slots_.size() && s < before.size(); ++s)
    if (before[s].closed != pieces_[s].closed && has_own_law(s)) return true;
  return false;
}

bool CompliantContacts::jumps_since(const std::vector<ContactPieces>& before, double part) const {
  const double size = part * force_size();
  for (const std::size_t s : closed_since(before)) {
    const double c = normal_damping_of(slots_[s]);
    const Rows rows = rows_of(s);
    if (c > 0 && rows.Wt && -c * (*rows.u)[rows.first] > size) return true;
  }
  for (std::size_t s = 0; has_static_ && s < slots_.size() && s < before.size(); ++s)
    if (slots_[s].held && !(before[s] == pieces_[s])) return true;
  return false;
}

bool CompliantContacts::dampers_change_since(const std::vector<ContactPieces>& before, double part) const {
  const double size = part * force_size();
  for (std::size_t s = 0; s < slots_.size() && s < before.size(); ++s) {
    if (slots_[s].law < 0 || (before[s].closed == pieces_[s].closed && before[s].pulls == pieces_[s].pulls)) continue;
    const double c = normal_damping_of(slots_[s]);
    const Rows rows = rows_of(s);
    if (c > 0 && rows.Wt && c * std::abs((*rows.u)[rows.first]) > size) return true;
  }
  return false;
}

}  // namespace stickslip
