// SPDX-License-Identifier: Apache-2.0

#include "variants.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace variants {

namespace {

using stickslip::Index;
using stickslip::LocalContactProblem;
using stickslip::SparseMatrix;
using stickslip::Vector;

// Each contact its own factor in [1 - spread, 1 + spread].
void change_each_mu(LocalContactProblem& problem, double spread, std::mt19937& engine) {
  std::uniform_real_distribution<double> uniform(1 - spread, 1 + spread);
  for (double& mu : problem.mu) mu *= uniform(engine);
}

// q + a multiple of W y, as random impulses on the bodies would change it. A change outside the range of W would be a
// motion that the bodies cannot make, and may leave no solution.
void change_q(LocalContactProblem& problem, double relative, std::mt19937& engine) {
  std::normal_distribution<double> normal;
  const Vector y = Vector::NullaryExpr(problem.q.size(), [&] { return normal(engine); });
  const Vector change = problem.W * y;
  problem.q += relative * problem.q.norm() / change.norm() * change;
}

void reorder(LocalContactProblem& problem, const std::vector<int>& order) {
  const int d = problem.dimension;
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> P(problem.q.size());
  Vector mu = problem.mu;
  for (int k = 0; k < static_cast<int>(order.size()); ++k) {
    const int to = order[static_cast<std::size_t>(k)];
    mu[to] = problem.mu[k];
    for (int c = 0; c < d; ++c) P.indices()[d * k + c] = d * to + c;
  }
  problem.W = SparseMatrix(SparseMatrix(P * problem.W) * P.transpose());
  problem.q = P * problem.q;
  problem.mu = mu;
}

void shuffle(LocalContactProblem& problem, std::mt19937& engine) {
  std::vector<int> order(static_cast<std::size_t>(problem.mu.size()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), engine);
  reorder(problem, order);
}

// Other tangents at each contact.
void turn_frames(LocalContactProblem& problem, std::mt19937& engine) {
  std::uniform_real_distribution<double> uniform(0, 2 * std::numbers::pi);
  std::vector<Eigen::Triplet<double, int>> entries;
  const int d = problem.dimension;
  for (int k = 0; k < static_cast<int>(problem.mu.size()); ++k) {
    const double angle = uniform(engine), c = std::cos(angle), s = std::sin(angle);
    entries.emplace_back(d * k, d * k, 1.0);
    if (d == 2) {
      entries.emplace_back(2 * k + 1, 2 * k + 1, c < 0 ? -1.0 : 1.0);
      continue;
    }
    entries.emplace_back(3 * k + 1, 3 * k + 1, c);
    entries.emplace_back(3 * k + 1, 3 * k + 2, -s);
    entries.emplace_back(3 * k + 2, 3 * k + 1, s);
    entries.emplace_back(3 * k + 2, 3 * k + 2, c);
  }
  SparseMatrix Q(problem.q.size(), problem.q.size());
  Q.setFromTriplets(entries.begin(), entries.end());
  problem.W = SparseMatrix(SparseMatrix(Q * problem.W) * SparseMatrix(Q.transpose()));
  problem.q = Q * problem.q;
}

}  // namespace

std::vector<Variant> make(const LocalContactProblem& problem, unsigned seed) {
  std::vector<Variant> list;
  auto add = [&](const char* kind, double strength, auto&& change) {
    const unsigned own = seed * 1000 + static_cast<unsigned>(list.size());
    std::mt19937 engine(own);
    list.push_back({kind, strength, own, problem});
    change(list.back().problem, engine);
  };
  for (const double factor : {0.1, 0.3, 0.5, 0.8, 1.25, 2.0})
    add("mu", factor, [&](LocalContactProblem& p, std::mt19937&) { p.mu *= factor; });
  for (const double spread : {0.5, 0.5, 1.0})
    add("mu_each", spread, [&](LocalContactProblem& p, std::mt19937& engine) { change_each_mu(p, spread, engine); });
  for (const double relative : {1e-3, 1e-3, 1e-2, 1e-2, 1e-1, 1e-1})
    add("q", relative, [&](LocalContactProblem& p, std::mt19937& engine) { change_q(p, relative, engine); });
  for (const double factor : {1e-3, 1e3})
    add("q_scale", factor, [&](LocalContactProblem& p, std::mt19937&) { p.q *= factor; });
  add("order", -1, [](LocalContactProblem& p, std::mt19937&) {
    std::vector<int> order(static_cast<std::size_t>(p.mu.size()));
    std::iota(order.rbegin(), order.rend(), 0);
    reorder(p, order);
  });
  for (int k = 0; k < 6; ++k) add("order", k, [](LocalContactProblem& p, std::mt19937& engine) { shuffle(p, engine); });
  for (int k = 0; k < 2; ++k)
    add("frame", k, [](LocalContactProblem& p, std::mt19937& engine) { turn_frames(p, engine); });
  for (const double factor : {1e-3, 1e3, 1e6})  // the unit of mass
    add("unit", factor, [&](LocalContactProblem& p, std::mt19937&) { p.W *= factor; });
  for (int k = 0; k < 5; ++k)
    add("mixed", k, [](LocalContactProblem& p, std::mt19937& engine) {
      change_each_mu(p, 0.5, engine);
      change_q(p, 0.05, engine);
      shuffle(p, engine);
      turn_frames(p, engine);
    });
  return list;
}

}  // namespace variants
