// SPDX-License-Identifier: Apache-2.0
// Derivatives of sampled equations by sampled fields: one signal of N numbers per (equation, field, derivative).
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

class SignalTable {
 public:
  struct Key {
    Index row, column;  ///< equation and field: motion or displacement i < nb, law or reaction nb + a
    int p;              ///< derivative by θ of the field
  };
  /// The number of a signal, made where it is new.
  Index slot(Index row, Index column, int p) {
    const auto [entry, added] = numbers_.try_emplace({row, column, p}, static_cast<Index>(keys_.size()));
    if (added) keys_.push_back({row, column, p});
    return entry->second;
  }
  void clear(Index samples) { values_.setZero(samples, static_cast<Index>(keys_.size())); }
  void add(Index slot, Index sample, double value) { values_(sample, slot) += value; }
  Index size() const { return static_cast<Index>(keys_.size()); }
  const Key& key(Index slot) const { return keys_[static_cast<std::size_t>(slot)]; }
  auto values(Index slot) const { return values_.col(slot); }

 private:
  std::map<std::tuple<Index, Index, int>, Index> numbers_;
  std::vector<Key> keys_;
  DenseMatrix values_;
};

}  // namespace stickslip
