// SPDX-License-Identifier: Apache-2.0
// Random numbers that depend on (seed, stream, index) alone: sample 17 is the same whoever draws it, on whichever
// thread, machine or compiler, and whether or not the sixteen before it were drawn.
//
// bits(seed, stream, index): three rounds of the SplitMix64 finaliser (Steele, Lea, Flood, OOPSLA 2014), each over the
// sum of what came before and the next number times the golden ratio's odd constant. uniform: the 53 upper bits plus a
// half, over 2^53: in (0, 1), never 0 or 1, so that quantiles are finite.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stickslip {

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);
double random_uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);
/// The stream of a name (FNV-1a): what is drawn for a key does not depend on the other keys.
std::uint64_t stream_of(std::string_view name);
/// 0 ... count - 1 in an order drawn from the stream (Fisher and Yates).
std::vector<long> random_order(long count, std::uint64_t seed, std::uint64_t stream);

/// z with Phi(z) = p, 0 < p < 1: a rational start (Abramowitz and Stegun 26.2.23, error 4.5e-4), then Newton on
/// Phi(z) = erfc(-z/sqrt 2)/2 to round-off.
double normal_quantile(double p);

}  // namespace stickslip
