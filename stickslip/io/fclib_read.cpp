// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/io/fclib.hpp"
#include "stickslip/io/hdf5_file.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip {

namespace {

using hdf5::Handle;

/// What a small file may claim: a constant array shrinks a thousandfold under compression, but nobody stores gigabytes
/// of it.
constexpr hsize_t kHarmlessBytes = 64 * kMebibyte, kPlausibleCompression = 64;
constexpr std::size_t kLongestText = kMebibyte;

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : file_(open(path)) {}

  bool has(const std::string& name) const {
    // H5Lexists needs every group on the way to exist.
    for (std::size_t at = 0; at != std::string::npos;) {
      at = name.find('/', at + 1);
      if (!file_.has(name.substr(0, at))) return false;
    }
    return H5Oexists_by_name(file_.id(), name.c_str(), H5P_DEFAULT) > 0;  // no dangling link
  }

  [[noreturn]] void fail(const std::string& name, const std::string& what) const {
    throw InputError(fmt::format("{}: /{}: {}", file_.path().string(), name, what));
  }

  /// Number of elements of a dataset of numbers that the file really stores.
  hsize_t length(const std::string& name) const {
    const Handle dataset = open_dataset(name);
    require_class(name, dataset, false);
    return checked_length(name, dataset);
  }

  std::int64_t integer(const std::string& name) const {
    const Handle dataset = open_dataset(name);
    require_class(name, dataset, true);
    if (const hsize_t n = checked_length(name, dataset); n != 1)
      fail(name, fmt::format("holds {} numbers, expected one integer", n));
    std::int64_t value = 0;
    file_.check(H5Dread(dataset.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), "read /" + name);
    return value;
  }

  std::vector<std::int64_t> integers(const std::string& name) const {
    const Handle dataset = open_dataset(name);
    require_class(name, dataset, true);
    std::vector<std::int64_t> values(checked_length(name, dataset));
    file_.check(H5Dread(dataset.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "read /" + name);
    return values;
  }

  Vector numbers(const std::string& name) const {
    const Handle dataset = open_dataset(name);
    require_class(name, dataset, false);
    Vector values(static_cast<Index>(checked_length(name, dataset)));
    file_.check(H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
                "read /" + name);
    return values;
  }

  Vector numbers(const std::string& name, Index expected, const char* why) const {
    if (const hsize_t n = length(name); n != static_cast<hsize_t>(expected))
      fail(name, fmt::format("has {} entries, expected {} ({})", n, expected, why));
    return numbers(name);
  }

  /// Empty if there is none: nothing but words hangs on it.
  std::string text(const std::string& name) const {
    if (!has(name)) return "";
    const Handle dataset = open_dataset(name);
    const Handle type(H5Dget_type(dataset.id()), H5Tclose), space(H5Dget_space(dataset.id()), H5Sclose);
    const std::size_t bytes = H5Tget_size(type.id());
    if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) != 0 || bytes > kLongestText ||
        H5Sget_simple_extent_npoints(space.id()) != 1)
      return "";
    std::string value(bytes, '\0');
    if (H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.data()) < 0) return "";
    return value.substr(0, value.find('\0'));
  }

  /// Rows and columns are those of the vectors that it must fit: a matrix by triplets could announce any.
  SparseMatrix matrix(const std::string& name, hsize_t rows, hsize_t columns) const;

 private:
  static hdf5::File open(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) throw InputError(fmt::format("{}: no such file", path.string()));
    if (std::filesystem::is_directory(path, ignored))
      throw InputError(fmt::format("{}: is a folder; name the files in it", path.string()));
    if (!std::filesystem::is_regular_file(path, ignored))
      throw InputError(fmt::format("{}: is not a regular file", path.string()));
    if (H5Fis_hdf5(path.c_str()) == 0)
      throw InputError(
          fmt::format("{}: is not an HDF5 file; FCLIB problems are HDF5 files with a group fclib_local or fclib_global",
                      path.string()));
    bool left_open = false;
    return hdf5::File::read(path, left_open);
  }

  Handle open_dataset(const std::string& name) const {
    if (!has(name)) fail(name, "is missing; the layout is described in docs/friction-contact-problems.md");
    H5O_info_t info;
    file_.check(H5Oget_info_by_name2(file_.id(), name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), "open /" + name);
    if (info.type != H5O_TYPE_DATASET) fail(name, "is not a dataset");
    return Handle(file_.check(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), "open /" + name), H5Dclose);
  }

  void require_class(const std::string& name, const Handle& dataset, bool integer) const {
    const Handle type(file_.check(H5Dget_type(dataset.id()), "read the type of /" + name), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type.id());
    if (kind == H5T_INTEGER || (kind == H5T_FLOAT && !integer)) return;
    fail(name, integer ? "must hold integers" : "must hold numbers");
  }

  hsize_t checked_length(const std::string& name, const Handle& dataset) const {
    const Handle space(file_.check(H5Dget_space(dataset.id()), "read the size of /" + name), H5Sclose);
    const Handle type(file_.check(H5Dget_type(dataset.id()), "read the type of /" + name), H5Tclose);
    const Handle creation(file_.check(H5Dget_create_plist(dataset.id()), "read /" + name), H5Pclose);
    if (H5Pget_external_count(creation.id()) > 0 || H5Pget_layout(creation.id()) == H5D_VIRTUAL)
      fail(name, "keeps its numbers in another file; store them in this one");
    hsize_t size[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_ndims(space.id());
    if (rank < 0 || rank > 2) fail(name, fmt::format("has {} dimensions, expected one", rank));
    H5Sget_simple_extent_dims(space.id(), size, nullptr);
    if (rank == 2 && size[0] != 1 && size[1] != 1)
      fail(name, fmt::format("is a table of {} x {}, expected one dimension", size[0], size[1]));
    const hsize_t count = (rank > 0 ? size[0] : 1) * (rank > 1 ? size[1] : 1);
    constexpr hsize_t most = std::numeric_limits<int>::max() - 1;
    if (count > most) fail(name, fmt::format("has {} entries, more than {} cannot be used", count, most));
    const hsize_t stored = H5Dget_storage_size(dataset.id()), bytes = count * H5Tget_size(type.id());
    if (count > 0 && stored == 0) fail(name, fmt::format("announces {} numbers but was never written", count));
    if (bytes > kHarmlessBytes && bytes / kPlausibleCompression > stored)
      fail(name, fmt::format("announces {} numbers but stores only {} bytes", count, stored));
    return count;
  }

  hdf5::File file_;
};

SparseMatrix Reader::matrix(const std::string& name, hsize_t expected_rows, hsize_t expected_columns) const {
  if (!has(name)) fail(name, "is missing; a matrix is a group with m, n, nz, p, i and x");
  auto dimension = [&](const char* which, const char* what, hsize_t expected) {
    const std::int64_t size = integer(name + "/" + which);
    if (size < 0 || static_cast<hsize_t>(size) != expected)
      fail(name + "/" + which, fmt::format("announces {} {}, but the vectors that the matrix must fit have {} entries",
                                           size, what, expected));
    return static_cast<Index>(size);
  };
  const Index rows = dimension("m", "rows", expected_rows), columns = dimension("n", "columns", expected_columns);
  const std::int64_t nz = integer(name + "/nz");
  if (nz < -2)
    fail(name + "/nz", fmt::format("is {}; it must be -2 (compressed rows), -1 (compressed columns) or the number of "
                                   "triplets",
                                   nz));
  const auto have_i = static_cast<std::int64_t>(length(name + "/i")),
             have_p = static_cast<std::int64_t>(length(name + "/p")),
             have_x = static_cast<std::int64_t>(length(name + "/x"));
  auto require_index = [&](const char* which, std::int64_t at, std::int64_t value, Index limit) {
    if (value < 0 || value >= limit)
      fail(name + "/" + which,
           fmt::format("entry {} is {}, outside 0..{} of a matrix with m = {} rows and n = {} columns", at, value,
                       limit - 1, rows, columns));
  };
  std::vector<Eigen::Triplet<double, int>> entries;
  if (nz >= 0) {
    if (have_i < nz || have_p < nz || have_x < nz)
      fail(name + "/nz",
           fmt::format("announces {} triplets, but i, p, x have {}, {}, {} entries", nz, have_i, have_p, have_x));
    const std::vector<std::int64_t> i = integers(name + "/i"), p = integers(name + "/p");
    const Vector x = numbers(name + "/x");
    entries.reserve(static_cast<std::size_t>(nz));
    for (std::int64_t k = 0; k < nz; ++k) {
      const auto at = static_cast<std::size_t>(k);
      require_index("i", k, i[at], rows);
      require_index("p", k, p[at], columns);
      entries.emplace_back(static_cast<int>(i[at]), static_cast<int>(p[at]), x[k]);
    }
  } else {
    const bool by_rows = nz == -2;
    const Index outer = by_rows ? rows : columns, inner = by_rows ? columns : rows;
    if (have_p != outer + 1)
      fail(name + "/p",
           fmt::format("has {} entries, expected {} = {} + 1 (nz = {})", have_p, outer + 1, by_rows ? "m" : "n", nz));
    const std::vector<std::int64_t> p = integers(name + "/p");
    const std::int64_t stored = std::min(have_i, have_x);
    for (std::size_t k = 0; k < p.size(); ++k)
      if (p[k] < (k == 0 ? 0 : p[k - 1]) || p[k] > stored || p[0] != 0)
        fail(name + "/p",
             fmt::format("entry {} is {}; the starts must grow from 0 to at most {}, the length of i and x", k, p[k],
                         stored));
    const std::vector<std::int64_t> i = integers(name + "/i");
    const Vector x = numbers(name + "/x");
    entries.reserve(static_cast<std::size_t>(p.back()));
    for (Index k = 0; k < outer; ++k)
      for (std::int64_t e = p[static_cast<std::size_t>(k)]; e < p[static_cast<std::size_t>(k) + 1]; ++e) {
        const std::int64_t index = i[static_cast<std::size_t>(e)];
        require_index("i", e, index, inner);
        const int a = static_cast<int>(k), b = static_cast<int>(index);
        entries.emplace_back(by_rows ? a : b, by_rows ? b : a, x[e]);
      }
  }
  SparseMatrix result(rows, columns);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

int read_dimension(const Reader& reader, const std::string& group) {
  const std::int64_t dimension = reader.integer(group + "/spacedim");
  if (dimension != 2 && dimension != 3)
    reader.fail(group + "/spacedim", fmt::format("is {}, must be 2 or 3", dimension));
  return static_cast<int>(dimension);
}

FclibInfo read_info(const Reader& reader, const std::string& group) {
  return {reader.text(group + "/info/title"), reader.text(group + "/info/description"),
          reader.text(group + "/info/math_info")};
}

Vector read_friction(const Reader& reader, const std::string& group, Index components, int dimension) {
  if (components % dimension != 0)
    reader.fail(group + "/spacedim",
                fmt::format("{} components cannot be contacts of {} components each", components, dimension));
  return reader.numbers(group + "/vectors/mu", components / dimension, "one per contact");
}

LocalContactProblem read_local(const Reader& reader) {
  const std::string group = "fclib_local", vectors = group + "/vectors/";
  LocalContactProblem problem;
  problem.dimension = read_dimension(reader, group);
  const hsize_t m = reader.length(vectors + "q");
  problem.W = reader.matrix(group + "/W", m, m);
  problem.q = reader.numbers(vectors + "q");
  problem.mu = read_friction(reader, group, problem.W.rows(), problem.dimension);
  if (reader.has(group + "/V") || reader.has(group + "/R")) {
    const hsize_t p = reader.length(vectors + "s");
    problem.V = reader.matrix(group + "/V", m, p);
    problem.R = reader.matrix(group + "/R", p, p);
    problem.s = reader.numbers(vectors + "s");
  }
  problem.info = read_info(reader, group);
  return problem;
}

GlobalContactProblem read_global(const Reader& reader) {
  const std::string group = "fclib_global", vectors = group + "/vectors/";
  GlobalContactProblem problem;
  problem.dimension = read_dimension(reader, group);
  const hsize_t n = reader.length(vectors + "f"), m = reader.length(vectors + "w");
  problem.M = reader.matrix(group + "/M", n, n);
  problem.H = reader.matrix(group + "/H", n, m);
  problem.f = reader.numbers(vectors + "f");
  problem.w = reader.numbers(vectors + "w");
  problem.mu = read_friction(reader, group, problem.H.cols(), problem.dimension);
  if (reader.has(group + "/G")) {
    problem.G = reader.matrix(group + "/G", n, reader.length(vectors + "b"));
    problem.b = reader.numbers(vectors + "b");
  }
  problem.info = read_info(reader, group);
  return problem;
}

struct SolutionSizes {
  Index v = 0, u = 0, l = 0;
};

SolutionSizes sizes_of(const FclibProblem& problem) {
  if (const auto* local = std::get_if<LocalContactProblem>(&problem)) return {0, local->q.size(), local->s.size()};
  const auto& global = std::get<GlobalContactProblem>(problem);
  return {global.f.size(), global.w.size(), global.b.size()};
}

FclibSolution read_solution_group(const Reader& reader, const std::string& group, const SolutionSizes& sizes) {
  FclibSolution solution;
  auto read = [&](const char* name, Index size) {
    const std::string path = group + "/" + name;
    Vector x = reader.numbers(path, size, "to fit the problem");
    if (!x.allFinite()) reader.fail(path, "has an entry that is not finite");
    return x;
  };
  solution.u = read("u", sizes.u);
  solution.r = read("r", sizes.u);
  if (sizes.v > 0) solution.v = read("v", sizes.v);
  if (sizes.l > 0) solution.l = read("l", sizes.l);
  return solution;
}

}  // namespace

FclibProblem read_fclib(const std::filesystem::path& path) {
  const hdf5::Quiet quiet;
  const Reader reader(path);
  FclibProblem problem;
  const char* group = "fclib_local";
  if (reader.has(group)) {
    problem = read_local(reader);
  } else if (group = "fclib_global"; reader.has(group)) {
    problem = read_global(reader);
  } else {
    throw InputError(
        fmt::format("{}: has neither a group fclib_local nor fclib_global; it is no FCLIB problem", path.string()));
  }
  try {
    std::visit([](const auto& p) { validate(p); }, problem);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: /{}: {}", path.string(), group, error.what()));
  }
  return problem;
}

std::optional<FclibSolution> read_fclib_solution(const std::filesystem::path& path, const FclibProblem& problem) {
  const hdf5::Quiet quiet;
  const Reader reader(path);
  if (!reader.has("solution")) return std::nullopt;
  return read_solution_group(reader, "solution", sizes_of(problem));
}

std::vector<FclibSolution> read_fclib_guesses(const std::filesystem::path& path, const FclibProblem& problem) {
  const hdf5::Quiet quiet;
  const Reader reader(path);
  std::vector<FclibSolution> guesses;
  if (!reader.has("guesses")) return guesses;
  const std::int64_t count = reader.integer("guesses/number_of_guesses");
  for (std::int64_t k = 1; k <= count; ++k) {
    const std::string group = fmt::format("guesses/{}", k);
    if (!reader.has(group))
      reader.fail("guesses/number_of_guesses", fmt::format("announces {}, but /{} is missing", count, group));
    guesses.push_back(read_solution_group(reader, group, sizes_of(problem)));
  }
  return guesses;
}

}  // namespace stickslip
