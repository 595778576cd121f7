// SPDX-License-Identifier: Apache-2.0
// A number over two others: a field of colours with its scale. x and y are cell centres, need not be equally spaced
// and are drawn one cell each; a value that is null is left blank.

// Viridis at eight places: even in lightness, and the same order in grey and for the usual colour deficiencies.
const MAP_COLOURS = ['#440154', '#46327e', '#365c8d', '#277f8e', '#1fa187', '#4ac16d', '#a0da39', '#fde725'];
const MAP_HEIGHT = 340;
const MAP_MARGIN = { left: 74, right: 96, top: 10, bottom: 46 };
const MAP_TICKS = 6;

function map_colour(fraction) {
  const at = Math.min(Math.max(fraction, 0), 1) * (MAP_COLOURS.length - 1);
  const k = Math.min(Math.floor(at), MAP_COLOURS.length - 2);
  const part = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mix = [0, 1, 2].map((i) => Math.round(part(MAP_COLOURS[k], i) + (at - k) * (part(MAP_COLOURS[k + 1], i) - part(MAP_COLOURS[k], i))));
  return `rgb(${mix.join(',')})`;
}

/** Round numbers where cells are equally spaced, else values of some cells: [place in cells, number]. */
function map_ticks(values) {
  const n = values.length;
  const step = n > 1 ? (values[n - 1] - values[0]) / (n - 1) : 0;
  const even = step !== 0 && values.every((v, k) => Math.abs(v - values[0] - k * step) < 1e-6 * Math.abs(step));
  if (!even || n <= MAP_TICKS) {
    const some = Math.min(MAP_TICKS, n);
    return [...new Set(Array.from({ length: some }, (_, k) => (some > 1 ? Math.round((k * (n - 1)) / (some - 1)) : 0)))].map((k) => [k, values[k]]);
  }
  const [low, high] = [Math.min(values[0], values[n - 1]), Math.max(values[0], values[n - 1])];
  const raw = (high - low) / (MAP_TICKS - 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const wide = [1, 2, 5, 10].map((f) => f * power).find((f) => f >= raw * (1 - 1e-9));
  const found = [];
  for (let k = Math.ceil(low / wide - 1e-9); k <= high / wide + 1e-9; k++) found.push([(k * wide - values[0]) / step, Number((k * wide).toPrecision(12))]);
  return found;
}

function map_block(block, section) {
  const { x_values, y_values, values, categories } = block;
  const columns = x_values.length;
  const rows = y_values.length;
  const known = values.filter((v) => v !== null);
  const least = known.length ? known.reduce((a, b) => Math.min(a, b)) : 0;
  const greatest = known.length ? known.reduce((a, b) => Math.max(a, b)) : 1;
  const canvas = element('canvas.map', { role: 'img', tabindex: '0', 'aria-label': `${block.label} over ${block.x.label} and ${block.y.label}: from ${format_number(least)} to ${format_number(greatest)}` });
  const value_line = element('p.note.value', { 'aria-live': 'polite' }, 'Point at the map to read it.');
  const colour = (v, theme) => (categories ? theme.series[Math.round(v) % theme.series.length] : map_colour(greatest > least ? (v - least) / (greatest - least) : 0.5));
  const with_unit = (axis) => (axis.unit ? `${axis.label} [${axis.unit}]` : axis.label);
  let width = 0;

  const draw_axes = (ink, theme, w, h) => {
    ink.fillStyle = theme.text;
    ink.strokeStyle = theme.border;
    ink.strokeRect(MAP_MARGIN.left, MAP_MARGIN.top, w, h);
    ink.font = '12px system-ui, sans-serif';
    ink.textAlign = 'center';
    ink.textBaseline = 'top';
    for (const [k, value] of map_ticks(x_values)) ink.fillText(format_number(value, 4), MAP_MARGIN.left + ((k + 0.5) / columns) * w, MAP_MARGIN.top + h + 5);
    ink.fillText(with_unit(block.x), MAP_MARGIN.left + w / 2, MAP_MARGIN.top + h + 24);
    ink.textAlign = 'right';
    ink.textBaseline = 'middle';
    for (const [k, value] of map_ticks(y_values)) ink.fillText(format_number(value, 4), MAP_MARGIN.left - 6, MAP_MARGIN.top + h - ((k + 0.5) / rows) * h);
    ink.save();
    ink.translate(12, MAP_MARGIN.top + h / 2);
    ink.rotate(-Math.PI / 2);
    ink.textAlign = 'center';
    ink.fillText(with_unit(block.y), 0, 0);
    ink.restore();
  };
  const draw_scale = (ink, theme, w, h) => {
    const left = MAP_MARGIN.left + w + 14;
    ink.textAlign = 'left';
    ink.textBaseline = 'middle';
    ink.fillStyle = theme.text;
    if (categories) {
      categories.forEach((name, k) => {
        ink.fillStyle = colour(k, theme);
        ink.fillRect(left, MAP_MARGIN.top + 20 * k, 14, 14);
        ink.fillStyle = theme.text;
        ink.fillText(name, left + 20, MAP_MARGIN.top + 20 * k + 7);
      });
      return;
    }
    for (let i = 0; i < h; i++) {
      ink.fillStyle = map_colour(1 - i / h);
      ink.fillRect(left, MAP_MARGIN.top + i, 14, 1.5);
    }
    ink.fillStyle = theme.text;
    for (let k = 0; k <= 4; k++) ink.fillText(format_number(least + (k / 4) * (greatest - least), 4), left + 19, MAP_MARGIN.top + h * (1 - k / 4));
  };
  const draw = (theme) => {
    width = Math.max(280, Math.min(section.clientWidth || 800, 900));
    const pixel = window.devicePixelRatio || 1;
    canvas.width = width * pixel;
    canvas.height = MAP_HEIGHT * pixel;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${MAP_HEIGHT}px`;
    const ink = canvas.getContext('2d');
    ink.scale(pixel, pixel);
    ink.fillStyle = theme.background;
    ink.fillRect(0, 0, width, MAP_HEIGHT);
    const w = width - MAP_MARGIN.left - MAP_MARGIN.right;
    const h = MAP_HEIGHT - MAP_MARGIN.top - MAP_MARGIN.bottom;
    for (let j = 0; j < rows; j++)
      for (let i = 0; i < columns; i++) {
        const v = values[j * columns + i];
        if (v === null) continue;
        ink.fillStyle = colour(v, theme);
        // Cells overlap by half a pixel, so that no seams show between them.
        ink.fillRect(MAP_MARGIN.left + (i / columns) * w, MAP_MARGIN.top + h - ((j + 1) / rows) * h, w / columns + 0.5, h / rows + 0.5);
      }
    draw_axes(ink, theme, w, h);
    draw_scale(ink, theme, w, h);
  };
  const read = (event) => {
    const box = canvas.getBoundingClientRect();
    const i = Math.floor(((event.clientX - box.left - MAP_MARGIN.left) / (width - MAP_MARGIN.left - MAP_MARGIN.right)) * columns);
    const j = Math.floor((1 - (event.clientY - box.top - MAP_MARGIN.top) / (MAP_HEIGHT - MAP_MARGIN.top - MAP_MARGIN.bottom)) * rows);
    if (i < 0 || j < 0 || i >= columns || j >= rows) return;
    const v = values[j * columns + i];
    value_line.textContent = `${block.x.label} = ${format_number(x_values[i], 6)}, ${block.y.label} = ${format_number(y_values[j], 6)}: ${block.label} ${v === null ? 'is not there' : categories ? categories[Math.round(v)] : `= ${format_number(v, 6)}`}`;
  };
  canvas.addEventListener('pointermove', read);
  canvas.addEventListener('pointerdown', read);
  section.append(canvas, value_line);
  draw(screen_theme());
  dark_query.addEventListener('change', () => draw(screen_theme()));
  window.addEventListener('resize', () => draw(screen_theme()));
  window.addEventListener('beforeprint', () => draw(LIGHT));
  window.addEventListener('afterprint', () => draw(screen_theme()));
}
