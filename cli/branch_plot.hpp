// SPDX-License-Identifier: Apache-2.0
// A branch in the terminal while it grows: amplitude over the parameter, redrawn in place, and a report beside it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "stickslip/periodic/branch.hpp"

namespace stickslip::cli {

/// What is drawn of a point.
struct PlottedPoint {
  double value = 0, amplitude = 0;  ///< of the coordinate that moves most at the first point
  bool unstable = false;
};

/// Lines of `width` columns at most: the plot with its axes. Stable points are "o", unstable ones ".", the last one
/// "@"; the range of the parameter is that of the branch, that of the amplitude follows the points.
std::vector<std::string> draw_branch(const std::vector<PlottedPoint>& points, double from, double to,
                                     const std::string& parameter, int width, int height);

class LiveBranch {
 public:
  /// visible: where standard error is a terminal. `report` is called every few seconds with what there is so far.
  LiveBranch(const BranchOptions& options, bool visible, std::function<void()> report);
  ~LiveBranch() { finish(); }
  LiveBranch(const LiveBranch&) = delete;
  LiveBranch& operator=(const LiveBranch&) = delete;
  void add(const BranchPoint& point);
  void add(const Bifurcation& found);
  /// Removes the plot from the terminal.
  void finish();

 private:
  void redraw();
  void erase();

  const BranchOptions& options_;
  bool visible_;
  std::function<void()> report_;
  std::vector<PlottedPoint> points_;
  std::string last_found_;
  Index coordinate_ = -1;
  std::size_t drawn_ = 0;  ///< lines on the screen
  std::chrono::steady_clock::time_point start_, last_, reported_;
};

}  // namespace stickslip::cli
