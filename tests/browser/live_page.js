// SPDX-License-Identifier: GPL-2.0-only
//
// live_page.js CHROMIUM URL PICTURE - uses the live page of nettape-serve as a person would, and says what it finds as
// ok: and FAIL: lines. What is to happen to recorder and server it asks for on stdout ("do record_stop") and waits for
// the answer. In the end it tells which recording the page shows ("uuid ..."), and its figures ("shown owner ns").
'use strict';

const readline = require('node:readline');
const {Browser} = require('./devtools.js');

const [program, url, picture] = process.argv.slice(2);
const CHART = '.timeline svg[tabindex]';
const PATIENCE_MS = 60000;
const answers = readline.createInterface({input: process.stdin})[Symbol.asyncIterator]();

function is(what, got, wanted) {
  const [g, w] = [got, wanted].map((value) => JSON.stringify(value));
  console.log(g === w ? `ok: ${what}` : `FAIL: ${what}: ${g} and not ${w}`);
}

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

async function make(what) {
  console.log(`do ${what}`);
  await answers.next();
}

// What the page shows.
const look = (browser) =>
  browser.evaluate(`(() => {
  const text = (selector) => document.querySelector(selector)?.textContent ?? '';
  const readout = document.querySelector('.readout');
  return {
    state: text('.live strong'),
    detail: text('.live .note'),
    pause: document.querySelectorAll('.live button')[3].textContent,
    since: text('header time'),
    isWhole: Boolean(document.querySelector('.timeline button[title^="The whole time"]')?.disabled),
    from: Number(readout?.dataset.from ?? 0),
    to: Number(readout?.dataset.to ?? 0),
    programs: [...document.querySelectorAll('.groups tbody th')].map((one) => one.textContent),
  };
})()`);

// Until the page shows something: what that is.
async function until(browser, what, isSo) {
  const end = Date.now() + PATIENCE_MS;
  let seen = await look(browser);
  while (!isSo(seen) && Date.now() < end) {
    await wait(50);
    seen = await look(browser);
  }
  is(`${what}${isSo(seen) ? '' : `: ${JSON.stringify(seen)}`}`, isSo(seen), true);
  return seen;
}

const press = (browser, name) =>
  browser.evaluate(`[...document.querySelectorAll('.live button')]
    .find((one) => one.textContent === ${JSON.stringify(name)}).click()`);

// Without the pointer the readout is of all that is seen.
async function drag(browser, from, to) {
  const box = await browser.evaluate(`(() => {
    const r = document.querySelector(${JSON.stringify(CHART)}).getBoundingClientRect();
    return {x: r.x, y: r.y, width: r.width};
  })()`);
  const x = (share) => box.x + 62 + share * (box.width - 62 - 12);
  await browser.drag(x(from), box.y + 120, x(to), box.y + 120);
  await browser.hover(2, 2);
}

// No question is asked for a time in which several would be.
async function standsStill(browser, what) {
  const before = await look(browser);
  const asked = browser.requests.length;
  await wait(2500);
  const after = await look(browser);
  is(`${what}: nothing moves`, [after.from, after.to, browser.requests.length], [before.from, before.to, asked]);
}

async function testMoves(browser) {
  const first = await until(browser, 'figures come', (seen) => seen.state === 'live' && seen.to > 0);
  const next = await until(browser, 'they move', (seen) => seen.to > first.to);
  is('all of it is seen', next.isWhole, true);
  await until(browser, 'the flood has a row', (seen) => seen.programs.some((one) => one.includes('flood')));
}

async function testPause(browser) {
  await press(browser, 'Pause');
  const before = await until(browser, 'it is paused', (seen) => seen.state === 'paused' && seen.pause === 'Go on');
  await standsStill(browser, 'paused');
  await press(browser, 'Go on');
  await until(browser, 'it goes on', (seen) => seen.state === 'live' && seen.to > before.to);
}

async function testZoom(browser) {
  // Steps of 100 ms: a zoom shows eight at least.
  await until(browser, 'there is something to zoom to', (seen) => seen.to >= 3e9);
  await drag(browser, 0.25, 0.75);
  const zoomed = await until(browser, 'a zoom pauses', (seen) => seen.state === 'paused' && !seen.isWhole);
  await standsStill(browser, 'zoomed');
  await press(browser, 'Go on');
  await until(browser, 'all is seen again', (seen) => seen.isWhole && seen.to > zoomed.to);
  await browser.evaluate(`(() => {
    const select = document.querySelector('.groups select');
    select.value = 'port';
    select.dispatchEvent(new Event('change'));
  })()`);
  await until(browser, 'ports', (seen) => seen.programs.some((one) => one.startsWith('udp')));
  await press(browser, '5 min');
  const long = await until(browser, 'the last five minutes', (seen) => seen.state === 'live');
  await until(browser, 'they move, too', (seen) => seen.to > long.to);
  await until(browser, 'still ports', (seen) => seen.programs.some((one) => one.startsWith('udp')));
}

async function testRestarts(browser) {
  await make('serve_stop');
  const before = await until(browser, 'no server', (seen) => seen.state === 'no answer' && seen.to > 0);
  await make('serve_start');
  const live = await until(browser, 'it is there again', (seen) => seen.state === 'live' && seen.to > before.to);
  await make('record_stop');
  await until(browser, "the tape's end", (seen) => seen.state === 'ended');
  await make('record_start');
  await until(browser, 'the next tape', (seen) => seen.state === 'live' && seen.since !== live.since);
  await make('record_stop');
  await until(browser, 'its end', (seen) => seen.state === 'ended');
}

// The figures as they are shown exactly, of all CPUs.
async function tell(browser) {
  await browser.evaluate(`document.querySelector('.switch input').click()`);
  const rows = await browser.evaluate(`[...document.querySelectorAll('.readout tr[data-owner]')]
    .map((row) => [row.dataset.owner, row.dataset.ns])`);
  rows.filter(([owner]) => owner !== 'network').forEach((row) => console.log(`shown ${row.join(' ')}`));
  const answer = await browser.evaluate(`fetch('live.json?window=60&token=' +
    new URLSearchParams(location.search).get('token')).then((one) => one.json())`);
  console.log(`uuid ${answer.facts.session.uuid}`);
}

async function main() {
  const browser = new Browser(program);
  await browser.open();
  await browser.resize(1320, 1000);
  await browser.goto(url);
  await testMoves(browser);
  await testPause(browser);
  await testZoom(browser);
  await browser.screenshot(picture, true);
  await testRestarts(browser);
  await tell(browser);
  // The browser tells of answers that there are no figures yet, and of none at all.
  const expected = /status of 503|ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)/;
  is(
    'the console is silent',
    browser.troubles.filter((one) => !expected.test(one)),
    [],
  );
  is(
    'only this server is asked',
    browser.requests.filter((one) => !one.startsWith(url.split('?')[0])),
    [],
  );
  await browser.close();
  process.exit(0);
}

main().catch((error) => {
  console.log(`FAIL: ${error.stack}`);
  process.exit(1);
});
