// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/nearest_name.hpp"

#include <algorithm>
#include <vector>

namespace stickslip {

namespace {
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}
}  // namespace

std::string nearest_name(std::string_view misspelt, std::span<const std::string> known) {
  std::string best;
  std::size_t smallest = std::max<std::size_t>(2, misspelt.size() / 3) + 1;
  for (const std::string& name : known) {
    const bool beginning = misspelt.size() >= 2 && name.size() > misspelt.size() && name.starts_with(misspelt);
    const std::size_t distance = beginning ? 1 : edit_distance(misspelt, name);
    if (distance < smallest && (beginning || 2 * distance <= std::max(misspelt.size(), name.size()))) {
      smallest = distance;
      best = name;
    }
  }
  return best;
}

std::string name_hint(std::string_view misspelt, std::span<const std::string> known) {
  if (const std::string near = nearest_name(misspelt, known); !near.empty()) return " (did you mean '" + near + "'?)";
  if (known.empty()) return "";
  std::string list;
  for (std::size_t i = 0; i < known.size() && i < 20; ++i) list += (i ? ", " : "") + known[i];
  return " (known: " + list + (known.size() > 20 ? ", ..." : "") + ")";
}

}  // namespace stickslip
