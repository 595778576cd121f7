// SPDX-License-Identifier: Apache-2.0
// The stick/slip timeline: one row per law, its mode over time, and its events.

const ROWS_SHOWN = 16; // of a timeline with more than ROWS_ALL laws
const ROWS_ALL = 24;
const ROW_HEIGHT = 24;
const EVENTS_LISTED = 200;
const EVENT_KINDS = ['stick', 'slip', 'reversal', 'open', 'close', 'impact', 'facet'];
// an upright cross
const FACET_MARK = [-0.35, -1, 0.35, -1, 0.35, -0.35, 1, -0.35, 1, 0.35, 0.35, 0.35, 0.35, 1, -0.35, 1, -0.35, 0.35, -1, 0.35, -1, -0.35, -0.35, -0.35];
const Y_LABEL_SIZE = 18; // the figures' axis label, which a timeline lacks

class Timeline extends Plot {
  constructor(block, link) {
    super(block, link);
    this.y_down = true;
    this.y_drag = false;
    this.rows = (block.rows || []).map((row) => ({ name: row.name, intervals: row.intervals || [], events: [] }));
    const by_name = new Map(this.rows.map((row) => [row.name, row]));
    this.events = (block.events || []).slice().sort((a, b) => a.t - b.t);
    for (const event of this.events) {
      if (!by_name.has(event.law)) {
        const row = { name: event.law, intervals: [], events: [] };
        by_name.set(event.law, row);
        this.rows.push(row);
      }
      by_name.get(event.law).events.push(event);
    }
    for (const row of this.rows) {
      row.starts = Float64Array.from(row.intervals, (i) => i.from);
      row.times = Float64Array.from(row.events, (e) => e.t);
    }
    this.times = Float64Array.from(this.events, (e) => e.t);
    const count = this.rows.length;
    this.chosen = new Set([...Array(count > ROWS_ALL ? ROWS_SHOWN : count).keys()]);
    this.modes = Object.keys(MODES).filter((mode) => this.rows.some((row) => row.intervals.some((i) => i.mode === mode)));
    this.kinds = EVENT_KINDS.filter((kind) => this.events.some((e) => e.kind === kind));
    this.patterns = new Map();
    this.told = null; // the event that the keyboard went to
    link.add(this);
  }

  shown() {
    return [...this.chosen].sort((a, b) => a - b).map((i) => this.rows[i]);
  }

  unit() {
    return this.block.unit || 's';
  }

  x_label() {
    return `time (${this.unit()})`;
  }

  x_extent() {
    let [low, high] = [this.block.from, this.block.to].map((v) => (typeof v === 'number' ? v : NaN));
    if (low <= high) return [low, high];
    [low, high] = [Infinity, -Infinity];
    for (const row of this.rows) {
      for (const interval of row.intervals) {
        low = Math.min(low, interval.from);
        high = Math.max(high, interval.to);
      }
    }
    for (const t of this.times) {
      low = Math.min(low, t);
      high = Math.max(high, t);
    }
    return [low, high];
  }

  y_range() {
    return [0, Math.max(1, this.chosen.size)];
  }

  height() {
    return Math.max(1, this.chosen.size) * ROW_HEIGHT + 60;
  }

  left_axis(s) {
    const most = (u) => Math.max(6, Math.floor(Math.min(0.19 * u.width, 170 * s) / (6.9 * s)));
    const short = (u, name) => (name.length > most(u) ? name.slice(0, most(u) - 1) + '…' : name);
    return {
      splits: () => this.shown().map((_, i) => i + 0.5),
      values: (u) => this.shown().map((row) => short(u, String(row.name))),
      size: (u, labels) => {
        const needed = Math.ceil((14 + 6.9 * Math.max(0, ...(labels || []).map((t) => t.length))) * s);
        if (s === 1 && needed - Y_LABEL_SIZE > this.link.gutter) {
          this.link.gutter = needed - Y_LABEL_SIZE;
          if (this.link.plots.length > 1) this.link.changed();
        }
        return Math.max(needed, (this.link.gutter + Y_LABEL_SIZE) * s);
      },
      grid: { show: false },
      ticks: { show: false },
    };
  }

  // ---- page elements

  mount(section) {
    super.mount(section);
    this.tip = element('div.tip', { role: 'status' });
    this.tip.hidden = true;
    this.u.over.append(this.tip);
    this.legend = element('div.legend');
    this.swatches = this.modes.map((mode) => this.legend_item(MODES[mode].label, (ctx, theme) => this.paint_mode(ctx, theme, mode, 0, 0, 56, 28, 2, true)));
    this.marks = this.kinds.map((kind) => this.legend_item(`${kind} event`, (ctx, theme) => this.event_marker(ctx, kind, 28, 14, 9, theme)));
    this.legend.append(...this.swatches.map((s) => s.item), ...this.marks.map((s) => s.item));
    section.append(this.legend);
    if (this.rows.length > ROWS_ALL) {
      section.append(
        chooser('laws', this.rows.map((row) => String(row.name)), this.chosen, () => {
          this.resize();
          this.refresh();
        }),
      );
    }
    if (this.events.length) section.append(this.event_list());
    this.apply_theme(screen_theme());
  }

  legend_item(label, paint) {
    const swatch = element('canvas.swatch', { width: 56, height: 28, 'aria-hidden': 'true' });
    return { item: element('span.entry', {}, swatch, element('span.name', {}, label)), swatch, paint };
  }

  apply_theme(theme) {
    for (const { swatch, paint } of [...this.swatches, ...this.marks]) {
      const ctx = swatch.getContext('2d');
      ctx.clearRect(0, 0, 56, 28);
      paint(ctx, theme);
    }
    if (this.u && theme === screen_theme()) this.u.redraw(false, true);
  }

  event_list() {
    this.list_body = element('tbody');
    this.list_note = element('p.note');
    const head = ['time', 'law', 'event', 'before', 'after', 'impulse'].map((text) => element('th', { scope: 'col' }, text));
    this.list = element(
      'details.events.screen-only',
      { ontoggle: () => this.fill_list() },
      element('summary', {}, `List the events (${this.events.length})`),
      this.list_note,
      element('div.table-box', { tabindex: '0' }, element('table', {}, element('thead', {}, element('tr', {}, ...head)), this.list_body)),
    );
    return this.list;
  }

  fill_list() {
    if (!this.list || !this.list.open) return;
    const [a, b] = this.x_window();
    const first = lower_bound(this.times, a);
    let last = lower_bound(this.times, b);
    while (last < this.times.length && this.times[last] <= b) last++;
    const listed = Math.min(last, first + EVENTS_LISTED);
    this.list_note.textContent = `${last - first} in the time shown${listed < last ? `; the first ${EVENTS_LISTED} are listed, zoom in for the others` : ''}.`;
    this.list_body.replaceChildren(
      ...this.events.slice(first, listed).map((e) =>
        element('tr', {}, element('td.number', {}, format_number(e.t, 9)), element('td', {}, e.law), element('td', {}, e.kind), element('td', {}, e.before || NONE), element('td', {}, e.after || NONE), element('td.number', {}, format_number(e.impulse))),
      ),
    );
  }

  refresh() {
    super.refresh();
    this.fill_list();
  }

  // ---- keyboard

  more_keys() {
    return this.events.length ? ', n and p go to the next and the previous event' : '';
  }

  on_key(event) {
    const direction = { n: 1, p: -1 }[event.key];
    if (!direction || event.ctrlKey || event.metaKey || event.altKey) {
      super.on_key(event);
      return;
    }
    event.preventDefault();
    this.go_to_event(direction);
  }

  /** The cursor of all linked plots goes to the next event of a law that is shown, and the event is told. */
  go_to_event(direction) {
    const names = new Set(this.shown().map((row) => row.name));
    const [a, b] = this.x_window();
    const at = this.link.cursor_x;
    let i = this.told ? this.events.indexOf(this.told) : -1;
    if (i < 0 || this.told.t !== at) {
      const from = at !== null ? at : direction > 0 ? a : b;
      i = direction > 0 ? lower_bound(this.times, from) - 1 : lower_bound(this.times, from);
      if (at === null && direction < 0) while (i < this.times.length && this.times[i] <= b) i++;
    }
    do i += direction;
    while (this.events[i] && !names.has(this.events[i].law));
    const event = this.events[i];
    if (!event) return;
    this.told = event;
    if (event.t < a || event.t > b) this.link.zoom(event.t - (b - a) / 2, event.t + (b - a) / 2);
    this.link.move_cursor(event.t, null);
  }

  // ---- hover

  show_values(x, own) {
    const over = this.u.over;
    this.tip.hidden = true;
    if (x === null || !this.chosen.size) return;
    const rows = this.shown();
    const height = over.clientHeight / this.chosen.size;
    let { left, top } = this.u.cursor;
    if (!own) {
      const k = this.told && this.told.t === x ? rows.findIndex((row) => row.name === this.told.law) : -1;
      if (k < 0) return;
      left = this.u.valToPos(x, 'x');
      top = (k + 0.5) * height;
    }
    const row = rows[Math.floor(top / height)];
    if (!row) return;
    const lines = this.describe(row, x);
    this.tip.replaceChildren(...lines.map((text, i) => element(i ? 'div' : 'strong', {}, text)));
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    const place = left + 14 + width > over.clientWidth ? Math.max(-40, left - width - 14) : left + 14;
    this.tip.style.transform = `translate(${Math.round(place)}px, ${Math.round(top + 14)}px)`;
  }

  describe(row, x) {
    const [a, b] = this.x_window();
    const reach = (8 / this.u.over.clientWidth) * (b - a);
    const time = (t) => `${format_number(t, digits_for(t, b - a) + 1)} ${this.unit()}`;
    const lines = [String(row.name)];
    const near = [];
    for (let i = lower_bound(row.times, x - reach); i < row.times.length && row.times[i] <= x + reach; i++) near.push(row.events[i]);
    near.sort((p, q) => Math.abs(p.t - x) - Math.abs(q.t - x));
    for (const e of near.slice(0, 3)) {
      const change = e.before || e.after ? ` (${e.before || NONE} → ${e.after || NONE})` : '';
      lines.push(`${e.kind} at ${time(e.t)}${change}${typeof e.impulse === 'number' ? `, impulse ${format_number(e.impulse)}` : ''}`);
    }
    if (near.length > 3) lines.push(`and ${near.length - 3} more events here`);
    const k = lower_bound(row.starts, x) - 1;
    const interval = row.intervals[Math.max(0, k)];
    if (interval && x >= interval.from && x <= interval.to) {
      const mode = (MODES[interval.mode] || UNKNOWN_MODE).label;
      lines.push(`${mode} from ${time(interval.from)} to ${time(interval.to)} (${format_number(interval.to - interval.from, 4)} ${this.unit()})`);
    }
    return lines;
  }

  // ---- drawing

  paint_mode(ctx, theme, mode, x, y, width, height, pixel, framed) {
    const style = mode_style(theme, mode);
    const key = `${mode} ${pixel} ${style.fill}`;
    if (!this.patterns.has(key)) this.patterns.set(key, hatch_pattern(ctx, style, pixel));
    ctx.fillStyle = this.patterns.get(key);
    ctx.fillRect(x, y, width, height);
    if (!framed) return;
    ctx.strokeStyle = style.ink;
    ctx.lineWidth = pixel;
    ctx.strokeRect(x + pixel / 2, y + pixel / 2, width - pixel, height - pixel);
  }

  paint(canvas) {
    const { ctx, box, ky, oy, theme, pixel } = canvas;
    if (!this.rows.length) {
      paint_message(canvas, 'no laws');
      return;
    }
    const pad = 3 * pixel;
    this.shown().forEach((row, k) => {
      const top = Math.round(oy + ky * k + pad);
      const height = Math.round(ky - 2 * pad);
      ctx.fillStyle = theme.grid;
      ctx.fillRect(box.left, top + height / 2, box.width, pixel);
      this.paint_row(canvas, row, top, height);
    });
    this.shown().forEach((row, k) => this.paint_events(canvas, row, oy + ky * k, ky));
  }

  /** Intervals wider than a pixel are drawn as they are; a column of narrower ones is shared out by the time each mode takes. */
  paint_row({ ctx, ox, kx, window_x, pixel, theme }, row, top, height) {
    let column = null;
    let shares = null;
    const flush = () => {
      if (column === null) return;
      const total = [...shares.values()].reduce((sum, v) => sum + v, 0);
      let y = top;
      for (const [mode, share] of shares) {
        ctx.fillStyle = mode_style(theme, mode).ink;
        ctx.fillRect(column, y, 1, (height * share) / total);
        y += (height * share) / total;
      }
      column = null;
    };
    let i = Math.max(0, lower_bound(row.starts, window_x[0]) - 1);
    for (; i < row.intervals.length && row.starts[i] <= window_x[1]; i++) {
      const { from, to, mode } = row.intervals[i];
      if (to < window_x[0]) continue;
      const x0 = ox + kx * Math.max(from, window_x[0]);
      const x1 = ox + kx * Math.min(to, window_x[1]);
      if (x1 - x0 > 1.5) {
        flush();
        this.paint_mode(ctx, theme, mode, x0, top, x1 - x0, height, pixel, x1 - x0 > 5 * pixel);
        continue;
      }
      if (column !== Math.floor(x0)) {
        flush();
        column = Math.floor(x0);
        shares = new Map();
      }
      shares.set(mode, (shares.get(mode) || 0) + Math.max(x1 - x0, 1e-6));
    }
    flush();
  }

  /** Marks where they have room, otherwise one short tick per pixel column. */
  paint_events({ ctx, ox, kx, window_x, box, theme, pixel }, row, top, height) {
    const first = lower_bound(row.times, window_x[0]);
    const last = lower_bound(row.times, window_x[1] + 1e-12 * Math.abs(window_x[1]) + 1e-300);
    const crowded = (last - first) * 9 * pixel > box.width;
    let drawn = -1;
    for (let i = first; i < last; i++) {
      const x = ox + kx * row.times[i];
      if (!crowded) {
        this.event_marker(ctx, row.events[i].kind, x, top + height / 2, 4.6 * pixel, theme);
      } else if (Math.floor(x) !== drawn) {
        drawn = Math.floor(x);
        ctx.fillStyle = theme.text;
        ctx.fillRect(drawn, top + height - 6 * pixel, 1, 4 * pixel);
      }
    }
  }

  /** Square: stick, triangle: slip, diamond: reversal, ring: open, disc: close, star: impact, cross: other facets of the polygon. */
  event_marker(ctx, kind, x, y, r, theme) {
    ctx.save();
    ctx.translate(x, y);
    ctx.scale(r, r);
    ctx.beginPath();
    if (kind === 'stick') ctx.rect(-0.8, -0.8, 1.6, 1.6);
    else if (kind === 'open' || kind === 'close') ctx.arc(0, 0, 0.85, 0, 2 * Math.PI);
    else {
      const corners = { slip: [-0.8, -1, 1.1, 0, -0.8, 1], reversal: [0, -1.1, 1, 0, 0, 1.1, -1, 0], facet: FACET_MARK }[kind] || [];
      for (let k = 0; k < corners.length; k += 2) (k ? ctx.lineTo : ctx.moveTo).call(ctx, corners[k], corners[k + 1]);
      if (!corners.length) {
        for (let k = 0; k < 10; k++) {
          const size = k % 2 ? 0.5 : 1.25;
          const angle = (k * Math.PI) / 5 - Math.PI / 2;
          (k ? ctx.lineTo : ctx.moveTo).call(ctx, size * Math.cos(angle), size * Math.sin(angle));
        }
      }
      ctx.closePath();
    }
    ctx.restore();
    ctx.fillStyle = kind === 'open' ? theme.background : theme.text;
    ctx.strokeStyle = kind === 'open' ? theme.text : theme.background;
    ctx.lineWidth = r / 4;
    ctx.fill();
    ctx.stroke();
  }

  paint_legend(ctx, width, top, scale) {
    ctx.font = `${13 * scale}px ${FONT}`;
    let x = 20;
    let y = top + 14;
    const items = [...this.modes.map((mode) => [MODES[mode].label, mode, null]), ...this.kinds.map((kind) => [`${kind} event`, null, kind])];
    for (const [label, mode, kind] of items) {
      const length = 44 + ctx.measureText(label).width / scale + 14;
      if (x + length > width && x > 20) {
        x = 20;
        y += 22;
      }
      if (mode) this.paint_mode(ctx, LIGHT, mode, x * scale, (y - 7) * scale, 30 * scale, 14 * scale, scale, true);
      else this.event_marker(ctx, kind, (x + 15) * scale, y * scale, 5 * scale, LIGHT);
      ctx.fillStyle = LIGHT.text;
      ctx.textBaseline = 'middle';
      ctx.fillText(label, (x + 38) * scale, y * scale);
      x += length;
    }
    return y - top + 14;
  }

  csv() {
    const rows = [
      ...this.rows.flatMap((row) => row.intervals.map((i) => ['interval', row.name, i.from, i.to, i.mode, '', '', ''])),
      ...this.events.map((e) => ['event', e.law, e.t, e.t, e.kind, e.before, e.after, e.impulse]),
    ];
    return csv_blob(['entry', 'law', 'from', 'to', 'mode or kind', 'before', 'after', 'impulse'], rows.length, (i) => rows[i]);
  }
}
