// SPDX-License-Identifier: Apache-2.0
// Columns of numbers: conversion, order, search, extent, clipping, and the paths drawn through them.

const FAR = 1e5; // canvas pixels beyond which a line is clipped by us: the canvas works in single precision

function floats(values, count) {
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const v = values[i];
    out[i] = typeof v === 'number' ? v : NaN;
  }
  return out;
}

function axis_values(values, is_log) {
  return is_log ? values.map((v) => (v > 0 ? Math.log10(v) : NaN)) : values;
}

function is_sorted(values) {
  for (let i = 1; i < values.length; i++) if (!(values[i] >= values[i - 1])) return false;
  return values.length === 0 || values[0] === values[0];
}

/** First index with values[index] >= x. */
function lower_bound(values, x) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

/** The part of the segment within FAR of the origin, or null (Liang and Barsky). */
function clip_far(x0, y0, x1, y1) {
  let from = 0;
  let to = 1;
  for (const [p, d] of [[x0, x1 - x0], [y0, y1 - y0]]) {
    if (d === 0) {
      if (Math.abs(p) > FAR) return null;
      continue;
    }
    const a = (-FAR - p) / d;
    const b = (FAR - p) / d;
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  if (from > to) return null;
  return [x0 + from * (x1 - x0), y0 + from * (y1 - y0), x0 + to * (x1 - x0), y0 + to * (y1 - y0)];
}

/** Every sample, in full precision. */
function trace({ ctx, ox, oy, kx, ky }, { x, y }, first, last, step) {
  let pen = false;
  let px = 0;
  let py = 0;
  const line = (x0, y0, x1, y1) => {
    if (Math.abs(x0) < FAR && Math.abs(y0) < FAR && Math.abs(x1) < FAR && Math.abs(y1) < FAR) {
      ctx.lineTo(x1, y1);
      return;
    }
    const part = clip_far(x0, y0, x1, y1);
    if (!part) return;
    ctx.moveTo(part[0], part[1]);
    ctx.lineTo(part[2], part[3]);
    ctx.moveTo(x1, y1);
  };
  for (let i = first; i < last; i++) {
    const nx = ox + kx * x[i];
    const ny = oy + ky * y[i];
    if (!(nx === nx && ny === ny)) {
      pen = false;
      continue;
    }
    if (!pen) {
      ctx.moveTo(nx, ny);
      if (!(y[i + 1] === y[i + 1])) ctx.lineTo(nx + 1, ny); // a lone sample between gaps stays visible
    } else if (step) {
      line(px, py, nx, py);
      line(nx, py, nx, ny);
    } else {
      line(px, py, nx, ny);
    }
    pen = true;
    px = nx;
    py = ny;
  }
}

/**
 * First, lowest, highest and last of the samples in each pixel column: looks the same as all of them. Where a column only
 * rises or falls its ends suffice, at their own x, which keeps a slope smooth.
 */
function trace_dense({ ctx, ox, oy, kx, ky }, { x, y }, first, last) {
  let pen = false;
  let open = false;
  let column = 0;
  let from_x = 0;
  let from_y = 0;
  let to_x = 0;
  let to_y = 0;
  let low = 0;
  let high = 0;
  const limit = (v) => (v > FAR ? FAR : v < -FAR ? -FAR : v);
  const flush = () => {
    if (!open) return;
    if (pen) ctx.lineTo(limit(from_x), limit(from_y));
    else ctx.moveTo(limit(from_x), limit(from_y));
    const middle = limit(column) + 0.5; // of the pixel: a lone spike stays crisp
    if (high > Math.max(from_y, to_y) || low < Math.min(from_y, to_y)) {
      ctx.lineTo(middle, limit(low));
      ctx.lineTo(middle, limit(high));
    }
    if (!pen && from_x === to_x) ctx.lineTo(limit(to_x) + 1, limit(to_y));
    else ctx.lineTo(limit(to_x), limit(to_y));
    pen = true;
    open = false;
  };
  for (let i = first; i < last; i++) {
    const py = oy + ky * y[i];
    const px = ox + kx * x[i];
    if (!(px === px && py === py)) {
      flush();
      pen = false;
      continue;
    }
    if (open && Math.floor(px) === column) {
      if (py < low) low = py;
      if (py > high) high = py;
    } else {
      flush();
      open = true;
      column = Math.floor(px);
      from_x = px;
      from_y = low = high = py;
    }
    to_x = px;
    to_y = py;
  }
  flush();
}

function marker(ctx, slot, x, y, r) {
  ctx.beginPath();
  if (slot % 4 === 0) ctx.arc(x, y, r, 0, 2 * Math.PI);
  else if (slot % 4 === 1) ctx.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
  else {
    const corners = slot % 4 === 2 ? [[0, -1.25], [1.1, 0.75], [-1.1, 0.75]] : [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]];
    corners.forEach(([dx, dy], k) => (k ? ctx.lineTo(x + r * dx, y + r * dy) : ctx.moveTo(x + r * dx, y + r * dy)));
    ctx.closePath();
  }
  ctx.fill();
}

/** One marker per small cell is enough: a million points on one spot are one spot. */
function paint_markers({ ctx, box, ox, oy, kx, ky, pixel }, { x, y }, slot, first, last, radius) {
  const many = last - first > 3000;
  const cell = many ? Math.max(1, pixel) : 0.25;
  const taken = new Set();
  for (let i = first; i < last; i++) {
    const px = ox + kx * x[i];
    const py = oy + ky * y[i];
    if (!(px >= box.left - 9 && px <= box.left + box.width + 9 && py >= box.top - 9 && py <= box.top + box.height + 9)) continue;
    const key = Math.round(px / cell) * 65536 + Math.round(py / cell);
    if (taken.has(key)) continue;
    taken.add(key);
    if (many) ctx.fillRect(px - 0.9 * pixel, py - 0.9 * pixel, 1.8 * pixel, 1.8 * pixel);
    else marker(ctx, slot, px, py, radius);
  }
}

function paint_message({ ctx, box, theme, pixel }, text) {
  ctx.font = `${Math.round(14 * pixel)}px ${FONT}`;
  ctx.fillStyle = theme.faint;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.fillText(text, box.left + box.width / 2, box.top + box.height / 2);
  ctx.textAlign = 'left';
}
