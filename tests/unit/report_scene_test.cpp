// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/report_scene.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "stickslip/io/report_document.hpp"

namespace stickslip::report_scene_test {
namespace {

using nlohmann::json;

/// An independent decoder: the bits of the text in order, eight at a time.
std::vector<std::uint8_t> decoded(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  EXPECT_EQ(text.size() % 4, 0u);
  std::vector<bool> bits;
  for (const char c : text) {
    if (c == '=') continue;
    const std::size_t value = digits.find(c);
    EXPECT_NE(value, std::string::npos);
    for (int k = 5; k >= 0; --k) bits.push_back(value >> k & 1);
  }
  std::vector<std::uint8_t> bytes(bits.size() / 8);
  for (std::size_t i = 0; i < 8 * bytes.size(); ++i)
    bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] << 1 | bits[i]);
  return bytes;
}

template <class Unsigned>
std::vector<Unsigned> words(const json& array, const char* kind) {
  const std::vector<std::uint8_t> bytes = decoded(array.at(kind));
  std::vector<Unsigned> out(bytes.size() / sizeof(Unsigned));
  EXPECT_EQ(out.size() * sizeof(Unsigned), bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    out[i / sizeof(Unsigned)] |= static_cast<Unsigned>(static_cast<Unsigned>(bytes[i]) << 8 * (i % sizeof(Unsigned)));
  return out;
}

std::vector<float> floats(const json& array) {
  std::vector<float> out;
  for (const std::uint32_t word : words<std::uint32_t>(array, "float32")) out.push_back(std::bit_cast<float>(word));
  return out;
}

ReportScene sample(std::size_t frames) {
  ReportScene scene;
  SceneBody ground{"ground", {{SceneShape::Kind::plane, {}}}};
  SceneBody ball{"ball", {{SceneShape::Kind::sphere, {0.1}}}};
  ball.position.clear();
  ball.quaternion.clear();
  for (std::size_t k = 0; k < frames; ++k) {
    const double t = 0.01 * static_cast<double>(k);
    scene.times.push_back(t);
    for (const double x : {t, -3 * t, 1 / (1 + t)}) ball.position.push_back(x);
    for (const double x : {2 * std::cos(t), 0.0, -2 * std::sin(t), 0.0}) ball.quaternion.push_back(x);
    scene.forces.emplace_back();
    for (std::size_t i = 0; i < k % 3; ++i) scene.forces.back().push_back({{t, 0, 0}, {0, 0, 9.81}, i});
  }
  scene.bodies = {ground, ball};
  scene.laws = {"left", "right"};
  scene.springs = {{"s", 1, -1, {0, 0, 0.1}, {0, 0, 2}}};
  return scene;
}

TEST(ReportScene, SpellsTheBlockAsThePageExpects) {
  ReportScene scene;
  scene.title = "A";
  scene.note = "n";
  scene.planar = true;
  scene.plane = "xy";
  scene.up = 'y';
  scene.times = {0, 0.5};
  scene.bodies = {{"block",
                   {{SceneShape::Kind::box, {1, 2, 3}, {0, 0, 1}, {0, 1, 0, 0}, {}, {}, "#aabbcc"},
                    {SceneShape::Kind::mesh, {}, {0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, 2}}}}};
  scene.springs = {{"s", 0, -1, {1, 0, 0}, {2, 0, 0}}};
  const json expected = json::parse(R"({
    "type": "scene", "planar": true, "title": "A", "note": "n", "link": "time", "plane": "xy", "up": "y", "times": [0.0, 0.5],
    "bodies": [{"name": "block", "position": [0.0, 0.0, 0.0], "quaternion": [1.0, 0.0, 0.0, 0.0], "shapes": [
      {"kind": "box", "size": [1.0, 2.0, 3.0], "position": [0.0, 0.0, 1.0], "quaternion": [0.0, 1.0, 0.0, 0.0], "color": "#aabbcc"},
      {"kind": "mesh", "size": [], "position": [0.0, 0.0, 0.0], "quaternion": [1.0, 0.0, 0.0, 0.0],
       "vertices": [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], "triangles": [0, 1, 2]}]}],
    "springs": [{"name": "s", "body_a": 0, "point_a": [1.0, 0.0, 0.0], "body_b": -1, "point_b": [2.0, 0.0, 0.0]}]})");
  EXPECT_EQ(json::parse(report_scene_json(scene)), expected);
}

TEST(ReportScene, PosesSurvivePackingToTheirStatedPrecision) {
  for (const std::size_t frames : {2u, 3u, 4u, 100u}) {  // every remainder of the bytes by three
    const ReportScene scene = sample(frames);
    const json ball = json::parse(report_scene_json(scene))["bodies"][1];
    const std::vector<float> position = floats(ball["position"]);
    ASSERT_EQ(position.size(), 3 * frames);
    for (std::size_t i = 0; i < position.size(); ++i)
      EXPECT_EQ(position[i], static_cast<float>(scene.bodies[1].position[i]));
    const std::vector<std::uint16_t> quaternion = words<std::uint16_t>(ball["quaternion"], "int16");
    ASSERT_EQ(quaternion.size(), 4 * frames);
    for (std::size_t i = 0; i < quaternion.size(); ++i)  // half a step, after scaling to length 1
      EXPECT_NEAR(static_cast<std::int16_t>(quaternion[i]) / 32767.0, scene.bodies[1].quaternion[i] / 2,
                  0.5001 / 32767);
  }
}

TEST(ReportScene, ALineThatMovesIsPackedFrameByFrame) {
  ReportScene scene = sample(2);
  SceneShape rope{SceneShape::Kind::line, {}};
  rope.vertices = {0, 0, 0, 1, 0, 0, /**/ 0, 0, 0.5, 1, 0, 0.25};
  rope.moving = true;
  scene.bodies.push_back({"rope", {rope}});
  const json shape = json::parse(report_scene_json(scene))["bodies"][2]["shapes"][0];
  EXPECT_EQ(shape["moving"], true);
  EXPECT_EQ(floats(shape["vertices"]), (std::vector<float>{0, 0, 0, 1, 0, 0, 0, 0, 0.5f, 1, 0, 0.25f}));
}

TEST(ReportScene, ForcesOfAFrameLieBetweenItsOffsets) {
  const ReportScene scene = sample(10);
  const json forces = json::parse(report_scene_json(scene))["forces"];
  const std::vector<float> point = floats(forces["point"]), force = floats(forces["force"]);
  const std::vector<std::uint32_t> law = words<std::uint32_t>(forces["law"], "uint32");
  ASSERT_EQ(forces["offsets"].size(), 11u);
  EXPECT_EQ(forces["offsets"][10], law.size());
  for (std::size_t k = 0; k < 10; ++k) {
    const std::size_t first = forces["offsets"][k];
    ASSERT_EQ(forces["offsets"][k + 1].get<std::size_t>() - first, k % 3);
    for (std::size_t i = 0; i < k % 3; ++i) {
      EXPECT_EQ(law[first + i], i);
      EXPECT_EQ(point[3 * (first + i)], static_cast<float>(scene.times[k]));
      EXPECT_EQ(force[3 * (first + i) + 2], 9.81f);
    }
  }
}

TEST(ReportScene, AQuaternionThatIsNoneBecomesTheIdentityAndAPositionStaysUnknown) {
  ReportScene scene = sample(2);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  scene.bodies[1].quaternion = {nan, 0, 0, 0, 0, 0, 0, 0};
  scene.bodies[1].position[1] = nan;
  const json ball = json::parse(report_scene_json(scene))["bodies"][1];
  EXPECT_EQ(words<std::uint16_t>(ball["quaternion"], "int16"),
            (std::vector<std::uint16_t>{32767, 0, 0, 0, 32767, 0, 0, 0}));
  EXPECT_TRUE(std::isnan(floats(ball["position"])[1]));
}

TEST(ReportScene, StandsInTheDocumentWhereItWasPut) {
  ReportDocument document;
  document.title = "T";
  document.blocks = {ReportText{"before", {}}, sample(3), ReportText{"after", {}}};
  const json read = json::parse(report_document_json(document));
  ASSERT_EQ(read["blocks"].size(), 3u);
  EXPECT_EQ(read["blocks"][0]["title"], "before");
  EXPECT_EQ(read["blocks"][1], json::parse(report_scene_json(sample(3))));
  EXPECT_EQ(read["blocks"][2]["title"], "after");
}

TEST(ReportScene, OnlyAPageWithSolidsCarriesTheirPainter) {
  const std::string page = "<head><!--STICKSLIP_SOLID-->PAINTER<!--/STICKSLIP_SOLID--></head>/*STICKSLIP_DATA*/null";
  auto carries = [&](std::vector<ReportBlock> blocks) {
    ReportDocument document;
    document.title = "a \"scene\" and \"type\":\"scene\",\"planar\":false";  // quoted text is not a block
    document.blocks = std::move(blocks);
    const std::string text = render_report(page, report_document_json(document));
    EXPECT_EQ(text.substr(0, 6), "<head>");
    EXPECT_NE(text.find("</head>{"), std::string::npos);
    return text.find("PAINTER") != std::string::npos;
  };
  ReportScene planar = sample(2), solid = sample(2);
  planar.planar = true;
  EXPECT_FALSE(carries({}));
  EXPECT_FALSE(carries({ReportText{"scene", {"scene"}}}));
  EXPECT_FALSE(carries({planar}));
  EXPECT_TRUE(carries({solid}));
  EXPECT_TRUE(carries({planar, ReportText{}, solid}));
  // a document from elsewhere may be spelled otherwise: when in doubt the painter stays
  EXPECT_NE(render_report(page, R"({"blocks": [{"type": "scene", "times": []}]})").find("PAINTER"), std::string::npos);
}

}  // namespace
}  // namespace stickslip::report_scene_test
