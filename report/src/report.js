// SPDX-License-Identifier: Apache-2.0
// Makes the page from the document. `documentElement.dataset` tells tests and tools how it went: ready, errors (text,
// empty when none), scrollWidth.

const CONTENTS_FROM = 5; // blocks with a title
const LONG_FACT = 26; // characters: wider than a column

const root = document.documentElement;
const errors = [];
const plots = [];
const links = new Map();

function record_error(text) {
  errors.push(String(text));
  root.dataset.errors = errors.join(' | ');
}

function link_of(block) {
  if (!block.link) return new Link();
  if (!links.has(block.link)) links.set(block.link, new Link());
  return links.get(block.link);
}

function make_plot(block) {
  if (block.type === 'figure') return new Figure(block, link_of(block));
  if (block.type === 'timeline') return new Timeline(block, link_of(block));
  if (block.type === 'scene') return new Scene(block, link_of(block));
  return null;
}

const PLOTTED = ['figure', 'timeline', 'scene'];
const SIMPLE = { audit: audit_block, table: table_block, text: text_block, inputs: inputs_block, map: map_block };

function fill_section(block, plot, section) {
  if (block.title) section.append(element('h2', {}, block.title));
  if (block.note) section.append(element('p.note', {}, block.note));
  if (plot) {
    plot.mount(section);
    plots.push(plot);
  } else if (SIMPLE[block.type]) {
    SIMPLE[block.type](block, section);
  } else {
    throw new Error(`unknown block type "${block.type}"`);
  }
}

function guarded(block, section, action) {
  try {
    return action();
  } catch (error) {
    record_error(`${block.title || block.type}: ${error.message}`);
    section.append(element('p.broken', {}, `This block could not be shown: ${error.message}`));
    return null;
  }
}

function contents(blocks) {
  const titled = blocks.map((block, i) => [block, i]).filter(([block]) => block.title);
  if (titled.length < CONTENTS_FROM) return null;
  const items = titled.map(([block, i]) => element('li', {}, element('a', { href: `#block-${i + 1}` }, block.title)));
  const details = element('details', {}, element('summary', {}, 'Contents'), element('ol', {}, ...items));
  details.open = window.matchMedia('(min-width: 1240px)').matches;
  return element('nav.contents.screen-only', { 'aria-label': 'Contents' }, details);
}

function header(data) {
  const status = data.status || null;
  const facts = (data.facts || []).map((fact) => element(String(fact.value).length > LONG_FACT ? 'div.long' : 'div', {}, element('dt', {}, fact.label), element('dd', {}, format_number(fact.value))));
  return element(
    'header',
    {},
    element('h1', {}, data.title || 'stickslip'),
    data.subtitle ? element('p.subtitle', {}, data.subtitle) : null,
    status ? element(`p.status.${status.ok ? 'good' : 'bad'}`, {}, element('strong', {}, status.ok ? '✓ ' : '✗ '), status.text || (status.ok ? 'success' : 'no success')) : null,
    (data.notes || []).length ? element('ul.notes.warn', { 'aria-label': 'notes' }, ...data.notes.map((text) => element('li', {}, text))) : null,
    facts.length ? element('dl.facts', {}, ...facts) : null,
  );
}

const HELP =
  'Drag to zoom, double click to reset; Shift and drag, or the arrow keys, to pan. On a touch screen pinch to zoom, drag to pan, tap twice to reset. Click a name in a legend to hide a curve.';

const SCENE_HELP =
  'In an animation drag to turn (or, where it is flat, to move), Shift and drag to move, double click a body to follow it, double click beside the bodies to reset; space plays, the arrow keys step.';

function make_page(data) {
  document.title = data.title || 'stickslip';
  const blocks = data.blocks || [];
  const sections = blocks.map((block, i) => element(`section.block.${block.type}`, { id: `block-${i + 1}` }));
  // Every plot joins its link before any is drawn: the common window needs all of them.
  const made = blocks.map((block, i) => guarded(block, sections[i], () => make_plot(block)));
  const main = element('main', {}, header(data), ...sections);
  const nav = contents(blocks);
  if (nav) document.body.classList.add('with-contents');
  const help = [made.some((plot) => plot && !(plot instanceof Scene)) ? HELP : '', made.some((plot) => plot instanceof Scene) ? SCENE_HELP : ''].filter(Boolean).join(' ');
  if (help) main.querySelector('header').append(element('p.help.screen-only', {}, help));
  main.append(element('footer', {}, data.generator || 'stickslip'));
  document.body.replaceChildren(...(nav ? [nav, main] : [main]));
  blocks.forEach((block, i) => {
    if (PLOTTED.includes(block.type) && !made[i]) return;
    guarded(block, sections[i], () => fill_section(block, made[i], sections[i]));
  });
  for (const link of new Set(plots.map((plot) => plot.link))) link.flush();
}

function measure() {
  root.dataset.scrollWidth = root.scrollWidth;
  root.dataset.clientWidth = root.clientWidth;
}

/** For tests and for the browser's console. */
window.stickslip = {
  plots: () => plots.map((plot) => plot.state()),
  zoom: (index, from, to) => plots[index].link.zoom(from, to),
  reset: (index) => plots[index].link.reset(),
  csv: (index) => plots[index].csv().text(),
  format: format_number,
  plot: (index) => plots[index],
};

function start() {
  root.dataset.errors = '';
  // A plot that is resized while the page is laid out is drawn one frame later: no error, though browsers report it as one.
  window.addEventListener('error', (event) => event.message.startsWith('ResizeObserver loop') || record_error(event.message));
  window.addEventListener('unhandledrejection', (event) => record_error(event.reason));
  const text = document.getElementById('stickslip-data').textContent.trim();
  let data = null;
  try {
    data = JSON.parse(text.startsWith('/*') ? 'null' : text);
  } catch (error) {
    record_error(`the document is not valid JSON: ${error.message}`);
  }
  try {
    make_page(data || { title: 'stickslip report', status: { ok: false, text: 'This page holds no readable result.' } });
  } catch (error) {
    record_error(error.message);
  }
  dark_query.addEventListener('change', () => plots.forEach((plot) => plot.apply_theme(screen_theme())));
  let folded = [];
  window.addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details.input:not([open])')];
    folded.forEach((part) => (part.open = true));
    plots.forEach((plot) => plot.before_print());
  });
  window.addEventListener('afterprint', () => {
    folded.forEach((part) => (part.open = false));
    plots.forEach((plot) => plot.after_print());
  });
  window.addEventListener('resize', () => requestAnimationFrame(measure));
  Promise.all(plots.map((plot) => plot.loading)).then(() =>
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        measure();
        root.dataset.ready = 'true';
      }),
    ),
  );
}

start();
