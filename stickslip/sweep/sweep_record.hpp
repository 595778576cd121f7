// SPDX-License-Identifier: Apache-2.0
// What one run of a sweep leaves, and the bytes in which it travels (to the journal, and between processes).
//
// Frames: length of the payload (8 bytes), its CRC-32 (4 bytes), payload. A frame of names precedes the first record
// that has these names; later records with the same names refer to it. A stream that ends within a frame, or whose
// check does not hold, ends before that frame: what a killed writer left behind is recognised and dropped. Numbers are
// stored as they are in memory: readers are programs on machines of the same byte order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/common/status.hpp"

namespace stickslip {

using NameList = std::shared_ptr<const std::vector<std::string>>;

/// A table that a run leaves beside its numbers: a trajectory, points of a section.
struct SweepBlock {
  std::string name;
  std::vector<std::string> columns;
  std::vector<double> values;  ///< row after row
};

struct SweepRecord {
  long index = 0;
  Status status = Status::success;  ///< refused also where the values are none that the model takes
  std::string message;              ///< empty on success
  NameList names;                   ///< of the numbers; null: none
  std::vector<double> values;
  std::vector<SweepBlock> blocks;
};

class RecordEncoder {
 public:
  /// Appends the frames of a record.
  void encode(const SweepRecord& record, std::string& bytes);
  /// Names that the stream holds already.
  void know(NameList names) { known_.push_back(std::move(names)); }

 private:
  std::vector<NameList> known_;
};

class RecordDecoder {
 public:
  /// Every whole record of `bytes`, with the place of its frame from the begin of the stream and its length; the number
  /// of bytes used. May be called again with what follows.
  using Use = std::function<void(SweepRecord&&, std::size_t place, std::size_t length)>;
  std::size_t decode(std::string_view bytes, const Use& use);
  const std::vector<NameList>& names() const { return names_; }

 private:
  std::vector<NameList> names_;
  std::size_t place_ = 0;
};

/// The tables of the first record in `bytes`.
std::vector<SweepBlock> decode_blocks(std::string_view bytes);

/// A frame of its own kind, for what precedes the records of a journal.
void encode_text(std::string_view text, std::string& bytes);
/// The text of the first frame, and where the next begins; 0: the first frame is none of a text, or not whole.
std::size_t decode_text(std::string_view bytes, std::string& text);

}  // namespace stickslip
