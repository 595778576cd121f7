// SPDX-License-Identifier: Apache-2.0
// --set KEY=VALUE: changes to the document before it is read.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::model_detail {

namespace {

/// Setting one drops the other if the file gives it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kExclusive{
    {{"step", "steps"}, {"output_step", "output_times"}, {"on", "direction"}}};

std::vector<std::string> split(std::string_view key) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= key.size();) {
    const std::size_t to = std::min(key.find('.', from), key.size());
    parts.emplace_back(key.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

/// By index, or by name where the elements are tables; laws without a name are <list>1, <list>2, ... What is wrong
/// otherwise is thrown by `fail`.
template <class Fail>
std::size_t find_element(const TomlArray& array, const std::string& path, const std::string& list,
                         const std::string& part, Fail&& fail) {
  if (const auto index = parse_integer(part)) {
    if (*index < 0 || *index >= static_cast<long long>(array.size()))
      fail(fmt::format("'{}' has {} elements; the index {} must lie in 0 .. {}", path, array.size(), part,
                       static_cast<long long>(array.size()) - 1));
    return static_cast<std::size_t>(*index);
  }
  std::vector<std::string> known;
  for (std::size_t n = 0; n < array.size(); ++n) {
    const TomlTable* table = array[n].table();
    const TomlNode* name = table ? find_key(*table, "name") : nullptr;
    known.push_back(name && name->text() ? *name->text() : fmt::format("{}{}", list, n + 1));
    if (known.back() == part) return n;
  }
  fail(fmt::format("'{}' has no element '{}'{}", path, part, hint(part, known)));
  return 0;
}

class Setting {
 public:
  Setting(const ModelContext& context, int number)
      : number_(number), text_(context.settings[static_cast<std::size_t>(number)]) {
    const std::size_t equals = text_.find('=');
    if (equals == std::string::npos) fail("write KEY=VALUE, as in run.step=0.001");
    const std::string key = text_.substr(0, equals);
    value_ = text_.substr(equals + 1);
    parts_ = split(key);
    if (std::any_of(parts_.begin(), parts_.end(), [](const std::string& part) { return part.empty(); }))
      fail("a part of the key is empty");
    constexpr std::size_t kMostParts = 16;
    if (parts_.size() > kMostParts) fail(fmt::format("the key has more than {} parts", kMostParts));
    if (find_toml_text_error("# " + key) || find_toml_text_error("# " + value_.substr(0, value_.find('\n'))))
      fail("the text is not valid UTF-8");
  }

  void apply(TomlTable& root) const {
    if (parts_.size() > 1 && parts_[0] == "parameters") require_parameter(root);
    const TomlPlace place{1, 1, number_, -1};
    TomlTable* table = &root;
    TomlNode* node = nullptr;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const std::string& part = parts_[k];
      if (table) {
        const bool last = k + 1 == parts_.size();
        if (last) drop_alternative(*table, part);
        TomlEntry* entry = find_entry(*table, part);
        if (!entry) entry = &table->emplace_back(TomlEntry{part, place, {TomlTable{}, place}});
        if (last) entry->place = place;
        node = &entry->node;
      } else if (node->array() && by_coordinate(k) && !parse_integer(part)) {
        node = &as_table(*node).emplace_back(TomlEntry{part, place, {TomlTable{}, place}}).node;
      } else if (TomlArray* array = node->array()) {
        node = &(*array)[find_element(*array, joined(k), parts_[k - 1], part,
                                      [this](const std::string& message) { fail(message); })];
      } else {
        fail(fmt::format("{} is {}, not a table", in_quotes(joined(k)), describe(*node)));
      }
      table = node->table();
    }
    *node = parse_toml_value(value_, number_);
    if (node->text() && looks_like_list(value_))
      fail(fmt::format("this list is not valid TOML; expressions in it need quotes: --set '{}={}'",
                       joined(parts_.size()), with_quotes(value_)));
  }

 private:
  static bool looks_like_list(std::string_view value) { return value.starts_with('[') && value.ends_with(']'); }
  /// ["20*0.03", 1] for [20*0.03, 1]; commas within brackets and parentheses separate nothing.
  static std::string with_quotes(std::string_view list) {
    std::string out = "[", item;
    int depth = 0;
    auto end_item = [&] {
      item.erase(0, item.find_first_not_of(' '));
      const bool inner = looks_like_list(item);
      const bool text = !inner && parse_toml_value(item, 0).text() && !item.starts_with('"');
      out += inner ? with_quotes(item) : text ? fmt::format("\"{}\"", item) : item;
      item.clear();
    };
    for (const char c : list.substr(1, list.size() - 2)) {
      depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      if (c != ',' || depth > 0) {
        item += c;
        continue;
      }
      end_item();
      out += ", ";
    }
    end_item();
    return out + "]";
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(fmt::format("--set {}: {}", text_, message));
  }

  std::string joined(std::size_t count) const {
    std::string key;
    for (std::size_t k = 0; k < count; ++k) key += (k ? "." : "") + parts_[k];
    return key;
  }

  /// initial.position.x: the names of coordinates are not known yet; a table leaves that to its reader.
  bool by_coordinate(std::size_t count) const {
    return count == 2 && parts_[0] == "initial" && (parts_[1] == "position" || parts_[1] == "velocity");
  }
  static TomlTable& as_table(TomlNode& node) {
    TomlTable table;
    for (TomlNode& item : *node.array())
      table.push_back(TomlEntry{std::to_string(table.size()), item.place, std::move(item)});
    node.value = std::move(table);
    return *node.table();
  }

  void require_parameter(const TomlTable& root) const {
    const TomlNode* node = find_key(root, "parameters");
    std::vector<std::string> known;
    if (node && node->table())
      for (const TomlEntry& entry : *node->table()) known.push_back(entry.key);
    for (const std::string& name : known)
      if (name == parts_[1]) return;
    fail(fmt::format("the model has no parameter '{}'{}", parts_[1], hint(parts_[1], known)));
  }

  static void drop_alternative(TomlTable& table, std::string_view key) {
    for (const auto& [one, other] : kExclusive) {
      if (key != one && key != other) continue;
      const TomlEntry* entry = find_entry(table, key == one ? other : one);
      if (entry && entry->place.setting < 0) table.erase(table.begin() + (entry - table.data()));
    }
  }

  int number_;
  const std::string& text_;
  std::vector<std::string> parts_;
  std::string value_;
};

}  // namespace

void apply_settings(TomlTable& root, const ModelContext& context) {
  for (std::size_t k = 0; k < context.settings.size(); ++k) Setting(context, static_cast<int>(k)).apply(root);
}

const TomlNode& find_value(const TomlTable& root, const std::string& key) {
  const auto fail = [&](const std::string& message) { throw InputError(fmt::format("'{}': {}", key, message)); };
  const TomlTable* table = &root;
  const TomlNode* node = nullptr;
  std::string path, list;
  for (const std::string& part : split(key)) {
    if (table) {
      node = find_key(*table, part);
      std::vector<std::string> known;
      for (const TomlEntry& entry : *table) known.push_back(entry.key);
      if (!node)
        fail(fmt::format("{} has no '{}'{}", path.empty() ? "the model" : in_quotes(path), part, hint(part, known)));
    } else if (const TomlArray* array = node->array()) {
      node = &(*array)[find_element(*array, path, list, part, fail)];
    } else {
      fail(fmt::format("{} is {}, not a table", in_quotes(path), describe(*node)));
    }
    path += (path.empty() ? "" : ".") + part;
    list = part;
    table = node->table();
  }
  return *node;
}

}  // namespace stickslip::model_detail
