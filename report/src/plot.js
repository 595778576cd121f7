// SPDX-License-Identifier: Apache-2.0
// What figures and timelines share. uPlot gives scales, axes, drag selection and cursor; the content is painted by the
// subclass, because curves may fold back in x (phase portraits, branches of periodic motions), which uPlot's aligned
// data cannot hold, and because a timeline is no curve at all.
//
// A subclass has: x_extent(), y_range() -> [low, high], paint(canvas), height(width), left_axis(s), show_values(x, own).

const PAGE_WIDTH = 680; // CSS pixels: 180 mm, the text width of an A4 page with the margins in report.css
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const NO_DATA = [[0, 1], [null, null]];

const last_length = (marks) => (marks && marks.labels.length ? marks.labels[marks.labels.length - 1].length : 0);

class Plot {
  constructor(block, link) {
    this.block = block;
    this.link = link;
    this.x_log = false;
    this.y_log = false;
    this.loose = false; // true: margins left and right, so that markers at the ends are whole
    this.y_zoomed = null;
    this.hovered = false;
  }

  // ---- page elements

  mount(section) {
    this.reset_button = button('Reset', 'Reset zoom (also double click)', () => this.link.reset());
    this.tools = element(
      'div.tools.screen-only',
      { role: 'toolbar', 'aria-label': 'plot tools' },
      button('+', 'Zoom in', () => this.link.zoom_about(0.5, 0.5)),
      button('−', 'Zoom out', () => this.link.zoom_about(0.5, 2)),
      this.reset_button,
      button('CSV', 'Download the data as CSV', () => save_blob(this.csv(), file_name(this.block.title, 'csv'))),
      button('PNG', 'Download the picture as PNG', () => this.save_png()),
    );
    this.hint = element('div.hint', { 'aria-hidden': 'true' }, 'click first, or hold Ctrl, to zoom with the wheel');
    this.canvas_box = element('div.canvas-box', {
      tabindex: '0',
      role: 'group',
      'aria-label': `${this.block.title || 'plot'}: arrow keys pan, plus and minus zoom, 0 resets${this.more_keys()}`,
      onkeydown: (event) => this.on_key(event),
    });
    this.print_box = element('div.print-copy');
    section.append(this.tools, this.canvas_box, this.print_box);
    this.build();
    new ResizeObserver(() => this.resize()).observe(this.canvas_box);
  }

  /** What else the keyboard does, for those who cannot see the plot. */
  more_keys() {
    return '';
  }

  width() {
    return Math.max(200, Math.floor(this.canvas_box.clientWidth));
  }

  build() {
    const width = this.width();
    this.u = new uPlot(this.options(width, this.height(width), 1, screen_theme, true), NO_DATA, this.canvas_box);
    this.u.over.append(this.hint);
    this.bind_gestures(this.u.over);
    this.u.batch(() => {});
    this.refresh();
  }

  resize() {
    const width = this.width();
    const height = this.height(width);
    if (!this.u || (width === this.u.width && height === this.u.height)) return;
    this.u.setSize({ width, height });
  }

  refresh() {
    if (!this.u) return;
    const free = { min: null, max: null }; // the range functions answer
    this.u.batch((u) => {
      u.setScale('x', { ...free });
      u.setScale('y', { ...free });
      u.redraw(false, true);
    });
    this.reset_button.disabled = !this.link.zoomed && !this.y_zoomed;
  }

  /** For tests and for the browser's console. */
  state() {
    return {
      title: this.block.title,
      type: this.block.type,
      window: this.x_window(),
      y_window: [this.u.scales.y.min, this.u.scales.y.max],
      drawn: [this.u.scales.x.min, this.u.scales.x.max],
      cursor: this.u.cursor.left,
      shown: this.chosen.size,
      left: this.u.over.getBoundingClientRect().left,
    };
  }

  // ---- uPlot

  /** s scales fonts, gaps and lines: 1 on screen, more in copies for paper and files. */
  options(width, height, s, theme, live) {
    const font = `${Math.round(12 * s)}px ${FONT}`;
    const stroke = () => theme().text;
    const line = (colour) => ({ stroke: () => theme()[colour], width: s });
    const axis = {
      font,
      labelFont: font,
      stroke,
      incrs: () => [1e300], // the splits decide alone
      filter: (u, splits) => splits,
      border: { show: true, ...line('border') },
    };
    return {
      width,
      height,
      padding: [8 * s, () => Math.max(14, 3.7 * last_length(this.x_marks)) * s, 0, 3 * s],
      legend: { show: false },
      cursor: {
        show: live,
        y: false,
        points: { show: false },
        drag: { x: true, y: this.y_drag !== false, uni: 28, dist: 5, setScale: false },
        bind: {
          dblclick: () => () => this.link.reset(),
          mousedown: (u, target, handler) => (event) => this.on_mouse_down(event, handler),
        },
      },
      scales: {
        x: { time: false, auto: false, distr: this.x_log ? 3 : 1, range: () => this.x_window() },
        y: { auto: false, distr: this.y_log ? 3 : 1, dir: this.y_down ? -1 : 1, range: () => this.y_zoomed || this.y_range() },
      },
      series: [{}, { auto: false, paths: () => null, points: { show: false } }],
      axes: [
        {
          ...axis,
          label: this.x_label(),
          size: 30 * s,
          labelSize: 20 * s,
          gap: 4 * s,
          labelGap: 0,
          splits: (u, i, min, max) => (this.x_marks = this.x_ticks(min, max, (u.bbox.width / uPlot.pxRatio || width) / s)).values,
          values: () => this.x_marks.labels,
          grid: { ...line('grid'), filter: (u, splits) => splits.map((v, k) => (this.x_marks.major[k] ? v : null)) },
          ticks: { ...line('border'), size: 5 * s },
        },
        { ...axis, gap: 5 * s, labelSize: 18 * s, labelGap: 2 * s, ...this.left_axis(s, line) },
      ],
      hooks: {
        drawClear: [(u) => this.clear(u, theme())],
        draw: [(u) => this.draw(u, theme(), s)],
        setSelect: live ? [(u) => this.on_select(u)] : [],
        setCursor: live ? [() => this.on_cursor()] : [],
      },
    };
  }

  ticks(min, max, is_log, count) {
    if (is_log) return log_ticks(min, max, count);
    const values = linear_ticks(min, max, Math.min(count, 12));
    return { values, labels: linear_labels(values), major: values.map(() => true) };
  }

  /** As many ticks as their labels leave room for; a closer look may need longer labels, hence fewer. */
  x_ticks(min, max, width) {
    let room = 46;
    for (let round = 0; ; round++) {
      const marks = this.ticks(min, max, this.x_log, width / room);
      const needed = 14 + 7 * Math.max(0, ...marks.labels.map((t) => t.length));
      if (needed <= room || round === 3 || this.x_log) return marks;
      room = needed;
    }
  }

  x_label() {
    return label_with_unit(this.block.x);
  }

  /** A linked window may reach where a logarithmic axis cannot. */
  x_window() {
    const [a, b] = this.link.window();
    if (!this.x_log || a > 0) return [a, b];
    const low = this.x_extent()[0];
    return b > low ? [low, b] : widened([low, low], true, 0);
  }

  /** Width for tick labels; linked plots share the largest, so that their time axes stand above each other. */
  gutter(labels, s) {
    const needed = Math.ceil((14 + 6.9 * Math.max(3, ...(labels || []).map((t) => (t || '').length))) * s);
    if (s === 1 && needed > this.link.gutter) {
      this.link.gutter = needed;
      if (this.link.plots.length > 1) this.link.changed();
    }
    return Math.max(needed, this.link.gutter * s);
  }

  clear(u, theme) {
    u.ctx.fillStyle = theme.background;
    u.ctx.fillRect(0, 0, u.ctx.canvas.width, u.ctx.canvas.height);
  }

  draw(u, theme, s) {
    const box = u.bbox;
    const pixel = (u.ctx.canvas.width / u.width) * s;
    const window_x = [u.scales.x.min, u.scales.x.max].map((v) => to_axis(v, this.x_log));
    const window_y = [u.scales.y.min, u.scales.y.max].map((v) => to_axis(v, this.y_log));
    const kx = box.width / (window_x[1] - window_x[0]);
    const ky = ((this.y_down ? 1 : -1) * box.height) / (window_y[1] - window_y[0]);
    const canvas = {
      ctx: u.ctx,
      box,
      theme,
      pixel,
      window_x,
      window_y,
      kx,
      ky,
      ox: box.left - kx * window_x[0],
      oy: (this.y_down ? box.top : box.top + box.height) - ky * window_y[0],
    };
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(box.left, box.top, box.width, box.height);
    u.ctx.clip();
    this.paint(canvas);
    u.ctx.restore();
  }

  /** The picture on white, s times finer than the screen; drawn at once. */
  static_canvas(width, fineness) {
    const s = fineness / uPlot.pxRatio;
    const holder = element('div');
    const u = new uPlot(this.options(Math.round(width * s), Math.round(this.height(width) * s), s, () => LIGHT, false), NO_DATA, holder);
    u.batch(() => {});
    const canvas = u.ctx.canvas;
    u.destroy();
    return canvas;
  }

  save_png() {
    const scale = 2;
    const width = 900;
    const plot = this.static_canvas(width, scale);
    const canvas = element('canvas');
    const probe = canvas.getContext('2d');
    const legend_height = this.paint_legend(probe, width, 0, scale);
    canvas.width = plot.width;
    canvas.height = plot.height + (44 + legend_height) * scale;
    const ctx = canvas.getContext('2d');
    ctx.fillStyle = LIGHT.background;
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    ctx.fillStyle = LIGHT.text;
    ctx.font = `600 ${16 * scale}px ${FONT}`;
    ctx.fillText(this.block.title || '', 14 * scale, 28 * scale, canvas.width - 28 * scale);
    ctx.drawImage(plot, 0, 40 * scale);
    this.paint_legend(ctx, width, 40 + plot.height / scale, scale);
    canvas.toBlob((blob) => save_blob(blob, file_name(this.block.title, 'png')), 'image/png');
  }

  // ---- paper

  before_print() {
    this.apply_theme(LIGHT);
    this.print_box.replaceChildren(this.static_canvas(PAGE_WIDTH, 3));
  }

  after_print() {
    this.print_box.replaceChildren();
    this.apply_theme(screen_theme());
  }

  // ---- gestures

  on_select(u) {
    const { left, top, width, height } = u.select;
    if (!(width > 0) && !(height > 0)) return;
    const whole_width = width >= u.over.clientWidth - 1;
    const whole_height = height >= u.over.clientHeight - 1;
    if (height > 0 && !whole_height) {
      const range = [u.posToVal(top + height, 'y'), u.posToVal(top, 'y')];
      if (range[1] > range[0]) this.y_zoomed = range;
    }
    const a = u.posToVal(left, 'x');
    const b = u.posToVal(left + width, 'x');
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (whole_width || !(width > 0)) this.link.changed();
    else this.link.zoom(a, b);
  }

  on_mouse_down(event, select) {
    this.canvas_box.focus({ preventScroll: true });
    if (!event.shiftKey && event.button !== 1) {
      select(event);
      return;
    }
    event.preventDefault();
    let last = event.clientX;
    const move = (e) => {
      this.link.pan((last - e.clientX) / this.u.over.clientWidth);
      last = e.clientX;
    };
    const up = () => {
      document.removeEventListener('mousemove', move);
      document.removeEventListener('mouseup', up);
    };
    document.addEventListener('mousemove', move);
    document.addEventListener('mouseup', up);
  }

  on_wheel(event) {
    const active = event.ctrlKey || event.metaKey || document.activeElement === this.canvas_box;
    const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      if (!this.link.zoomed) return;
      event.preventDefault();
      this.link.pan((sideways * unit) / this.u.over.clientWidth);
    } else if (active) {
      event.preventDefault();
      const box = this.u.over.getBoundingClientRect();
      this.link.zoom_about((event.clientX - box.left) / box.width, Math.exp(0.002 * unit * event.deltaY));
    } else {
      this.hint.classList.add('visible');
      clearTimeout(this.hint_timer);
      this.hint_timer = setTimeout(() => this.hint.classList.remove('visible'), 1200);
    }
  }

  on_key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      ArrowLeft: () => this.link.pan(-0.15),
      ArrowRight: () => this.link.pan(0.15),
      '+': () => this.link.zoom_about(0.5, 0.7),
      '=': () => this.link.zoom_about(0.5, 0.7),
      '-': () => this.link.zoom_about(0.5, 1 / 0.7),
      0: () => this.link.reset(),
      Home: () => this.link.reset(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  bind_gestures(over) {
    over.addEventListener('wheel', (event) => this.on_wheel(event), { passive: false });
    over.addEventListener('mouseenter', () => (this.hovered = true));
    over.addEventListener('mouseleave', () => {
      this.hovered = false;
      this.link.move_cursor(null, this);
    });
    const fingers = new Map();
    let start = null;
    let last_tap = 0;
    const grip = () => {
      const points = [...fingers.values()];
      const box = over.getBoundingClientRect();
      const middle = points.reduce((sum, p) => sum + p.x, 0) / points.length;
      const apart = points.length > 1 ? Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y) : 0;
      return { share: (middle - box.left) / box.width, apart };
    };
    const restart = () => {
      const ends = this.link.window().map((v) => to_axis(v, this.link.is_log));
      start = fingers.size ? { ...grip(), ends } : null;
    };
    over.addEventListener('pointerdown', (event) => {
      if (event.pointerType !== 'touch') return;
      over.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, moved: false, x0: event.clientX });
      restart();
    });
    over.addEventListener('pointermove', (event) => {
      const finger = fingers.get(event.pointerId);
      if (!finger) return;
      finger.x = event.clientX;
      finger.y = event.clientY;
      if (Math.abs(finger.x - finger.x0) > 6) finger.moved = true;
      if (!finger.moved && fingers.size === 1) return;
      const now = grip();
      const [a, b] = start.ends;
      const span = (b - a) * (start.apart > 0 ? start.apart / Math.max(now.apart, 10) : 1);
      const from = a + start.share * (b - a) - now.share * span;
      this.link.zoom(from_axis(from, this.link.is_log), from_axis(from + span, this.link.is_log));
    });
    const release = (event) => {
      const finger = fingers.get(event.pointerId);
      if (!finger) return;
      const tapped = event.type === 'pointerup' && !finger.moved && fingers.size === 1;
      fingers.delete(event.pointerId);
      restart();
      if (!tapped) return;
      if (event.timeStamp - last_tap < 350) this.link.reset();
      last_tap = event.timeStamp;
    };
    over.addEventListener('pointerup', release);
    over.addEventListener('pointercancel', release);
  }

  // ---- cursor

  on_cursor() {
    if (this.hovered) this.link.move_cursor(this.pointer_x(), this);
  }

  pointer_x() {
    const left = this.u.cursor.left;
    return left >= 0 ? this.u.posToVal(left, 'x') : null;
  }

  show_cursor(x, own) {
    if (!own && this.u) {
      const [a, b] = this.x_window();
      const left = x === null || x < a || x > b ? -10 : this.u.valToPos(x, 'x');
      this.u.setCursor({ left, top: left < 0 ? -10 : 0 }, false);
    }
    this.show_values(x, own);
  }
}
