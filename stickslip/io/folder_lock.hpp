// SPDX-License-Identifier: Apache-2.0
// One run at a time writes into a folder of results. The lock is the operating system's, on the folder itself: it
// leaves no file behind and ends with the process, however that ends. File systems without locks have none.
#pragma once

#include <filesystem>

namespace stickslip {

class FolderLock {
 public:
  FolderLock() = default;
  /// Throws InputError naming the folder if another process (or another lock of this one) has it. The folder exists.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  bool held() const { return descriptor_ >= 0; }
  /// Throws LostOutput if `folder` no longer names the folder that is held: what stands there is another run's.
  void require_at(const std::filesystem::path& folder) const;

 private:
  int descriptor_ = -1;
};

}  // namespace stickslip
