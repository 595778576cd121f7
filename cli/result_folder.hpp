// SPDX-License-Identifier: Apache-2.0
// The folder of the results of one command: made when there is something to put into it, and nobody else's while it
// runs.
#pragma once

#include <filesystem>

#include "stickslip/io/folder_lock.hpp"
#include "stickslip/io/output_file.hpp"

namespace stickslip::cli {

class ResultFolder {
 public:
  /// A folder that exists is locked at once. Throws InputError if another run has it.
  explicit ResultFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored)) lock_ = FolderLock(path_);
  }
  const std::filesystem::path& path() const { return path_; }
  /// Makes and locks it where that has not been done.
  const std::filesystem::path& open() {
    create_folder(path_);
    if (!lock_.held()) lock_ = FolderLock(path_);
    return path_;
  }

 private:
  std::filesystem::path path_;
  FolderLock lock_;
};

}  // namespace stickslip::cli
