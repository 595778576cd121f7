// SPDX-License-Identifier: Apache-2.0
// Dynamics of trees: published and peers' values, algorithms against each other, derivatives against dual numbers.
#include "stickslip/model/multibody/tree_dynamics.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "stickslip/common/dual.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/model/multibody/tree_forces.hpp"
#include "stickslip/model/multibody/tree_jacobian.hpp"
#include "stickslip/model/multibody/tree_kinematics.hpp"
#include "stickslip/model/multibody/tree_loops.hpp"
#include "stickslip/model/multibody/tree_sweeps.hpp"
#include "tests/support/chain_model.hpp"

namespace Eigen {
template <>
struct NumTraits<stickslip::Dual> : NumTraits<double> {
  using Real = stickslip::Dual;
  using NonInteger = stickslip::Dual;
  using Nested = stickslip::Dual;
};
}  // namespace Eigen

namespace stickslip::tree_dynamics_test {
namespace {

using Eigen::Vector3d;
using test::chain_model;
using test::mixed_tree;

struct TreeSample {
  Vector q, v, a;
};

TreeSample random_tree_sample(const Tree& tree, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  TreeSample state{Vector(tree.nq()), Vector(tree.nv()), Vector(tree.nv())};
  for (Vector* x : {&state.q, &state.v, &state.a})
    for (double& number : *x) number = uniform(random);
  // Away from where the first and the third axis of the elbow are one.
  for (Index i = 0; i < tree.nq(); ++i)
    if (tree.coordinates[static_cast<std::size_t>(i)] == "elbow.ry") state.q[i] = 1.2 + 0.3 * state.q[i];
  TreeKinematics(std::make_shared<const Tree>(tree)).normalize(state.q);
  return state;
}

DenseMatrix mass_matrix(const Tree& tree, const Vector& q, TreeScratch& scratch) {
  place_links(tree, q.data(), scratch.motion);
  place_inertia(tree, scratch.motion);
  DenseMatrix M = DenseMatrix::Zero(tree.nv(), tree.nv());
  mass_entries(tree, scratch, [&](Index i, Index j, double value) { M(i, j) = M(j, i) = value; });
  return M;
}

TEST(TreeDynamics, ForwardDynamicsOfAChainHasTheValuesOfThePeers) {
  struct Case {
    int links;
    double first, last;
  };
  for (const Case& it : {Case{6, 63.368531582899, -6.8091341133939}, Case{20, 64.903019889876, -4.8477366463667},
                         Case{100, 64.060937915384, 1.7276211032867}}) {
    const Tree tree = make_tree(chain_model(it.links));
    const TreeSweeps sweeps(tree, {0, 0, -9.81});
    TreeSweeps::Memory memory = sweeps.make_memory();
    Vector q(it.links), v(it.links), a;
    for (int i = 0; i < it.links; ++i) {
      q[i] = 0.3 * std::sin(1.0 + i);
      v[i] = 0.5 * std::cos(2.0 * i);
    }
    sweeps.forward_dynamics(q, v, Vector::Zero(it.links), memory, a);
    // The peers agree with each other to 13 digits, and print 14.
    EXPECT_NEAR(a[0], it.first, 1e-12 * std::abs(it.first) + 5e-13) << it.links;
    EXPECT_NEAR(a[it.links - 1], it.last, 2e-12 * std::abs(it.first)) << it.links;
  }
}

TEST(TreeDynamics, ArticulatedBodiesCompositeBodiesAndInverseDynamicsAgree) {
  const Vector3d gravity(0.3, -0.4, -9.81);
  const Tree tree = make_tree(mixed_tree());
  TreeScratch scratch(tree);
  const TreeSweeps sweeps(tree, gravity);
  TreeSweeps::Memory memory = sweeps.make_memory();
  const std::vector<Index> parents = velocity_parents(tree);
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const TreeSample s = random_tree_sample(tree, seed);
    Vector tau(tree.nv()), rest(tree.nv()), a;
    inverse_dynamics(tree, s.q.data(), s.v.data(), s.a.data(), gravity, scratch.motion, tau.data());
    inverse_dynamics<double>(tree, s.q.data(), s.v.data(), nullptr, gravity, scratch.motion, rest.data());
    DenseMatrix M = mass_matrix(tree, s.q, scratch);
    EXPECT_LT((M * s.a + rest - tau).norm(), 1e-13 * tau.norm());
    sweeps.forward_dynamics(s.q, s.v, tau, memory, a);
    EXPECT_LT((a - s.a).norm(), 1e-11 * s.a.norm());
    Vector x = tau - rest;
    ASSERT_TRUE(factor_tree(parents, M));
    solve_tree(parents, M, x);
    EXPECT_LT((x - s.a).norm(), 1e-11 * s.a.norm());
  }
}

/// Of every kind of joint, with given accelerations of the axes that are held and numbers on the diagonal: against the
/// matrix.
TEST(TreeDynamics, SweepsSolveWithTheMassMatrixOfWhatIsNotHeld) {
  const Vector3d gravity(0.3, -0.4, -9.81);
  const Tree tree = make_tree(mixed_tree());
  TreeScratch scratch(tree);
  const TreeSweeps sweeps(tree, gravity);
  TreeSweeps::Memory memory = sweeps.make_memory();
  const Index n = tree.nv();
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const TreeSample s = random_tree_sample(tree, seed);
    Vector tau(n), expected(n), load(n), diagonal = s.a.cwiseAbs(), x = s.v;
    inverse_dynamics(tree, s.q.data(), s.v.data(), s.a.data(), gravity, scratch.motion, expected.data());
    sweeps.place(s.q.data(), memory);
    sweeps.imbalance(s.v.data(), s.a.data(), memory, tau.data(), load.data());
    EXPECT_LT((tau - expected).norm(), 1e-13 * expected.norm());
    EXPECT_TRUE((load.array() >= tau.array().abs()).all());
    std::vector<char> held(static_cast<std::size_t>(n), 0);
    DenseMatrix M = mass_matrix(tree, s.q, scratch);
    M.diagonal() += diagonal;
    for (const Link& link : tree.links) {
      const auto v = static_cast<std::size_t>(link.v);
      if (link.kind == JointKind::ball || (link.v + seed) % 3 != 0) continue;
      held[v] = 1;
    }
    ASSERT_TRUE(sweeps.factor(held.data(), diagonal.data(), memory));
    sweeps.solve(memory, x.data());
    Vector acceleration = x, force = s.v;
    for (Index i = 0; i < n; ++i)
      if (held[static_cast<std::size_t>(i)]) std::swap(acceleration[i], force[i]);
    EXPECT_LT((M * acceleration - force).norm(), 1e-12 * M.norm() * acceleration.norm()) << seed;
    sweeps.place(s.q.data(), memory);
    const TreeEnergies energies = sweeps.energies(s.v.data(), memory);
    EXPECT_NEAR(energies.kinetic, kinetic_energy(tree, s.q, s.v, scratch), 1e-13 * energies.kinetic);
    EXPECT_NEAR(energies.potential, gravity_potential(tree, s.q, gravity, scratch), 1e-12);
  }
}

TEST(TreeDynamics, MassIsTheHessianOfTheKineticEnergy) {
  const Tree tree = make_tree(mixed_tree());
  TreeScratch scratch(tree);
  const TreeSample s = random_tree_sample(tree, 7);
  const DenseMatrix M = mass_matrix(tree, s.q, scratch);
  EXPECT_NEAR(kinetic_energy(tree, s.q, s.v, scratch), 0.5 * s.v.dot(M * s.v), 1e-12 * s.v.dot(M * s.v));
}

/// Derivatives of inverse dynamics along δ_j by dual numbers: q moves by T(q) e_j.
TEST(TreeDynamics, SlopesAreThoseOfDualNumbers) {
  const Vector3d gravity(0.3, -0.4, -9.81);
  const auto tree = std::make_shared<const Tree>(make_tree(mixed_tree()));
  const TreeKinematics kinematics(tree);
  TreeScratch scratch(*tree);
  const Index n = tree->nv();
  const TreeSample s = random_tree_sample(*tree, 3);
  DenseMatrix by_q = DenseMatrix::Zero(n, n), by_v = by_q;
  inverse_dynamics_slopes(*tree, s.q, s.v, s.a.data(), gravity, 1.0, scratch, by_q.data(), by_v.data());
  TreeMotion<Dual> motion;
  motion.resize(*tree);
  std::vector<Dual> q(static_cast<std::size_t>(tree->nq())), v(static_cast<std::size_t>(n)), a(v), tau(v);
  const double size = by_q.cwiseAbs().maxCoeff();
  for (const bool velocity : {false, true})
    for (Index j = 0; j < n; ++j) {
      Vector direction(tree->nq());
      kinematics.rate(s.q, Vector::Unit(n, j), direction);
      for (Index i = 0; i < tree->nq(); ++i)
        q[static_cast<std::size_t>(i)] = Dual(s.q[i], velocity ? 0.0 : direction[i]);
      for (Index i = 0; i < n; ++i) {
        v[static_cast<std::size_t>(i)] = Dual(s.v[i], velocity && i == j ? 1.0 : 0.0);
        a[static_cast<std::size_t>(i)] = Dual(s.a[i]);
      }
      inverse_dynamics(*tree, q.data(), v.data(), a.data(), gravity, motion, tau.data());
      for (Index i = 0; i < n; ++i)
        EXPECT_NEAR((velocity ? by_v : by_q)(i, j), tau[static_cast<std::size_t>(i)].slope, 1e-12 * size)
            << (velocity ? "v " : "q ") << tree->velocities[static_cast<std::size_t>(i)] << " by "
            << tree->velocities[static_cast<std::size_t>(j)];
    }
}

/// Central differences along δ of any function of the position, to six digits.
template <class F>
Vector difference_along(const Kinematics& kinematics, const Vector& q, Index j, F&& f) {
  constexpr double kStep = 1e-5;
  Vector delta = Vector::Zero(kinematics.nv()), there = q, back = q;
  delta[j] = kStep;
  kinematics.displace(delta, there);
  kinematics.displace(-delta, back);
  return (f(there) - f(back)) / (2 * kStep);
}

BodyModel loaded_tree() {
  BodyModel model = mixed_tree();
  const auto tree = make_tree(model);
  SymbolTable symbols;
  symbols.add_variable("t");
  for (const std::string& name : tree.coordinates) symbols.add_variable(name);
  std::set<std::string> positions(tree.coordinates.begin(), tree.coordinates.end());
  for (const std::string& name : tree.velocities) symbols.add_variable(positions.contains(name) ? "v_" + name : name);
  symbols.add_variable("i");
  const auto f = [&](const char* text) { return StateFunction(Expression::parse(text, symbols)); };
  model.hinges[2].stiffness = {3, 2, 1};
  model.hinges[2].damping = {0.3, 0, 0.2};
  model.hinges[2].rest = {0.1, 0.2, 0.3};
  model.hinges[2].force = {f("sin(elbow.ry)*v_slide.tx + shoulder.qx*shoulder.wy"), f("t"), 0.0};
  model.loads.push_back({"push", 2, {0.1, 0.2, 0.3}, false, {f("elbow.rz^2"), 1.0, f("v_wrist.tz")}, {0.5, 0.1, 0.2}});
  model.loads.push_back({"jet", 5, {0.1, -0.2, 0.3}, true, {2.0, f("base.x"), 0.0}, {f("b6.wx"), 0.1, 0.2}});
  model.springs.push_back({"s1", 2, 5, {0.1, 0, 0}, {0, 0.1, 0}, 20, 0.7, 0.4});
  model.springs.push_back({"s2", kGround, 6, {0.1, 0, 2}, {0, 0.1, 0}, 5, 0.3, 0.2});
  return model;
}

TEST(TreeDynamics, ForcesHaveTheirSlopesAndPotential) {
  const auto system = make_system(loaded_tree());
  SystemWorkspace workspace(*system);
  const Index n = system->info().nv();
  const Tree tree = make_tree(loaded_tree());
  const TreeSample s = random_tree_sample(tree, 11);
  SystemMatrix by_q, by_v;
  system->force_slopes(0.3, s.q, s.v, workspace, by_q, by_v);
  const double size = by_q.max_abs();
  Vector h(n);
  for (Index j = 0; j < n; ++j) {
    const Vector slope = difference_along(system->kinematics(), s.q, j, [&](const Vector& q) {
      system->force(0.3, q, s.v, workspace, h);
      return Vector(h);
    });
    Vector there = s.v, back = s.v;
    there[j] += 1e-5;
    back[j] -= 1e-5;
    system->force(0.3, s.q, there, workspace, h);
    const Vector after = h;
    system->force(0.3, s.q, back, workspace, h);
    const Vector by_speed = (after - h) / 2e-5;
    for (Index i = 0; i < n; ++i) {
      EXPECT_NEAR(by_q(i, j), slope[i], 1e-8 * size) << i << " " << j;
      EXPECT_NEAR(by_v(i, j), by_speed[i], 1e-8 * size) << i << " " << j;
    }
  }
  // Without applied forces and dampers: h = -∂U/∂δ.
  Vector applied(n), total(n);
  system->forces().total(0.3, s.q, Vector::Zero(n), workspace, total);
  system->forces().applied(0.3, s.q, Vector::Zero(n), workspace, applied);
  for (Index j = 0; j < n; ++j) {
    const Vector slope = difference_along(system->kinematics(), s.q, j, [&](const Vector& q) {
      return Vector(Vector::Constant(1, system->forces().potential_energy(q)));
    });
    EXPECT_NEAR(total[j] - applied[j], -slope[0], 1e-7 * total.norm());
  }
  EXPECT_NEAR(system->forces().damper_power(s.q, s.v) >= 0, true, 0);
}

TEST(TreeDynamics, LoopsHaveTheirRowsBiasAndSlopes) {
  BodyModel model = mixed_tree();
  const auto turned = Eigen::Quaterniond(Eigen::AngleAxisd(0.7, Vector3d(1, 2, 3).normalized()));
  model.loops.push_back({"weld", 2, 5, {0.1, 0, 0}, {0, 0.1, 0}, turned, Eigen::Quaterniond::Identity(), {}});
  model.loops.push_back({"pin", 6, 2, {0.1, 0, 0}, {0, 0.1, 0}, {1, 0, 0, 0}, turned, {HingeAxis::tx, HingeAxis::ry}});
  model.loops.push_back(
      {"cross", kGround, 5, {0.1, 0, 0}, {0, 0.1, 0}, turned, turned, {HingeAxis::rx, HingeAxis::rz}});
  const auto system = make_system(model);
  const ConstraintSource& source = system->laws().constraint_source();
  SystemWorkspace workspace(*system);
  const Tree tree = make_tree(model);
  const TreeSample s = random_tree_sample(tree, 5);
  const Index n = tree.nv();
  ConstraintRows rows, moved;
  source.evaluate(0, s.q, workspace, rows);
  ASSERT_EQ(rows.A.rows(), 6 + 4 + 4);
  Vector bias, lambda = Vector::LinSpaced(rows.A.rows(), -1, 1.3);
  source.bias(0, s.q, s.v, workspace, bias);
  DenseMatrix force_slopes, velocity_slopes;
  source.force_slopes(0, s.q, lambda, workspace, force_slopes);
  source.velocity_slopes(0, s.q, s.v, workspace, velocity_slopes);
  for (Index j = 0; j < n; ++j) {
    const auto at = [&](const Vector& q) -> const ConstraintRows& {
      source.evaluate(0, q, workspace, moved);
      return moved;
    };
    const Vector g =
        difference_along(system->kinematics(), s.q, j, [&](const Vector& q) { return Vector(at(q).position); });
    const Vector u =
        difference_along(system->kinematics(), s.q, j, [&](const Vector& q) { return Vector(at(q).A * s.v); });
    const Vector f = difference_along(system->kinematics(), s.q, j,
                                      [&](const Vector& q) { return Vector(at(q).A.transpose() * lambda); });
    EXPECT_LT((g - rows.A.col(j)).norm(), 1e-8 * rows.A.norm()) << j;
    EXPECT_LT((u - velocity_slopes.col(j)).norm(), 1e-8 * velocity_slopes.norm()) << j;
    EXPECT_LT((f - force_slopes.col(j)).norm(), 1e-8 * force_slopes.norm()) << j;
  }
  EXPECT_LT((velocity_slopes * s.v - bias).norm(), 1e-12 * bias.norm());
}

TEST(TreeDynamics, MistakesAreNamed) {
  const auto message = [](BodyModel model) -> std::string {
    try {
      make_system(std::move(model));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  BodyModel model = chain_model(3);
  model.hinges[0].parent = 2;
  EXPECT_NE(message(model).find("circle"), std::string::npos);
  model = chain_model(3);
  model.hinges[2].parent = 0;
  model.hinges[2].child = 1;
  EXPECT_NE(message(model).find("'link1' is the child of the hinges 'h1' and 'h2'"), std::string::npos);
  model = chain_model(3);
  model.hinges[2].name = "h1";
  model.hinges[2].axes = {HingeAxis::rz};
  EXPECT_NE(message(model).find("'h1.rz'"), std::string::npos);
  model = chain_model(3);
  model.bodies[1].inertia = Vector3d(1, 1, 3).asDiagonal();
  EXPECT_NE(message(model).find("at most the sum"), std::string::npos);
  model = chain_model(2);
  model.bodies[1].inertia = Eigen::Matrix3d::Zero();
  model.bodies[1].center = {0, 0, 0.1};
  EXPECT_NE(message(model).find("'h1.rz' carries no mass"), std::string::npos);
}

}  // namespace
}  // namespace stickslip::tree_dynamics_test
