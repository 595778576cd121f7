// SPDX-License-Identifier: Apache-2.0
// Mouse, wheel, fingers and keys on a scene; and how the WebGL painter comes into the page.

/**
 * Left drag turns (in a view onto a plane: moves), right or Shift drag moves, wheel zooms. One finger sideways turns or
 * moves and leaves scrolling to the page, two fingers move and zoom.
 */
function bind_scene_gestures(scene) {
  const { canvas_box, camera } = scene;
  const canvas = scene.canvas;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const pointers = new Map();
  const grip = () => {
    const all = [...pointers.values()];
    const middle = [0, 1].map((i) => all.reduce((sum, p) => sum + p[i], 0) / all.length);
    return { middle, apart: all.length > 1 ? Math.hypot(all[0][0] - all[1][0], all[0][1] - all[1][1]) : 0 };
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas_box.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (event.pointerType !== 'touch') event.preventDefault();
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!pointers.has(event.pointerId)) {
      scene.hover(...place(event));
      return;
    }
    scene.hover(null);
    const before = grip();
    pointers.set(event.pointerId, place(event));
    const now = grip();
    const [dx, dy] = [now.middle[0] - before.middle[0], now.middle[1] - before.middle[1]];
    const moves = pointers.size > 1 || event.shiftKey || event.buttons === 2 || event.buttons === 4 || camera.flat();
    if (moves) camera.pan(dx, dy);
    else camera.orbit(dx, event.pointerType === 'touch' ? 0 : dy);
    if (before.apart > 0 && now.apart > 0) camera.zoom_about(...now.middle, now.apart / before.apart);
    scene.invalidate();
  });
  for (const kind of ['pointerup', 'pointercancel']) canvas.addEventListener(kind, (event) => pointers.delete(event.pointerId));
  canvas.addEventListener('pointerleave', () => scene.hover(null));
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('dblclick', (event) => {
    const body = body_at(scene.data, camera, ...place(event));
    if (body && !body.fixed) scene.follow(body);
    else scene.reset_view();
  });
  canvas.addEventListener(
    'wheel',
    (event) => {
      if (event.ctrlKey || event.metaKey || document.activeElement === canvas_box) {
        event.preventDefault();
        const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
        scene.zoom(Math.exp(-0.002 * unit * event.deltaY), ...place(event));
      } else {
        scene.hint.classList.add('visible');
        clearTimeout(scene.hint_timer);
        scene.hint_timer = setTimeout(() => scene.hint.classList.remove('visible'), 1200);
      }
    },
    { passive: false },
  );
}

/** Space plays, arrows step (with Shift: turn or move the view), plus, minus and 0 zoom, < and > change the speed. */
function on_scene_key(scene, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const move = (dx, dy) => {
    if (scene.camera.flat()) scene.camera.pan(dx, dy);
    else scene.camera.orbit(dx, dy);
    scene.invalidate();
  };
  const turned = { ArrowLeft: () => move(25, 0), ArrowRight: () => move(-25, 0), ArrowUp: () => move(0, 25), ArrowDown: () => move(0, -25) };
  const plain = {
    ' ': () => scene.toggle(),
    ArrowLeft: () => scene.step(-1),
    ArrowRight: () => scene.step(1),
    PageUp: () => scene.step(-Math.ceil(scene.data.frames / 20)),
    PageDown: () => scene.step(Math.ceil(scene.data.frames / 20)),
    Home: () => (scene.pause(), scene.set_time(scene.range()[0])),
    End: () => (scene.pause(), scene.set_time(scene.range()[1])),
    '+': () => scene.zoom(1.25),
    '=': () => scene.zoom(1.25),
    '-': () => scene.zoom(0.8),
    0: () => scene.reset_view(),
    '<': () => scene.change_speed(-1),
    '>': () => scene.change_speed(1),
  };
  const action = (event.shiftKey && turned[event.key]) || plain[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

let solid_promise = null;

/**
 * The WebGL painter lies compressed in the page and becomes a script only if a scene asks for it. The page's policy
 * names the hash of its text.
 */
function load_solid() {
  solid_promise ??= (async () => {
    const holder = document.getElementById('stickslip-solid');
    if (!holder) throw new Error('its painter is not in this page');
    if (!window.DecompressionStream) throw new Error('the browser cannot unpack the painter');
    const stream = new Blob([bytes_of(holder.textContent.trim())]).stream().pipeThrough(new DecompressionStream('gzip'));
    const script = element('script');
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    if (!window.stickslip_solid) throw new Error('the painter could not be started');
    return window.stickslip_solid;
  })();
  return solid_promise;
}
