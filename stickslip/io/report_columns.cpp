// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/report_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "stickslip/io/csv_writer.hpp"

namespace stickslip {
namespace {

using Source = ReportColumn::Source;

enum class Kind { unknown, length, angle, quaternion };

/// "box" of "box.x".
std::string owner(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

/// q[i...] is the pose of a body.
bool is_pose(const std::vector<std::string>& q, std::size_t i) {
  constexpr std::array parts = {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"};
  if (i + parts.size() > q.size()) return false;
  const std::string body = owner(q[i]);
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (q[i + k] != body + parts[k]) return false;
  return true;
}

/// q[i...] is the rotation of a ball hinge; a second one in a hinge has names such as qw_2.
bool is_quaternion(const std::vector<std::string>& q, std::size_t i) {
  constexpr std::array parts = {".qw", ".qx", ".qy", ".qz"};
  if (i + parts.size() > q.size() || owner(q[i]).empty()) return false;
  const std::string hinge = owner(q[i]), rest = q[i].substr(std::min(q[i].size(), hinge.size() + 3));
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (q[i + k] != hinge + parts[k] + rest) return false;
  return true;
}

/// Of a coordinate "hinge.rz" or "hinge.rz_2", or of a velocity of the same name.
Kind axis_kind(const std::string& name) {
  const std::string_view axis = std::string_view(name).substr(std::min(name.size(), name.rfind('.') + 1));
  if (owner(name).empty() || axis.size() < 2 || (axis.size() > 2 && axis[2] != '_') || axis[1] < 'x' || axis[1] > 'z')
    return Kind::unknown;
  return axis[0] == 'r' ? Kind::angle : axis[0] == 't' ? Kind::length : Kind::unknown;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<Kind> kinds(const std::vector<std::string>& q, const ReportUnits& units) {
  std::vector<Kind> out;
  while (out.size() < q.size()) {
    if (is_pose(q, out.size())) {
      out.insert(out.end(), 3, Kind::length);
      out.insert(out.end(), 4, Kind::quaternion);
    } else if (is_quaternion(q, out.size())) {
      out.insert(out.end(), 4, Kind::quaternion);
    } else {
      const std::string& name = q[out.size()];
      Kind kind = axis_kind(name);
      if (kind == Kind::unknown && !units.angles.empty()) kind = holds(units.angles, name) ? Kind::angle : Kind::length;
      out.push_back(kind);
    }
  }
  return out;
}

bool has(const std::vector<Kind>& kinds, Kind kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

struct Builder {
  const TrajectoryNames& names;
  std::vector<ReportColumnFigure> figures;

  /// Leaves out a figure without columns; groups of one column each are no groups.
  void add(ReportColumnFigure figure) {
    if (figure.columns.empty()) return;
    bool grouped = false;
    for (std::size_t i = 1; i < figure.columns.size(); ++i)
      grouped |= !figure.columns[i].group.empty() && figure.columns[i].group == figure.columns[i - 1].group;
    if (!grouped) {
      figure.groups.clear();
      for (ReportColumn& column : figure.columns) column.group.clear();
    }
    figures.push_back(std::move(figure));
  }

  void add_coordinates(const std::vector<Kind>& kind, Kind wanted, const char* title, const char* quantity,
                       const char* unit, const char* rate_title, const char* rate, const char* rate_unit) {
    ReportColumnFigure q{title, "", quantity, unit, "bodies", wanted == Kind::angle ? 1.0 : 0.0};
    ReportColumnFigure v{rate_title, "", rate, rate_unit, "bodies", 0, true};
    const std::vector<std::string> v_names = velocity_columns(names);
    Index velocity = 0;
    for (std::size_t i = 0; i < kind.size(); ++i) {
      const Index n = static_cast<Index>(i);
      if (kind[i] == Kind::quaternion) {
        i += 3;
        velocity += 3;
        continue;
      }
      if (kind[i] == wanted) {
        q.columns.push_back({names.coordinates[i], owner(names.coordinates[i]), Source::position, n});
        v.columns.push_back({v_names[velocity], owner(names.coordinates[i]), Source::velocity, velocity});
      }
      ++velocity;
    }
    add(std::move(q));
    add(std::move(v));
  }

  std::vector<std::pair<Index, Index>> add_rotations(const std::vector<Kind>& kind) {
    ReportColumnFigure angle{
        "Rotations", "How far a body has turned since the start: angle times axis, along the world's axes.",
        "rotation",  "rad",
        "bodies",    1.0};
    ReportColumnFigure spin{
        "Angular velocities", "About the axes of the body.", "angular velocity", "rad/s", "bodies", 0, true};
    std::vector<std::pair<Index, Index>> found;
    Index velocity = 0;
    for (std::size_t i = 0; i < kind.size(); ++i) {
      if (kind[i] != Kind::quaternion) {
        ++velocity;
        continue;
      }
      const std::string body = owner(names.coordinates[i]);
      for (Index k = 0; k < 3; ++k) {
        const Index column = 3 * static_cast<Index>(found.size()) + k;
        angle.columns.push_back({body + ".r" + "xyz"[k], body, Source::rotation, column});
        spin.columns.push_back({names.velocities[velocity + k], body, Source::velocity, velocity + k});
      }
      found.emplace_back(static_cast<Index>(i), velocity);
      velocity += 3;
      i += 3;
    }
    add(std::move(angle));
    add(std::move(spin));
    return found;
  }

  /// The law of each reaction; that of a constraint is its own.
  std::vector<std::string> law_of_reactions() const {
    std::vector<std::string> out;
    std::size_t law = 0;
    auto belongs = [&](const std::string& reaction) {
      return law < names.laws.size() &&
             (reaction == names.laws[law] ||
              (reaction.starts_with(names.laws[law] + "_") && reaction.size() <= names.laws[law].size() + 3));
    };
    for (const std::string& reaction : names.reactions) {
      while (law + 1 < names.laws.size() && !belongs(reaction)) ++law;
      out.push_back(belongs(reaction) ? names.laws[law] : reaction);
    }
    return out;
  }

  void add_forces(const std::vector<Kind>& kind, const ReportUnits& units) {
    const std::vector<std::string> laws = law_of_reactions();
    const bool only_lengths = !has(kind, Kind::unknown) && !has(kind, Kind::angle);
    const bool told = !units.angles.empty();
    ReportColumnFigure known{"Forces of friction and contact", "Mean over each time step.", "force", "N", "laws"};
    ReportColumnFigure moments = known, unknown = known;
    moments.title = "Torques of friction";
    moments.quantity = "torque";
    moments.unit = "N m";
    unknown.unit = "N or N m";
    bool contact = false;
    for (std::size_t i = 0; i < names.reactions.size(); ++i) {
      contact = (contact && i > 0 && laws[i] == laws[i - 1]) || names.reactions[i] == laws[i] + "_n";
      const bool force = contact || only_lengths || (told && holds(names.laws, laws[i]));
      std::vector<ReportColumn>& columns = (holds(units.moments, laws[i]) ? moments : force ? known : unknown).columns;
      const Index n = static_cast<Index>(i), smooth = static_cast<Index>(columns.size()) + 2;
      const std::string& name = names.reactions[i];
      columns.push_back({name, laws[i], Source::force, n});
      if (!names.smooth_part || contact) continue;
      columns.push_back({name + ", set-valued part", laws[i], Source::set_valued, n, true, false, smooth});
      columns.push_back({name + ", viscous and weakening part", laws[i], Source::smooth, n, true, true});
    }
    if (!known.columns.empty() || !moments.columns.empty())
      unknown.title = told ? "Forces and torques of constraints" : "Forces and torques of friction and constraints";
    add(std::move(known));
    add(std::move(moments));
    add(std::move(unknown));
  }

  void add_energy() {
    constexpr std::array terms = {"kinetic",     "potential",   "work in",    "friction loss",
                                  "damper loss", "impact loss", "unexplained"};
    ReportColumnFigure energy{"Energy balance", "", "energy, work", "J", ""};
    for (std::size_t k = 0; k < terms.size(); ++k)
      energy.columns.push_back({terms[k], "", Source::energy, static_cast<Index>(k), false, k == 5});
    figures.push_back(std::move(energy));
  }
};

double energy_term(const EnergyLedger& e, Index term) {
  const std::array values = {e.kinetic,     e.potential,   e.work_in,      e.friction_loss,
                             e.damper_loss, e.impact_loss, e.unexplained()};
  return values[static_cast<std::size_t>(term)];
}

}  // namespace

Eigen::Vector3d rotation_vector_near(const Eigen::Quaterniond& rotation, const Eigen::Vector3d& expected) {
  constexpr double turn = 2 * std::numbers::pi;
  constexpr double no_axis = 1e-12;  // sin(φ/2) below which round-off of a quaternion of length 1 decides the axis
  const double sine = rotation.vec().norm();
  Eigen::Vector3d axis = rotation.vec() / (sine > 0 ? sine : 1.0);
  double angle = 2 * std::atan2(sine, rotation.w());
  if (!(sine > no_axis)) {
    if (!(expected.norm() > 0)) return Eigen::Vector3d::Zero();
    axis = expected.normalized();
    angle = 0;
  }
  return (angle + turn * std::round((expected.dot(axis) - angle) / turn)) * axis;
}

ReportColumns::ReportColumns(const TrajectoryNames& names, const ReportUnits& units) {
  const std::vector<Kind> kind = kinds(names.coordinates, units);
  Builder build{names, {}};
  const bool mixed = has(kind, Kind::length);
  build.add_coordinates(kind, Kind::length, "Positions", "position", "m", "Velocities", "velocity", "m/s");
  build.add_coordinates(kind, Kind::unknown, mixed ? "Coordinates" : "Positions", "position", "m or rad",
                        mixed ? "Rates of the coordinates" : "Velocities", "velocity", "m/s or rad/s");
  build.add_coordinates(kind, Kind::angle, "Angles", "angle", "rad",
                        has(kind, Kind::quaternion) ? "Angular velocities of the hinges" : "Angular velocities",
                        "angular velocity", "rad/s");
  for (const auto& [quaternion, spin] : build.add_rotations(kind))
    bodies_.push_back({quaternion, spin, Eigen::Quaterniond::Identity(), Eigen::Vector3d::Zero()});
  build.add_forces(kind, units);
  build.add_energy();
  figures_ = std::move(build.figures);
  for (const ReportColumnFigure& figure : figures_) size_ += static_cast<Index>(figure.columns.size());
}

std::string ReportColumns::unit_of(const std::string& column) const {
  for (const ReportColumnFigure& figure : figures_)
    for (const ReportColumn& shown : figure.columns) {
      const bool motion = shown.source == Source::position || shown.source == Source::velocity;
      const bool force = shown.source == Source::force;
      if ((motion && column == shown.name) ||
          (force && (column == "r_" + shown.name || column == "r_" + shown.name + "_smooth")))
        return figure.unit;
    }
  return "";
}

void ReportColumns::follow_rotations(const OutputRow& row) {
  for (Turning& body : bodies_) {
    const Index q = body.first_q;
    const Eigen::Quaterniond now = Eigen::Quaterniond(row.q[q], row.q[q + 1], row.q[q + 2], row.q[q + 3]).normalized();
    if (!started_) body.start = now;
    const Eigen::Vector3d spin = row.v.segment<3>(body.first_spin);
    const Eigen::Vector3d expected = body.turned + (started_ ? row.t - last_t_ : 0.0) * (now * spin);
    body.turned = rotation_vector_near(now * body.start.conjugate(), expected);
  }
  started_ = true;
  last_t_ = row.t;
}

void ReportColumns::evaluate(const OutputRow& row, std::span<double> values) {
  const bool first = !started_;
  follow_rotations(row);
  std::size_t k = 0;
  auto smooth = [&](Index i) { return i < row.smooth.size() ? row.smooth[i] : 0.0; };
  // No step ends at the first row: what it holds is no mean of anything, unless the scheme put something there.
  const bool no_step = first && row.reaction.isZero(0) && row.smooth.isZero(0);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (const ReportColumnFigure& figure : figures_) {
    for (const ReportColumn& column : figure.columns) {
      const Index i = column.index;
      switch (column.source) {
        case Source::position:
          values[k] = row.q[i];
          break;
        case Source::velocity:
          values[k] = row.v[i];
          break;
        case Source::rotation:
          values[k] = bodies_[static_cast<std::size_t>(i / 3)].turned[i % 3];
          break;
        case Source::force:
          values[k] = no_step ? none : row.reaction[i] + smooth(i);
          break;
        case Source::set_valued:
          values[k] = no_step ? none : row.reaction[i];
          break;
        case Source::smooth:
          values[k] = no_step ? none : smooth(i);
          break;
        case Source::energy:
          values[k] = energy_term(row.energy, i);
          break;
      }
      ++k;
    }
  }
}

}  // namespace stickslip
