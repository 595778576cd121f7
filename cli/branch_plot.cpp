// SPDX-License-Identifier: Apache-2.0
#include "cli/branch_plot.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal.hpp"

namespace stickslip::cli {

namespace {
constexpr int kHeight = 12, kLabel = 10;  // rows of the plot, columns of the numbers beside it

int columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
}  // namespace

std::vector<std::string> draw_branch(const std::vector<PlottedPoint>& points, double from, double to,
                                     const std::string& parameter, int width, int height) {
  const int inner = std::max(10, width - kLabel - 2);
  double largest = 0;
  for (const PlottedPoint& point : points)
    if (std::isfinite(point.amplitude)) largest = std::max(largest, point.amplitude);
  const double low = std::min(from, to), high = std::max(from, to);
  std::vector<std::string> plot(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(inner), ' '));
  for (std::size_t k = 0; k < points.size(); ++k) {
    const PlottedPoint& point = points[k];
    const double x = (point.value - low) / (high - low), y = largest > 0 ? point.amplitude / largest : 0.0;
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) continue;
    const auto column = static_cast<std::size_t>(std::lround(x * (inner - 1)));
    const auto row = static_cast<std::size_t>(height - 1 - static_cast<int>(std::lround(y * (height - 1))));
    plot[row][column] = k + 1 == points.size() ? '@' : point.unstable ? '.' : 'o';
  }
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < plot.size(); ++row) {
    const std::string label = row == 0 ? fmt::format("{:.3g}", largest) : row + 1 == plot.size() ? "0" : "";
    lines.push_back(fmt::format("{:>{}} |{}", label, kLabel, plot[row]));
  }
  const std::string left = fmt::format("{:.6g}", low), right = fmt::format("{:.6g}", high);
  const int gap = std::max<int>(1, inner - static_cast<int>(left.size() + right.size()));
  const std::string name = parameter.substr(0, static_cast<std::size_t>(std::max(0, gap - 2)));
  lines.push_back(fmt::format("{:>{}} +{}", "", kLabel, std::string(static_cast<std::size_t>(inner), '-')));
  lines.push_back(fmt::format("{:>{}}  {}{:^{}}{}", "", kLabel, left, name, gap, right));
  return lines;
}

LiveBranch::LiveBranch(const BranchOptions& options, bool visible, std::function<void()> report)
    : options_(options),
      visible_(visible && isatty(STDERR_FILENO)),
      report_(std::move(report)),
      start_(std::chrono::steady_clock::now()),
      last_(start_),
      reported_(start_) {}

void LiveBranch::add(const BranchPoint& point) {
  if (coordinate_ < 0 && point.amplitude.size() > 0) point.amplitude.maxCoeff(&coordinate_);
  const double amplitude =
      coordinate_ >= 0 && coordinate_ < point.amplitude.size() ? point.amplitude[coordinate_] : 0.0;
  points_.push_back({point.value, amplitude, point.stable && !*point.stable});
  const auto now = std::chrono::steady_clock::now();
  constexpr auto kFrame = std::chrono::milliseconds(150);
  constexpr auto kReport = std::chrono::seconds(3);
  if (visible_ && (drawn_ == 0 || now - last_ >= kFrame)) {
    last_ = now;
    redraw();
  }
  if (report_ && now - reported_ >= kReport) {
    report_();
    reported_ =
        std::chrono::steady_clock::now();  // what it took itself is not counted: a large report comes less often
  }
}

void LiveBranch::add(const Bifurcation& found) { last_found_ = fmt::format("; {} at {:.6g}", found.kind, found.value); }

void LiveBranch::erase() {
  for (; drawn_ > 0; --drawn_) write_error("\r\033[K\033[A");
  write_error("\r\033[K");
}

void LiveBranch::redraw() {
  if (drawn_ > 0) erase();
  const int width = std::clamp(columns() - 1, 24, 100);
  std::vector<std::string> lines = draw_branch(points_, options_.from, options_.to, options_.parameter, width, kHeight);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  std::string caption = fmt::format("{} points, {} = {:.6g}, {:.0f} s{}", points_.size(), options_.parameter,
                                    points_.back().value, seconds, last_found_);
  caption.resize(std::min<std::size_t>(caption.size(), static_cast<std::size_t>(width)));
  lines.push_back(std::move(caption));
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  write_error(text);
  drawn_ = lines.size();
}

void LiveBranch::finish() {
  if (drawn_ > 0) erase();
}

}  // namespace stickslip::cli
