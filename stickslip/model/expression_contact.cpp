// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression_contact.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/model/expression_scratch.hpp"
#include "stickslip/model/position_function.hpp"

namespace stickslip {

namespace {

using Vector3 = Eigen::Vector3d;

Vector3 evaluate(const std::vector<StateFunction>& components, const ExpressionScratch& scratch) {
  Vector3 result = Vector3::Zero();
  for (std::size_t k = 0; k < components.size(); ++k) result[static_cast<Index>(k)] = components[k](scratch.values);
  return result;
}

}  // namespace

namespace {
ExpressionScratch& scratch_of(SystemWorkspace& workspace) {
  return static_cast<ExpressionScratch&>(*workspace.contacts);
}
}  // namespace

std::unique_ptr<Scratch> ExpressionContacts::make_scratch() const {
  return std::make_unique<ExpressionScratch>(kinematics_->nq(), kinematics_->nv());
}

ExpressionContacts::ExpressionContacts(std::vector<ExpressionContact> contacts, const Kinematics& kinematics)
    : kinematics_(&kinematics) {
  for (ExpressionContact& contact : contacts) {
    const ContactElement& element = contact.law;
    validate(element);
    const auto tangents = static_cast<std::size_t>(element.tangents);
    const auto about = [&](const char* key) { return fmt::format("contact '{}': {}", element.name, key); };
    const auto require_count = [&](const char* key, std::size_t count, std::size_t expected) {
      if (count != expected) throw InputError(fmt::format("{} has {} entries, not {}", about(key), count, expected));
    };
    if (!contact.slip.empty() && !contact.slip_rows.empty())
      throw InputError(fmt::format("{} and slip_rows both give the tangents; give one of them", about("slip")));
    if (contact.slip_rows.empty()) require_count("slip", contact.slip.size(), tangents);
    if (contact.slip.empty()) require_count("slip_rows", contact.slip_rows.size(), tangents);
    if (!contact.surface_velocity.empty()) require_count("surface_velocity", contact.surface_velocity.size(), tangents);
    if (!contact.position.empty() || !contact.normal.empty()) {
      if (contact.position.size() != 3) require_count("position", contact.position.size(), 2);
      require_count("normal", contact.normal.size(), contact.position.size());
    }
    for (const auto* anchor : {&contact.position, &contact.normal})
      for (const StateFunction& f : *anchor)
        require_position_function(f, about(anchor == &contact.position ? "position" : "normal"), kinematics);

    Law law;
    law.rows.push_back(displacement_row(contact.gap, about("gap"), kinematics));
    for (const StateFunction& slip : contact.slip)
      law.rows.push_back(displacement_row(slip, about("slip"), kinematics));
    for (const auto& row : contact.slip_rows) {
      require_count("slip_rows", row.size(), static_cast<std::size_t>(kinematics.nv()));
      law.rows.push_back(given_row(row, about("slip_rows"), kinematics));
    }
    for (std::size_t k = 0; k < contact.surface_velocity.size(); ++k)
      set_surface(law.rows[k + 1], std::move(contact.surface_velocity[k]), about("surface_velocity"), kinematics);
    for (const ExpressionRow& row : law.rows) {
      constant_ &= row.is_constant();
      surfaces_move_ |= row.speeds_up();
    }
    law.position = std::move(contact.position);
    law.normal = std::move(contact.normal);
    constant_ &= law.position.empty();
    laws_.push_back(element);
    shapes_.push_back(std::move(law));
  }
}

void ExpressionContacts::find(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                              ContactPoints& found) const {
  ExpressionScratch* scratch = constant_ ? nullptr : &scratch_of(workspace);
  if (scratch) scratch->set_position(t, q);
  const std::size_t before = found.points.size();
  std::size_t count = 0;
  bool same_laws = constant_ && found.rows_of == this;
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    const double distance = displacement_of(shapes_[k].rows[0], t, q, scratch);
    if (!(distance <= margin)) continue;
    if (count == found.points.size()) found.points.emplace_back();
    ContactSite& point = found.points[count++];
    same_laws = same_laws && point.law == static_cast<int>(k);
    point.law = static_cast<int>(k);
    point.gap = distance;
    point.key = k;
    point.has_frame = false;
  }
  if (same_laws && count == before) return;
  found.points.resize(count);
  found.rows_of = constant_ ? this : nullptr;
  found.rows_version = constant_ ? found.rows_version + 1 : 0;
  Index rows = 0, entries = 0;
  for (const ContactSite& point : found.points) {
    const Law& law = shapes_[static_cast<std::size_t>(point.law)];
    rows += static_cast<Index>(law.rows.size());
    for (const ExpressionRow& row : law.rows) entries += static_cast<Index>(row.velocity_columns.size());
  }
  if (found.Wt.rows() != rows || found.Wt.cols() != kinematics_->nv() || !found.Wt.isCompressed())
    found.Wt.resize(rows, kinematics_->nv());
  found.Wt.resizeNonZeros(entries);
  found.w.resize(rows);
  int* starts = found.Wt.outerIndexPtr();
  Index at = 0, entry = 0;
  for (ContactSite& point : found.points) {
    const Law& law = shapes_[static_cast<std::size_t>(point.law)];
    const Index first = at;
    for (const ExpressionRow& row : law.rows) {
      starts[at] = static_cast<int>(entry);
      std::copy(row.velocity_columns.begin(), row.velocity_columns.end(), found.Wt.innerIndexPtr() + entry);
      found.w[at++] = fill_row(row, *kinematics_, q, scratch, found.Wt.valuePtr() + entry);
      entry += static_cast<Index>(row.velocity_columns.size());
    }
    starts[at] = static_cast<int>(entry);
    if (!law.position.empty()) set_frame(law, *scratch, found.Wt, first, point);
  }
  if (rows == 0) starts[0] = 0;
}

void ExpressionContacts::surface(double t, const Vector& q, SystemWorkspace& workspace, const ContactPoints& found,
                                 Vector& w) const {
  ExpressionScratch& scratch = scratch_of(workspace);
  scratch.set_position(t, q);
  w.resize(found.w.size());
  Index at = 0;
  for (const ContactSite& point : found.points)
    for (const ExpressionRow& row : shapes_[static_cast<std::size_t>(point.law)].rows)
      w[at++] = surface_velocity_of(row, &scratch);
}

void ExpressionContacts::bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
                              Vector& bias) const {
  ExpressionScratch& scratch = scratch_of(workspace);
  scratch.set_position(t, q);
  set_direction(*kinematics_, q, v, scratch);
  Index rows = 0;
  for (std::size_t k = 0; k < shapes_.size(); ++k)
    if (displacement_of(shapes_[k].rows[0], t, q, &scratch) <= margin) rows += laws_[k].size();
  bias.resize(rows);
  Index at = 0;
  for (const Law& law : shapes_) {
    if (!(displacement_of(law.rows[0], t, q, &scratch) <= margin)) continue;
    for (const ExpressionRow& row : law.rows) bias[at++] = row_bias(row, *kinematics_, q, v, scratch);
  }
}

void ExpressionContacts::set_frame(const Law& law, const ExpressionScratch& scratch, const SparseMatrix& Wt, Index row,
                                   ContactSite& point) const {
  const Vector3 position = evaluate(law.position, scratch);
  Vector3 normal = evaluate(law.normal, scratch);
  const double length = normal.norm();
  if (!position.allFinite() || !(length > 0) || !std::isfinite(length)) return;
  normal /= length;
  const bool planar = law.position.size() == 2;
  Vector3 a = planar                       ? Vector3(normal.y(), -normal.x(), 0)
              : std::abs(normal.x()) < 0.9 ? Vector3(Vector3::UnitX() - normal.x() * normal).normalized()
                                           : Vector3(Vector3::UnitY() - normal.y() * normal).normalized();
  Vector3 b = normal.cross(a);
  // Least squares for row ≈ (c a + s b)ᵀ ∂position/∂q.
  const auto turned = [&](Index k) {
    double aa = 0, ab = 0, bb = 0, ar = 0, br = 0;
    for (Index j = 0; j < kinematics_->nq(); ++j) {
      Vector3 slope = Vector3::Zero();
      for (std::size_t c = 0; c < law.position.size(); ++c)
        slope[static_cast<Index>(c)] = law.position[c].derivative(scratch.values, 1 + j);
      const double along_a = a.dot(slope), along_b = b.dot(slope), entry = Wt.coeff(k, j);
      aa += along_a * along_a;
      ab += along_a * along_b;
      bb += along_b * along_b;
      ar += along_a * entry;
      br += along_b * entry;
    }
    const double determinant = aa * bb - ab * ab;
    constexpr double kParallel = 1e-12;  // sin² of the angle between the two images
    if (planar || !(determinant > kParallel * aa * bb)) return Vector3(ar < 0 ? -a : a);
    return Vector3(((ar * bb - br * ab) * a + (br * aa - ar * ab) * b).normalized());
  };
  const int tangents = static_cast<int>(law.rows.size()) - 1;
  const Vector3 first = tangents > 0 ? turned(row + 1) : a;
  Vector3 second = normal.cross(first);
  if (tangents > 1 && turned(row + 2).dot(second) < 0) second = -second;
  for (Index c = 0; c < 3; ++c) {
    const auto k = static_cast<std::size_t>(c);
    point.position[k] = position[c];
    point.frame[k] = normal[c];
    point.frame[3 + k] = first[c];
    point.frame[6 + k] = second[c];
  }
  point.has_frame = true;
}

bool ExpressionContacts::constant_rows() const {
  return std::all_of(shapes_.begin(), shapes_.end(), [](const Law& law) {
    return std::all_of(law.rows.begin(), law.rows.end(), [](const ExpressionRow& row) { return row.is_constant(); });
  });
}

void ExpressionContacts::append_breakpoints(BreakpointSearch& search) const {
  for (const Law& law : shapes_)
    for (const ExpressionRow& row : law.rows) stickslip::append_breakpoints(row, search);
}

void ExpressionContacts::append_time_functions(std::vector<const StateFunction*>& functions) const {
  for (const Law& law : shapes_)
    for (const ExpressionRow& row : law.rows) stickslip::append_time_functions(row, functions);
}

}  // namespace stickslip
