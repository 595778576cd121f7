// SPDX-License-Identifier: Apache-2.0
// Bodies drawn on a plain canvas: planar scenes, in the manner of a textbook figure, and any scene where there is no
// WebGL. Also tells which body is under the pointer, for both painters.

const ROUND = 28; // corners of a drawn circle
const FAR_HATCH = 5000; // pixels along a plane beyond which nothing is hatched: no screen is wider
const CIRCLE = Array.from({ length: ROUND }, (_, k) => [Math.cos((2 * Math.PI * k) / ROUND), Math.sin((2 * Math.PI * k) / ROUND)]);
const BOX_FACES = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]]; // prettier-ignore

/** '#rrggbb' or 'rgb(...)' mixed with another: share 0 is a, 1 is b. */
function mix_colours(a, b, share) {
  const parts = (c) => (c.startsWith('#') ? [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)) : c.match(/\d+/g).slice(0, 3).map(Number));
  const [p, q] = [parts(a), parts(b)];
  return `rgb(${p.map((v, i) => Math.round(v + share * (q[i] - v))).join(',')})`;
}

const FULL_COLOUR = /^#[0-9a-fA-F]{6}$/;

function body_colour(theme, body, shape) {
  if (shape.color && FULL_COLOUR.test(shape.color)) return shape.color;
  if (body.fixed) return theme === DARK ? '#7a838e' : '#8d96a0';
  return theme.series[body.slot % (theme.series.length - 1)]; // the last is black or white: too strong for a surface
}

/** Corners of the convex hull of points of the picture, in order around it. */
function hull_of(points) {
  const sorted = points.filter((p) => Number.isFinite(p[0] + p[1])).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (sorted.length < 3) return sorted;
  const turn_of = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => {
    const chain_of = [];
    for (const p of list) {
      while (chain_of.length > 1 && turn_of(chain_of[chain_of.length - 2], chain_of[chain_of.length - 1], p) <= 0) chain_of.pop();
      chain_of.push(p);
    }
    chain_of.pop();
    return chain_of;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

function box_corners(half) {
  return Array.from({ length: 8 }, (_, k) => [k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]]);
}

/** Outline of a shape in the picture: a convex polygon, a line, or null for a plane. */
function outline_of(shape, pose, camera) {
  const seen = (p) => camera.project(in_pose(pose, p));
  const disc = (p, r) => {
    const [x, y, scale] = seen(p);
    return CIRCLE.map(([c, s]) => [x + r * scale * c, y + r * scale * s]);
  };
  const { kind, size, half, corners } = shape;
  if (kind === 'sphere') return disc([0, 0, 0], size[0]);
  if (kind === 'box') return hull_of(box_corners(half).map(seen));
  if (kind === 'cylinder') return hull_of(CIRCLE.flatMap(([c, s]) => [[size[0] * c, size[0] * s, -half[1]], [size[0] * c, size[0] * s, half[1]]]).map(seen)); // prettier-ignore
  if (kind === 'capsule') return hull_of([...disc([0, 0, -half[1]], size[0]), ...disc([0, 0, half[1]], size[0])]);
  if (kind === 'hull' || kind === 'mesh') return hull_of(corners.map(seen));
  if (kind === 'line') return corners.map(seen);
  return null;
}

function path_through(ctx, points, closed = true) {
  ctx.beginPath();
  points.forEach((p, i) => (i ? ctx.lineTo(p[0], p[1]) : ctx.moveTo(p[0], p[1])));
  if (closed) ctx.closePath();
}

class FlatPainter {
  constructor(data) {
    this.data = data;
  }

  paint(ctx, { camera, theme, forces, arrow }) {
    const entries = [];
    for (const body of this.data.bodies) {
      for (const shape of body.shapes) {
        const pose = chain(body.pose, shape.local);
        if (!pose.p.every(Number.isFinite)) continue;
        entries.push({ body, shape, pose, order: shape.kind === 'plane' ? -2 : camera.flat() ? (body.fixed ? -1 : 0) : camera.project(pose.p)[3] });
      }
    }
    if (camera.flat()) entries.sort((a, b) => a.order - b.order);
    else entries.sort((a, b) => (b.shape.kind === 'plane') - (a.shape.kind === 'plane') || a.order - b.order);
    ctx.lineJoin = ctx.lineCap = 'round';
    const springs = () => this.data.springs.forEach((spring) => this.spring(ctx, camera, theme, spring));
    if (!camera.flat()) springs();
    for (const entry of entries) this.shape(ctx, camera, theme, entry);
    if (camera.flat()) springs();
    for (const force of forces) this.arrow(ctx, camera, theme, force, arrow(force));
  }

  /** The planes alone, for the solid painter in a view along them. */
  paint_planes(ctx, { camera, theme }) {
    for (const body of this.data.bodies) {
      for (const shape of body.shapes) if (shape.kind === 'plane') this.plane(ctx, camera, theme, chain(body.pose, shape.local), shape.patch);
    }
  }

  shape(ctx, camera, theme, { body, shape, pose }) {
    const colour = body_colour(theme, body, shape);
    if (shape.kind === 'plane') {
      this.plane(ctx, camera, theme, pose, shape.patch);
      return;
    }
    const outline = outline_of(shape, pose, camera);
    if (outline.length < 2) return;
    if (shape.kind === 'line') {
      path_through(ctx, outline, false);
      ctx.strokeStyle = colour;
      ctx.lineWidth = Math.max(2, 2 * (shape.size[0] || 0) * camera.project(pose.p)[2]);
      ctx.stroke();
      return;
    }
    const fill = mix_colours(colour, theme.background, camera.flat() ? (body.fixed ? 0.6 : 0.68) : 0.1);
    const ink = camera.flat() ? mix_colours(colour, theme.text, 0.35) : mix_colours(colour, theme.background === '#ffffff' ? '#000000' : theme.background, 0.45);
    ctx.lineWidth = camera.flat() ? 1.7 : 1;
    ctx.strokeStyle = ink;
    if (!camera.flat() && shape.kind === 'sphere') {
      const [x, y, scale] = camera.project(pose.p);
      const r = shape.size[0] * scale;
      const shade = ctx.createRadialGradient(x - 0.35 * r, y - 0.4 * r, 0.05 * r, x, y, r);
      shade.addColorStop(0, mix_colours(colour, '#ffffff', 0.45));
      shade.addColorStop(1, mix_colours(colour, '#000000', 0.25));
      ctx.fillStyle = shade;
    } else {
      ctx.fillStyle = fill;
    }
    const faces = camera.flat() && shape.kind !== 'mesh' ? null : this.faces(shape);
    if (faces) {
      this.faces_of(ctx, camera, faces, pose, colour, fill);
      return;
    }
    path_through(ctx, outline);
    ctx.fill();
    ctx.stroke();
    if (!camera.flat() && shape.kind === 'cylinder') this.cap(ctx, camera, shape, pose, colour);
    this.spoke(ctx, camera, shape, pose, ink);
  }

  /** The end of a cylinder that faces the eye. */
  cap(ctx, camera, { size, half }, pose, colour) {
    const toward = [pose.R[2], pose.R[5], pose.R[8]];
    const eye = camera.target.map((v, i) => v + camera.distance() * camera.out[i] - pose.p[i]);
    const end = dot3(toward, eye) > 0 ? half[1] : -half[1];
    const rim = (share) => camera.project(in_pose(pose, [size[0] * Math.cos(share), size[0] * Math.sin(share), end]));
    path_through(ctx, CIRCLE.map((_, k) => rim((2 * Math.PI * k) / ROUND)));
    ctx.fillStyle = mix_colours(colour, '#ffffff', 0.3);
    ctx.fill();
    path_through(ctx, [camera.project(in_pose(pose, [0, 0, end])), rim(0)], false);
    ctx.stroke();
  }

  faces(shape) {
    if (shape.kind === 'box') {
      const corners = box_corners(shape.half);
      return BOX_FACES.map((face) => face.map((i) => corners[i]));
    }
    if ((shape.kind !== 'hull' && shape.kind !== 'mesh') || !shape.triangles.length) return null;
    return Array.from({ length: Math.floor(shape.triangles.length / 3) }, (_, k) => [0, 1, 2].map((i) => shape.corners[shape.triangles[3 * k + i]]));
  }

  /** Those that face the eye, from far to near. */
  faces_of(ctx, camera, faces, pose, colour, plain) {
    const seen = faces.map((face) => {
      const world = face.map((p) => in_pose(pose, p));
      const normal = cross3(world[1].map((v, i) => v - world[0][i]), world[2].map((v, i) => v - world[0][i]));
      const points = world.map((p) => camera.project(p));
      let area = 0;
      points.forEach((p, i) => (area += p[0] * points[(i + 1) % points.length][1] - points[(i + 1) % points.length][0] * p[1]));
      return { points, area, light: dot3(normal, camera.up) / (norm3(normal) || 1), near: Math.max(...points.map((p) => p[3])) };
    });
    seen.sort((a, b) => a.near - b.near);
    for (const { points, area, light } of seen) {
      if (area >= 0) continue;
      path_through(ctx, points);
      ctx.fillStyle = camera.flat() ? plain : mix_colours(colour, light > 0 ? '#ffffff' : '#000000', 0.3 * Math.abs(light));
      ctx.fill();
      if (camera.flat()) ctx.strokeStyle = ctx.fillStyle; // closes the seams between triangles
      ctx.stroke();
    }
  }

  /** Shows how far a wheel has turned: from its middle to the rim, along its own x. */
  spoke(ctx, camera, shape, pose, ink) {
    const axis_seen = Math.abs(dot3([pose.R[2], pose.R[5], pose.R[8]], camera.out));
    if (shape.kind !== 'sphere' && !(camera.flat() && shape.kind === 'cylinder' && axis_seen > 0.99)) return;
    const r = shape.size[0];
    const [x, y, scale] = camera.project(pose.p);
    if (r * scale < 3) return;
    const rim = camera.project(in_pose(pose, [r, 0, 0]));
    const length = Math.hypot(rim[0] - x, rim[1] - y);
    if (shape.kind === 'sphere' && length < 0.2 * r * scale) return;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(rim[0], rim[1]);
    ctx.stroke();
    ctx.fillStyle = ink;
    ctx.beginPath();
    ctx.arc(x, y, Math.min(2.6, 0.2 * r * scale), 0, 2 * Math.PI);
    ctx.fill();
  }

  /** Its trace with hatches on the solid side if seen edge on, otherwise the outline of its patch, filled if seen from outside. */
  plane(ctx, camera, theme, pose, patch) {
    const normal = [pose.R[2], pose.R[5], pose.R[8]];
    const facing = dot3(normal, camera.out);
    const corners = patch.map((p) => camera.project(in_pose(pose, p)));
    if (!camera.flat() || Math.abs(facing) > 0.02) {
      path_through(ctx, corners);
      if (!camera.flat() && facing > 0) {
        ctx.fillStyle = mix_colours(theme.grid, theme.background, 0.3);
        ctx.fill();
      }
      ctx.lineWidth = 1;
      ctx.strokeStyle = theme.border;
      if (!camera.flat() || Math.abs(facing) < 0.999) ctx.stroke();
      return;
    }
    const n = [dot3(normal, camera.right), -dot3(normal, camera.up)];
    const length = Math.hypot(n[0], n[1]);
    const [nx, ny] = [n[0] / length, n[1] / length];
    const [x, y] = corners[0];
    const places = corners.map((p) => (p[0] - x) * ny - (p[1] - y) * nx); // along the trace
    const [first, last] = [Math.min(...places), Math.max(...places)];
    const band = 11;
    ctx.strokeStyle = theme.text;
    ctx.lineWidth = 1.7;
    path_through(ctx, [[x + first * ny, y - first * nx], [x + last * ny, y - last * nx]], false);
    ctx.stroke();
    ctx.lineWidth = 1;
    ctx.strokeStyle = theme.faint;
    ctx.beginPath();
    const [a, b] = [Math.max(first, -4 * FAR_HATCH), Math.min(last, 4 * FAR_HATCH)];
    for (let s = a + 0.7 * band; s < b; s += 9) {
      const [px, py] = [x + s * ny, y - s * nx];
      ctx.moveTo(px, py);
      ctx.lineTo(px - band * nx - 0.7 * band * ny, py - band * ny + 0.7 * band * nx);
    }
    ctx.stroke();
  }

  spring(ctx, camera, theme, spring) {
    const [a, b] = this.data.spring_ends(spring).map((p) => camera.project(p));
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    if (!(length > 0)) return;
    const [tx, ty] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    const turns = Math.min(9, Math.max(3, Math.round(length / 8)));
    const ends = Math.min(0.16, 8 / length);
    const wide = 5.5;
    const at = (share, side) => [a[0] + tx * share * length - ty * side, a[1] + ty * share * length + tx * side];
    const points = [at(0, 0), at(ends, 0)];
    for (let k = 0; k < 2 * turns; k++) points.push(at(ends + ((k + 0.5) / (2 * turns)) * (1 - 2 * ends), k % 2 ? wide : -wide));
    points.push(at(1 - ends, 0), at(1, 0));
    path_through(ctx, points, false);
    ctx.strokeStyle = theme.text;
    ctx.lineWidth = 1.4;
    ctx.stroke();
  }

  arrow(ctx, camera, theme, force, length) {
    const from = camera.project(force.point);
    const to = camera.project(force.point.map((v, i) => v + (length * force.force[i]) / force.size));
    paint_arrow(ctx, from, to, force_colour(theme));
  }
}

const force_colour = (theme) => (theme === DARK ? '#ff6b5e' : '#c8102e'); // no colour of a body

function paint_arrow(ctx, from, to, colour) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (!(length > 1)) return;
  const [tx, ty] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const head = Math.min(9, 0.6 * length);
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = Math.min(2.4, 0.3 * head + 0.6);
  path_through(ctx, [from, [to[0] - 0.8 * head * tx, to[1] - 0.8 * head * ty]], false);
  ctx.stroke();
  path_through(ctx, [to, [to[0] - head * tx - 0.42 * head * ty, to[1] - head * ty + 0.42 * head * tx], [to[0] - head * tx + 0.42 * head * ty, to[1] - head * ty - 0.42 * head * tx]]);
  ctx.fill();
}

// ---- what is under the pointer

function inside(points, x, y) {
  let odd = false;
  for (let i = 0, j = points.length - 1; i < points.length; j = i++) {
    const [a, b] = [points[i], points[j]];
    if (a[1] > y !== b[1] > y && x < ((b[0] - a[0]) * (y - a[1])) / (b[1] - a[1]) + a[0]) odd = !odd;
  }
  return odd;
}

function from_segment(a, b, x, y) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const share = Math.min(1, Math.max(0, ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(a[0] + share * dx - x, a[1] + share * dy - y);
}

/** The body nearest to the eye at a point of the picture; of those with equal right the one drawn last. */
function body_at(data, camera, x, y) {
  let found = null;
  let best = -Infinity;
  for (const body of data.bodies) {
    for (const shape of body.shapes) {
      if (shape.kind === 'plane') continue;
      const pose = chain(body.pose, shape.local);
      const [cx, cy, scale, near] = camera.project(pose.p);
      if (Math.hypot(cx - x, cy - y) > shape.reach * scale * 1.2 + 6) continue;
      const rank = camera.flat() ? (body.fixed ? -1 : 0) : near;
      if (rank < best) continue;
      const outline = outline_of(shape, pose, camera);
      const hit = shape.kind === 'line' ? outline.some((p, i) => i > 0 && from_segment(outline[i - 1], p, x, y) < 6) : inside(outline, x, y);
      if (!hit) continue;
      found = body;
      best = rank;
    }
  }
  return found;
}
