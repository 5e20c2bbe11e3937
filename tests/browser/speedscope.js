// SPDX-License-Identifier: GPL-2.0-only
//
// speedscope.js CHROMIUM PAGE FOLDED SCREENSHOT - gives a file of `flame --folded` to speedscope's page as a person
// would, by its button, and says what it shows as ok: and FAIL: lines: the profile, what the owners sum to, and all
// stacks of the file, as its own export has them. Exit status 77: this browser cannot show speedscope.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {pathToFileURL} = require('node:url');
const {Browser} = require('./devtools.js');

const [program, page, folded, screenshot] = process.argv.slice(2);
const WAIT_MS = 30000;
let failures = 0;

function is(what, got, wanted) {
  const [g, w] = [got, wanted].map((value) => JSON.stringify(value));
  if (g !== w) failures++;
  console.log(g === w ? `ok: ${what}` : `FAIL: ${what}: ${g} and not ${w}`);
}

// Until the page gives something other than null or ''.
async function until(browser, what, expression) {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
    const value = await browser.evaluate(expression);
    if (value) return value;
  }
  throw new Error(`speedscope shows no ${what}: ${await browser.evaluate('document.body.innerText')}`);
}

const click = (browser, text) =>
  browser.evaluate(
    `[...document.querySelectorAll('div, span, td, a')]
      .filter((one) => one.textContent.endsWith(${JSON.stringify(text)})).pop().click()`,
  );

async function choose(browser) {
  const {root} = await browser.send('DOM.getDocument');
  const {nodeId} = await browser.send('DOM.querySelector', {nodeId: root.nodeId, selector: 'input[type=file]'});
  await browser.send('DOM.setFileInputFiles', {nodeId, files: [path.resolve(folded)]});
  await until(browser, 'profile', `document.body.innerText.includes('Sandwich')`);
}

// The rows of its table: {name: total}. All of them, for the window is as high as the table.
async function totals(browser) {
  await browser.key('3');
  await until(browser, 'table', `document.querySelectorAll('tr').length > 1`);
  return browser.evaluate(`Object.fromEntries([...document.querySelectorAll('tr')]
    .map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim()))
    .filter((cells) => cells.length === 3)
      .map(([total, , name]) => [name, Number(total.split(' ')[0].replace(/,/g, ''))]))`);
}

// Its export: the same stacks as lines, in the file's order.
async function exported(browser) {
  await browser.evaluate(`(() => {
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => (blob.text().then((text) => (window.exported = text)), make.call(URL, blob));
  })()`);
  await click(browser, 'Export');
  const {shared, profiles} = JSON.parse(await until(browser, 'export', 'window.exported'));
  const [{events, startValue}] = profiles;
  const stack = [];
  const found = [];
  let at = startValue;
  for (const event of events) {
    if (event.at > at) found.push(`${stack.join(';')} ${event.at - at}`);
    at = event.at;
    if (event.type === 'O') stack.push(shared.frames[event.frame].name);
    else stack.pop();
  }
  return found;
}

async function main() {
  const lines = fs.readFileSync(folded, 'utf8').trimEnd().split('\n');
  const browser = new Browser(program, ['--enable-unsafe-swiftshader']);
  try {
    await browser.open();
    await browser.resize(1280, 700);
    await browser.goto(pathToFileURL(page).href);
    if (!(await browser.evaluate(`Boolean(document.createElement('canvas').getContext('webgl'))`))) {
      console.log('this browser has no WebGL, which speedscope draws with');
      process.exitCode = 77;
      return;
    }
    await choose(browser);
    await browser.settle();
    await browser.screenshot(screenshot);
    await browser.resize(1280, 4000);
    is(
      'the profile has the name of the file',
      await browser.evaluate('document.title'),
      `${path.basename(folded)} - speedscope`,
    );

    const shown = await totals(browser);
    const sums = new Map();
    for (const line of lines) {
      const owner = line.split(';')[0];
      sums.set(owner, (sums.get(owner) || 0) + Number(line.slice(line.lastIndexOf(' ') + 1)));
    }
    for (const [owner, sum] of sums) is(`the total of ${owner}`, shown[owner], sum);
    for (const name of ['ip_rcv', 'nft_do_chain']) is(`${name} is shown`, shown[name] > 0, true);
    is('all stacks, as they are exported', await exported(browser), lines);
    is(
      'the console has no errors',
      browser.troubles.filter((one) => !/^(log|info|warning|timeEnd): /.test(one)),
      [],
    );
    is(
      'nothing of the network is asked for',
      browser.requests.filter((one) => !/^(file|data|blob):/.test(one)),
      [],
    );
  } finally {
    await browser.close();
  }
  if (failures) process.exitCode = 1;
}

main().catch((error) => {
  console.log(`FAIL: ${error.stack}`);
  process.exitCode = 1;
});
