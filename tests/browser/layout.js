// SPDX-License-Identifier: GPL-2.0-only
//
// layout.js - looks at a page as it is drawn, and lists what is wrong with its layout: texts that lie on each other,
// texts that are cut off, a page that is wider than its window, and texts whose contrast is too low. The colour behind
// a text is taken from a picture of the page without its texts.
'use strict';

const {decodePng} = require('./png.js');

const LEAST_CONTRAST = 4.5; // WCAG 2, level AA
const LEAST_PART = 0.08; // of a text's box: a colour that covers less is a thin line, or the edge of something

// Runs in the page: every text that is to be seen, with its boxes in the document's pixels, and its colour.
function collectTexts() {
  const scrolls = (style) => /auto|scroll/.test(style.overflowX) || /auto|scroll/.test(style.overflowY);
  const texts = [];
  const troubles = [];
  const containers = [];
  const box = (r) => ({left: r.left + scrollX, right: r.right + scrollX,
    top: r.top + scrollY, bottom: r.bottom + scrollY});
  const inside = (one, other, x, y) =>
    one.left >= other.left - x && one.right <= other.right + x &&
    one.top >= other.top - y && one.bottom <= other.bottom + y;
  const cutTo = (one, other) => ({
    left: Math.max(one.left, other.left),
    right: Math.min(one.right, other.right),
    top: Math.max(one.top, other.top),
    bottom: Math.min(one.bottom, other.bottom),
  });

  // The surroundings of an element: the boxes that clip it, the container that scrolls it, its opacity.
  function around(element) {
    const found = {clips: [], scroll: -1, scrollBox: null, opacity: 1, isHidden: false, svg: null};
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      found.opacity *= Number(style.opacity);
      if (style.display === 'none' || style.visibility === 'hidden') found.isHidden = true;
      if (style.clipPath !== 'none') found.isHidden = true; // for screen readers alone
      if (at.tagName === 'DETAILS' && !at.open && !element.closest('summary')) found.isHidden = true;
      if (at.tagName === 'svg' && !found.svg) found.svg = at;
      if (at === document.documentElement || at === document.body) continue;
      if (scrolls(style)) {
        if (found.scroll < 0) {
          if (!containers.includes(at)) containers.push(at);
          found.scroll = containers.indexOf(at);
        }
        const r = box(at.getBoundingClientRect());
        found.scrollBox = found.scrollBox ? cutTo(found.scrollBox, r) : r;
      } else if (style.overflowX !== 'visible' && at !== element && found.scroll < 0 && at.tagName !== 'svg') {
        found.clips.push(box(at.getBoundingClientRect()));
      }
    }
    return found;
  }

  // The nearest element that has a box of its own.
  function blockOf(element) {
    let at = element;
    while (getComputedStyle(at).display === 'inline' && at.parentElement) at = at.parentElement;
    return at;
  }

  function add(element, text, rects, colour) {
    const where = around(element);
    if (where.isHidden || !rects.length || where.opacity === 0) return;
    const isSvg = element.namespaceURI === 'http://www.w3.org/2000/svg';
    const block = isSvg ? null : box(blockOf(element).getBoundingClientRect());
    const svg = where.svg && box(where.svg.getBoundingClientRect());
    const short = text.trim().slice(0, 50);
    for (const rect of rects) {
      if (block && !inside(rect, block, 1.5, 3)) troubles.push(`"${short}" is outside of its box`);
      if (svg && isSvg && !inside(rect, svg, 1.5, 1.5)) troubles.push(`"${short}" is cut by the edge of its picture`);
      const frame = element.parentElement?.matches?.('g.f') && box(element.parentElement.querySelector('rect')
        .getBoundingClientRect());
      if (frame && !inside(rect, frame, 1.5, 3)) troubles.push(`"${short}" is longer than its frame`);
      if (where.clips.some((clip) => !inside(rect, clip, 1, 3))) troubles.push(`"${short}" is cut off`);
      if (where.scroll < 0 && (rect.left < -1 || rect.right > document.documentElement.clientWidth + 1))
        troubles.push(`"${short}" is outside of the window`);
    }
    const size = parseFloat(getComputedStyle(element).fontSize);
    texts.push({text: short, rects, colour, opacity: where.opacity, scroll: where.scroll, seen: where.scrollBox, size});
  }

  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent || parent.closest('script, style, noscript, title, head, option')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const isSvg = parent.namespaceURI === 'http://www.w3.org/2000/svg';
    const rects = isSvg ? [parent.getBoundingClientRect()] : [...range.getClientRects()];
    const style = getComputedStyle(parent);
    add(parent, node.data, rects.filter((r) => r.width > 0 && r.height > 0).map(box), isSvg ? style.fill : style.color);
  }
  for (const select of document.querySelectorAll('select')) {
    const r = box(select.getBoundingClientRect());
    const inner = {left: r.left + 8, right: r.right - 22, top: r.top + 4, bottom: r.bottom - 4};
    if (select.scrollWidth > select.clientWidth + 1) troubles.push('the text of a list is cut off');
    if (r.right > r.left) add(select, select.selectedOptions[0].textContent, [inner], getComputedStyle(select).color);
  }
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth && root.tagName === 'HTML')
    troubles.push(`the page is ${root.scrollWidth} pixels wide, its window ${root.clientWidth}`);
  return {texts, troubles, width: root.scrollWidth, height: root.scrollHeight};
}

// ---- texts on each other ----

// Lines of text are tighter than the boxes of their letters.
function shrink({left, right, top, bottom}) {
  const edge = (bottom - top) * 0.14;
  return {left: left + 0.5, right: right - 0.5, top: top + edge, bottom: bottom - edge};
}

function meet(a, b) {
  return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
}

function overlaps(texts) {
  const boxes = texts.flatMap((text, i) => text.rects.map((rect) => ({i, text, ...shrink(rect)})));
  const found = [];
  boxes.sort((a, b) => a.top - b.top);
  for (let i = 0; i < boxes.length; i++) {
    for (let k = i + 1; k < boxes.length && boxes[k].top < boxes[i].bottom; k++) {
      const [a, b] = [boxes[i], boxes[k]];
      // Text that was scrolled away lies outside of its container, maybe on another text, and is not drawn.
      if (a.i !== b.i && a.text.scroll === b.text.scroll && meet(a, b)) found.push(
        `"${a.text.text}" lies on "${b.text.text}"`);
    }
  }
  return found;
}

// ---- contrast ----

function parseColour(text) {
  const numbers = text.match(/[\d.]+/g).map(Number);
  return {rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1};
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

// The colours of a box of a picture that cover a part of it that counts.
function coloursIn(picture, {left, right, top, bottom}) {
  const counts = new Map();
  let n = 0;
  for (let y = Math.max(0, Math.floor(top)); y < Math.min(picture.height, Math.ceil(bottom)); y++) {
    for (let x = Math.max(0, Math.floor(left)); x < Math.min(picture.width, Math.ceil(right)); x++, n++) {
      const at = (y * picture.width + x) * picture.channels;
      const key = (picture.pixels[at] << 16) | (picture.pixels[at + 1] << 8) | picture.pixels[at + 2];
      counts.set(key, (counts.get(key) || 0) + 1);
    }
  }
  return [...counts].filter(([, count]) => count >= n * LEAST_PART)
    .map(([key]) => [key >> 16, (key >> 8) & 255, key & 255]);
}

function faint(texts, picture) {
  const found = [];
  for (const {text, rects, colour, opacity, seen} of texts) {
    const {rgb, alpha} = parseColour(colour);
    for (const rect of rects) {
      const shown = seen
        ? {
            left: Math.max(rect.left, seen.left),
            right: Math.min(rect.right, seen.right),
            top: Math.max(rect.top, seen.top),
            bottom: Math.min(rect.bottom, seen.bottom),
          }
        : rect;
      for (const behind of coloursIn(picture, shown)) {
        const mixed = rgb.map((one, i) => one * alpha * opacity + behind[i] * (1 - alpha * opacity));
        const ratio = contrast(mixed, behind);
        if (ratio < LEAST_CONTRAST) found.push(
          `"${text}" has a contrast of ${ratio.toFixed(2)}: ${mixed.map(Math.round)} on ${behind}`);
      }
    }
  }
  return [...new Set(found)];
}

// ---- all ----

const WITHOUT_TEXTS = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after, ::marker { color: transparent !important; text-decoration-color: ' +
    'transparent !important; ' +
    'transition: none !important; } text, tspan { fill: transparent !important; }');
  document.adoptedStyleSheets = [sheet];
})()`;

// The faults of the page as it is now: a list of sentences. `count`: the number of texts examined.
async function lookAt(browser) {
  // The picture has none, and would be laid out otherwise.
  await browser.send('Emulation.setScrollbarsHidden', {hidden: true});
  await browser.settle();
  const {texts, troubles, width, height} = await browser.evaluate(`(${collectTexts})()`);
  await browser.evaluate(WITHOUT_TEXTS);
  await browser.settle();
  const {data} = await browser.send('Page.captureScreenshot', {
    format: 'png',
    captureBeyondViewport: true,
    clip: {x: 0, y: 0, width, height, scale: 1},
  });
  await browser.evaluate('document.adoptedStyleSheets = []; void 0');
  const picture = decodePng(Buffer.from(data, 'base64'));
  return {count: texts.length, troubles: [...new Set([...troubles, ...overlaps(texts), ...faint(texts, picture)])]};
}

module.exports = {lookAt, contrast};
