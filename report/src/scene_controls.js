// SPDX-License-Identifier: Apache-2.0
// The controls below a scene: play, scrub, speed, body to follow, view, forces and their length, trails, grid, loop.

/** Makes them, and leaves in the scene those that it changes itself. */
function scene_controls(scene) {
  scene.play_button = element('button.tool.play', { type: 'button', 'aria-label': 'Play', title: 'Play (space)', onclick: () => scene.toggle() }, '▶');
  scene.slider = element('input.scrub', { type: 'range', 'aria-label': 'time', oninput: () => scene.scrub(), onkeydown: (event) => on_scene_key(scene, event) });
  scene.clock = element('output.clock', { 'aria-live': 'off' });
  scene.part = element('span.note');
  const speeds = SPEEDS.map((s) => element('option', { value: s, selected: s === scene.speed }, `${s}×`));
  const follow = [element('option', { value: '' }, 'nothing'), ...scene.data.bodies.filter((b) => !b.fixed).map((b) => element('option', { value: b.index }, b.name))];
  const views = [...(scene.data.planar ? [] : ['perspective']), 'xy', 'xz', 'yz'].map((v) => element('option', { value: v, selected: v === scene.camera.view }, v.length === 2 ? `${v[0]}–${v[1]} plane` : v));
  const labelled = (text, input) => element('label', {}, text, input);
  scene.speed_choice = element('select', { onchange: (e) => (scene.speed = Number(e.target.value)) }, ...speeds);
  scene.follow_choice = element('select', { onchange: (e) => scene.follow(e.target.value === '' ? null : scene.data.bodies[e.target.value]) }, ...follow);
  scene.view_choice = element('select', { onchange: (e) => scene.set_view(e.target.value) }, ...views);
  const check = (key, text) => {
    const box = element('input', { type: 'checkbox', checked: scene.show[key], onchange: () => ((scene.show[key] = box.checked), scene.invalidate()) });
    return element('label', {}, box, text);
  };
  const factor = element('input', { type: 'range', min: -1, max: 1, step: 0.02, value: 0, 'aria-label': 'length of the force arrows', oninput: () => ((scene.force_factor = 10 ** Number(factor.value)), scene.invalidate()) });
  scene.factor_input = factor;
  const has_forces = scene.data.force_count > 0;
  return element(
    'div.controls.screen-only',
    {},
    element('div.transport', {}, scene.play_button, scene.slider, scene.clock),
    element(
      'div.options',
      {},
      labelled('speed ', scene.speed_choice),
      scene.data.moving ? labelled('follow ', scene.follow_choice) : null,
      labelled('view ', scene.view_choice),
      has_forces ? check('forces', 'forces') : null,
      has_forces ? factor : null,
      scene.data.hinges.list.length ? check('hinges', 'hinges') : null,
      scene.data.hinges.has_friction ? check('friction', 'hinge friction') : null,
      scene.data.moving ? check('trails', 'trails') : null,
      check('grid', 'grid'),
      check('loop', 'loop'),
      scene.part,
    ),
  );
}
