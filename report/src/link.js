// SPDX-License-Identifier: Apache-2.0
// The horizontal window and the cursor that linked plots share.

/** A range with width, also for one value or none; on a logarithmic axis both ends are positive. */
function widened(range, is_log, share) {
  let [a, b] = range;
  if (!(a <= b)) return is_log ? [0.1, 10] : [0, 1];
  const size = Math.max(Math.abs(a), Math.abs(b));
  if (is_log) {
    if (b / a < 1 + 1e-9) return [a / 2, b * 2];
    const factor = (b / a) ** share;
    return [a / factor, b * factor];
  }
  if (b - a <= 1e-13 * size || a === b) return size === 0 ? [-1, 1] : [a - 0.1 * size, b + 0.1 * size];
  return [a - share * (b - a), b + share * (b - a)];
}

const to_axis = (value, is_log) => (is_log ? Math.log10(value) : value);
const from_axis = (value, is_log) => (is_log ? 10 ** value : value);

/** Which groups of series are shown; `shown` holds numbers of `names`. */
class GroupChoice {
  constructor(noun) {
    this.noun = noun;
    this.names = [];
    this.numbers = new Map();
    this.widest = 1; // series of one group in one figure
    this.shown = null;
    this.listeners = [];
  }

  offer(names, widest) {
    for (const name of names) {
      if (this.numbers.has(name)) continue;
      this.numbers.set(name, this.names.length);
      this.names.push(name);
    }
    this.widest = Math.max(this.widest, widest);
  }

  /** At first as many groups as a legend can tell apart. */
  start() {
    if (this.shown) return;
    const fit = Math.max(1, Math.floor(SERIES_ALL / this.widest));
    this.shown = new Set([...Array(Math.min(fit, this.names.length)).keys()]);
  }

  show(number) {
    this.shown.clear();
    this.shown.add(number);
    this.changed();
  }

  /** The group after or before those that are shown, alone. */
  step(by) {
    const numbers = [...this.shown].sort((a, b) => a - b);
    const from = !numbers.length ? (by > 0 ? -1 : 0) : numbers.length === 1 ? numbers[0] : by > 0 ? numbers[0] - 1 : numbers[numbers.length - 1] + 1;
    this.show((from + by + this.names.length) % this.names.length);
  }

  changed() {
    for (const listener of this.listeners) listener();
  }
}

class Link {
  constructor() {
    this.plots = [];
    this.full = [0, 1];
    this.zoomed = null;
    this.gutter = 0;
    this.scheduled = false;
    this.cursor_x = null;
    this.choices = new Map();
  }

  /** Figures that show the same kind of things (bodies, laws) show the same ones. */
  choice(noun) {
    if (!this.choices.has(noun)) this.choices.set(noun, new GroupChoice(noun));
    return this.choices.get(noun);
  }

  add(plot) {
    this.plots.push(plot);
    let range = [Infinity, -Infinity];
    for (const member of this.plots) {
      const [a, b] = member.x_extent();
      if (a <= b) range = [Math.min(range[0], a), Math.max(range[1], b)];
    }
    const loose = this.plots.some((member) => member.loose);
    this.is_log = this.plots.every((member) => member.x_log);
    this.full = widened(range, this.is_log, loose ? 0.04 : 0);
  }

  window() {
    return this.zoomed || this.full;
  }

  /** Zooms to [a, b] within the full range; too narrow a window would show rounding, not motion. */
  zoom(a, b) {
    if (!Number.isFinite(a) || !Number.isFinite(b)) return;
    const log = this.is_log;
    const [low, high] = this.full.map((v) => to_axis(v, log));
    let from = to_axis(Math.min(a, b), log);
    let to = to_axis(Math.max(a, b), log);
    if (!Number.isFinite(from)) from = low;
    const least = Math.max((high - low) * 1e-9, 1e-12 * Math.max(Math.abs(low), Math.abs(high)));
    let span = Math.min(Math.max(to - from, least), high - low);
    const middle = (from + to) / 2;
    from = Math.min(Math.max(middle - span / 2, low), high - span);
    const whole = span >= (high - low) * (1 - 1e-9);
    this.zoomed = whole ? null : [from_axis(from, log), from_axis(from + span, log)];
    this.changed();
  }

  zoom_about(share, factor) {
    const log = this.is_log;
    const [a, b] = this.window().map((v) => to_axis(v, log));
    const at = a + share * (b - a);
    this.zoom(from_axis(at - (at - a) * factor, log), from_axis(at + (b - at) * factor, log));
  }

  pan(share) {
    const log = this.is_log;
    const [a, b] = this.window().map((v) => to_axis(v, log));
    this.zoom(from_axis(a + share * (b - a), log), from_axis(b + share * (b - a), log));
  }

  reset() {
    this.zoomed = null;
    for (const plot of this.plots) plot.y_zoomed = null;
    this.changed();
  }

  changed() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => this.flush());
  }

  flush() {
    this.scheduled = false;
    for (const plot of this.plots) plot.refresh();
    const source = this.plots.find((plot) => plot.hovered); // its cursor stays on the pixel, so the value changes
    this.move_cursor(source ? source.pointer_x() : this.cursor_x, source);
  }

  move_cursor(x, source) {
    this.cursor_x = x;
    for (const plot of this.plots) plot.show_cursor(x, plot === source);
  }
}
