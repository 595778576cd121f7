// SPDX-License-Identifier: Apache-2.0
// Memory of evaluations, kept by the caller so that parts of a system are const and calls re-entrant. Each part makes
// the scratch space that it uses and knows its type; a workspace serves the one system it was made for.
#pragma once

#include <memory>

#include "stickslip/model/state_function.hpp"

namespace stickslip {

class System;

struct Scratch {
  virtual ~Scratch() = default;
};

struct SystemWorkspace {
  explicit SystemWorkspace(const System& system);
  /// For parts without a system: the caller asks them for their scratch space.
  SystemWorkspace(Index nq, Index nv) : variables(nq, nv) {}
  Variables variables;  ///< (t, q, v, i) of whatever is evaluated at the moment
  std::unique_ptr<Scratch> inertia, forces, contacts, constraints;
};

}  // namespace stickslip
