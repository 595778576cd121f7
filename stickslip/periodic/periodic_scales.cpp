// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/periodic_scales.hpp"

#include <cmath>
#include <numbers>

namespace stickslip {

namespace {

constexpr int kTimes = 256;  // at which forces are looked at

struct LawRows {
  Index first;                  // component
  std::vector<Direction> rows;  // one per component
};

std::vector<LawRows> law_rows(const System& system, double t0, const Vector& q, SystemWorkspace& workspace) {
  std::vector<LawRows> laws;
  Index component = 0, row = 0;
  for (const FrictionElement& element : system.laws().friction()) {
    laws.push_back({component, element.directions});
    component += element.size();
  }
  ContactPoints found;
  system.laws().contact_source().find(t0, q, HUGE_VAL, workspace, found);
  for (const ContactElement& element : system.laws().contacts()) {
    LawRows law{component, {}};
    for (int a = 0; a < element.size(); ++a, ++row) {
      Direction direction;
      for (SparseMatrix::InnerIterator entry(found.Wt, row); entry; ++entry)
        direction.emplace_back(entry.col(), entry.value());
      law.rows.push_back(std::move(direction));
    }
    component += element.size();
    laws.push_back(std::move(law));
  }
  return laws;
}

}  // namespace

PeriodicScales periodic_scales(const System& system, const PeriodicOptions& options, double t0, const Vector& q) {
  const Index n = system.info().nv();
  const double T = options.motion_period(), omega = 2 * std::numbers::pi / T;
  SystemWorkspace workspace(system);
  SystemMatrix by_q, by_v;
  const Vector still = Vector::Zero(n);
  system.force_slopes(t0, q, still, workspace, by_q, by_v);
  const SystemMatrix& M = system.inertia().mass(q, workspace);
  Vector k(n), m(n), h = still;
  for (Index i = 0; i < n; ++i) k[i] = std::abs(by_q(i, i)), m[i] = M(i, i);
  PeriodicScales scales;
  scales.f.setZero(n);
  for (int j = 0; j < kTimes; ++j) {
    const double t = t0 + T * j / kTimes;
    if (system.linear()) {
      system.forces().applied(t, still, still, workspace, h);
    } else {
      system.force(t, q, still, workspace, h);
    }
    scales.f = scales.f.cwiseMax(h.cwiseAbs());
  }
  const std::vector<LawRows> laws = law_rows(system, t0, q, workspace);
  const auto& friction = system.laws().friction();
  const Index components = laws.empty() ? 0 : laws.back().first + static_cast<Index>(laws.back().rows.size());
  scales.r.setZero(components);
  workspace.variables.set(t0, q, still);
  for (std::size_t l = 0; l < laws.size(); ++l) {
    const LawRows& law = laws[l];
    if (l < friction.size())
      scales.r.segment(law.first, static_cast<Index>(law.rows.size()))
          .setConstant(std::abs(friction[l].limit(workspace.variables.span())));
    double mass = 0, stiffness = 0, length = 0;
    for (const auto& [i, w] : law.rows[0]) {
      mass += w * w / m[i];
      stiffness += w * w * k[i];
      length += w * w;
    }
    mass = mass > 0 ? 1 / mass : 1;
    stiffness = length > 0 ? stiffness / (length * length) : 0;
    const double spring = stiffness > 0 ? stiffness : mass * omega * omega;
    scales.rho.push_back(options.rho * std::sqrt(spring * mass));
    scales.rho_n.push_back(options.rho * spring);
    for (std::size_t a = 0; a < law.rows.size(); ++a)
      for (const auto& [i, w] : law.rows[a])
        scales.f[i] = std::max(scales.f[i], std::abs(w) * scales.r[law.first + static_cast<Index>(a)]);
  }
  const double largest = n > 0 ? scales.f.maxCoeff() : 1;
  for (double& f : scales.f) f = f > 0 ? f : (largest > 0 ? largest : 1);
  for (const LawRows& law : laws)
    for (std::size_t a = 0; a < law.rows.size(); ++a) {
      double& r = scales.r[law.first + static_cast<Index>(a)];
      for (const auto& [i, w] : law.rows[0])
        if (r == 0 && w != 0) r = scales.f[i];
      if (r == 0) r = 1;
    }
  scales.x = scales.f.cwiseQuotient(k + omega * omega * m);
  return scales;
}

}  // namespace stickslip
