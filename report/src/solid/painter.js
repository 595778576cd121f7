// SPDX-License-Identifier: Apache-2.0
// Draws a scene with three.js: instanced bodies, soft shadows, arrows, springs, ground. One WebGL context serves all
// scenes of the page (browsers allow few); each picture is copied to the canvas of its scene.
import { Camera, CircleGeometry, Color, DirectionalLight, HemisphereLight, InstancedMesh, LineBasicMaterial, LineLoop, Mesh, PCFShadowMap, Scene, Vector3, WebGLRenderer } from 'three';
import * as geometry from './geometry.js';
import * as material from './materials.js';

const MANY = 200; // instances from which round bodies get fewer corners
const LARGE = 30; // pixels: unless they look as large as this

let renderer = null;
let lost = false;

function shared_renderer() {
  if (lost) throw new Error('the graphics context was lost');
  if (renderer) return renderer;
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('webgl2', { antialias: true, alpha: true });
  if (!context) throw new Error('no context');
  canvas.addEventListener('webglcontextlost', () => (lost = true));
  renderer = new WebGLRenderer({ canvas, context, antialias: true, alpha: true });
  renderer.setClearColor(0x000000, 0);
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
  return renderer;
}

const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

/** Rotation (rows) that turns z into the given direction. */
function towards(d) {
  const length = Math.hypot(d[0], d[1], d[2]) || 1;
  const z = d.map((v) => v / length);
  const helper = Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  let x = [helper[1] * z[2] - helper[2] * z[1], helper[2] * z[0] - helper[0] * z[2], helper[0] * z[1] - helper[1] * z[0]];
  const n = Math.hypot(...x);
  x = x.map((v) => v / n);
  const y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]];
  return [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
}

/** Instances of one geometry. */
class Batch {
  constructor(shape, surface, capacity, shadows) {
    this.mesh = new InstancedMesh(shape, surface, Math.max(1, capacity));
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = shadows;
    this.mesh.count = 0;
    this.members = [];
  }

  put(index, R, p, scale) {
    const m = this.mesh.instanceMatrix.array;
    const o = 16 * index;
    for (let column = 0; column < 3; column++) {
      for (let row = 0; row < 3; row++) m[o + 4 * column + row] = R[3 * row + column] * scale[column];
      m[o + 12 + column] = p[column];
    }
    m[o + 15] = 1;
  }

  changed(count) {
    this.mesh.count = count;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}

class SolidPainter {
  constructor(data, tools) {
    this.data = data;
    this.tools = tools;
    this.renderer = shared_renderer();
    this.scene = new Scene();
    this.camera = new Camera();
    this.camera.matrixAutoUpdate = this.camera.matrixWorldAutoUpdate = false;
    this.batches = new Map();
    this.planes = [];
    this.collect();
    this.add_lights();
    this.add_arrows();
    this.theme = null;
  }

  get lost() {
    return lost;
  }

  // ---- what there is

  collect() {
    const parts = [];
    const add = (kind, body, shape, local, scale, key = kind) => parts[parts.push({ kind, key, body, shape, local, scale }) - 1];
    const fixed_frame = (p) => ({ R: IDENTITY, p });
    for (const body of this.data.bodies) {
      for (const shape of body.shapes) {
        const { size, half, local, kind } = shape;
        const inner = (p) => this.tools.chain(local, fixed_frame(p));
        if (kind === 'sphere') add('sphere', body, shape, local, [size[0], size[0], size[0]]);
        else if (kind === 'box') add('box', body, shape, local, size);
        else if (kind === 'cylinder') add('cylinder', body, shape, local, [size[0], size[0], size[1]]);
        else if (kind === 'capsule') {
          add('tube', body, shape, local, [size[0], size[0], size[1]]);
          for (const end of [-half[1], half[1]]) add('sphere', body, shape, inner([0, 0, end]), [size[0], size[0], size[0]]);
        } else if (kind === 'line') {
          const radius = size[0] || 0.004 * this.data.size;
          shape.corners.slice(1).forEach((_, i) => {
            const part = add('cylinder', body, shape, local, [radius, radius, 0]);
            part.segment = i;
            this.place_segment(part);
          });
        } else if (kind === 'plane') this.add_plane(body, shape);
        else add('faceted', body, shape, local, [1, 1, 1], JSON.stringify([shape.corners, shape.triangles]));
      }
    }
    const counts = new Map();
    for (const { key } of parts) counts.set(key, (counts.get(key) || 0) + 1);
    for (const part of parts) {
      const batch = this.batch(part, counts.get(part.key));
      if (batch) batch.members.push(part);
    }
    if (!this.planes.length) this.add_plane(null, null);
  }

  batch({ kind, key, shape }, count) {
    if (this.batches.has(key)) return this.batches.get(key);
    const many = count > MANY;
    let made = null;
    if (kind === 'sphere') {
      made = new Batch(geometry.sphere(false), material.surface('octants'), count, true);
      if (many) made.levels = [made.mesh.geometry, geometry.sphere(true)];
    } else if (kind === 'box') made = new Batch(geometry.box(), material.surface('edges'), count, true);
    else if (kind === 'cylinder') made = new Batch(geometry.cylinder(many), material.surface('quarters'), count, true);
    else if (kind === 'tube') made = new Batch(geometry.tube(), material.surface('quarters'), count, true);
    else {
      const facets = geometry.faceted(shape);
      if (facets) made = new Batch(facets, material.faceted_surface(), count, true);
    }
    this.batches.set(key, made);
    if (made) this.scene.add(made.mesh);
    return made;
  }

  place_segment(part) {
    const [a, b] = part.shape.corners.slice(part.segment, part.segment + 2);
    const d = b.map((v, k) => v - a[k]);
    part.local = this.tools.chain(part.shape.local, { R: towards(d), p: a.map((v, k) => v + d[k] / 2) });
    part.scale[2] = Math.hypot(...d);
  }

  /** A plane of the model: its patch, filled as seen from outside, with an outline. Without one a faint ground below the bodies. */
  add_plane(body, shape) {
    const made = material.ground();
    const mesh = new Mesh(body ? geometry.patch(shape.patch) : new CircleGeometry(1, 64), made.material);
    const outline = body ? new LineLoop(geometry.outline(shape.patch), new LineBasicMaterial()) : null;
    for (const part of [mesh, outline]) {
      if (!part) continue;
      part.matrixAutoUpdate = false;
      part.frustumCulled = false;
      this.scene.add(part);
    }
    mesh.receiveShadow = true;
    mesh.renderOrder = -1;
    const level = body && Math.abs(this.tools.chain(body.pose, shape.local).R[3 * this.data.up + 2]) > 0.5;
    this.planes.push({ body, shape, mesh, outline, level, ...made });
  }

  add_lights() {
    const { low, high } = this.data.bounds;
    const radius = 0.5 * Math.hypot(...high.map((v, i) => v - low[i]));
    this.sky = new HemisphereLight(0xffffff, 0xffffff, 2.0);
    this.sun = new DirectionalLight(0xffffff, 2.0);
    const up = this.data.up;
    this.sky.position.set(0, up === 1 ? 1 : 0, up === 2 ? 1 : 0);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 9;
    this.sun.shadow.normalBias = 0.006 * radius;
    this.sun.shadow.bias = -0.0004;
    Object.assign(this.sun.shadow.camera, { left: -1.5 * radius, right: 1.5 * radius, bottom: -1.5 * radius, top: 1.5 * radius, near: 0.1 * radius, far: 9 * radius });
    this.reach = 4 * radius;
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  add_arrows() {
    const { data } = this;
    let most = 0;
    for (let k = 0; k < data.frames && data.force_count; k++) most = Math.max(most, data.force_offsets[k + 1] - data.force_offsets[k]);
    const kinds = [
      [geometry.shaft(), material.arrows()],
      [geometry.head(), material.arrows()],
      [geometry.shaft(), material.hidden_arrows()],
      [geometry.head(), material.hidden_arrows()],
    ];
    this.arrows = most ? kinds.map(([shape, surface]) => new Batch(shape, surface, most, false)) : [];
    this.coils = data.springs.length ? new Batch(geometry.coil(), material.surface(null), data.springs.length, true) : null;
    for (const batch of [...this.arrows, this.coils]) if (batch) this.scene.add(batch.mesh);
    this.arrows.slice(2).forEach((batch) => (batch.mesh.renderOrder = 2));
  }

  /** For slow graphics. */
  drop_shadows() {
    this.sun.castShadow = false;
  }

  // ---- drawing

  paint(ctx, { camera, theme, forces, arrow, grid, ratio }) {
    if (this.theme !== theme) this.colour(theme);
    for (const batch of this.batches.values()) {
      if (!batch) continue;
      batch.members.forEach((part, i) => {
        if (part.shape.moving) this.place_segment(part);
        const { body, local, scale } = part;
        const pose = this.tools.chain(body.pose, local);
        batch.put(i, pose.R, pose.p, pose.p.every(Number.isFinite) ? scale : [0, 0, 0]);
      });
      batch.changed(batch.members.length);
      if (batch.levels) batch.mesh.geometry = batch.levels[batch.members[0].scale[0] * camera.scale > LARGE ? 0 : 1];
    }
    this.place_springs();
    this.place_arrows(forces, arrow, camera);
    this.place_planes(camera, grid);
    this.place_camera(camera);
    const canvas = this.renderer.domElement;
    const [width, height] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) this.renderer.setSize(width, height, false);
    this.renderer.render(this.scene, this.camera);
    ctx.drawImage(canvas, 0, 0, camera.width, camera.height);
  }

  colour(theme) {
    this.theme = theme;
    const dark = theme === this.tools.DARK;
    const colour = new Color();
    for (const batch of this.batches.values()) {
      if (!batch) continue;
      batch.members.forEach(({ body, shape }, i) => batch.mesh.setColorAt(i, colour.set(this.tools.body_colour(theme, body, shape))));
      batch.mesh.instanceColor.needsUpdate = true;
    }
    this.arrows.forEach((batch) => {
      batch.mesh.material.color.set(this.tools.force_colour(theme));
      if (batch.mesh.material.emissive) batch.mesh.material.emissive.set(this.tools.force_colour(theme));
    });
    if (this.coils) this.coils.mesh.material.color.set(dark ? '#aab2bc' : '#5d6671');
    for (const plane of this.planes) {
      plane.material.color.set(dark ? '#30363f' : '#f2f4f6');
      plane.material.opacity = plane.body ? (plane.level ? 1 : 0.3) : 0.5; // walls let the bodies dominate
      plane.uniforms.line.value.set(dark ? '#4b535e' : '#c3c9d0');
      if (plane.outline) plane.outline.material.color.set(dark ? '#79828e' : '#8d96a0');
    }
    this.sky.groundColor.set(dark ? '#50565e' : '#b9bfc6');
  }

  place_springs() {
    if (!this.coils) return;
    this.data.springs.forEach((spring, i) => {
      const [a, b] = this.tools.spring_ends(spring);
      const d = b.map((v, k) => v - a[k]);
      const radius = 0.02 * this.data.size;
      this.coils.put(i, towards(d), a, [radius, radius, Math.hypot(...d)]);
    });
    this.coils.changed(this.data.springs.length);
  }

  place_arrows(forces, length_of, camera) {
    if (!this.arrows.length) return;
    const pixel = 1 / camera.scale;
    forces.forEach((force, i) => {
      const length = length_of(force);
      const d = force.force.map((v) => v / force.size);
      const R = towards(d);
      const head = Math.min(11 * pixel, 0.6 * length);
      const tip = force.point.map((v, k) => v + (length - head) * d[k]);
      const radius = Math.min(1.5 * pixel, 0.25 * head);
      for (const k of [0, 2]) {
        this.arrows[k].put(i, R, force.point, [radius, radius, length - head]);
        this.arrows[k + 1].put(i, R, tip, [0.38 * head, 0.38 * head, head]);
      }
    });
    this.arrows.forEach((batch) => batch.changed(forces.length));
    this.arrows.slice(2).forEach((batch) => (batch.mesh.material.opacity = 0.3 / Math.sqrt(Math.max(1, forces.length / 40))));
  }

  place_planes(camera, grid) {
    const { data, tools } = this;
    this.grid_width = tools.grid_step(camera, 38);
    for (const { body, shape, mesh, outline, uniforms } of this.planes) {
      let pose = null;
      if (body) pose = tools.chain(body.pose, shape.local);
      else {
        const normal = [0, data.up === 1 ? 1 : 0, data.up === 2 ? 1 : 0];
        pose = { R: towards(normal), p: normal.map((v) => v * data.ground_level()) };
      }
      const { R } = pose;
      const normal = [R[2], R[5], R[8]];
      const height = normal.reduce((sum, n, i) => sum + n * (camera.target[i] - pose.p[i]), 0);
      const foot = camera.target.map((v, i) => v - height * normal[i]);
      const radius = 1.7 * data.size; // of the faint ground; a patch has its own size
      const [scale, at] = body ? [1, pose.p] : [radius, foot];
      for (const part of [mesh, outline]) {
        if (!part) continue;
        part.matrix.set(R[0] * scale, R[1] * scale, R[2], at[0], R[3] * scale, R[4] * scale, R[5], at[1], R[6] * scale, R[7] * scale, R[8], at[2], 0, 0, 0, 1);
        part.matrixWorldNeedsUpdate = true;
      }
      // Lines through whole multiples of the step in the world, so that they can be counted off from the origin.
      const axes = [0, 1, 2].map((i) => [i === 0 ? 1 : 0, i === 1 ? 1 : 0, i === 2 ? 1 : 0]).filter((e) => Math.abs(e.reduce((s, v, i) => s + v * normal[i], 0)) < 0.01);
      const level = axes.length === 2;
      uniforms.origin.value.set(...(level ? [0, 0, 0] : pose.p));
      uniforms.along.value.set(...(level ? axes[0] : [R[0], R[3], R[6]]));
      uniforms.across.value.set(...(level ? axes[1] : [R[1], R[4], R[7]]));
      uniforms.middle.value.set(...foot);
      uniforms.step.value = this.grid_width;
      uniforms.radius.value = body ? 1e3 * radius : radius; // a patch ends at its outline and does not fade
      uniforms.grid.value = grid ? 1 : 0;
    }
  }

  place_camera(camera) {
    const { right, up, out, target } = camera;
    const distance = camera.distance();
    const eye = target.map((v, i) => v + distance * out[i]);
    const world = this.camera.matrixWorld.set(right[0], up[0], out[0], eye[0], right[1], up[1], out[1], eye[1], right[2], up[2], out[2], eye[2], 0, 0, 0, 1);
    this.camera.matrix.copy(world);
    this.camera.matrixWorldInverse.copy(world).invert();
    this.camera.position.set(...eye);
    const focal = camera.focal();
    const [sx, sy] = [(2 * focal) / camera.width, (2 * focal) / camera.height];
    if (camera.flat()) {
      const depth = distance + 50 * this.data.size;
      this.camera.projectionMatrix.set(sx / distance, 0, 0, 0, 0, sy / distance, 0, 0, 0, 0, -1 / depth, -distance / depth, 0, 0, 0, 1);
    } else {
      const [near, far] = [0.02 * distance, distance + 40 * this.data.size];
      this.camera.projectionMatrix.set(sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, (near + far) / (near - far), (2 * near * far) / (near - far), 0, 0, -1, 0);
    }
    this.camera.projectionMatrixInverse.copy(this.camera.projectionMatrix).invert();
    // The light comes from above, over the left shoulder of the first view; the shadows stay where they are.
    const sun = this.data.up === 1 ? new Vector3(-0.65, 1, -0.15) : new Vector3(-0.15, -0.65, 1);
    this.sun.target.position.set(...camera.middle);
    this.sun.position.copy(this.sun.target.position).addScaledVector(sun.normalize(), this.reach);
  }
}

globalThis.stickslip_solid = { painter: (data, tools) => new SolidPainter(data, tools) };
