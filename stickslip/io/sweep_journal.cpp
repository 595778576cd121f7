// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/sweep_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "stickslip/common/error.hpp"
#include "stickslip/io/output_error.hpp"

namespace stickslip {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path) {
  const std::string why = std::strerror(errno);
  throw OutputError(fmt::format(
      "{}: cannot write: {}{}", path.string(), why,
      errno == ENOSPC || errno == EDQUOT ? "; make room, then the same command goes on with what is stored" : ""));
}

/// Up to `count` bytes at `place`; fewer at the end of the file.
std::string read_at(int file, const std::filesystem::path& path, std::size_t place, std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t got = 0;
  while (got < count) {
    const ssize_t n = pread(file, bytes.data() + got, count - got, static_cast<off_t>(place + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw InputError(fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

/// Read so many bytes at a time; a record that is larger is read by more.
constexpr std::size_t kPiece = std::size_t{1} << 24;

}  // namespace

SweepJournal::SweepJournal(std::filesystem::path path, const std::string& identity, long runs)
    : path_(std::move(path)), rows_(static_cast<std::size_t>(runs)), synced_(std::chrono::steady_clock::now()) {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) fail(path_);
  try {
    struct stat status {};
    if (fstat(file_, &status) != 0) fail(path_);
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0) open_existing(identity);
    if (size_ == 0) {
      std::string bytes;
      encode_text(identity, bytes);
      write(bytes);
      first_ = size_;
    }
  } catch (...) {
    close(file_);
    if (size_ == 0) unlink(path_.c_str());  // not even its beginning could be stored
    throw;
  }
}

SweepJournal::~SweepJournal() { close(file_); }

void SweepJournal::open_existing(const std::string& identity) {
  std::string expected, text;
  encode_text(identity, expected);
  const std::string head = read_at(file_, path_, 0, expected.size());
  if (head != expected) {
    // A kill within the first write leaves the beginning of it.
    const bool cut = size_ < expected.size() && expected.starts_with(head);
    if (!cut)
      throw InputError(fmt::format(
          "{}: the folder holds an unfinished sweep of another model, other settings or another version; give --out "
          "for a folder of its own, or --fresh to drop what it holds",
          path_.parent_path().string()));
    size_ = 0;
    if (ftruncate(file_, 0) != 0) fail(path_);
    return;
  }
  first_ = expected.size();
  RecordDecoder decoder;
  std::size_t place = first_, piece = kPiece;
  while (true) {
    const std::string bytes = read_at(file_, path_, place, piece);
    const std::size_t used = decoder.decode(bytes, [&](SweepRecord&& record, std::size_t at, std::size_t length) {
      keep(std::move(record), first_ + at, length);
    });
    place += used;
    if (used == 0 && bytes.size() < piece) break;
    piece = used == 0 ? 2 * piece : kPiece;
  }
  for (const NameList& names : decoder.names()) encoder_.know(names);
  size_ = place;
  if (ftruncate(file_, static_cast<off_t>(size_)) != 0) fail(path_);
}

void SweepJournal::keep(SweepRecord&& record, std::size_t place, std::size_t length) {
  if (record.index < 0 || record.index >= static_cast<long>(rows_.size())) return;
  SweepRow& row = rows_[static_cast<std::size_t>(record.index)];
  if (row.done) return;
  row = {true,
         record.status,
         std::move(record.message),
         std::move(record.names),
         std::move(record.values),
         place,
         record.blocks.empty() ? 0 : length};
  ++done_;
}

void SweepJournal::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(path_);
    size_ += static_cast<std::size_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void SweepJournal::append(std::vector<SweepRecord>&& records) {
  std::string bytes;
  for (SweepRecord& record : records) {
    if (record.index < 0 || record.index >= static_cast<long>(rows_.size()) ||
        rows_[static_cast<std::size_t>(record.index)].done)
      continue;
    const std::size_t place = size_ + bytes.size();
    encoder_.encode(record, bytes);
    keep(std::move(record), place, size_ + bytes.size() - place);
  }
  write(bytes);
  const auto now = std::chrono::steady_clock::now();
  if (now - synced_ >= std::chrono::seconds(1)) sync();
}

void SweepJournal::sync() {
  fdatasync(file_);  // a file system that cannot is no reason to stop
  synced_ = std::chrono::steady_clock::now();
}

std::vector<long> SweepJournal::pending() const {
  std::vector<long> indices;
  for (std::size_t k = 0; k < rows_.size(); ++k)
    if (!rows_[k].done) indices.push_back(static_cast<long>(k));
  return indices;
}

std::vector<SweepBlock> SweepJournal::blocks(long index) const {
  const SweepRow& row = rows_[static_cast<std::size_t>(index)];
  if (row.length == 0) return {};
  return decode_blocks(read_at(file_, path_, row.place, row.length));
}

}  // namespace stickslip
