// SPDX-License-Identifier: Apache-2.0
// Robots in URDF and MJCF files: the same motion as the same robot in TOML, mistakes with file and line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::robot_file_test {
namespace {

namespace fs = std::filesystem;
using Eigen::Quaterniond;
using Eigen::Vector3d;

/// A folder of its own for the files that one test writes.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / fmt::format("stickslip-robot-{}-{}",
                                                      ::testing::UnitTest::GetInstance()->current_test_info()->name(),
                                                      ::testing::UnitTest::GetInstance()->random_seed())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

const std::string kRun = "\n[run]\nscheme = \"moreau\"\nstep = 1e-3\nend_time = 0.5\n";
const std::string kGravity = "\n[gravity]\nvector = [0, 0, -9.81]\n";

const std::string kArm = R"xml(<?xml version="1.0"?>
<robot name="two-link arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.25 0 0"/>
      <mass value="1.0"/>
      <inertia ixx="0.0004" ixy="0" ixz="0" iyy="0.021" iyz="0" izz="0.021"/>
    </inertial>
    <collision><origin xyz="0.25 0 0"/><geometry><box size="0.5 0.05 0.05"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial>
      <origin xyz="0.2 0 0"/>
      <mass value="0.8"/>
      <inertia ixx="0.0003" ixy="0.0001" ixz="0" iyy="0.011" iyz="0" izz="0.011"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2.5" upper="2.5" effort="20" velocity="3"/>
    <dynamics damping="0.05" friction="0.3"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/>
    <child link="lower"/>
    <origin xyz="0.5 0 0"/>
    <axis xyz="0 -1 0"/>
    <dynamics friction="0.15"/>
  </joint>
  <transmission name="t1"/>
  <gazebo reference="upper"/>
</robot>
)xml";

const std::string kSameArm = R"toml(
[[body]]
name = "upper"
mass = 1.0
center = [0.25, 0, 0]
inertia = [0.0004, 0.021, 0.021]
[[body]]
name = "lower"
mass = 0.8
center = [0.2, 0, 0]
inertia = [[0.0003, 0.0001, 0], [0.0001, 0.011, 0], [0, 0, 0.011]]
[[hinge]]
name = "shoulder"
parent = "ground"
child = "upper"
axes = ["ry"]
lower = -2.5
upper = 2.5
damping = 0.05
position_0 = 0.5
[[hinge]]
name = "elbow"
parent = "upper"
child = "lower"
position = [0.5, 0, 0]
orientation = [0, 0, 0, 1]
child_orientation = [0, 0, 0, 1]
axes = ["ry"]
position_0 = 0.8
[[friction]]
name = "shoulder"
on = "shoulder.ry"
limit = 0.3
[[friction]]
name = "elbow"
on = "elbow.ry"
limit = 0.15
)toml";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string message(const std::string& text, const std::string& path = "r.urdf") {
  try {
    parse_model(text, path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_message(const std::string& text, const std::string& begin, const std::string& part) {
  const std::string given = message(text);
  EXPECT_TRUE(given.starts_with(begin)) << given;
  EXPECT_NE(given.find(part), std::string::npos) << given;
}

Simulation run(const ModelFile& model) {
  Simulation result = simulate(*model.system, model.initial, model.run);
  EXPECT_EQ(result.status, Status::success) << result.message;
  return result;
}

TEST(RobotFile, AnArmMovesBitForBitAsTheSameArmInToml) {
  const std::vector<std::string> settings{"hinge.shoulder.position_0=0.5", "hinge.elbow.position_0=0.8",
                                          "run.end_time=0.5"};
  const ModelFile robot = parse_model(kArm, "arm.urdf", settings);
  const ModelFile same = parse_model(kSameArm + kGravity + kRun, "arm.toml");
  EXPECT_EQ(robot.title, "two-link arm");
  EXPECT_EQ(robot.system->info().coordinates, same.system->info().coordinates);
  const Simulation a = run(robot), b = run(same);
  EXPECT_EQ(a.final.q, b.final.q);
  EXPECT_EQ(a.final.v, b.final.v);
  EXPECT_GT((a.final.q - robot.initial.q).norm(), 0.1);
}

TEST(RobotFile, WhatIsNotUsedIsListed) {
  const ModelFile model = parse_model(kArm, "arm.urdf");
  std::string notes;
  for (const std::string& note : model.notes) notes += note + "\n";
  for (const char* part :
       {"<gazebo> (line 34)", "<transmission> (line 33)", "limits of effort", "limits of velocity", "-9.81"})
    EXPECT_NE(notes.find(part), std::string::npos) << part << "\n" << notes;
  EXPECT_NE(parse_model(replaced(kArm, "friction=\"0.15\"", "fricton=\"0.15\""), "arm.urdf")
                .notes.back()
                .find("'fricton' of <dynamics>"),
            std::string::npos);
}

/// Six joints with origins, axes and inertias turned anyhow, in URDF and in TOML along another way: there every axis is
/// the x axis of a turned frame, and rotations are products of matrices.
TEST(RobotFile, SixTurnedJointsAgreeWithTomlToRoundOff) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(-1, 1);
  std::string urdf = "<robot name=\"six\"><link name=\"l0\"/>\n", toml;
  const auto three = [&] { return Vector3d(any(random), any(random), any(random)); };
  const auto xml = [](const Vector3d& x) { return fmt::format("{:.17g} {:.17g} {:.17g}", x.x(), x.y(), x.z()); };
  const auto list = [](const Vector3d& x) { return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", x.x(), x.y(), x.z()); };
  const auto quaternion = [](const Quaterniond& q) {
    return fmt::format("[{:.17g}, {:.17g}, {:.17g}, {:.17g}]", q.w(), q.x(), q.y(), q.z());
  };
  const auto turn_of = [](const Vector3d& rpy) {
    return Quaterniond(Eigen::AngleAxisd(rpy.z(), Vector3d::UnitZ()).toRotationMatrix() *
                       Eigen::AngleAxisd(rpy.y(), Vector3d::UnitY()).toRotationMatrix() *
                       Eigen::AngleAxisd(rpy.x(), Vector3d::UnitX()).toRotationMatrix());
  };
  for (int k = 1; k <= 6; ++k) {
    const Vector3d center = 0.1 * three(), rpy = three(), origin = 0.3 * three(), origin_rpy = 2 * three(),
                   axis = three();
    const bool slides = k == 4;
    urdf += fmt::format(
        "<link name=\"l{0}\"><inertial><origin xyz=\"{1}\" rpy=\"{2}\"/><mass value=\"{3}\"/><inertia ixx=\"0.01\" "
        "ixy=\"0.001\" ixz=\"0\" "
        "iyy=\"0.012\" iyz=\"-0.002\" izz=\"0.015\"/></inertial></link>\n<joint name=\"j{0}\" type=\"{4}\"><parent "
        "link=\"l{5}\"/><child "
        "link=\"l{0}\"/><origin xyz=\"{6}\" rpy=\"{7}\"/><axis xyz=\"{8}\"/><limit lower=\"-9\" upper=\"9\" "
        "effort=\"1\" velocity=\"1\"/>"
        "<dynamics friction=\"0.2\" damping=\"0.01\"/></joint>\n",
        k, xml(center), xml(rpy), 1.0 / k, slides ? "prismatic" : "revolute", k - 1, xml(origin), xml(origin_rpy),
        xml(axis));
    const Eigen::Matrix3d R = turn_of(rpy).toRotationMatrix();
    Eigen::Matrix3d J;
    J << 0.01, 0.001, 0, 0.001, 0.012, -0.002, 0, -0.002, 0.015;
    J = R * J * R.transpose();
    J = 0.5 * (J + Eigen::Matrix3d(J.transpose()));
    const Quaterniond onto = Quaterniond::FromTwoVectors(Vector3d::UnitX(), axis);
    toml += fmt::format("[[body]]\nname = \"l{}\"\nmass = {:.17g}\ncenter = {}\ninertia = [{}, {}, {}]\n", k, 1.0 / k,
                        list(center), list(J.row(0)), list(J.row(1)), list(J.row(2)));
    toml += fmt::format(
        "[[hinge]]\nname = \"j{0}\"\nparent = \"{1}\"\nchild = \"l{0}\"\nposition = {2}\norientation = "
        "{3}\nchild_orientation = {4}\naxes = "
        "[\"{5}x\"]\nlower = -9\nupper = 9\ndamping = 0.01\n[[friction]]\nname = \"j{0}\"\non = \"j{0}.{5}x\"\nlimit = "
        "0.2\n",
        k, k == 1 ? "ground" : fmt::format("l{}", k - 1), list(origin), quaternion(turn_of(origin_rpy) * onto),
        quaternion(onto), slides ? "t" : "r");
  }
  const ModelFile robot = parse_model(urdf + "</robot>", "six.urdf", std::vector<std::string>{"run.end_time=0.3"});
  const ModelFile same = parse_model(toml + kGravity + kRun, "six.toml", std::vector<std::string>{"run.end_time=0.3"});
  EXPECT_EQ(robot.system->info().coordinates[3], "j4.tz");
  const Simulation a = run(robot), b = run(same);
  EXPECT_GT(a.final.q.norm(), 0.1);
  // Round-off of 300 steps.
  EXPECT_LT((a.final.q - b.final.q).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((a.final.v - b.final.v).cwiseAbs().maxCoeff(), 1e-11);
}

const std::string kGripper = R"xml(<robot name="gripper">
<link name="palm"/>
<link name="left"><inertial><mass value="0.1"/><inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
<link name="right"><inertial><mass value="0.1"/><inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
<joint name="finger" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="1 0 0"/><limit lower="0" upper="0.04"/></joint>
<joint name="thumb" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="1 0 0"/><limit lower="-0.05" upper="0.01"/>
  <mimic joint="finger" multiplier="-1" offset="0.005"/></joint>
</robot>
)xml";

TEST(RobotFile, AJointThatMimicsStartsAndMovesWithItsLeader) {
  const ModelFile model =
      parse_model(kGripper, "g.urdf",
                  std::vector<std::string>{"hinge.finger.position_0=0.01", "hinge.finger.velocity_0=0.1",
                                           "gravity.vector=[0,0,0]", "run.end_time=0.2"});
  ASSERT_EQ(model.system->laws().constraints().size(), 1u);
  EXPECT_EQ(model.system->laws().constraints()[0].name, "thumb_mimic");
  EXPECT_EQ(model.initial.q[0], 0.01);
  EXPECT_DOUBLE_EQ(model.initial.q[1], -0.005);
  EXPECT_EQ(model.initial.v[1], -0.1);
  const Simulation result = run(model);
  EXPECT_NEAR(result.final.q[0], 0.03, 1e-12);
  EXPECT_NEAR(result.final.q[1], -0.025, 1e-12);
}

TEST(RobotFile, EveryKindOfJointHasItsAxes) {
  std::string text = "<robot name=\"r\"><link name=\"a\"/>\n";
  const std::string inertial =
      "<inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial>";
  int k = 0;
  for (const char* type : {"continuous", "prismatic", "planar", "floating", "fixed"}) {
    text += fmt::format(
        "<link name=\"b{0}\">{2}</link><joint name=\"j{0}\" type=\"{1}\"><parent link=\"a\"/><child link=\"b{0}\"/>"
        "<axis xyz=\"0 0 2\"/><limit lower=\"-1\" upper=\"1\"/></joint>\n",
        k++, type, inertial);
  }
  const ModelFile model = parse_model(text + "</robot>", "r.urdf");
  EXPECT_EQ(model.system->info().velocities,
            (std::vector<std::string>{"j0.rz", "j1.tz", "j2.tx", "j2.ty", "j2.rz", "j3.vx", "j3.vy", "j3.vz", "j3.wx",
                                      "j3.wy", "j3.wz"}));
}

TEST(RobotFile, MistakesNameFileAndLine) {
  expect_message("<robot", "r.urdf:1: ", "not valid XML");
  expect_message("<html></html>", "r.urdf:1: ", "not a robot");
  expect_message("<robot name=\"r\">\n</robot>", "r.urdf:1: ", "no <link>");
  expect_message(replaced(kArm, "<axis xyz=\"0 1 0\"/>", "<axis xyz=\"0 0 0\"/>"), "r.urdf:22: ", "length 0");
  expect_message(replaced(kArm, "link=\"lower\"", "link=\"lowr\""), "r.urdf:28: ", "did you mean 'lower'");
  expect_message(replaced(kArm, "<link name=\"lower\">", "<link name=\"upper\">"),
                 "r.urdf:12: ", "two links are named 'upper', the other in line 4");
  expect_message(replaced(kArm, "name=\"elbow\"", "name=\"shoulder\""),
                 "r.urdf:26: ", "two joints are named 'shoulder'");
  expect_message(replaced(kArm, "type=\"continuous\"", "type=\"hinge\""), "r.urdf:26: ", "unknown type 'hinge'");
  expect_message(replaced(kArm, "<limit lower=\"-2.5\" upper=\"2.5\" effort=\"20\" velocity=\"3\"/>", ""),
                 "r.urdf:19: ", "\"continuous\"");
  expect_message(replaced(kArm, "lower=\"-2.5\"", "lower=\"2.5\""), "r.urdf:23: ", "must be below upper");
  expect_message(replaced(kArm, "friction=\"0.3\"", "friction=\"-0.3\""), "r.urdf:24: ", "must be >= 0");
  expect_message(replaced(kArm, "friction=\"0.3\"", "friction=\"a lot\""), "r.urdf:24: ", "not a finite number");
  expect_message(replaced(kArm, "xyz=\"0.5 0 0\"", "xyz=\"0.5 0\""), "r.urdf:29: ", "has 2 numbers; 3 must stand here");
  expect_message(replaced(kArm, "iyy=\"0.021\"", "iyy=\"0.5\""), "r.urdf:8: key 'body.upper.inertia'",
                 "sum of the other two");
  expect_message(replaced(kArm, "<mass value=\"0.8\"/>", "<mass value=\"-0.8\"/>"), "r.urdf:15: ", "must be >= 0");
  expect_message(replaced(kArm, "<parent link=\"upper\"/>", "<parent link=\"lower\"/>"), "r.urdf:26: ", "to itself");
  const std::string again =
      "<joint name=\"again\" type=\"fixed\"><parent link=\"base\"/><child link=\"lower\"/></joint>";
  expect_message(replaced(kArm, "</robot>", again + "</robot>"), "r.urdf:35: ", "[[loop]]");
  expect_message(replaced(kArm, "</robot>", "<link name=\"lost\"/></robot>"), "r.urdf:35: ", "falls apart");
  expect_message(replaced(kArm, "<box size=\"0.5 0.05 0.05\"/>", "<torus r=\"1\"/>"),
                 "r.urdf:10: ", "unknown geometry <torus>");
  expect_message(replaced(kArm, "<box size=\"0.5 0.05 0.05\"/>", "<mesh filename=\"package://arm/no.stl\"/>"),
                 "r.urdf:10: ", "no mesh file");
  expect_message(replaced(kArm, "<link name=\"base\"/>", "<xacro:macro name=\"x\"/>"), "r.urdf:3: ", "xacro");
  // Nothing with mass hangs on the elbow.
  std::string light = kArm;
  const std::size_t from = light.find("<inertial>", light.find("name=\"lower\""));
  light.erase(from, light.find("</inertial>", from) + 11 - from);
  expect_message(light, "r.urdf:22: key 'hinge.elbow'", "carries no mass");
  EXPECT_NE(message(replaced(kArm, "<parent link=\"base\"/>", "<parent link=\"lower\"/>")).find("circle"),
            std::string::npos);
}

TEST(RobotFile, AModelChangesAndAddsToTheRobot) {
  const Folder folder;
  folder.write("arm.urdf", kArm);
  const std::string model = "urdf = \"arm.urdf\"\n" + kGravity + R"toml(
[[hinge]]
name = "elbow"
position_0 = 0.4
[[friction]]
name = "elbow"
static_limit = 0.2
[[motor]]
on = "shoulder.ry"
position = 0.1
stiffness = 10
[[body]]
name = "ball"
mass = 1
inertia = [1, 1, 1]
)toml" + kRun;
  const ModelFile read = parse_model(model, folder.at("m.toml"));
  EXPECT_EQ(read.initial.q[1], 0.4);
  ASSERT_EQ(read.system->laws().friction().size(), 2u);
  EXPECT_EQ(read.system->laws().friction()[1].limit({}), 0.15);
  EXPECT_TRUE(read.system->laws().friction()[1].static_limit.has_value());
  EXPECT_EQ(read.system->info().nv(), 8);
  // Mistakes in what the model adds are about the model, those in the robot about its file.
  const auto said = [&](const std::string& text) { return message(text, folder.at("m.toml")); };
  std::string text = said(replaced(model, "name = \"elbow\"\nposition_0", "name = \"elbw\"\nposition_0"));
  EXPECT_TRUE(text.starts_with(folder.at("m.toml") + ":6:")) << text;
  EXPECT_NE(text.find("did you mean 'elbow'"), std::string::npos) << text;
  text = said(replaced(model, "position_0 = 0.4", "position_0 = \"x\""));
  EXPECT_TRUE(text.starts_with(folder.at("m.toml") + ":8:")) << text;
  folder.write("arm.urdf", replaced(kArm, "iyy=\"0.021\"", "iyy=\"0.5\""));
  text = said(model);
  EXPECT_TRUE(text.starts_with(folder.at("arm.urdf") + ":8: ")) << text;
  EXPECT_NE(said("urdf = \"none.urdf\"\n").find("none.urdf"), std::string::npos);
  EXPECT_NE(said("urdf = \"arm.urdf\"\n[matrices]\nmass = [[1]]\n").find("two systems"), std::string::npos);
}

TEST(RobotFile, TwoRobotsStandSideBySide) {
  const Folder folder;
  folder.write("arm.urdf", replaced(kArm, "<link name=\"base\"/>",
                                    "<link name=\"base\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" "
                                    "ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>"));
  const ModelFile model = parse_model(
      "urdf = [{ file = \"arm.urdf\", prefix = \"left_\" }, { file = \"arm.urdf\", prefix = \"right_\", base = "
      "\"free\", position = [0, 1, 0] }]\n"
      "[[hinge]]\nname = \"right_elbow\"\nposition_0 = 0.7\n" +
          kRun,
      folder.at("m.toml"));
  EXPECT_EQ(model.system->info().nv(), 2 + 6 + 2);
  EXPECT_EQ(model.system->info().coordinates[1], "left_elbow.ry");
  EXPECT_EQ(model.initial.q[3], 1.0);  // y of the free base
  EXPECT_EQ(model.initial.q[10], 0.7);
}

std::string cube_obj() {
  std::string text;
  for (int k = 0; k < 8; ++k) text += fmt::format("v {} {} {}\n", k & 1, (k >> 1) & 1, (k >> 2) & 1);
  return text + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
}

constexpr std::array<std::array<int, 3>, 12> kCubeFaces{{{0, 2, 1},
                                                         {1, 2, 3},
                                                         {4, 5, 6},
                                                         {5, 7, 6},
                                                         {0, 1, 4},
                                                         {1, 5, 4},
                                                         {2, 6, 3},
                                                         {3, 6, 7},
                                                         {0, 4, 2},
                                                         {2, 4, 6},
                                                         {1, 3, 5},
                                                         {3, 7, 5}}};

std::string cube_stl(bool binary) {
  std::string text = binary ? std::string(80, ' ') : "solid cube\n";
  const auto put = [&](float x) {
    char bytes[4];
    std::memcpy(bytes, &x, 4);
    text.append(bytes, 4);
  };
  if (binary) text += std::string("\x0c\0\0\0", 4);
  for (const auto& face : kCubeFaces) {
    if (!binary) text += "facet normal 0 0 0\nouter loop\n";
    if (binary) text.append(12, '\0');
    for (const int k : face) {
      if (binary) {
        for (const int c : {k & 1, (k >> 1) & 1, (k >> 2) & 1}) put(static_cast<float>(c));
      } else {
        text += fmt::format("vertex {} {} {}\n", k & 1, (k >> 1) & 1, (k >> 2) & 1);
      }
    }
    if (!binary) text += "endloop\nendfacet\n";
    if (binary) text.append(2, '\0');
  }
  return binary ? text : text + "endsolid cube\n";
}

std::string mesh_robot(const std::string& file) {
  return "<robot name=\"m\">\n<link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" "
         "iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial>\n"
         "<collision><geometry><mesh filename=\"" +
         file + "\" scale=\"2 1 1\"/></geometry></collision></link>\n</robot>";
}

TEST(RobotFile, MeshesBecomeConvexHulls) {
  const Folder folder;
  folder.write("meshes/cube.obj", cube_obj());
  folder.write("meshes/text.stl", cube_stl(false));
  folder.write("meshes/binary.STL", cube_stl(true));
  const std::string path = folder.at("pkg/urdf/m.urdf");
  folder.write("pkg/meshes/cube.obj", cube_obj());
  for (const std::string file : {"meshes/cube.obj", "meshes/text.stl", "meshes/binary.STL"}) {
    const ModelFile model = parse_model(mesh_robot(file), folder.at("m.urdf"));
    ASSERT_EQ(model.bodies->shapes.size(), 1u);
    const MassProperties part = mass_properties(make_geometry(model.bodies->shapes[0]));
    EXPECT_NEAR(part.volume, 2.0, 1e-12) << file;
    EXPECT_EQ(model.bodies->shapes[0].points.size(), 8u);
  }
  EXPECT_EQ(parse_model(mesh_robot("package://pkg/meshes/cube.obj"), path).bodies->shapes.size(), 1u);
  // A stored run needs the file no more.
  const ModelFile first = parse_model(mesh_robot("meshes/binary.STL"), folder.at("m.urdf"));
  fs::remove(folder.at("meshes/binary.STL"));
  const ModelFile again = parse_model(first.text, folder.at("m.urdf"), {}, first.files);
  EXPECT_EQ(again.bodies->shapes[0].points, first.bodies->shapes[0].points);
  // Broken ones are blamed on the line that names them.
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"cut.stl", cube_stl(true).substr(0, 300)},
           {"empty.stl", ""},
           {"words.stl", "nothing"},
           {"flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
           {"nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n"},
           {"cube.xyz", cube_obj()}}) {
    folder.write(name, text);
    const std::string said = message(mesh_robot(name), folder.at("m.urdf"));
    EXPECT_TRUE(said.starts_with(folder.at("m.urdf") + ":3: ")) << name << ": " << said;
  }
}

TEST(RobotFile, AMeshOfManyCornersIsCutDownAndTheNoteSaysByHowMuch) {
  const Folder folder;
  std::string text;
  constexpr int kCount = 40;
  for (int i = 0; i <= kCount; ++i)
    for (int j = 0; j < kCount; ++j) {
      const double a = M_PI * i / kCount, b = 2 * M_PI * j / kCount;
      text +=
          fmt::format("v {:.9g} {:.9g} {:.9g}\n", std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::cos(a));
    }
  for (int i = 0; i < kCount; ++i)
    for (int j = 0; j < kCount; ++j)
      text +=
          fmt::format("f {} {} {}\n", i * kCount + j + 1, i * kCount + (j + 1) % kCount + 1, (i + 1) * kCount + j + 1);
  folder.write("ball.obj", text);
  const ModelFile model = parse_model(replaced(mesh_robot("ball.obj"), " scale=\"2 1 1\"", ""), folder.at("m.urdf"));
  EXPECT_LE(model.bodies->shapes[0].points.size(), 400u);
  EXPECT_NEAR(mass_properties(make_geometry(model.bodies->shapes[0])).volume, 4 * M_PI / 3, 0.15);
  EXPECT_TRUE(std::any_of(model.notes.begin(), model.notes.end(),
                          [](const std::string& note) { return note.find("too small") != std::string::npos; }));
}

TEST(RobotFile, NeighboursDoNotTouchOthersDo) {
  const std::string text = R"toml(
[[body]]
name = "a"
mass = 1
[[body]]
name = "b"
mass = 1
[[body]]
name = "c"
mass = 1
[[shape]]
body = "a"
kind = "sphere"
radius = 0.6
[[shape]]
body = "b"
kind = "sphere"
radius = 0.6
[[shape]]
body = "c"
kind = "sphere"
radius = 0.6
[[hinge]]
name = "h"
parent = "ground"
child = "a"
axes = ["tx"]
[[hinge]]
name = "i"
parent = "a"
child = "b"
position = [1, 0, 0]
axes = ["rz"]
[[hinge]]
name = "j"
parent = "b"
child = "c"
child_position = [1, 0, 0]
axes = ["rz"]
position_0 = 0.0
[[contact]]
between = ["*", "*"]
)toml" + kRun;
  // c lies on a, which is no neighbour.
  const std::string said = message(text, "m.toml");
  EXPECT_NE(said.find("'a' and 'c'"), std::string::npos) << said;
  EXPECT_EQ(message(text + "[run.moreau]\nstart_penetration = 10\n", "m.toml"), "");
  EXPECT_EQ(message(replaced(text, "position_0 = 0.0", "position_0 = 3.14"), "m.toml"), "");
  EXPECT_NE(message(replaced(text, "position_0 = 0.0", "position_0 = 3.14") +
                        "[[contact]]\nname = \"x\"\nbetween = [\"a\", \"b\"]\n",
                    "m.toml")
                .find("'a' and 'b'"),
            std::string::npos);
}

TEST(RobotFile, AnMjcfArmMovesAsTheSameArmInToml) {
  const std::string mjcf = R"xml(<mujoco model="arm">
  <compiler angle="degree"/>
  <option gravity="0 0 -9.81" timestep="0.001"/>
  <default>
    <joint damping="0.05"/>
    <default class="weak"><joint damping="0" frictionloss="0.15"/></default>
  </default>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" range="-143.2394487827058 143.2394487827058" frictionloss="0.3"/>
      <inertial pos="0.25 0 0" mass="1" diaginertia="0.0004 0.021 0.021"/>
      <geom type="box" size="0.25 0.025 0.025" pos="0.25 0 0" contype="0" conaffinity="0"/>
      <body name="lower" pos="0.5 0 0" childclass="weak">
        <joint name="elbow" axis="0 -1 0"/>
        <inertial pos="0.2 0 0" mass="0.8" fullinertia="0.0003 0.011 0.011 0.0001 0 0"/>
      </body>
    </body>
  </worldbody>
  <sensor/>
</mujoco>)xml";
  const std::vector<std::string> settings{"hinge.shoulder.position_0=0.5", "hinge.elbow.position_0=0.8",
                                          "run.end_time=0.5"};
  const ModelFile robot = parse_model(mjcf, "arm.xml", settings);
  const ModelFile same = parse_model(kSameArm + kGravity + kRun, "arm.toml");
  const Simulation a = run(robot), b = run(same);
  EXPECT_EQ(a.final.q, b.final.q);
  EXPECT_NE(robot.notes.back().find("<sensor>"), std::string::npos);
  const std::string said = message(replaced(mjcf, "class=\"weak\"", "class=\"strong\""), "arm.xml");
  EXPECT_TRUE(said.starts_with("arm.xml:14: ")) << said;
}

TEST(RobotFile, SeveralJointsOfOneMjcfBodyAreAppliedInOrder) {
  const std::string mjcf = R"xml(<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1" pos="0 0 -5"/>
    <body name="b" pos="0 0 1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" axis="0 1 0" pos="0 0 0.5"/>
      <geom type="capsule" fromto="0 0 -0.2 0 0 0.2" size="0.05" mass="2"/>
    </body>
    <body pos="0 3 0"><freejoint/><geom size="0.1" density="500"/></body>
  </worldbody>
</mujoco>)xml";
  const ModelFile model =
      parse_model(mjcf, "b.xml", std::vector<std::string>{"run.end_time=0.2", "hinge.y.position_0=0.3"});
  const std::string toml = R"toml(
[[body]]
name = "b"
mass = 2
[[shape]]
body = "b"
kind = "capsule"
radius = 0.05
length = 0.4
[[hinge]]
name = "h"
parent = "ground"
child = "b"
position = [0, 0, 1.5]
child_position = [0, 0, 0.5]
axes = ["tx", "ry"]
position_0 = [0, 0.3]
)toml" + kGravity + kRun;
  const ModelFile same = parse_model(toml, "b.toml", std::vector<std::string>{"run.end_time=0.2", "run.step=2e-3"});
  ASSERT_EQ(model.system->info().nv(), 8);
  EXPECT_NEAR(model.bodies->bodies.back().mass, 500 * 4 * M_PI / 3 * 1e-3, 1e-12);
  const Simulation a = run(model), b = run(same);
  EXPECT_NEAR(a.final.q[0], b.final.q[0], 1e-12);
  EXPECT_NEAR(a.final.q[1], b.final.q[1], 1e-12);
}

}  // namespace
}  // namespace stickslip::robot_file_test
