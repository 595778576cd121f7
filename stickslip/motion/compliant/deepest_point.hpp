// SPDX-License-Identifier: Apache-2.0
// How deep contacts have been along a motion that is looked at now and then: between two looks the gap of a point is
// the cubic through its values and rates, whose smallest value is 4th order in the time between the looks. Contacts
// that are open at both looks may have been touched between them: the same cubic says when.
#pragma once

#include "stickslip/motion/compliant/compliant_contacts.hpp"

namespace stickslip {

/// A gap that falls and rises again between two looks: the cubic through both.
class GapDip {
 public:
  struct Look {
    double t, gap, rate;  ///< [s], [m], [m/s]
  };
  GapDip(std::size_t slot, const Look& from, const Look& to);
  std::size_t slot() const { return slot_; }
  double time() const { return time_; }      ///< of its lowest place
  double lowest() const { return lowest_; }  ///< [m]
  /// Open at both ends, and lower than a small part of the way down to it.
  bool may_touch() const;
  /// By one more look between the two.
  void narrow(const Look& between);

 private:
  void find();
  std::size_t slot_;
  Look from_, to_;
  double time_ = 0, lowest_ = 0;
};

class DeepestPoint {
 public:
  /// The placed state is at t, and nothing is known of what was before.
  void begin(const CompliantContacts& contacts, double t);
  /// The placed state has moved on to t. Largest penetration since the last look [m]; looks back in time begin anew.
  double look(const CompliantContacts& contacts, double t);
  /// The placed state is at t: dips since the last look that may have touched.
  void near_touches(const CompliantContacts& contacts, double t, std::vector<GapDip>& dips) const;

 private:
  template <class Use>
  void for_each_dip(const CompliantContacts& contacts, double t, Use&& use) const;
  double t_ = 0;
  Vector gap_, rate_;  // per slot, at the last look
};

}  // namespace stickslip
