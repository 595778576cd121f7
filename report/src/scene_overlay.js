// SPDX-License-Identifier: Apache-2.0
// What both painters of a scene share, around and above the bodies: grid and ticks of planar views, trails, the axes,
// the scale of the arrows.

/** '12 N', '3 kN', '40 mm': a nice number with a prefix, for legends. */
function with_prefix(value, unit) {
  const prefixes = [[1e9, 'G', 1], [1e6, 'M', 1], [1e3, 'k', 1], [1, '', 0.1], [1e-3, 'm', 1], [1e-6, 'µ', 1], [1e-9, 'n', 1]]; // prettier-ignore
  const [factor, prefix] = prefixes.find(([f, , least]) => value >= 0.9999 * least * f) || [1e-9, 'n'];
  return `${format_number(value / factor, 3)} ${prefix}${unit}`;
}

/** Grid lines a given number of pixels apart or a little more: a step of 1, 2 or 5 times a power of ten, in m. */
const grid_step = (camera, pixels) => nice_step(pixels / camera.scale);

/** Lines and ticks of a view straight onto a plane, before the bodies. */
function paint_grid(ctx, camera, theme) {
  const { width, height } = camera;
  const step = grid_step(camera, 64);
  const at = (axis) => dot3(camera.target, axis);
  const spans = [at(camera.right) - width / 2 / camera.scale, at(camera.right) + width / 2 / camera.scale, at(camera.up) - height / 2 / camera.scale, at(camera.up) + height / 2 / camera.scale];
  const [columns, rows] = [linear_ticks(spans[0], spans[1], (spans[1] - spans[0]) / step), linear_ticks(spans[2], spans[3], (spans[3] - spans[2]) / step)];
  const x_of = (v) => Math.round((v - spans[0]) * camera.scale) + 0.5;
  const y_of = (v) => Math.round(height - (v - spans[2]) * camera.scale) + 0.5;
  ctx.strokeStyle = mix_colours(theme.grid, theme.background, 0.25);
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (const v of columns) ctx.moveTo(x_of(v), 0), ctx.lineTo(x_of(v), height);
  for (const v of rows) ctx.moveTo(0, y_of(v)), ctx.lineTo(width, y_of(v));
  ctx.stroke();
  return () => {
    ctx.font = `11px ${FONT}`;
    ctx.fillStyle = theme.faint;
    ctx.strokeStyle = theme.background;
    ctx.lineWidth = 3;
    const put = (text, x, y) => {
      ctx.strokeText(text, x, y);
      ctx.fillText(text, x, y);
    };
    ctx.textAlign = 'center';
    ctx.textBaseline = 'bottom';
    const [column_labels, row_labels] = [linear_labels(columns), linear_labels(rows)];
    columns.forEach((v, i) => x_of(v) > 60 && x_of(v) < width - 50 && put(column_labels[i], x_of(v), height - 4));
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    rows.forEach((v, i) => y_of(v) > 26 && y_of(v) < height - 26 && put(row_labels[i], 5, y_of(v)));
    ctx.fillStyle = theme.text;
    ctx.textBaseline = 'bottom';
    ctx.textAlign = 'right';
    put(`${camera.view[0]} (m)`, width - 6, height - 4);
    ctx.textAlign = 'left';
    ctx.textBaseline = 'top';
    put(`${camera.view[1]} (m)`, 5, 5);
  };
}

const AXIS_COLOURS = { light: ['#b3261e', '#00795a', '#005f96'], dark: ['#ff8a80', '#5fd9b4', '#7cc4f0'] };

/** The directions of x, y, z in a corner, and the width of the grid's squares. */
function paint_axes(ctx, camera, theme, step) {
  const [x0, y0, length] = [40, camera.height - 44, 26];
  const colours = theme === DARK ? AXIS_COLOURS.dark : AXIS_COLOURS.light;
  const ends = [0, 1, 2].map((i) => ({ i, x: camera.right[i], y: -camera.up[i], near: camera.out[i] })).sort((a, b) => a.near - b.near);
  ctx.font = `12px ${FONT}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  for (const { i, x, y } of ends) {
    ctx.strokeStyle = ctx.fillStyle = colours[i];
    ctx.lineWidth = 2;
    path_through(ctx, [[x0, y0], [x0 + length * x, y0 + length * y]], false);
    ctx.stroke();
    ctx.fillText('xyz'[i], x0 + (length + 9) * x, y0 + (length + 9) * y);
  }
  if (!step) return;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'bottom';
  ctx.fillStyle = theme.faint;
  ctx.fillText(`grid ${with_prefix(step, 'm')}`, 8, camera.height - 6);
}

/** An arrow of known force; `unit` is its length in m per N. Returns what it says. */
function paint_force_scale(ctx, camera, theme, unit) {
  const force = nice_step((55 / camera.scale / unit) * 0.999);
  const length = force * unit * camera.scale;
  const [x, y] = [camera.width - 14, 20];
  const label = with_prefix(force, 'N');
  ctx.font = `12px ${FONT}`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  const wide = ctx.measureText(label).width;
  ctx.fillStyle = theme.background;
  ctx.globalAlpha = 0.75;
  ctx.fillRect(x - wide - length - 18, y - 11, wide + length + 26, 22);
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.text;
  ctx.fillText(label, x, y);
  paint_arrow(ctx, [x - wide - 8 - length, y], [x - wide - 8, y], force_colour(theme));
  return label;
}

const TRAILS_ALL = 40; // more moving bodies than this: only the followed one leaves a trail
const TRAIL_POINTS = 1500;

function paint_trails(ctx, data, camera, theme, from, followed) {
  const bodies = data.bodies.filter((body) => body.position.length > 3 && (data.moving <= TRAILS_ALL || body === followed));
  const first = data.at(from).frame;
  const last = data.when.frame;
  const stride = Math.max(1, Math.ceil((last - first) / TRAIL_POINTS));
  ctx.lineWidth = 1.4;
  ctx.globalAlpha = 0.8;
  for (const body of bodies) {
    const points = [];
    for (let k = first; k <= last; k += stride) points.push(camera.project(body.position.subarray(3 * k, 3 * k + 3)));
    points.push(camera.project(body.pose.p));
    path_through(ctx, points.filter((p) => Number.isFinite(p[0] + p[1])), false);
    ctx.strokeStyle = body.shapes.length ? body_colour(theme, body, body.shapes[0]) : theme.text;
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}
