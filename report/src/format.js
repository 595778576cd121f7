// SPDX-License-Identifier: Apache-2.0
// Numbers as text, axis ticks, CSV. Pure functions.

const NONE = '–';

function trim_zeros(text) {
  const [mantissa, exponent] = text.split('e');
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return exponent === undefined ? short : `${short}e${exponent}`;
}

/** A number with `digits` significant digits; an exponent outside [1e-4, 1e6). Text passes through, null is a dash. */
function format_number(value, digits = 5) {
  if (value === null || value === undefined || value === '') return NONE;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number') return String(value);
  if (!Number.isFinite(value)) return NONE;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value);
  if (size < 1e-4 || size >= 1e6) return trim_zeros(value.toExponential(digits - 1)).replace('e+', 'e');
  const text = value.toPrecision(digits);
  return text.includes('e') ? String(Math.round(value)) : trim_zeros(text);
}

/** Digits that tell two cursor positions apart when `span` is shown around `value`. */
function digits_for(value, span) {
  if (!(span > 0) || value === 0) return 5;
  return Math.min(15, Math.max(5, Math.ceil(Math.log10(Math.abs(value) / span)) + 4));
}

function superscript(n) {
  return String(n).replace(/[-0-9]/g, (c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]));
}

function nice_step(rough) {
  const decade = 10 ** Math.floor(Math.log10(rough));
  const ratio = rough / decade;
  const factor = ratio <= 1.0001 ? 1 : ratio <= 2.0001 ? 2 : ratio <= 5.0001 ? 5 : 10;
  return factor * decade;
}

function linear_ticks(min, max, count) {
  const step = nice_step((max - min) / Math.max(count, 1));
  const ticks = [];
  if (!(step > 0) || !Number.isFinite(step)) return ticks;
  const last = Math.floor(max / step + 1e-9);
  for (let k = Math.ceil(min / step - 1e-9); k <= last && ticks.length < 100; k++) ticks.push(k * step);
  return ticks;
}

function linear_labels(ticks) {
  const largest = Math.max(...ticks.map(Math.abs), 0);
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : largest || 1;
  const step_power = Math.floor(Math.log10(step) + 1e-9);
  if (largest !== 0 && (largest < 1e-3 || largest >= 1e6)) {
    return ticks.map((v) => {
      if (Math.abs(v) < step * 1e-6) return '0';
      const digits = Math.max(0, Math.min(15, Math.floor(Math.log10(Math.abs(v)) + 1e-9) - step_power));
      return trim_zeros(v.toExponential(digits)).replace('e+', 'e');
    });
  }
  const decimals = Math.max(0, Math.min(15, -step_power));
  return ticks.map((v) => (Math.abs(v) < step * 1e-6 ? '0' : v.toFixed(decimals)));
}

/** Ticks of a logarithmic axis: {values, labels, major}. Decades; 2 and 5 or a linear rule when few decades are shown. */
function log_ticks(min, max, count) {
  const decades = Math.log10(max / min);
  if (decades < 0.7) {
    const values = linear_ticks(min, max, count).filter((v) => v > 0);
    return { values, labels: linear_labels(values), major: values.map(() => true) };
  }
  const first = Math.floor(Math.log10(min) + 1e-9);
  const last = Math.floor(Math.log10(max) + 1e-9);
  const stride = Math.max(1, Math.ceil(decades / Math.max(count, 1)));
  const out = { values: [], labels: [], major: [] };
  const push = (value, label, major) => {
    if (value < min * (1 - 1e-9) || value > max * (1 + 1e-9)) return;
    out.values.push(value);
    out.labels.push(label);
    out.major.push(major);
  };
  for (let n = first; n <= last; n++) {
    const is_major = ((n % stride) + stride) % stride === 0;
    push(10 ** n, is_major ? (n === 0 ? '1' : n === 1 ? '10' : '10' + superscript(n)) : '', is_major);
    if (stride > 1) continue;
    for (let k = 2; k <= 9; k++) {
      const named = decades < 2 && (k === 2 || k === 5);
      push(k * 10 ** n, named ? format_number(k * 10 ** n, 3) : '', named);
    }
  }
  return out;
}

function label_with_unit(quantity) {
  if (!quantity) return '';
  const unit = quantity.unit && quantity.unit !== '-' && quantity.unit !== '1' ? ` (${quantity.unit})` : '';
  return `${quantity.label || ''}${unit}`;
}

function csv_cell(value) {
  if (value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return '';
  const text = String(value);
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function file_name(title, extension) {
  const stem = (title || 'figure').normalize('NFKD').replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 60);
  return `${stem || 'figure'}.${extension}`;
}
