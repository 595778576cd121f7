// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression_contact.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/model/expression_scratch.hpp"
#include "stickslip/model/function_shape.hpp"

namespace stickslip {

namespace {

using Vector3 = Eigen::Vector3d;

/// d/dt of f along scratch.direction, which holds (1, v, 0, 0).
double rate(const StateFunction& f, const ExpressionScratch& scratch) {
  if (const Expression* e = f.expression()) return e->directional(scratch.values, scratch.direction).slope;
  return 0.0;
}

bool is_table(const StateFunction& f) { return !f.is_constant() && !f.expression(); }

/// Slopes between the points of a table, which is linear there.
void tabulate_slopes(const StateFunction& table, std::vector<double>& times, std::vector<double>& slopes) {
  table.append_breakpoints(-HUGE_VAL, HUGE_VAL, 0, times);
  for (std::size_t k = 0; k + 1 < times.size(); ++k) {
    const double width = times[k + 1] - times[k], early = times[k] + 0.25 * width, late = times[k] + 0.75 * width;
    slopes.push_back(width > 0 ? (table({&late, 1}) - table({&early, 1})) / (late - early) : 0.0);
  }
}

Vector3 evaluate(const std::vector<StateFunction>& components, const ExpressionScratch& scratch) {
  Vector3 result = Vector3::Zero();
  for (std::size_t k = 0; k < components.size(); ++k) result[static_cast<Index>(k)] = components[k](scratch.values);
  return result;
}

}  // namespace

ExpressionContacts::ExpressionContacts(std::vector<ExpressionContact> contacts, const SystemInfo& info) : info_(info) {
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
        require_arguments(f, about(anchor == &contact.position ? "position" : "normal"), Arguments::time_position,
                          info_.coordinates);

    Law law;
    law.rows.push_back(displacement_row(contact.gap, about("gap")));
    for (const StateFunction& slip : contact.slip) law.rows.push_back(displacement_row(slip, about("slip")));
    for (const auto& row : contact.slip_rows) {
      require_count("slip_rows", row.size(), static_cast<std::size_t>(info_.nv()));
      law.rows.push_back(given_row(row, about("slip_rows")));
    }
    for (std::size_t k = 0; k < contact.surface_velocity.size(); ++k) {
      StateFunction& surface = contact.surface_velocity[k];
      if (surface.expression())
        require_arguments(surface, about("surface_velocity"), Arguments::time_position, info_.coordinates);
      Row& row = law.rows[k + 1];
      row.surface = std::move(surface);
      if (is_table(row.surface)) tabulate_slopes(row.surface, row.surface_times, row.surface_slopes);
    }
    for (const Row& row : law.rows) constant_ &= !row.coefficients.empty() && row.surface.is_constant();
    law.position = std::move(contact.position);
    law.normal = std::move(contact.normal);
    constant_ &= law.position.empty();
    laws_.push_back(element);
    shapes_.push_back(std::move(law));
  }
}

ExpressionContacts::Row ExpressionContacts::displacement_row(const StateFunction& f, const std::string& what) const {
  require_arguments(f, what, Arguments::time_position, info_.coordinates);
  Row row;
  row.displacement = f;
  if (const Expression* e = f.expression())
    for (const Index slot : e->variables_used())
      if (slot > 0) row.columns.push_back(static_cast<int>(slot - 1));
  if (row.columns.empty()) throw InputError(what + " depends on no coordinate, so that no motion changes it");
  if (degree(f, info_.coordinates) != Degree::affine) return row;
  row.affine = true;
  const std::vector<double> origin(static_cast<std::size_t>(2 + info_.nq() + info_.nv()), 0.0);
  const Expression& e = *f.expression();
  row.constant = e(origin);
  row.by_time = e.derivative(origin, 0);
  for (const int column : row.columns) row.coefficients.push_back(e.derivative(origin, column + 1));
  if (std::all_of(row.coefficients.begin(), row.coefficients.end(), [](double c) { return c == 0.0; }))
    throw InputError(what + " is the same for all coordinates, so that no motion changes it");
  return row;
}

ExpressionContacts::Row ExpressionContacts::given_row(const std::vector<StateFunction>& entries,
                                                      const std::string& what) const {
  Row row;
  bool constant = true;
  for (std::size_t j = 0; j < entries.size(); ++j) {
    require_arguments(entries[j], fmt::format("{} entry {}", what, j), Arguments::time_position, info_.coordinates);
    if (entries[j].is_constant() && entries[j]({}) == 0.0) continue;
    row.columns.push_back(static_cast<int>(j));
    row.entries.push_back(entries[j]);
    constant &= entries[j].is_constant();
  }
  if (row.columns.empty()) throw InputError(what + ": all entries of a row are 0; a tangent needs one that is not");
  if (constant)
    for (const StateFunction& entry : row.entries) row.coefficients.push_back(entry({}));
  return row;
}

double ExpressionContacts::gap(const Row& row, double t, const Vector& q, const ExpressionScratch* scratch) const {
  if (!row.affine) return row.displacement(scratch->values);
  double value = row.constant + row.by_time * t;
  for (std::size_t k = 0; k < row.columns.size(); ++k) value += row.coefficients[k] * q[row.columns[k]];
  return value;
}

/// Writes the numbers of a row and returns its part of w.
double ExpressionContacts::fill(const Row& row, const ExpressionScratch* scratch, double* values) const {
  const double surface = row.surface.is_constant() ? row.surface({}) : row.surface(scratch->values);
  if (!row.coefficients.empty()) {
    std::copy(row.coefficients.begin(), row.coefficients.end(), values);
    return surface - row.by_time;
  }
  if (!row.entries.empty()) {
    for (const StateFunction& entry : row.entries) *values++ = entry(scratch->values);
    return surface;
  }
  const Expression& e = *row.displacement.expression();
  for (const int column : row.columns) *values++ = e.derivative(scratch->values, column + 1);
  return surface - e.derivative(scratch->values, 0);
}

void ExpressionContacts::find(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                              ContactPoints& found) const {
  ExpressionScratch* scratch = constant_ ? nullptr : &expression_scratch(workspace, info_);
  if (scratch) scratch->set_position(t, q);
  found.points.clear();
  Index rows = 0, entries = 0;
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    const double distance = gap(shapes_[k].rows[0], t, q, scratch);
    if (!(distance <= margin)) continue;
    ContactSite& point = found.points.emplace_back();
    point.law = static_cast<int>(k);
    point.gap = distance;
    point.key = k;
    rows += laws_[k].size();
    for (const Row& row : shapes_[k].rows) entries += static_cast<Index>(row.columns.size());
  }
  if (found.Wt.rows() != rows || found.Wt.cols() != info_.nv() || !found.Wt.isCompressed())
    found.Wt.resize(rows, info_.nv());
  found.Wt.resizeNonZeros(entries);
  found.w.resize(rows);
  int* starts = found.Wt.outerIndexPtr();
  Index at = 0, entry = 0;
  for (ContactSite& point : found.points) {
    const Law& law = shapes_[static_cast<std::size_t>(point.law)];
    const Index first = at;
    for (const Row& row : law.rows) {
      starts[at] = static_cast<int>(entry);
      std::copy(row.columns.begin(), row.columns.end(), found.Wt.innerIndexPtr() + entry);
      found.w[at++] = fill(row, scratch, found.Wt.valuePtr() + entry);
      entry += static_cast<Index>(row.columns.size());
    }
    starts[at] = static_cast<int>(entry);
    if (!law.position.empty()) set_frame(law, *scratch, found.Wt, first, point);
  }
  if (rows == 0) starts[0] = 0;
}

double ExpressionContacts::row_bias(const Row& row, const Vector& v, ExpressionScratch& scratch) const {
  double bias = -rate(row.surface, scratch);
  if (!row.surface_slopes.empty()) {
    const auto after = std::upper_bound(row.surface_times.begin(), row.surface_times.end(), scratch.values[0]);
    if (after != row.surface_times.begin() && after != row.surface_times.end())
      bias -= row.surface_slopes[static_cast<std::size_t>(after - row.surface_times.begin()) - 1];
  }
  if (row.affine) return bias;
  if (!row.entries.empty()) {
    for (std::size_t k = 0; k < row.entries.size(); ++k) bias += rate(row.entries[k], scratch) * v[row.columns[k]];
    return bias;
  }
  const Expression& e = *row.displacement.expression();
  for (const Index slot : e.variables_used()) {
    const auto s = static_cast<std::size_t>(slot);
    scratch.second[s] = SecondDual(Dual(scratch.values[s], scratch.direction[s]), Dual(scratch.direction[s], 0.0));
  }
  return bias + e.evaluate<SecondDual>(scratch.second).slope.slope;
}

void ExpressionContacts::bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
                              Vector& bias) const {
  ExpressionScratch& scratch = expression_scratch(workspace, info_);
  scratch.set_position(t, q);
  std::fill(scratch.direction.begin(), scratch.direction.end(), 0.0);
  scratch.direction[0] = 1.0;
  for (Index k = 0; k < v.size(); ++k) scratch.direction[static_cast<std::size_t>(1 + k)] = v[k];
  Index rows = 0;
  for (std::size_t k = 0; k < shapes_.size(); ++k)
    if (gap(shapes_[k].rows[0], t, q, &scratch) <= margin) rows += laws_[k].size();
  bias.resize(rows);
  Index at = 0;
  for (const Law& law : shapes_) {
    if (!(gap(law.rows[0], t, q, &scratch) <= margin)) continue;
    for (const Row& row : law.rows) bias[at++] = row_bias(row, v, scratch);
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
    for (Index j = 0; j < info_.nq(); ++j) {
      Vector3 slope = Vector3::Zero();
      for (std::size_t c = 0; c < law.position.size(); ++c)
        if (const Expression* e = law.position[c].expression())
          slope[static_cast<Index>(c)] = e->derivative(scratch.values, 1 + j);
      const double along_a = a.dot(slope), along_b = b.dot(slope), entry = Wt.coeff(k, j);
      aa += along_a * along_a;
      ab += along_a * along_b;
      bb += along_b * along_b;
      ar += along_a * entry;
      br += along_b * entry;
    }
    const double determinant = aa * bb - ab * ab;
    if (planar || !(determinant > 1e-12 * aa * bb)) return Vector3(ar < 0 ? -a : a);
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

void ExpressionContacts::append_breakpoints(double from, double to, Index scan_points,
                                            std::vector<double>& times) const {
  for (const Law& law : shapes_)
    for (const Row& row : law.rows) {
      row.displacement.append_breakpoints(from, to, scan_points, times);
      for (const StateFunction& entry : row.entries) entry.append_breakpoints(from, to, scan_points, times);
      row.surface.append_breakpoints(from, to, scan_points, times);
    }
}

}  // namespace stickslip
