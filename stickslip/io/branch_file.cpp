// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/branch_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "stickslip/common/error.hpp"
#include "stickslip/io/hdf5_file.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/periodic_result.hpp"

namespace stickslip {

namespace {

using hdf5::Element;

constexpr std::array<const char*, 6> kKinds{"fold",           "branch_point", "period_doubling",
                                            "neimark_sacker", "stick_onset",  "grazing"};
constexpr double kOrbitSeconds = 2;  // between two orbits that are stored

struct Column {
  const char* name;
  Element element;
  Index columns;  ///< 0: one number per row; -1: none of them
};

std::vector<Column> columns_of(const System& system) {
  const TrajectoryNames names = trajectory_names(system, false);
  const auto n = static_cast<Index>(names.coordinates.size()), laws = static_cast<Index>(names.laws.size());
  return {{"value", Element::float64, 0},
          {"period", Element::float64, 0},
          {"residual", Element::float64, 0},
          {"stable", Element::int8, 0},
          {"polished", Element::int8, 0},
          {"branch", Element::int32, 0},
          {"amplitude", Element::float64, n},
          {"minimum", Element::float64, n},
          {"maximum", Element::float64, n},
          {"stick_fraction", Element::float64, laws > 0 ? laws : -1},
          {"multipliers_real", Element::float64, 2 * system.info().nv()},
          {"multipliers_imag", Element::float64, 2 * system.info().nv()},
          {"bifurcation_kind", Element::int8, 0},
          {"bifurcation_value", Element::float64, 0},
          {"bifurcation_branch", Element::int32, 0}};
}

/// n numbers, NaN where there are fewer.
std::vector<double> padded(const Vector& x, Index n) {
  std::vector<double> row(static_cast<std::size_t>(n), std::numeric_limits<double>::quiet_NaN());
  for (Index i = 0; i < std::min(n, x.size()); ++i) row[static_cast<std::size_t>(i)] = x[i];
  return row;
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); }

}  // namespace

struct BranchFile::Tables {
  hdf5::File file;
  GrowingFile rows;
  std::vector<Column> columns;
  std::vector<hdf5::Table> tables;
  std::int64_t points = 0;
  std::chrono::steady_clock::time_point last_orbit{};

  hdf5::Table& table(std::string_view name) {
    const auto at = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return name == c.name; });
    return tables[static_cast<std::size_t>(at - columns.begin())];
  }
  template <class Number>
  void append(std::string_view name, Number value) {
    table(name).append(file, &value, 1);
  }
  void append(std::string_view name, const Vector& values) {
    const auto at = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return name == c.name; });
    if (at->columns < 0) return;
    const std::vector<double> row = padded(values, at->columns);
    table(name).append(file, row.data(), 1);
  }
};

BranchFile::~BranchFile() {
  const hdf5::Quiet quiet;  // a full disk has been told already
  tables_.reset();
}

BranchFile::BranchFile(const std::filesystem::path& folder, const std::string& parameter, const System& system,
                       const BranchResume* known)
    : folder_(folder), system_(system) {
  const hdf5::Quiet quiet;
  const std::filesystem::path path = folder / "branch.h5", part = folder / "branch.h5.part";
  try {
    make(part, parameter);
    if (known) {
      for (const BranchPoint& point : known->points) add(point);
      for (const Bifurcation& found : known->bifurcations) add(found);
    }
    tables_->file.rename(path);
    tables_->rows.commit();
    if (known) keep_orbit(known->last, true);
  } catch (...) {
    tables_.reset();
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw;
  }
}

void BranchFile::make(const std::filesystem::path& path, const std::string& parameter) {
  std::vector<Column> columns = columns_of(system_);
  {
    hdf5::File file = hdf5::File::create(path);
    for (const Column& c : columns)
      if (c.columns >= 0) hdf5::make_table(file, c.name, c.element, static_cast<hsize_t>(c.columns), 0);
    hdf5::make_array(file, "orbit_point", Element::int64, 1, 0);
    const TrajectoryNames names = trajectory_names(system_, false);
    hdf5::make_text_attribute(file, "/", "parameter", parameter);
    hdf5::make_text_attribute(file, "/", "coordinates", joined(names.coordinates));
    hdf5::make_text_attribute(file, "/", "laws", joined(names.laws));
    hdf5::make_texts_attribute(file, "/", "kinds", {kKinds.begin(), kKinds.end()});
    file.close();
  }
  tables_.reset(new Tables{hdf5::File::append(path), GrowingFile(folder_ / "branch.csv"), std::move(columns), {}});
  for (const Column& c : tables_->columns)
    tables_->tables.push_back(c.columns >= 0 ? hdf5::Table(tables_->file, c.name, c.element) : hdf5::Table());
  tables_->rows.append(branch_csv_header(system_));
}

void BranchFile::add(const BranchPoint& point) {
  const hdf5::Quiet quiet;
  Tables& t = *tables_;
  t.rows.append(branch_csv_row(point));
  t.append("period", point.period);
  t.append("residual", point.residual);
  t.append("stable", static_cast<std::int8_t>(point.stable ? (*point.stable ? 1 : 0) : -1));
  t.append("polished", static_cast<std::int8_t>(point.polished));
  t.append("branch", static_cast<std::int32_t>(point.branch));
  t.append("amplitude", point.amplitude);
  t.append("minimum", point.minimum);
  t.append("maximum", point.maximum);
  t.append("stick_fraction", point.stick_fraction);
  t.append("multipliers_real", Vector(point.multipliers.real()));
  t.append("multipliers_imag", Vector(point.multipliers.imag()));
  t.append("value", point.value);  // last: a row counts where it is complete
  ++t.points;
}

void BranchFile::add(const Bifurcation& found) {
  const hdf5::Quiet quiet;
  const auto kind = std::find(kKinds.begin(), kKinds.end(), found.kind) - kKinds.begin();
  tables_->append("bifurcation_kind", static_cast<std::int8_t>(kind));
  tables_->append("bifurcation_branch", static_cast<std::int32_t>(found.branch));
  tables_->append("bifurcation_value", found.value);
}

void BranchFile::keep_orbit(const Orbit& orbit, bool now) {
  const auto time = std::chrono::steady_clock::now();
  if (orbit.t.empty()) return;
  if (!now && std::chrono::duration<double>(time - tables_->last_orbit).count() < kOrbitSeconds) return;
  const hdf5::Quiet quiet;
  write_orbit(folder_, system_, orbit);
  hdf5::write_row(tables_->file, "orbit_point", Element::int64, 0, &tables_->points);
  tables_->last_orbit = std::chrono::steady_clock::now();
}

BranchResume read_branch(const std::filesystem::path& folder, const std::string& parameter, const System& system) {
  const hdf5::Quiet quiet;
  const std::filesystem::path path = folder / "branch.h5";
  if (!std::filesystem::exists(path))
    throw InputError(
        fmt::format("--restart {}: there is no branch.h5 in it; name a folder of 'stickslip periodic --continue'",
                    folder.string()));
  bool left_open = false;
  const hdf5::File file = hdf5::File::read(path, left_open);
  const TrajectoryNames names = trajectory_names(system, false);
  const auto same = [&](const char* what, const std::string& wanted) {
    const std::string stored = hdf5::read_text_attribute(file, "/", what);
    if (stored != wanted)
      throw InputError(fmt::format("--restart {}: its {} '{}', here '{}'; it is another branch", folder.string(),
                                   what == std::string_view("parameter") ? "parameter is" : fmt::format("{} are", what),
                                   stored, wanted));
  };
  same("parameter", parameter);
  same("coordinates", joined(names.coordinates));
  same("laws", joined(names.laws));
  std::int64_t count = 0;
  hdf5::read_rows(file, "orbit_point", Element::int64, 0, 1, &count);
  const auto rows = static_cast<std::int64_t>(hdf5::shape_of(file, "value").rows);
  if (count < 1 || count > rows)
    throw InputError(
        fmt::format("--restart {}: it holds no point with its orbit; start the branch anew", folder.string()));
  BranchResume known;
  const auto numbers = [&](const char* name, Index columns) {
    DenseMatrix values(columns, count);
    hdf5::read_rows(file, name, Element::float64, 0, static_cast<hsize_t>(count), values.data());
    return values;
  };
  const Index n = static_cast<Index>(names.coordinates.size()), laws = static_cast<Index>(names.laws.size()),
              nv = system.info().nv();
  const DenseMatrix value = numbers("value", 1), period = numbers("period", 1), residual = numbers("residual", 1),
                    amplitude = numbers("amplitude", n), minimum = numbers("minimum", n),
                    maximum = numbers("maximum", n),
                    stick = laws > 0 ? numbers("stick_fraction", laws) : DenseMatrix(0, count),
                    real = numbers("multipliers_real", 2 * nv), imag = numbers("multipliers_imag", 2 * nv);
  std::vector<std::int8_t> stable(static_cast<std::size_t>(count)), polished = stable;
  std::vector<std::int32_t> branch(static_cast<std::size_t>(count));
  hdf5::read_rows(file, "stable", Element::int8, 0, static_cast<hsize_t>(count), stable.data());
  hdf5::read_rows(file, "polished", Element::int8, 0, static_cast<hsize_t>(count), polished.data());
  hdf5::read_rows(file, "branch", Element::int32, 0, static_cast<hsize_t>(count), branch.data());
  for (Index k = 0; k < count && branch[static_cast<std::size_t>(k)] == 0; ++k) {
    BranchPoint point;
    point.value = value(0, k), point.period = period(0, k), point.residual = residual(0, k);
    point.amplitude = amplitude.col(k), point.minimum = minimum.col(k), point.maximum = maximum.col(k);
    point.stick_fraction = stick.col(k);
    if (stable[static_cast<std::size_t>(k)] >= 0) point.stable = stable[static_cast<std::size_t>(k)] == 1;
    point.polished = polished[static_cast<std::size_t>(k)] == 1;
    if (nv > 0 && std::isfinite(real(0, k))) {
      point.multipliers.resize(2 * nv);
      point.multipliers.real() = real.col(k);
      point.multipliers.imag() = imag.col(k);
    }
    known.points.push_back(std::move(point));
  }
  const auto found = hdf5::shape_of(file, "bifurcation_value").rows;
  for (hsize_t k = 0; k < found; ++k) {
    std::int8_t kind = 0;
    std::int32_t number = 0;
    double at = 0;
    hdf5::read_rows(file, "bifurcation_kind", Element::int8, k, 1, &kind);
    hdf5::read_rows(file, "bifurcation_branch", Element::int32, k, 1, &number);
    hdf5::read_rows(file, "bifurcation_value", Element::float64, k, 1, &at);
    if (number == 0 && kind >= 0 && kind < static_cast<int>(kKinds.size()))
      known.bifurcations.push_back({kKinds[static_cast<std::size_t>(kind)], at, 0});
  }
  known.last = read_orbit(folder / "orbit.csv", system);
  return known;
}

}  // namespace stickslip
