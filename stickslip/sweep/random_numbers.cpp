// SPDX-License-Identifier: Apache-2.0
#include "stickslip/sweep/random_numbers.hpp"

#include <cmath>
#include <numeric>

namespace stickslip {

namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return mixed(mixed(mixed(seed * kGolden + kGolden) + stream * kGolden) + (index + 1) * kGolden);
}

double random_uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return (static_cast<double>(random_bits(seed, stream, index) >> 11) + 0.5) * 0x1p-53;
}

std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

std::vector<long> random_order(long count, std::uint64_t seed, std::uint64_t stream) {
  std::vector<long> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0L);
  for (long k = count - 1; k > 0; --k) {
    const auto other = static_cast<std::size_t>(random_uniform(seed, stream, static_cast<std::uint64_t>(k)) *
                                                static_cast<double>(k + 1));
    std::swap(order[static_cast<std::size_t>(k)], order[other]);
  }
  return order;
}

double normal_quantile(double p) {
  const bool upper = p > 0.5;
  const double tail = upper ? 1 - p : p;  // exact: 1 - p has no error for p in [1/2, 1]
  const double s = std::sqrt(-2 * std::log(tail));
  double z = s - (2.515517 + s * (0.802853 + s * 0.010328)) / (1 + s * (1.432788 + s * (0.189269 + s * 0.001308)));
  constexpr int kNewtonSteps = 3;  // errors 1e-4, 1e-8, 1e-16
  for (int k = 0; k < kNewtonSteps; ++k) {
    const double excess = 0.5 * std::erfc(z / std::sqrt(2.0)) - tail;
    z += excess / (std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI));
  }
  return upper ? z : -z;
}

}  // namespace stickslip
