// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stickslip/common/error.hpp"
#include "stickslip/io/fclib.hpp"
#include "stickslip/io/hdf5_file.hpp"

namespace stickslip {

namespace {

using hdf5::Handle;
namespace fs = std::filesystem;

/// A file that is written as NAME.part and renamed when it is complete. Default format of HDF5, not the latest one of
/// hdf5::File: these files are exchanged with other programs.
class Writer {
 public:
  static Writer create(const fs::path& path) {
    Writer writer(path);
    const fs::path part = writer.part_;
    writer.file_ = Handle(H5Fcreate(part.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    if (writer.file_.id() < 0) writer.fail("be created");
    return writer;
  }
  static Writer copy(const fs::path& source, const fs::path& target) {
    Writer writer(target);
    std::error_code error;
    fs::copy_file(source, writer.part_, fs::copy_options::overwrite_existing, error);
    if (error)
      throw InputError(
          fmt::format("{}: cannot be copied to {}: {}", source.string(), target.string(), error.message()));
    fs::permissions(writer.part_, fs::perms::owner_write, fs::perm_options::add, error);
    writer.file_ = Handle(H5Fopen(writer.part_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    if (writer.file_.id() < 0) writer.fail("be written");
    return writer;
  }
  Writer(Writer&&) = default;
  Writer& operator=(Writer&&) = delete;
  ~Writer() {
    if (part_.empty()) return;
    file_.reset();
    std::error_code ignored;
    fs::remove(part_, ignored);
  }

  void group(const std::string& name) {
    const Handle made(H5Gcreate2(file_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    if (made.id() < 0) fail("take the group " + name);
  }
  void remove(const std::string& name) {
    if (H5Lexists(file_.id(), name.c_str(), H5P_DEFAULT) > 0 && H5Ldelete(file_.id(), name.c_str(), H5P_DEFAULT) < 0)
      fail("give up " + name);
  }
  void integer(const std::string& name, int value) { array(name, H5T_STD_I32LE, H5T_NATIVE_INT, 1, &value); }
  void integers(const std::string& name, const std::vector<int>& values) {
    array(name, H5T_STD_I32LE, H5T_NATIVE_INT, values.size(), values.data());
  }
  void numbers(const std::string& name, const Vector& values) {
    array(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, static_cast<hsize_t>(values.size()), values.data());
  }
  void text(const std::string& name, const std::string& value) {
    if (value.empty()) return;
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
    H5Tset_size(type.id(), value.size() + 1);
    const Handle made(
        H5Dcreate2(file_.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    if (made.id() < 0 || H5Dwrite(made.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.c_str()) < 0)
      fail("take " + name);
  }
  void matrix(const std::string& name, const SparseMatrix& A, FclibStorage storage);
  void solution(const std::string& name, const FclibSolution& solution) {
    group(name);
    for (const auto& [part, values] :
         {std::pair{"v", &solution.v}, {"u", &solution.u}, {"r", &solution.r}, {"l", &solution.l}})
      if (values->size() > 0) numbers(name + "/" + part, *values);
  }

  void commit() {
    if (H5Fclose(file_.release()) < 0) fail("be written");
    if (std::rename(part_.c_str(), path_.c_str()) != 0)
      throw InputError(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
    part_.clear();
  }

 private:
  explicit Writer(const fs::path& path) : path_(path), part_(path.string() + ".part") {
    if (fs::is_directory(path)) throw InputError(fmt::format("{}: cannot be written: it is a folder", path.string()));
  }

  [[noreturn]] void fail(const std::string& action) const {
    H5Eclear2(H5E_DEFAULT);
    throw InputError(
        fmt::format("{}: cannot {}; is the folder there and writable, the disk not full?", path_.string(), action));
  }

  void array(const std::string& name, hid_t stored, hid_t given, hsize_t count, const void* values) {
    constexpr hsize_t compress_from = 1024, largest_chunk = 1 << 16;
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose),
        creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (count >= compress_from && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
      const hsize_t chunk = std::min(count, largest_chunk);
      H5Pset_chunk(creation.id(), 1, &chunk);
      H5Pset_shuffle(creation.id());
      H5Pset_deflate(creation.id(), 4);
    }
    const Handle made(H5Dcreate2(file_.id(), name.c_str(), stored, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                      H5Dclose);
    if (made.id() < 0 || (count > 0 && H5Dwrite(made.id(), given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0))
      fail("take " + name);
  }

  fs::path path_, part_;
  Handle file_;
};

void Writer::matrix(const std::string& name, const SparseMatrix& A, FclibStorage storage) {
  const bool by_columns = storage == FclibStorage::compressed_columns;
  const SparseMatrix matrix = by_columns ? SparseMatrix(A.transpose()) : A;
  std::vector<int> starts{0}, inner, outer;
  std::vector<double> values;
  for (int k = 0; k < matrix.outerSize(); ++k) {
    for (SparseMatrix::InnerIterator entry(matrix, k); entry; ++entry) {
      outer.push_back(k);
      inner.push_back(static_cast<int>(entry.col()));
      values.push_back(entry.value());
    }
    starts.push_back(static_cast<int>(inner.size()));
  }
  const bool triplets = storage == FclibStorage::triplets;
  const int count = static_cast<int>(inner.size());
  group(name);
  integer(name + "/m", static_cast<int>(A.rows()));
  integer(name + "/n", static_cast<int>(A.cols()));
  integer(name + "/nzmax", count);
  integer(name + "/nz", triplets ? count : by_columns ? -1 : -2);
  integers(name + "/p", triplets ? inner : starts);
  integers(name + "/i", triplets ? outer : inner);
  numbers(name + "/x", Eigen::Map<const Vector>(values.data(), count));
}

void write_info(Writer& writer, const std::string& group, const FclibInfo& info) {
  writer.group(group);
  writer.text(group + "/title", info.title);
  writer.text(group + "/description", info.description);
  writer.text(group + "/math_info", info.math_info);
}

void write_problem(Writer& writer, const LocalContactProblem& problem, FclibStorage storage) {
  writer.group("fclib_local");
  writer.integer("fclib_local/spacedim", problem.dimension);
  writer.matrix("fclib_local/W", problem.W, storage);
  writer.group("fclib_local/vectors");
  writer.numbers("fclib_local/vectors/q", problem.q);
  writer.numbers("fclib_local/vectors/mu", problem.mu);
  if (problem.s.size() > 0) {
    writer.matrix("fclib_local/V", problem.V, storage);
    writer.matrix("fclib_local/R", problem.R, storage);
    writer.numbers("fclib_local/vectors/s", problem.s);
  }
  write_info(writer, "fclib_local/info", problem.info);
}

void write_problem(Writer& writer, const GlobalContactProblem& problem, FclibStorage storage) {
  writer.group("fclib_global");
  writer.integer("fclib_global/spacedim", problem.dimension);
  writer.matrix("fclib_global/M", problem.M, storage);
  writer.matrix("fclib_global/H", problem.H, storage);
  writer.group("fclib_global/vectors");
  writer.numbers("fclib_global/vectors/f", problem.f);
  writer.numbers("fclib_global/vectors/w", problem.w);
  writer.numbers("fclib_global/vectors/mu", problem.mu);
  if (problem.b.size() > 0) {
    writer.matrix("fclib_global/G", problem.G, storage);
    writer.numbers("fclib_global/vectors/b", problem.b);
  }
  write_info(writer, "fclib_global/info", problem.info);
}

}  // namespace

void write_fclib(const fs::path& path, const FclibProblem& problem, FclibStorage storage) {
  std::visit([](const auto& p) { validate(p); }, problem);
  const hdf5::Quiet quiet;
  Writer writer = Writer::create(path);
  std::visit([&](const auto& p) { write_problem(writer, p, storage); }, problem);
  writer.commit();
}

void write_fclib_solution(const fs::path& source, const fs::path& target, const FclibSolution& solution) {
  const hdf5::Quiet quiet;
  Writer writer = Writer::copy(source, target);
  writer.remove("solution");
  writer.solution("solution", solution);
  writer.commit();
}

void write_fclib_guesses(const fs::path& source, const fs::path& target, const std::vector<FclibSolution>& guesses) {
  const hdf5::Quiet quiet;
  Writer writer = Writer::copy(source, target);
  writer.remove("guesses");
  writer.group("guesses");
  writer.integer("guesses/number_of_guesses", static_cast<int>(guesses.size()));
  for (std::size_t k = 0; k < guesses.size(); ++k) writer.solution(fmt::format("guesses/{}", k + 1), guesses[k]);
  writer.commit();
}

}  // namespace stickslip
