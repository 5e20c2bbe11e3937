// SPDX-License-Identifier: GPL-2.0-only
//
// layers.js - what charts are made of: owners stacked, strips of CPUs, bars of events, heat maps.
'use strict';

const HEAD = 18; // above the plot of owners, for the peak
const WIDE = 560; // a plot from here on has a legend beside its caption, else below that
const SHADES_WIDTH = 306; // of a legend
const SHARES = [0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85]; // where the shades of a CPU's strip begin
const HATCHED = {uncovered: true, offline: true};

// A path of a rectangle, many of which go into one element.
function box(left, top, width, height) {
  return `M${left.toFixed(2)} ${top.toFixed(1)}h${width.toFixed(2)}v${height.toFixed(1)}H${left.toFixed(2)}z`;
}

// A closed path of steps: [{left, right, low, high}].
function stairs(columns) {
  let up = '';
  let down = '';
  for (const {left, right, low, high} of columns) {
    up += `V${high.toFixed(1)}H${right.toFixed(2)}`;
    down = `V${low.toFixed(1)}H${left.toFixed(2)}` + down;
  }
  const first = columns[0];
  return `M${first.left.toFixed(2)} ${first.low.toFixed(1)}${up}${down}Z`;
}

// Whose the time was, stacked. `top()` is the share that the plot ends at.
function areaLayer(view, height, top) {
  const places = () => view.places;
  const draw = (chart, group, aboveY) => {
    const {costs, a, b} = view;
    const most = top();
    const y = aboveY + HEAD;
    const columns = costs.columns(places(), a, b, chart.columnSteps);
    const at = (share) => y + height - Math.min(1, share / most) * height;
    const below = columns.map(() => 0);
    group.append(svg('rect', {class: 'plot', x: LEFT, y, width: chart.plot, height}));
    for (const owner of costs.owners.filter((one) => one !== 'idle')) {
      const steps = columns.map((column, i) => {
        const low = owner === 'offline' ? 1 - column.offline / column.all : below[i];
        below[i] = low + column[owner] / column.all;
        return {
          left: chart.x(costs.begin(column.a)),
          right: chart.x(costs.begin(column.b)),
          low: at(low),
          high: at(below[i]),
        };
      });
      const d = stairs(steps);
      group.append(svg('path', {class: `owner ${owner}`, d}));
      if (HATCHED[owner]) group.append(svg('path', {fill: `url(#hatch-${owner})`, d}));
    }
    drawShares(chart, group, y, height, most);
    drawPeak(chart, group, y, view);
  };
  return {height: () => HEAD + height + 14, draw};
}

// Above the plot, where the network took most: of the CPU that is shown, if it is that one's, or of all.
function drawPeak(chart, group, y, view) {
  const {costs, places} = view;
  const isAll = places.length === costs.cpus.length;
  const peak = isAll && places.length > 1 ? costs.peak_all : costs.peak;
  if (!peak || (!isAll && costs.cpus[places[0]].cpu !== peak.cpu)) return;
  const left = Math.max(LEFT, chart.x(peak.from_ns));
  const right = Math.min(LEFT + chart.plot, chart.x(peak.from_ns + peak.dur_ns));
  if (right <= left) return;
  const text = `peak ${percent(peak.net_ns, peak.dur_ns * places.length)} over ${roundDuration(peak.dur_ns)}`;
  const anchor = left < LEFT + chart.plot / 2 ? {x: left, 'text-anchor': 'start'} : {x: right, 'text-anchor': 'end'};
  group.append(
    svg('path', {class: 'peak', d: `M${left.toFixed(1)} ${y - 1}v-4H${right.toFixed(1)}v4`}),
    svg('text', {y: y - 8, ...anchor}, text),
  );
}

function drawShares(chart, group, y, height, most) {
  for (const share of ticks(0, most, 5).list) {
    const at = y + height - (share / most) * height;
    group.append(
      svg('line', {class: 'grid', x1: LEFT, x2: LEFT + chart.plot, y1: at, y2: at}),
      svg('text', {x: LEFT - 8, y: at + 4, 'text-anchor': 'end'}, +(share * 100).toPrecision(3) + GAP + '%'),
    );
  }
}

function shade(share) {
  let level = 0;
  while (level < SHARES.length && share > SHARES[level]) level++;
  return level;
}

// The network's share on each CPU, a strip each. A click chooses the CPU.
function stripsLayer(view, onChoose) {
  const {costs} = view;
  const row = costs.cpus.length <= 8 ? 20 : costs.cpus.length <= 32 ? 13 : 8;
  const head = (chart) => (chart.plot >= WIDE ? 34 : 50);
  let drawnHead = 0;
  const height = (chart) => costs.cpus.length * row + head(chart) + 6;
  const draw = (chart, group, y) => {
    const paths = SHARES.map(() => '');
    let hatched = '';
    drawnHead = head(chart);
    group.append(svg('text', {class: 'caption', x: LEFT, y: y + 12}, 'Network share of each CPU, in %'));
    drawStripShades(chart, group, chart.plot >= WIDE ? y + 2 : y + 18);
    costs.cpus.forEach((cpu, place) => {
      const top = y + drawnHead + place * row;
      drawName(chart, group, cpu, place, top);
      for (const column of costs.columns([place], view.a, view.b, chart.columnSteps)) {
        const left = chart.x(costs.begin(column.a));
        const d = box(left, top, chart.x(costs.begin(column.b)) - left, row - 2);
        const level = shade(column.network / column.all);
        if (level) paths[level - 1] += d;
        if (((column.uncovered || 0) + (column.offline || 0)) * 2 > column.all) hatched += d;
      }
    });
    paths.forEach((d, i) => d && group.append(svg('path', {class: `heat h${i + 1}`, d})));
    if (hatched) group.append(svg('path', {fill: 'url(#hatch-uncovered)', d: hatched}));
  };
  const drawName = (chart, group, cpu, place, top) => {
    const isChosen = view.places.length === 1 && view.places[0] === place;
    group.append(svg('rect', {class: 'plot', x: LEFT, y: top, width: chart.plot, height: row - 2}));
    if (row >= 13 || place % 4 === 0)
      group.append(
        svg(
          'text',
          {class: isChosen ? 'chosen' : null, x: LEFT - 8, y: top + row / 2 + 3, 'text-anchor': 'end'},
          `CPU ${cpu.cpu}`,
        ),
      );
    if (isChosen)
      group.append(svg('rect', {class: 'frame', x: LEFT - 1, y: top - 1, width: chart.plot + 2, height: row}));
  };
  const click = (y) => {
    const place = Math.floor((y - drawnHead) / row);
    if (costs.cpus[place]) onChoose(place);
  };
  return {height, draw, click};
}

// Where a label of a legend begins and ends, about.
function extent({x, text, anchor}) {
  const wide = 7.5 * text.length;
  const left = anchor === 'start' ? x : anchor === 'end' ? x - wide : x - wide / 2;
  return [left, left + wide];
}

// Of labels from left to right as many as there is room for: the last, and from the first on.
function thatFit(labels) {
  const last = labels[labels.length - 1];
  let end = -Infinity;
  return labels.filter((one) => {
    const [left, right] = extent(one);
    if (one !== last && (left < end + 4 || right > extent(last)[0] - 4)) return false;
    end = right;
    return true;
  });
}

// The nine shades side by side, at the right or, where it is narrow, below the caption; `labels`: [place in 0 .. 9,
// text].
function drawShades(chart, group, y, labels) {
  const whole = Math.min(SHADES_WIDTH, chart.plot);
  const width = whole / 9;
  const left = chart.plot >= WIDE ? LEFT + chart.plot - whole : LEFT;
  for (let i = 0; i < 9; i++)
    group.append(svg('rect', {class: `heat h${i + 1}`, x: left + i * width, y, width, height: 10}));
  group.append(svg('rect', {class: 'edge', x: left, y, width: whole, height: 10}));
  const placed = labels.map(([place, text]) => ({
    x: left + place * width,
    text,
    anchor: place === 0 ? 'start' : place === 9 ? 'end' : 'middle',
  }));
  for (const {x, text, anchor} of thatFit(placed)) group.append(svg('text', {x, y: y + 23, 'text-anchor': anchor},
    text));
}

// The legend of the shades of strips: the share where each begins.
function drawStripShades(chart, group, y) {
  const labels = [...SHARES, 1].map((share, i) => [i, String(+(share * 100).toPrecision(3))]);
  drawShades(chart, group, y, labels);
}

// How many of something there were, as bars: {title, counts: [step, count, ...]}.
function eventsLayer(view, event) {
  const {costs} = view;
  const height = 26;
  const perStep = new Map();
  for (let i = 0; i < event.counts.length; i += 2) perStep.set(event.counts[i], event.counts[i + 1]);
  const sum = (a, b) => {
    let n = 0;
    for (let step = a; step < b; step++) n += perStep.get(step) || 0;
    return n;
  };
  const draw = (chart, group, y) => {
    const bars = [];
    for (let step = view.a; step < view.b; step += chart.columnSteps) {
      const end = Math.min(step + chart.columnSteps, view.b);
      const n = sum(step, end);
      if (n) bars.push({left: chart.x(costs.begin(step)), right: chart.x(costs.begin(end)), n});
    }
    const most = Math.max(1, ...bars.map((bar) => bar.n));
    let d = '';
    for (const {left, right, n} of bars) {
      const tall = Math.max(2, (n / most) * height);
      d += box(left, y + 18 + height - tall, Math.max(1, right - left), tall);
    }
    group.append(
      svg('text', {class: 'caption', x: LEFT, y: y + 12}, event.title),
      svg('rect', {class: 'plot', x: LEFT, y: y + 18, width: chart.plot, height}),
      svg('path', {class: 'events', d}),
      svg('text', {x: LEFT - 8, y: y + 27, 'text-anchor': 'end'}, count(most)),
    );
  };
  return {height: () => height + 24, draw, sum};
}

// How many packets were how late; time to the right, latency up, both as the page's data has them.
function heatLayer(view, map) {
  const rows = map.bounds.length - 1;
  const row = Math.max(3, Math.min(7, 200 / rows));
  const cells = [];
  for (let i = 0; i < map.cells.length; i += 3)
    cells.push({column: map.cells[i], bucket: map.cells[i + 1], packets: map.cells[i + 2]});
  const most = Math.max(1, ...cells.map((cell) => cell.packets));
  const level = (packets) =>
    packets >= most ? 9 : Math.min(9, 1 + Math.floor((9 * Math.log(Math.max(1, packets))) / Math.log(most)));
  const head = (chart) => (chart.plot >= WIDE ? 30 : 46);
  // A shade for each ninth of the logarithm; where there are few packets, some shades are of none.
  const drawLegend = (chart, group, y) => {
    const begins = Array.from({length: 9}, (_, i) => Math.ceil(most ** (i / 9) - 1e-9));
    const labels = begins.flatMap((n, i) => (i && n === begins[i - 1] ? [] : [[i, count(n)]]));
    if (begins[8] < most) labels.push([9, count(most)]);
    group.append(svg('text', {class: 'caption', x: LEFT, y: y + 12}, 'Packets'));
    drawShades(chart, group, chart.plot >= WIDE ? y + 2 : y + 18, labels);
  };
  const draw = (chart, group, top) => {
    const paths = Array(9).fill('');
    const y = top + head(chart);
    layer.plotTop = y;
    drawLegend(chart, group, top);
    group.append(svg('rect', {class: 'plot', x: LEFT, y, width: chart.plot, height: rows * row}));
    for (const {column, bucket, packets} of cells) {
      const left = Math.max(chart.x(map.columns[column]), LEFT);
      const right = Math.min(chart.x(map.columns[column + 1]), LEFT + chart.plot);
      if (right <= left) continue;
      paths[level(packets) - 1] += box(left, y + (rows - bucket - 1) * row, right - left, row);
    }
    paths.forEach((d, i) => d && group.append(svg('path', {class: `heat h${i + 1}`, d})));
    drawBounds(chart, group, y);
  };
  // A tick at each power of ten; within a bucket latency grows evenly.
  const drawBounds = (chart, group, y) => {
    for (let ns = 1; ns <= map.bounds[rows]; ns *= 10) {
      const upper = map.bounds.findIndex((bound) => bound >= ns);
      if (upper < 0 || ns < map.bounds[0]) continue;
      const below = upper ? map.bounds[upper - 1] : 0;
      const at = y + (rows - (upper ? upper - 1 + (ns - below) / (map.bounds[upper] - below) : 0)) * row;
      group.append(
        svg('line', {class: 'grid', x1: LEFT, x2: LEFT + chart.plot, y1: at, y2: at}),
        svg('text', {x: LEFT - 8, y: at + 4, 'text-anchor': 'end'}, short(ns)),
      );
    }
  };
  const at = (ns) => map.columns.findIndex((begin, i) => ns >= begin && ns < map.columns[i + 1]);
  const height = (chart) => head(chart) + rows * row + 8;
  const layer = {height, draw, cells, at, bucketAt: (y) => rows - 1 - Math.floor((y - layer.plotTop) / row)};
  return layer;
}

// A power of ten: "100 ns", "1 ms".
function short(ns) {
  const unit = ns >= 1e9 ? [1e9, 's'] : ns >= 1e6 ? [1e6, 'ms'] : ns >= 1e3 ? [1e3, '\u00b5s'] : [1, 'ns'];
  return ns / unit[0] + GAP + unit[1];
}
