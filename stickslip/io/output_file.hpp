// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete: written as NAME.part, renamed by commit(). A run that
// dies half-way leaves no half file that looks whole. It stays in the folder in which it was begun, whatever that is
// called by then. A place where nothing can be written is an InputError, a write that fails (a full disk) an
// OutputError, both with the path and the system's reason.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "stickslip/io/output_error.hpp"

namespace stickslip {

class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void commit();

 private:
  [[noreturn]] void fail() const;
  std::filesystem::path path_;
  std::string name_, part_;  // within the folder
  int folder_ = -1;
  std::FILE* stream_ = nullptr;
};

/// A text that grows by whole pieces: one that finds no room leaves the file as it was before. Begun as NAME.part; it
/// has its name from commit() on, and goes on growing.
class GrowingFile {
 public:
  explicit GrowingFile(std::filesystem::path path);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  /// Throws OutputError.
  void append(std::string_view text);
  void commit();

 private:
  std::filesystem::path path_, part_;
  int file_ = -1;
  std::size_t size_ = 0;
  bool committed_ = false;
};

/// The whole text at once.
void write_text_file(const std::filesystem::path& path, std::string_view text);

/// The folder and its parents, where they do not exist yet.
void create_folder(const std::filesystem::path& folder);

}  // namespace stickslip
