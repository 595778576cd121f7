// SPDX-License-Identifier: Apache-2.0
// Hinges of a scene, drawn over the bodies by both painters: where they are, whether friction holds them (a full disc) or they
// slip (a ring), and the friction that acts: an arc about the axis of one that turns, an arrow along that of one that slides.

const HINGE_RADIUS = 5; // pixels
const ARC_RADIUS = 15;
const ARC_MOST = 1.8 * Math.PI; // longer ones are cut

/** Hinges of a block, with the friction that is typical of all that turn and of all that slide. */
class SceneHinges {
  constructor(block, data) {
    this.data = data;
    this.list = (block.hinges || []).map((source, i) => {
      const hinge = {
        name: source.name || `hinge ${i + 1}`,
        body: data.bodies[source.body] || null,
        point: source.point || [0, 0, 0],
        slides: Boolean(source.slides),
        axis: scene_array(source.axis, 'hinges: axis'),
        force: source.force ? scene_array(source.force, 'hinges: force') : null,
        sticks: source.sticks || '',
      };
      if (hinge.axis.length !== 3 * data.frames) throw new Error(`${hinge.name}: axis holds ${hinge.axis.length} numbers, not 3 for each of ${data.frames} frames`);
      if (hinge.force && (hinge.force.length !== data.frames || hinge.sticks.length !== data.frames)) throw new Error(`${hinge.name}: force and sticks need one entry for each frame`);
      return hinge;
    });
    this.half_turn = this.typical(false); // N m of an arc of half a turn
    this.length_unit = this.typical(true) > 0 ? (0.6 * data.arrow_length()) / this.typical(true) : 0; // m per N
  }

  typical(slides) {
    const sizes = [];
    for (const hinge of this.list) if (hinge.force && hinge.slides === slides) for (const v of hinge.force) if (Number.isFinite(v) && v !== 0) sizes.push(Math.abs(v));
    sizes.sort((a, b) => a - b);
    return sizes.length ? nice_step(0.7 * sizes[Math.floor(0.95 * (sizes.length - 1))]) : 0;
  }

  get has_friction() {
    return this.list.some((hinge) => hinge.force);
  }

  /** At the time that is shown: [{hinge, point, axis, force, sticks}]; sticks is null without friction. */
  now() {
    const { data } = this;
    if (!data.when) return [];
    const frame = Math.min(data.frames - 1, data.when.frame + (data.when.share > 0.5 ? 1 : 0));
    return this.list.map((hinge) => ({
      hinge,
      point: in_pose(hinge.body ? hinge.body.pose : WORLD, hinge.point),
      axis: Array.from(hinge.axis.subarray(3 * frame, 3 * frame + 3)),
      force: hinge.force ? hinge.force[frame] : 0,
      sticks: hinge.force ? hinge.sticks[frame] === '1' : null,
    }));
  }
}

const torque_colour = (theme) => (theme === DARK ? '#cfa3ee' : '#7a2fa0'); // no colour of a body or a force

/** An arc about `axis`, counterclockwise for a positive angle, with a head. */
function paint_arc(ctx, camera, theme, { point, axis }, angle, radius) {
  const helper = Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const x = cross3(helper, axis);
  const n = norm3(x) || 1;
  const [e1, e2] = [x.map((v) => v / n), cross3(axis, x).map((v) => v / n)];
  const at = (a) => camera.project(point.map((v, i) => v + radius * (Math.cos(a) * e1[i] + Math.sin(a) * e2[i])));
  const steps = Math.max(6, Math.ceil(Math.abs(angle) * 8));
  const points = Array.from({ length: steps + 1 }, (_, k) => at((angle * k) / steps));
  path_through(ctx, points, false);
  ctx.strokeStyle = theme.background; // stands off from a body of any colour
  ctx.lineWidth = 4.5;
  ctx.stroke();
  ctx.strokeStyle = ctx.fillStyle = torque_colour(theme);
  ctx.lineWidth = 2.2;
  ctx.stroke();
  const [a, b] = [points[steps - 1], points[steps]];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
  const [tx, ty] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
  const head = 7;
  path_through(ctx, [[b[0] + head * tx, b[1] + head * ty], [b[0] - 0.5 * head * ty, b[1] + 0.5 * head * tx], [b[0] + 0.5 * head * ty, b[1] - 0.5 * head * tx]]);
  ctx.fill();
}

/** Discs, rings, arcs and arrows; `friction`: whether what acts is shown. */
function paint_hinges(ctx, hinges, camera, theme, friction) {
  const marks = hinges.now();
  if (friction) {
    for (const mark of marks) {
      if (!(Math.abs(mark.force) > 0)) continue;
      if (mark.hinge.slides) {
        const length = Math.min(Math.abs(mark.force) * hinges.length_unit, hinges.data.size) * Math.sign(mark.force);
        const ends = [camera.project(mark.point), camera.project(mark.point.map((v, i) => v + length * mark.axis[i]))];
        path_through(ctx, ends, false);
        ctx.strokeStyle = theme.background;
        ctx.lineWidth = 5;
        ctx.stroke();
        paint_arrow(ctx, ...ends, torque_colour(theme));
      } else if (hinges.half_turn > 0) {
        const angle = Math.min(ARC_MOST, (Math.PI * Math.abs(mark.force)) / hinges.half_turn) * Math.sign(mark.force);
        paint_arc(ctx, camera, theme, mark, angle, ARC_RADIUS / camera.project(mark.point)[2]);
      }
    }
  }
  const places = new Map(); // axes of one hinge stand at one place
  for (const mark of marks) {
    const key = mark.point.join();
    const old = places.get(key);
    const sticks = old && old.sticks !== null && mark.sticks !== null ? old.sticks && mark.sticks : mark.sticks === null && old ? old.sticks : mark.sticks;
    places.set(key, { point: mark.point, sticks });
  }
  for (const { point, sticks } of places.values()) paint_mark(ctx, theme, camera.project(point), sticks);
}

function paint_mark(ctx, theme, [x, y], sticks) {
  const disc = (radius, colour) => {
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
    ctx.fillStyle = colour;
    ctx.fill();
  };
  disc(HINGE_RADIUS + 1.5, theme.background);
  if (sticks === null) disc(HINGE_RADIUS - 1.5, theme.faint);
  else disc(HINGE_RADIUS, mode_style(theme, sticks ? 'stick' : 'slip').ink);
  if (sticks === false) disc(HINGE_RADIUS - 2.5, theme.background);
}

/** What the marks mean, at the upper edge, and how much friction an arc of half a turn or an arrow is. Returns what it says. */
function paint_hinge_legend(ctx, hinges, camera, theme, friction, top) {
  const labels = [];
  let [x, y] = [camera.width - 14, top];
  ctx.font = `12px ${FONT}`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  const put = (label, paint) => {
    const wide = ctx.measureText(label).width;
    ctx.globalAlpha = 0.75;
    ctx.fillStyle = theme.background;
    ctx.fillRect(x - wide - 32, y - 12, wide + 36, 24);
    ctx.globalAlpha = 1;
    ctx.fillStyle = theme.text;
    ctx.fillText(label, x, y);
    paint(x - wide - 16);
    labels.push(label);
    y += 24;
  };
  if (friction && hinges.half_turn > 0) {
    put(with_prefix(hinges.half_turn, 'N m'), (at) => {
      ctx.strokeStyle = torque_colour(theme);
      ctx.lineWidth = 2.2;
      ctx.beginPath();
      ctx.arc(at, y + 4, 9, Math.PI, 2 * Math.PI);
      ctx.stroke();
    });
  }
  if (friction && hinges.length_unit > 0) {
    const force = nice_step((40 / camera.scale / hinges.length_unit) * 0.999);
    put(with_prefix(force, 'N'), (at) => paint_arrow(ctx, [at + 8 - force * hinges.length_unit * camera.scale, y], [at + 8, y], torque_colour(theme)));
  }
  if (hinges.has_friction) {
    const column = x - ctx.measureText('stick').width - 16;
    put('stick', () => paint_mark(ctx, theme, [column, y], true));
    put('slip', () => paint_mark(ctx, theme, [column, y], false));
  }
  return labels.join(', ');
}
