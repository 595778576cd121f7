// SPDX-License-Identifier: Apache-2.0
// fuzz MINUTES [SEED] [FOLDER]: damaged input for every target until the time is over.
//
// A child process takes the cases one by one and writes each into shared memory before it starts; the parent watches.
// What kills the child, takes longer than kPatience, or throws anything but InputError is kept in FOLDER as
// <target>-<number>.<kind>, and the work goes on with another child. Exit code 1 if anything was found.
// fuzz --replay TARGET FILE: one kept case again.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/fuzz/targets.hpp"

namespace {

using namespace stickslip::fuzz;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::size_t kLongestInput = std::size_t{1} << 20;
constexpr std::chrono::seconds kPatience{30};  // a run hears a stop request after one second
constexpr rlim_t kMemory = rlim_t{4} << 30;    // bytes: what needs more is refused or fails

/// The case in work.
struct Slot {
  std::atomic<unsigned long> number;
  std::atomic<unsigned long> counts[2];  ///< accepted, refused
  std::atomic<std::size_t> target, length;
  char failed;  ///< an exception
  char message[500];
  char input[kLongestInput];
};

void store(Slot& slot, std::size_t target, const std::string& input) {
  slot.target = target;
  slot.length = std::min(input.size(), kLongestInput);
  std::memcpy(slot.input, input.data(), slot.length);
  slot.failed = 0;
  ++slot.number;
}

[[noreturn]] void work(Slot& slot, std::uint64_t seed, const fs::path& folder) {
  const rlimit memory{kMemory, kMemory}, core{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
  Generator generator(seed, folder);
  for (;;) {
    // Half of the cases are models.
    const std::size_t pick = slot.number % 8, target = pick < 4 ? 0 : pick - 3;
    const std::string input = generator.next(kTargets[target]);
    store(slot, target, input);
    try {
      ++slot.counts[feed(kTargets[target], input, folder) == Outcome::refused];
    } catch (const std::exception& error) {
      std::strncpy(slot.message, error.what(), sizeof slot.message - 1);
      slot.failed = 1;
      _exit(3);
    }
  }
}

void keep(const Slot& slot, const fs::path& folder, const std::string& kind) {
  const fs::path file = folder / fmt::format("{}-{}.{}", kTargets[slot.target], slot.number.load(), kind);
  std::ofstream(file, std::ios::binary).write(slot.input, static_cast<std::streamsize>(slot.length.load()));
  fmt::print("{}: {}{}\n", kind, file.string(), slot.failed ? fmt::format(": {}", slot.message) : "");
  std::cout.flush();
}

int fuzz(double minutes, std::uint64_t seed, const fs::path& folder) {
  void* memory = mmap(nullptr, sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  Slot& slot = *new (memory) Slot{};
  const fs::path scratch = folder / "scratch";
  fs::create_directories(scratch);
  fmt::print("seed {}, findings in {}\n", seed, folder.string());
  std::cout.flush();
  const auto end = Clock::now() + std::chrono::duration<double>(60 * minutes);
  int found = 0;
  for (std::uint64_t child_number = 0; Clock::now() < end; ++child_number) {
    const pid_t child = fork();
    if (child == 0) work(slot, seed + child_number, scratch);
    unsigned long seen = slot.number;
    auto since = Clock::now();
    int status = 0;
    bool hangs = false, over = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
      usleep(100'000);
      if (slot.number != seen) {
        seen = slot.number;
        since = Clock::now();
      }
      hangs = Clock::now() - since > kPatience;
      over = Clock::now() > end;
      if (!hangs && !over) continue;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    if (over && !hangs) break;
    keep(slot, folder, hangs ? "hang" : slot.failed ? "exception" : "crash");
    ++found;
  }
  fmt::print("{} cases: {} accepted, {} refused, {} found\n", slot.number.load(), slot.counts[0].load(),
             slot.counts[1].load(), found);
  fs::remove_all(scratch);
  return found > 0;
}

int replay(const std::string& target, const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(stream), {}};
  const fs::path scratch = fs::temp_directory_path() / fmt::format("stickslip_replay_{}", getpid());
  fs::create_directories(scratch);
  Generator(0, scratch);
  const Outcome outcome = feed(target, input, scratch);
  fs::remove_all(scratch);
  fmt::print("{}\n", outcome == Outcome::accepted ? "accepted" : "refused");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--replay") return replay(argv[2], argv[3]);
  if (argc < 2) {
    fmt::print(stderr, "fuzz MINUTES [SEED] [FOLDER], or fuzz --replay TARGET FILE\n");
    return 2;
  }
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  return fuzz(std::strtod(argv[1], nullptr), seed, argc > 3 ? argv[3] : "fuzz-findings");
}
