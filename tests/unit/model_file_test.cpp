// SPDX-License-Identifier: Apache-2.0
// What a model file says arrives in the system, number by number. (What is refused: tests/robustness.)
#include "stickslip/io/model_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/io/toml_document.hpp"

namespace stickslip::model_file_test {
namespace {

const char* const kTwoMasses = R"toml(
title = "Two masses with Coulomb dampers"

[parameters]
k = 2.0
half = "k/4"

[matrices]
coordinates = ["a", "b"]
mass        = [[2, 1], [1, 2]]
damping     = [[0.1, 0], [0, "half"]]
stiffness   = [["k", -1], [-1, "k"]]
force       = ["sin(2*pi*t) + 0.5*a - v_b", "10*i"]

[[friction]]
name  = "shoe"
on    = "a"
limit = 1.0
static_limit = 1.2
weakening = { shape = "algebraic", beta = 0.25, epsilon = 0.1 }
viscous = 0.5
surface_velocity = "0.1*t"

[[friction]]
direction = [1, "-k"]
limit = "half*(1 + abs(a))"

[initial]
position = [0, "k"]
velocity = [1, 0]

[run]
scheme   = "moreau"
step     = 0.003
start_time = -1
end_time = "2*k"
breakpoints = "ignore"
output_step = 0.01
[run.moreau]
theta = 0.75
locate_reversals = false
force = "midpoint"
solver = "gauss_seidel"
solver_tolerance = 1e-10
max_iterations = 77
fixed_point_tolerance = 1e-9
max_fixed_point = 33
max_splits = 5
[run.splitting]
variant = "symmetrised"
friction = "multiplier"
substeps = 3
rho = 0.5
tolerance = 1e-8
max_iterations = 44
force = "mean"
)toml";

ModelFile parsed(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_model(text, "model.toml", overrides);
}

/// f(t, q, v) of the system.
Vector force_at(const System& system, double t, const Vector& q, const Vector& v) {
  SystemWorkspace workspace(system);
  Vector f(system.info().nv());
  system.forces().applied(t, q, v, workspace, f);
  return f;
}

double value_at(const StateFunction& f, const System& system, double t, const Vector& q, const Vector& v) {
  Variables variables(system.info().nq(), system.info().nv());
  variables.set(t, q, v);
  return f(variables.span());
}

TEST(ModelFile, EverySectionArrivesInTheSystem) {
  const ModelFile model = parsed(kTwoMasses);
  EXPECT_EQ(model.title, "Two masses with Coulomb dampers");
  EXPECT_EQ(model.parameters, (std::vector<std::pair<std::string, double>>{{"k", 2.0}, {"half", 0.5}}));
  EXPECT_EQ(model.storage, "dense");
  const System& system = *model.system;
  EXPECT_EQ(system.info().title, model.title);
  EXPECT_EQ(system.info().coordinates, (std::vector<std::string>{"a", "b"}));
  DenseMatrix M(2, 2), B(2, 2), K(2, 2);
  M << 2, 1, 1, 2;
  B << 0.1, 0, 0, 0.5;
  K << 2, -1, -1, 2;
  EXPECT_EQ(system.linear()->M.to_dense(), M);
  EXPECT_EQ(system.linear()->B.to_dense(), B);
  EXPECT_EQ(system.linear()->K.to_dense(), K);
  const Vector q = Vector{{0.3, -0.2}}, v = Vector{{0.7, 0.4}};
  const Vector f = force_at(system, 0.1, q, v);
  EXPECT_DOUBLE_EQ(f[0], std::sin(2 * std::numbers::pi * 0.1) + 0.5 * 0.3 - 0.4);
  EXPECT_EQ(f[1], 10.0);  // i of the second coordinate is 1

  ASSERT_EQ(system.laws().friction().size(), 2u);
  const FrictionElement& shoe = system.laws().friction()[0];
  EXPECT_EQ(shoe.name, "shoe");
  EXPECT_EQ(shoe.directions, (std::vector<Direction>{{{0, 1.0}}}));
  EXPECT_EQ(shoe.limit({}), 1.0);
  EXPECT_EQ((*shoe.static_limit)({}), 1.2);
  EXPECT_EQ(shoe.weakening.shape, WeakeningShape::algebraic);
  EXPECT_EQ(shoe.weakening.beta, 0.25);
  EXPECT_EQ(shoe.weakening.epsilon, 0.1);
  EXPECT_EQ(shoe.viscous, 0.5);
  EXPECT_DOUBLE_EQ(value_at(shoe.surface_velocity[0], system, 3, q, v), 0.3);
  const FrictionElement& link = system.laws().friction()[1];
  EXPECT_EQ(link.name, "friction2");
  EXPECT_EQ(link.directions, (std::vector<Direction>{{{0, 1.0}, {1, -2.0}}}));
  EXPECT_DOUBLE_EQ(value_at(link.limit, system, 3, q, v), 0.5 * 1.3);

  EXPECT_EQ(model.initial.q, (Vector{{0.0, 2.0}}));
  EXPECT_EQ(model.initial.v, (Vector{{1.0, 0.0}}));
}

TEST(ModelFile, EveryRunOptionArrivesUnderItsName) {
  const ModelFile model = parsed(kTwoMasses);
  ASSERT_TRUE(model.has_run);
  const SimulationOptions& run = model.run;
  EXPECT_EQ(run.scheme, SchemeKind::moreau);
  EXPECT_EQ(run.step, 0.003);
  EXPECT_EQ(run.steps, 0);
  EXPECT_EQ(run.start_time, -1.0);
  EXPECT_EQ(run.end_time, 4.0);
  EXPECT_EQ(run.breakpoints, BreakpointPolicy::ignore);
  EXPECT_EQ(run.output_step, 0.01);
  EXPECT_EQ(run.moreau.theta, 0.75);
  EXPECT_FALSE(run.moreau.locate_reversals);
  EXPECT_EQ(run.moreau.force, ForceSampling::midpoint);
  EXPECT_EQ(run.moreau.solver.solver, SolverKind::gauss_seidel);
  EXPECT_EQ(run.moreau.solver.tolerance, 1e-10);
  EXPECT_EQ(run.moreau.solver.max_iterations, 77);
  EXPECT_EQ(run.moreau.fixed_point_tolerance, 1e-9);
  EXPECT_EQ(run.moreau.max_fixed_point, 33);
  EXPECT_EQ(run.moreau.max_splits, 5);
  EXPECT_EQ(run.splitting.variant, SplittingVariant::symmetrised);
  EXPECT_EQ(run.splitting.friction, FrictionStep::multiplier);
  EXPECT_EQ(run.splitting.substeps, 3);
  EXPECT_EQ(run.splitting.rho, 0.5);
  EXPECT_EQ(run.splitting.tolerance, 1e-8);
  EXPECT_EQ(run.splitting.max_iterations, 44);
  EXPECT_EQ(run.splitting.force, ForceSampling::mean);
}

TEST(ModelFile, WhatIsLeftOutIsZeroAndHasDefaultNames) {
  const ModelFile model = parsed("[matrices]\nmass = [[2, 0, 0], [0, 3, 0], [0, 0, 4]]\n");
  EXPECT_FALSE(model.has_run);
  EXPECT_EQ(model.system->info().coordinates, (std::vector<std::string>{"x1", "x2", "x3"}));
  EXPECT_TRUE(model.system->linear()->B.is_zero());
  EXPECT_TRUE(model.system->linear()->K.is_zero());
  EXPECT_EQ(force_at(*model.system, 1, Vector::Ones(3), Vector::Ones(3)), Vector::Zero(3));
  EXPECT_EQ(model.initial.q, Vector::Zero(3));
  EXPECT_EQ(model.initial.v, Vector::Zero(3));
  EXPECT_TRUE(model.system->laws().friction().empty());
}

TEST(ModelFile, ChainsAreGivenByDiagonalsAndStoredAsABand) {
  const ModelFile model = parsed(R"toml(
[parameters]
k = 3
[matrices]
size = 1000
mass = { diagonal = "1 + i/1000" }
stiffness = { tridiagonal = ["-k", "2*k", -3] }
force = "i + t"
[[friction]]
on = "*"
name = "pad"
limit = "0.5*(i + 1) + 0*t"
[initial]
position = "sin(pi*(i + 1)/(1001))"
velocity = 0.25
)toml");
  EXPECT_EQ(model.storage, "banded (1 below, 1 above)");
  const LinearPart& linear = *model.system->linear();
  EXPECT_EQ(linear.M.storage(), Storage::banded);
  EXPECT_EQ(linear.M(10, 10), 1.01);
  EXPECT_EQ(linear.K(10, 9), -3.0);
  EXPECT_EQ(linear.K(10, 10), 6.0);
  EXPECT_EQ(linear.K(10, 11), -3.0);
  EXPECT_EQ(linear.K(10, 12), 0.0);
  const Vector f = force_at(*model.system, 0.5, Vector::Zero(1000), Vector::Zero(1000));
  EXPECT_EQ(f[7], 7.5);
  const auto& laws = model.system->laws().friction();
  ASSERT_EQ(laws.size(), 1000u);
  EXPECT_EQ(laws[41].name, "pad42");
  EXPECT_EQ(laws[41].directions, (std::vector<Direction>{{{41, 1.0}}}));
  // The index is the law's own coordinate, not what the caller left in the variable.
  EXPECT_EQ(value_at(laws[41].limit, *model.system, 0.5, model.initial.q, model.initial.v), 21.0);
  EXPECT_DOUBLE_EQ(model.initial.q[499], std::sin(std::numbers::pi * 500 / 1001));
  EXPECT_EQ(model.initial.v[999], 0.25);
}

TEST(ModelFile, PlanarFrictionTakesTwoCoordinatesOrTwoDirections) {
  const ModelFile model = parsed(R"toml(
[matrices]
coordinates = ["x", "y"]
mass = { diagonal = 1 }
[[friction]]
on = ["y", "x"]
limit = 1
set = "polygon"
facets = 12
surface_velocity = [0.5, "t"]
[[friction]]
direction = [[1, 0], [1, 1]]
limit = 2
)toml");
  const FrictionElement& first = model.system->laws().friction()[0];
  EXPECT_EQ(first.directions, (std::vector<Direction>{{{1, 1.0}}, {{0, 1.0}}}));
  EXPECT_EQ(first.set(1).kind, SetKind::polygon);
  EXPECT_EQ(first.set(1).facets, 12);
  EXPECT_EQ(first.surface_velocity.size(), 2u);
  const FrictionElement& second = model.system->laws().friction()[1];
  EXPECT_EQ(second.directions, (std::vector<Direction>{{{0, 1.0}}, {{0, 1.0}, {1, 1.0}}}));
  EXPECT_EQ(second.set(1).kind, SetKind::disk);
}

TEST(ModelFile, FilesAreLookedForBesideTheModel) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("stickslip_model_files_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "k.mtx") << "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n";
  std::ofstream(folder / "load.csv") << "t,f,g\n0,0,0\n1,10,20\n";
  std::ofstream(folder / "model.toml") << "[matrices]\nmass = { diagonal = [1, 2] }\nstiffness = \"k.mtx\"\n"
                                          "force = [{ table = \"load.csv\" }, { table = \"load.csv\", column = 3 }]\n";
  const ModelFile model = read_model((folder / "model.toml").string());
  DenseMatrix K(2, 2);
  K << 2, -1, -1, 2;
  EXPECT_EQ(model.system->linear()->K.to_dense(), K);
  EXPECT_EQ(force_at(*model.system, 0.5, Vector::Zero(2), Vector::Zero(2)), (Vector{{5.0, 10.0}}));
  fs::remove_all(folder);
}

TEST(ModelFile, OverridesActAsIfTheFileSaidSo) {
  const ModelFile model = parsed(
      kTwoMasses, {"parameters.k=3", "run.scheme=moreau", "run.moreau.locate_reversals=true", "friction.shoe.limit=0.5",
                   "friction.1.viscous=k", "friction.friction2.name=link", "initial.position=[5,\"k\"]",
                   "initial.velocity.1=9", "matrices.mass.0.0=7", "title=other name", "matrices.force=0"});
  EXPECT_EQ(model.parameters[0].second, 3.0);
  EXPECT_EQ(model.parameters[1].second, 0.75);  // k/4 follows
  EXPECT_TRUE(model.run.moreau.locate_reversals);
  EXPECT_EQ(model.run.end_time, 6.0);
  EXPECT_EQ(model.system->laws().friction()[0].limit({}), 0.5);
  EXPECT_EQ(model.system->laws().friction()[1].viscous, 3.0);
  EXPECT_EQ(model.system->laws().friction()[1].name, "link");
  EXPECT_EQ(model.initial.q, (Vector{{5.0, 3.0}}));
  EXPECT_EQ(model.initial.v, (Vector{{1.0, 9.0}}));
  EXPECT_EQ(model.system->linear()->M(0, 0), 7.0);
  EXPECT_EQ(model.title, "other name");
  EXPECT_FALSE(model.system->forces().applied_depends_on_time());
}

TEST(ModelFile, AnOverrideReplacesTheKeyItExcludes) {
  const ModelFile model =
      parsed(kTwoMasses, {"run.steps=100", "run.output_times=[0,1]", "friction.shoe.direction=[0,1]"});
  EXPECT_EQ(model.run.steps, 100);
  EXPECT_EQ(model.run.step, 0.0);
  EXPECT_EQ(model.run.output_step, 0.0);
  EXPECT_EQ(model.run.output_times, (std::vector<double>{0, 1}));
  EXPECT_EQ(model.system->laws().friction()[0].directions, (std::vector<Direction>{{{1, 1.0}}}));
  EXPECT_THROW(parsed(kTwoMasses, {"run.steps=100", "run.step=0.1"}), InputError);
}

TEST(ModelFile, OverridesCanAddARun) {
  const ModelFile model =
      parsed("[matrices]\nmass = [[1]]\n", {"run.step=0.1", "run.end_time=1", "run.splitting.rho=2"});
  EXPECT_TRUE(model.has_run);
  EXPECT_EQ(model.run.splitting.rho, 2.0);
}

TEST(TomlDocument, KeysKeepTheOrderAndPlaceOfTheFile) {
  const TomlTable table = parse_toml("z = 1\n  a = [1,\n   2.5]\n[t]\nb = 'x'\n", "f");
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[0].key, "z");
  EXPECT_EQ(table[1].key, "a");
  EXPECT_EQ(table[1].place.line, 2);
  EXPECT_EQ(table[1].place.column, 3);
  EXPECT_EQ((*table[1].node.array())[1].place.line, 3);
  EXPECT_EQ((*table[1].node.array())[1].place.column, 4);
  EXPECT_EQ(std::get<double>((*table[1].node.array())[1].value), 2.5);
  EXPECT_EQ(table[2].node.place.line, 4);
}

TEST(TomlDocument, TheScanPassesEveryKindOfQuoteCommentAndKey) {
  for (const char* text : {"a = \"x # \\\" ]\" # c [\n", "a = 'x\\'\n", "a = \"\"\"x\n\"y\" \\\n   z\"\"\"\"\"\n",
                           "a = '''x\n''y'''\n", "\"a b\".'c' . d = { e.\"f\" = [1.5, 'g'] }\n",
                           "[\"\xC3\xA9\".a]\n[[ b . 'c' ]]\n", "a = [[1, 2], # c\n [3]]\n",
                           "a = \"\"\nb = ''\nc = \"\"\"\"\"\"\n", "a = \"\"\"\\\n\n  x \xC3\xA9\"\"\"\r\n"}) {
    EXPECT_FALSE(find_toml_text_error(text)) << text << find_toml_text_error(text)->message;
    EXPECT_NO_THROW(parse_toml(text, "f")) << text;
  }
}

TEST(TomlDocument, PlacesCountCharactersNotBytes) {
  const TomlPlace place = place_of_byte(
      "\xEF\xBB\xBF"
      "a\n\xC3\xA9\xC3\xA9x",
      9);
  EXPECT_EQ(place.line, 2);
  EXPECT_EQ(place.column, 3);
}

const char* const kRodOnTable = R"toml(
title = "A rod falls on a moving table"
[parameters]
m = 2.0
l = 0.5
g = 9.81
[equations]
coordinates    = ["x", "y", "phi"]
kinetic_energy = "0.5*m*(v_x^2 + v_y^2) + m*l^2/6*v_phi^2"
potential      = "m*g*y"
dissipation    = "0.05*v_phi^2"
force          = ["sin(t)", 0, "-0.1*v_phi*x + i"]
[[friction]]
on    = "phi"
limit = 0.01
[[contact]]
name        = "left"
gap         = "y - l*sin(phi) - 0.1*t"
slip        = "x - l*cos(phi)"
mu          = 0.3
mu_static   = "0.3 + 0.1"
restitution = 0.5
surface_velocity = "0.2*t"
position    = ["x - l*cos(phi)", "y - l*sin(phi)"]
normal      = [0, 1]
[[contact]]
gap       = "y + l*sin(phi)"
slip_rows = [[1, 0, 0], [0, "cos(phi)", 1]]
mu        = 0.1
cone      = "polygon"
facets    = 6
surface_velocity = [0, "x"]
[[contact]]
gap = "3 - x"
[[drawing]]
name     = "rod"
kind     = "capsule"
radius   = 0.02
length   = "2*l"
position = ["x", "y"]
angle    = "phi"
[[drawing]]
kind   = "line"
points = [[-1, "0.1*t"], [1, "0.1*t"]]
[[drawing]]
kind     = "plane"
position = [0, -1]
[[drawing]]
kind     = "box"
size     = [1, 2]
position = [0, 0, 1]
[initial]
position = [0, 1, 0.3]
)toml";

TEST(ModelFile, EquationsContactsAndDrawingsArrive) {
  const ModelFile model = parsed(kRodOnTable);
  const System& system = *model.system;
  EXPECT_EQ(system.info().coordinates, (std::vector<std::string>{"x", "y", "phi"}));
  EXPECT_EQ(system.linear(), nullptr);
  EXPECT_EQ(model.storage, "dense");
  const Vector q{{0.4, 1.2, 0.3}}, v{{1.0, -2.0, 0.5}};
  SystemWorkspace workspace(system);
  EXPECT_EQ(system.inertia().mass(q, workspace)(1, 1), 2.0);
  EXPECT_NEAR(system.inertia().mass(q, workspace)(2, 2), 2.0 * 0.25 / 3, 1e-16);
  EXPECT_DOUBLE_EQ(system.forces().potential_energy(q), 2 * 9.81 * 1.2);
  EXPECT_DOUBLE_EQ(system.forces().damper_power(q, v), 2 * 0.05 * 0.25);
  const Vector f = force_at(system, 0.7, q, v);
  EXPECT_EQ(f, (Vector{{std::sin(0.7), 0.0, -0.1 * 0.5 * 0.4 + 2}}));  // i of the third coordinate is 2
  EXPECT_EQ(system.laws().friction()[0].name, "friction1");

  ASSERT_EQ(system.laws().contacts().size(), 3u);
  const ContactElement &left = system.laws().contacts()[0], &right = system.laws().contacts()[1],
                       &wall = system.laws().contacts()[2];
  EXPECT_EQ(left.name, "left");
  EXPECT_EQ(left.tangents, 1);
  EXPECT_EQ(left.mu, 0.3);
  EXPECT_DOUBLE_EQ(*left.mu_static, 0.4);
  EXPECT_EQ(left.restitution, 0.5);
  EXPECT_EQ(left.cone, SetKind::friction_cone);
  EXPECT_EQ(right.name, "contact2");  // by position in the file
  EXPECT_EQ(right.tangents, 2);
  EXPECT_EQ(right.cone, SetKind::polygonal_cone);
  EXPECT_EQ(right.facets, 6);
  EXPECT_EQ(right.restitution, 0.0);
  EXPECT_EQ(wall.name, "contact3");
  EXPECT_EQ(wall.tangents, 0);
  ContactPoints points;
  system.laws().contact_source().find(2.0, q, 10.0, workspace, points);
  ASSERT_EQ(points.points.size(), 3u);
  const double s = 0.5 * std::sin(0.3), c = 0.5 * std::cos(0.3);
  EXPECT_DOUBLE_EQ(points.points[0].gap, 1.2 - s - 0.2);
  DenseMatrix Wt(6, 3);
  Wt << 0, 1, -c, 1, 0, s, 0, 1, c, 1, 0, 0, 0, std::cos(0.3), 1, -1, 0, 0;
  EXPECT_LE((DenseMatrix(points.Wt) - Wt).norm(), 1e-15);
  EXPECT_LE((points.w - Vector{{0.1, 0.4, 0, 0, 0.4, 0}}).norm(), 1e-15);
  EXPECT_TRUE(points.points[0].has_frame);
  EXPECT_FALSE(points.points[1].has_frame);

  ASSERT_EQ(model.drawings.size(), 4u);
  const Drawing& rod = model.drawings[0];
  EXPECT_EQ(rod.name, "rod");
  EXPECT_EQ(rod.kind, DrawingKind::capsule);
  EXPECT_EQ(rod.radius, 0.02);
  EXPECT_EQ(rod.length, 1.0);
  EXPECT_TRUE(rod.moves());
  EXPECT_EQ(value_at(rod.position[1], system, 0, q, v), 1.2);
  EXPECT_EQ(value_at(rod.angle, system, 0, q, v), 0.3);
  EXPECT_EQ(model.drawings[1].name, "drawing2");
  ASSERT_EQ(model.drawings[1].points.size(), 2u);
  EXPECT_EQ(value_at(model.drawings[1].points[1][1], system, 3, q, v), 0.1 * 3);
  EXPECT_TRUE(model.drawings[1].moves());
  EXPECT_FALSE(model.drawings[2].moves());
  EXPECT_EQ(model.drawings[3].size, (std::array<double, 3>{1, 2, 0}));
  EXPECT_EQ(model.drawings[3].position[2]({}), 1.0);
}

TEST(ModelFile, MatricesTakeContactsAndOverridesReachThem) {
  const char* const text = R"toml(
[matrices]
coordinates = ["y"]
mass  = [[1]]
force = [-9.81]
[[contact]]
gap = "y"
restitution = 0.9
[initial]
position = [1]
)toml";
  const ModelFile model = parsed(text, {"contact.contact1.restitution=0.25"});
  ASSERT_EQ(model.system->laws().contacts().size(), 1u);
  EXPECT_EQ(model.system->laws().contacts()[0].restitution, 0.25);
  EXPECT_NE(model.system->linear(), nullptr);
  SystemWorkspace workspace(*model.system);
  ContactPoints points;
  model.system->laws().contact_source().find(0, Vector{{-0.5}}, 0, workspace, points);
  ASSERT_EQ(points.points.size(), 1u);
  EXPECT_EQ(points.points[0].gap, -0.5);
  EXPECT_EQ(DenseMatrix(points.Wt), DenseMatrix::Ones(1, 1));
}

}  // namespace
}  // namespace stickslip::model_file_test
