// SPDX-License-Identifier: Apache-2.0
// A file that grows by whole pieces, and a limit of its size in place of a full disk.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "stickslip/io/output_file.hpp"
#include "tests/unit/result_samples.hpp"

namespace stickslip::growing_file_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Files of this process end at so many bytes, while it lives.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(GrowingFile, HasItsNameFromCommitOn) {
  const samples::TemporaryFolder folder("growing");
  const fs::path path = folder.path() / "rows.csv";
  {
    GrowingFile file(path);
    file.append("a,b\n");
    EXPECT_FALSE(fs::exists(path));
    file.commit();
    file.append("1,2\n");
    EXPECT_EQ(text_of(path), "a,b\n1,2\n");
  }
  { GrowingFile given_up(path); }
  EXPECT_EQ(text_of(path), "a,b\n1,2\n");
  EXPECT_FALSE(fs::exists(folder.path() / "rows.csv.part"));
}

TEST(GrowingFile, KeepsWholePiecesWhereThereIsNoRoom) {
  const samples::TemporaryFolder folder("growing_full");
  const fs::path path = folder.path() / "rows.csv";
  GrowingFile file(path);
  file.commit();
  file.append("12345678\n");
  {
    const SizeLimit limit(12);
    try {
      file.append("87654321\n");
      FAIL() << "it did not fit";
    } catch (const OutputError& error) {
      EXPECT_NE(std::string(error.what()).find("rows.csv: cannot write: File too large"), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(text_of(path), "12345678\n");
  }
  file.append("more\n");
  EXPECT_EQ(text_of(path), "12345678\nmore\n");
}

}  // namespace
}  // namespace stickslip::growing_file_test
