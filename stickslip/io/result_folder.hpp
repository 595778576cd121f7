// SPDX-License-Identifier: Apache-2.0
// The folder of the results of one command: made when there is something to put into it, nobody else's while it runs,
// and gone again if nothing could be put into it.
#pragma once

#include <filesystem>

#include "stickslip/io/folder_lock.hpp"
#include "stickslip/io/output_file.hpp"
#include "stickslip/io/result_reader.hpp"
#include "stickslip/io/result_writer.hpp"

namespace stickslip {

class ResultFolder {
 public:
  /// A folder that exists is locked at once. Throws InputError if another run has it.
  explicit ResultFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored)) lock_ = FolderLock(path_);
  }
  /// A folder that was made for nothing goes away.
  ~ResultFolder() { withdraw(); }
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Makes and locks it where that has not been done. Throws LostOutput if the path names another folder by now.
  const std::filesystem::path& open() {
    if (lock_.held()) {
      require_in_place();
      return path_;
    }
    std::error_code ignored;
    made_ = !std::filesystem::exists(path_, ignored);
    create_folder(path_);
    lock_ = FolderLock(path_);
    return path_;
  }
  void require_in_place() const { lock_.require_at(path_); }
  /// Nothing could be stored: what open() made goes away, if it is still empty.
  void withdraw() {
    std::error_code ignored;
    if (made_ && std::filesystem::is_empty(path_, ignored)) std::filesystem::remove(path_, ignored);
  }
  /// open(), for a command that stores no run: what an earlier one left there is removed, so that results of two
  /// commands never stand side by side.
  const std::filesystem::path& open_cleared() {
    open();
    remove_text_results(path_);
    remove_result_file(path_);
    return path_;
  }

 private:
  std::filesystem::path path_;
  FolderLock lock_;
  bool made_ = false;
};

}  // namespace stickslip
