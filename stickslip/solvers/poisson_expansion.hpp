// SPDX-License-Identifier: Apache-2.0
// One contact alone in the expansion phase of Poisson's impact law (impact.hpp):
//
//   u = D p + q,      0 <= u_N ⊥ p_N - least >= 0,      Coulomb between p_T and u_T
//
// least = e p_c: what the compression gives back. u_N is a continuous function of p_N with the friction that goes with
// it, so that the smallest p_N >= least with u_N >= 0 is bracketed and found by root_finding.hpp, where neither
// p_N = least nor the contact's own inclusion is the answer.
#pragma once

#include "stickslip/laws/set.hpp"

namespace stickslip {

/// The set of the friction of a cone whose normal impulse is known.
Set friction_set(const Set& cone, double normal_impulse);

/// D row-major, set.size squared; p is the result. False: it would have to push for ever.
bool expand(const Set& set, const double* D, const double* q, double least, double* p);

}  // namespace stickslip
