// SPDX-License-Identifier: Apache-2.0
// Writes the page template: node build.mjs OUTPUT.html
//
// One file, no external request: uPlot and our own sources are put inside. The data is a JSON block, not a script, so
// the script's text is fixed here and the page's policy admits that text only, by its hash. The painter of solid scenes
// (three.js and src/solid) is a second script, compressed, which the page unpacks only when it shows such a scene; it
// stands between two comments, so that whoever writes a page without one can leave it out.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const read = (...path) => readFileSync(join(here, ...path), 'utf8').replace(/\r\n/g, '\n');

const SOURCES = ['format', 'dom', 'theme', 'link', 'plot', 'curve', 'figure', 'timeline', 'blocks', 'map', 'scene_data', 'scene_camera', 'scene_flat', 'scene_overlay', 'scene_hinges', 'scene_gestures', 'scene_controls', 'gif', 'webm', 'scene', 'report'];
const MARKER = '/*STICKSLIP_DATA*/null';

function fail(message) {
  console.error(`build.mjs: ${message}`);
  process.exit(2);
}

const output = process.argv[2];
if (!output) fail('usage: node build.mjs OUTPUT.html');

let library, library_style, licence, solid_licence, bundler;
try {
  library = read('node_modules', 'uplot', 'dist', 'uPlot.iife.min.js');
  library_style = read('node_modules', 'uplot', 'dist', 'uPlot.min.css');
  licence = read('node_modules', 'uplot', 'LICENSE');
  solid_licence = read('node_modules', 'three', 'LICENSE');
  bundler = await import('esbuild');
} catch (error) {
  fail(`a library is missing (${error.message}); run "npm ci" in the report folder first`);
}

const bundle = await bundler.build({
  entryPoints: [join(here, 'src', 'solid', 'painter.js')],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2020',
  charset: 'ascii',
  legalComments: 'none', // the licence stands in the page as text
  write: false,
});
const solid = bundle.outputFiles[0].text;

const ours = SOURCES.map((name) => read('src', `${name}.js`)).join('\n');
const names = [...ours.matchAll(/^(?:async )?(?:function|const|let|class) (\w+)/gm)].map((match) => match[1]);
const twice = names.find((name, i) => names.indexOf(name) !== i);
if (twice) fail(`two sources define ${twice}: they share one scope`);
const own = (await bundler.transform(`(() => {\n'use strict';\n${ours}})();`, { minify: true, target: 'es2022', charset: 'utf8' })).code;
const script = `\n/* uPlot\n${licence.trim()}\n*/\n${library.trim()}\n${own}`;
const style = `\n${library_style.trim()}\n${read('src', 'report.css')}`;
if (/<\/script|<!--/i.test(script)) fail('a script holds text that would end or hide its element');
if (/<\/style/i.test(style)) fail('a style sheet holds text that would end its element');

if (solid_licence.includes('--')) fail('the licence of three.js cannot stand in a comment');

const hash_of = (text) => `sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}`;
const parts = {
  SCRIPT_HASH: hash_of(script),
  SOLID_HASH: hash_of(solid),
  SOLID_LICENCE: solid_licence.trim(),
  SOLID: gzipSync(solid, { level: 9 }).toString('base64'),
  STYLE: style,
  SCRIPT: script,
};
const page = read('src', 'template.html').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
if (page.split(MARKER).length !== 2) fail(`the template must hold ${MARKER} exactly once`);

mkdirSync(dirname(resolve(output)), { recursive: true });
writeFileSync(output, page);
