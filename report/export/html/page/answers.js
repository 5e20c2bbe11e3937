// SPDX-License-Identifier: GPL-2.0-only
//
// answers.js - the top of a section: what was recorded, and the answers that one should see without touching anything.
'use strict';

function card(title, big, ...texts) {
  return el(
    'div',
    {class: 'card'},
    el('h3', {}, title),
    el('p', {class: 'big'}, big),
    ...texts.map((text) => el('p', {}, ...[].concat(text))),
  );
}

function shareCard(all, selection) {
  const title = selection.process === null ? 'Network stack' : 'Network stack, while it ran';
  const texts = [
    [
      figure(duration(all.network), count(all.network) + GAP + 'ns'),
      ' of ',
      figure(duration(all.there), count(all.there) + GAP + 'ns'),
      ' of CPU time.',
    ],
  ];
  if (all.uncovered)
    texts.push(`At most ${percent(all.network + all.uncovered, all.there)}, if all uncovered time was the network's.`);
  return card(title, percent(all.network, all.there), ...texts);
}

function cpuCard(costs, all) {
  const each = costs.cpus.map((cpu, place) => Object.assign(costs.sum([place], 0, costs.steps), {cpu: cpu.cpu}));
  const [first, second] = each.sort((x, y) => y.network - x.network);
  if (!first.network) return card('Busiest CPU', 'none', 'The network took no time on any CPU.');
  const texts = [
    `It spent ${percent(first.network, first.there)} of its time on the network: ` +
      `${percent(first.network, all.network)} of all network time.`,
  ];
  if (second && second.network)
    texts.push(`Then CPU ${second.cpu}: ${percent(second.network, second.there)} of its time.`);
  return card('Busiest CPU', `CPU ${first.cpu}`, ...texts);
}

function peakCard(session, costs) {
  const {peak, peak_all: both} = costs;
  if (!peak) return card('Peak', 'none');
  const when = (one) => costs.moment(one.from_ns);
  const ofDay = costs.origin_ns ? '' : ` (${wall(session.start_realtime_ns + peak.from_ns).slice(11, -1)} UTC)`;
  const texts = [`of CPU ${peak.cpu}, over ${roundDuration(peak.dur_ns)} from ${when(peak)}${ofDay}.`];
  if (costs.cpus.length > 1)
    texts.push(`All CPUs together: ${percent(both.net_ns, both.dur_ns * costs.cpus.length)} from ${when(both)}.`);
  return card('Peak', percent(peak.net_ns, peak.dur_ns), ...texts);
}

// The first row of the table of senders and receivers as the page opens, where its rows are those who pay. `all`: the
// sums of the same time; null: there are none.
function payerCard(data, by, all) {
  const payers = data.tables.find((one) => one.by === (['program', 'process', 'cgroup'].includes(by) ? by : 'program'));
  const title = `Most expensive ${payers.by}`;
  const at = (name) => payers.columns.indexOf(name);
  const total = (name) =>
    sum(payers.rows.map((row) => row[at(name)] || 0)) + ((payers.rest_rows && payers.rest[at(name)]) || 0);
  const first = payers.rows[0];
  const unpaid = all ? (all.net_rx || 0) + (all.net_tx || 0) - total('rx_ns') : 0;
  const rest = unpaid ? [`${duration(unpaid)} in softirqs are charged to no process.`] : [];
  if (!first || !first[at('total_ns')])
    return card(title, 'none', `No ${payers.by} spent time in the network stack.`, ...rest);
  const net = first[at('total_ns')];
  const many = first[at('processes_count')];
  const which = at('pid') >= 0 && first[at('pid')] !== null ? `pid ${first[at('pid')]}: ` : '';
  const texts = [
    [
      many > 1 ? `${plural(many, 'process', 'processes')}: ` : which,
      figure(duration(net), count(net) + GAP + 'ns'),
      ` in the network stack, ${percent(net, total('total_ns'))} of what all spent there.`,
    ],
  ];
  return card(title, named(first[0]), ...texts, ...rest);
}

function lostCard(session, all) {
  const {lost_count: lost, events_count: events, lost_samples_count: samples} = session;
  const texts = [];
  if (lost) texts.push(`of ${count(lost + events)}${samples ? `; ${count(samples)} of them samples` : ''}.`);
  else texts.push(`All ${count(events)} records are there.`);
  if (all.uncovered)
    texts.push([
      figure(duration(all.uncovered), count(all.uncovered) + GAP + 'ns'),
      ` of CPU time, ${percent(all.uncovered, all.there)}, is uncovered and has no owner.`,
    ]);
  else texts.push('Every nanosecond of every CPU has its owner.');
  return card(
    'Lost records',
    lost
      ? plural(lost, 'record', 'records')
      : all.uncovered
        ? `${percent(all.uncovered, all.there)} of time`
        : 'nothing',
    ...texts,
  );
}

// `isOneTime`: the tables are of the same time as the costs.
function cards(data, costs, by, isOneTime = true) {
  const all = costs.sum(costs.everywhere(), 0, costs.steps);
  return el(
    'div',
    {class: 'cards'},
    shareCard(all, data.selection),
    cpuCard(costs, all),
    peakCard(data.session, costs),
    payerCard(data, by, isOneTime ? all : null),
    lostCard(data.session, all),
  );
}

// ---- head of a section ----

function machine(session) {
  return [
    [plural(session.cpus_count, 'CPU', 'CPUs')],
    ['Linux ', named(session.kernel), ' ', named(session.machine)],
    [named(session.os)],
    session.virtual && session.virtual !== 'none' ? ['virtual: ', named(session.virtual)] : [],
  ];
}

// `facts`: lists of texts and elements.
function headingOf(session, facts) {
  return el(
    'header',
    {},
    el('h2', {}, named(session.host)),
    el('p', {class: 'facts'}, ...facts.filter((one) => one.length).map((one) => el('span', {}, ...one))),
  );
}

function heading({session}) {
  return headingOf(session, [
    [
      figure(duration(session.dur_ns), count(session.dur_ns) + GAP + 'ns'),
      ' from ',
      el('time', {}, wall(session.start_realtime_ns).slice(0, 19) + ' UTC'),
      ...(session.dropped_ns > 0 ? [', kept of a recording of ' + duration(session.dur_ns + session.dropped_ns)] : []),
    ],
    ...machine(session),
    [plural(session.events_count, 'record', 'records')],
  ]);
}

// The part of the recording behind the figures, where that is not all.
function selectionNote(data, costs) {
  const {selection} = data;
  const parts = [];
  if (!selection.whole)
    parts.push(`the time from ${costs.moment(selection.from_ns)} to ${costs.moment(selection.to_ns)}`);
  if (!selection.all_cpus) parts.push(`CPU ${costs.cpus.map((cpu) => cpu.cpu).join(', ')}`);
  if (selection.process !== null)
    parts.push([
      'the time that tasks of ',
      named(selection.process),
      ' were on a CPU (its softirqs may have worked for others; all other time is \u201cother\u201d)',
    ]);
  if (!parts.length) return null;
  const listed = parts.flatMap((part, i) => [i ? ', and ' : '', ...[].concat(part)]);
  const wider = ['the numbers of records and of lost ones'];
  if (selection.process !== null) wider.push('drops and retransmits, but for time and CPU');
  return el(
    'p',
    {class: 'banner'},
    'Only a part of this recording is shown: ',
    ...listed,
    `. Not narrowed down: ${wider.join('; ')}.`,
  );
}

function problems(data) {
  if (!data.problems.length && data.session.complete) return null;
  const texts = data.session.complete ? [] : ['The recording is not complete: it has no end, or a chunk is missing.'];
  return el(
    'div',
    {class: 'banner bad'},
    el('strong', {}, 'Problems of the tape'),
    el('ul', {}, ...[...texts, ...data.problems].map((text) => el('li', {}, named(text)))),
  );
}
