// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/drawn_contact.hpp"

#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>

namespace stickslip {

namespace {

using Eigen::Vector3d;

constexpr double kSame = 1e-6;           // relative: rows and lengths of directions that are one but for round-off
constexpr std::size_t kMostPairs = 900;  // of drawings that are looked at

/// A drawing that can touch: place, turn and how both change with the coordinates.
struct Pose {
  const Drawing* drawing = nullptr;
  Vector3d position;
  double angle = 0;
  DenseMatrix by_q;  // x, y, z, angle × coordinates
};

Pose pose_of(const Drawing& drawing, std::span<const double> variables, Index n) {
  Pose pose{&drawing, {}, drawing.angle(variables), DenseMatrix(4, n)};
  for (Index i = 0; i < 3; ++i) {
    const StateFunction& x = drawing.position[static_cast<std::size_t>(i)];
    pose.position[i] = x(variables);
    for (Index j = 0; j < n; ++j) pose.by_q(i, j) = x.derivative(variables, 1 + j);
  }
  for (Index j = 0; j < n; ++j) pose.by_q(3, j) = drawing.angle.derivative(variables, 1 + j);
  return pose;
}

/// From the centre to the surface, against the unit vector d.
double reach(const Pose& pose, const Vector3d& d) {
  const double c = std::cos(pose.angle), s = std::sin(pose.angle);
  const double along = std::abs(c * d.x() + s * d.y()), across = std::abs(c * d.y() - s * d.x()),
               flat = std::hypot(d.x(), d.y()), out = std::abs(d.z());
  const Drawing& drawing = *pose.drawing;
  switch (drawing.kind) {
    case DrawingKind::box:
      return 0.5 * (along * drawing.size[0] + across * drawing.size[1] + out * drawing.size[2]);
    case DrawingKind::cylinder:
      return flat * drawing.radius + 0.5 * out * drawing.length;
    case DrawingKind::capsule:
      return drawing.radius + 0.5 * along * drawing.length;
    default:
      return drawing.radius;
  }
}

/// d and the lever of the first drawing for one row; nothing where the drawings do not explain it.
struct Action {
  Vector3d direction;
  double lever = 0;
};
std::optional<Action> action_of(const Vector& row, const Pose& on, const Pose* other) {
  const Index n = row.size();
  DenseMatrix A(n, other ? 5 : 4);
  A.leftCols(4) = on.by_q.transpose();
  if (other) {
    A.leftCols(3) -= other->by_q.topRows(3).transpose();
    A.col(4) = -other->by_q.row(3).transpose();
  }
  Vector b = row, columns = Vector::Ones(A.cols());
  for (Index j = 0; j < n; ++j) {  // coordinates may have any units
    const double size = std::max(A.row(j).lpNorm<Eigen::Infinity>(), std::abs(b[j]));
    if (!(size > 0)) continue;
    A.row(j) /= size;
    b[j] /= size;
  }
  for (Index c = 3; c < A.cols(); ++c)
    if (const double size = A.col(c).norm(); size > 0) {
      columns[c] = size;
      A.col(c) /= size;
    }
  const Vector x = A.completeOrthogonalDecomposition().solve(b);
  if (!((A * x - b).lpNorm<Eigen::Infinity>() <= kSame) || std::abs(x.head(3).norm() - 1) > kSame) return std::nullopt;
  return Action{x.head(3), x[3] / columns[3]};
}

std::optional<DrawnContact> contact_on(const DenseMatrix& rows, const Pose& on, const Pose* other) {
  DrawnContact contact;
  std::vector<Action> actions;
  for (Index c = 0; c < rows.rows(); ++c) {
    const std::optional<Action> action = action_of(rows.row(c).transpose(), on, other);
    if (!action) return std::nullopt;
    for (const Action& before : actions)
      if (std::abs(before.direction.dot(action->direction)) > kSame) return std::nullopt;
    actions.push_back(*action);
    contact.directions.push_back(action->direction);
  }
  const Vector3d normal = actions[0].direction;
  Vector3d from_center = -reach(on, normal) * normal;
  if (!on.by_q.row(3).isZero(0)) {
    from_center += actions[0].lever * Vector3d(normal.y(), -normal.x(), 0);
    for (std::size_t c = 1; c < actions.size(); ++c) {
      const Vector3d& t = actions[c].direction;
      Eigen::Matrix2d levers;
      levers << normal.y(), -normal.x(), t.y(), -t.x();
      if (std::abs(levers.determinant()) < 1 - kSame) continue;  // one of them out of the plane
      from_center.head(2) = levers.inverse() * Eigen::Vector2d(actions[0].lever, actions[c].lever);
    }
  }
  contact.point = on.position + from_center;
  return contact;
}

}  // namespace

std::optional<DrawnContact> drawn_contact(const std::vector<Drawing>& drawings, std::span<const double> variables,
                                          const DenseMatrix& rows) {
  std::vector<Pose> poses;
  for (const Drawing& drawing : drawings)
    if (drawing.kind != DrawingKind::line && drawing.kind != DrawingKind::plane && drawing.moves())
      poses.push_back(pose_of(drawing, variables, rows.cols()));
  for (const Pose& on : poses)
    if (auto contact = contact_on(rows, on, nullptr)) return contact;
  if (poses.size() * poses.size() > kMostPairs) return std::nullopt;
  for (const Pose& on : poses)
    for (const Pose& other : poses)
      if (&on != &other)
        if (auto contact = contact_on(rows, on, &other)) return contact;
  return std::nullopt;
}

}  // namespace stickslip
