// SPDX-License-Identifier: Apache-2.0
// What a run remembers from step to step, as a sequence of 64-bit words that is exact to the last bit.
//
// One function writes and reads: exchange(x) appends x, or sets x to what was appended at this place. So the two orders
// cannot differ. Sections have a label; one whose label is not the expected one (another scheme, another version) is
// passed over, and nothing of it is read.
//
//   Memory memory;                        memory.rewind();
//   if (memory.open("a")) {               if (memory.open("a")) { ... the same calls ... }
//     memory.exchange(x);
//     memory.close();
//   }
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

class Memory {
 public:
  Memory() = default;
  /// Ready to be read.
  explicit Memory(std::vector<std::int64_t> words) : words_(std::move(words)), reading_(true) {}

  bool empty() const { return words_.empty(); }
  bool reading() const { return reading_; }
  const std::vector<std::int64_t>& words() const { return words_; }
  /// Forgets everything; written from here on. Keeps its room.
  void clear() {
    words_.clear();
    at_ = 0;
    reading_ = false;
  }
  void rewind() {
    at_ = 0;
    reading_ = true;
  }

  /// False: the section has another label, or there is none; do not read it.
  bool open(std::string_view label) {
    if (!reading_) {
      words_.push_back(hash(label));
      begin_ = words_.size();
      words_.push_back(0);
      return true;
    }
    if (at_ + 2 > words_.size()) return false;
    const bool known = words_[at_] == hash(label);
    end_ = at_ + 2 + static_cast<std::size_t>(words_[at_ + 1]);
    at_ = known ? at_ + 2 : end_;
    return known;
  }
  void close() {
    if (reading_) {
      at_ = end_;
    } else {
      words_[begin_] = static_cast<std::int64_t>(words_.size() - begin_ - 1);
    }
  }

  template <class T>
  void exchange(T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "store its parts one by one");
    bytes(&value, sizeof(T));
  }
  template <class T>
  void exchange(std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>, "store its parts one by one");
    values.resize(size(values.size()));
    bytes(values.data(), values.size() * sizeof(T));
  }
  void exchange(Vector& values) {
    values.resize(static_cast<Index>(size(static_cast<std::size_t>(values.size()))));
    bytes(values.data(), static_cast<std::size_t>(values.size()) * sizeof(double));
  }
  void exchange(DenseMatrix& values) {
    const std::size_t rows = size(static_cast<std::size_t>(values.rows())),
                      columns = size(static_cast<std::size_t>(values.cols()));
    if (reading_ && columns > 0 && rows > 8 * (words_.size() - at_) / columns)
      throw std::length_error("the memory of the run is damaged");
    values.resize(static_cast<Index>(rows), static_cast<Index>(columns));
    bytes(values.data(), rows * columns * sizeof(double));
  }

 private:
  static std::int64_t hash(std::string_view label) {  // FNV-1a
    std::uint64_t value = 0xcbf29ce484222325ULL;
    for (const char c : label) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return static_cast<std::int64_t>(value);
  }
  std::size_t size(std::size_t now) {
    auto number = static_cast<std::int64_t>(now);
    bytes(&number, sizeof number);
    // A damaged file must not ask for more than there is.
    if (reading_ && (number < 0 || static_cast<std::size_t>(number) > 8 * (words_.size() - at_)))
      throw std::length_error("the memory of the run is damaged");
    return static_cast<std::size_t>(number);
  }
  void bytes(void* data, std::size_t count) {
    const std::size_t words = (count + 7) / 8;
    if (reading_) {
      if (words > words_.size() - at_) throw std::length_error("the memory of the run is damaged");
      if (count > 0) std::memcpy(data, words_.data() + at_, count);
      at_ += words;
    } else {
      const std::size_t first = words_.size();
      words_.resize(first + words, 0);
      if (count > 0) std::memcpy(words_.data() + first, data, count);
    }
  }

  std::vector<std::int64_t> words_;
  std::size_t at_ = 0, begin_ = 0, end_ = 0;
  bool reading_ = false;
};

}  // namespace stickslip
