// SPDX-License-Identifier: Apache-2.0
// Is a file or folder that is held open still what its path names? Others may rename, remove or replace it meanwhile.
#pragma once

#include <sys/stat.h>

#include <filesystem>

namespace stickslip {

inline bool still_at(int descriptor, const std::filesystem::path& path) {
  struct stat open {
  }, named{};
  return fstat(descriptor, &open) == 0 && stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

}  // namespace stickslip
