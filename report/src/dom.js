// SPDX-License-Identifier: Apache-2.0
// Small pieces of the page: elements, buttons, downloads, the chooser.

/** element('button.small', {onclick: f, 'aria-label': s}, 'text', child...) */
function element(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(' ');
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

function button(text, title, action) {
  return element('button.tool', { type: 'button', title, 'aria-label': title, onclick: action }, text);
}

function save_blob(blob, name) {
  const url = URL.createObjectURL(blob);
  const anchor = element('a', { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** Rows are made one by one and joined in chunks: a million rows must not become one giant temporary string. */
function csv_blob(header, row_count, row) {
  const parts = [header.map(csv_cell).join(',') + '\n'];
  let chunk = [];
  for (let i = 0; i < row_count; i++) {
    chunk.push(row(i).map(csv_cell).join(','));
    if (chunk.length === 5000) {
      parts.push(chunk.join('\n') + '\n');
      chunk = [];
    }
  }
  if (chunk.length) parts.push(chunk.join('\n') + '\n');
  return new Blob(parts, { type: 'text/csv' });
}

const CHOOSER_LISTED = 100;
const CHOOSER_ADDED = 40;

/**
 * Choose which of many named items are shown: a search box over a list of check boxes. Only the first matches are
 * listed, so that a thousand names cost nothing.
 */
function chooser(noun, names, shown, on_change) {
  const list = element('div.chooser-list', { role: 'group', 'aria-label': `${noun} shown` });
  const count = element('span.chooser-count');
  const search = element('input', { type: 'search', placeholder: `search ${noun}`, 'aria-label': `search ${noun}`, oninput: () => fill() });
  const matches = () => {
    const wanted = search.value.trim().toLowerCase();
    const found = [];
    names.forEach((name, i) => {
      if (name.toLowerCase().includes(wanted)) found.push(i);
    });
    return found;
  };
  const summary = element('summary', {}, '');
  const changed = () => {
    fill();
    on_change();
  };
  const fill = () => {
    const found = matches();
    summary.textContent = `Choose ${noun} (${shown.size} of ${names.length})`;
    count.textContent = found.length > CHOOSER_LISTED ? `first ${CHOOSER_LISTED} of ${found.length} matches` : `${found.length} match${found.length === 1 ? '' : 'es'}`;
    list.replaceChildren(
      ...found.slice(0, CHOOSER_LISTED).map((i) => {
        const box = element('input', {
          type: 'checkbox',
          onchange: () => {
            if (box.checked) shown.add(i);
            else shown.delete(i);
            summary.textContent = `Choose ${noun} (${shown.size} of ${names.length})`;
            on_change();
          },
        });
        box.checked = shown.has(i);
        return element('label', {}, box, names[i]);
      }),
    );
  };
  const tools = element(
    'div.chooser-tools',
    {},
    search,
    button(`Show matches`, `show the first ${CHOOSER_ADDED} matches only`, () => {
      shown.clear();
      matches().slice(0, CHOOSER_ADDED).forEach((i) => shown.add(i));
      changed();
    }),
    button('Clear', 'show none', () => {
      shown.clear();
      changed();
    }),
    count,
  );
  fill();
  const node = element('details.chooser.screen-only', {}, summary, tools, list);
  node.refill = fill;
  return node;
}

/** One group after the other with a list and two buttons, several with a chooser. */
function group_picker(choice) {
  const { noun, names } = choice;
  const one = noun.replace(/ies$/, 'y').replace(/s$/, '');
  const several = element('option', { value: '' });
  const list = element('select', { 'aria-label': `${one} shown`, onchange: () => list.value && choice.show(Number(list.value)) }, several, ...names.map((name, i) => element('option', { value: String(i) }, name)));
  const more = chooser(noun, names, choice.shown, () => choice.changed());
  const update = () => {
    const alone = choice.shown.size === 1;
    several.textContent = choice.shown.size ? `${choice.shown.size} ${noun}` : `no ${one}`;
    several.hidden = alone;
    list.value = alone ? String([...choice.shown][0]) : '';
    more.refill();
  };
  choice.listeners.push(update);
  update();
  return element('div.picker.screen-only', {}, element('label', {}, `${one} `, list), button('‹', `Previous ${one}`, () => choice.step(-1)), button('›', `Next ${one}`, () => choice.step(1)), more);
}
