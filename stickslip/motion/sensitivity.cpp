// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
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

/// Row of S that "initial.<part>.<index>" is, where the numbers of the start are those of the state; -1: none, or
/// unknown.
Index row_of_start(const Case& center, std::string_view name, std::string_view part, Index first, Index count) {
  if (!center.system().kinematics().flat() || !center.system().laws().constraints().empty()) return -1;
  if (!name.starts_with(part)) return -1;
  const std::string_view index = name.substr(part.size());
  Index i = -1;
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), i);
  return error == std::errc() && end == index.data() + index.size() && i >= 0 && i < count ? first + i : -1;
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
  bool known = false;           // the case has taken the name of a coefficient
  std::array<bool, 2> plain{};  // numbers of positions and of velocities are those of the state
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
    // Numbers of the start move it by themselves; that the case takes one of a kind so is asked once.
    const Index nv = start.v.size();
    const std::array rows{row_of_start(center, names_[j], "initial.position.", 0, nv),
                          row_of_start(center, names_[j], "initial.velocity.", nv, nv)};
    const std::size_t kind = rows[0] >= 0 ? 0 : 1;
    if (rows[kind] >= 0 && plain[kind]) {
      initial_(rows[kind], static_cast<Index>(j)) = 1;
      values_.push_back(kind == 0 ? start.q[rows[0]] : start.v[rows[1] - nv]);
      variations_.push_back(without_neighbours(names_[j], values_.back()));
      continue;
    }
    variations_.emplace_back(center, names_[j]);
    values_.push_back(variations_.back().value());
    seed(static_cast<Index>(j), start, center.system().kinematics());
    if (rows[kind] < 0) continue;
    Vector rest = initial_.col(static_cast<Index>(j));
    constexpr double kDifference = 1e-9;  // of differences of numbers that follow the unknown linearly
    rest[rows[kind]] -= 1;
    plain[kind] = rest.lpNorm<Eigen::Infinity>() <= kDifference;
    if (plain[kind]) initial_.col(static_cast<Index>(j)) -= rest;
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
    initial_.col(j).segment(nv, nv) += beside.weight * (s.v - start.v);  // weights add up to 0 but for round-off
    initial_.col(j).tail(nz) += beside.weight * (s.z - start.z);
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
