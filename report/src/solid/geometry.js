// SPDX-License-Identifier: Apache-2.0
// Unit geometries of the WebGL painter. Axes of revolution are z; what has ends reaches from z = -1/2 to 1/2, arrows
// and springs from 0 to 1.
import { BoxGeometry, BufferAttribute, BufferGeometry, ConeGeometry, CylinderGeometry, SphereGeometry, Vector3 } from 'three';
import { ConvexGeometry } from 'three/addons/geometries/ConvexGeometry.js';

const along_z = (geometry) => geometry.rotateX(Math.PI / 2);

export const sphere = (many) => along_z(many ? new SphereGeometry(1, 14, 9) : new SphereGeometry(1, 40, 24));
export const box = () => new BoxGeometry(1, 1, 1);
export const cylinder = (many) => along_z(new CylinderGeometry(1, 1, 1, many ? 20 : 40));
export const tube = () => along_z(new CylinderGeometry(1, 1, 1, 20, 1, true));
export const shaft = () => along_z(new CylinderGeometry(1, 1, 1, 10)).translate(0, 0, 0.5);
export const head = () => along_z(new ConeGeometry(1, 1, 14)).translate(0, 0, 0.5);

/** Points joined by lines, or the corners of something. */
export function outline(corners) {
  const made = new BufferGeometry();
  made.setAttribute('position', new BufferAttribute(new Float32Array(corners.flat()), 3));
  return made;
}

/** A convex polygon in the plane z = 0, seen from above. */
export function patch(corners) {
  const made = outline(corners);
  made.setAttribute('normal', new BufferAttribute(new Float32Array(corners.flatMap(() => [0, 0, 1])), 3));
  made.setIndex(corners.slice(2).flatMap((_, k) => [0, k + 1, k + 2]));
  return made;
}

/** A wire wound eight times around z, with straight ends. */
export function coil() {
  const [turns, steps, around, wire] = [8, 16, 6, 0.22];
  const middle = (k) => {
    const s = k / (turns * steps);
    const ease = Math.min(1, 12 * s, 12 * (1 - s));
    const angle = 2 * Math.PI * turns * s;
    return new Vector3(ease * Math.cos(angle), ease * Math.sin(angle), s);
  };
  const [positions, normals, index] = [[], [], []];
  const count = turns * steps;
  for (let k = 0; k <= count; k++) {
    const p = middle(k);
    const out = new Vector3(p.x, p.y, 0);
    if (out.lengthSq() < 1e-9) out.set(1, 0, 0);
    out.normalize();
    for (let j = 0; j < around; j++) {
      const angle = (2 * Math.PI * j) / around;
      const n = [Math.cos(angle) * out.x, Math.cos(angle) * out.y, Math.sin(angle)];
      positions.push(p.x + wire * n[0], p.y + wire * n[1], p.z + 0.012 * n[2]);
      normals.push(...n);
      const next = (j + 1) % around;
      if (k < count) index.push(k * around + j, (k + 1) * around + j, (k + 1) * around + next, k * around + j, (k + 1) * around + next, k * around + next);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute('normal', new BufferAttribute(new Float32Array(normals), 3));
  geometry.setIndex(index);
  return geometry;
}

/** Triangles as given; corners without triangles are those of a convex body. Null if they span no volume. */
export function faceted({ corners, triangles, kind }) {
  if (triangles.length) {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(triangles.flatMap((i) => corners[i])), 3));
    geometry.computeVertexNormals();
    return geometry;
  }
  if (kind === 'mesh' || corners.length < 4) return null;
  return new ConvexGeometry(corners.map((c) => new Vector3(...c)));
}
