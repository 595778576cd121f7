// SPDX-License-Identifier: Apache-2.0
// Surfaces: matte, with a pattern that makes rotation visible, and a ground that carries the grid and fades out.
import { Color, DoubleSide, FrontSide, GreaterDepth, MeshBasicMaterial, MeshLambertMaterial, Vector3 } from 'three';

const PATTERNS = {
  octants: 'float s = place.x * place.y * place.z; diffuseColor.rgb *= mix(0.74, 1.0, clamp(s / max(fwidth(s), 1e-6) + 0.5, 0.0, 1.0));',
  quarters: 'float s = place.x * place.y; diffuseColor.rgb *= mix(0.74, 1.0, clamp(s / max(fwidth(s), 1e-6) + 0.5, 0.0, 1.0));',
  edges: 'vec2 e = min(vUv, 1.0 - vUv) / fwidth(vUv); diffuseColor.rgb *= mix(0.5, 1.0, smoothstep(0.5, 1.6, min(e.x, e.y)));',
};

function with_place(shader, value) {
  shader.vertexShader = `varying vec3 place;\n${shader.vertexShader}`.replace('#include <fog_vertex>', `#include <fog_vertex>\nplace = ${value};`);
  shader.fragmentShader = `varying vec3 place;\n${shader.fragmentShader}`;
}

export function surface(pattern, options = {}) {
  const material = new MeshLambertMaterial(options);
  if (!pattern) return material;
  material.defines = { ...material.defines, USE_UV: '' };
  material.onBeforeCompile = (shader) => {
    with_place(shader, 'position');
    shader.fragmentShader = shader.fragmentShader.replace('#include <color_fragment>', `#include <color_fragment>\n${PATTERNS[pattern]}`);
  };
  material.customProgramCacheKey = () => pattern;
  return material;
}

/** Arrows, and the parts of them that bodies hide. */
export const arrows = () => new MeshLambertMaterial({ emissiveIntensity: 0.45 });
export const hidden_arrows = () => new MeshBasicMaterial({ transparent: true, opacity: 0.3, depthFunc: GreaterDepth, depthWrite: false });

export const faceted_surface = () => new MeshLambertMaterial({ flatShading: true, side: DoubleSide });

export function ground() {
  const uniforms = {
    origin: { value: new Vector3() },
    along: { value: new Vector3(1, 0, 0) },
    across: { value: new Vector3(0, 1, 0) },
    middle: { value: new Vector3() },
    line: { value: new Color() },
    step: { value: 1 },
    radius: { value: 1 },
    grid: { value: 1 },
  };
  const material = new MeshLambertMaterial({ transparent: true, side: FrontSide, depthWrite: false });
  material.onBeforeCompile = (shader) => {
    for (const [name, uniform] of Object.entries(uniforms)) shader.uniforms[`ground_${name}`] = uniform;
    with_place(shader, '(modelMatrix * vec4(position, 1.0)).xyz');
    shader.fragmentShader = `uniform vec3 ground_origin, ground_along, ground_across, ground_middle, ground_line;\nuniform float ground_step, ground_radius, ground_grid;\n${shader.fragmentShader}`.replace(
      '#include <color_fragment>',
      `#include <color_fragment>
      vec3 d = place - ground_origin;
      vec2 g = vec2(dot(d, ground_along), dot(d, ground_across)) / ground_step;
      vec2 w = fwidth(g);
      vec2 a = abs(fract(g - 0.5) - 0.5) / w;
      vec2 marks = (1.0 - min(a, 1.0)) * (1.0 - smoothstep(0.12, 0.5, w));
      diffuseColor.rgb = mix(diffuseColor.rgb, ground_line, ground_grid * max(marks.x, marks.y));
      diffuseColor.a *= 1.0 - smoothstep(0.45, 1.0, distance(place, ground_middle) / ground_radius);`,
    );
  };
  material.customProgramCacheKey = () => 'ground';
  return { material, uniforms };
}
