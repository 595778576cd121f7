// SPDX-License-Identifier: Apache-2.0
// [[friction]] with `mu`: friction by the load of the bearing of a hinge.
//
//   rotation k      mu (radius sqrt(F_i² + F_j²) + thrust_radius |F_k|)     journal, and thrust bearing
//   translation k   mu sqrt(F_i² + F_j²)                                    guide
//   ball            mu radius |F|, on each axis of ω by itself
//
// F is the force of the bearing along the axes of the parent's hinge frame [N] (multibody/held_axes.hpp).
#include <algorithm>

#include "stickslip/io/model_tree.hpp"

namespace stickslip::model_detail {

namespace {

/// The hinge of "<hinge>.<axis>"; null: none.
Hinge* hinge_of(BodyModel& model, std::string_view name) {
  const std::string_view hinge = name.substr(0, name.find('.'));
  const auto found =
      std::find_if(model.hinges.begin(), model.hinges.end(), [&](const Hinge& it) { return it.name == hinge; });
  return found == model.hinges.end() ? nullptr : &*found;
}

/// sqrt of a sum of squares.
std::string norm(const std::vector<std::string>& forces) {
  std::string sum;
  for (const std::string& force : forces) sum += fmt::format("{}{}^2", sum.empty() ? "" : " + ", force);
  return fmt::format("sqrt({})", sum);
}

}  // namespace

void find_bearings(TreeReading& reading) {
  reading.for_each("friction", [&](const Field& field) {
    const TomlTable* table = field.node->table();
    const TomlNode* on = table && find_key(*table, "mu") ? find_key(*table, "on") : nullptr;
    Hinge* hinge = on && on->text() ? hinge_of(reading.model(), *on->text()) : nullptr;
    if (!hinge) return;  // said by bearing_load()
    about_parts(reading.root(), field, [&] { hinge->held = bearing_axes(*hinge); });
  });
}

std::string bearing_load(const TreeReading& reading, const TableReader& friction) {
  const Field on = friction.require("on", "the axis of a hinge, as in on = \"elbow.rz\"");
  const auto found = on.node->text()
                         ? std::find_if(reading.model().hinges.begin(), reading.model().hinges.end(),
                                        [&](const Hinge& it) {
                                          return it.name == on.node->text()->substr(0, on.node->text()->find('.'));
                                        })
                         : reading.model().hinges.end();
  if (found == reading.model().hinges.end() || found->held.empty())
    on.fail("'mu' multiplies the load of one bearing; name one axis of a hinge, as in \"elbow.rz\"");
  const Hinge& hinge = *found;
  const HingeAxis axis = hinge.axes[0];
  std::vector<std::string> across, along;
  for (const HingeAxis held : hinge.held) {
    const bool thrust = is_rotation(axis) && static_cast<int>(held) == static_cast<int>(axis) - 3;
    (thrust ? along : across).push_back(fmt::format("r_{}.{}", hinge.name, to_string(held)));
  }
  double radius = 0, thrust_radius = 0;
  friction.number("thrust_radius", thrust_radius, kNotNegative);
  friction.number("radius", radius, kNotNegative);
  if (friction.has("thrust_radius") && along.empty())
    friction.find("thrust_radius")->fail("only a single rotation has a thrust bearing");
  if (is_translation(axis)) {
    if (const auto given = friction.find("radius")) given->fail("friction of a guide has no lever; remove it");
    return norm(across);
  }
  friction.require("radius", "of the journal or ball, in m: friction's moment is mu times radius times load");
  const std::string journal = fmt::format("{:.17g}*{}", radius, norm(across));
  return thrust_radius > 0 ? fmt::format("{} + {:.17g}*abs({})", journal, thrust_radius, along[0]) : journal;
}

}  // namespace stickslip::model_detail
