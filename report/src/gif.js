// SPDX-License-Identifier: Apache-2.0
// An animation as a GIF (89a): colours of all pictures together in one table of 256, the most frequent ones first, each
// picture a rectangle of what changed, compressed by LZW.

const GIF_COLOURS = 256;
const GIF_SHADES = 5; // bits per channel that colours are counted by

/** The nearest of the table for every colour of 15 bits. `counts`: how often each occurs. */
function gif_palette(counts) {
  const order = [...counts.keys()].filter((key) => counts[key] > 0).sort((a, b) => counts[b] - counts[a]);
  const channel = (key, k) => ((key >> (GIF_SHADES * (2 - k))) & 31) * (255 / 31);
  const table = order.slice(0, GIF_COLOURS).map((key) => [0, 1, 2].map((k) => Math.round(channel(key, k))));
  const index = new Uint8Array(counts.length);
  order.forEach((key, place) => {
    if (place < table.length) {
      index[key] = place;
      return;
    }
    let best = Infinity;
    table.forEach((colour, k) => {
      const distance = colour.reduce((sum, c, i) => sum + (c - channel(key, i)) ** 2, 0);
      if (distance < best) [best, index[key]] = [distance, k];
    });
  });
  while (table.length < GIF_COLOURS) table.push([0, 0, 0]);
  return { table, index };
}

/** Numbers of colours as LZW codes, in blocks of at most 255 bytes. */
function gif_compress(pixels, out) {
  const CLEAR = 256;
  const END = 257;
  const LAST = 4095;
  let block = [];
  let bits = 0;
  let held = 0;
  const push = (byte) => {
    block.push(byte);
    if (block.length === 255) flush();
  };
  const flush = () => {
    if (block.length) out.push(block.length, ...block);
    block = [];
  };
  let size = 9;
  let next = END + 1;
  let known = new Map();
  const write = (code) => {
    held |= code << bits;
    for (bits += size; bits >= 8; bits -= 8) {
      push(held & 255);
      held >>>= 8;
    }
  };
  out.push(8);
  write(CLEAR);
  let prefix = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = (prefix << 8) | pixels[i];
    const found = known.get(key);
    if (found !== undefined) {
      prefix = found;
      continue;
    }
    write(prefix);
    if (next <= LAST) {
      known.set(key, next++);
      if (next - 1 === 1 << size && size < 12) size++;
    } else {
      write(CLEAR);
      [known, next, size] = [new Map(), END + 1, 9];
    }
    prefix = pixels[i];
  }
  write(prefix);
  write(END);
  if (bits > 0) push(held & 255);
  flush();
  out.push(0);
}

/** The rectangle in which two pictures differ; at least one pixel. */
function gif_changed(now, before, width, height) {
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (now[i] === before[i]) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      bottom = y;
    }
  }
  return right < 0 ? [0, 0, 1, 1] : [left, top, right - left + 1, bottom - top + 1];
}

class GifWriter {
  constructor(width, height, seconds_per_picture) {
    Object.assign(this, { width, height, hundredths: Math.max(2, Math.round(100 * seconds_per_picture)) });
    this.pictures = [];
    this.counts = new Uint32Array(1 << (3 * GIF_SHADES));
  }

  add(canvas) {
    const rgba = canvas.getContext('2d').getImageData(0, 0, this.width, this.height).data;
    const keys = new Uint16Array(this.width * this.height);
    for (let i = 0; i < keys.length; i++) {
      keys[i] = ((rgba[4 * i] >> 3) << 10) | ((rgba[4 * i + 1] >> 3) << 5) | (rgba[4 * i + 2] >> 3);
      this.counts[keys[i]]++;
    }
    this.pictures.push(keys);
  }

  blob() {
    const { table, index } = gif_palette(this.counts);
    const two = (v) => [v & 255, v >> 8];
    const parts = [];
    const head = [...'GIF89a'].map((c) => c.charCodeAt(0));
    head.push(...two(this.width), ...two(this.height), 0xf7, 0, 0, ...table.flat());
    head.push(0x21, 0xff, 11, ...[...'NETSCAPE2.0'].map((c) => c.charCodeAt(0)), 3, 1, 0, 0, 0); // for ever
    parts.push(Uint8Array.from(head));
    let before = null;
    for (const keys of this.pictures) {
      const now = Uint8Array.from(keys, (key) => index[key]);
      const [x, y, w, h] = before ? gif_changed(now, before, this.width, this.height) : [0, 0, this.width, this.height];
      const cut = new Uint8Array(w * h);
      for (let row = 0; row < h; row++) cut.set(now.subarray((y + row) * this.width + x, (y + row) * this.width + x + w), row * w);
      const out = [0x21, 0xf9, 4, 4, ...two(this.hundredths), 0, 0, 0x2c, ...two(x), ...two(y), ...two(w), ...two(h), 0];
      gif_compress(cut, out);
      parts.push(Uint8Array.from(out));
      before = now;
    }
    parts.push(Uint8Array.from([0x3b]));
    return new Blob(parts, { type: 'image/gif' });
  }
}
