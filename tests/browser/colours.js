// SPDX-License-Identifier: GPL-2.0-only
//
// colours.js - how far two colours are apart for people who see all colours, and for those who see two: the colours are
// first changed as full protanopia, deuteranopia and tritanopia do (the matrices of Machado, Oliveira and Fernandes,
// 2009, for linear RGB), then compared in CIE Lab (the colour difference of 1976).
'use strict';

const VISIONS = {
  full: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

function seen(rgb, matrix) {
  const from = rgb.map((part) => linear(part / 255));
  return [0, 3, 6].map((row) =>
    Math.max(0, Math.min(1, matrix[row] * from[0] + matrix[row + 1] * from[1] + matrix[row + 2] * from[2])),
  );
}

function lab([r, g, b]) {
  const [x, y, z] = [
    (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
    0.2126 * r + 0.7152 * g + 0.0722 * b,
    (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
  ].map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// The least difference that any of these people sees; 2 or 3 can just be seen where colours touch. Colours are [r, g,
// b].
function difference(one, other) {
  const each = Object.values(VISIONS).map((matrix) => {
    const [a, b] = [lab(seen(one, matrix)), lab(seen(other, matrix))];
    return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  });
  return Math.min(...each);
}

module.exports = {difference};
