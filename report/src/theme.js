// SPDX-License-Identifier: Apache-2.0
// Colours of what is drawn on canvas (the rest is in report.css). Okabe-Ito: distinct for the usual colour deficiencies;
// yellow is left out on white and blue on black, where they are too faint.

const LIGHT = {
  background: '#ffffff',
  text: '#2b3036',
  faint: '#6b7480',
  grid: '#e4e7eb',
  border: '#9aa3ad',
  mark: '#6b7480',
  series: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'],
};

const DARK = {
  background: '#181b20',
  text: '#d9dde3',
  faint: '#97a0ab',
  grid: '#2b3038',
  border: '#5b6470',
  mark: '#97a0ab',
  series: ['#56b4e9', '#e69f00', '#1fbf92', '#d98cb6', '#f0e442', '#ef7b2d', '#ffffff'],
};

const DASHES = [[], [8, 4], [2, 3], [9, 3, 2, 3]];

/** Hatch, and fill and ink on light and dark pages, of each mode: the hatch alone tells modes apart in greyscale. */
const MODES = {
  stick: { label: 'stick', hatch: 'solid', light: ['#0072b2', '#0072b2'], dark: ['#3f97d0', '#3f97d0'] },
  'slip+': { label: 'slip +', hatch: 'rising', light: ['#fbe3a6', '#b77a00'], dark: ['#43330d', '#e6ad2e'] },
  'slip-': { label: 'slip −', hatch: 'falling', light: ['#fbd3bd', '#c04f00'], dark: ['#47230f', '#f08548'] },
  slip: { label: 'slip', hatch: 'cross', light: ['#fbe3a6', '#b77a00'], dark: ['#43330d', '#e6ad2e'] },
  open: { label: 'open', hatch: 'dots', light: ['#ffffff', '#7c8590'], dark: ['#20242a', '#8b949f'] },
  closed: { label: 'closed', hatch: 'lines', light: ['#bfe8da', '#00795a'], dark: ['#0f3a2f', '#2cc79a'] },
};
const UNKNOWN_MODE = { label: 'other', hatch: 'solid', light: ['#c4c9cf', '#8b929a'], dark: ['#4a515a', '#79818b'] };

function mode_style(theme, name) {
  const mode = MODES[name] || UNKNOWN_MODE;
  const [fill, ink] = theme === DARK ? mode.dark : mode.light;
  return { fill, ink, hatch: mode.hatch };
}

const dark_query = window.matchMedia('(prefers-color-scheme: dark)');
const screen_theme = () => (dark_query.matches ? DARK : LIGHT);

const series_colour = (theme, index) => theme.series[index % theme.series.length];
const series_dash = (theme, index, dashed) =>
  DASHES[(Math.floor(index / theme.series.length) + (dashed ? 1 : 0)) % DASHES.length];

function hatch_pattern(context, mode, pixel) {
  const size = Math.max(4, Math.round(8 * pixel));
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const ink = tile.getContext('2d');
  ink.fillStyle = mode.fill;
  ink.fillRect(0, 0, size, size);
  ink.strokeStyle = ink.fillStyle = mode.ink;
  ink.lineWidth = 1.3 * pixel;
  const line = (x0, y0, x1, y1) => {
    ink.beginPath();
    ink.moveTo(x0, y0);
    ink.lineTo(x1, y1);
    ink.stroke();
  };
  const rising = () => [-size, 0, size].forEach((d) => line(d - 1, size + 1, d + size + 1, -1));
  const falling = () => [-size, 0, size].forEach((d) => line(d - 1, -1, d + size + 1, size + 1));
  if (mode.hatch === 'rising' || mode.hatch === 'cross') rising();
  if (mode.hatch === 'falling' || mode.hatch === 'cross') falling();
  if (mode.hatch === 'lines') line(0, size / 2, size, size / 2);
  if (mode.hatch === 'dots') {
    ink.beginPath();
    ink.arc(size / 2, size / 2, 1.1 * pixel, 0, 2 * Math.PI);
    ink.fill();
  }
  return context.createPattern(tile, 'repeat');
}
