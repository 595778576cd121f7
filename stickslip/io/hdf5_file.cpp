// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/hdf5_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/io/hdf5_session.hpp"
#include "stickslip/io/output_error.hpp"

namespace stickslip {
void leave_hdf5_open_at_exit() { H5dont_atexit(); }
std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}
}  // namespace stickslip

namespace stickslip::hdf5 {
namespace {

struct Reason {
  std::string text;
  int number = 0;  ///< errno; 0: no call of the system failed
  bool no_room() const { return number == ENOSPC || number == EDQUOT || number == EFBIG; }
};

/// The system's own words if a call of it failed, else what HDF5 says where it noticed.
Reason innermost_reason() {
  Reason reason;
  auto visit = [](unsigned, const H5E_error2_t* entry, void* data) -> herr_t {
    Reason& found = *static_cast<Reason*>(data);
    const std::string text = entry->desc == nullptr ? "" : entry->desc;
    constexpr std::string_view mark = "error message = '", number = "errno = ";
    if (const auto at = text.find(mark); at != std::string::npos) {
      found.text = text.substr(at + mark.size(), text.find('\'', at + mark.size()) - at - mark.size());
      if (const auto from = text.find(number); from != std::string::npos)
        found.number = std::atoi(text.c_str() + from + number.size());
      return 1;
    }
    if (found.text.empty()) found.text = text;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &reason);
  H5Eclear2(H5E_DEFAULT);
  if (reason.text.empty()) reason.text = "unknown reason";
  return reason;
}

[[noreturn]] void fail_at(const std::filesystem::path& path, std::string_view action) {
  const Reason reason = innermost_reason();
  const std::string message = fmt::format("{}: cannot {}: {}", path.string(), action, reason.text);
  if (reason.no_room()) throw OutputError(message);
  throw InputError(message);
}

Handle access_properties() {
  Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(list.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  // Each attempt to read what a writer is about to change waits twice as long as the one before: 20 are 1 ms, the
  // default of 100 would wait for ever on a damaged file.
  H5Pset_metadata_read_attempts(list.id(), 20);
  H5Pset_fclose_degree(list.id(), H5F_CLOSE_STRONG);
  H5Pset_file_locking(list.id(), true, true);  // file systems without locks are not a reason to refuse
  return list;
}

hid_t file_type(Element element) {
  switch (element) {
    case Element::float64:
      return H5T_IEEE_F64LE;
    case Element::int64:
      return H5T_STD_I64LE;
    case Element::int32:
      return H5T_STD_I32LE;
    case Element::int8:
      return H5T_STD_I8LE;
  }
  return H5I_INVALID_HID;
}

std::size_t size_of(Element element) { return H5Tget_size(file_type(element)); }

Handle text_type(std::size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), std::max<std::size_t>(bytes, 1));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

/// Cut to `bytes`, not within a character of UTF-8.
std::string padded(std::string_view text, std::size_t bytes) {
  std::size_t end = std::min(bytes, text.size());
  if (end < text.size())
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string out(text.substr(0, end));
  out.resize(std::max<std::size_t>(bytes, 1), '\0');
  return out;
}

std::string unpadded(const char* text, std::size_t bytes) { return std::string(text, strnlen(text, bytes)); }

/// Objects do not remember when they were made, so that the same results are the same bytes (but for the root, which
/// HDF5 1.10 always dates).
Handle timeless(hid_t kind) {
  Handle list(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(list.id(), false);
  return list;
}

Handle creation_properties(Element element) {
  Handle list = timeless(H5P_DATASET_CREATE);
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t none = -1;
  if (element == Element::float64)
    H5Pset_fill_value(list.id(), H5T_NATIVE_DOUBLE, &not_a_number);
  else
    H5Pset_fill_value(list.id(), H5T_NATIVE_INT64, &none);
  return list;
}

Handle open_dataset(const File& file, const std::string& name) {
  return Handle(file.check(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), "open /" + name), H5Dclose);
}

Handle open_attribute(const File& file, const std::string& object, const std::string& name) {
  return Handle(file.check(H5Aopen_by_name(file.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                           fmt::format("find attribute {} of {}", name, object)),
                H5Aclose);
}

/// A stored attribute with anything but one value would overrun the caller's memory.
void require_scalar(const File& file, const Handle& attribute, const std::string& name) {
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (H5Sget_simple_extent_npoints(space.id()) != 1)
    throw InputError(fmt::format("{}: attribute {} must have one value", file.path().string(), name));
}

void make_attribute(File& file, const std::string& object, const std::string& name, hid_t type, const Handle& space,
                    const void* values) {
  const std::string action = fmt::format("write attribute {} of {}", name, object);
  const Handle attribute(file.check(H5Acreate_by_name(file.id(), object.c_str(), name.c_str(), type, space.id(),
                                                      H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                    action),
                         H5Aclose);
  file.check(H5Awrite(attribute.id(), type, values), action);
}

/// Rows first..first + count - 1 of a dataset, as (memory space, file space).
std::pair<Handle, Handle> select_rows(const File& file, const Handle& dataset, hsize_t first, hsize_t count) {
  Handle space(file.check(H5Dget_space(dataset.id()), "select rows"), H5Sclose);
  hsize_t size[2] = {0, 1};
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank > 2) file.fail("select rows");
  H5Sget_simple_extent_dims(space.id(), size, nullptr);
  const hsize_t start[2] = {first, 0}, block[2] = {count, size[1]};
  file.check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start, nullptr, block, nullptr), "select rows");
  Handle memory(H5Screate_simple(rank, block, nullptr), H5Sclose);
  return {std::move(memory), std::move(space)};
}

/// Room for the attributes and links of small groups stays in their header: nothing there is ever rebuilt while readers
/// look on.
constexpr unsigned kCompactAttributes = 64;
constexpr hsize_t kPageBytes = 4096;

}  // namespace

Quiet::Quiet() {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
Quiet::~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

hid_t memory_type(Element element) {
  switch (element) {
    case Element::float64:
      return H5T_NATIVE_DOUBLE;
    case Element::int64:
      return H5T_NATIVE_INT64;
    case Element::int32:
      return H5T_NATIVE_INT32;
    case Element::int8:
      return H5T_NATIVE_INT8;
  }
  return H5I_INVALID_HID;
}

File File::create(const std::filesystem::path& path) {
  const Handle access = access_properties();
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_attr_phase_change(creation.id(), kCompactAttributes, kCompactAttributes - 2);
  // A kill interrupts a write between two pages of memory. Within one page of the file an object's header is written
  // whole or not at all; across two it may be found torn (once in about 170 kills amid frequent flushes; so laid out,
  // in none of 588).
  H5Pset_file_space_strategy(creation.id(), H5F_FSPACE_STRATEGY_PAGE, false, 1);
  H5Pset_file_space_page_size(creation.id(), kPageBytes);
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id());
  if (id < 0) fail_at(path, "create the file");
  return File(path, id, true);
}

File File::append(const std::filesystem::path& path) {
  const Handle access = access_properties();
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access.id());
  if (id < 0) fail_at(path, "open the file for writing");
  return File(path, id, true);
}

File File::read(const std::filesystem::path& path, bool& left_open) {
  const Handle access = access_properties();
  left_open = false;
  hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id());
  if (id < 0) {
    const std::string reason = innermost_reason().text;
    id = H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id());
    left_open = id >= 0;
    if (id < 0) throw InputError(fmt::format("{}: cannot read the file: {}", path.string(), reason));
  }
  return File(path, id, false);
}

void File::rename(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::rename(path_, path, error);
  if (error) throw OutputError(fmt::format("{}: cannot write: {}", path.string(), error.message()));
  path_ = path;
}

int File::descriptor() const {
  void* handle = nullptr;
  return H5Fget_vfd_handle(id(), H5P_DEFAULT, &handle) < 0 ? -1 : *static_cast<int*>(handle);
}

void File::flush() { check(H5Fflush(id(), H5F_SCOPE_LOCAL), "write"); }
void File::close() { check(H5Fclose(handle_.release()), "write"); }
void File::abandon() { handle_.reset(); }
bool File::has(const std::string& name) const { return H5Lexists(id(), name.c_str(), H5P_DEFAULT) > 0; }
void File::fail(std::string_view action) const {
  if (!written_) fail_at(path_, action);
  throw OutputError(fmt::format("{}: cannot {}: {}", path_.string(), action, innermost_reason().text));
}

void make_group(File& file, const std::string& name) {
  const Handle creation = timeless(H5P_GROUP_CREATE);
  Handle(file.check(H5Gcreate2(file.id(), name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), "make /" + name),
         H5Gclose);
}

void make_table(File& file, const std::string& name, Element element, hsize_t columns, double expected_rows) {
  // The index of the chunks has blocks of more than a page once there are 8176 chunks; at most `most_chunks` keeps
  // below. Small chunks keep short runs small files. A wide row is split.
  constexpr double smallest = 16384, largest = 1 << 20, most_chunks = 6000;
  constexpr hsize_t widest = 8192;
  const hsize_t width = std::max<hsize_t>(columns, 1);
  const double row_bytes = static_cast<double>(width * size_of(element));
  const double bytes =
      std::clamp(expected_rows * row_bytes / most_chunks, std::min(smallest, 2048 * row_bytes), largest);
  const hsize_t chunk[2] = {std::max<hsize_t>(1, static_cast<hsize_t>(bytes / row_bytes)), std::min(width, widest)};
  const hsize_t size[2] = {0, width}, limit[2] = {H5S_UNLIMITED, width};
  const int rank = columns == 0 ? 1 : 2;
  const Handle space(H5Screate_simple(rank, size, limit), H5Sclose);
  const Handle creation = creation_properties(element);
  H5Pset_chunk(creation.id(), rank, chunk);
  Handle(file.check(H5Dcreate2(file.id(), name.c_str(), file_type(element), space.id(), H5P_DEFAULT, creation.id(),
                               H5P_DEFAULT),
                    "make /" + name),
         H5Dclose);
}

void make_array(File& file, const std::string& name, Element element, hsize_t rows, hsize_t columns) {
  const hsize_t size[2] = {rows, columns};
  const Handle space(H5Screate_simple(columns == 0 ? 1 : 2, size, nullptr), H5Sclose);
  const Handle creation = creation_properties(element);
  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);  // later writes then change no metadata
  Handle(file.check(H5Dcreate2(file.id(), name.c_str(), file_type(element), space.id(), H5P_DEFAULT, creation.id(),
                               H5P_DEFAULT),
                    "make /" + name),
         H5Dclose);
}

void make_texts(File& file, const std::string& name, const std::vector<std::string>& texts) {
  std::size_t bytes = 1;
  for (const std::string& text : texts) bytes = std::max(bytes, text.size());
  std::string block;
  for (const std::string& text : texts) block += padded(text, bytes);
  const Handle type = text_type(bytes);
  const hsize_t size = texts.size();
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Handle dataset(file.check(H5Dcreate2(file.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT,
                                             timeless(H5P_DATASET_CREATE).id(), H5P_DEFAULT),
                                  "make /" + name),
                       H5Dclose);
  if (size > 0)
    file.check(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, block.data()), "write /" + name);
}

void make_numbers(File& file, const std::string& name, const std::vector<double>& values) {
  make_matrix(file, name, Element::float64, values.size(), 0, values.data());
}

void make_matrix(File& file, const std::string& name, Element element, hsize_t rows, hsize_t columns,
                 const void* values) {
  const hsize_t size[2] = {rows, columns};
  const int rank = columns == 0 ? 1 : 2;
  const Handle space(H5Screate_simple(rank, size, nullptr), H5Sclose);
  const Handle dataset(file.check(H5Dcreate2(file.id(), name.c_str(), file_type(element), space.id(), H5P_DEFAULT,
                                             timeless(H5P_DATASET_CREATE).id(), H5P_DEFAULT),
                                  "make /" + name),
                       H5Dclose);
  if (rows > 0)
    file.check(H5Dwrite(dataset.id(), memory_type(element), H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write /" + name);
}

void make_text(File& file, const std::string& name, std::string_view text, std::size_t room) {
  make_texts(file, name, {padded(text, room)});
}

void make_text_attribute(File& file, const std::string& object, const std::string& name, std::string_view text) {
  const std::size_t bytes = std::min<std::size_t>(text.size(), 8000);  // a header has room for 64 kB
  make_attribute(file, object, name, text_type(bytes).id(), Handle(H5Screate(H5S_SCALAR), H5Sclose),
                 padded(text, bytes).data());
}

void make_texts_attribute(File& file, const std::string& object, const std::string& name,
                          const std::vector<std::string>& texts) {
  std::size_t bytes = 1;
  for (const std::string& text : texts) bytes = std::max(bytes, text.size());
  std::string block;
  for (const std::string& text : texts) block += padded(text, bytes);
  const hsize_t size = texts.size();
  make_attribute(file, object, name, text_type(bytes).id(), Handle(H5Screate_simple(1, &size, nullptr), H5Sclose),
                 block.data());
}

Table::Table(const File& file, const std::string& name, Element element)
    : dataset_(open_dataset(file, name)), element_(element) {
  const Handle space(H5Dget_space(dataset_.id()), H5Sclose);
  hsize_t size[2] = {0, 0};
  H5Sget_simple_extent_dims(space.id(), size, nullptr);
  rows_ = size[0];
  columns_ = size[1];
}

void Table::append(const File& file, const void* rows, hsize_t count) {
  const hsize_t size[2] = {rows_ + count, columns_};
  file.check(H5Dset_extent(dataset_.id(), size), "write");
  const auto [memory, space] = select_rows(file, dataset_, rows_, count);
  file.check(H5Dwrite(dataset_.id(), memory_type(element_), memory.id(), space.id(), H5P_DEFAULT, rows), "write");
  file.check(H5Dflush(dataset_.id()), "write");
  rows_ += count;
}

void Table::overwrite(const File& file, const void* rows, hsize_t count) {
  if (count == 0) return;
  if (count > rows_) {
    const hsize_t size[2] = {count, columns_};
    file.check(H5Dset_extent(dataset_.id(), size), "write");
    rows_ = count;
  }
  const auto [memory, space] = select_rows(file, dataset_, 0, count);
  file.check(H5Dwrite(dataset_.id(), memory_type(element_), memory.id(), space.id(), H5P_DEFAULT, rows), "write");
  file.check(H5Dflush(dataset_.id()), "write");
}

void write_row(const File& file, const std::string& name, Element element, hsize_t row, const void* values) {
  const Handle dataset = open_dataset(file, name);
  const auto [memory, space] = select_rows(file, dataset, row, 1);
  file.check(H5Dwrite(dataset.id(), memory_type(element), memory.id(), space.id(), H5P_DEFAULT, values), "write");
  file.check(H5Dflush(dataset.id()), "write");
}

void write_text(const File& file, const std::string& name, std::string_view text) {
  const Handle dataset = open_dataset(file, name);
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  file.check(
      H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, padded(text, H5Tget_size(type.id())).data()),
      "write /" + name);
  file.check(H5Dflush(dataset.id()), "write /" + name);
}

Shape shape_of(const File& file, const std::string& name) {
  const Handle dataset = open_dataset(file, name);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  hsize_t size[2] = {0, 1};
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank < 1 || rank > 2)
    throw InputError(fmt::format("{}: /{} has {} dimensions, expected 1 or 2", file.path().string(), name, rank));
  H5Sget_simple_extent_dims(space.id(), size, nullptr);
  return {size[0], size[1]};
}

void read_rows(const File& file, const std::string& name, Element element, hsize_t first, hsize_t count, void* values) {
  if (count == 0) return;
  const Handle dataset = open_dataset(file, name);
  const auto [memory, space] = select_rows(file, dataset, first, count);
  file.check(H5Dread(dataset.id(), memory_type(element), memory.id(), space.id(), H5P_DEFAULT, values),
             "read /" + name);
}

std::vector<std::string> read_texts(const File& file, const std::string& name) {
  const Shape shape = shape_of(file, name);
  const Handle dataset = open_dataset(file, name);
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0)
    throw InputError(fmt::format("{}: /{} holds no texts of fixed length", file.path().string(), name));
  const std::size_t bytes = H5Tget_size(type.id());
  std::string block(bytes * shape.rows * shape.columns, '\0');
  if (!block.empty())
    file.check(H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, block.data()), "read /" + name);
  std::vector<std::string> texts(shape.rows * shape.columns);
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = unpadded(block.data() + i * bytes, bytes);
  return texts;
}

std::string read_text(const File& file, const std::string& name) {
  std::vector<std::string> texts = read_texts(file, name);
  if (texts.size() != 1) throw InputError(fmt::format("{}: /{} must hold one text", file.path().string(), name));
  return texts.front();
}

std::string read_text_attribute(const File& file, const std::string& object, const std::string& name) {
  const Handle attribute = open_attribute(file, object, name);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0)
    throw InputError(
        fmt::format("{}: attribute {} of {} is no text of fixed length", file.path().string(), name, object));
  require_scalar(file, attribute, name);
  std::string text(H5Tget_size(type.id()), '\0');
  file.check(H5Aread(attribute.id(), type.id(), text.data()), "read attribute " + name);
  return unpadded(text.data(), text.size());
}

}  // namespace stickslip::hdf5
