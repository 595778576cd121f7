// SPDX-License-Identifier: Apache-2.0
// Writes the page template: node build.mjs OUTPUT.html
//
// One file, no external request: uPlot and our own sources are put inside. The data is a JSON block, not a script, so
// the script's text is fixed here and the page's policy admits that text only, by its hash.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const read = (...path) => readFileSync(join(here, ...path), 'utf8').replace(/\r\n/g, '\n');

const SOURCES = ['format', 'dom', 'theme', 'link', 'plot', 'curve', 'figure', 'timeline', 'blocks', 'report'];
const MARKER = '/*STICKSLIP_DATA*/null';

function fail(message) {
  console.error(`build.mjs: ${message}`);
  process.exit(2);
}

const output = process.argv[2];
if (!output) fail('usage: node build.mjs OUTPUT.html');

let library, library_style, licence;
try {
  library = read('node_modules', 'uplot', 'dist', 'uPlot.iife.min.js');
  library_style = read('node_modules', 'uplot', 'dist', 'uPlot.min.css');
  licence = read('node_modules', 'uplot', 'LICENSE');
} catch (error) {
  fail(`uPlot is missing (${error.message}); run "npm ci" in the report folder first`);
}

const ours = SOURCES.map((name) => read('src', `${name}.js`)).join('\n');
const script = `\n/* uPlot\n${licence.trim()}\n*/\n${library.trim()}\n(() => {\n'use strict';\n${ours}})();\n`;
const style = `\n${library_style.trim()}\n${read('src', 'report.css')}`;
if (/<\/script|<!--/i.test(script)) fail('a script holds text that would end or hide its element');
if (/<\/style/i.test(style)) fail('a style sheet holds text that would end its element');

const parts = {
  SCRIPT_HASH: `sha256-${createHash('sha256').update(script, 'utf8').digest('base64')}`,
  STYLE: style,
  SCRIPT: script,
};
const page = read('src', 'template.html').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
if (page.split(MARKER).length !== 2) fail(`the template must hold ${MARKER} exactly once`);

mkdirSync(dirname(resolve(output)), { recursive: true });
writeFileSync(output, page);
