// SPDX-License-Identifier: GPL-2.0-only
//
// html_page.js CHROMIUM WORK PICTURES - uses the pages in WORK (*.html, made by tests/cli/html_browser.sh) as a person
// would, with pointer and keys, and says what it finds as ok: and FAIL: lines. The readout of samples.html goes to
// WORK/readouts, a line for each figure (cpu|from ns|to ns|owner|ns), the stages of stacks.html to WORK/stages
// (owner|stage|family|ns|share|least|most|samples) and WORK/due (owner|samples|due): the caller compares them with SQL.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {pathToFileURL} = require('node:url');
const {Browser} = require('./devtools.js');
const {difference} = require('./colours.js');
const {decodePng} = require('./png.js');

const [program, work, pictures] = process.argv.slice(2);
const CHART = '.timeline svg[tabindex]';
let failures = 0;

function is(what, got, wanted) {
  const [g, w] = [got, wanted].map((value) => JSON.stringify(value));
  if (g !== w) failures++;
  console.log(g === w ? `ok: ${what}` : `FAIL: ${what}: ${g} and not ${w}`);
}

function holds(what, condition) {
  is(what, Boolean(condition), true);
}

const url = (name) => pathToFileURL(path.join(work, name)).href;

// Opens a page, which must ask for nothing and complain of nothing.
async function open(browser, name) {
  browser.troubles = [];
  browser.requests = [];
  await browser.goto(url(name));
  is(`${name}: the console is silent`, browser.troubles, []);
  is(
    `${name}: nothing but the page is asked for`,
    browser.requests.map((one) => one.split('/').pop()),
    [name],
  );
}

const box = (browser, selector) =>
  browser.evaluate(`(() => {
  const r = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
  return {x: r.x, y: r.y, width: r.width, height: r.height};
})()`);

// The readout beside the chart.
const readout = (browser) =>
  browser.evaluate(`(() => {
  const panel = document.querySelector('.readout');
  const ns = Object.fromEntries([...panel.querySelectorAll('tr[data-owner]')]
    .map((row) => [row.dataset.owner,
      Number((row.querySelector('.exact') || row.querySelector('.ns')).textContent.replace(/\\D/g, ''))]));
  return {from: Number(panel.dataset.from), to: Number(panel.dataset.to),
    cpu: panel.querySelector('strong').textContent.split(', ')[1], ns, text: panel.textContent};
})()`);

const lines = [];

async function note(browser) {
  const {from, to, cpu, ns} = await readout(browser);
  for (const [owner, value] of Object.entries(ns))
    lines.push([cpu.replace('CPU ', ''), from, to, owner, value].join('|'));
}

// A place in the plot of the chart: `share` of its width.
async function place(browser, share, y = 120) {
  const chart = await box(browser, CHART);
  return [chart.x + 62 + share * (chart.width - 62 - 12), chart.y + y];
}

async function testPointer(browser) {
  const all = await readout(browser);
  is('without a pointer all is told', [all.from, all.to, all.cpu], [0, 20000000, 'all CPUs']);
  await note(browser);
  for (const share of [0.001, 0.31, 0.5, 0.77, 0.999]) {
    await browser.hover(...(await place(browser, share)));
    const {from, to, text} = await readout(browser);
    holds(
      `the time under the pointer, at ${share}`,
      from <= share * 20000000 && to >= share * 20000000 - 1 && to - from <= 40000,
    );
    holds('is said to be that', text.startsWith('At the pointer'));
    await note(browser);
  }
  await browser.hover(3, 3);
  is('and all again when it leaves', (await readout(browser)).to, all.to);

  const [from, y] = await place(browser, 0.4);
  const [to] = await place(browser, 0.6);
  await browser.drag(from, y, to, y);
  await browser.hover(3, 3);
  const zoomed = await readout(browser);
  holds(
    'a drag zooms to what was dragged over',
    Math.abs(zoomed.from - 8e6) <= 40000 && Math.abs(zoomed.to - 12e6) <= 40000,
  );
  await note(browser);
  await browser.hover(...(await place(browser, 0.5)));
  const fine = await readout(browser);
  is('there each step is told', fine.to - fine.from, 10000);
  await note(browser);
  await browser.screenshot(path.join(pictures, 'zoomed.png'));
  await browser.evaluate(
    `[...document.querySelectorAll('.controls button')].find((one) => one.textContent === 'Back').click()`,
  );
  await browser.hover(3, 3);
  is('a button leads back', (await readout(browser)).to, all.to);
  await browser.drag(to, y, from, y);
  await browser.evaluate(
    `[...document.querySelectorAll('.controls button')].find((one) => one.textContent === 'All').click()`,
  );
  await browser.hover(3, 3);
  is('and one to all, also after a drag to the left', (await readout(browser)).to, all.to);
}

async function testCpus(browser) {
  const strip = await browser.evaluate(`(() => {
    const name = [...document.querySelectorAll('${CHART} text')].find((one) => one.textContent === 'CPU 1')
      .getBoundingClientRect();
    return name.y + name.height / 2;
  })()`);
  const [x] = await place(browser, 0.5);
  await browser.click(x, strip);
  await browser.hover(3, 3);
  is('a click on a strip chooses its CPU', (await readout(browser)).cpu, 'CPU 1');
  is(
    'as the list says',
    await browser.evaluate(`document.querySelector('.controls select').selectedOptions[0].textContent.split(':')[0]`),
    'CPU 1',
  );
  await note(browser);
  await browser.hover(...(await place(browser, 0.31)));
  await note(browser);
  await browser.hover(3, 3);
}

// From the first thing on the page by Tab to the chart; then only keys.
async function testKeys(browser) {
  await browser.evaluate(`document.querySelector('.switch input').focus()`);
  for (
    let i = 0;
    i < 20 && !(await browser.evaluate(`document.activeElement === document.querySelector('${CHART}')`));
    i++
  )
    await browser.key('Tab');
  holds(
    'Tab leads to the chart',
    await browser.evaluate(`document.activeElement === document.querySelector('${CHART}')`),
  );
  is(
    'which shows that',
    await browser.evaluate(
      `getComputedStyle(document.activeElement).outlineStyle + ' '
        + getComputedStyle(document.activeElement).outlineWidth`,
    ),
    'solid 3px',
  );
  await browser.key('ArrowDown');
  is('down: from the last CPU to all', (await readout(browser)).cpu, 'all CPUs');
  await browser.key('ArrowDown');
  is('down: the first CPU', (await readout(browser)).cpu, 'CPU 0');
  await browser.key('ArrowUp');
  await browser.key('ArrowRight');
  const first = await readout(browser);
  is('right: the begin', first.from, 0);
  await note(browser);
  await browser.key('ArrowRight');
  const second = await readout(browser);
  is('right again: the next', second.from, first.to);
  holds(
    'what is there is said',
    / all CPUs: network .*%; .+%/.test(
      await browser.evaluate(`document.querySelector('.timeline [aria-live]').textContent`),
    ),
  );
  await browser.key('ArrowRight', 8);
  is('with shift: ten', (await readout(browser)).from, second.from + 10 * (second.to - second.from));
  await browser.key('End');
  is('End', (await readout(browser)).to, 20000000);
  await note(browser);
  await browser.key('Home');
  is('Home', (await readout(browser)).from, 0);
  await browser.key('Escape');
  is('Escape puts the cursor away', (await readout(browser)).to, 20000000);
  await browser.key('+');
  const half = await readout(browser);
  is('plus: half of it', [half.from, half.to], [5000000, 15000000]);
  await browser.key('+');
  await browser.key('Backspace');
  is('Backspace: the zoom before', (await readout(browser)).to, half.to);
  await browser.key('-');
  is('minus: all', (await readout(browser)).from, 0);
  for (let i = 0; i < 20; i++) await browser.key('+');
  const least = await readout(browser);
  is('there is a least', least.to - least.from, 80000);
  await note(browser);
  await browser.key('0');
  is('0: all', (await readout(browser)).to, 20000000);
}

async function testTables(browser) {
  await browser.evaluate(`document.querySelector('.timeline details').open = true`);
  await browser.settle();
  const rows = await browser.evaluate(
    `[...document.querySelectorAll('.timeline details tbody tr')].map((row) => [...row.querySelectorAll('.exact')]
      .map((cell) => Number(cell.textContent.replace(/,/g, ''))))`,
  );
  is('the table of the chart', rows.length, 50);
  const sums = rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0));
  const {ns} = await readout(browser);
  is(
    'has the sums of the chart',
    sums,
    Object.entries(ns)
      .filter(([owner]) => owner !== 'network')
      .map(([, value]) => value),
  );
  await browser.evaluate(`document.querySelector('.timeline details').open = false`);
  await browser.evaluate(`document.querySelector('.switch input').click()`);
  is(
    'exact numbers',
    await browser.evaluate(`document.querySelector('.table-programs tbody td:nth-child(3)').innerText`),
    await browser.evaluate(`document.querySelector('.table-programs tbody td:nth-child(3) .exact').textContent`),
  );
  await browser.evaluate(`document.querySelector('.switch input').click()`);
}

// Of each table of the data that has rows: how many are shown, and whether its last row has the others, and the column
// of shown figures the sum of the data.
const tables = (browser) =>
  browser.evaluate(`JSON.parse(document.getElementById('data').textContent).sessions[0].tables
    .filter((one) => one.rows.length).map(({name, columns, rows, rest, rest_rows}) => {
      const table = document.querySelector('.table-' + name);
      const lines = [...table.querySelectorAll('tbody tr:not(.footer)')];
      const footer = table.querySelector('.footer');
      const others = rest_rows + rows.length - lines.length;
      const at = columns.findIndex((column, i) => /_(ns|bytes)$/.test(column) && rows[0][i] !== null);
      const exact = (line) => [...line.querySelectorAll('.number')].map((cell) =>
        (cell.querySelector('.exact') || cell).textContent.replace(/,/g, ''));
      const wanted = rows.reduce((sum, row) => sum + (row[at] || 0), 0) + (rest_rows ? rest[at] || 0 : 0);
      const numbers = [...lines, ...(footer ? [footer] : [])].map(exact);
      const adds = at < 0 || numbers[0].some((_, i) => numbers.reduce((sum, one) => sum + (parseInt(one[i]) || 0), 0)
        === wanted);
      return {name, shown: lines.length, all: rows.length,
        isRight: adds && (others ? footer.textContent.startsWith(others + ' other') : !footer)};
    }).filter((one) => one.shown)`);

// The groupings, one at a time; the socket table has its own place, unless it is chosen.
async function testGroups(browser) {
  const shown = () =>
    browser.evaluate(`[...document.querySelectorAll('.groups [data-by], section.table-sockets')]
      .filter((one) => one.checkVisibility()).map((one) => one.dataset.by || 'sockets')`);
  is('programs first, and the sockets', await shown(), ['program', 'sockets']);
  for (const by of ['process', 'port', 'peer', 'cgroup', 'socket', 'program']) {
    await browser.evaluate(`(() => {
      const list = document.querySelector('.groups select');
      list.value = '${by}';
      list.dispatchEvent(new Event('change'));
    })()`);
    is(`by ${by}`, await shown(), by === 'socket' ? ['socket'] : [by, 'sockets']);
  }
  is(
    'latency comes before the sockets',
    await browser.evaluate(
      `document.querySelector('.latency')
        .compareDocumentPosition(document.querySelector('section.table-sockets')) & Node.DOCUMENT_POSITION_FOLLOWING`,
    ),
    4,
  );
  const bars = await browser.evaluate(
    `[...document.querySelectorAll('.table-programs .share, .cpus .share, section.table-sockets .share')].map((one) => {
    const [whole, part] = [one.querySelector('.bar'), one.querySelector('.bar-part')]
      .map((each) => each?.getBoundingClientRect().width);
    return [parseFloat(one.textContent.replace('<', '')), (100 * part) / whole];
  })`);
  holds('there are bars', bars.length > 4);
  is(
    'a full bar is 100 % in every table; what would be a hair has none',
    bars.filter(([share, seen]) => (share < 1 ? seen >= 0 : !(Math.abs(Math.min(100, share) - seen) <= 1.5))),
    [],
  );
  const first = await tables(browser);
  holds('of a long table the first rows are shown', first.some((one) => one.shown === 10 && one.all > 10));
  is('the last row has all others, and the figures add up', first.filter((one) => !one.isRight), []);
  await browser.evaluate(`document.querySelectorAll('.more').forEach((one) => one.click())`);
  const whole = await tables(browser);
  holds('then all rows are', whole.every((one) => one.shown === one.all) && whole.length === first.length);
  is('and add up to the same', whole.filter((one) => !one.isRight), []);
}

async function testHeat(browser) {
  const selector = '.latency figure svg[tabindex]';
  await browser.evaluate(`document.querySelector('${selector}').scrollIntoView({block: 'center'})`);
  await browser.settle();
  const map = await box(browser, selector);
  await browser.hover(map.x + 62 + 0.5 * (map.width - 74), map.y + map.height / 2);
  const text = await browser.evaluate(`document.querySelector('.latency .readout-line').textContent`);
  holds(
    `a heat map tells what is under the pointer: ${text}`,
    /ms to .* packets?; [\d,]+ of them above [\d.]+\s[n\u00b5m]?s and up to [\d.]+\s[n\u00b5m]?s late$/.test(text),
  );
  await browser.evaluate('scrollTo(0, 0)');
  await browser.settle();
}

async function testStages(browser) {
  await open(browser, 'stacks.html');
  const owners = await browser.evaluate(`[...document.querySelectorAll('.stages .stages-of')].map((one) => ({
    owner: one.dataset.owner,
    title: one.querySelector('h4').textContent,
    note: one.querySelector('.note').textContent,
    region: one.querySelector('.scroll').getAttribute('aria-label'),
    rows: [...one.querySelectorAll('tbody tr')].map((row) => ({
      name: row.querySelector('th .name').textContent,
      family: row.querySelector('th small')?.textContent.trim() || null,
      isMerged: Boolean(row.querySelector('button')),
      isHidden: row.hidden,
      cells: [...row.querySelectorAll('td')].map((cell) => (cell.querySelector('.exact') || cell).textContent),
    })),
    bars: [...one.querySelectorAll('.bar')].map((bar) => {
      const [whole, part, range] = [bar, ...bar.children].map((each) => each.getBoundingClientRect());
      return {part: part.width / whole.width, low: (range.x - whole.x) / whole.width,
        high: (range.right - whole.x) / whole.width};
    }),
  }))`);
  is(
    'owners whose time has stages',
    owners.map((one) => one.owner),
    ['net_rx', 'send', 'recv'],
  );
  const shown = [];
  const due = [];
  for (const {owner, title, note, region, rows, bars} of owners) {
    holds(`${owner} is told: ${title}`, title.startsWith(`${owner}: `));
    is('so is its table', region, `Stages of ${owner}`);
    const [, samples, all] = note.match(/, ([\d,]+) samples of ([\d,]+) due$/) || [];
    due.push([owner, samples, all].join('|').replace(/,/g, ''));
    let stage = null;
    const sums = new Map(); // of a stage: what it has, and what its families have
    rows.forEach(({name, family, isMerged, isHidden, cells: [ns, share, between, n]}, i) => {
      const [low, high] = between.split('\u2013').map(parseFloat);
      const got = [parseFloat(share), low, high];
      const figures = [ns, ...got.map((one) => one.toFixed(2)), n];
      if (isMerged) {
        stage = name;
        sums.set(stage, [Number(ns.replace(/,/g, '')), 0]);
        return;
      }
      if (isHidden) sums.get(stage)[1] += Number(ns.replace(/,/g, ''));
      const names = isHidden ? [stage, name === 'family not known' ? '-' : name] : [name, family || '-'];
      shown.push([owner, ...names, ...figures].join('|').replace(/,/g, ''));
      if (isHidden) return; // it has no size
      const {part, low: from, high: to} = bars[i];
      const wrong = [part, from, to].filter((one, k) => Math.abs(one - got[k] / 100) > 0.03);
      if (wrong.length)
        is(
          `the bar of ${owner}, ${name}`,
          [part, from, to],
          got.map((one) => one / 100),
        );
    });
    holds(`${owner}: some stages have several families`, sums.size > 0);
    is(
      `${owner}: a stage is the sum of its families`,
      [...sums].filter(([, [all, parts]]) => all !== parts),
      [],
    );
  }
  const unfolded = await browser.evaluate(`(() => {
    const button = document.querySelector('.stages .unfold');
    const row = button.closest('tr').nextElementSibling;
    const before = row.checkVisibility();
    button.click();
    const open = row.checkVisibility();
    button.click();
    return [before, open, row.checkVisibility(), button.getAttribute('aria-expanded')];
  })()`);
  is('a stage unfolds to its families, and folds', unfolded, [false, true, false, 'false']);
  fs.writeFileSync(path.join(work, 'stages'), shown.sort().join('\n') + '\n');
  fs.writeFileSync(path.join(work, 'due'), due.join('\n') + '\n');
  holds(
    'who has too few samples is told',
    /^Too few samples: recv has [\d,]+ of [\d,]+ due \([\d.]+\s%\)\. /.test(
      await browser.evaluate(`document.querySelector('.stages .few').textContent`),
    ),
  );
  is('a stage is text', await browser.evaluate(`document.querySelectorAll('.stages img').length`), 0);
  // By keys, from the CPUs' table on.
  await browser.evaluate(`document.querySelector('.cpus .scroll').focus()`);
  const reached = [];
  for (let i = 0; i < 100 && reached.length < owners.length; i++) {
    await browser.key('Tab');
    const at = await browser.evaluate('document.activeElement.getAttribute("aria-label")');
    if (at) reached.push(at);
  }
  is(
    'Tab goes to each table',
    reached,
    owners.map((one) => one.region),
  );
  for (const [name, width, dark] of [
    ['stages', 1280, false],
    ['stages-narrow', 360, false],
    ['stages-dark', 1280, true],
  ]) {
    await browser.dark(dark);
    await browser.resize(width, 900);
    await browser.evaluate(`document.querySelector('.stages').scrollIntoView()`);
    await browser.settle();
    holds(
      `${name}: nothing is wider than the screen`,
      await browser.evaluate('document.documentElement.scrollWidth <= innerWidth'),
    );
    await browser.screenshot(path.join(pictures, `${name}.png`));
  }
  await browser.dark(false);
  await browser.resize(1280, 900);
  await browser.pdf(path.join(pictures, 'stages.pdf'));
  is('nothing of stages was complained of', browser.troubles, []);
}

// Owners without samples, and hooks with few, take no room.
async function testSlight(browser) {
  await open(browser, 'slight.html');
  is(
    'an owner without samples is folded, and the others are not',
    await browser.evaluate(`[[...document.querySelectorAll('.stages-all .stages-of')].map((one) => one.dataset.owner),
      [...document.querySelectorAll('details.slight')].map((one) => [one.open, one.textContent.split(':')[0]])]`),
    [['net_rx', 'send'], [[false, 'recv']]],
  );
  is(
    'a hook with few samples has no map',
    await browser.evaluate(`(() => {
      const few = document.querySelector('.latency > .note:not(:first-of-type)').textContent;
      const names = [...document.querySelectorAll('.latency figcaption strong')].map((one) => one.textContent);
      return [few, names.includes('udp-start'), names.length > 0];
    })()`),
    ['Fewer than 30 samples make no map: udp-start.', false, true],
  );
  is(
    'the most expensive program is that of the table',
    await browser.evaluate(`[...document.querySelectorAll('.card')].filter((one) =>
      one.querySelector('h3').textContent === 'Most expensive program').map((one) =>
      one.querySelector('.big').textContent === document.querySelector('.table-programs tbody th').textContent)`),
    [true],
  );
  is('nothing of this was complained of', browser.troubles, []);
}

// The colour at a place of the page.
async function colourAt(browser, x, y) {
  const {data} = await browser.send('Page.captureScreenshot', {
    format: 'png',
    captureBeyondViewport: true,
    clip: {x: Math.floor(x), y: Math.floor(y), width: 1, height: 1, scale: 1},
  });
  return [...decodePng(Buffer.from(data, 'base64')).pixels.subarray(0, 3)];
}

// Beside a table that is wider than the screen stands a line, on the sides where there is more of it.
async function testCutTable(browser) {
  const table = `document.querySelector('.cpus .scroll')`;
  // A picture has none, and would be laid out otherwise.
  await browser.send('Emulation.setScrollbarsHidden', {hidden: true});
  for (const isDark of [false, true]) {
    await browser.dark(isDark);
    await browser.resize(500, 900);
    await browser.evaluate(`scrollTo(0, 0); ${table}.scrollTo(0, 0)`);
    await browser.settle();
    holds('the table is wider', await browser.evaluate(`${table}.scrollWidth > ${table}.clientWidth + 50`));
    const {x, y, width, height} = await box(browser, '.cpus .scroll');
    const sides = async () => [
      await colourAt(browser, x - 2, y + height / 2),
      await colourAt(browser, x + width + 1, y + height / 2),
    ];
    const [paper, line] = await sides();
    await browser.evaluate(`${table}.scrollTo(100000, 0)`);
    await browser.settle();
    holds(`where it is cut there is a line: ${line} on ${paper}`, difference(line, paper) > 30);
    is('at its end there is none, and one where it began', await sides(), [line, paper]);
  }
  await browser.dark(false);
  await browser.resize(1280, 900);
  await browser.send('Emulation.setScrollbarsHidden', {hidden: false});
  await browser.settle();
  is('a whole table has none', await browser.evaluate(`${table}.className`), 'scroll');
}

async function testScreens(browser) {
  for (const [name, width, height, scale] of [
    ['desk', 1280, 900, 1],
    ['narrow', 360, 740, 2],
    ['wide', 1920, 1080, 1],
  ]) {
    await browser.resize(width, height, scale);
    await browser.hover(3, 3);
    holds(
      `${name}: nothing is wider than the screen`,
      await browser.evaluate('document.documentElement.scrollWidth <= innerWidth'),
    );
    await browser.screenshot(path.join(pictures, `${name}.png`));
  }
  await browser.resize(1280, 900);
  is(
    'the answers are on the first screen',
    await browser.evaluate(
      `[...document.querySelectorAll('.card')].every((one) => one.getBoundingClientRect().bottom < innerHeight)`,
    ),
    true,
  );
  await browser.dark(true);
  is(
    'dark where that is wished',
    await browser.evaluate('getComputedStyle(document.body).backgroundColor'),
    'rgb(20, 24, 29)',
  );
  await browser.screenshot(path.join(pictures, 'dark.png'));
  const pdf = await browser.pdf(path.join(pictures, 'page.pdf'));
  holds('it prints', pdf.subarray(0, 5).toString() === '%PDF-' && pdf.length > 20000);
  await browser.dark(false);
  await browser.resize(1280, Math.min(8000, await browser.evaluate('document.documentElement.scrollHeight')));
  await browser.screenshot(path.join(pictures, 'whole.png'));
  await browser.resize(1280, 900);
}

async function testMarkup(browser) {
  await open(browser, 'markup.html');
  is(
    'names are text',
    await browser.evaluate(`document.querySelector('h2').textContent`),
    '</title></script><img src=x onerror=alert(1)>',
  );
  is(
    'and no elements',
    await browser.evaluate(
      `document.querySelectorAll('img, iframe, object, b, [onload], [onerror]').length + document.scripts.length`,
    ),
    2,
  );
  holds(
    'what turns text around is marked',
    await browser.evaluate(
      `document.body.textContent.includes('\\ufffd reversed \\ufffd line')
        && !/[\\u202e\\u2028]/.test(document.querySelector('main').textContent)`,
    ),
  );
  // Even if markup came into the page: the policy would not let it run, nor load anything.
  browser.requests = [];
  await browser.evaluate(
    `document.body.insertAdjacentHTML('beforeend',
      '<img src="http://127.0.0.1:9/x" onerror="window.ran = 1"><svg onload="window.ran = 2"></svg>' +
      '<a id=go href="javascript:window.ran = 3">x</a>'); go.click(); new Promise((done) => setTimeout(done, 200))`,
  );
  is('what was put in does not run', await browser.evaluate('String(window.ran)'), 'undefined');
  is('and loads nothing', [browser.requests.length, browser.blocked], [1, ['csp']]);
  holds(
    'for the policy forbids it',
    browser.troubles.some((one) => one.includes('Content Security Policy')),
  );
}

async function main() {
  const browser = new Browser(program);
  try {
    await browser.open();
    await browser.resize(1280, 900);
    await open(browser, 'samples.html');
    await testPointer(browser);
    await testCpus(browser);
    await testKeys(browser);
    await testTables(browser);
    await testGroups(browser);
    await testHeat(browser);
    await testScreens(browser);
    await testCutTable(browser);
    is('nothing of this was complained of', browser.troubles, []);
    await testStages(browser);
    await testSlight(browser);
    for (const name of fs
      .readdirSync(work)
      .filter((one) => one.endsWith('.html') && !['samples.html', 'stacks.html', 'markup.html'].includes(one))) {
      await open(browser, name);
      await browser.screenshot(path.join(pictures, name.replace('.html', '.png')));
    }
    await testMarkup(browser);
    fs.writeFileSync(path.join(work, 'readouts'), lines.join('\n') + '\n');
  } finally {
    await browser.close();
  }
  process.exitCode = failures ? 1 : 0;
}

main().catch((error) => {
  console.log(`FAIL: ${error.stack}`);
  process.exitCode = 1;
});
