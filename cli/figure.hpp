// SPDX-License-Identifier: Apache-2.0
// A figure of panels above one another, drawn into an SVG, PNG or PDF file (cairo), without a browser.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stickslip::cli {

struct FigureSeries {
  std::string label;         ///< in the legend; empty: none
  std::vector<double> x, y;  ///< NaN: a gap in the line
  bool points = false;       ///< marks instead of a line
};

struct FigurePanel {
  std::string x_label, y_label;
  std::vector<FigureSeries> series;
};

struct Figure {
  std::string title;
  std::vector<FigurePanel> panels;
  double width = 900, height = 0;  ///< [px]; height 0: by the number of panels
  bool dark = false;
};

/// Ticks at multiples of 1, 2 or 5 times a power of ten within [low, high], about `wanted` of them.
std::vector<double> round_ticks(double low, double high, int wanted);

/// As bytes of a file; `ending`: ".svg", ".png" or ".pdf". Throws InputError for another one.
std::string drawn(const Figure& figure, const std::string& ending);
/// By the ending of the name: .svg, .png or .pdf. Throws InputError for another one, OutputError where it cannot be
/// written.
void write_figure(const Figure& figure, const std::filesystem::path& file);

}  // namespace stickslip::cli
