// SPDX-License-Identifier: Apache-2.0
#include "cli/view_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "cli/plot.hpp"
#include "cli/report_page.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/io/folder_lock.hpp"
#include "stickslip/io/result_reader.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/sweep/sweep_record.hpp"

// After Eigen, whose names a macro of <resolv.h> in it would change.
#include <httplib.h>

namespace stickslip::embedded {
extern const std::string_view view_page;
}  // namespace stickslip::embedded

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int k = 0; k < 4; ++k) token += fmt::format("{:08x}", random());
  return token;
}

std::optional<std::string> file_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

bool is_result(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"summary.json", "result.h5", "sweep.csv", "sweep.journal"})
    if (fs::exists(folder / name, ignored)) return true;
  return false;
}

bool within(const fs::path& inner, const fs::path& outer) {
  const auto [end, rest] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return end == outer.end();
}

/// Its file grows, or its folder is held. (Who holds it is asked only where nothing has been written for a while.)
bool goes_on(const fs::path& folder, const char* file) {
  constexpr auto kQuiet = std::chrono::seconds(10);
  std::error_code error;
  const auto written = fs::last_write_time(folder / file, error);
  if (!error && fs::file_time_type::clock::now() - written < kQuiet) return true;
  try {
    const FolderLock lock(folder);
    return false;
  } catch (const InputError&) {
    return true;
  }
}

/// Runs, or values of a diagram, that a journal holds.
long journal_records(const fs::path& path) {
  std::string identity;
  const std::string bytes = file_text(path).value_or("");
  const std::size_t from = decode_text(bytes, identity);
  long count = 0;
  if (from > 0)
    RecordDecoder().decode(std::string_view(bytes).substr(from),
                           [&](SweepRecord&&, std::size_t, std::size_t) { ++count; });
  return count;
}

/// A sweep or diagram that is not complete.
void describe_journal(const fs::path& folder, json& entry) {
  constexpr std::uintmax_t kReadable = 256 * kMebibyte;  // beyond, counting would take longer than the next look
  std::error_code ignored;
  entry["status"] = goes_on(folder, "sweep.journal") ? "running" : "killed";
  if (fs::file_size(folder / "sweep.journal", ignored) < kReadable)
    entry["runs"] = journal_records(folder / "sweep.journal");
}

/// What a summary says, or the growing file of a run that has none yet.
json describe_result(const std::string& name, const fs::path& folder) {
  json entry{{"name", name}, {"status", "unknown"}, {"report", fs::exists(folder / "report.html")}};
  if (const std::string table = result_table_name(folder); table.ends_with(".csv")) entry["table"] = table;
  if (const std::optional<std::string> text = file_text(folder / "summary.json")) {
    const json summary = json::parse(*text, nullptr, false);
    if (summary.is_object())
      for (const char* key : {"status", "message", "title", "model", "scheme", "steps", "end_time", "wall_seconds"})
        if (summary.contains(key)) entry[key] = summary[key];
  } else if (fs::exists(folder / "result.h5")) {
    try {
      const ResultStream stream(folder);
      ResultRows last;
      if (stream.rows() > 0) stream.read_rows(stream.rows() - 1, 1, last);
      entry["status"] = stream.note().empty() ? "unknown" : goes_on(folder, "result.h5") ? "running" : "killed";
      entry["rows"] = stream.rows();
      if (last.rows() > 0) entry["t"] = last.t.front();
    } catch (const std::exception& error) {  // half a second old
      entry["message"] = error.what();
    }
  } else if (fs::exists(folder / "sweep.journal")) {
    describe_journal(folder, entry);
  }
  return entry;
}

/// Names of folders may be any bytes.
std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string type_of(const fs::path& path) {
  const std::string ending = path.extension().string();
  for (const auto& [known, type] : {std::pair{".html", "text/html; charset=utf-8"},
                                    {".json", "application/json"},
                                    {".csv", "text/csv; charset=utf-8"},
                                    {".svg", "image/svg+xml"},
                                    {".png", "image/png"},
                                    {".pdf", "application/pdf"}})
    if (ending == known) return type;
  return "application/octet-stream";
}

ReportDocument document_of(const Figure& figure, const std::vector<ResultTable>& tables) {
  ReportDocument document;
  document.title = figure.title;
  document.generator = fmt::format("stickslip {}", version());
  for (const ResultTable& table : tables) document.facts.push_back({"result", table.label});
  for (const FigurePanel& panel : figure.panels) {
    ReportFigure block;
    block.title = fmt::format("{} over {}", panel.y_label, panel.x_label);
    block.x.label = panel.x_label;
    block.y.label = panel.y_label;
    for (const FigureSeries& series : panel.series) {
      ReportSeries curve;
      curve.name = series.label.empty() ? panel.y_label : series.label;
      curve.x = series.x;
      curve.y = series.y;
      curve.points = series.points;
      curve.line = !series.points;
      block.series.push_back(std::move(curve));
    }
    document.blocks.emplace_back(std::move(block));
  }
  return document;
}

double number_of(const httplib::Request& request, const char* key, double otherwise) {
  if (!request.has_param(key) || request.get_param_value(key).empty()) return otherwise;
  const std::optional<double> value = parse_finite_number(request.get_param_value(key));
  if (!value) throw InputError(fmt::format("{}: '{}' is no number", key, request.get_param_value(key)));
  return *value;
}

}  // namespace

struct ViewServer::Service {
  explicit Service(std::vector<std::string> given) : token(random_token()) {
    for (const std::string& folder : given) {
      std::error_code error;
      const fs::path real = fs::canonical(folder, error);
      if (error || !fs::is_directory(real)) throw InputError(fmt::format("{}: there is no such folder", folder));
      folders.push_back(real);
    }
    // The library's own options let a second server share the port.
    server.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      response.set_header("Content-Security-Policy",
                          "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
                          "img-src 'self' data: blob:; "
                          "connect-src 'self'; frame-src 'self'; frame-ancestors 'self'; font-src data:");
      response.set_header("X-Content-Type-Options", "nosniff");
      response.set_header("Referrer-Policy", "no-referrer");
      response.set_header("Cache-Control", "no-store");
      const std::string host = request.get_header_value("Host"), prefix = "/" + token + "/";
      const bool ours = host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
      if (ours && request.path.starts_with(prefix)) return httplib::Server::HandlerResponse::Unhandled;
      response.status = 403;
      response.set_content("Use the whole address that 'stickslip view' printed.\n", "text/plain; charset=utf-8");
      return httplib::Server::HandlerResponse::Handled;
    });
    server.set_exception_handler([](const auto&, httplib::Response& response, const std::exception_ptr& thrown) {
      response.status = 400;
      try {
        std::rethrow_exception(thrown);
      } catch (const std::exception& error) {
        response.set_content(fmt::format("{}\n", error.what()), "text/plain; charset=utf-8");
      }
    });
    const std::string prefix = "/" + token;
    server.Get(prefix + "/", [](const auto&, httplib::Response& response) {
      response.set_content(std::string(embedded::view_page), "text/html; charset=utf-8");
    });
    server.Get(prefix + "/results.json", [this](const auto&, httplib::Response& response) {
      json all = json::array();
      for (const auto& [name, folder] : results()) {
        all.push_back(describe_result(name, folder));
        all.back()["label"] = label_of(name);
      }
      response.set_content(text_of({{"results", all}}), "application/json");
    });
    server.Get(prefix + "/columns.json", [this](const httplib::Request& request, httplib::Response& response) {
      response.set_content(text_of(read_result_table(folder_of(request.get_param_value("r")).string()).names),
                           "application/json");
    });
    server.Get(prefix + "/figure",
               [this](const httplib::Request& request, httplib::Response& response) { figure(request, response); });
    server.Get(prefix + "/file/(.+)",
               [this](const httplib::Request& request, httplib::Response& response) { file(request, response); });
  }

  /// Name in the list → folder: those given, and all below them.
  std::vector<std::pair<std::string, fs::path>> results() const {
    constexpr int kDeepest = 6;
    std::vector<std::pair<std::string, fs::path>> found;
    for (std::size_t k = 0; k < folders.size(); ++k) {
      auto name = [&](const fs::path& folder) {
        return fmt::format("{}:{}", k, fs::relative(folder, folders[k]).string());
      };
      if (is_result(folders[k])) found.emplace_back(name(folders[k]), folders[k]);
      std::error_code ignored;
      for (auto at =
               fs::recursive_directory_iterator(folders[k], fs::directory_options::skip_permission_denied, ignored);
           at != fs::recursive_directory_iterator(); at.increment(ignored)) {
        if (at.depth() > kDeepest) at.disable_recursion_pending();
        if (at->is_directory(ignored) && !at->is_symlink(ignored) && is_result(at->path()))
          found.emplace_back(name(at->path()), at->path());
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  /// What a reader calls it: the path below the folder that was given, with its name where there are several.
  std::string label_of(const std::string& name) const {
    const std::size_t colon = name.find(':');
    const fs::path root = folders[static_cast<std::size_t>(std::stoul(name.substr(0, colon)))].filename(),
                   inner = name.substr(colon + 1);
    if (inner == ".") return root.string();
    return folders.size() > 1 ? (root / inner).string() : inner.string();
  }

  fs::path folder_of(const std::string& name) const {
    for (const auto& [known, folder] : results())
      if (known == name) return folder;
    throw InputError(fmt::format("there is no result '{}' in the folders that are shown", name));
  }

  /// A page, or with as=svg, png or pdf a picture.
  void figure(const httplib::Request& request, httplib::Response& response) const {
    PlotCommand command;
    std::vector<ResultTable> tables;
    for (const auto& [key, value] : request.params)
      if (key == "r") {
        tables.push_back(read_result_table(folder_of(value).string()));
        tables.back().label = label_of(value);
      }
    if (tables.empty()) throw InputError("choose a result first");
    command.x = request.get_param_value("x");
    command.y = request.get_param_value("y");
    command.spectrum = request.get_param_value("kind") == "spectrum";
    command.section = request.get_param_value("kind") == "section" ? number_of(request, "period", 0) : 0;
    command.after = number_of(request, "after", command.after);
    if (command.spectrum) command.x.clear();
    Figure figure = compose_figure(command, tables);
    if (const std::string as = request.get_param_value("as"); !as.empty())
      return response.set_content(drawn(figure, "." + as), type_of("picture." + as));
    figure.title = "Comparison of results";
    response.set_content(report_html(document_of(figure, tables)), "text/html; charset=utf-8");
  }

  /// NAME/FILE: FILE is the last part.
  void file(const httplib::Request& request, httplib::Response& response) const {
    const std::string path = request.matches[1];
    const std::size_t cut = path.rfind('/');
    std::error_code error;
    const fs::path asked = cut == std::string::npos
                               ? fs::path()
                               : fs::canonical(folder_of(path.substr(0, cut)) / path.substr(cut + 1), error);
    const bool inside = !error && std::any_of(folders.begin(), folders.end(),
                                              [&](const fs::path& folder) { return within(asked, folder); });
    const std::optional<std::string> text = inside && fs::is_regular_file(asked) ? file_text(asked) : std::nullopt;
    if (!text) {
      response.status = 404;
      response.set_content("There is no such file in this result.\n", "text/plain; charset=utf-8");
      return;
    }
    response.set_content(*text, type_of(asked));
  }

  std::vector<fs::path> folders;
  std::string token;
  int port = 0;
  httplib::Server server;
};

ViewServer::ViewServer(std::vector<std::string> folders, int port)
    : service_(std::make_unique<Service>(std::move(folders))) {
  service_->port = port > 0 ? (service_->server.bind_to_port("127.0.0.1", port) ? port : -1)
                            : service_->server.bind_to_any_port("127.0.0.1");
  if (service_->port < 0)
    throw InputError(fmt::format(
        "--port {}: cannot listen there; another program does, or it needs rights: leave it out for a free one", port));
}

ViewServer::~ViewServer() = default;

std::string ViewServer::address() const {
  return fmt::format("http://127.0.0.1:{}/{}/", service_->port, service_->token);
}

void ViewServer::serve(StopRequest stop) {
  std::atomic<bool> over = false;
  std::thread watch([&] {
    while (!over && !raised(stop)) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    service_->server.stop();
  });
  service_->server.listen_after_bind();
  over = true;
  watch.join();
}

}  // namespace stickslip::cli
