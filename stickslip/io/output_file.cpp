// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {
/// No room is not the fault of the call.
[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view action, int reason) {
  const std::string message = fmt::format("{}: cannot {}: {}", path.string(), action, std::strerror(reason));
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) throw OutputError(message);
  throw InputError(message);
}
}  // namespace

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), name_(path_.filename().string()), part_(name_ + ".part") {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored))
    throw InputError(fmt::format("{}: cannot write: it is a folder", path_.string()));
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  folder_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int file = folder_ < 0 ? -1 : openat(folder_, part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  stream_ = file < 0 ? nullptr : fdopen(file, "wb");
  if (stream_ != nullptr) return;
  const int reason = errno;
  if (file >= 0) close(file);
  if (folder_ >= 0) close(folder_);
  refuse(path_, "write", reason);
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr) {
    std::fclose(stream_);
    unlinkat(folder_, part_.c_str(), 0);
  }
  close(folder_);
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) fail();
}

void OutputFile::commit() {
  if (std::fflush(stream_) != 0) fail();
  std::FILE* stream = std::exchange(stream_, nullptr);
  if (std::fclose(stream) != 0 || renameat(folder_, part_.c_str(), folder_, name_.c_str()) != 0) {
    const int reason = errno;
    unlinkat(folder_, part_.c_str(), 0);
    errno = reason;
    fail();
  }
}

void OutputFile::fail() const {
  throw OutputError(fmt::format("{}: cannot write: {}", path_.string(), std::strerror(errno)));
}

GrowingFile::GrowingFile(std::filesystem::path path) : path_(std::move(path)), part_(path_) {
  part_ += ".part";
  file_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) refuse(path_, "write", errno);
}

GrowingFile::~GrowingFile() {
  close(file_);
  if (!committed_) unlink(part_.c_str());
}

void GrowingFile::append(std::string_view text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = pwrite(file_, text.data() + done, text.size() - done, static_cast<off_t>(size_ + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int reason = errno;
      const bool whole = ftruncate(file_, static_cast<off_t>(size_)) == 0;
      throw OutputError(fmt::format("{}: cannot write: {}{}", path_.string(), std::strerror(reason),
                                    whole ? "" : "; its last line is cut off"));
    }
    done += static_cast<std::size_t>(n);
  }
  size_ += text.size();
}

void GrowingFile::commit() {
  if (rename(part_.c_str(), path_.c_str()) != 0) refuse(path_, "write", errno);
  committed_ = true;
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
  refuse(folder, "create the folder", error ? error.value() : ENOENT);
}

}  // namespace stickslip
