// SPDX-License-Identifier: Apache-2.0
// Where a scene is seen from: around a target, in perspective, or straight onto one of the coordinate planes. Both
// painters use the same camera, and so do the names under the pointer.

const FIELD_OF_VIEW = (32 * Math.PI) / 180;
const FILLED = 0.42; // half of the share of the picture that the fitted box takes

const PLANES = {
  xy: [[1, 0, 0], [0, 1, 0]],
  xz: [[1, 0, 0], [0, 0, 1]],
  yz: [[0, 1, 0], [0, 0, 1]],
}; // prettier-ignore

class SceneCamera {
  constructor(data) {
    this.data = data;
    this.width = 100;
    this.height = 100;
    this.reset();
  }

  reset() {
    this.view = this.data.planar ? this.data.plane : 'perspective';
    this.azimuth = -1.05;
    this.elevation = 0.3;
    this.offset = [0, 0, 0]; // from what is looked at: the middle, or the body that is followed
    this.zoom = 1;
    this.fit();
  }

  flat() {
    return this.view !== 'perspective';
  }

  set_view(view) {
    this.view = view;
    this.offset = [0, 0, 0];
    this.zoom = 1;
    this.fit();
  }

  set_size(width, height) {
    this.width = width;
    this.height = height;
    this.fit();
  }

  focal() {
    return this.height / 2 / Math.tan(FIELD_OF_VIEW / 2);
  }

  /** Axes of the picture in the world: right, up, and towards the eye. */
  axes() {
    if (this.flat()) {
      const [right, up] = PLANES[this.view];
      return { right, up, out: cross3(right, up) };
    }
    const e = [0, 1, 2].map((i) => [0, 1, 2].map((j) => (j === (this.data.up + 1 + i) % 3 ? 1 : 0))); // the last is up
    const [ca, sa] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const [ce, se] = [Math.cos(this.elevation), Math.sin(this.elevation)];
    const mix = (a, b, c) => [0, 1, 2].map((i) => a * e[0][i] + b * e[1][i] + c * e[2][i]);
    const out = mix(ce * ca, ce * sa, se);
    const right = mix(-sa, ca, 0);
    return { right, up: cross3(out, right), out };
  }

  /** The distance at which the whole box is in the picture. */
  fit() {
    const { low, high } = this.data.bounds;
    this.middle = low.map((v, i) => (v + high[i]) / 2);
    const { right, up, out } = this.axes();
    const focal = this.focal();
    let distance = 1e-9 * (norm3(this.middle) + 1);
    this.landmarks = this.landmarks || this.data.landmarks();
    for (const point of this.landmarks) {
      const d = point.map((v, i) => v - this.middle[i]);
      const toward = this.flat() ? 0 : dot3(d, out);
      distance = Math.max(distance, toward + (Math.abs(dot3(d, right)) * focal) / (FILLED * this.width), toward + (Math.abs(dot3(d, up)) * focal) / (FILLED * this.height));
    }
    this.fitted = distance;
  }

  distance() {
    return this.fitted / this.zoom;
  }

  /** Fixes what later calls of project() use. */
  look(followed) {
    const base = followed ? followed.pose.p : this.middle;
    const finite = base.every(Number.isFinite) ? base : this.middle;
    this.target = finite.map((v, i) => v + this.offset[i]);
    Object.assign(this, this.axes());
    this.scale = this.focal() / this.distance(); // pixels per metre at the target
  }

  /** [x, y, pixels per metre there, nearness to the eye] of a point in the world. */
  project(p) {
    const d = [p[0] - this.target[0], p[1] - this.target[1], p[2] - this.target[2]];
    const near = dot3(d, this.out);
    const scale = this.flat() ? this.scale : this.focal() / Math.max(this.distance() - near, 0.02 * this.distance());
    return [this.width / 2 + dot3(d, this.right) * scale, this.height / 2 - dot3(d, this.up) * scale, scale, near];
  }

  orbit(dx, dy) {
    if (this.flat()) return;
    this.azimuth -= 0.008 * dx;
    this.elevation = Math.min(1.55, Math.max(-1.55, this.elevation + 0.008 * dy));
  }

  pan(dx, dy) {
    const { right, up } = this.axes();
    const scale = this.focal() / this.distance();
    this.offset = this.offset.map((v, i) => v - (dx * right[i] - dy * up[i]) / scale);
  }

  /** Zooms about a point of the picture, which keeps its place. */
  zoom_about(x, y, factor) {
    const zoom = Math.min(1e4, Math.max(1e-2, this.zoom * factor));
    const [dx, dy] = [x - this.width / 2, y - this.height / 2];
    const change = zoom / this.zoom;
    this.pan(-dx * (1 - 1 / change), -dy * (1 - 1 / change));
    this.zoom = zoom;
  }
}
