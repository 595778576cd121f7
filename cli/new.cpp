// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <vector>

#include "cli/commands.hpp"
#include "cli/starters.hpp"
#include "cli/terminal.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/output_file.hpp"

namespace stickslip::embedded {
extern const std::string_view starter_matrices, starter_equations, starter_bodies, starter_tree, starter_contact,
    starter_periodic, starter_shoot, starter_fit, starter_fit_data, starter_sweep;
}

namespace stickslip::cli {

std::span<const Starter> starter_table() {
  using namespace embedded;
  static const std::array<Starter, 9> table{{
      {"matrices", "run", "M x'' + B x' + K x = f with friction", starter_matrices},
      {"equations", "run", "coordinates of your choice, from energies", starter_equations},
      {"bodies", "run", "rigid bodies with shapes that touch, rub and knock", starter_bodies},
      {"tree", "run", "bodies joined by hinges", starter_tree},
      {"contact", "run", "unilateral contact with friction and impact", starter_contact},
      {"periodic", "periodic", "a periodic motion and its stability", starter_periodic},
      {"shoot", "shoot", "a two-point boundary value problem", starter_shoot},
      {"fit", "fit", "numbers from measurements", starter_fit, starter_fit_data},
      {"sweep", "sweep", "many runs over numbers of a model", starter_sweep},
  }};
  return table;
}

std::string starter_kinds() {
  std::string kinds;
  for (const Starter& starter : starter_table()) kinds += fmt::format("{}{}", kinds.empty() ? "" : " | ", starter.kind);
  return kinds;
}

namespace {

const Starter& find_starter(const std::string& kind) {
  std::vector<std::string> known;
  for (const Starter& starter : starter_table()) {
    if (starter.kind == kind) return starter;
    known.emplace_back(starter.kind);
  }
  throw InputError(fmt::format("new: there is no kind '{}'{}", kind, name_hint(kind, known)));
}

void write_new(const std::filesystem::path& path, std::string_view text, bool force) {
  std::error_code ignored;
  if (!force && std::filesystem::exists(path, ignored))
    throw InputError(
        fmt::format("{}: there is such a file; name another after the kind, or give --force", path.string()));
  write_text_file(path, text);
}

}  // namespace

int new_model(const NewCommand& command) {
  if (command.kind.empty()) {
    for (const Starter& starter : starter_table()) print_out("{:<12}{}\n", starter.kind, starter.description);
    return kSuccess;
  }
  const Starter& starter = find_starter(command.kind);
  std::filesystem::path path = command.file.empty() ? command.kind + ".toml" : command.file;
  if (path.extension() != ".toml")
    throw InputError(fmt::format("{}: a model is a .toml file; name it {}.toml", path.string(), path.string()));
  std::string text(starter.text);
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  std::filesystem::path data = path;
  data.replace_extension(".csv");
  replace("stickslip check FILE", "stickslip check " + path.string());
  replace("stickslip " + std::string(starter.command) + " FILE",
          fmt::format("stickslip {} {}", starter.command, path.string()));
  replace(" FILE", " " + path.string());
  if (!starter.data.empty()) {
    replace("fit.csv", data.filename().string());
    write_new(data, starter.data, command.force);
  }
  write_new(path, text, command.force);
  print_out("{} is written; try\n  stickslip {} {}\n", path.string(), starter.command, path.string());
  return kSuccess;
}

}  // namespace stickslip::cli
