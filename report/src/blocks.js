// SPDX-License-Identifier: Apache-2.0
// Blocks without a plot: audit, table, text, inputs.

const ROWS_OF_TABLE = 200;
const COLUMNS_OF_PHONE = 4; // of a wider table a phone shows the cells of a row below each other

const GOOD = ['confirmed', 'success'];

/** A verdict or a status: what is not known to be good is bad. */
function verdict_badge(text) {
  if (text === 'corrected') return badge('warn', '≠ corrected');
  return GOOD.includes(text) ? badge('good', `✓ ${text}`) : badge('bad', `✗ ${text}`);
}

function badge(kind, text) {
  return element(`span.badge.${kind}`, {}, text);
}

function quantity(value, unit, digits) {
  const text = format_number(value, digits);
  return unit && unit !== '-' && unit !== '1' && text !== NONE ? `${text} ${unit}` : text;
}

function audit_block(block, section) {
  const verdict = (row) => {
    if (row.ok && row.guaranteed) return badge('good', '✓ holds');
    if (row.ok) return badge('plain', row.limit === null || row.limit === undefined ? 'reported' : '✓ within');
    return row.guaranteed ? badge('bad', '✗ broken') : badge('warn', '! flagged');
  };
  const cell = (label, content, kind) => element(`td${kind ? '.' + kind : ''}`, { 'data-label': label }, content);
  const rows = (block.rows || []).map((row) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, row.name),
      cell('value', quantity(row.value, row.unit, 4), 'number'),
      cell('limit', quantity(row.limit, row.unit, 3), 'number'),
      cell('guaranteed', row.guaranteed ? 'yes' : 'no'),
      cell('verdict', verdict(row)),
      cell('', row.meaning || '', 'meaning'),
    ),
  );
  if (!rows.length) {
    section.append(element('p.note', {}, 'Nothing was audited.'));
    return;
  }
  const head = ['', 'value', 'limit', 'guaranteed', 'verdict', 'meaning'].map((text, i) => element(`th${i === 1 || i === 2 ? '.number' : ''}`, { scope: 'col' }, text));
  section.append(element('div.table-box', {}, element('table.audit', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows))));
}

/** Numbers before texts, texts in natural order, empty cells last. */
function compare_cells(a, b) {
  const rank = (v) => (v === null || v === undefined || v === '' ? 2 : typeof v === 'number' ? 0 : 1);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return typeof a === 'number' ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
}

/** Names of files and methods may be broken after a joint, so that the columns beside them stay in sight. */
function breakable(text) {
  if (!text) return [NONE];
  return text.split(/(?<=[_+/.,-](?=\w{3}))/).flatMap((part, i) => (i ? [element('wbr'), part] : [part]));
}

function table_block(block, section) {
  const columns = block.columns || [];
  const rows = (block.rows || []).slice();
  const body = element('tbody');
  const more = element('button.tool', { type: 'button', onclick: () => fill(rows.length) });
  const numeric = columns.map((_, c) => rows.some((row) => typeof row[c] === 'number') && rows.every((row) => typeof row[c] !== 'string'));
  const cell = (value, c) => {
    const label = { 'data-label': columns[c] };
    if (c === block.verdict_column && typeof value === 'string' && value) return element('td', label, verdict_badge(value));
    return element(`td${numeric[c] ? '.number' : ''}`, label, ...(typeof value === 'string' ? breakable(value) : [format_number(value, 6)]));
  };
  const fill = (count) => {
    body.replaceChildren(...rows.slice(0, count).map((row) => element('tr', {}, ...columns.map((_, c) => cell(row[c], c)))));
    more.hidden = count >= rows.length;
    more.textContent = `Show all ${rows.length} rows`;
  };
  let sorted = null;
  const heads = columns.map((name, c) => {
    const sort = () => {
      const down = sorted === c;
      rows.sort((p, q) => (down ? -1 : 1) * compare_cells(p[c], q[c]));
      sorted = down ? null : c;
      heads.forEach((head, k) => head.setAttribute('aria-sort', k === c ? (down ? 'descending' : 'ascending') : 'none'));
      fill(Math.max(body.children.length, ROWS_OF_TABLE));
    };
    const inside = rows.length > 1 ? element('button.sort', { type: 'button', title: 'sort', onclick: sort }, name) : name;
    return element(`th${numeric[c] ? '.number' : ''}`, { scope: 'col' }, inside);
  });
  const save = () => save_blob(csv_blob(columns, rows.length, (i) => columns.map((_, c) => rows[i][c])), file_name(block.title, 'csv'));
  if (rows.length) section.append(element('div.tools.screen-only', {}, button('CSV', 'Download the table as CSV', save)));
  section.append(element('div.table-box', { tabindex: '0' }, element(columns.length > COLUMNS_OF_PHONE ? 'table.stacked' : 'table', {}, element('thead', {}, element('tr', {}, ...heads)), body)));
  section.append(rows.length ? more : element('p.note', {}, 'No rows.'));
  fill(ROWS_OF_TABLE);
}

/** What the result was made from. Folded on the screen, whole on paper. */
function inputs_block(block, section) {
  const pairs = (rows) => element('dl.pairs', {}, ...rows.flatMap(({ name, value }) => [element('dt', {}, name), element('dd', {}, format_number(value, 12))]));
  const part = (title, count, content) => {
    const folded = element('details.input', {}, element('summary', {}, count === null ? title : `${title} (${count})`), content);
    section.append(folded);
  };
  if ((block.rows || []).length) section.append(pairs(block.rows));
  if ((block.settings || []).length) part('Changed with --set', block.settings.length, element('pre', { tabindex: '0' }, block.settings.join('\n')));
  if ((block.parameters || []).length) part('Parameters', block.parameters.length, pairs(block.parameters));
  if (block.model_text) part('Model file', null, element('pre', { tabindex: '0' }, block.model_text));
}

function text_block(block, section) {
  for (const paragraph of block.paragraphs || []) section.append(element('p', {}, paragraph));
}
