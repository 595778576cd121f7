// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/report_scene.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace stickslip {
namespace {

using Json = nlohmann::ordered_json;

/// Base64 of the little-endian bytes of values that are made one by one.
class Base64 {
 public:
  explicit Base64(std::size_t bytes) { text_.reserve((bytes + 2) / 3 * 4); }

  template <class Unsigned>
  void put(Unsigned value) {
    for (std::size_t byte = 0; byte < sizeof(Unsigned); ++byte) put_byte(static_cast<std::uint8_t>(value >> 8 * byte));
  }

  std::string finish() {
    if (count_ == 1) text_ += {digit(held_ >> 2), digit(held_ << 4), '=', '='};
    if (count_ == 2) text_ += {digit(held_ >> 10), digit(held_ >> 4), digit(held_ << 2), '='};
    return std::move(text_);
  }

 private:
  static char digit(std::uint32_t value) {
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[value & 63];
  }

  void put_byte(std::uint8_t byte) {
    held_ = held_ << 8 | byte;
    if (++count_ < 3) return;
    text_ += {digit(held_ >> 18), digit(held_ >> 12), digit(held_ >> 6), digit(held_)};
    held_ = 0;
    count_ = 0;
  }

  std::string text_;
  std::uint32_t held_ = 0;
  int count_ = 0;
};

Json floats(const std::vector<double>& values) {
  Base64 out(4 * values.size());
  for (const double value : values) out.put(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  return {{"float32", out.finish()}};
}

/// Quaternions of length 1 in steps of 1/32767; what is not finite becomes the identity.
Json quaternions(const std::vector<double>& values) {
  Base64 out(2 * values.size());
  for (std::size_t i = 0; i + 3 < values.size(); i += 4) {
    const double length = std::hypot(std::hypot(values[i], values[i + 1]), std::hypot(values[i + 2], values[i + 3]));
    const bool usable = std::isfinite(length) && length > 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double component = usable ? values[i + k] / length : (k == 0 ? 1.0 : 0.0);
      const auto step = static_cast<std::int16_t>(std::lround(32767 * component));
      out.put(static_cast<std::uint16_t>(step));
    }
  }
  return {{"int16", out.finish()}};
}

const char* name_of(SceneShape::Kind kind) {
  switch (kind) {
    case SceneShape::Kind::sphere:
      return "sphere";
    case SceneShape::Kind::box:
      return "box";
    case SceneShape::Kind::capsule:
      return "capsule";
    case SceneShape::Kind::cylinder:
      return "cylinder";
    case SceneShape::Kind::plane:
      return "plane";
    case SceneShape::Kind::hull:
      return "hull";
    case SceneShape::Kind::mesh:
      return "mesh";
    case SceneShape::Kind::line:
      return "line";
  }
  return "sphere";
}

Json shape(const SceneShape& s) {
  Json out = {{"kind", name_of(s.kind)}, {"size", s.size}, {"position", s.position}, {"quaternion", s.quaternion}};
  if (!s.vertices.empty()) out["vertices"] = s.moving ? floats(s.vertices) : Json(s.vertices);
  if (!s.triangles.empty()) out["triangles"] = s.triangles;
  if (!s.color.empty()) out["color"] = s.color;
  if (s.moving) out["moving"] = true;
  return out;
}

Json body(const SceneBody& b, [[maybe_unused]] std::size_t frames) {
  assert(b.position.size() == 3 || b.position.size() == 3 * frames);
  assert(b.quaternion.size() == 4 || b.quaternion.size() == 4 * frames);
  Json shapes = Json::array();
  for (const SceneShape& s : b.shapes) shapes.push_back(shape(s));
  // A pose that never changes is short: as plain numbers it is exact.
  Json out = {{"name", b.name}, {"shapes", std::move(shapes)}};
  out["position"] = b.position.size() == 3 ? Json(b.position) : floats(b.position);
  out["quaternion"] = b.quaternion.size() == 4 ? Json(b.quaternion) : quaternions(b.quaternion);
  return out;
}

Json forces(const std::vector<std::vector<SceneForce>>& frames, [[maybe_unused]] std::size_t laws) {
  std::vector<std::size_t> offsets = {0};
  for (const std::vector<SceneForce>& frame : frames) offsets.push_back(offsets.back() + frame.size());
  const std::size_t count = offsets.back();
  Base64 point(12 * count), force(12 * count), law(4 * count);
  auto put = [](Base64& out, const std::array<double, 3>& values) {
    for (const double value : values) out.put(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  };
  for (const std::vector<SceneForce>& frame : frames) {
    for (const SceneForce& f : frame) {
      assert(f.law < laws);
      put(point, f.point);
      put(force, f.force);
      law.put(static_cast<std::uint32_t>(f.law));
    }
  }
  return {{"offsets", offsets},
          {"point", {{"float32", point.finish()}}},
          {"force", {{"float32", force.finish()}}},
          {"law", {{"uint32", law.finish()}}}};
}

}  // namespace

std::string report_scene_json(const ReportScene& scene) {
  assert(std::is_sorted(scene.times.begin(), scene.times.end()));
  assert(scene.forces.empty() || scene.forces.size() == scene.times.size());
  // render_report() reads these two keys, in this order, to leave the painter of solids out of a page without any.
  Json out = {{"type", "scene"}, {"planar", scene.planar}, {"title", scene.title}};
  if (!scene.note.empty()) out["note"] = scene.note;
  if (!scene.link.empty()) out["link"] = scene.link;
  if (!scene.plane.empty()) out["plane"] = scene.plane;
  out["up"] = std::string(1, scene.up);
  out["times"] = scene.times;
  out["bodies"] = Json::array();
  for (const SceneBody& b : scene.bodies) out["bodies"].push_back(body(b, scene.times.size()));
  if (!scene.laws.empty()) out["laws"] = scene.laws;
  if (!scene.forces.empty()) out["forces"] = forces(scene.forces, scene.laws.size());
  for (const SceneSpring& s : scene.springs)
    out["springs"].push_back(
        {{"name", s.name}, {"body_a", s.body_a}, {"point_a", s.point_a}, {"body_b", s.body_b}, {"point_b", s.point_b}});
  for (const SceneHinge& h : scene.hinges) {
    Json hinge = {
        {"name", h.name}, {"body", h.body}, {"point", h.point}, {"slides", h.slides}, {"axis", floats(h.axis)}};
    if (!h.force.empty()) {
      hinge["force"] = floats(h.force);
      std::string sticks;
      for (const char stuck : h.sticks) sticks += stuck ? '1' : '0';
      hinge["sticks"] = sticks;
    }
    out["hinges"].push_back(std::move(hinge));
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace stickslip
