// SPDX-License-Identifier: GPL-2.0-only
//
// latency.js - how late packets were: the quantiles of each hook, and its heat map.
'use strict';

const MAP_SAMPLES = 30; // so many make a map

const QUANTILES = [
  ['p50_ns', 'p50'],
  ['p90_ns', 'p90'],
  ['p99_ns', 'p99'],
  ['p999_ns', 'p99.9'],
  ['max_ns', 'max'],
];

// The quantiles of a hook on a logarithmic scale that all hooks share.
function quantilePicture(hook, low, high) {
  const width = 220;
  const x = (ns) => 6 + ((Math.log(Math.max(1, ns)) - low) / Math.max(1e-9, high - low)) * (width - 12);
  const picture = svg(
    'svg',
    {class: 'quantiles', width, height: 18, viewBox: `0 0 ${width} 18`, 'aria-hidden': 'true'},
    svg('line', {class: 'tick', x1: x(hook.min_ns), x2: x(hook.max_ns), y1: 9, y2: 9}),
    svg('line', {class: 'body', x1: x(hook.p50_ns), x2: x(hook.p99_ns), y1: 9, y2: 9}),
  );
  QUANTILES.forEach(([key], i) => picture.append(svg('circle', {class: 'dot', cx: x(hook[key]), cy: 9, r: i ? 3 : 5})));
  return picture;
}

// "1.214 µs", and where only some packets were sampled, between what it lies.
function quantile(hook, key) {
  const low = hook[key.replace('_ns', '_low_ns')];
  const high = hook[key.replace('_ns', '_high_ns')];
  const value = figure(duration(hook[key]), count(hook[key]));
  if (hook.packets_error === null || key === 'max_ns') return value;
  return el(
    'span',
    {},
    value,
    el('br'),
    el('small', {}, `${low === null ? '?' : duration(low)} \u2013 ${high === null ? '?' : duration(high)}`),
  );
}

function latencyTable(hooks) {
  const known = hooks.filter((hook) => hook.p50_ns !== null);
  const low = Math.log(Math.max(1, Math.min(...known.map((hook) => hook.min_ns))));
  const high = Math.log(Math.max(1, ...known.map((hook) => hook.max_ns)));
  const rows = known.map((hook) => [
    hook.hook,
    hook.packets,
    hook.min_ns,
    el('span', {}, figure(duration(hook.mean_ns), count(hook.mean_ns))),
    ...QUANTILES.map(([key]) => quantile(hook, key)),
    quantilePicture(hook, low, high),
  ]);
  return table(
    'How late packets were',
    [
      'hook',
      'packets_count',
      'min_ns',
      'mean_ns',
      ...QUANTILES.map(([, name]) => name + '_share'),
      'p50 to max, logarithmic',
    ],
    rows,
  );
}

class Heat {
  constructor(view, map) {
    this.map = map;
    this.view = view;
    this.layer = heatLayer(view, map);
    this.readout = el('p', {class: 'readout-line'});
    this.chart = new Chart(
      view,
      `How late packets were at ${map.hook}, over time. Left and right: by time; plus and minus: zoom; 0: all.`,
      [this.layer],
      (ns) => this.text(ns, null),
    );
    this.chart.svg.addEventListener('pointermove', () =>
      this.show(this.layer.bucketAt(this.chart.pointerY)),
    );
    view.listeners.push(() => this.show(null));
  }

  // The packets of a column, and of one bucket in it.
  text(ns, bucket) {
    const column = this.layer.at(ns);
    const cells = this.layer.cells.filter((cell) => cell.column === column);
    const {columns, bounds} = this.map;
    if (column < 0) return '';
    const packets = sum(cells.map((cell) => cell.packets));
    const times = [columns[column], columns[column + 1]].map((time) => this.view.costs.moment(time)).join(' to ');
    const head = `${times}: ${plural(packets, 'packet', 'packets')}`;
    if (bucket === null || bucket < 0 || bucket >= bounds.length - 1) return head;
    const here = cells.find((cell) => cell.bucket === bucket);
    const late = `above ${duration(bounds[bucket])} and up to ${duration(bounds[bucket + 1])} late`;
    return `${head}; ${count(here ? here.packets : 0)} of them ${late}`;
  }

  show(bucket) {
    this.readout.textContent = this.view.cursor === null ? '\u00a0' : this.text(this.view.cursor, bucket);
  }

  element() {
    const rows = el('div', {});
    const fold = el('details', {}, el('summary', {}, 'This heat map as a table'), rows);
    fold.addEventListener('toggle', () => fold.open && rows.replaceChildren(this.table()));
    return el(
      'figure',
      {},
      el('figcaption', {}, el('strong', {}, this.map.hook), ' ', this.readout),
      this.chart.element,
      fold,
    );
  }

  // By latency alone: over time it would be thousands of rows.
  table() {
    const packets = Array(this.map.bounds.length - 1).fill(0);
    for (const cell of this.layer.cells) packets[cell.bucket] += cell.packets;
    const rows = packets.flatMap((n, i) =>
      n ? [[this.map.bounds[i], this.map.bounds[i + 1], n]] : [],
    );
    return table(
      `How late packets were at ${this.map.hook}`,
      ['above_ns', 'up to_ns', 'packets_count'],
      rows,
    );
  }
}

function latency(data, view, charts) {
  const found = data.latency[0];
  if (!found.recorded) return null;
  const section = el(
    'section',
    {class: 'latency'},
    el('h3', {}, 'How late packets were'),
    el(
      'p',
      {class: 'note'},
      'From the receipt of the packet by the host to each hook on its way up, or from its send to each on its way ' +
        'down; exact (nearest rank) over the samples. In the maps the shade says how many packets, by their logarithm.',
    ),
  );
  if (!found.hooks.some((hook) => hook.p50_ns !== null)) {
    section.append(el('p', {}, 'No packet passed a hook in this time.'));
    return section;
  }
  section.append(latencyTable(found.hooks));
  const few = found.hooks.filter((hook) => hook.samples && hook.samples < MAP_SAMPLES).map((hook) => hook.hook);
  if (few.length)
    section.append(el('p', {class: 'note'}, `Fewer than ${MAP_SAMPLES} samples make no map: ${few.join(', ')}.`));
  for (const map of data.heat.filter((one) => !few.includes(one.hook))) {
    const heat = new Heat(view, map);
    charts.push(heat.chart);
    section.append(heat.element());
  }
  return section;
}
