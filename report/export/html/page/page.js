// SPDX-License-Identifier: GPL-2.0-only
//
// page.js - what stands once on a page, and the ends of its sections, of reports and of the live page.
'use strict';

function uncovered(data) {
  if (!data.uncovered.length) return null;
  return el(
    'section',
    {},
    el('h3', {}, 'Not covered by this recording'),
    el('ul', {}, ...data.uncovered.map((text) => el('li', {}, named(text)))),
  );
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

// Again whenever the page's width changes; on paper as it is, it scales.
function redraw(charts) {
  let width = 0;
  new ResizeObserver((entries) => {
    const now = entries[0].contentRect.width;
    if (now === width) return;
    width = now;
    charts.forEach((chart) => chart.draw());
  }).observe(charts[0].element);
}

// The hatchings of time that is not known and of CPUs that are not there, for all pictures.
function hatchings() {
  const hatch = (owner) =>
    svg(
      'pattern',
      {id: `hatch-${owner}`, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
      svg('rect', {class: `hatch ${owner}`, width: 2, height: 5}),
    );
  return svg(
    'svg',
    {class: 'hidden', width: 0, height: 0, 'aria-hidden': 'true'},
    svg('defs', {}, hatch('uncovered'), hatch('offline')),
  );
}

function exactSwitch() {
  const box = el('input', {type: 'checkbox'});
  box.addEventListener('change', () => document.body.classList.toggle('exactly', box.checked));
  return el('label', {class: 'switch'}, box, ' exact numbers (ns, bytes)');
}
