// SPDX-License-Identifier: Apache-2.0
// A thin layer over the C interface of HDF5: handles that close themselves, errors as InputError (OutputError where a
// write failed) with the path and the innermost reason, tables that grow by rows. Only sources include this header;
// hdf5.h stays out of the interfaces.
//
// Writing follows the single-writer/multiple-reader rules of HDF5 1.10: latest file format, all objects made before the
// file is opened for appending, no filters (a compressed chunk moves when it is written again, an uncompressed one is
// rewritten in place with the same bytes for the rows it already had), explicit flushes in a chosen order, and no
// header across two pages of memory.
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stickslip::hdf5 {

/// While it lives, HDF5 does not print its error stack. Per thread.
class Quiet {
 public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
      close_ = other.close_;
    }
    return *this;
  }
  ~Handle() { reset(); }
  void reset() {
    if (id_ >= 0) close_(std::exchange(id_, H5I_INVALID_HID));
  }
  hid_t id() const { return id_; }
  /// Gives the id up without closing it.
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// How an element is stored; little endian in the file.
enum class Element { float64, int64, int32, int8 };
hid_t memory_type(Element element);

class File {
 public:
  /// An empty file, latest format. An existing one is replaced.
  static File create(const std::filesystem::path& path);
  /// To append to tables and to change values; nothing new can be made. Readers may look on.
  static File append(const std::filesystem::path& path);
  /// `left_open`: its writer still runs or was killed; what was flushed can be read all the same.
  static File read(const std::filesystem::path& path, bool& left_open);

  const std::filesystem::path& path() const { return path_; }
  /// Under another name from here on; it stays open.
  void rename(const std::filesystem::path& path);
  /// Of the operating system; the file's own.
  int descriptor() const;
  hid_t id() const { return handle_.id(); }
  void flush();
  void close();
  /// Closes what can be closed, after a failure.
  void abandon();
  bool has(const std::string& name) const;
  /// Throws an error naming the file, the action and HDF5's reason if `result` is negative: OutputError for a file that
  /// is written, InputError for one that is read.
  template <class Result>
  Result check(Result result, std::string_view action) const {
    if (result < 0) fail(action);
    return result;
  }
  [[noreturn]] void fail(std::string_view action) const;

 private:
  File(std::filesystem::path path, hid_t id, bool written)
      : path_(std::move(path)), written_(written), handle_(id, H5Fclose) {}
  std::filesystem::path path_;
  bool written_ = false;
  Handle handle_;
};

// ---- making objects (files from File::create)

void make_group(File& file, const std::string& name);
/// Grows by rows. columns == 0: one number per row, else (rows, columns). Numbers that were never written are NaN or
/// -1. `expected_rows` (0: unknown) sets how much is stored as one piece.
void make_table(File& file, const std::string& name, Element element, hsize_t columns, double expected_rows);
/// Of fixed size, filled with NaN or -1. columns == 0: (rows), else (rows, columns).
void make_array(File& file, const std::string& name, Element element, hsize_t rows, hsize_t columns);
/// Texts of one length, padded with zero bytes; UTF-8.
void make_texts(File& file, const std::string& name, const std::vector<std::string>& texts);

/// Numbers that do not change, (values).
void make_numbers(File& file, const std::string& name, const std::vector<double>& values);
/// The same of any element and shape, row after row. columns == 0: (rows), else (rows, columns).
void make_matrix(File& file, const std::string& name, Element element, hsize_t rows, hsize_t columns,
                 const void* values);

/// One text, which may later be replaced by one of up to `room` bytes.
void make_text(File& file, const std::string& name, std::string_view text, std::size_t room);

/// Attributes of `object` ("/" is the file). A text of more than 8000 bytes is cut.
void make_text_attribute(File& file, const std::string& object, const std::string& name, std::string_view text);
void make_texts_attribute(File& file, const std::string& object, const std::string& name,
                          const std::vector<std::string>& texts);

// ---- writing (files from File::append)

/// A table open for appending.
class Table {
 public:
  Table() = default;
  Table(const File& file, const std::string& name, Element element);
  /// Appends and hands the rows to the operating system: data first, then the new length.
  void append(const File& file, const void* rows, hsize_t count);
  /// The first rows become these; the table grows where it is shorter and never shrinks.
  void overwrite(const File& file, const void* rows, hsize_t count);
  hsize_t rows() const { return rows_; }

 private:
  Handle dataset_;
  Element element_ = Element::float64;
  hsize_t rows_ = 0, columns_ = 0;
};

/// Row `row` of an array of fixed size, flushed.
void write_row(const File& file, const std::string& name, Element element, hsize_t row, const void* values);
/// A text from make_text(), flushed; what is longer than its room is cut.
void write_text(const File& file, const std::string& name, std::string_view text);

// ---- reading

struct Shape {
  hsize_t rows = 0, columns = 1;
};
Shape shape_of(const File& file, const std::string& name);
/// Rows first..first + count - 1, all columns.
void read_rows(const File& file, const std::string& name, Element element, hsize_t first, hsize_t count, void* values);
std::vector<std::string> read_texts(const File& file, const std::string& name);
std::string read_text(const File& file, const std::string& name);
std::string read_text_attribute(const File& file, const std::string& object, const std::string& name);

}  // namespace stickslip::hdf5
