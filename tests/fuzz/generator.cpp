// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "stickslip/io/fclib.hpp"
#include "tests/fuzz/model_seeds.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/unit/fclib_samples.hpp"

namespace stickslip::fuzz {

namespace {

/// Bytes that mean something to one of the formats, and bytes that mean nothing anywhere.
const std::vector<std::string> kPieces = {"[",
                                          "]",
                                          "[[",
                                          "]]",
                                          "{",
                                          "}",
                                          "\"",
                                          "'",
                                          "\"\"\"",
                                          "'''",
                                          "\\",
                                          "\n",
                                          "\r",
                                          "#",
                                          "=",
                                          ".",
                                          ",",
                                          ";",
                                          "-",
                                          "+",
                                          "_",
                                          "0x",
                                          "0b1",
                                          "1e9",
                                          "inf",
                                          "nan",
                                          "true",
                                          "1979-05-27",
                                          "07:32:00",
                                          "\\u00e9",
                                          "\\U0010FFFF",
                                          "\xC2\xA7",
                                          "\xC2\xA0",
                                          "\xE2\x80\x83",
                                          "\xE2\x80\xA8",
                                          "\xEF\xBB\xBF",
                                          "\xEF\xBB\xB5",
                                          "\xCC\xAA",
                                          "\xED\xA0\x80",
                                          "\xF0\x9F\x98\x80",
                                          std::string(1, '\0'),
                                          "\x7F",
                                          "\x0B",
                                          "x1",
                                          "i",
                                          "pi",
                                          "sin(",
                                          ")",
                                          "*",
                                          "\"x1\"",
                                          "[run]\n",
                                          "[[friction]]\n",
                                          "[[contact]]\n",
                                          "a.b.c = 1\n",
                                          "\\\n",
                                          "\\ \n \xC2\xA7",
                                          "floor(",
                                          "mod(t,",
                                          "road(",
                                          "t",
                                          "%%",
                                          " symmetric",
                                          "/0",
                                          "^",
                                          "<",
                                          " and ",
                                          "count = 3\n",
                                          "event",
                                          "moreau",
                                          "splitting",
                                          "viscoelastic"};

const std::vector<std::string> kNumbers = {"0",
                                           "-0.0",
                                           "1",
                                           "-1",
                                           "2",
                                           "3",
                                           "1e9",
                                           "-1e9",
                                           "1e-9",
                                           "1e160",
                                           "-1e160",
                                           "1e-160",
                                           "1e300",
                                           "1e308",
                                           "-1e300",
                                           "1e-300",
                                           "5e-324",
                                           "1e40",
                                           "1e-40",
                                           "1e15",
                                           "0.5",
                                           "1e6",
                                           "1e-6",
                                           "1e20",
                                           "1e-20",
                                           "inf",
                                           "nan",
                                           "7",
                                           "1.0000000000000002",
                                           "4503599627370496"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Begin and length of every number in a text.
std::vector<std::pair<std::size_t, std::size_t>> numbers_in(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char before = at > 0 ? text[at - 1] : ' ';
    const bool starts = is_digit(text[at]) && !is_digit(before) && before != '.' && before != '_' && before != 'e' &&
                        !(before >= 'a' && before <= 'z');
    if (!starts) continue;
    std::size_t end = at;
    while (end < text.size() &&
           (is_digit(text[end]) || text[end] == '.' || text[end] == 'e' || (text[end] == '-' && text[end - 1] == 'e')))
      ++end;
    found.emplace_back(at, end - at);
    at = end;
  }
  return found;
}

std::string with_other_numbers(std::string text, std::mt19937_64& random) {
  const std::size_t changes = 1 + random() % 3;
  for (std::size_t k = 0; k < changes; ++k) {
    const auto numbers = numbers_in(text);
    if (numbers.empty()) return text;
    const auto [begin, length] = numbers[random() % numbers.size()];
    text.replace(begin, length, kNumbers[random() % kNumbers.size()]);
  }
  return text;
}

std::string with_other_bytes(std::string text, std::mt19937_64& random) {
  const std::size_t changes = 1 + random() % 3;
  for (std::size_t k = 0; k < changes && !text.empty(); ++k) {
    const std::size_t at = random() % text.size(), length = 1 + random() % 8;
    switch (random() % 6) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << (random() % 8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, kPieces[random() % kPieces.size()]);
        break;
      case 3:
        if (random() % 4 == 0) text.resize(at);
        break;
      case 4:
        text.insert(at, text.substr(random() % text.size(), length));
        break;
      default:
        text[at] = static_cast<char>(random());
        break;
    }
  }
  return text;
}

/// A line of one seed put into another: keys where they do not belong.
std::string with_a_line_of(std::string text, const std::string& other, std::mt19937_64& random) {
  const auto line_at = [&](const std::string& of) {
    const std::size_t begin = of.rfind('\n', random() % of.size());
    return begin == std::string::npos ? std::size_t{0} : begin + 1;
  };
  const std::size_t from = line_at(other), to = line_at(text);
  text.insert(to, other.substr(from, other.find('\n', from) - from + 1));
  return text;
}

}  // namespace

std::vector<std::string> seeds(std::string_view target) {
  if (target == "model") return {kMatricesSeed, kFileSeed, kContactSeed, kEquationsSeed, kSoftSeed, kBodiesSeed};
  if (target == "robot") return {kUrdfSeed, kMjcfSeed};
  if (target == "mesh")
    return {
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0.5\nendloop\nendfacet\n"
        "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0.2 0.3 1\nendloop\nendfacet\nendsolid a\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1 2 3\nf 1//1 2//1 4//1\nf -1 -2 -3\n",
        std::string(80, ' ') + std::string("\2\0\0\0", 4) + std::string(100, '?')};
  if (target == "expression")
    return {"if(t < 1, sin(2*pi*t), v_x^2) + k*road(t)", "floor(3*t)*mod(x, 0.5) - sign(sin(7*t))",
            "min(t, 2, x) + max(abs(t - 1), atan2(t, -1)) > 0.5 and not (x == 2)",
            "exp(-t^2)/sqrt(1 + x^2) + log(2 + t)*tanh(v_x) - acos(0.5)*t^0.3", "road(sin(t)) + road(x) + tan(t)"};
  if (target == "table")
    return {"# load\nt, f\n0, 1\n1, 2\n1.5, 5\n2, -3e-1\n", "0;1;2\n0.5;2;3\n1;4;5\n", "0 1\n1 2\n2 0\n"};
  if (target == "matrix")
    return {"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 2\n",
            "%%MatrixMarket matrix array real general\n% comment\n2 2\n1\n2\n3\n4\n",
            "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 5\n"};
  return {};
}

Generator::Generator(std::uint64_t seed, std::filesystem::path folder) : random_(seed) {
  std::ofstream(folder / "m.mtx") << seeds("matrix")[0];
  std::ofstream(folder / "load.csv") << "t, f\n0, 1\n1, 2\n";
  const std::filesystem::path sample = folder / "sample.hdf5";
  std::mt19937 engine(1);
  const GlobalContactProblem problem = samples::random_global(engine, 3, 2, 1);
  write_fclib(sample, problem);
  const FclibSolution solution = expand(problem, samples::random_vector(engine, 7));
  write_fclib_solution(sample, sample, solution);
  write_fclib_guesses(sample, sample, {solution});
  std::ifstream stream(sample, std::ios::binary);
  fclib_sample_.assign(std::istreambuf_iterator<char>(stream), {});
}

std::string Generator::next(std::string_view target) {
  if (target == "fclib") return with_other_bytes(fclib_sample_, random_);
  const std::vector<std::string> valid = seeds(target);
  const std::string& seed = valid[random_() % valid.size()];
  switch (random_() % 8) {
    case 0:
    case 1:
    case 2:
    case 3:
      return with_other_numbers(seed, random_);
    case 4:
    case 5:
      return with_other_bytes(seed, random_);
    case 6:
      return with_other_bytes(with_other_numbers(seed, random_), random_);
    default:
      return with_other_numbers(with_a_line_of(seed, valid[random_() % valid.size()], random_), random_);
  }
}

}  // namespace stickslip::fuzz
