// SPDX-License-Identifier: Apache-2.0
// Options of the scheme `viscoelastic` (viscoelastic.hpp), and its description.
#pragma once

#include "stickslip/motion/integrator_kind.hpp"

namespace stickslip {

struct SchemeDescription;

/// Field names are the keys of [run.viscoelastic].
struct ViscoelasticOptions {
  IntegratorKind integrator = IntegratorKind::radau;
  double epsilon = 0;             ///< > 0: instead of the ε of every constraint; 0: theirs, 1e-6 where none is given
  double absolute_tolerance = 0;  ///< 0: a thousandth of the tolerance
  void validate() const;
};

SchemeDescription viscoelastic_description();

}  // namespace stickslip
