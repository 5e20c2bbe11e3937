// SPDX-License-Identifier: GPL-2.0-only
//
// flame.js CHROMIUM PICTURE.svg SCREENSHOT - uses a flame graph (made by tests/cli/flame_browser.sh) as a person would,
// with pointer and keys, and says what it finds as ok: and FAIL: lines.
'use strict';

const {pathToFileURL} = require('node:url');
const {Browser} = require('./devtools.js');

const [program, picture, screenshot] = process.argv.slice(2);
let failures = 0;

function is(what, got, wanted) {
  const [g, w] = [got, wanted].map((value) => JSON.stringify(value));
  if (g !== w) failures++;
  console.log(g === w ? `ok: ${what}` : `FAIL: ${what}: ${g} and not ${w}`);
}

function holds(what, condition) {
  is(what, Boolean(condition), true);
}

// Frames that are shown: name, place, and the part of the whole that they are.
const frames = (browser) =>
  browser.evaluate(`[...document.querySelectorAll('g.f')].filter((one) => one.style.display !== 'none').map((one) => {
    const r = one.querySelector('rect').getBoundingClientRect();
    return {name: one.dataset.n, x: r.x, y: r.y, width: r.width, height: r.height, part: one.dataset.b - one.dataset.a,
      depth: +one.dataset.d, isHit: one.classList.contains('hit'), isBelow: one.classList.contains('below')};
  })`);
const text = (browser, id) => browser.evaluate(`document.getElementById('${id}').textContent`);
const isShown = (browser, id) => browser.evaluate(`document.getElementById('${id}').style.display !== 'none'`);
const middle = (frame) => [frame.x + frame.width / 2, frame.y + frame.height / 2];
const near = (a, b) => Math.abs(a - b) < 1.5;

async function testZoom(browser) {
  const all = await frames(browser);
  const [root] = all;
  is('the whole is at the bottom', [root.name, root.part], ['all', 1]);
  holds('there are frames', all.length > 5);
  for (const frame of all.filter((one) => one.part > 0.001))
    holds(`${frame.name} is as wide as its time`, near(frame.width, frame.part * root.width));
  holds('no reset yet', !(await isShown(browser, 'reset')));

  const owner = all.find((one) => one.depth === 1 && one.part < 0.9);
  await browser.hover(...middle(owner));
  holds('the pointer tells the numbers', (await text(browser, 'details')).startsWith(`${owner.name}: `));
  await browser.click(...middle(owner));
  const zoomed = await frames(browser);
  const wide = zoomed.find((one) => one.depth === 1);
  is('a click zooms', wide.name, owner.name);
  holds('to the whole width', near(wide.width, root.width));
  is('its neighbours are gone', zoomed.filter((one) => one.depth === 1).length, 1);
  holds('what it stands on stays', zoomed.find((one) => one.depth === 0).isBelow);
  for (const frame of zoomed.filter((one) => one.depth > 1 && one.part > 0.01))
    holds(`${frame.name} in it is wider in proportion`, near(frame.width, (frame.part / owner.part) * root.width));
  await browser.screenshot(screenshot);
  const reset = await browser.evaluate(
    `(() => { const r = document.getElementById('reset').getBoundingClientRect();
      return {x: r.x, y: r.y, width: r.width, height: r.height}; })()`,
  );
  await browser.click(...middle(reset));
  is('reset shows all again', (await frames(browser)).length, all.length);
  await browser.click(...middle(owner));
  await browser.key('Backspace');
  is('Backspace goes back to the caller', (await frames(browser)).length, all.length);
  return all;
}

async function testSearch(browser, all) {
  const name = 'ip_rcv';
  await browser.key('/');
  for (const letter of name) await browser.key(letter);
  await browser.key('Enter');
  const hits = (await frames(browser)).filter((one) => one.isHit);
  is('those that have the word in their name are marked', hits.length,
    all.filter((one) => one.name.includes(name)).length);
  holds('there are some', hits.length > 0);
  // Outermost ones alone: none of the others adds time.
  const ends = hits.filter((hit) => !hits.some((other) => other.depth < hit.depth && other.x <= hit.x + 0.5 && other.x
    + other.width >= hit.x + hit.width - 0.5));
  const share = Number((await text(browser, 'found')).match(/([0-9.]+) %/)[1]);
  holds(`their share is told: ${share}`, Math.abs(share - 100 * ends.reduce((sum, one) => sum + one.part, 0)) < 0.02);
  await browser.click(...middle(hits[0]));
  holds('marks stay in a zoom', (await frames(browser)).some((one) => one.isHit));
  await browser.key('Escape');
  is('Escape forgets both', (await frames(browser)).filter((one) => one.isHit).length, 0);
  is('and shows all', (await frames(browser)).length, all.length);
  await browser.key('/');
  for (const letter of 'nothing has this') await browser.key(letter);
  holds('nothing is found', (await text(browser, 'found')).includes(' 0.00 % in 0 frames'));
  await browser.key('Escape');
}

async function testKeys(browser, all) {
  await browser.key('ArrowUp');
  const first = all.filter((one) => one.depth === 1).sort((a, b) => b.part - a.part)[0];
  holds('an arrow chooses what stands on it', (await text(browser, 'details')).startsWith(`${first.name}: `));
  await browser.key('Enter');
  is('Enter zooms there', (await frames(browser)).filter((one) => one.depth === 1).length, 1);
  await browser.key('ArrowDown');
  holds('and down again', (await text(browser, 'details')).startsWith('all: '));
  await browser.key('Escape');
}

async function main() {
  const browser = new Browser(program);
  try {
    await browser.open();
    await browser.resize(1240, 2600); // a damaged stack is as deep as any can be
    await browser.goto(pathToFileURL(picture).href);
    is('the console is silent', browser.troubles, []);
    is('nothing but the picture is asked for', browser.requests.length, 1);
    const all = await testZoom(browser);
    await testSearch(browser, all);
    await testKeys(browser, all);
    is('the console is still silent', browser.troubles, []);
    is('no name of the tape became a script', await browser.evaluate('document.querySelectorAll("script").length'), 1);
  } finally {
    await browser.close();
  }
  process.exitCode = failures ? 1 : 0;
}

main().catch((error) => {
  console.log(`FAIL: ${error.stack}`);
  process.exitCode = 1;
});
