// SPDX-License-Identifier: Apache-2.0
#include "cli/figure.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "stickslip/common/error.hpp"
#include "stickslip/io/output_error.hpp"
#include "stickslip/io/output_file.hpp"

namespace stickslip::cli {

namespace {

struct Colour {
  double r, g, b;
};
// Okabe and Ito's, which people who see colours differently can tell apart.
constexpr std::array<Colour, 7> kLines{{{0.00, 0.45, 0.70},
                                        {0.90, 0.62, 0.00},
                                        {0.00, 0.62, 0.45},
                                        {0.80, 0.47, 0.65},
                                        {0.84, 0.37, 0.00},
                                        {0.34, 0.71, 0.91},
                                        {0.60, 0.55, 0.00}}};
constexpr double kFont = 13, kPanel = 260, kLegendLine = 18;  // [px]

/// Of numbers up to the largest that there are: their distance needs more.
struct Range {
  long double low = HUGE_VALL, high = -HUGE_VALL;
  void add(double v) {
    if (!std::isfinite(v)) return;
    low = std::min<long double>(low, v);
    high = std::max<long double>(high, v);
  }
  /// With room around the data, and some where it is a single number.
  void open(long double share) {
    if (!(low <= high)) low = 0, high = 1;
    const long double width = high > low ? high - low : std::max(std::abs(low), 1e-300L);
    low -= share * width;
    high += share * width;
  }
  /// 0 at low, 1 at high.
  double share(double v) const { return static_cast<double>((v - low) / (high - low)); }
  std::vector<double> ticks(int wanted) const {
    constexpr long double kLargest = std::numeric_limits<double>::max();
    return round_ticks(static_cast<double>(std::max(low, -kLargest)), static_cast<double>(std::min(high, kLargest)),
                       wanted);
  }
};

class Painter {
 public:
  Painter(cairo_t* cr, const Figure& figure) : cr_(cr), figure_(figure) {
    cairo_select_font_face(cr_, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr_, kFont);
  }

  void draw(double width, double height) {
    figure_.dark ? paint(0.09, 0.10, 0.12) : paint(1, 1, 1);
    cairo_paint(cr_);
    double top = 10;
    if (!figure_.title.empty()) {
      ink(1);
      text(figure_.title, width / 2, top + kFont, 0.5);
      top += 2 * kFont;
    }
    top += legend(top, width);
    const double each = (height - top - 8) / static_cast<double>(figure_.panels.size());
    for (std::size_t k = 0; k < figure_.panels.size(); ++k)
      panel(figure_.panels[k], top + static_cast<double>(k) * each, width, each);
  }

 private:
  void paint(double r, double g, double b) { cairo_set_source_rgb(cr_, r, g, b); }
  void ink(double strength) {
    const double v = figure_.dark ? 0.92 : 0.1, back = figure_.dark ? 0.1 : 1;
    const double c = back + strength * (v - back);
    paint(c, c, c);
  }
  /// Its baseline at y; align 0: begins at x, 0.5: centred, 1: ends there.
  void text(const std::string& words, double x, double y, double align) {
    cairo_text_extents_t size;
    cairo_text_extents(cr_, words.c_str(), &size);
    cairo_move_to(cr_, x - align * size.x_advance, y);
    cairo_show_text(cr_, words.c_str());
  }
  double width_of(const std::string& words) {
    cairo_text_extents_t size;
    cairo_text_extents(cr_, words.c_str(), &size);
    return size.x_advance;
  }
  void colour(std::size_t k) {
    const Colour& c = kLines[k % kLines.size()];
    const double light = figure_.dark ? 0.25 : 0;
    paint(c.r + light * (1 - c.r), c.g + light * (1 - c.g), c.b + light * (1 - c.b));
  }

  /// Of the first panel: the others have the same runs. Returns its height.
  double legend(double top, double width) {
    double x = 70, y = top + kFont;
    bool any = false;
    const auto& series = figure_.panels.front().series;
    for (std::size_t k = 0; k < series.size(); ++k) {
      if (series[k].label.empty()) continue;
      const double wide = 40 + width_of(series[k].label);
      if (any && x + wide > width - 20) x = 70, y += kLegendLine;
      colour(k);
      cairo_rectangle(cr_, x, y - 0.6 * kFont, 20, 4);
      cairo_fill(cr_);
      ink(1);
      text(series[k].label, x + 26, y, 0);
      x += wide;
      any = true;
    }
    return any ? y - top + 0.5 * kFont : 0;
  }

  void panel(const FigurePanel& panel, double top, double width, double height) {
    Range xs, ys;
    for (const FigureSeries& series : panel.series)
      for (std::size_t i = 0; i < series.x.size(); ++i)
        if (std::isfinite(series.x[i]) && std::isfinite(series.y[i])) xs.add(series.x[i]), ys.add(series.y[i]);
    xs.open(0.01);
    ys.open(0.06);
    const std::vector<double> down = ys.ticks(std::max(2, static_cast<int>(height / 45)));
    double label_width = 40;  // panels above one another begin at one place but for long numbers
    for (const double v : down) label_width = std::max(label_width, width_of(tick_text(v, down)));
    const double left = 34 + label_width, right = width - 18, upper = top + 8, lower = top + height - 42;
    auto px = [&](double v) { return left + xs.share(v) * (right - left); };
    auto py = [&](double v) { return lower - ys.share(v) * (lower - upper); };
    const std::vector<double> along = xs.ticks(static_cast<int>((right - left) / 90));
    cairo_set_line_width(cr_, 1);
    for (const double v : down) {
      ink(0.13);
      line(left, py(v), right, py(v));
      ink(0.85);
      text(tick_text(v, down), left - 6, py(v) + 0.35 * kFont, 1);
    }
    for (const double v : along) {
      ink(0.13);
      line(px(v), upper, px(v), lower);
      ink(0.85);
      text(tick_text(v, along), px(v), lower + 1.3 * kFont, 0.5);
    }
    ink(0.5);
    cairo_rectangle(cr_, left, upper, right - left, lower - upper);
    cairo_stroke(cr_);
    ink(1);
    text(panel.x_label, 0.5 * (left + right), lower + 2.6 * kFont, 0.5);
    cairo_save(cr_);
    cairo_move_to(cr_, 0, 0);
    cairo_translate(cr_, 16, 0.5 * (upper + lower));
    cairo_rotate(cr_, -M_PI / 2);
    text(panel.y_label, 0, 0, 0.5);
    cairo_restore(cr_);
    cairo_save(cr_);
    cairo_rectangle(cr_, left, upper, right - left, lower - upper);
    cairo_clip(cr_);
    for (std::size_t k = 0; k < panel.series.size(); ++k) {
      colour(k);
      panel.series[k].points ? marks(panel.series[k], px, py) : curve(panel.series[k], px, py);
    }
    cairo_restore(cr_);
  }

  void line(double x0, double y0, double x1, double y1) {
    cairo_move_to(cr_, x0, y0);
    cairo_line_to(cr_, x1, y1);
    cairo_stroke(cr_);
  }

  /// Points that lie in the pixel of the one before add nothing to the picture, only to the file.
  template <class X, class Y>
  void curve(const FigureSeries& series, X px, Y py) {
    constexpr double kSame = 0.25;  // [px]
    cairo_set_line_width(cr_, 1.6);
    cairo_set_line_join(cr_, CAIRO_LINE_JOIN_ROUND);
    bool down = false;
    double last_x = 0, last_y = 0;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) {
        down = false;
        continue;
      }
      const double x = px(series.x[i]), y = py(series.y[i]);
      if (down && i + 1 < series.x.size() && std::hypot(x - last_x, y - last_y) < kSame) continue;
      down ? cairo_line_to(cr_, x, y) : cairo_move_to(cr_, x, y);
      down = true;
      last_x = x;
      last_y = y;
    }
    cairo_stroke(cr_);
  }

  template <class X, class Y>
  void marks(const FigureSeries& series, X px, Y py) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
      cairo_arc(cr_, px(series.x[i]), py(series.y[i]), 2, 0, 2 * M_PI);
      cairo_fill(cr_);
    }
  }

  /// With as many digits as tell neighbours apart.
  static std::string tick_text(double v, const std::vector<double>& ticks) {
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
    if (std::abs(v) < 1e-9 * step) return "0";
    const double largest = std::max(std::abs(ticks.front()), std::abs(ticks.back()));
    const int digits = std::max(1, static_cast<int>(std::floor(std::log10(largest / step) + 1e-9)) + 2);
    return fmt::format("{:.{}g}", v, digits);
  }

  cairo_t* cr_;
  const Figure& figure_;
};

cairo_status_t append(void* bytes, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int wanted) {
  std::vector<double> ticks;
  const double raw = high / wanted - low / wanted;  // high - low may be more than there is
  if (!(raw > 0) || !std::isfinite(raw) || wanted < 1) return ticks;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  for (double k = std::ceil(low / step - 1e-9); k <= high / step + 1e-9; ++k) ticks.push_back(k * step);
  return ticks;
}

std::string drawn(const Figure& figure, const std::string& ending) {
  const double width = figure.width;
  const double height = figure.height > 0 ? figure.height : 40 + kPanel * static_cast<double>(figure.panels.size());
  std::string bytes;
  using Surface = std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)>;
  Surface surface(nullptr, cairo_surface_destroy);
  constexpr double kSharp = 2;  // pixels of a PNG per px
  if (ending == ".svg") {
    surface.reset(cairo_svg_surface_create_for_stream(append, &bytes, width, height));
  } else if (ending == ".pdf") {
    surface.reset(cairo_pdf_surface_create_for_stream(append, &bytes, width, height));
  } else if (ending == ".png") {
    surface.reset(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(kSharp * width),
                                             static_cast<int>(kSharp * height)));
    cairo_surface_set_device_scale(surface.get(), kSharp, kSharp);
  } else {
    throw InputError("the name must end in .svg, .png or .pdf");
  }
  {
    const std::unique_ptr<cairo_t, void (*)(cairo_t*)> cr(cairo_create(surface.get()), cairo_destroy);
    Painter(cr.get(), figure).draw(width, height);
  }
  if (ending == ".png") {
    cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
  } else {
    cairo_surface_finish(surface.get());
  }
  if (const cairo_status_t status = cairo_surface_status(surface.get());
      status != CAIRO_STATUS_SUCCESS && status != CAIRO_STATUS_SURFACE_FINISHED)
    throw OutputError(fmt::format("the picture cannot be drawn: {}", cairo_status_to_string(status)));
  return bytes;
}

void write_figure(const Figure& figure, const std::filesystem::path& file) {
  std::string bytes;
  try {
    bytes = drawn(figure, file.extension().string());
  } catch (const InputError& error) {
    throw InputError(fmt::format("--out {}: {}", file.string(), error.what()));
  }
  write_text_file(file, bytes);
}

}  // namespace stickslip::cli
