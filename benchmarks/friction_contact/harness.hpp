// SPDX-License-Identifier: Apache-2.0

// Common to the programs of the friction-contact benchmark: arguments, clock, the error of a result, the JSON line.

#pragma once

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "stickslip/io/fclib.hpp"

namespace contact_benchmark {

// CPU time of the calling thread.
inline double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The process is killed when it has used more CPU time than `seconds`, whatever it is doing.
inline void limit_cpu(double seconds) {
  const auto limit = static_cast<rlim_t>(std::ceil(cpu_seconds() + seconds)) + 1;
  const rlimit bound{limit, limit};
  setrlimit(RLIMIT_CPU, &bound);
}

struct Arguments {
  std::vector<std::string> files;
  std::map<std::string, std::string> options;

  double number(const std::string& name, double otherwise) const {
    const auto found = options.find(name);
    return found == options.end() ? otherwise : std::atof(found->second.c_str());
  }
  std::string text(const std::string& name, const std::string& otherwise) const {
    const auto found = options.find(name);
    return found == options.end() ? otherwise : found->second;
  }
};

inline Arguments parse(int argc, char** argv, int first) {
  Arguments arguments;
  for (int k = first; k < argc; ++k) {
    const std::string word = argv[k];
    if (!word.starts_with("--")) {
      arguments.files.push_back(word);
    } else if (k + 1 < argc) {
      arguments.options[word.substr(2)] = argv[++k];
    } else {
      std::fprintf(stderr, "%s: %s needs a value\n", argv[0], word.c_str());
      std::exit(2);
    }
  }
  return arguments;
}

inline stickslip::LocalContactProblem read_local(const std::string& file) {
  const stickslip::FclibProblem problem = stickslip::read_fclib(file);
  if (const auto* local = std::get_if<stickslip::LocalContactProblem>(&problem)) return *local;
  return stickslip::condense(std::get<stickslip::GlobalContactProblem>(problem));
}

// JSON has no NaN.
inline std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

inline std::string json_text(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return text + "\"";
}

// How often a solve is repeated: once if it takes longer than `patience`, else up to `most`.
inline int repetitions(double first_seconds, int most, double patience = 2.0) {
  return std::clamp(static_cast<int>(patience / std::max(first_seconds, 1e-9)), 1, most);
}

}  // namespace contact_benchmark
