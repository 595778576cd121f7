// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/law_number.hpp"

namespace stickslip {

namespace {

void require_number_of_the_motion(const std::vector<std::string>& names, std::size_t j) {
  if (names[j].starts_with("run."))
    throw InputError(fmt::format(
        "run.sensitivities: '{}' is a number of the computation; the motion is differentiated by numbers of the model, "
        "as parameters.mu, initial.velocity.0 or friction.0.limit",
        names[j]));
  if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(j), names[j]) !=
      names.begin() + static_cast<std::ptrdiff_t>(j))
    throw InputError(fmt::format("run.sensitivities names '{}' twice", names[j]));
}

/// In place of a variation whose neighbours nobody asks for: that of a case in which nothing depends on the number. All
/// four neighbours are one system, by which it is known.
ParameterVariation without_neighbours(const std::string& name, double value) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = dense({{1}});
  const std::shared_ptr<const System> system = make_system(std::move(model));
  const Case still({{name, value}}, [&](const Parameters&) {
    return CaseParts{system, {.q = Vector::Zero(1), .v = Vector::Zero(1)}, {}};
  });
  return ParameterVariation(still, name);
}

bool has_neighbours(const ParameterVariation& variation) {
  const auto near = variation.neighbours();
  return !near.empty() && near.front().parts.system != near.back().parts.system;
}

}  // namespace

Variations::Variations(const Case& center, std::vector<std::string> names) : names_(std::move(names)) {
  const State& start = center.initial();
  initial_.setZero(2 * start.v.size() + start.z.size(), size());
  variations_.reserve(names_.size());
  bool known = false;  // the case has taken the name of a coefficient
  for (std::size_t j = 0; j < names_.size(); ++j) {
    require_number_of_the_motion(names_, j);
    const auto law = knows_coefficients(center.options()) && !center.parameters().find(names_[j])
                         ? contact_of_coefficient(center.system(), names_[j])
                         : std::nullopt;
    if (law) {
      if (!std::exchange(known, true)) static_cast<void>(center.get(names_[j]));
      values_.push_back(center.system().laws().contacts()[*law].mu);
      variations_.push_back(without_neighbours(names_[j], values_.back()));
      continue;
    }
    variations_.emplace_back(center, names_[j]);
    values_.push_back(variations_.back().value());
    seed(static_cast<Index>(j), start, center.system().kinematics());
  }
}

void Variations::seed(Index j, const State& start, const Kinematics& kinematics) {
  const Index nv = start.v.size(), nz = start.z.size();
  Vector delta(nv);
  for (const ParameterVariation::Neighbour& beside : variations_[static_cast<std::size_t>(j)].neighbours()) {
    const State& s = beside.parts.initial;
    if (s.q.size() != start.q.size() || s.v.size() != nv || s.z.size() != nz)
      throw InputError(fmt::format("run.sensitivities: '{}' changes the number of coordinates", names_[j]));
    kinematics.difference(s.q, start.q, delta);
    initial_.col(j).head(nv) += beside.weight * delta;
    initial_.col(j).segment(nv, nv) += beside.weight * s.v;
    initial_.col(j).tail(nz) += beside.weight * s.z;
  }
}

Variations Variations::of_state(const System& system, const State& initial) {
  Variations all;
  const Index nv = system.info().nv(), nz = initial.z.size(), n = 2 * nv + nz;
  auto name = [&](const char* part, Index count) {
    for (Index i = 0; i < count; ++i) all.names_.push_back(fmt::format("initial.{}.{}", part, i));
  };
  name("position", nv);
  name("velocity", nv);
  name("internal", nz);
  all.values_.assign(static_cast<std::size_t>(n), 0.0);
  all.initial_.setIdentity(n, n);
  return all;
}

std::span<const ParameterVariation::Neighbour> Variations::neighbours(Index j) const {
  if (variations_.empty()) return {};
  const ParameterVariation& variation = variations_[static_cast<std::size_t>(j)];
  // A number of the start alone, or one of which the scheme knows the derivative itself.
  if (names_[static_cast<std::size_t>(j)].starts_with("initial.") || !has_neighbours(variation)) return {};
  return variation.neighbours();
}

}  // namespace stickslip
