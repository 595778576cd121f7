// SPDX-License-Identifier: Apache-2.0
// Contacts given by expressions: directions and their rates against differences along a motion.
#include "stickslip/model/expression_contact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/model/equation_model.hpp"
#include "stickslip/model/matrix_model.hpp"

namespace stickslip::expression_contact_test {
namespace {

using Texts = std::vector<std::string>;
const Texts kPlane{"x", "y", "phi"};

StateFunction parsed(const std::string& text, const Texts& coordinates = kPlane) {
  return StateFunction(Expression::parse(text, state_symbols(coordinates, {{"l", 0.8}, {"alpha", 0.3}})));
}

std::vector<StateFunction> parsed(const Texts& texts) {
  std::vector<StateFunction> result;
  for (const std::string& text : texts) result.push_back(parsed(text));
  return result;
}

ExpressionContact contact(const std::string& gap, const Texts& slip, const Texts& surface = {}) {
  ExpressionContact result;
  result.law.name = "c";
  result.law.tangents = static_cast<int>(slip.size());
  result.law.mu = slip.empty() ? 0.0 : 0.5;
  result.gap = parsed(gap);
  result.slip = parsed(slip);
  result.surface_velocity = parsed(surface);
  return result;
}

const FlatKinematics& plane() {
  static const FlatKinematics flat(kPlane);
  return flat;
}

class Found {
 public:
  explicit Found(std::vector<ExpressionContact> contacts) : contacts_(std::move(contacts), plane()) {
    workspace_.contacts = contacts_.make_scratch();
  }
  const ContactPoints& at(double t, const Vector& q, double margin = HUGE_VAL) {
    contacts_.find(t, q, margin, workspace_, points_);
    return points_;
  }
  Vector u(double t, const Vector& q, const Vector& v) {
    at(t, q);
    return points_.Wt * v - points_.w;
  }
  Vector bias(double t, const Vector& q, const Vector& v, double margin = HUGE_VAL) {
    Vector result;
    contacts_.bias(t, q, v, margin, workspace_, result);
    return result;
  }

 private:
  ExpressionContacts contacts_;
  SystemWorkspace workspace_{plane().nq(), plane().nv()};
  ContactPoints points_;
};

const std::vector<ExpressionContact>& moving_contacts() {
  static const std::vector<ExpressionContact> contacts = [] {
    std::vector<ExpressionContact> list;
    list.push_back(contact("y + l*sin(phi) - 0.1*x^2 - 0.3*sin(2*t)", {"x + l*cos(phi) + 0.05*t*x", "t*x*y"},
                           {"0.2*cos(t)*x", "1.5"}));
    list.push_back(contact("y - 0.1*t + 2*x - 1", {"x - y*tan(alpha) + t"}));
    ExpressionContact rolling = contact("1 - x", {});
    rolling.law.tangents = 2;
    rolling.slip_rows = {parsed(Texts{"-sin(phi)", "cos(phi)*(1+t)", "0"}), parsed(Texts{"0", "2", "x*y"})};
    rolling.surface_velocity = {parsed("phi^2"), StateFunction(TimeTable({0, 1, 2}, {0, 3, 1}, "belt.csv"))};
    list.push_back(rolling);
    list.push_back(contact("y", {}));
    return list;
  }();
  return contacts;
}

struct Motion {
  double t;
  Vector q, v;
};
std::vector<Motion> motions() {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Motion> list;
  for (int k = 0; k < 50; ++k) {
    Motion motion{1 + 0.4 * uniform(random), Vector(3), Vector(3)};  // within one piece of the table
    if (k % 2) motion.t += 0.5;
    if (std::abs(motion.t - 1) < 0.01) motion.t += 0.02;
    for (double& c : motion.q) c = 2 * uniform(random);
    for (double& c : motion.v) c = 2 * uniform(random);
    list.push_back(motion);
  }
  return list;
}

TEST(ExpressionContact, NormalVelocity_IsTheRateOfTheGapAndTangentialOfTheSlip) {
  Found found(moving_contacts());
  for (const auto& [t, q, v] : motions()) {
    const Vector u = found.u(t, q, v);
    ASSERT_EQ(u.size(), 3 + 2 + 3 + 1);
    constexpr double d = 1e-5;  // central difference: d² f'''/6 and 1e-16 f / d are below 1e-8
    const std::vector<ContactSite> after = found.at(t + d, q + d * v).points,
                                   before = found.at(t - d, q - d * v).points;
    EXPECT_NEAR(u[0], (after[0].gap - before[0].gap) / (2 * d), 1e-8);
    EXPECT_NEAR(u[3], (after[1].gap - before[1].gap) / (2 * d), 1e-8);
    EXPECT_NEAR(u[5], (after[2].gap - before[2].gap) / (2 * d), 1e-8);
    // By hand: s = x + l cos φ + 0.05 t x and t x y.
    const double x = q[0], y = q[1], phi = q[2];
    EXPECT_NEAR(u[1], v[0] - 0.8 * std::sin(phi) * v[2] + 0.05 * (x + t * v[0]) - 0.2 * std::cos(t) * x, 1e-13);
    EXPECT_NEAR(u[2], x * y + t * (v[0] * y + x * v[1]) - 1.5, 1e-13);
    EXPECT_NEAR(u[4], v[0] - v[1] * std::tan(0.3) + 1, 1e-13);
    EXPECT_NEAR(u[6], -std::sin(phi) * v[0] + std::cos(phi) * (1 + t) * v[1] - phi * phi, 1e-13);
    EXPECT_NEAR(u[7], 2 * v[1] + x * y * v[2] - (t < 1 ? 3 * t : 5 - 2 * t), 1e-13);
    EXPECT_EQ(u[8], v[1]);
  }
}

TEST(ExpressionContact, Bias_IsTheRateOfTheRelativeVelocityAtConstantVelocity) {
  Found found(moving_contacts());
  for (const auto& [t, q, v] : motions()) {
    const Vector bias = found.bias(t, q, v);
    constexpr double d = 1e-5;
    const Vector rate = (found.u(t + d, q + d * v, v) - found.u(t - d, q - d * v, v)) / (2 * d);
    ASSERT_EQ(bias.size(), rate.size());
    EXPECT_LE((bias - rate).lpNorm<Eigen::Infinity>(), 1e-8) << bias.transpose() << "\n" << rate.transpose();
    EXPECT_EQ(bias[3], 0.0);  // affine
  }
}

TEST(ExpressionContact, PrecomputedAffineRows_EqualThoseByDifferentiation) {
  // A function of a variable in the text, even one times 0, keeps the expression.
  ASSERT_EQ(parsed("y - tan(alpha)*x + 0.1*t - 2").degree(), Degree::affine);
  ASSERT_EQ(parsed("y - tan(alpha)*x + 0.1*t - 2 + 0*sin(x)").degree(), Degree::any);
  Found constant({contact("y - tan(alpha)*x + 0.1*t - 2", {"x + y*tan(alpha)"})});
  Found general({contact("y - tan(alpha)*x + 0.1*t - 2 + 0*sin(x)", {"x + y*tan(alpha) + 0*sin(x)"})});
  for (const auto& [t, q, v] : motions()) {
    const ContactPoints a = constant.at(t, q);
    const ContactPoints& b = general.at(t, q);
    EXPECT_NEAR(a.points[0].gap, b.points[0].gap, 1e-15);
    EXPECT_EQ(DenseMatrix(a.Wt), DenseMatrix(b.Wt));
    EXPECT_EQ(a.w, b.w);
    EXPECT_EQ(constant.bias(t, q, v), general.bias(t, q, v));
  }
}

TEST(ExpressionContact, DegreeIsGivenOnlyWhereItIsCertain) {
  const std::vector<std::pair<std::string, Degree>> cases = {
      {"3*alpha", Degree::constant},
      {"x", Degree::affine},
      {"(x - 2*y)/3 + t", Degree::affine},
      {"sqrt(alpha)*x - cos(alpha)", Degree::affine},
      {"x^2 - x*y", Degree::quadratic},
      {"x*x*x", Degree::any},
      {"1/x", Degree::any},
      {"(x^2)^0.5", Degree::any},
      {"sqrt(x^2)", Degree::any},
      {"abs(x)", Degree::any},
      {"if(x > 5, x, y)", Degree::any},
      {"min(x, 1e9)", Degree::any},
      {"x + exp(-1e6*(x-0.3)^2)", Degree::any},
      {"x + 1e-30*y^3", Degree::any},
      {"2^x", Degree::any},
      {"x + (y > 100)", Degree::any},
      {"x and y", Degree::any},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(parsed(text).degree(), expected) << text;
}

TEST(ExpressionContact, OnlyPointsWithinTheMarginAreFoundInTheOrderOfTheLaws) {
  Found found({contact("y", {"x"}), contact("y + 1", {}), contact("x^2 + y - 1", {"x", "phi"})});
  const Vector q{{0.5, 0.0, 0.0}};
  EXPECT_TRUE(found.at(0, q, -1.0).points.empty());
  EXPECT_EQ(found.at(0, q, -1.0).Wt.rows(), 0);
  const ContactPoints touching = found.at(0, q, 0.0);
  ASSERT_EQ(touching.points.size(), 2u);
  EXPECT_EQ(touching.points[0].law, 0);
  EXPECT_EQ(touching.points[0].gap, 0.0);
  EXPECT_EQ(touching.points[1].law, 2);
  EXPECT_EQ(touching.points[1].gap, -0.75);
  DenseMatrix expected(5, 3);
  expected << 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1;
  EXPECT_EQ(DenseMatrix(touching.Wt), expected);
  EXPECT_TRUE(touching.w.isZero(0));
  EXPECT_EQ(found.bias(0, q, Vector{{2.0, 0.0, 0.0}}, 0.0), (Vector{{0, 0, 8, 0, 0}}));
  const ContactPoints& all = found.at(0, q);
  ASSERT_EQ(all.points.size(), 3u);
  EXPECT_EQ(all.points[2].key, touching.points[1].key);  // keys stay with the law
}

TEST(ExpressionContact, DrawnFrame_TurnsWithTheNormalAndPointsAlongTheSlip) {
  ExpressionContact incline = contact("y*cos(alpha) - x*sin(alpha)", {"x*cos(alpha) + y*sin(alpha)"});
  incline.position = parsed(Texts{"x", "y"});
  incline.normal = parsed(Texts{"-3*sin(alpha)", "3*cos(alpha)"});
  ExpressionContact reversed = incline;
  reversed.slip = {parsed("-x*cos(alpha) - y*sin(alpha)")};
  ExpressionContact space = contact("phi", {"y", "x"});  // (x, y, phi) as a point in space
  space.position = parsed(Texts{"x", "y", "phi"});
  space.normal = parsed(Texts{"0", "0", "2"});
  ExpressionContact bare = contact("y", {});
  Found found({incline, reversed, space, bare});
  const auto points = found.at(0, Vector{{0.4, 0.7, 0.2}}).points;
  const double s = std::sin(0.3), c = std::cos(0.3);
  const auto expect_frame = [](const ContactSite& point, const std::array<double, 9>& frame) {
    ASSERT_TRUE(point.has_frame);
    for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(point.frame[k], frame[k], 1e-15) << k;
  };
  expect_frame(points[0], {-s, c, 0, c, s, 0, 0, 0, -1});
  expect_frame(points[1], {-s, c, 0, -c, -s, 0, 0, 0, 1});
  expect_frame(points[2], {0, 0, 1, 0, 1, 0, 1, 0, 0});
  EXPECT_EQ(points[0].position, (std::array<double, 3>{0.4, 0.7, 0}));
  EXPECT_EQ(points[2].position, (std::array<double, 3>{0.4, 0.7, 0.2}));
  EXPECT_FALSE(points[3].has_frame);
}

TEST(ExpressionContact, MatricesAndEquationsCarryTheSameContacts) {
  MatrixModel matrices;
  matrices.coordinates = kPlane;
  matrices.mass = SystemMatrix(DenseMatrix(DenseMatrix::Identity(3, 3)));
  matrices.damping = matrices.stiffness = SystemMatrix::zero(3);
  matrices.contacts = moving_contacts();
  for (std::size_t k = 0; k < matrices.contacts.size(); ++k) matrices.contacts[k].law.name += std::to_string(k);
  EquationModel equations;
  equations.coordinates = kPlane;
  equations.kinetic_energy = parsed("0.5*(v_x^2 + v_y^2 + (1 + 0.1*sin(x))*v_phi^2)");
  equations.contacts = matrices.contacts;
  const auto a = make_system(std::move(matrices)), b = make_system(std::move(equations));
  ASSERT_EQ(a->laws().contacts().size(), 4u);
  ASSERT_EQ(b->laws().contacts().size(), 4u);
  EXPECT_EQ(b->laws().contacts()[2].name, "c2");
  SystemWorkspace wa(*a), wb(*b);
  ContactPoints pa, pb;
  Vector ba, bb;
  for (const auto& [t, q, v] : motions()) {
    b->inertia().mass(q, wb);  // shares the scratch space
    a->laws().contact_source().find(t, q, 0.5, wa, pa);
    b->laws().contact_source().find(t, q, 0.5, wb, pb);
    EXPECT_EQ(DenseMatrix(pa.Wt), DenseMatrix(pb.Wt));
    EXPECT_EQ(pa.w, pb.w);
    a->laws().contact_source().bias(t, q, v, 0.5, wa, ba);
    b->laws().contact_source().bias(t, q, v, 0.5, wb, bb);
    EXPECT_EQ(ba, bb);
    EXPECT_EQ(ba.size(), pa.w.size());
  }
  EXPECT_EQ(a->breakpoints(0, 3), (std::vector<double>{1, 2}));  // of the table
}

TEST(ExpressionContact, WhatIsNoContact_IsRefusedWithTheReason) {
  const auto changed = [](const std::function<void(ExpressionContact&)>& change) {
    ExpressionContact result = contact("y", {"x"});
    change(result);
    return result;
  };
  const std::vector<std::pair<ExpressionContact, std::string>> cases = {
      {contact("y + v_x", {}), "contact 'c': gap depends on v_x; it may depend on t, the coordinates and parameters"},
      {contact("3", {}), "gap depends on no coordinate"},
      {contact("sin(t)", {}), "gap depends on no coordinate"},
      {contact("y + x - y - x", {}), "no motion changes it"},
      {contact("y", {"v_x"}), "slip depends on v_x"},
      {contact("y", {"t"}), "slip depends on no coordinate"},
      {contact("y", {"x"}, {"v_x"}), "surface_velocity depends on v_x"},
      {contact("y", {"x"}, {"1", "2"}), "surface_velocity has 2 entries, not 1"},
      {changed([](auto& c) { c.slip.clear(); }), "slip has 0 entries, not 1"},
      {changed([](auto& c) {
         c.slip_rows = {{1.0, 0.0, 0.0}};
       }),
       "slip and slip_rows both"},
      {changed([](auto& c) {
         c.slip.clear(), c.slip_rows = {{1.0, 0.0}};
       }),
       "slip_rows has 2 entries, not 3"},
      {changed([](auto& c) {
         c.slip.clear(), c.slip_rows = {{0.0, 0.0, 0.0}};
       }),
       "all entries of a row are 0"},
      {changed([](auto& c) { c.position = parsed(Texts{"x"}), c.normal = c.position; }), "position has 1 entries"},
      {changed([](auto& c) {
         c.position = parsed(Texts{"x", "y"});
       }),
       "normal has 0 entries, not 2"},
      {changed([](auto& c) { c.law.mu = -1; }), "mu = -1"},
      {changed([](auto& c) { c.law.restitution = 1.5; }), "restitution = 1.5"},
      {changed([](auto& c) { c.gap = StateFunction(TimeTable({0}, {1}, "a.csv")); }), "gap cannot be a table"},
  };
  for (const auto& [given, fragment] : cases) {
    std::string message = "no error";
    try {
      ExpressionContacts({given}, plane());
    } catch (const InputError& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(fragment), std::string::npos) << "expected '" << fragment << "' in\n" << message;
  }
}

}  // namespace
}  // namespace stickslip::expression_contact_test
