// page.js - the page itself: reads the data that stands in it, and builds a section for each recording. text.js, costs.js and
// charts.js stand before it.
'use strict';

const MOST_OPEN_ROWS = 16; // of the table of CPUs, before it is folded
const TABLE_ROWS = 50; // of a chart's table
const FIT_BELOW = 0.25; // a network that never takes more of the time is drawn on a scale of its own

const LABELS = {
  net_ns: 'send + receive', recv_ns: 'receive', task_ns: 'other CPU time', untimed_count: 'untimed operations',
  at_least_count: 'with a lower bound', of_unknown_number_count: 'of unknown number', length_bytes: 'bytes',
};

const sum = (list) => list.reduce((total, one) => total + one, 0);
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

// ---- tables ----

function label(column) {
  const name = column.replace(/_(ns|bytes|count|share)$/, '');
  return LABELS[column] || (NETWORK.includes(name) && column.endsWith('_share') ? name : name.replace(/_/g, ' '));
}

function isNumber(column) {
  return /_(ns|bytes|count|share)$/.test(column) || column === 'pid' || column === 'CPU';
}

function cell(column, value) {
  if (value === null || value === undefined) return '\u2013';
  if (typeof value === 'object') return value;
  if (column.endsWith('_ns')) return figure(duration(value), count(value));
  if (column.endsWith('_bytes')) return figure(bytes(value), count(value));
  if (column.endsWith('_count')) return count(value);
  return isNumber(column) ? String(value) : named(value);
}

// `rows` are lists of values in the order of `columns`, or of elements that stand as they are.
function table(caption, columns, rows, footer) {
  const line = (row, tag) => el('tr', {}, ...row.map((value, i) => el(i ? 'td' : tag, {class: isNumber(columns[i]) ? 'number' : null, scope: i || tag === 'td' ? null : 'row'}, cell(columns[i], value))));
  const head = el('tr', {}, ...columns.map((column) => el('th', {scope: 'col', class: isNumber(column) ? 'number' : null}, label(column))));
  const body = el('tbody', {}, ...rows.map((row) => line(row, 'th')));
  if (footer) body.append(fill(line(footer, 'th'), {class: 'footer'}, []));
  const whole = el('table', {}, caption ? el('caption', {class: 'hidden'}, caption) : null, el('thead', {}, head), body);
  return el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption}, whole);
}

function bar(part, whole) {
  const inner = el('span', {class: 'bar-part'});
  inner.style.width = `${whole > 0 ? Math.max(0, Math.min(100, (100 * part) / whole)) : 0}%`;
  return el('span', {class: 'bar', 'aria-hidden': 'true'}, inner);
}

// A table of the data: columns in which there is nothing are left out, shares and bars added where there is CPU time.
function dataTable(data, spanNs) {
  const used = data.columns.map((name, i) => i < 2 || data.rows.some((row) => row[i]));
  const net = data.columns.indexOf('net_ns');
  const most = net < 0 ? 0 : Math.max(...data.rows.map((row) => row[net]));
  const columns = [];
  data.columns.forEach((name, i) => used[i] && columns.push(...(i === net ? [name, 'of one CPU_share'] : [name])));
  const convert = (row) => row.flatMap((value, i) => {
    if (!used[i]) return [];
    if (i !== net) return [value];
    return [value, el('span', {class: 'share'}, percent(value, spanNs), bar(value, most))];
  });
  const footer = data.rest_rows ? convert(data.rest) : null;
  if (footer) footer[0] = `${plural(data.rest_rows, 'other', 'others')}`;
  return el('section', {class: `table-${data.name}`}, el('h3', {}, data.title), data.note ? el('p', {class: 'note'}, data.note) : null,
    table(data.title, columns, data.rows.map(convert), footer));
}

// ---- the answers at the top ----

function card(title, big, ...texts) {
  return el('div', {class: 'card'}, el('h3', {}, title), el('p', {class: 'big'}, big), ...texts.map((text) => el('p', {}, ...[].concat(text))));
}

function shareCard(all, selection) {
  const title = selection.process === null ? 'Network stack' : 'Network stack, while it ran';
  const texts = [[figure(duration(all.network), count(all.network) + GAP + 'ns'), ' of ', figure(duration(all.there), count(all.there) + GAP + 'ns'), ' of CPU time.']];
  if (all.uncovered) texts.push(`At most ${percent(all.network + all.uncovered, all.there)}, if all that is not known was its.`);
  return card(title, percent(all.network, all.there), ...texts);
}

function cpuCard(costs, all) {
  const each = costs.cpus.map((cpu, place) => Object.assign(costs.sum([place], 0, costs.steps), {cpu: cpu.cpu}));
  const [first, second] = each.sort((x, y) => y.network - x.network);
  if (!first.network) return card('Which CPU', 'none', 'The network took no time on any CPU.');
  const texts = [`It spent ${percent(first.network, first.there)} of its own time on the network: ${percent(first.network, all.network)} of all that the network took.`];
  if (second && second.network) texts.push(`Then CPU ${second.cpu}: ${percent(second.network, second.there)} of its time.`);
  return card('Which CPU carried it', `CPU ${first.cpu}`, ...texts);
}

function peakCard(session, costs) {
  const {peak, peak_all: both} = costs;
  if (!peak) return card('Peak', 'none');
  const when = (one) => costs.moment(one.from_ns);
  const texts = [`of CPU ${peak.cpu}, over ${roundDuration(peak.dur_ns)} from ${when(peak)} (${wall(session.start_realtime_ns + peak.from_ns).slice(11, -1)} UTC).`];
  if (costs.cpus.length > 1) texts.push(`All CPUs together: ${percent(both.net_ns, both.dur_ns * costs.cpus.length)} from ${when(both)}.`);
  return card('Peak', percent(peak.net_ns, peak.dur_ns), ...texts);
}

function processCard(data, costs, all) {
  const processes = data.tables.find((one) => one.name === 'processes');
  const net = processes.columns.indexOf('net_ns');
  const first = processes.rows[0];
  const charged = sum(processes.rows.map((row) => row[net])) + (processes.rest_rows ? processes.rest[net] : 0);
  if (!first || !first[net]) return card('Who paid most', 'nobody', 'No process spent time in send or receive.');
  const unpaid = (all.net_rx || 0) + (all.net_tx || 0);
  const texts = [[`${first[1] === null ? '' : `pid ${first[1]}: `}`, figure(duration(first[net]), count(first[net]) + GAP + 'ns'), ` in send and receive, ${percent(first[net], charged)} of what processes spent there.`]];
  if (unpaid) texts.push(`${duration(unpaid)} in softirqs are charged to no process.`);
  return card('Who paid most', named(first[0]), ...texts);
}

function lostCard(session, all) {
  const {lost_count: lost, events_count: events, lost_samples_count: samples} = session;
  const texts = [];
  if (lost) texts.push(`of ${count(lost + events)}${samples ? `; ${count(samples)} of them samples of packets` : ''}.`);
  else texts.push(`All ${count(events)} records are there.`);
  if (all.uncovered) texts.push([figure(duration(all.uncovered), count(all.uncovered) + GAP + 'ns'), ` of CPU time, ${percent(all.uncovered, all.there)}, is not known and charged to nobody.`]);
  else texts.push('Every nanosecond of every CPU has its owner.');
  return card('What was lost', lost ? plural(lost, 'record', 'records') : all.uncovered ? `${percent(all.uncovered, all.there)} of time` : 'nothing', ...texts);
}

function cards(data, costs) {
  const all = costs.sum(costs.everywhere(), 0, costs.steps);
  return el('div', {class: 'cards'}, shareCard(all, data.selection), cpuCard(costs, all), peakCard(data.session, costs), processCard(data, costs, all), lostCard(data.session, all));
}

// ---- head of a section ----

function heading(data) {
  const session = data.session;
  const virtual = session.virtual && session.virtual !== 'none' ? ['virtual: ', named(session.virtual)] : [];
  const facts = [
    [figure(duration(session.dur_ns), count(session.dur_ns) + GAP + 'ns'), ' from ', el('time', {}, wall(session.start_realtime_ns).slice(0, 19) + ' UTC')],
    [plural(session.cpus_count, 'CPU', 'CPUs')],
    ['Linux ', named(session.kernel), ' ', named(session.machine)],
    [named(session.os)], virtual, [plural(session.events_count, 'record', 'records')],
  ];
  return el('header', {}, el('h2', {}, named(session.host)), el('p', {class: 'facts'}, ...facts.filter((one) => one.length).map((one) => el('span', {}, ...one))));
}

// What of the recording the figures are of, where that is not all.
function selectionNote(data, costs) {
  const {selection} = data;
  const parts = [];
  if (!selection.whole) parts.push(`the time from ${costs.moment(selection.from_ns)} to ${costs.moment(selection.to_ns)}`);
  if (!selection.all_cpus) parts.push(`CPU ${costs.cpus.map((cpu) => cpu.cpu).join(', ')}`);
  if (selection.process !== null) parts.push(['the time that tasks of ', named(selection.process), ' were on a CPU (what softirqs did in it may be for others; all other time is \u201cother\u201d)']);
  if (!parts.length) return null;
  const listed = parts.flatMap((part, i) => [i ? ', and ' : '', ...[].concat(part)]);
  const wider = ['the numbers of records and of lost ones'];
  if (!selection.all_cpus || selection.process !== null) wider.push('latency, but for the time');
  if (selection.process !== null) wider.push('drops and retransmits, but for time and CPU');
  return el('p', {class: 'banner'}, 'Only a part of this recording is shown: ', ...listed, `. Not narrowed down: ${wider.join('; ')}.`);
}

function problems(data) {
  if (!data.problems.length && data.session.complete) return null;
  const texts = data.session.complete ? [] : ['The recording is not complete: it has no end, or a chunk is missing.'];
  return el('div', {class: 'banner bad'}, el('strong', {}, 'Problems of the tape'), el('ul', {}, ...[...texts, ...data.problems].map((text) => el('li', {}, named(text)))));
}

// ---- the chart of CPU time ----

class Timeline {
  constructor(data, view) {
    this.data = data;
    this.view = view;
    this.costs = view.costs;
    this.isFit = this.mostNetwork() < FIT_BELOW;
    this.events = data.events.filter((one) => one.counts.length);
    this.makeControls();
    this.readout = el('div', {class: 'readout'});
    this.rows = el('div', {});
    this.layers = [areaLayer(view, 250, () => this.top())];
    this.eventLayers = this.events.map((event) => eventsLayer(view, event));
    this.layers.push(stripsLayer(view, (place) => this.choose(String(place))), ...this.eventLayers);
    this.chart = new Chart(view, 'CPU time by owner. Left and right: by time; up and down: CPU; plus and minus: zoom; Backspace: zoom back; 0: all.', this.layers, (ns) => this.say(ns));
    this.chart.up = (by) => this.chooseNext(by);
    view.listeners.push((what) => this.update(what));
  }

  // The greatest share of the network in any drawn column.
  mostNetwork() {
    const {a, b, places} = this.view;
    const width = Math.max(1, Math.ceil((b - a) / 1000));
    return Math.max(...this.costs.columns(places, a, b, width).map((one) => (one.network + (one.uncovered || 0)) / one.all));
  }

  top() {
    const most = this.mostNetwork();
    return this.isFit && most > 0 ? Math.min(1, nice(most)) : 1;
  }

  makeControls() {
    const option = (value, places, text) => {
      const sums = this.costs.sum(places, 0, this.costs.steps);
      return el('option', {value}, `${text}: ${percent(sums.network, sums.there)}`);
    };
    const cpus = this.costs.cpus.map((cpu, place) => option(String(place), [place], `CPU ${cpu.cpu}`));
    if (cpus.length > 1) cpus.unshift(option('all', this.costs.everywhere(), 'all CPUs'));
    this.select = el('select', {}, ...cpus);
    this.select.addEventListener('change', () => this.choose(this.select.value));
    const button = (text, title, act) => {
      const made = el('button', {type: 'button', title}, text);
      made.addEventListener('click', act);
      return made;
    };
    this.fit = button('', 'The height of the chart: all of the time, or as much as the network takes', () => {
      this.isFit = !this.isFit;
      this.view.changed('cpus');
    });
    this.back = button('Back', 'To the zoom before (Backspace)', () => this.view.back());
    this.reset = button('All', 'The whole time (0)', () => this.view.reset());
    this.controls = el('div', {class: 'controls'}, el('label', {}, 'CPU ', this.select), this.fit,
      button('+', 'Zoom in (+)', () => this.view.scale(0.5)), button('\u2212', 'Zoom out (-)', () => this.view.scale(2)), this.back, this.reset,
      el('span', {class: 'hint'}, 'Drag to zoom. Keys: \u2190 \u2192 time, \u2191 \u2193 CPU, + \u2212 zoom, Backspace back, 0 all.'));
  }

  choose(value) {
    this.select.value = value;
    this.view.choose(value === 'all' ? this.costs.everywhere() : [Number(value)]);
  }

  chooseNext(by) {
    const n = this.select.options.length;
    this.choose(this.select.options[(this.select.selectedIndex + by + n) % n].value);
  }

  get chosen() {
    const {places} = this.view;
    return places.length > 1 ? 'all CPUs' : `CPU ${this.costs.cpus[places[0]].cpu}`;
  }

  // The steps that the readout is about: the column under the cursor, or all that is seen.
  range() {
    const {a, b, cursor} = this.view;
    return cursor === null ? [a, b] : this.chart.columnAt(cursor);
  }

  update(what) {
    this.fit.textContent = this.isFit ? 'Scale: network' : 'Scale: all time';
    this.back.disabled = !this.view.past.length;
    this.reset.disabled = this.view.isWhole();
    this.showReadout();
    if (what !== 'cursor') this.showRows();
  }

  times(a, b) {
    const {costs} = this;
    return `${costs.moment(costs.begin(a))} to ${costs.moment(costs.begin(b))}`;
  }

  showReadout() {
    const [a, b] = this.range();
    const sums = this.costs.sum(this.view.places, a, b);
    const line = (owner, text, ns, whole) => el('tr', {class: owner === 'network' ? 'total' : null, 'data-owner': owner, 'data-ns': ns},
      el('th', {scope: 'row', title: text}, this.swatch(owner), owner), el('td', {}, percent(ns, whole)), el('td', {class: 'ns'}, count(ns)));
    const lines = this.costs.owners.map((owner) => line(owner, OWNERS.find(([name]) => name === owner)[1], sums[owner], sums.all));
    const events = this.eventLayers.map((layer, i) => el('tr', {}, el('th', {scope: 'row'}, this.events[i].title.toLowerCase().replace(' packets', '')), el('td', {colspan: 2, class: 'ns'}, count(layer.sum(a, b)))));
    fill(this.readout, {'data-from': this.costs.begin(a), 'data-to': this.costs.begin(b)}, []);
    const at = this.view.cursor === null ? 'Seen here' : 'At the pointer';
    this.readout.replaceChildren(
      el('p', {class: 'when'}, el('strong', {}, `${at}, ${this.chosen}`), el('br'), this.times(a, b), el('br'), el('span', {class: 'note'}, wall(this.data.session.start_realtime_ns + this.costs.begin(a)) + ' UTC')),
      el('table', {}, el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'owner'), el('th', {scope: 'col', class: 'number'}, 'share'), el('th', {scope: 'col', class: 'number'}, 'ns'))),
        el('tbody', {}, line('network', 'net_rx, net_tx, recv and send', sums.network, sums.all), ...lines, ...events)));
  }

  swatch(owner) {
    if (owner === 'network') return null;
    const picture = svg('svg', {class: 'swatch', width: 12, height: 12, 'aria-hidden': 'true'}, svg('rect', {class: `owner ${owner}`, width: 12, height: 12}));
    if (HATCHED[owner]) picture.append(svg('rect', {width: 12, height: 12, fill: `url(#hatch-${owner})`}));
    return picture;
  }

  say(ns) {
    const [a, b] = this.chart.columnAt(ns);
    const sums = this.costs.sum(this.view.places, a, b);
    const parts = this.costs.owners.filter((owner) => sums[owner]).map((owner) => `${owner} ${percent(sums[owner], sums.all)}`);
    return `${this.times(a, b)}, ${this.chosen}: network ${percent(sums.network, sums.all)}; ${parts.join(', ')}`;
  }

  // The chart as a table: what is seen, in at most TABLE_ROWS stretches.
  showRows() {
    const {a, b, places} = this.view;
    const owners = this.costs.owners;
    if (!this.fold || !this.fold.open) return;
    const columns = this.costs.columns(places, a, b, Math.ceil((b - a) / TABLE_ROWS));
    const rows = columns.map((one) => [this.times(one.a, one.b), el('span', {}, percent(one.network, one.all)), ...owners.map((owner) => one[owner])]);
    this.rows.replaceChildren(table(`CPU time by owner, ${this.chosen}, in nanoseconds`, ['time', 'network_share', ...owners.map((owner) => owner + '_ns')], rows));
  }

  element() {
    this.fold = el('details', {}, el('summary', {}, 'This chart as a table'), this.rows);
    this.fold.addEventListener('toggle', () => this.showRows());
    const of = roundDuration(this.costs.step_ns);
    const what = this.costs.owners.filter((owner) => owner !== 'idle').map((owner) => `${owner}: ${OWNERS.find(([name]) => name === owner)[1]}`).join('; ');
    return el('section', {class: 'timeline'}, el('h3', {}, 'Whose the time of the CPUs was'), this.controls, el('div', {class: 'beside'}, this.chart.element, this.readout), this.fold,
      el('p', {class: 'note'}, `Sums over steps of ${of}, from ${this.costs.source === 'cpu_slice' ? 'the slices themselves' : 'the sums that the import made'}: exact. The network is net_rx, net_tx, recv and send. ${what}.`));
  }
}

// ---- CPUs ----

function cpuTable(costs) {
  const lines = costs.cpus.map((cpu, place) => [`CPU ${cpu.cpu}`, costs.sum([place], 0, costs.steps)]);
  if (lines.length > 1) lines.push(['all', costs.sum(costs.everywhere(), 0, costs.steps)]);
  const rows = lines.map(([name, one]) => [name, el('span', {class: 'share'}, percent(one.network, one.there), bar(one.network, one.there)), one.network,
    ...costs.owners.map((owner) => el('span', {}, percent(one[owner], owner === 'offline' ? one.all : one.there), el('br'), el('small', {}, figure(duration(one[owner]), count(one[owner])))))]);
  const made = table('CPU time by owner', ['cpu', 'network_share', 'network_ns', ...costs.owners.map((owner) => owner + '_share')], rows);
  const body = rows.length > MOST_OPEN_ROWS ? el('details', {}, el('summary', {}, `${count(costs.cpus.length)} CPUs`), made) : made;
  return el('section', {class: 'cpus'}, el('h3', {}, 'CPUs'), el('p', {class: 'note'}, 'Shares of the time that the CPU was there.'), body);
}

// ---- latency ----

const QUANTILES = [['p50_ns', 'p50'], ['p90_ns', 'p90'], ['p99_ns', 'p99'], ['p999_ns', 'p99.9'], ['max_ns', 'max']];

// The quantiles of a hook on a logarithmic scale that all hooks share.
function quantilePicture(hook, low, high) {
  const width = 220;
  const x = (ns) => 6 + ((Math.log(Math.max(1, ns)) - low) / Math.max(1e-9, high - low)) * (width - 12);
  const picture = svg('svg', {class: 'quantiles', width, height: 18, viewBox: `0 0 ${width} 18`, 'aria-hidden': 'true'}, svg('line', {class: 'tick', x1: x(hook.min_ns), x2: x(hook.max_ns), y1: 9, y2: 9}),
    svg('line', {class: 'body', x1: x(hook.p50_ns), x2: x(hook.p99_ns), y1: 9, y2: 9}));
  QUANTILES.forEach(([key], i) => picture.append(svg('circle', {class: 'dot', cx: x(hook[key]), cy: 9, r: i ? 3 : 5})));
  return picture;
}

// "1.214 µs", and where only some packets were sampled, between what it lies.
function quantile(hook, key) {
  const low = hook[key.replace('_ns', '_low_ns')];
  const high = hook[key.replace('_ns', '_high_ns')];
  const value = figure(duration(hook[key]), count(hook[key]));
  if (hook.packets_error === null || key === 'max_ns') return value;
  return el('span', {}, value, el('br'), el('small', {}, `${low === null ? '?' : duration(low)} \u2013 ${high === null ? '?' : duration(high)}`));
}

function latencyTable(hooks) {
  const known = hooks.filter((hook) => hook.p50_ns !== null);
  const low = Math.log(Math.max(1, Math.min(...known.map((hook) => hook.min_ns))));
  const high = Math.log(Math.max(1, ...known.map((hook) => hook.max_ns)));
  const rows = known.map((hook) => [hook.hook, hook.packets, hook.min_ns, el('span', {}, figure(duration(hook.mean_ns), count(hook.mean_ns))),
    ...QUANTILES.map(([key]) => quantile(hook, key)), quantilePicture(hook, low, high)]);
  return table('How late packets were', ['hook', 'packets_count', 'min_ns', 'mean_ns', ...QUANTILES.map(([, name]) => name + '_share'), 'p50 to max, logarithmic'], rows);
}

class Heat {
  constructor(view, map) {
    this.map = map;
    this.view = view;
    this.layer = heatLayer(view, map);
    this.readout = el('p', {class: 'readout-line'});
    this.chart = new Chart(view, `How late packets were at ${map.hook}, over time. Left and right: by time; plus and minus: zoom; 0: all.`, [this.layer], (ns) => this.text(ns, null));
    this.chart.svg.addEventListener('pointermove', () => this.show(this.layer.bucketAt(this.chart.pointerY - this.layer.top)));
    view.listeners.push(() => this.show(null));
  }

  // The packets of a column, and of one bucket in it.
  text(ns, bucket) {
    const column = this.layer.at(ns);
    const cells = this.layer.cells.filter((cell) => cell.column === column);
    const {columns, bounds} = this.map;
    if (column < 0) return '';
    const head = `${this.view.costs.moment(columns[column])} to ${this.view.costs.moment(columns[column + 1])}: ${plural(sum(cells.map((cell) => cell.packets)), 'packet', 'packets')}`;
    if (bucket === null || bucket < 0 || bucket >= bounds.length - 1) return head;
    const here = cells.find((cell) => cell.bucket === bucket);
    return `${head}; ${count(here ? here.packets : 0)} of them above ${count(bounds[bucket])} and up to ${count(bounds[bucket + 1])} ns late`;
  }

  show(bucket) {
    this.readout.textContent = this.view.cursor === null ? '\u00a0' : this.text(this.view.cursor, bucket);
  }

  element() {
    const rows = el('div', {});
    const fold = el('details', {}, el('summary', {}, 'This heat map as a table'), rows);
    fold.addEventListener('toggle', () => fold.open && rows.replaceChildren(this.table()));
    return el('figure', {}, el('figcaption', {}, el('strong', {}, this.map.hook), ' ', this.readout), this.chart.element, fold);
  }

  // By latency alone: over time it would be thousands of rows.
  table() {
    const packets = Array(this.map.bounds.length - 1).fill(0);
    for (const cell of this.layer.cells) packets[cell.bucket] += cell.packets;
    const rows = packets.flatMap((n, i) => (n ? [[el('span', {}, count(this.map.bounds[i])), el('span', {}, count(this.map.bounds[i + 1])), n]] : []));
    return table(`How late packets were at ${this.map.hook}`, ['above, ns_share', 'up to, ns_share', 'packets_count'], rows);
  }
}

function latency(data, view, charts) {
  const found = data.latency[0];
  if (!found.recorded) return null;
  const section = el('section', {class: 'latency'}, el('h3', {}, 'How late packets were'), el('p', {class: 'note'},
    'From the receipt of the packet by the host to each hook on its way up; exact (nearest rank) over the samples. Packets of all CPUs and processes. In the maps the shade is the logarithm of the number of packets.'));
  if (!found.hooks.some((hook) => hook.p50_ns !== null)) {
    section.append(el('p', {}, 'No packet passed a hook in this time.'));
    return section;
  }
  section.append(latencyTable(found.hooks));
  for (const map of data.heat) {
    const heat = new Heat(view, map);
    charts.push(heat.chart);
    section.append(heat.element());
  }
  return section;
}

// ---- the end of a section ----

// Tables without a row are not shown: whether there was nothing, or nobody looked.
function nothing(data) {
  const probes = String(data.session.probes || '').split(',');
  const said = [];
  for (const {name, title, rows} of data.tables) {
    if (name !== 'drops' && name !== 'retransmits') continue;
    if (!probes.includes(name)) said.push(`${title} were not recorded.`);
    else if (!rows.length) said.push(`${title}: none.`);
  }
  if (!data.latency[0].recorded) said.push('Latency was not recorded.');
  return said.length ? el('p', {class: 'note nothing'}, said.join(' ')) : null;
}

function uncovered(data) {
  if (!data.uncovered.length) return null;
  return el('section', {}, el('h3', {}, 'What this recording does not cover'), el('ul', {}, ...data.uncovered.map((text) => el('li', {}, named(text)))));
}

function about(data) {
  const session = data.session;
  const probes = session.probes ? `, probes ${clean(session.probes).replace(/,/g, ', ')}` : '';
  const facts = [`Recorded by ${clean(session.tool)}${probes}, session ${clean(session.uuid)}; it ended by: ${clean(session.stop)}.`];
  if (session.stolen_ns) facts.push(`Up to ${duration(session.stolen_ns)} were stolen by the hypervisor; they are inside whoever ran.`);
  return el('p', {class: 'note'}, facts.join(' '));
}

// ---- all ----

function section(data, index) {
  const made = el('article', {id: `session-${index + 1}`}, heading(data));
  if (!data.costs) {
    made.append(el('p', {class: 'banner'}, 'Nothing of this recording was selected.'));
    return made;
  }
  const costs = new Costs(data.costs);
  const view = new View(costs);
  const charts = [];
  const timeline = new Timeline(data, view);
  const spanNs = costs.to_ns - costs.from_ns;
  charts.push(timeline.chart);
  const parts = [problems(data), selectionNote(data, costs), cards(data, costs), timeline.element(), cpuTable(costs),
    ...data.tables.filter((one) => one.rows.length).map((one) => dataTable(one, spanNs)), latency(data, view, charts), nothing(data), uncovered(data), about(data)];
  made.append(...parts.filter((part) => part));
  redraw(charts);
  view.changed('range');
  made.costs = costs;
  return made;
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

function contents(sections, page) {
  const link = (data, i) => {
    const costs = sections[i].costs;
    const all = costs && costs.sum(costs.everywhere(), 0, costs.steps);
    return el('li', {}, el('a', {href: `#session-${i + 1}`}, named(data.session.host), `, ${wall(data.session.start_realtime_ns).slice(0, 19)} UTC`), ` ${duration(data.session.dur_ns)}, network ${all ? percent(all.network, all.there) : 'not selected'}`);
  };
  return el('nav', {}, el('h2', {}, 'Recordings'), el('ol', {}, ...page.sessions.map(link)));
}

// The hatchings of time that is not known and of CPUs that are not there, for all pictures.
function hatchings() {
  const hatch = (owner) => svg('pattern', {id: `hatch-${owner}`, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'}, svg('rect', {class: `hatch ${owner}`, width: 2, height: 5}));
  return svg('svg', {class: 'hidden', width: 0, height: 0, 'aria-hidden': 'true'}, svg('defs', {}, hatch('uncovered'), hatch('offline')));
}

function exactSwitch() {
  const box = el('input', {type: 'checkbox'});
  box.addEventListener('change', () => document.body.classList.toggle('exactly', box.checked));
  return el('label', {class: 'switch'}, box, ' exact numbers (ns, bytes)');
}

function main() {
  const page = JSON.parse(document.getElementById('data').textContent);
  const main = document.getElementById('page');
  const sections = page.sessions.map(section);
  document.title = `nettape: ${clean(page.sessions.map((one) => one.session.host).join(', ')).slice(0, 100)}`;
  main.append(hatchings(), el('div', {class: 'top'}, el('h1', {}, 'nettape', el('span', {}, ' what the network stack cost')), exactSwitch()),
    ...(sections.length > 1 ? [contents(sections, page)] : []), ...sections, el('footer', {}, `Written by ${page.tool}.`));
}

main();
