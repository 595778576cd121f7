// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/report_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

namespace stickslip::report_columns_test {
namespace {

constexpr double pi = std::numbers::pi;

TrajectoryNames bodies(int count) {
  TrajectoryNames names;
  for (int k = 1; k <= count; ++k) {
    const std::string body = "ball" + std::to_string(k);
    for (const char* part : {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"}) names.coordinates.push_back(body + part);
    for (const char* part : {".vx", ".vy", ".vz", ".wx", ".wy", ".wz"}) names.velocities.push_back(body + part);
  }
  names.laws = {"contact1", "contact10"};
  names.reactions = {"contact1_n", "contact1_t1", "contact1_t2", "contact10_n", "contact10_t1", "contact10_t2"};
  return names;
}

const ReportColumnFigure& figure(const ReportColumns& columns, const std::string& title) {
  for (const ReportColumnFigure& f : columns.figures())
    if (f.title == title) return f;
  throw std::runtime_error("no figure " + title);
}

TEST(ReportColumns, KeepQuaternionsOffTheAxisOfMetres) {
  const ReportColumns columns(bodies(2));
  std::map<std::string, std::string> units;
  for (const ReportColumnFigure& f : columns.figures()) {
    units[f.title] = f.unit;
    for (const ReportColumn& column : f.columns) EXPECT_EQ(column.name.find(".q"), std::string::npos) << column.name;
  }
  EXPECT_EQ(units, (std::map<std::string, std::string>{{"Positions", "m"},
                                                       {"Velocities", "m/s"},
                                                       {"Rotations", "rad"},
                                                       {"Angular velocities", "rad/s"},
                                                       {"Forces of friction and contact", "N"},
                                                       {"Energy balance", "J"}}));
  EXPECT_EQ(figure(columns, "Positions").columns.size(), 6u);
  EXPECT_EQ(figure(columns, "Velocities").columns[3].name, "ball2.vx");
  EXPECT_EQ(figure(columns, "Angular velocities").columns[5].name, "ball2.wz");
  EXPECT_EQ(figure(columns, "Rotations").columns[4].name, "ball2.ry");
}

TEST(ReportColumns, GroupByBodyAndByLaw) {
  const ReportColumns columns(bodies(2));
  EXPECT_EQ(figure(columns, "Positions").groups, "bodies");
  EXPECT_EQ(figure(columns, "Rotations").columns[2].group, "ball1");
  const ReportColumnFigure& forces = figure(columns, "Forces of friction and contact");
  EXPECT_EQ(forces.groups, "laws");
  EXPECT_EQ(forces.columns[2].group, "contact1");
  EXPECT_EQ(forces.columns[3].group, "contact10");  // not of contact1, whose name it begins with
}

TEST(ReportColumns, StateUnitsWhereNamesTellThem) {
  TrajectoryNames names;
  names.coordinates = names.velocities = {"arm.rz", "slide.tx", "arm.rz_2"};
  const ReportColumns hinges(names);
  EXPECT_EQ(figure(hinges, "Angles").columns.size(), 2u);
  EXPECT_EQ(figure(hinges, "Angular velocities").columns[1].name, "v_arm.rz_2");
  EXPECT_EQ(figure(hinges, "Positions").unit, "m");
  names.coordinates = names.velocities = {"x", "phi"};
  names.laws = {"shoe", "stop"};
  names.reactions = {"shoe", "stop_n", "stop_t1", "rod"};
  const ReportColumns general(names);
  EXPECT_EQ(figure(general, "Positions").unit, "m or rad");
  EXPECT_EQ(figure(general, "Velocities").unit, "m/s or rad/s");
  EXPECT_EQ(figure(general, "Forces of friction and contact").unit, "N");
  EXPECT_EQ(figure(general, "Forces of friction and contact").columns.size(), 2u);
  EXPECT_EQ(figure(general, "Forces and torques of friction and constraints").unit, "N or N m");
}

TEST(ReportColumns, TakeUnitsFromTheModel) {
  TrajectoryNames names;
  names.coordinates = names.velocities = {"y", "phi"};
  names.laws = {"shoe", "bearing", "stop"};
  names.reactions = {"shoe", "bearing", "stop_n", "rod"};
  const ReportColumns columns(names, {{"phi"}, {"bearing"}});
  std::map<std::string, std::pair<std::string, std::string>> first;
  for (const ReportColumnFigure& f : columns.figures()) first[f.title] = {f.columns.front().name, f.unit};
  first.erase("Energy balance");
  EXPECT_EQ(first, (std::map<std::string, std::pair<std::string, std::string>>{
                       {"Positions", {"y", "m"}},
                       {"Velocities", {"v_y", "m/s"}},
                       {"Angles", {"phi", "rad"}},
                       {"Angular velocities", {"v_phi", "rad/s"}},
                       {"Forces of friction and contact", {"shoe", "N"}},
                       {"Torques of friction", {"bearing", "N m"}},
                       {"Forces and torques of constraints", {"rod", "N or N m"}}}));
}

TEST(ReportColumns, KnowTheUnitOfAColumn) {
  TrajectoryNames names;
  names.coordinates = {"x", "phi"};
  names.velocities = {"x", "phi"};
  names.laws = {"shoe", "pin"};
  names.reactions = {"shoe", "pin"};
  const ReportColumns told(names, {{"phi"}, {"pin"}}), untold(names);
  EXPECT_EQ(told.unit_of("x"), "m");
  EXPECT_EQ(told.unit_of("v_x"), "m/s");
  EXPECT_EQ(told.unit_of("v_phi"), "rad/s");
  EXPECT_EQ(told.unit_of("r_shoe"), "N");
  EXPECT_EQ(told.unit_of("r_pin"), "N m");
  EXPECT_EQ(told.unit_of("1000*x"), "");
  EXPECT_EQ(untold.unit_of("x"), "m or rad");
}

TEST(ReportColumns, FollowARotationOverManyTurns) {
  // A ball that starts askew and turns about a fixed axis of the world: the rotation vector is that axis times ω t,
  // also where it turns by more than half a turn from row to row.
  const Eigen::Vector3d axis = Eigen::Vector3d(1, -2, 0.5).normalized();
  const Eigen::Quaterniond start = Eigen::Quaterniond(0.3, -0.5, 0.7, 0.1).normalized();
  for (const double per_row : {0.1, 3.0, 5.5, 2 * pi, -9.0}) {
    TrajectoryNames names = bodies(1);
    ReportColumns columns(names);
    std::vector<double> values(static_cast<std::size_t>(columns.size()));
    OutputRow row;
    row.q = Vector::Zero(7);
    row.v = Vector::Zero(6);
    row.reaction = Vector::Zero(6);
    for (int n = 0; n < 40; ++n) {
      row.t = 0.5 * n;
      const Eigen::Quaterniond turned = Eigen::AngleAxisd(per_row * n, axis) * start;
      const double sign = n % 2 == 0 ? 1 : -1;  // q and -q are one orientation
      row.q.segment<4>(3) << sign * turned.w(), sign * turned.x(), sign * turned.y(), sign * turned.z();
      row.v.segment<3>(3) = turned.conjugate() * Eigen::Vector3d(per_row / 0.5 * axis);
      columns.evaluate(row, values);
      const Eigen::Vector3d rotation(values[6], values[7], values[8]);
      // quaternions of 1 ± 1e-16 fix an angle to 1e-15, near whole turns an axis to 1e-16 over the sine of half the
      // angle
      ASSERT_NEAR((rotation - per_row * n * axis).norm(), 0, 1e-9) << per_row << " row " << n;
    }
  }
}

TEST(ReportColumns, AddTheSmoothPartToTheForce) {
  TrajectoryNames names;
  names.coordinates = names.velocities = {"x"};
  names.laws = names.reactions = {"shoe"};
  names.smooth_part = true;
  ReportColumns columns(names);
  ASSERT_EQ(columns.size(), 2 + 3 + 7);
  std::vector<double> values(12);
  OutputRow row;
  row.q = Vector::Constant(1, 1.0);
  row.v = Vector::Constant(1, 2.0);
  row.reaction = Vector::Constant(1, -4.0);
  row.smooth = Vector::Constant(1, 1.5);
  OutputRow start = row;
  start.reaction = start.smooth = Vector::Zero(1);
  columns.evaluate(start, values);
  EXPECT_EQ(values[0], 1.0);
  EXPECT_TRUE(std::isnan(values[2]));  // no step has ended: there is no mean force
  columns.evaluate(row, values);
  EXPECT_EQ(values[2], -2.5);
  EXPECT_EQ(values[3], -4.0);
  EXPECT_EQ(values[4], 1.5);
}

}  // namespace
}  // namespace stickslip::report_columns_test
