// SPDX-License-Identifier: Apache-2.0
// What nearly every source includes, parsed once (STICKSLIP_PRECOMPILE_HEADERS). Nothing of our own: it would be
// compiled anew with every change.
#include <fmt/format.h>

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>
