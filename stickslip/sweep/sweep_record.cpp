// SPDX-License-Identifier: Apache-2.0
#include "stickslip/sweep/sweep_record.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

namespace stickslip {

namespace {

enum class FrameKind : std::uint8_t { text = 1, names, record };
constexpr std::size_t kHead = sizeof(std::uint64_t) + sizeof(std::uint32_t);

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t c = n;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[n] = c;
  }
  return table;
}

std::uint32_t crc32(std::string_view bytes) {
  static constexpr auto table = crc_table();
  std::uint32_t c = 0xFFFFFFFFu;
  for (const char b : bytes) c = table[(c ^ static_cast<unsigned char>(b)) & 0xFF] ^ (c >> 8);
  return ~c;
}

template <class Number>
void put(std::string& bytes, Number value) {
  static_assert(std::is_arithmetic_v<Number>);
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}
void put_text(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::uint32_t>(text.size()));
  bytes.append(text);
}
void put_texts(std::string& bytes, const std::vector<std::string>& texts) {
  put(bytes, static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) put_text(bytes, text);
}
void put_numbers(std::string& bytes, const std::vector<double>& values) {
  put(bytes, static_cast<std::uint64_t>(values.size()));
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

/// Takes values off the front; `ok` falls where there are too few bytes.
struct Reader {
  std::string_view rest;
  bool ok = true;

  std::string_view take(std::size_t count) {
    if (count > rest.size()) ok = false;
    const std::string_view taken = ok ? rest.substr(0, count) : std::string_view();
    if (ok) rest.remove_prefix(count);
    return taken;
  }
  template <class Number>
  Number get() {
    Number value{};
    if (const std::string_view raw = take(sizeof value); ok) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(get<std::uint32_t>())); }
  std::vector<std::string> texts() {
    std::vector<std::string> list;
    for (std::uint32_t n = get<std::uint32_t>(); ok && n > 0; --n) list.push_back(text());
    return list;
  }
  std::vector<double> numbers() {
    const std::string_view raw = take(get<std::uint64_t>() * sizeof(double));
    std::vector<double> values(raw.size() / sizeof(double));
    if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
};

/// fill() appends the payload; the head is filled in afterwards.
template <class Fill>
void add_frame(std::string& bytes, FrameKind kind, const Fill& fill) {
  const std::size_t head = bytes.size();
  bytes.append(kHead, '\0');
  put(bytes, static_cast<std::uint8_t>(kind));
  fill();
  const std::string_view payload = std::string_view(bytes).substr(head + kHead);
  const std::uint64_t size = payload.size();
  const std::uint32_t check = crc32(payload);
  std::memcpy(bytes.data() + head, &size, sizeof size);
  std::memcpy(bytes.data() + head + sizeof size, &check, sizeof check);
}

/// The payload of the first frame, if it is whole.
std::optional<std::string_view> first_payload(std::string_view bytes) {
  Reader head{bytes};
  const std::uint64_t size = head.get<std::uint64_t>();
  const std::uint32_t check = head.get<std::uint32_t>();
  const std::string_view payload = head.take(size);
  if (!head.ok || payload.empty() || crc32(payload) != check) return std::nullopt;
  return payload;
}

/// With the number of its names; in.ok tells whether it was whole.
std::pair<SweepRecord, std::uint32_t> read_record(Reader& in) {
  SweepRecord record;
  record.index = static_cast<long>(in.get<std::int64_t>());
  record.status = static_cast<Status>(in.get<std::uint8_t>());
  const std::uint32_t number = in.get<std::uint32_t>();
  record.message = in.text();
  record.values = in.numbers();
  for (std::uint32_t n = in.get<std::uint32_t>(); in.ok && n > 0; --n) {
    SweepBlock block;
    block.name = in.text();
    block.columns = in.texts();
    block.values = in.numbers();
    record.blocks.push_back(std::move(block));
  }
  return {std::move(record), number};
}

}  // namespace

void RecordEncoder::encode(const SweepRecord& record, std::string& bytes) {
  std::uint32_t number = 0;  // 0: no names
  if (record.names) {
    auto found = std::find_if(known_.begin(), known_.end(),
                              [&](const NameList& list) { return list == record.names || *list == *record.names; });
    if (found == known_.end()) {
      add_frame(bytes, FrameKind::names, [&] { put_texts(bytes, *record.names); });
      known_.push_back(record.names);
      found = known_.end() - 1;
    }
    number = static_cast<std::uint32_t>(found - known_.begin()) + 1;
  }
  add_frame(bytes, FrameKind::record, [&] {
    put(bytes, static_cast<std::int64_t>(record.index));
    put(bytes, static_cast<std::uint8_t>(record.status));
    put(bytes, number);
    put_text(bytes, record.message);
    put_numbers(bytes, record.values);
    put(bytes, static_cast<std::uint32_t>(record.blocks.size()));
    for (const SweepBlock& block : record.blocks) {
      put_text(bytes, block.name);
      put_texts(bytes, block.columns);
      put_numbers(bytes, block.values);
    }
  });
}

std::size_t RecordDecoder::decode(std::string_view bytes, const Use& use) {
  std::size_t used = 0;
  while (const auto payload = first_payload(bytes.substr(used))) {
    Reader in{*payload};
    const auto kind = static_cast<FrameKind>(in.get<std::uint8_t>());
    const std::size_t length = kHead + payload->size();
    if (kind == FrameKind::names) {
      names_.push_back(std::make_shared<const std::vector<std::string>>(in.texts()));
    } else if (kind == FrameKind::record) {
      auto [record, number] = read_record(in);
      if (!in.ok || number > names_.size()) break;
      if (number > 0) record.names = names_[number - 1];
      use(std::move(record), place_ + used, length);
    }
    used += length;
  }
  place_ += used;
  return used;
}

std::vector<SweepBlock> decode_blocks(std::string_view bytes) {
  while (const auto payload = first_payload(bytes)) {
    Reader in{*payload};
    if (static_cast<FrameKind>(in.get<std::uint8_t>()) == FrameKind::record) return read_record(in).first.blocks;
    bytes.remove_prefix(kHead + payload->size());
  }
  return {};
}

void encode_text(std::string_view text, std::string& bytes) {
  add_frame(bytes, FrameKind::text, [&] { put_text(bytes, text); });
}

std::size_t decode_text(std::string_view bytes, std::string& text) {
  const auto payload = first_payload(bytes);
  if (!payload) return 0;
  Reader in{*payload};
  if (static_cast<FrameKind>(in.get<std::uint8_t>()) != FrameKind::text) return 0;
  text = in.text();
  return in.ok ? kHead + payload->size() : 0;
}

}  // namespace stickslip
