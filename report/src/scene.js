// SPDX-License-Identifier: Apache-2.0
// The animation of a run: bodies, contact forces, springs; played in its own time, scrubbed, followed, linked with the
// figures over the same time. Drawn by FlatPainter (scene_flat.js) or by the WebGL painter of solid/.

const SPEEDS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000];
const SHORTEST = 2; // s: a run shorter than this is slowed down, one longer than LONGEST sped up
const LONGEST = 60;
const STRIP = 6; // moments on paper
const FILM_SIZE = [560, 336]; // of a film, in pixels of the page
// `rate`: pictures per second; `most`: pictures; `ratio`: pixels of the film for one of the page
const GIF = { rate: 15, most: 240, ratio: 1 };
const VIDEO = { rate: 30, most: 1800, ratio: 2 };
const TOO_SLOW = 0.3; // s per picture: shadows are given up, then the solid look

/** Real time if that can be watched; else the speed at which the run lasts about 6 s or 30 s. */
function speed_for(duration) {
  if (!(duration > 0) || (duration >= SHORTEST && duration <= LONGEST)) return 1;
  const wanted = duration < SHORTEST ? duration / 6 : duration / 30;
  return SPEEDS.reduce((best, s) => (Math.abs(Math.log(s / wanted)) < Math.abs(Math.log(best / wanted)) ? s : best));
}

class Scene {
  constructor(block, link) {
    this.block = block;
    this.link = link;
    this.x_log = this.loose = this.hovered = false;
    this.data = new SceneData(block);
    this.camera = new SceneCamera(this.data);
    this.painter = new FlatPainter(this.data);
    [this.t_first, this.t_last] = this.data.frames ? [this.data.times[0], this.data.times[this.data.frames - 1]] : [0, 0];
    this.t = this.t_first;
    this.playing = false;
    this.speed = speed_for(this.t_last - this.t_first);
    this.followed = null;
    this.show = { forces: true, hinges: true, friction: true, trails: false, grid: true, loop: false };
    this.force_factor = 1;
    this.shown_laws = new Set(this.data.laws.keys());
    this.drawn = 0;
    this.visible = true;
    link.add(this);
  }

  // ---- member of a link: see Link and Plot

  x_extent() {
    return this.data.frames ? [this.t_first, this.t_last] : [Infinity, -Infinity];
  }

  x_window() {
    return this.range();
  }

  refresh() {
    if (!this.slider) return;
    const [a, b] = this.range();
    Object.assign(this.slider, { min: a, max: b, step: (b - a) / 2000 || 1, value: this.t });
    this.slider.disabled = this.play_button.disabled = !(b > a);
    this.part.textContent = this.link.zoomed && b > a ? `playing ${format_number(a)} to ${format_number(b)} s, as zoomed` : '';
  }

  show_cursor(x, own) {
    if (own || x === null || x === this.t) return;
    this.pause();
    this.set_time(x, false);
  }

  pointer_x() {
    return this.t;
  }

  /** Played and scrubbed is what the linked plots show of the run. */
  range() {
    if (!this.link.zoomed) return [this.t_first, this.t_last];
    const [a, b] = this.link.zoomed.map((v) => Math.min(this.t_last, Math.max(this.t_first, v)));
    return b > a ? [a, b] : [this.t_first, this.t_last];
  }

  state() {
    return {
      title: this.block.title,
      type: 'scene',
      time: this.t,
      playing: this.playing,
      speed: this.speed,
      frames: this.data.frames,
      bodies: this.data.bodies.length,
      painter: this.painter instanceof FlatPainter ? 'flat' : 'solid',
      hinges: this.data.hinges.now().map(({ hinge, sticks, force, point }) => ({ name: hinge.name, sticks, force, point })),
      hinge_label: this.hinge_label || '',
      view: this.camera.view,
      target: this.camera.target,
      zoom: this.camera.zoom,
      drawn: this.drawn,
    };
  }

  // ---- page elements

  mount(section) {
    this.section = section;
    this.tools = element(
      'div.tools.screen-only',
      { role: 'toolbar', 'aria-label': 'animation tools' },
      button('+', 'Zoom in', () => this.zoom(1.4)),
      button('−', 'Zoom out', () => this.zoom(1 / 1.4)),
      button('Reset', 'Reset the view (also double click beside the bodies)', () => this.reset_view()),
      button('CSV', 'Download the positions as CSV', () => save_blob(this.csv(), file_name(this.block.title, 'csv'))),
      button('PNG', 'Download the picture as PNG', () => this.save_png()),
      (this.gif_button = button('GIF', 'Download the animation as GIF, at the speed chosen', () => this.save_film(this.gif_button, 'gif'))),
      (this.webm_button = button('WebM', 'Download the animation as WebM video, at the speed chosen', () => this.save_film(this.webm_button, 'webm'))),
    );
    if (!WebmWriter.available()) Object.assign(this.webm_button, { disabled: true, title: 'This browser cannot make videos (it has no WebCodecs); GIF is possible' });
    this.canvas = element('canvas', { role: 'img' });
    this.tip = element('div.tip', { role: 'status' });
    this.tip.hidden = true;
    this.hint = element('div.hint', { 'aria-hidden': 'true' }, 'click first, or hold Ctrl, to zoom with the wheel');
    const gestures = this.data.planar ? 'Shift and arrow keys move the view' : 'Shift and arrow keys turn the view';
    this.canvas_box = element(
      'div.canvas-box.scene-box',
      { tabindex: '0', role: 'group', 'aria-label': `${this.block.title || 'animation'}: space plays and pauses, arrow keys step, ${gestures}, plus and minus zoom, 0 resets`, onkeydown: (event) => on_scene_key(this, event) },
      this.canvas,
      this.hint,
      this.tip,
    );
    this.missing = element('p.note');
    this.missing.hidden = true;
    this.print_box = element('div.print-copy');
    section.append(this.tools, this.missing, this.canvas_box, this.print_box, scene_controls(this));
    if (this.data.force_count && this.data.laws.length > 1) section.append(chooser('laws', this.data.laws, this.shown_laws, () => this.invalidate()));
    bind_scene_gestures(this);
    this.resize();
    this.refresh();
    new ResizeObserver(() => this.resize()).observe(this.canvas_box);
    new IntersectionObserver((entries) => {
      this.visible = entries[entries.length - 1].isIntersecting;
      if (this.visible) this.invalidate();
    }).observe(this.canvas_box);
    this.draw();
    if (!this.data.planar && this.data.bodies.length) this.loading = this.go_solid();
  }

  /** Loads the WebGL painter; without WebGL the plain one stays, and says so. */
  async go_solid() {
    try {
      const solid = await load_solid();
      this.painter = solid.painter(this.data, { rotation, chain, spring_ends: (s) => this.data.spring_ends(s), body_colour, force_colour, grid_step, DARK });
      this.draw();
    } catch (error) {
      this.go_flat(`WebGL is not available here (${error.message})`);
    }
  }

  go_flat(reason) {
    this.painter = new FlatPainter(this.data);
    this.missing.textContent = `${reason}: the bodies are drawn in a simplified way.`;
    this.missing.hidden = false;
    this.invalidate();
  }

  /** Gives up looks for speed when pictures keep taking too long. The first ones do not count: shaders are made then. */
  watch_speed(seconds) {
    if (this.painter instanceof FlatPainter) return;
    this.watched = (this.watched || 0) + 1;
    if (this.watched <= 5) return;
    this.pace = this.watched === 6 ? seconds : 0.8 * this.pace + 0.2 * seconds;
    if (this.watched < 12 || this.pace < TOO_SLOW) return;
    this.watched = 0;
    if (this.without_shadows) this.go_flat('The graphics of this computer are slow');
    else this.painter.drop_shadows();
    this.without_shadows = true;
  }

  resize() {
    const width = Math.max(200, Math.floor(this.canvas_box.clientWidth));
    const height = Math.round(Math.min(540, Math.max(260, 0.56 * width)));
    if (this.camera.width === width && this.camera.height === height) return;
    this.camera.set_size(width, height);
    this.canvas.style.height = `${height}px`;
    this.draw();
  }

  // ---- time

  set_time(t, tell = true) {
    const value = Math.min(this.t_last, Math.max(this.t_first, t));
    if (Number.isFinite(value)) this.t = value;
    this.slider.value = this.t;
    if (tell) this.link.move_cursor(this.t, this);
    this.invalidate();
  }

  scrub() {
    this.pause();
    this.set_time(Number(this.slider.value));
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    const [a, b] = this.range();
    if (!(b > a)) return;
    if (this.t >= b - 1e-9 * (b - a) || this.t < a) this.set_time(a);
    this.playing = true;
    this.show_playing();
    let last = null;
    const tick = (now) => {
      if (!this.playing) return;
      const since = last === null ? 0 : Math.max(0, (now - last) / 1000);
      const passed = Math.min(0.1, since); // a hidden page does not run on
      last = now;
      if (this.visible && since < 10) this.watch_speed(since);
      const [from, to] = this.range();
      let t = this.t + passed * this.speed;
      if (t >= to) {
        if (this.show.loop) t = from + ((t - from) % (to - from));
        else {
          t = to;
          this.pause();
        }
      }
      this.set_time(t);
      if (this.playing) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.show_playing();
  }

  show_playing() {
    this.play_button.textContent = this.playing ? '❚❚' : '▶';
    this.play_button.setAttribute('aria-label', this.playing ? 'Pause' : 'Play');
    this.play_button.title = this.playing ? 'Pause (space)' : 'Play (space)';
  }

  step(count) {
    this.pause();
    const { frame, share } = this.data.at(this.t);
    const from = count < 0 && share > 1e-9 ? frame + 1 : frame;
    this.set_time(this.data.times[Math.min(this.data.frames - 1, Math.max(0, from + count))]);
  }

  change_speed(by) {
    const i = Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(this.speed) + by));
    this.speed = SPEEDS[i];
    this.speed_choice.value = String(this.speed);
  }

  // ---- view

  zoom(factor, x = this.camera.width / 2, y = this.camera.height / 2) {
    this.camera.zoom_about(x, y, factor);
    this.invalidate();
  }

  follow(body) {
    this.followed = body;
    this.camera.offset = [0, 0, 0];
    this.follow_choice.value = body ? String(body.index) : '';
    this.invalidate();
  }

  set_view(view) {
    this.camera.set_view(view);
    this.view_choice.value = view;
    this.invalidate();
  }

  reset_view() {
    this.follow(null);
    this.camera.reset();
    this.set_view(this.camera.view);
  }

  // ---- drawing

  invalidate() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  draw() {
    this.clock.textContent = this.data.frames ? this.time_text(this.t) : '';
    this.slider.setAttribute('aria-valuetext', this.clock.textContent);
    if (!this.visible && this.drawn) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.paint_on(this.canvas, this.camera, screen_theme(), ratio, this.t);
    this.canvas.setAttribute('aria-label', `${this.data.bodies.length} bodies at ${this.clock.textContent}${this.followed ? `, following ${this.followed.name}` : ''}`);
    this.drawn++;
    this.place_tip();
  }

  /** With as many decimals as tell a thousandth of the run. */
  time_text(t) {
    const span = this.t_last - this.t_first;
    return `${t.toFixed(span > 0 ? Math.min(15, Math.max(0, Math.ceil(3 - Math.log10(span) - 1e-9))) : 3)} s`;
  }

  /** The scene at t; `ratio` pixels of the canvas for one of the camera. */
  paint_on(canvas, camera, theme, ratio, t) {
    const [width, height] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const ctx = canvas.getContext('2d');
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = theme.background;
    ctx.fillRect(0, 0, camera.width, camera.height);
    this.data.set_time(t);
    camera.look(this.followed);
    if (!this.data.bodies.length || !this.data.frames) {
      paint_message({ ctx, box: { left: 0, top: 0, width: camera.width, height: camera.height }, theme, pixel: 1 }, this.data.bodies.length ? 'no frames' : 'no bodies');
      return;
    }
    const unit = this.data.force_unit * this.force_factor;
    const forces = this.show.forces ? this.data.forces(this.shown_laws) : [];
    const longest = 1.5 * this.data.size;
    const arrow = (force) => Math.min(force.size * unit, longest);
    if (this.painter.lost) this.go_flat('The graphics context was lost');
    const ticks = camera.flat() && this.show.grid ? paint_grid(ctx, camera, theme) : null;
    if (camera.flat() && !(this.painter instanceof FlatPainter)) new FlatPainter(this.data).paint_planes(ctx, { camera, theme });
    this.painter.paint(ctx, { camera, theme, forces, arrow, grid: this.show.grid, ratio });
    if (this.show.hinges) paint_hinges(ctx, this.data.hinges, camera, theme, this.show.friction);
    if (this.show.trails) paint_trails(ctx, this.data, camera, theme, this.range()[0], this.followed);
    if (ticks) ticks();
    else if (!camera.flat()) paint_axes(ctx, camera, theme, this.show.grid && !(this.painter instanceof FlatPainter) ? this.painter.grid_width : 0);
    const scaled = this.show.forces && unit > 0;
    if (scaled) this.force_label = paint_force_scale(ctx, camera, theme, unit);
    if (this.show.hinges) this.hinge_label = paint_hinge_legend(ctx, this.data.hinges, camera, theme, this.show.friction, scaled ? 46 : 20);
  }

  apply_theme() {
    if (this.canvas) this.draw();
  }

  // ---- hover

  hover(x, y) {
    this.pointer = x === null ? null : [x, y];
    this.place_tip();
  }

  place_tip() {
    this.tip.hidden = true;
    if (!this.pointer || !this.data.frames) return;
    const lines = this.describe(...this.pointer);
    if (!lines) return;
    this.tip.replaceChildren(...lines.map((text, i) => element(i ? 'div' : 'strong', {}, text)));
    this.tip.hidden = false;
    const [x, y] = this.pointer;
    const width = this.tip.offsetWidth;
    const left = x + 14 + width > this.camera.width ? Math.max(0, x - width - 14) : x + 14;
    const top = Math.min(y + 14, this.camera.height - this.tip.offsetHeight - 2);
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  describe(x, y) {
    const { data, camera } = this;
    const three = (v) => `(${v.map((c) => format_number(Math.abs(c) < 1e-9 * data.size ? 0 : c, 4)).join(', ')})`;
    const unit = data.force_unit * this.force_factor;
    if (this.show.forces) {
      for (const f of data.forces(this.shown_laws)) {
        const length = Math.min(f.size * unit, 1.5 * data.size);
        if (from_segment(camera.project(f.point), camera.project(f.point.map((v, i) => v + (length * f.force[i]) / f.size)), x, y) < 4) {
          return [data.laws[f.law] || 'force', `${format_number(f.size, 4)} N`, three(f.force)];
        }
      }
    }
    const hinge = this.show.hinges ? this.hinge_at(x, y) : null;
    if (hinge) return hinge;
    const body = body_at(data, camera, x, y);
    if (!body) return null;
    const speed = data.speed(body);
    return [body.name, `at ${three(body.pose.p)} m`, ...(speed === null ? [] : [`speed ${format_number(speed, 4)} m/s`])];
  }

  /** What is told of the axes of the hinge under the pointer. */
  hinge_at(x, y) {
    const near = this.data.hinges.now().filter(({ point }) => {
      const [px, py] = this.camera.project(point);
      return Math.hypot(px - x, py - y) < HINGE_RADIUS + 2;
    });
    if (!near.length) return null;
    const told = ({ hinge, sticks, force }) => (sticks === null ? hinge.name : `${hinge.name}: ${sticks ? 'sticks' : 'slips'}, friction ${format_number(force, 4)} ${hinge.slides ? 'N' : 'N m'}`);
    return near.slice(0, 6).map(told);
  }

  screen_theme() {
    return screen_theme();
  }

  // ---- paper and files

  picture(width, height, ratio, t) {
    const camera = Object.assign(Object.create(SceneCamera.prototype), this.camera);
    camera.set_size(width, height);
    const canvas = element('canvas');
    this.paint_on(canvas, camera, LIGHT, ratio, t);
    return canvas;
  }

  /** On paper: moments of the run side by side. */
  before_print() {
    const [a, b] = this.range();
    const moments = b > a ? Array.from({ length: STRIP }, (_, k) => a + ((b - a) * k) / (STRIP - 1)) : [this.t];
    const width = moments.length > 1 ? PAGE_WIDTH / 2 - 8 : PAGE_WIDTH;
    const figures = moments.map((t) => element('figure', {}, this.picture(width, Math.round(0.62 * width), 3, t), element('figcaption', {}, this.data.frames ? `t = ${this.time_text(t)}` : '')));
    this.print_box.replaceChildren(element('div.strip', {}, ...figures));
  }

  after_print() {
    this.print_box.replaceChildren();
    this.draw();
  }

  save_png() {
    this.picture(900, 540, 2, this.t).toBlob((blob) => save_blob(blob, file_name(this.block.title, 'png')), 'image/png');
    this.draw();
  }

  /**
   * The part that is played, at the speed that is chosen, as moving pictures; the page stays usable meanwhile.
   * `writer(width, height, seconds)` has `add(canvas)` and `blob()`.
   */
  async film({ rate, most, ratio }, writer, told) {
    const [a, b] = this.range();
    const wanted = Math.ceil(((b - a) / this.speed) * rate);
    const count = Math.min(most, Math.max(1, Number.isFinite(wanted) ? wanted : 1));
    const seconds = count > 1 ? Math.min((b - a) / this.speed / count, 10 / rate) : 1;
    const camera = Object.assign(Object.create(SceneCamera.prototype), this.camera);
    camera.set_size(...FILM_SIZE);
    const canvas = element('canvas');
    const film = writer(...FILM_SIZE.map((v) => v * ratio), seconds);
    for (let k = 0; k < count; k++) {
      this.paint_on(canvas, camera, screen_theme(), ratio, a + ((b - a) * k) / Math.max(1, count - 1));
      await film.add(canvas);
      told(k / count);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.draw();
    return film.blob();
  }

  gif(told = () => {}) {
    return this.film(GIF, (...of) => new GifWriter(...of), told);
  }

  webm(told = () => {}) {
    return this.film(VIDEO, (...of) => new WebmWriter(...of), told);
  }

  /** `kind`: gif or webm, the method and the end of the file's name. */
  async save_film(pressed, kind) {
    if (pressed.disabled) return;
    const text = pressed.textContent;
    this.pause();
    pressed.disabled = true;
    try {
      save_blob(await this[kind]((share) => (pressed.textContent = `${Math.round(100 * share)} %`)), file_name(this.block.title, kind));
    } catch (error) {
      this.missing.textContent = `The film could not be made: ${error.message}`;
      this.missing.hidden = false;
    } finally {
      pressed.textContent = text;
      pressed.disabled = false;
    }
  }

  csv() {
    const movers = this.data.bodies.filter((body) => !body.fixed);
    const per = movers.length || 1;
    return csv_blob(['time (s)', 'body', 'x (m)', 'y (m)', 'z (m)', 'qw', 'qx', 'qy', 'qz'], movers.length * this.data.frames, (i) => {
      const [k, body] = [Math.floor(i / per), movers[i % per]];
      const p = body.position.length > 3 ? 3 * k : 0;
      const q = body.quaternion.length > 4 ? 4 * k : 0;
      return [this.data.times[k], body.name, ...body.position.subarray(p, p + 3), ...body.quaternion.subarray(q, q + 4)];
    });
  }
}
