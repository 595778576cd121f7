// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/io/file_identity.hpp"
#include "stickslip/io/output_error.hpp"

namespace stickslip {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  descriptor_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0 || flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(std::exchange(descriptor_, -1));
  throw InputError(
      fmt::format("{}: another run is writing its results there; wait for its end, or choose another folder with --out",
                  folder.string()));
}

void FolderLock::require_at(const std::filesystem::path& folder) const {
  if (!held() || still_at(descriptor_, folder)) return;
  throw LostOutput(
      fmt::format("{}: the folder of the results was renamed, removed or replaced while they were written; nothing "
                  "was put into what stands there now",
                  folder.string()));
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

FolderLock::FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace stickslip
