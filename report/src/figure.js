// SPDX-License-Identifier: Apache-2.0
// A figure: curves over x, or over each other.

const SERIES_SHOWN = 6; // of a figure with more than SERIES_ALL
const SERIES_ALL = 10;
const LEGEND_MOST = 24; // entries; the curves of the others are drawn
const NOISE = 1e-6; // variation over the whole run, relative to the size of the quantity, that is drawn as a constant
const ROUND_OFF = 1e-12; // the same for the shortest window

/** An axis for a curve that does not move: its value stands in the middle, or 0 where it is no more than noise. */
function around(value, noise, size) {
  const middle = Math.abs(value) <= noise ? 0 : value;
  const half = Math.max(0.1 * Math.abs(middle), 0.05 * size) || 1;
  return [middle - half, middle + half];
}

class Figure extends Plot {
  constructor(block, link) {
    super(block, link);
    this.series = block.series || [];
    this.x_log = Boolean(block.x && block.x.scale === 'log');
    this.y_log = Boolean(block.y && block.y.scale === 'log');
    this.curves = new Map();
    this.common_x = block.x_values ? this.x_column(block.x_values) : null;
    const count = this.series.length;
    this.chosen = new Set([...Array(count > SERIES_ALL ? SERIES_SHOWN : count).keys()]);
    this.off = new Set([...this.series.keys()].filter((i) => this.series[i].hidden));
    this.choice = block.groups ? this.offer_groups(block.groups) : null;
    this.slots = new Map();
    this.assign_slots();
    this.loose = this.series.some((s) => s.points) || (count > 0 && !this.curve(0).sorted);
    this.dots = [];
    link.add(this);
  }

  offer_groups(noun) {
    const sizes = new Map();
    for (const { group, hidden } of this.series) sizes.set(group || '', (sizes.get(group || '') || 0) + (hidden ? 0 : 1));
    if (sizes.size < 2) return null;
    const choice = this.link.choice(noun);
    choice.offer(sizes.keys(), Math.max(...sizes.values()));
    return choice;
  }

  /** Of grouped series those of the chosen groups. */
  take_groups() {
    const { shown, numbers } = this.choice;
    this.chosen = new Set([...this.series.keys()].filter((i) => shown.has(numbers.get(this.series[i].group || ''))));
    this.assign_slots();
  }

  x_column(values) {
    const x = axis_values(floats(values, values.length), this.x_log);
    return { x, sorted: is_sorted(x) };
  }

  /** Curves are made when first needed: of a thousand series few are ever looked at. Coordinates are those of the axes (logarithms where the axis is). */
  curve(index) {
    let curve = this.curves.get(index);
    if (curve) return curve;
    const source = this.series[index];
    const y = source.y || [];
    let column = source.x ? this.x_column(source.x) : this.common_x;
    if (!column) column = this.x_column(y.map((_, i) => i + (this.x_log ? 1 : 0)));
    const count = Math.min(column.x.length, y.length);
    const raw = floats(y, count);
    curve = { x: column.x.subarray(0, count), y: axis_values(raw, this.y_log), sorted: column.sorted, lost: 0 };
    if (this.y_log) for (let i = 0; i < count; i++) if (raw[i] <= 0) curve.lost++;
    this.curves.set(index, curve);
    return curve;
  }

  visible() {
    return [...this.chosen].filter((i) => !this.off.has(i)).sort((a, b) => a - b);
  }

  assign_slots() {
    for (const i of this.slots.keys()) if (!this.chosen.has(i)) this.slots.delete(i);
    const used = new Set(this.slots.values());
    let free = 0;
    for (const i of [...this.chosen].sort((a, b) => a - b)) {
      if (this.slots.has(i)) continue;
      while (used.has(free)) free++;
      this.slots.set(i, free);
      used.add(free);
    }
  }

  // ---- ranges

  x_extent() {
    let range = [Infinity, -Infinity];
    const add = (x) => {
      const [a, b] = extent(x);
      range = [Math.min(range[0], a), Math.max(range[1], b)];
    };
    if (this.common_x) add(this.common_x.x);
    this.series.forEach((s, i) => {
      if (s.x || !this.common_x) add(this.curve(i).x);
    });
    return range.map((v) => from_axis(v, this.x_log));
  }

  /** [first, last) of the samples that matter for the window: those inside and one on each side. */
  span(curve, [a, b]) {
    if (!curve.sorted) return [0, curve.x.length];
    return [Math.max(0, lower_bound(curve.x, a) - 1), Math.min(curve.x.length, lower_bound(curve.x, b) + 2)];
  }

  y_range() {
    const [a, b] = this.x_window().map((v) => to_axis(v, this.x_log));
    let low = Infinity;
    let high = -Infinity;
    const add = (v) => {
      if (v < low) low = v;
      if (v > high) high = v;
    };
    for (const index of this.visible()) {
      const { x, y, sorted } = this.curve(index);
      const [first, last] = this.span({ x, sorted }, [a, b]);
      for (let i = first; i < last; i++) {
        const xi = x[i];
        if (xi >= a && xi <= b) {
          const v = y[i];
          if (v < low) low = v;
          if (v > high) high = v;
        } else if (sorted) {
          const j = xi < a ? i + 1 : i - 1;
          if (j >= 0 && j < x.length && x[j] !== xi) add(y[i] + ((y[j] - y[i]) * ((xi < a ? a : b) - xi)) / (x[j] - xi));
        }
      }
    }
    this.empty = !(low <= high);
    if (!this.y_log && low <= high) {
      const size = this.size();
      const share = this.link.zoomed ? (b - a) / (to_axis(this.link.full[1], this.x_log) - to_axis(this.link.full[0], this.x_log)) : 1;
      const stated = this.block.y && this.block.y.size > 0; // else only round-off is known to mean nothing
      const noise = size * Math.max(ROUND_OFF, stated ? NOISE * Math.min(1, share) : 0);
      if (high - low <= noise) return around((low + high) / 2, noise, size);
    }
    return widened([low, high].map((v) => from_axis(v, this.y_log)), this.y_log, 0.06);
  }

  /** Of the quantity: what the document says, else the largest magnitude of all series. */
  size() {
    if (this.quantity_size === undefined) {
      this.quantity_size = (this.block.y && this.block.y.size) || 0;
      if (!(this.quantity_size > 0)) {
        for (const i of this.series.keys()) {
          const [low, high] = extent(this.curve(i).y);
          if (low <= high) this.quantity_size = Math.max(this.quantity_size, Math.abs(low), Math.abs(high));
        }
      }
    }
    return this.quantity_size;
  }

  // ---- layout

  height(width) {
    return width < 480 ? 260 : width === PAGE_WIDTH ? 215 : 320;
  }

  left_axis(s, line) {
    return {
      label: label_with_unit(this.block.y),
      size: (u, labels) => this.gutter(labels, s),
      splits: (u, i, min, max) => {
        const count = (u.bbox.height / uPlot.pxRatio || 200) / ((this.y_log ? 26 : 32) * s);
        return (this.y_marks = this.ticks(min, max, this.y_log, count)).values;
      },
      values: () => this.y_marks.labels,
      grid: { ...line('grid'), filter: (u, splits) => splits.map((v, k) => (this.y_marks.major[k] ? v : null)) },
      ticks: { ...line('border'), size: 5 * s },
    };
  }

  mount(section) {
    this.legend = element('div.legend');
    if (this.choice) {
      this.choice.start();
      this.take_groups();
    }
    super.mount(section);
    section.append(this.legend);
    if (this.choice) {
      this.choice.listeners.push(() => {
        this.take_groups();
        this.fill_legend();
        this.refresh();
      });
      section.append(group_picker(this.choice));
    } else if (this.series.length > SERIES_ALL) {
      const names = this.series.map((s, i) => s.name || `series ${i + 1}`);
      section.append(
        chooser('series', names, this.chosen, () => {
          this.assign_slots();
          this.fill_legend();
          this.refresh();
        }),
      );
    }
    const lost = this.visible().reduce((sum, i) => sum + this.curve(i).lost, 0);
    if (lost) section.append(element('p.note', {}, `${lost} value${lost === 1 ? ' is' : 's are'} zero or negative and cannot stand on the logarithmic axis.`));
    this.fill_legend();
  }

  // ---- legend and cursor

  swatch_style(index, theme) {
    const slot = this.slots.get(index);
    return { colour: series_colour(theme, slot), dash: series_dash(theme, slot, this.series[index].dash), slot };
  }

  fill_legend() {
    this.at_cursor = element('span.at-cursor');
    this.entries = new Map();
    const all = [...this.chosen].sort((a, b) => a - b);
    const items = all.slice(0, LEGEND_MOST).map((i) => {
      const swatch = element('canvas.swatch', { width: 56, height: 28, 'aria-hidden': 'true' });
      const value = element('span.value');
      const item = element(
        'button.entry',
        {
          type: 'button',
          'aria-pressed': String(!this.off.has(i)),
          title: 'show or hide; with Shift: this one only',
          onclick: (event) => this.toggle(i, event.shiftKey),
        },
        swatch,
        element('span.name', {}, this.series[i].name || `series ${i + 1}`),
        value,
      );
      this.entries.set(i, { item, swatch, value });
      return item;
    });
    if (all.length > items.length) items.push(element('span.note', {}, `and ${all.length - items.length} more`));
    this.legend.replaceChildren(...items, this.at_cursor);
    this.apply_theme(screen_theme());
    for (const dot of this.dots) dot.remove();
    this.dots = [];
  }

  toggle(index, alone) {
    if (alone) {
      const others = [...this.chosen].filter((i) => i !== index);
      const isolated = !this.off.has(index) && others.every((i) => this.off.has(i));
      this.off = new Set(isolated ? [] : others);
    } else if (!this.off.delete(index)) {
      this.off.add(index);
    }
    for (const [i, entry] of this.entries) entry.item.setAttribute('aria-pressed', String(!this.off.has(i)));
    this.refresh();
  }

  apply_theme(theme) {
    for (const [i, entry] of this.entries || []) {
      const ctx = entry.swatch.getContext('2d');
      ctx.clearRect(0, 0, 56, 28);
      this.paint_swatch(ctx, i, theme, 0, 14, 56, 2);
    }
    if (this.u && theme === screen_theme()) this.u.redraw(false, true);
  }

  paint_swatch(ctx, index, theme, x, y, length, pixel) {
    const { colour, dash, slot } = this.swatch_style(index, theme);
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = 2 * pixel;
    ctx.setLineDash(dash.map((d) => d * pixel));
    if (this.series[index].line !== false) {
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(x + length, y);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    if (this.series[index].points) marker(ctx, slot, x + length / 2, y, 3.4 * pixel);
  }

  /** Draws (or with an empty context measures) the legend of the PNG; returns its height in CSS pixels. */
  paint_legend(ctx, width, top, scale) {
    ctx.font = `${13 * scale}px ${FONT}`;
    let x = 20;
    let y = top + 14;
    for (const i of this.visible().slice(0, LEGEND_MOST)) {
      const name = this.series[i].name || '';
      const length = 44 + ctx.measureText(name).width / scale + 18;
      if (x + length > width && x > 20) {
        x = 20;
        y += 22;
      }
      this.paint_swatch(ctx, i, LIGHT, x * scale, y * scale, 32 * scale, scale);
      ctx.fillStyle = LIGHT.text;
      ctx.textBaseline = 'middle';
      ctx.fillText(name, (x + 40) * scale, y * scale);
      x += length;
    }
    return y - top + 14;
  }

  /** The sample the cursor points at: nearest in x for a function of x, nearest on screen for a curve that folds. */
  nearest(curve, x, own) {
    const at = to_axis(x, this.x_log);
    if (curve.sorted) {
      const i = lower_bound(curve.x, at);
      if (i === 0) return curve.x.length ? 0 : -1;
      if (i === curve.x.length) return i - 1;
      return at - curve.x[i - 1] <= curve.x[i] - at ? i - 1 : i;
    }
    if (!own) return -1;
    const u = this.u;
    const [xa, xb] = [u.scales.x.min, u.scales.x.max].map((v) => to_axis(v, this.x_log));
    const [ya, yb] = [u.scales.y.min, u.scales.y.max].map((v) => to_axis(v, this.y_log));
    const kx = u.over.clientWidth / (xb - xa);
    const ky = u.over.clientHeight / (yb - ya);
    const y_at = yb - u.cursor.top / ky;
    let best = -1;
    let least = 40 * 40;
    for (let i = 0; i < curve.x.length; i++) {
      const distance = (kx * (curve.x[i] - at)) ** 2 + (ky * (curve.y[i] - y_at)) ** 2;
      if (distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  show_values(x, own) {
    const [a, b] = this.x_window();
    const inside = x !== null && x >= a && x <= b;
    const q = this.block.x || {};
    const folds = this.visible().some((i) => !this.curve(i).sorted);
    this.at_cursor.textContent = inside && !folds ? `${q.label || 'x'} = ${format_number(x, digits_for(x, b - a))} ${q.unit || ''}` : '';
    let used = 0;
    for (const [i, entry] of this.entries) {
      let text = '';
      if (inside && !this.off.has(i)) {
        const curve = this.curve(i);
        const k = this.nearest(curve, x, own);
        if (k >= 0) {
          const xv = from_axis(curve.x[k], this.x_log);
          const yv = from_axis(curve.y[k], this.y_log);
          text = curve.sorted ? format_number(yv) : `(${format_number(xv)}, ${format_number(yv)})`;
          if (Number.isFinite(yv) && used < 40) this.place_dot(used++, i, xv, yv);
        }
      }
      entry.value.textContent = text;
    }
    for (let k = used; k < this.dots.length; k++) this.dots[k].hidden = true;
  }

  place_dot(k, index, x, y) {
    if (!this.dots[k]) this.u.over.append((this.dots[k] = element('div.dot')));
    const dot = this.dots[k];
    const left = this.u.valToPos(x, 'x');
    const top = this.u.valToPos(y, 'y');
    dot.hidden = !(left >= 0 && left <= this.u.over.clientWidth && top >= 0 && top <= this.u.over.clientHeight);
    dot.style.transform = `translate(${left}px, ${top}px)`;
    dot.style.background = this.swatch_style(index, screen_theme()).colour;
  }

  // ---- drawing

  paint(canvas) {
    const { ctx, theme, pixel, box } = canvas;
    if (canvas.window_y[0] < 0 && canvas.window_y[1] > 0 && !this.y_log) {
      ctx.fillStyle = theme.border;
      ctx.fillRect(box.left, Math.round(canvas.oy), box.width, Math.max(1, Math.round(0.75 * pixel)));
    }
    for (const index of this.visible()) {
      const curve = this.curve(index);
      const source = this.series[index];
      const { colour, dash, slot } = this.swatch_style(index, theme);
      const [first, last] = this.span(curve, canvas.window_x);
      ctx.strokeStyle = ctx.fillStyle = colour;
      ctx.lineWidth = (last - first > 20 * box.width ? 1 : 1.6) * pixel;
      ctx.lineJoin = 'round';
      ctx.setLineDash(dash.map((d) => d * pixel));
      if (source.line !== false) {
        ctx.beginPath();
        if (last - first > 6 * box.width) trace_dense(canvas, curve, first, last);
        else trace(canvas, curve, first, last, source.step);
        ctx.stroke();
      }
      ctx.setLineDash([]);
      const apart = (last - first) * 14 * pixel < box.width && curve.sorted;
      if (source.points) paint_markers(canvas, curve, slot, first, last, 3.4 * pixel);
      else if (apart) paint_markers(canvas, curve, 0, first, last, 2.2 * pixel);
    }
    this.paint_marks(canvas);
    if (this.empty && !this.y_zoomed) paint_message(canvas, 'no data');
  }

  /** Vertical lines with a label; a label that would cover the one before goes one line down, three lines at most. */
  paint_marks({ ctx, box, ox, kx, theme, pixel }) {
    const ends = [-Infinity, -Infinity, -Infinity];
    ctx.font = `${Math.round(11 * pixel)}px ${FONT}`;
    ctx.textBaseline = 'top';
    ctx.textAlign = 'left';
    ctx.lineWidth = pixel;
    for (const mark of this.block.marks || []) {
      const x = Math.round(ox + kx * to_axis(mark.x, this.x_log)) + 0.5;
      if (!(x >= box.left && x <= box.left + box.width)) continue;
      ctx.strokeStyle = theme.mark;
      ctx.setLineDash([4 * pixel, 4 * pixel]);
      ctx.beginPath();
      ctx.moveTo(x, box.top);
      ctx.lineTo(x, box.top + box.height);
      ctx.stroke();
      ctx.setLineDash([]);
      const width = ctx.measureText(mark.label || '').width;
      const left = Math.min(x + 4 * pixel, box.left + box.width - width - 2 * pixel);
      const row = ends.findIndex((end) => left > end);
      if (row < 0 || !mark.label) continue;
      const top = box.top + (3 + 15 * row) * pixel;
      ctx.fillStyle = theme.background;
      ctx.globalAlpha = 0.8;
      ctx.fillRect(left - 2 * pixel, top - pixel, width + 4 * pixel, 14 * pixel);
      ctx.globalAlpha = 1;
      ctx.fillStyle = theme.text;
      ctx.fillText(mark.label, left, top);
      ends[row] = left + width + 6 * pixel;
    }
  }

  // ---- data out

  csv() {
    const x_name = label_with_unit(this.block.x) || 'x';
    const names = this.series.map((s, i) => s.name || `series ${i + 1}`);
    const common = this.block.x_values;
    if (common && this.series.every((s) => !s.x)) {
      return csv_blob([x_name, ...names], common.length, (i) => [common[i], ...this.series.map((s) => s.y[i])]);
    }
    const columns = this.series.flatMap((s) => [s.x || common || s.y.map((_, i) => i), s.y]);
    const rows = Math.max(0, ...columns.map((c) => c.length));
    return csv_blob(names.flatMap((n) => [`${n}: ${x_name}`, n]), rows, (i) => columns.map((c) => c[i]));
  }
}
