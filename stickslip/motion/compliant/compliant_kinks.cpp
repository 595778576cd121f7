// SPDX-License-Identifier: Apache-2.0
// Derivatives over instants at which slopes of forces jump, and the motion where the forces themselves do.
//
//   S(t) = S_b(t) + Σ_s τ_s (S'_s - S'_b),     τ_s = g_s/(dg_s/dt): how long ago contact s has left its piece at g_s =
//   0
//
// A step is done on the pieces of its start and ends a little beside the switch, by round-off of the clock or by its
// error. In that time τ columns have followed slopes that were no longer theirs: S'_b on the pieces before, S'_s with
// that of contact s alone after its switch. Hard contacts have slopes K/m of which even the round-off of the clock
// makes something: 1e-11 s times 5e9/s². The motion, whose forces have a kink there, is off by ½ τ (f_s - f_b), or by
// τ (f_s - f_b) where the force jumps: dense output knows when a damped contact closes to its own accuracy only, which
// may be hundreds of tolerances of the motion.
#include <cmath>

#include "stickslip/motion/compliant/compliant.hpp"

namespace stickslip {

/// τ of one slot that has changed, along the rate f of the motion before. [s]
double CompliantScheme::since_switch(double t, const Vector& y, const std::vector<ContactPieces>& before,
                                     std::size_t slot, const ContactPieces& after, const Vector& f) {
  CompliantContacts& contacts = dynamics_.contacts();
  const auto border = [&] { return contacts.border_function(slot, before[slot], after); };
  contacts.keep_pieces(before);
  dynamics_.place(stretch_.inside(t), y);
  const double value = border();
  contacts.let_go();
  const double longest =
      before[slot].closed == after.closed ? small_beside_penetration(t, y, slot, f, 1) : double{HUGE_VAL};
  return value / slope_along(t, y, before, f, 1, border, longest);
}

/// τ of the slots that have changed, each with the pieces of its change alone, and less of those before.
std::vector<PiecesInTime> CompliantScheme::beyond_switches(double t, const Vector& y,
                                                           const std::vector<ContactPieces>& before, double farthest) {
  std::vector<PiecesInTime> parts{{before, 0, std::vector<char>(before.size(), 0)}};
  CompliantContacts& contacts = dynamics_.contacts();
  contacts.keep_pieces(before);
  const bool known = motion_rate(t, y, motion_before_);
  contacts.let_go();
  if (!known) return {};
  for (std::size_t s = 0; s < before.size(); ++s) {
    if (before[s] == pieces_[s] || contacts.slots()[s].held) continue;  // settle() lets go of those that are held
    const double late = since_switch(t, y, before, s, pieces_[s], motion_before_);
    if (!(std::abs(late) <= farthest)) continue;
    parts.front().time -= late;
    parts.front().mean[s] = before[s].closed != pieces_[s].closed;
    parts.push_back({before, late, std::vector<char>(before.size(), 0)});
    parts.back().pieces[s] = pieces_[s];
    parts.back().mean[s] = parts.front().mean[s];
  }
  if (parts.size() == 1) parts.clear();
  return parts;
}

void CompliantScheme::correct_switches(double t, double farthest, const std::vector<ContactPieces>& before, bool jump,
                                       Vector& y) {
  if (!(derives() || jump) || !dynamics_.contacts().can_keep_pieces()) return;
  const std::vector<PiecesInTime> parts = beyond_switches(t, y, before, farthest);
  Vector change = Vector::Zero(y.size()), f(y.size()), sums, sum_rates;
  if (stiff_) sums.setZero(dynamics_.all_sums());
  for (const PiecesInTime& part : parts) {
    dynamics_.contacts().keep_pieces(part.pieces);
    dynamics_.contacts().take_mean_slopes(part.mean);
    const bool known = rate(t, y, f);
    if (known && stiff_) {
      dynamics_.sum_rates(stretch_.inside(t), sum_rates);
      sums += part.time * sum_rates;
    }
    dynamics_.contacts().let_go();
    if (!known) return;
    change += part.time * f;
  }
  if (!change.allFinite()) return;
  if (tape_ && !parts.empty()) tape_->push_back(TapeKink{t, y.head(dynamics_.motion_size()), parts});
  const Index columns = dynamics_.motion_size() + dynamics_.sums_size();
  const double share = jump ? 1.0 : 0.5;
  y.head(columns) += share * change.head(columns);
  if (stiff_) carried_sums_ += share * sums;
  y.tail(y.size() - columns) += change.tail(y.size() - columns);
}

}  // namespace stickslip
