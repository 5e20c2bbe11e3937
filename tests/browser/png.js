// SPDX-License-Identifier: GPL-2.0-only
//
// png.js - reads the PNG files that Chromium makes of pages: 8 bits a channel, RGB or RGBA, not interlaced.
'use strict';

const zlib = require('node:zlib');

function paeth(a, b, c) {
  const p = a + b - c;
  const [da, db, dc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  if (da <= db && da <= dc) return a;
  return db <= dc ? b : c;
}

// Takes the filters of all lines back, in place; gives the pixels without the lines' first bytes.
function unfilter(raw, width, height, channels) {
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    const from = y * (stride + 1) + 1;
    const to = y * stride;
    for (let x = 0; x < stride; x++) {
      const left = x >= channels ? pixels[to + x - channels] : 0;
      const up = y ? pixels[to + x - stride] : 0;
      const corner = y && x >= channels ? pixels[to + x - stride - channels] : 0;
      const guess = [0, left, up, (left + up) >> 1][filter] ?? paeth(left, up, corner);
      pixels[to + x] = raw[from + x] + guess;
    }
  }
  return pixels;
}

// {width, height, channels, pixels}
function decodePng(file) {
  const data = [];
  let head = null;
  for (let at = 8; at < file.length; ) {
    const size = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + size);
    if (type === 'IHDR') head = {width: body.readUInt32BE(0), height: body.readUInt32BE(4), depth: body[8],
      type: body[9]};
    if (type === 'IDAT') data.push(body);
    at += 12 + size;
  }
  const channels = {2: 3, 6: 4}[head.type];
  if (head.depth !== 8 || !channels) throw new Error(`a PNG of type ${head.type} with ${head.depth} bits`);
  const raw = zlib.inflateSync(Buffer.concat(data));
  return {width: head.width, height: head.height, channels, pixels: unfilter(raw, head.width, head.height, channels)};
}

module.exports = {decodePng};
