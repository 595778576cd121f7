// SPDX-License-Identifier: Apache-2.0
// Results in the browser: a server for this machine alone, until Ctrl-C.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "cli/view_server.hpp"

namespace stickslip::cli {

int view(const ViewCommand& command) {
  catch_interrupts();
  ViewServer server(command.folders.empty() ? std::vector<std::string>{"."} : command.folders, command.port);
  const std::string address = server.address();
  if (command.json) {
    write_out(nlohmann::json{{"address", address}}.dump() + "\n");
  } else {
    print_out("{}\nOnly programs on this machine that know this address can see it. Ctrl-C ends it.\n", address);
  }
  static_cast<void>(output_failure());  // flushed: others wait for the address
  const bool desktop = std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (!command.no_browser && !command.json && desktop && isatty(STDOUT_FILENO))
    if (std::system(fmt::format("xdg-open '{}' >/dev/null 2>&1 &", address).c_str()) != 0)
      print_error("stickslip: no browser could be opened; open the address above\n");
  server.serve(interrupt_request());
  return kSuccess;
}

}  // namespace stickslip::cli
