// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "stickslip/common/error.hpp"

namespace stickslip {

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)), part_(path_) {
  part_ += ".part";
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored))
    throw InputError(fmt::format("{}: cannot write: it is a folder", path_.string()));
  stream_ = std::fopen(part_.c_str(), "wb");
  if (stream_ == nullptr) throw InputError(fmt::format("{}: cannot write: {}", path_.string(), std::strerror(errno)));
}

OutputFile::~OutputFile() {
  if (stream_ == nullptr) return;
  std::fclose(stream_);
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) fail();
}

void OutputFile::commit() {
  if (std::fflush(stream_) != 0) fail();
  std::FILE* stream = std::exchange(stream_, nullptr);
  if (std::fclose(stream) != 0 || std::rename(part_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    std::error_code ignored;
    std::filesystem::remove(part_, ignored);
    errno = reason;
    fail();
  }
}

void OutputFile::fail() const {
  throw OutputError(fmt::format("{}: cannot write: {}", path_.string(), std::strerror(errno)));
}

void write_text_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void create_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return;
  if (std::filesystem::exists(folder, ignored))
    throw InputError(fmt::format("{}: cannot put results there: it is a file, not a folder", folder.string()));
  throw InputError(
      fmt::format("{}: cannot create the folder: {}", folder.string(), error ? error.message() : "unknown reason"));
}

}  // namespace stickslip
