// SPDX-License-Identifier: Apache-2.0
// The data of a scene: bodies, their poses over time, forces, springs. Quaternions are (w, x, y, z) and turn body axes
// into world axes; lengths are in m, forces in N, times in s.

const ARRAY_KINDS = {
  float32: { view: Float32Array, unit: 1 },
  int16: { view: Int16Array, unit: 1 / 32767 }, // quaternions: 3e-5 of a turn's sine is less than a pixel
  uint32: { view: Uint32Array, unit: 1 },
};

function bytes_of(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Numbers of a scene: a list, or {float32|int16|uint32: base64 of little-endian values}. */
function scene_array(source, what) {
  if (!source) return new Float64Array(0);
  if (Array.isArray(source)) return Float64Array.from(source, (v) => (typeof v === 'number' ? v : NaN));
  const [name] = Object.keys(source);
  const kind = ARRAY_KINDS[name];
  if (!kind) throw new Error(`${what}: numbers are a list or {float32|int16|uint32: base64}`);
  const bytes = bytes_of(source[name]);
  const size = kind.view.BYTES_PER_ELEMENT;
  if (bytes.length % size) throw new Error(`${what}: ${bytes.length} bytes are no whole number of ${name}`);
  const view = new kind.view(bytes.buffer, 0, bytes.length / size);
  return kind.unit === 1 ? view : Float32Array.from(view, (v) => v * kind.unit);
}

const dot3 = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross3 = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm3 = (a) => Math.hypot(a[0], a[1], a[2]);

/** Rotation matrix, row by row, of a quaternion of any length but 0. */
function rotation([w, x, y, z]) {
  const s = 2 / (w * w + x * x + y * y + z * z || 1);
  return [
    1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
    s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x),
    s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y),
  ]; // prettier-ignore
}

const turn = (R, p) => [R[0] * p[0] + R[1] * p[1] + R[2] * p[2], R[3] * p[0] + R[4] * p[1] + R[5] * p[2], R[6] * p[0] + R[7] * p[1] + R[8] * p[2]];

function times3(A, B) {
  const C = new Array(9);
  for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
  return C;
}

/** A pose: rotation R (rows) and position p. */
const in_pose = (pose, point) => {
  const q = turn(pose.R, point);
  return [q[0] + pose.p[0], q[1] + pose.p[1], q[2] + pose.p[2]];
};
const chain = (outer, inner) => ({ R: times3(outer.R, inner.R), p: in_pose(outer, inner.p) });
const WORLD = { R: [1, 0, 0, 0, 1, 0, 0, 0, 1], p: [0, 0, 0] };

const SHAPE_SIZES = { sphere: 1, box: 3, capsule: 2, cylinder: 2, plane: 0, hull: 0, mesh: 0, line: 0 };

function scene_shape(source, where, frames) {
  const { kind } = source;
  if (!(kind in SHAPE_SIZES)) throw new Error(`${where}: unknown shape "${kind}"`);
  const size = source.size || [];
  if (size.length < SHAPE_SIZES[kind] || !size.every((v) => v >= 0)) throw new Error(`${where}: a ${kind} has ${SHAPE_SIZES[kind]} sizes, none below 0`);
  const vertices = scene_array(source.vertices, `${where}: vertices`);
  const moving = Boolean(source.moving) && kind === 'line';
  const count = vertices.length / 3 / (moving ? frames : 1);
  if (!Number.isInteger(count)) throw new Error(`${where}: ${vertices.length} coordinates are no whole number of points${moving ? ` for each of ${frames} frames` : ''}`);
  const corners = Array.from({ length: count }, (_, i) => [vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]]);
  const triangles = Array.from(scene_array(source.triangles, `${where}: triangles`));
  if (triangles.some((i) => !(i < corners.length))) throw new Error(`${where}: a triangle names a vertex that does not exist`);
  const local = { R: rotation(source.quaternion || [1, 0, 0, 0]), p: source.position || [0, 0, 0] };
  const half = size.map((v) => v / 2);
  let reach = 0; // radius about the shape's own origin
  if (kind === 'sphere') reach = size[0];
  else if (kind === 'box') reach = norm3(half);
  else if (kind === 'capsule') reach = size[0] + half[1];
  else if (kind === 'cylinder') reach = Math.hypot(size[0], half[1]);
  else for (let i = 0; i < vertices.length / 3; i++) reach = Math.max(reach, norm3(vertices.slice(3 * i, 3 * i + 3)));
  return { kind, size, half, local, corners, triangles, reach, color: source.color || null, moving: moving ? vertices : null };
}

/** Middle and half widths, along the world's axes, of a box that holds the shape. */
function box_around(shape, body_pose) {
  const { R, p } = chain(body_pose, shape.local);
  const { kind, size, half, corners } = shape;
  const along = [R[2], R[5], R[8]];
  if (kind === 'sphere') return { p, half: [size[0], size[0], size[0]] };
  if (kind === 'box') return { p, half: [0, 1, 2].map((i) => half.reduce((sum, h, j) => sum + Math.abs(R[3 * i + j]) * h, 0)) };
  if (kind === 'capsule') return { p, half: along.map((a) => Math.abs(a) * half[1] + size[0]) };
  if (kind === 'cylinder') return { p, half: along.map((a) => Math.abs(a) * half[1] + Math.sqrt(Math.max(0, 1 - a * a)) * size[0]) };
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const corner of corners) {
    in_pose({ R, p }, corner).forEach((v, i) => {
      low[i] = Math.min(low[i], v);
      high[i] = Math.max(high[i], v);
    });
  }
  return { p: low.map((v, i) => (v + high[i]) / 2), half: low.map((v, i) => (high[i] - v) / 2) };
}

const PATCH_MARGIN = 0.08; // around the bodies, relative to the scene

const square = (half) => [[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]]; // prettier-ignore

/** The part of a convex polygon where `height` is not negative (Sutherland and Hodgman). */
function clip_polygon(corners, height) {
  const out = [];
  corners.forEach((p, i) => {
    const q = corners[(i + 1) % corners.length];
    const [a, b] = [height(p), height(q)];
    if (a >= 0) out.push(p);
    if (a >= 0 !== b >= 0) out.push(p.map((v, k) => v + (a / (a - b)) * (q[k] - v)));
  });
  return out;
}

class SceneData {
  constructor(block) {
    this.planar = Boolean(block.planar);
    this.up = block.up === 'y' ? 1 : 2;
    this.plane = ['xy', 'xz', 'yz'].includes(block.plane) ? block.plane : this.up === 1 ? 'xy' : 'xz';
    this.times = scene_array(block.times, 'times');
    for (let k = 1; k < this.times.length; k++) if (!(this.times[k] >= this.times[k - 1])) throw new Error(`times must ascend (frame ${k})`);
    this.frames = this.times.length;
    this.moving = 0;
    this.bodies = (block.bodies || []).map((body, i) => this.body(body, i));
    this.springs = (block.springs || []).map((spring) => ({
      a: this.bodies[spring.body_a] || null,
      b: this.bodies[spring.body_b] || null,
      point_a: spring.point_a || [0, 0, 0],
      point_b: spring.point_b || [0, 0, 0],
    }));
    this.laws = (block.laws || []).map(String);
    this.read_forces(block.forces || {});
    this.bounds = this.find_bounds();
    this.size = Math.max(...[0, 1, 2].map((i) => this.bounds.high[i] - this.bounds.low[i])) || 1;
    for (const body of this.bodies) for (const shape of body.shapes) if (shape.kind === 'plane') shape.patch = this.patch(body, shape);
    this.hinges = new SceneHinges(block, this);
    this.force_unit = this.typical_force() > 0 ? this.arrow_length() / this.typical_force() : 0; // m per N
  }

  body(source, index) {
    const name = source.name || `body ${index + 1}`;
    const position = scene_array(source.position || [0, 0, 0], `${name}: position`);
    const quaternion = scene_array(source.quaternion || [1, 0, 0, 0], `${name}: quaternion`);
    for (const [what, values, n] of [['position', position, 3], ['quaternion', quaternion, 4]]) {
      if (values.length !== n && values.length !== n * this.frames) throw new Error(`${name}: ${what} holds ${values.length} numbers, not ${n} or ${n} for each of ${this.frames} frames`);
    }
    const shapes = (source.shapes || []).map((shape) => scene_shape(shape, name, this.frames));
    // In a single frame nothing tells a body at rest from the ground, except a plane.
    const still = position.length === 3 && quaternion.length === 4 && !shapes.some((shape) => shape.moving);
    const fixed = still && (this.frames !== 1 || shapes.some((shape) => shape.kind === 'plane'));
    return { name, index, position, quaternion, fixed, shapes, slot: fixed ? -1 : this.moving++, pose: WORLD };
  }

  read_forces(source) {
    this.force_point = scene_array(source.point, 'forces: point');
    this.force_value = scene_array(source.force, 'forces: force');
    this.force_law = scene_array(source.law, 'forces: law');
    this.force_count = this.force_value.length / 3;
    this.force_offsets = source.offsets || [];
    if (!this.force_count) return;
    if (this.force_point.length !== this.force_value.length) throw new Error('forces: as many points as forces');
    if (this.force_offsets.length !== this.frames + 1) throw new Error(`forces: ${this.frames + 1} offsets are needed`);
  }

  /** A quarter of the picture, or a few times the bodies where those are many and small. */
  arrow_length() {
    const reaches = this.bodies.filter((b) => !b.fixed).map((b) => Math.max(0, ...b.shapes.map((s) => s.reach))).sort((a, b) => a - b);
    const middle = reaches[Math.floor(reaches.length / 2)] || this.size;
    return Math.min(0.25 * this.size, 4 * middle);
  }

  /** All but the highest twentieth of the forces are below: an impact must not make the rest invisible. */
  typical_force() {
    if (this.typical !== undefined) return this.typical;
    const sizes = [];
    const stride = Math.max(1, Math.floor(this.force_count / 20000));
    for (let i = 0; i < this.force_count; i += stride) {
      const size = norm3(this.force_value.subarray(3 * i, 3 * i + 3));
      if (size > 0 && Number.isFinite(size)) sizes.push(size);
    }
    sizes.sort((a, b) => a - b);
    this.typical = sizes.length ? sizes[Math.min(sizes.length - 1, Math.floor(0.95 * sizes.length))] : 0;
    return this.typical;
  }

  // ---- poses

  /** The frame before t and the share of the way to the next. */
  at(t) {
    const { times, frames } = this;
    if (!frames) return { frame: 0, share: 0 };
    let frame = Math.min(Math.max(0, lower_bound(times, t)), frames - 1);
    if (frame > 0 && times[frame] > t) frame--;
    const next = Math.min(frame + 1, frames - 1);
    const gap = times[next] - times[frame];
    return { frame, share: gap > 0 ? Math.min(1, Math.max(0, (t - times[frame]) / gap)) : 0 };
  }

  /** Corners of a line that changes its shape. */
  bend(body, frame, share) {
    const next = Math.min(frame + 1, this.frames - 1);
    for (const { moving, corners } of body.shapes) {
      if (!moving) continue;
      const n = 3 * corners.length;
      corners.forEach((corner, i) => {
        for (let k = 0; k < 3; k++) corner[k] = (1 - share) * moving[frame * n + 3 * i + k] + share * moving[next * n + 3 * i + k];
      });
    }
  }

  pose_of_frame(body, k) {
    this.bend(body, k, 0);
    const p = body.position.length > 3 ? 3 * k : 0;
    const q = body.quaternion.length > 4 ? 4 * k : 0;
    return { R: rotation(body.quaternion.subarray(q, q + 4)), p: Array.from(body.position.subarray(p, p + 3)) };
  }

  position_at(body, { frame, share }) {
    const { position } = body;
    if (position.length === 3) return [position[0], position[1], position[2]];
    const a = 3 * frame;
    const b = 3 * Math.min(frame + 1, this.frames - 1);
    return [0, 1, 2].map((i) => position[a + i] + share * (position[b + i] - position[a + i]));
  }

  /** Poses of all bodies at t: linear in position, and in the quaternion along the shorter way. */
  set_time(t) {
    const when = this.at(t);
    this.when = when;
    for (const body of this.bodies) {
      const { quaternion } = body;
      let q = quaternion;
      if (quaternion.length > 4 || this.frames === 1) {
        const a = 4 * when.frame;
        const b = 4 * Math.min(when.frame + 1, this.frames - 1);
        let same = 0;
        for (let i = 0; i < 4; i++) same += quaternion[a + i] * quaternion[b + i];
        const from = 1 - when.share;
        const to = same < 0 ? -when.share : when.share;
        q = [0, 1, 2, 3].map((i) => from * quaternion[a + i] + to * quaternion[b + i]);
      }
      this.bend(body, when.frame, when.share);
      body.pose = { R: rotation(q), p: this.position_at(body, when) };
    }
  }

  speed(body) {
    if (body.position.length === 3 || this.frames < 2) return null;
    const k = Math.min(this.when.frame, this.frames - 2);
    const gap = this.times[k + 1] - this.times[k];
    const d = [0, 1, 2].map((i) => body.position[3 * k + 3 + i] - body.position[3 * k + i]);
    return gap > 0 ? norm3(d) / gap : null;
  }

  /** Forces of the frame nearest to the time shown: [{point, force, size, law}]. */
  forces(shown_laws) {
    if (!this.force_count || !this.when) return [];
    const frame = Math.min(this.frames - 1, this.when.frame + (this.when.share > 0.5 ? 1 : 0));
    const out = [];
    for (let i = this.force_offsets[frame]; i < this.force_offsets[frame + 1]; i++) {
      const law = this.force_law.length ? this.force_law[i] : -1;
      if (shown_laws && law >= 0 && !shown_laws.has(law)) continue;
      const force = Array.from(this.force_value.subarray(3 * i, 3 * i + 3));
      const size = norm3(force);
      if (!(size > 0)) continue;
      out.push({ point: Array.from(this.force_point.subarray(3 * i, 3 * i + 3)), force, size, law });
    }
    return out;
  }

  spring_ends(spring) {
    return [in_pose(spring.a ? spring.a.pose : WORLD, spring.point_a), in_pose(spring.b ? spring.b.pose : WORLD, spring.point_b)];
  }

  // ---- extent

  /**
   * The box to look at: where the moving bodies go, and the fixed ones near them. A body that flies off (less than one
   * sample in fifty) and planes, which have no end, do not count.
   */
  find_bounds() {
    const ends = [[], [], []];
    const stride = Math.max(1, Math.floor((this.frames * this.bodies.length) / 40000));
    const add = (body, k) => {
      const pose = this.pose_of_frame(body, k);
      for (const shape of body.shapes) {
        if (shape.kind === 'plane') continue;
        const { p, half } = box_around(shape, pose);
        for (let i = 0; i < 3; i++) if (Number.isFinite(p[i])) ends[i].push([p[i] - half[i], p[i] + half[i]]);
      }
      if (!body.shapes.length) for (let i = 0; i < 3; i++) if (Number.isFinite(pose.p[i])) ends[i].push([pose.p[i], pose.p[i]]);
    };
    const movers = this.bodies.filter((body) => !body.fixed);
    for (const body of movers.length ? movers : this.bodies) {
      const last = body.fixed ? 0 : Math.max(0, this.frames - 1);
      for (let k = 0; k < last; k += stride) add(body, k);
      add(body, last);
    }
    for (const spring of this.springs) {
      for (const [body, point] of [[spring.a, spring.point_a], [spring.b, spring.point_b]]) {
        if (!body) for (let i = 0; i < 3; i++) ends[i].push([point[i], point[i]]);
      }
    }
    const low = [0, 0, 0];
    const high = [0, 0, 0];
    for (let i = 0; i < 3; i++) {
      if (!ends[i].length) {
        [low[i], high[i]] = [-0.5, 0.5];
        continue;
      }
      const lows = ends[i].map((e) => e[0]).sort((a, b) => a - b);
      const highs = ends[i].map((e) => e[1]).sort((a, b) => a - b);
      const cut = Math.floor(lows.length / 50);
      const inner = [lows[cut], highs[highs.length - 1 - cut]];
      const outer = [lows[0], highs[highs.length - 1]];
      [low[i], high[i]] = outer[1] - outer[0] > 4 * (inner[1] - inner[0]) ? inner : outer;
    }
    const size = Math.max(...[0, 1, 2].map((i) => high[i] - low[i]));
    if (movers.length) {
      for (const body of this.bodies) {
        if (!body.fixed) continue;
        for (const shape of body.shapes) {
          if (shape.kind === 'plane' || shape.reach > size) continue;
          const { p, half } = box_around(shape, this.pose_of_frame(body, 0));
          const near = [0, 1, 2].every((i) => p[i] + half[i] > low[i] - size && p[i] - half[i] < high[i] + size);
          for (let i = 0; near && i < 3; i++) {
            low[i] = Math.min(low[i], p[i] - half[i]);
            high[i] = Math.max(high[i], p[i] + half[i]);
          }
        }
      }
    }
    if (!(size > 0)) for (let i = 0; i < 3; i++) [low[i], high[i]] = [low[i] - 0.5, high[i] + 0.5];
    return { low, high };
  }

  /**
   * Corners, in the plane's own frame, of the part of a plane that is drawn: below (or beside) the bodies, with a margin,
   * and cut where another fixed plane begins, so that five walls look like a box. A plane that moves with a body is drawn
   * around that body.
   */
  patch(body, shape) {
    const reach = PATCH_MARGIN * this.size;
    if (!body.fixed) return square(this.size / 2 + reach);
    const pose = chain(this.pose_of_frame(body, 0), shape.local);
    const columns = [0, 1, 2].map((j) => [pose.R[j], pose.R[3 + j], pose.R[6 + j]]);
    const { low, high } = this.bounds;
    // Edges along the world's axes where the plane allows it.
    const along = [0, 1, 2].map((i) => [0, 1, 2].map((j) => columns[j][i])).sort((a, b) => Math.abs(a[2]) - Math.abs(b[2]))[0];
    const length = Math.hypot(along[0], along[1]);
    const [c, s] = [along[0] / length, along[1] / length];
    const range = [Infinity, -Infinity, Infinity, -Infinity];
    for (let k = 0; k < 8; k++) {
      const d = [0, 1, 2].map((i) => ((k >> i) & 1 ? high[i] : low[i]) - pose.p[i]);
      const [x, y] = [dot3(d, columns[0]), dot3(d, columns[1])];
      const [a, b] = [c * x + s * y, c * y - s * x];
      range[0] = Math.min(range[0], a - reach);
      range[1] = Math.max(range[1], a + reach);
      range[2] = Math.min(range[2], b - reach);
      range[3] = Math.max(range[3], b + reach);
    }
    const corner = (a, b) => [c * a - s * b, s * a + c * b, 0];
    const whole = [corner(range[0], range[2]), corner(range[1], range[2]), corner(range[1], range[3]), corner(range[0], range[3])];
    let cut = whole;
    for (const other of this.bodies) {
      if (!other.fixed) continue;
      for (const wall of other.shapes) {
        if (wall.kind !== 'plane' || wall === shape) continue;
        const at = chain(this.pose_of_frame(other, 0), wall.local);
        const normal = [at.R[2], at.R[5], at.R[8]];
        if (Math.abs(dot3(normal, columns[2])) > 0.999) continue;
        cut = clip_polygon(cut, (p) => dot3(normal, in_pose(pose, p).map((v, i) => v - at.p[i])));
      }
    }
    return cut.length > 2 ? cut : whole;
  }

  /** What a picture should hold: the corners of the box around the bodies, and of the planes drawn near it. */
  landmarks() {
    const { low, high } = this.bounds;
    const points = Array.from({ length: 8 }, (_, k) => [0, 1, 2].map((i) => ((k >> i) & 1 ? high[i] : low[i])));
    const reach = 2 * PATCH_MARGIN * this.size;
    for (const body of this.bodies) {
      for (const shape of body.shapes) {
        if (!shape.patch || !body.fixed) continue;
        const pose = chain(this.pose_of_frame(body, 0), shape.local);
        for (const corner of shape.patch.map((p) => in_pose(pose, p))) {
          if (corner.every((v, i) => v > low[i] - reach && v < high[i] + reach)) points.push(corner);
        }
      }
    }
    return points;
  }

  /** Height of the ground grid: the uppermost level plane not above the bodies, else their lowest point. */
  ground_level() {
    let level = -Infinity;
    for (const body of this.bodies) {
      if (!body.fixed) continue;
      for (const shape of body.shapes) {
        if (shape.kind !== 'plane') continue;
        const pose = chain(this.pose_of_frame(body, 0), shape.local);
        if (pose.R[3 * this.up + 2] > 0.999 && pose.p[this.up] <= this.bounds.high[this.up]) level = Math.max(level, pose.p[this.up]);
      }
    }
    return level > -Infinity ? level : this.bounds.low[this.up];
  }
}
