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
