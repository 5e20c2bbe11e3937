// SPDX-License-Identifier: GPL-2.0-only
//
// layouts.js CHROMIUM PICTURES FILE... - looks at pages and pictures (made by tests/cli/layout_browser.sh) at three
// widths, in the light and in the dark, and says what it finds as ok: and FAIL: lines. Nothing may overlap or be cut,
// and all text must have contrast (layout.js). A file wrong.html has faults on purpose: each of them must be found.
'use strict';

const path = require('node:path');
const {pathToFileURL} = require('node:url');
const {Browser} = require('./devtools.js');
const {difference} = require('./colours.js');
const {lookAt, contrast} = require('./layout.js');

const [program, pictures, ...files] = process.argv.slice(2);
const WIDTHS = [1400, 800, 500];
const LEAST_APART = 20; // of the colours of hard interrupts and of softirqs
const LEAST_OTHERS = 12; // of other owners' strong colours
let failures = 0;

function none(what, found) {
  if (found.length) failures++;
  console.log(found.length ? `FAIL: ${what}: ${found.slice(0, 12).join('; ')}` : `ok: ${what}`);
}

// Everything that a page shows on demand: folded tables, families of stages, exact numbers, the widest grouping.
const SHOW_ALL = `(() => {
  document.querySelectorAll('details').forEach((one) => (one.open = true));
  document.querySelectorAll('.unfold, .more').forEach((one) => one.click());
  document.querySelectorAll('.groups select').forEach((one) => {
    one.value = 'socket';
    one.dispatchEvent(new Event('change'));
  });
  document.querySelector('.switch input')?.click();
})()`;

async function look(browser, what) {
  const {count, troubles} = await lookAt(browser);
  if (!count) troubles.push('there is no text');
  none(`${what}: ${count} texts`, troubles);
}

async function lookAtPage(browser, what, isDark) {
  await look(browser, what);
  if (isDark) return; // what is shown on demand has no colours of its own
  await browser.evaluate(SHOW_ALL);
  await browser.settle();
  await look(browser, `${what}, all shown`);
}

// The first map's fullest cell tells its numbers at the pointer: as many as the data has there.
async function pointAtMap(browser, what) {
  const {x, y, packets} = await browser.evaluate(`(() => {
    const map = document.querySelector('g.map');
    const cells = map.dataset.cells.split(';').flatMap((column, x) =>
      [...column.matchAll(/(\\d+) (\\d+)/g)].map(([, row, packets]) => ({x, row: +row, packets: +packets})));
    const {x, row, packets} = cells.sort((a, b) => b.packets - a.packets)[0];
    const rows = map.dataset.bounds.split(';').length - 1;
    const at = new DOMPoint(x + 0.5, rows - row - 0.5).matrixTransform(map.getScreenCTM());
    return {x: at.x, y: at.y, packets};
  })()`);
  const text = () => browser.evaluate(`document.querySelector('text.at').textContent`);
  const before = await text();
  await browser.hover(x, y);
  const told = await text();
  await browser.hover(1, 1);
  const wanted = `${packets.toLocaleString('en')} packet${packets === 1 ? '' : 's'} (`;
  none(`${what}: the pointer tells the packets of a cell`, told.startsWith(wanted) ? [] : [told, wanted]);
  none(`${what}: and leaves no trace`, (await text()) === before ? [] : [await text()]);
}

// A picture as it opens; a flame graph also zoomed, with a search and something chosen.
async function lookAtPicture(browser, what) {
  none(
    `${what} is XML`,
    await browser.evaluate(`[...document.querySelectorAll('parsererror')].map((one) => one.textContent)`),
  );
  none(
    `${what} is as wide as the window`,
    await browser.evaluate(
      `[document.documentElement.getBoundingClientRect().width].filter((width) => width > innerWidth + 1
        || width < Math.min(1200, innerWidth - 30))`,
    ),
  );
  await look(browser, what);
  const isFlame = await browser.evaluate(`Boolean(document.getElementById('found'))`);
  if (await browser.evaluate(`Boolean(document.querySelector('g.map'))`)) await pointAtMap(browser, what);
  if (!isFlame) return;
  for (const key of ['ArrowUp', 'ArrowUp', 'Enter', '/', 's', 'k', 'b', 'Enter']) await browser.key(key);
  await look(browser, `${what}, zoomed and searched`);
}

// The owners' colours are told apart, whoever looks.
async function lookAtColours(browser, what) {
  const owners = ['net_rx', 'net_tx', 'recv', 'send', 'hardirq', 'softirq'];
  const colours = await browser.evaluate(`(() => {
    const style = getComputedStyle(document.documentElement);
    return ${JSON.stringify(owners)}.map((owner) => style.getPropertyValue('--' + owner).trim());
  })()`);
  const rgb = colours.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const close = [];
  owners.forEach((one, i) =>
    owners.slice(0, i).forEach((other, k) => {
      const least = one === 'softirq' && other === 'hardirq' ? LEAST_APART : LEAST_OTHERS;
      const apart = difference(rgb[i], rgb[k]);
      if (!(apart >= least)) close.push(`${one} and ${other}: ${apart.toFixed(1)}`);
    }),
  );
  none(`${what}: colours of owners differ, for the colour-blind too`, close);
  const [hardirq, softirq] = [rgb[4], rgb[5]].map((one) => contrast(one, [0, 0, 0]));
  none(`${what}: hard interrupts are the darker ones`, hardirq < softirq ? [] : [colours[4], colours[5]]);
}

async function lookAtFile(browser, file) {
  for (const isDark of [false, true]) {
    // The dark differs in its colours alone: nothing of it lies elsewhere at another width.
    for (const width of isDark ? WIDTHS.slice(0, 1) : WIDTHS) {
      const what = `${path.basename(file)}, ${width} pixels, ${isDark ? 'dark' : 'light'}`;
      browser.troubles = [];
      await browser.dark(isDark);
      await browser.resize(width, 900);
      await browser.goto(pathToFileURL(file).href);
      await browser.screenshot(path.join(pictures, what.replace(/, | /g, '-') + '.png'));
      if (file.endsWith('.svg')) await lookAtPicture(browser, what);
      else await lookAtPage(browser, what, isDark);
      if (width === WIDTHS[0] && file.endsWith('.html')) await lookAtColours(browser, what);
      none(`${what}: nothing is complained of`, browser.troubles);
    }
  }
}

// Faults that must be found, or what is said of the others is worth nothing.
async function lookAtWrong(browser, file) {
  await browser.dark(false);
  await browser.resize(800, 900);
  await browser.goto(pathToFileURL(file).href);
  const {troubles} = await lookAt(browser);
  for (const fault of ['"one" lies on "other"', '"cut text" is cut off', 'the page is', '"faint" has a contrast of',
    '"behind" has a contrast of', 'is outside of its box', 'is cut by the edge'])
    none(`found: ${fault}`, troubles.some((one) => one.includes(fault)) ? [] : troubles.concat('and nothing else'));
  none(
    'what is right is not complained of',
    troubles.filter((one) => one.includes('right')),
  );
}

async function main() {
  const browser = new Browser(program);
  try {
    await browser.open();
    for (const file of files) {
      if (path.basename(file) === 'wrong.html') await lookAtWrong(browser, file);
      else await lookAtFile(browser, file);
    }
  } finally {
    await browser.close();
  }
  process.exitCode = failures ? 1 : 0;
}

main().catch((error) => {
  console.log(`FAIL: ${error.stack}`);
  process.exitCode = 1;
});
