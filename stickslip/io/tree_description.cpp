// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/tree_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "stickslip/model/multibody/tree_dynamics.hpp"
#include "stickslip/model/multibody/tree_map.hpp"

namespace stickslip {

namespace {

using Eigen::Vector3d;

class TreeLines {
 public:
  explicit TreeLines(const ModelFile& model)
      : model_(model), tree_(*model.tree), map_(model.tree), depth_(model.bodies->bodies.size(), 0) {
    motion_.resize(tree_);
    Vector all;
    map_.positions(model.initial.q, all);
    place_links(tree_, all.data(), motion_);
  }

  std::vector<std::string> write() {
    for (std::size_t k = 0; k < tree_.hinges.size(); ++k) {
      const Hinge& hinge = tree_.hinges[k];
      body_line(hinge);
      axis_lines(k);
    }
    for (const Loop& loop : model_.bodies->loops)
      lines_.push_back(fmt::format("loop {} between {} and {}, free [{}]", loop.name, name(loop.body_a),
                                   name(loop.body_b), words(loop.axes)));
    return std::move(lines_);
  }

 private:
  std::string name(int body) const {
    return body < 0 ? "ground" : model_.bodies->bodies[static_cast<std::size_t>(body)].name;
  }

  static std::string words(const std::vector<HingeAxis>& axes) {
    std::vector<std::string> list;
    for (const HingeAxis axis : axes) list.emplace_back(to_string(axis));
    return fmt::format("{}", fmt::join(list, ", "));
  }

  /// Numbers that are 0 but for round-off beside the others are 0.
  static std::string vector(const Vector3d& x) {
    constexpr double kRoundOff = 1e-12;  // of the largest
    const double size = x.cwiseAbs().maxCoeff();
    const auto round = [&](double v) { return std::abs(v) < kRoundOff * size ? 0.0 : v; };
    return fmt::format("({:.4g}, {:.4g}, {:.4g})", round(x.x()), round(x.y()), round(x.z()));
  }

  void body_line(const Hinge& hinge) {
    const RigidBody& body = model_.bodies->bodies[static_cast<std::size_t>(hinge.child)];
    int& depth = depth_[static_cast<std::size_t>(hinge.child)];
    if (hinge.parent >= 0) depth = depth_[static_cast<std::size_t>(hinge.parent)] + 1;
    indent_ = std::string(2 * static_cast<std::size_t>(depth), ' ');
    std::string line =
        fmt::format("{}{} on {} by {} [{}], ", indent_, body.name, name(hinge.parent), hinge.name, words(hinge.axes));
    line += body.mass > 0 ? fmt::format("{:g} kg", body.mass) : "without mass";
    if (!body.center.isZero(0.0)) line += fmt::format(" at {} m", vector(body.center));
    if (hinge.axes.empty()) line += ", welded";
    lines_.push_back(line);
  }

  /// One line per single axis.
  void axis_lines(std::size_t k) {
    const Hinge& hinge = tree_.hinges[k];
    auto link = static_cast<std::size_t>(tree_.hinge_link[k]);
    Index q = tree_.hinge_q[k], v = tree_.hinge_v[k];
    for (std::size_t j = 0; j < hinge.axes.size(); ++j) {
      const HingeAxis axis = hinge.axes[j];
      if (is_translation(axis) || is_rotation(axis)) {
        axis_line(hinge, j, link, q, v);
      } else {
        std::string laws;
        for (Index i = v; i < v + velocities_of(axis); ++i) laws += friction_on(i);
        if (!laws.empty()) lines_.push_back(fmt::format("{}    {}{}", indent_, hinge.name, laws));
      }
      link += axis == HingeAxis::free ? 4 : 1;
      q += positions_of(axis);
      v += velocities_of(axis);
    }
  }

  void axis_line(const Hinge& hinge, std::size_t j, std::size_t link, Index q, Index v) {
    const bool turns = is_rotation(hinge.axes[j]);
    const char *length = turns ? "rad" : "m", *force = turns ? "N m" : "N";
    const auto& place = motion_.place[link];
    const std::string& coordinate = tree_.coordinates[static_cast<std::size_t>(q)];
    std::string line =
        fmt::format("{}    {}: along {}", indent_, coordinate, vector(place.R.col(tree_.links[link].axis)));
    if (turns) line += fmt::format(" through {} m", vector(place.o));
    if (map_.free_velocity(v) < 0) return;
    if (const double at = model_.initial.q[map_.free_position(v)]; at != 0)
      line += fmt::format(", starts at {:.6g} {}", at, length);
    if (const double at = model_.initial.v[map_.free_velocity(v)]; at != 0)
      line += fmt::format(", with {:.6g} {}/s", at, length);
    const auto value = [&](const std::vector<double>& list) { return list.empty() ? 0.0 : list[j]; };
    if (value(hinge.stiffness) > 0)
      line += fmt::format(", spring {:g} {}/{} at rest at {:g} {}", value(hinge.stiffness), force, length,
                          value(hinge.rest), length);
    if (value(hinge.damping) > 0) line += fmt::format(", damping {:g} {} s/{}", value(hinge.damping), force, length);
    if (!hinge.force.empty() && !(hinge.force[j].is_constant() && hinge.force[j]({}) == 0))
      line += fmt::format(", force {} {}", hinge.force[j].text(), force);
    line += stops(coordinate, length);
    line += friction_on(v);
    lines_.push_back(line);
  }

  /// The gap of a stop is its distance from 0 where all coordinates are 0.
  std::string stops(const std::string& coordinate, const char* unit) const {
    std::string text;
    const Variables zero(model_.system->info().nq(), model_.system->info().nv());
    for (const ExpressionContact& stop : model_.bodies->stops) {
      const bool upper = stop.law.name == coordinate + ".upper";
      if (!upper && stop.law.name != coordinate + ".lower") continue;
      const double gap = stop.gap(zero.span());
      text += fmt::format("{}{} {:.6g} {}", text.empty() ? ", stops: " : ", ", upper ? "upper" : "lower",
                          upper ? gap : -gap, unit);
    }
    return text;
  }

  std::string friction_on(Index velocity) const {
    std::string text;
    for (const FrictionElement& law : model_.system->laws().friction())
      for (const Direction& direction : law.directions)
        if (direction.size() == 1 && direction[0].first == map_.free_velocity(velocity)) {
          const char* unit = tree_.velocity[static_cast<std::size_t>(velocity)].rotation ? "N m" : "N";
          text += fmt::format(", friction {}: limit {} {}", law.name, law.limit.text(), unit);
          if (law.static_limit) text += fmt::format(", static {} {}", law.static_limit->text(), unit);
        }
    return text;
  }

  const ModelFile& model_;
  const Tree& tree_;
  TreeMap map_;  ///< coordinates of the model to those of the links
  TreeMotion<double> motion_;
  std::vector<int> depth_;
  std::string indent_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> describe_tree(const ModelFile& model) {
  if (!model.tree) return {};
  return TreeLines(model).write();
}

}  // namespace stickslip
