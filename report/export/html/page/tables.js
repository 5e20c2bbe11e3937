// SPDX-License-Identifier: GPL-2.0-only
//
// tables.js - tables of the page's data: units and bars by the names of columns, so that a new table needs nothing
// here.
'use strict';

const MOST_OPEN_ROWS = 16; // of the table of CPUs, before it is folded
const FIRST_ROWS = 10; // of other tables
const WITHOUT_SUM = ['elsewhere', 'energy', 'pressure']; // tables that have all their rows, and no others
const opened = new Set(); // the names of those of which all rows are shown, also when they are made again
const LEAST_BAR = 0.01; // of a whole bar: less is not to be seen

const LABELS = {
  total_ns: 'network',
  cpu_share: 'of one CPU',
  ops_count: 'operations',
  recv_ns: 'receive',
  rx_ns: 'pays of net_rx',
  task_ns: 'other CPU time',
  untimed_count: 'untimed operations',
  lower_bound_count: 'with a lower bound',
  of_unknown_number_count: 'of unknown number',
  length_bytes: 'bytes',
};

function label(column) {
  const name = column.replace(/_(ns|bytes|uj|count|share)$/, '');
  const isOwner = column.endsWith('_share') && OWNERS.some(([owner]) => owner === name);
  return LABELS[column] || (isOwner ? name : name.replace(/_/g, ' '));
}

function isNumber(column) {
  return /_(ns|bytes|uj|count|share)$/.test(column) || ['pid', 'port', 'CPU'].includes(column);
}

function cell(column, value) {
  if (value === null || value === undefined) return '\u2013';
  if (typeof value === 'object') return value;
  if (column.endsWith('_ns')) return figure(duration(value), count(value));
  if (column.endsWith('_bytes')) return figure(bytes(value), count(value));
  if (column.endsWith('_uj')) return figure(energy(value), count(value));
  if (column.endsWith('_count')) return count(value);
  return isNumber(column) ? String(value) : named(value);
}

// `rows` are lists of values in the order of `columns`, or of elements that stand as they are.
function table(caption, columns, rows, footer) {
  const line = (row, tag) =>
    el(
      'tr',
      {},
      ...row.map((value, i) =>
        el(
          i ? 'td' : tag,
          {class: isNumber(columns[i]) ? 'number' : null, scope: i || tag === 'td' ? null : 'row'},
          cell(columns[i], value),
        ),
      ),
    );
  const head = el(
    'tr',
    {},
    ...columns.map((column) => el('th', {scope: 'col', class: isNumber(column) ? 'number' : null}, label(column))),
  );
  const body = el('tbody', {}, ...rows.map((row) => line(row, 'th')));
  if (footer) body.append(fill(line(footer, 'th'), {class: 'footer'}, []));
  const whole = el(
    'table',
    {},
    caption ? el('caption', {class: 'hidden'}, caption) : null,
    el('thead', {}, head),
    body,
  );
  return scrolling(el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption}, whole));
}

// Says by its classes on which sides there is more of it.
function scrolling(region) {
  const mark = () => {
    region.classList.toggle('more-left', region.scrollLeft > 1);
    region.classList.toggle('more-right', region.scrollLeft + region.clientWidth < region.scrollWidth - 1);
  };
  const sizes = new ResizeObserver(mark);
  region.addEventListener('scroll', mark);
  sizes.observe(region);
  sizes.observe(region.firstElementChild); // exact numbers are wider
  return region;
}

// A part of a whole, which is as long as the bar can be in every table: so bars can be compared. A part above the whole
// (several CPUs, of one) fills it and is marked at its end; a part that would be a hair has none.
function bar(part, whole) {
  if (!(whole > 0 && part >= LEAST_BAR * whole)) return null;
  const inner = el('span', {class: 'bar-part'});
  inner.style.width = `${Math.min(100, (100 * part) / whole)}%`;
  return el('span', {class: part > whole ? 'bar over' : 'bar', 'aria-hidden': 'true'}, inner);
}

// The rows behind the first `n`, and those that the page has not, as one row.
function restOf(data, n) {
  const hidden = data.rows.slice(n);
  const others = data.rest_rows + hidden.length;
  if (!others) return null;
  const sums = data.columns.map((column, i) => {
    const values = [...hidden.map((row) => row[i]), data.rest_rows ? data.rest[i] : null];
    const known = values.filter((value) => value !== null);
    return /_(ns|bytes|uj|count|share)$/.test(column) && known.length ? sum(known) : null;
  });
  return [data.rest_has_more ? 'all others' : plural(others, 'other', 'others'), ...sums.slice(1)];
}

// A table of the data: columns in which there is nothing, and bounds that are the total itself, are left out. Shares
// have bars. Of many rows the first are shown, until the reader asks for all.
function dataRows(data) {
  const total = data.columns.indexOf('total_ns');
  const says = (name, i) => (row) =>
    row[i] && !(['at_least_ns', 'at_most_ns'].includes(name) && total >= 0 && row[i] === row[total]);
  const used = data.columns.map((name, i) => i < 2 || data.rows.some(says(name, i)));
  const pick = (row) => row.filter((value, i) => used[i]);
  const columns = pick(data.columns);
  const convert = (row) =>
    pick(row).map((value, i) =>
      value !== null && columns[i].endsWith('_share')
        ? el('span', {class: 'share'}, percent(value, 1), bar(value, 1))
        : value,
    );
  const made = (n) => {
    const rest = restOf(data, n);
    return table(data.title, columns, data.rows.slice(0, n).map(convert), rest ? convert(rest) : null);
  };
  if (data.rows.length <= FIRST_ROWS + 1 || WITHOUT_SUM.includes(data.name) || opened.has(data.name))
    return made(data.rows.length);
  const more = el('button', {type: 'button', class: 'more'}, `Show ${count(data.rows.length)} rows`);
  const box = el('div', {}, made(FIRST_ROWS), more);
  more.addEventListener('click', () => {
    opened.add(data.name);
    box.replaceChildren(made(data.rows.length));
  });
  return box;
}

function dataTable(data) {
  if (!data.rows.length) return null;
  return el(
    'section',
    {class: `table-${data.name}`},
    el('h3', {}, data.title),
    data.note ? el('p', {class: 'note'}, [data.note, data.more].filter((one) => one).join(' ')) : null,
    dataRows(data),
  );
}

// Puts what was made in place of what stands there. What the reader has opened, scrolled or chosen stays so.
function renew(place, ...made) {
  const all = (selector) => [...place.querySelectorAll(selector)];
  const open = all('details').map((one) => one.open);
  const left = all('.scroll').map((one) => one.scrollLeft);
  const focus = all('summary, button, .scroll').indexOf(document.activeElement);
  place.replaceChildren(...made.filter((one) => one));
  all('details').forEach((one, i) => (one.open = Boolean(open[i])));
  all('.scroll').forEach((one, i) => (one.scrollLeft = left[i] || 0));
  if (focus >= 0) all('summary, button, .scroll')[focus]?.focus({preventScroll: true});
}

// ---- groups ----

const GROUPS_NOTE =
  'Network is send, receive and what is paid of net_rx: receiving packets is done for all processes, in the time of ' +
  'others. What each pays of it is known with the probe deliver. ' +
  'Bytes are those of operations that succeeded, without peeks and error queues. A full bar is 100' +
  GAP +
  '% of one CPU.';

function groupPanel(data) {
  return el(
    'div',
    {class: `table-${data.name}`, 'data-by': data.by},
    el('p', {class: 'note'}, `${data.title}. ${data.note}`.trim()),
    data.rows.length ? dataRows(data) : el('p', {}, 'None.'),
  );
}

// The costs of sending and receiving, in the groups that the reader chooses. `sockets`: the section that has them
// anyway.
function groups(data, by, sockets) {
  const all = data.tables.filter((one) => one.by);
  if (!all.some((one) => one.rows.length)) return null;
  const panels = all.map(groupPanel);
  const select = el('select', {}, ...all.map((one) => el('option', {value: one.by, selected: one.by === by}, one.by)));
  const show = () => {
    for (const panel of panels) panel.hidden = panel.dataset.by !== select.value;
    if (sockets) sockets.hidden = select.value === 'socket';
  };
  select.addEventListener('change', show);
  show();
  return el(
    'section',
    {class: 'groups'},
    el('h3', {}, 'Senders and receivers'),
    el('div', {class: 'controls'}, el('label', {}, 'Grouped by ', select)),
    ...panels,
    el('p', {class: 'note'}, GROUPS_NOTE),
  );
}

// ---- CPUs ----

function cpuTable(costs) {
  const lines = costs.cpus.map((cpu, place) => [`CPU ${cpu.cpu}`, costs.sum([place], 0, costs.steps)]);
  if (lines.length > 1) lines.push(['all', costs.sum(costs.everywhere(), 0, costs.steps)]);
  const rows = lines.map(([name, one]) => [
    name,
    el('span', {class: 'share'}, percent(one.network, one.there), bar(one.network, one.there)),
    one.network,
    ...costs.owners.map((owner) =>
      el(
        'span',
        {},
        percent(one[owner], owner === 'offline' ? one.all : one.there),
        el('br'),
        el('small', {}, figure(duration(one[owner]), count(one[owner]))),
      ),
    ),
  ]);
  const made = table(
    'CPU time by owner',
    ['cpu', 'network_share', 'network_ns', ...costs.owners.map((owner) => owner + '_share')],
    rows,
  );
  const body =
    rows.length > MOST_OPEN_ROWS
      ? el('details', {}, el('summary', {}, `${count(costs.cpus.length)} CPUs`), made)
      : made;
  return el(
    'section',
    {class: 'cpus'},
    el('h3', {}, 'CPUs'),
    el('p', {class: 'note'}, `Shares of the time that the CPU was online. A full bar is 100${GAP}% of it.`),
    body,
  );
}
