// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/elastic_friction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace stickslip {

bool has_elastic_friction(const System& system) {
  const auto& laws = system.laws().friction();
  return std::any_of(laws.begin(), laws.end(), [](const FrictionElement& law) { return law.elastic(); });
}

ElasticFriction::ElasticFriction(const FrictionAssembly& laws)
    : assembly_(laws),
      elastic_(static_cast<std::size_t>(laws.laws()), 0),
      mode_(static_cast<std::size_t>(laws.laws()), Mode::stick) {
  Index components = 0;
  for (Index k = 0; k < laws.laws(); ++k) {
    if (!laws.element(k).elastic()) continue;
    elastic_[static_cast<std::size_t>(k)] = 1;
    laws_.push_back(k);
    first_.push_back(components);
    components += laws.size(k);
  }
  d_.setZero(components);
}

void ElasticFriction::set(const Vector& deformation) {
  if (deformation.size() == d_.size()) {
    d_ = deformation;
  } else {
    d_.setZero();
  }
}

std::vector<std::string> ElasticFriction::names(const System& system) {
  std::vector<std::string> names;
  for (const FrictionElement& law : system.laws().friction()) {
    if (!law.elastic()) continue;
    for (int c = 1; c <= law.size(); ++c) names.push_back(fmt::format("{}.d{}", law.name, c));
  }
  return names;
}

double ElasticFriction::energy() const {
  double energy = 0;
  for (std::size_t j = 0; j < laws_.size(); ++j)
    energy +=
        0.5 * assembly_.element(laws_[j]).stiffness * d_.segment(first_[j], assembly_.size(laws_[j])).squaredNorm();
  return energy;
}

void ElasticFriction::force(Index j, const double* x, double* r) const {
  const FrictionElement& law = assembly_.element(laws_[static_cast<std::size_t>(j)]);
  const auto n = static_cast<std::size_t>(law.size());
  std::array<double, 2> trial{};
  for (std::size_t c = 0; c < n; ++c)
    trial[c] = -law.stiffness * (d_[first_[static_cast<std::size_t>(j)] + static_cast<Index>(c)] + x[c]);
  project(law.set(assembly_.limit(laws_[static_cast<std::size_t>(j)])), {trial.data(), n}, {r, n});
}

void ElasticFriction::impulse(double h, double theta, const Vector& u, Vector& impulse) const {
  impulse.setZero(assembly_.components());
  for (std::size_t j = 0; j < laws_.size(); ++j) {
    const Index i = assembly_.first(laws_[j]);
    std::array<double, 2> x{}, r{};
    for (int c = 0; c < assembly_.size(laws_[j]); ++c) x[static_cast<std::size_t>(c)] = theta * h * u[i + c];
    force(static_cast<Index>(j), x.data(), r.data());
    for (int c = 0; c < assembly_.size(laws_[j]); ++c) impulse[i + c] = h * r[static_cast<std::size_t>(c)];
  }
}

void ElasticFriction::advance(double h, const Vector& u) {
  constexpr double kAtLimit = 1e-12;  // of the limit: round-off of the projection
  for (std::size_t j = 0; j < laws_.size(); ++j) {
    const Index i = assembly_.first(laws_[j]);
    const FrictionElement& law = assembly_.element(laws_[j]);
    const int n = law.size();
    std::array<double, 2> x{}, r{};
    double outside = 0;
    for (int c = 0; c < n; ++c) x[static_cast<std::size_t>(c)] = h * u[i + c];
    force(static_cast<Index>(j), x.data(), r.data());
    for (int c = 0; c < n; ++c) {
      double& d = d_[first_[j] + c];
      outside += std::abs(-law.stiffness * (d + x[static_cast<std::size_t>(c)]) - r[static_cast<std::size_t>(c)]);
      d = -r[static_cast<std::size_t>(c)] / law.stiffness;
    }
    Mode& mode = mode_[static_cast<std::size_t>(laws_[j])];
    mode = !(outside > kAtLimit * assembly_.limit(laws_[j])) ? Mode::stick
           : n == 2                                          ? Mode::slip
           : r[0] < 0                                        ? Mode::slip_plus
                                                             : Mode::slip_minus;
  }
}

SparseMatrix ElasticFriction::stiffness_matrix() const {
  const SparseMatrix& Wt = assembly_.Wt();
  SparseMatrix weights(assembly_.components(), assembly_.components());
  for (const Index k : laws_)
    for (int c = 0; c < assembly_.size(k); ++c)
      weights.insert(assembly_.first(k) + c, assembly_.first(k) + c) = assembly_.element(k).stiffness;
  return SparseMatrix(Wt.transpose() * weights * Wt);
}

}  // namespace stickslip
