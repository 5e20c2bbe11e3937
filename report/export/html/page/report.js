// SPDX-License-Identifier: GPL-2.0-only
//
// report.js - the page of `export html`: reads its data and builds a section for each recording, from the parts in the
// files before it.
'use strict';

// Tables without a row are not shown: whether there was nothing, or nobody looked.
function nothing(data) {
  const probes = String(data.session.probes || '').split(',');
  const said = [];
  for (const {name, title, rows, more} of data.tables) {
    if (name !== 'drops' && name !== 'retransmits') continue;
    if (!probes.includes(name)) said.push(`${title} were not recorded.`);
    else if (!rows.length) said.push(`${title}: none.`, ...(more ? [more] : []));
  }
  if (!data.stages) said.push(probes.includes('stacks') ? 'Stacks: none.' : 'Stacks were not recorded.');
  if (!data.latency[0].recorded) said.push('Latency was not recorded.');
  return said.length ? el('p', {class: 'note nothing'}, said.join(' ')) : null;
}

function about(data) {
  const session = data.session;
  const probes = session.probes ? `, probes ${clean(session.probes).replace(/,/g, ', ')}` : '';
  const facts = [
    `Recorded by ${clean(session.tool)}${probes}, session ${clean(session.uuid)}; it ended by: ${clean(session.stop)}.`,
  ];
  if (session.stolen_ns)
    facts.push(
      `Up to ${duration(session.stolen_ns)} were stolen by the hypervisor; ` +
        'they count as time of the owners that ran.',
    );
  return el('p', {class: 'note'}, facts.join(' '));
}

// The time of the recorder's threads is the kernel's account of its process; its programs ran in the time of others.
function ownCost(data) {
  const {recorder} = data;
  const programs = data.tables.find((one) => one.name === 'recorder_programs');
  const time = (ns) => figure(duration(ns), `${count(ns)}${GAP}ns`);
  const texts = [];
  if (recorder.recording_cpu_ns)
    texts.push([
      'Its threads took ',
      time(recorder.recording_cpu_ns),
      ` of CPU time while recording, ${percent(recorder.recording_share, 2)} of one CPU; `,
      time(recorder.loading_cpu_ns),
      ' before, to load its programs, and ',
      time(recorder.ending_cpu_ns),
      ' after.',
    ]);
  else if (recorder.loading_cpu_ns)
    texts.push(['Its threads took ', time(recorder.loading_cpu_ns), ' of CPU time to load its programs.']);
  if (programs.rows.length) texts.push(programRuns(programs, time));
  if (data.tracing) texts.push(tracingCost(data.tracing));
  if (!texts.length) return null;
  return el(
    'section',
    {class: 'recorder'},
    el('h3', {}, "The recorder's own cost"),
    ...texts.map((text) => el('p', {}, ...text)),
    programs.rows.length ? el('details', {}, el('summary', {}, programs.title), dataRows(programs)) : null,
  );
}

function programRuns(programs, time) {
  const rows = programs.rest_rows ? [...programs.rows, programs.rest] : programs.rows;
  const total = (name) => sum(rows.map((row) => row[programs.columns.indexOf(name)] || 0));
  const measured = total('run_ns')
    ? [' and took ', time(total('run_ns')), '. The kernel measured this, and it includes a part of the measuring.']
    : ['. Their time was not measured: nettape-record --bpf-stats does that, and the probe stacks samples it.'];
  return [
    `Its programs in the kernel ran ${count(total('runs_count'))} times`,
    ...measured,
    ' This time is inside the owners above.',
  ];
}

// Stack samples tell: the stage `tracing` of all the network's owners.
function tracingCost(tracing) {
  const share = (ns) => percent(ns, tracing.network_ns);
  return [
    'Tracing took ',
    figure(duration(tracing.spent_ns), `${count(tracing.spent_ns)}${GAP}ns`),
    ` of ${duration(tracing.network_ns)} in the network stack, ${share(tracing.spent_ns)}`,
    ` (${share(tracing.low_ns)} to ${share(tracing.high_ns)} with 95${GAP}% confidence`,
    `${tracing.too_few ? ', of the time that was sampled' : ''}).`,
  ];
}

function section(data, index, by) {
  const made = el('article', {id: `session-${index + 1}`}, heading(data));
  if (!data.costs) {
    made.append(el('p', {class: 'banner'}, 'Nothing of this recording was selected.'));
    return made;
  }
  const costs = new Costs(data.costs);
  const view = new View(costs);
  const charts = [];
  const timeline = new Timeline(data, view);
  charts.push(timeline.chart);
  const sockets = dataTable(data.tables.find((one) => one.by === 'socket'));
  const parts = [
    problems(data),
    selectionNote(data, costs),
    cards(data, costs, by),
    timeline.element(),
    cpuTable(costs),
    stages(data),
    groups(data, by, sockets),
    latency(data, view, charts),
    sockets,
    ...data.tables.filter((one) => !one.by && one.name !== 'recorder_programs').map(dataTable),
    ownCost(data),
    nothing(data),
    uncovered(data),
    about(data),
  ];
  made.append(...parts.filter((part) => part));
  redraw(charts);
  view.changed('range');
  addEventListener('beforeprint', () => view.point(null));
  made.costs = costs;
  return made;
}

function contents(sections, page) {
  const link = (data, i) => {
    const costs = sections[i].costs;
    const all = costs && costs.sum(costs.everywhere(), 0, costs.steps);
    return el(
      'li',
      {},
      el(
        'a',
        {href: `#session-${i + 1}`},
        named(data.session.host),
        `, ${wall(data.session.start_realtime_ns).slice(0, 19)} UTC`,
      ),
      ` ${duration(data.session.dur_ns)}, network ${all ? percent(all.network, all.there) : 'not selected'}`,
    );
  };
  return el('nav', {}, el('h2', {}, 'Recordings'), el('ol', {}, ...page.sessions.map(link)));
}

function main() {
  const page = JSON.parse(document.getElementById('data').textContent);
  const main = document.getElementById('page');
  const sections = page.sessions.map((data, i) => section(data, i, page.by));
  document.title = `nettape: ${clean(page.sessions.map((one) => one.session.host).join(', ')).slice(0, 100)}`;
  main.append(
    hatchings(),
    el('div', {class: 'top'}, el('h1', {}, 'nettape', el('span', {}, ' what the network stack cost')), exactSwitch()),
    ...(sections.length > 1 ? [contents(sections, page)] : []),
    ...sections,
    el('footer', {}, `Written by ${page.tool}.`),
  );
}

main();
