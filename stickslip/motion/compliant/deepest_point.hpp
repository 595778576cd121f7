// SPDX-License-Identifier: Apache-2.0
// How deep contacts have been along a motion that is looked at now and then: between two looks the gap of a point is
// the cubic through its values and rates, whose smallest value is 4th order in the time between the looks.
#pragma once

#include "stickslip/motion/compliant/compliant_contacts.hpp"

namespace stickslip {

class DeepestPoint {
 public:
  /// The placed state is at t, and nothing is known of what was before.
  void begin(const CompliantContacts& contacts, double t);
  /// The placed state has moved on to t. Largest penetration since the last look [m]; looks back in time begin anew.
  double look(const CompliantContacts& contacts, double t);

 private:
  double t_ = 0;
  Vector gap_, rate_;  // per slot, at the last look
};

}  // namespace stickslip
