// charts.js - charts over time, drawn as SVG so that style sheets colour them, on screen, in the dark and on paper. A Chart is
// one picture with a time axis: what pointer and keys do is here, what is drawn comes from its `layers`.
'use strict';

const LEFT = 62; // of the plot, in pixels; the labels stand there
const RIGHT = 12;
const AXIS = 26;
const HEAD = 18; // above the plot of owners, for the peak
const LEAST_STEPS = 8; // that can be zoomed to
const SHARES = [0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85]; // where the shades of a CPU's strip begin
const HATCHED = {uncovered: true, offline: true};

// What all charts of a session share: which steps are seen, where the cursor is, which CPUs are chosen.
class View {
  constructor(costs) {
    this.costs = costs;
    this.a = 0;
    this.b = costs.steps;
    this.past = [];
    this.cursor = null; // ns since the start
    this.places = costs.everywhere();
    this.listeners = [];
  }

  changed(what) {
    for (const listener of this.listeners) listener(what);
  }

  get from() {
    return this.costs.begin(this.a);
  }

  get to() {
    return this.costs.begin(this.b);
  }

  isWhole() {
    return this.a === 0 && this.b === this.costs.steps;
  }

  // To steps a to b, or as near as there are.
  zoom(a, b, isBack) {
    const least = Math.min(LEAST_STEPS, this.costs.steps);
    a = Math.round(a);
    b = Math.round(b);
    if (b - a < least) a = Math.round((a + b - least) / 2);
    b = Math.min(this.costs.steps, Math.max(b, a + least));
    a = Math.max(0, Math.min(a, b - least));
    if (a === this.a && b === this.b) return;
    if (!isBack) this.past.push([this.a, this.b]);
    this.a = a;
    this.b = b;
    if (this.cursor !== null && (this.cursor < this.from || this.cursor >= this.to)) this.cursor = null;
    this.changed('range');
  }

  // In (below 1) or out about the cursor, or the middle.
  scale(factor) {
    const middle = this.cursor === null ? (this.a + this.b) / 2 : this.costs.stepAt(this.cursor) + 0.5;
    this.zoom(middle - (middle - this.a) * factor, middle + (this.b - middle) * factor);
  }

  back() {
    const last = this.past.pop();
    if (last) this.zoom(last[0], last[1], true);
  }

  reset() {
    this.zoom(0, this.costs.steps);
  }

  point(ns) {
    if (ns === this.cursor) return;
    this.cursor = ns;
    this.changed('cursor');
  }

  choose(places) {
    this.places = places;
    this.changed('cpus');
  }
}

class Chart {
  // `layers`: {height(), draw(chart, group, y), click(y)?}, from top to bottom. `say(ns)`: what a reader is told of a time.
  constructor(view, label, layers, say) {
    this.view = view;
    this.layers = layers;
    this.say = say;
    this.live = el('p', {class: 'hidden', 'aria-live': 'polite'});
    this.svg = svg('svg', {tabindex: 0, role: 'application', 'aria-roledescription': 'chart', 'aria-label': label});
    this.element = el('div', {class: 'chart'}, this.svg, this.live);
    this.listen();
    view.listeners.push((what) => (what === 'cursor' ? this.drawCursor() : this.draw()));
  }

  x(ns) {
    return LEFT + ((ns - this.view.from) / (this.view.to - this.view.from)) * this.plot;
  }

  // The time under a place of the picture.
  timeAt(x) {
    const share = Math.max(0, Math.min(1 - 1e-9, (x - LEFT) / this.plot));
    return this.view.from + share * (this.view.to - this.view.from);
  }

  // How many steps are drawn as one, so that each is to be seen.
  get columnSteps() {
    return Math.max(1, Math.ceil((this.view.b - this.view.a) / this.plot));
  }

  // The drawn column that a time lies in: [first step, one past the last].
  columnAt(ns) {
    const {a, b, costs} = this.view;
    const width = this.columnSteps;
    const first = a + Math.floor((costs.stepAt(ns) - a) / width) * width;
    return [first, Math.min(first + width, b)];
  }

  draw() {
    this.width = Math.max(280, this.element.clientWidth || 1000);
    this.plot = this.width - LEFT - RIGHT;
    this.svg.replaceChildren();
    let y = 4;
    for (const layer of this.layers) {
      const group = svg('g', {});
      layer.top = y;
      this.svg.append(group);
      layer.draw(this, group, y);
      y += layer.height();
    }
    this.height = y + AXIS;
    this.drawTimes(y);
    this.svg.setAttribute('viewBox', `0 0 ${this.width} ${this.height}`);
    this.band = svg('rect', {class: 'band', y: 0, height: y, visibility: 'hidden'});
    this.line = svg('rect', {class: 'cursor', y: 0, height: y, visibility: 'hidden'});
    this.svg.append(this.band, this.line);
    this.drawCursor();
  }

  drawTimes(y) {
    const {from, to} = this.view;
    const {step, list} = ticks(from, to, Math.max(2, this.plot / 110));
    for (const ns of list) {
      const x = this.x(ns);
      if (x > this.width - RIGHT + 0.5) continue;
      const anchor = x > this.width - 45 ? 'end' : 'middle';
      this.svg.append(
        svg('line', {class: 'tick', x1: x, x2: x, y1: y, y2: y + 5}),
        svg('text', {x, y: y + 18, 'text-anchor': anchor}, this.view.costs.moment(ns, step)));
    }
  }

  drawCursor() {
    const ns = this.view.cursor;
    if (!this.line) return;
    this.line.setAttribute('visibility', ns === null ? 'hidden' : 'visible');
    if (ns === null) return;
    const [a, b] = this.columnAt(ns);
    const left = this.x(this.view.costs.begin(a));
    this.line.setAttribute('x', left);
    this.line.setAttribute('width', Math.max(1, this.x(this.view.costs.begin(b)) - left));
  }

  // ---- pointer ----

  listen() {
    this.svg.addEventListener('pointermove', (event) => this.onMove(event));
    this.svg.addEventListener('pointerdown', (event) => this.onDown(event));
    this.svg.addEventListener('pointerup', (event) => this.onUp(event));
    this.svg.addEventListener('pointercancel', () => this.endDrag());
    this.svg.addEventListener('pointerleave', () => this.start === undefined && this.view.point(null));
    this.svg.addEventListener('keydown', (event) => this.onKey(event));
  }

  place(event) {
    const box = this.svg.getBoundingClientRect();
    return [((event.clientX - box.left) * this.width) / box.width, ((event.clientY - box.top) * this.height) / box.height];
  }

  onMove(event) {
    const [x, y] = this.place(event);
    this.pointerY = y;
    this.view.point(x < LEFT && this.start === undefined ? null : this.timeAt(x));
    if (this.start === undefined) return;
    const left = Math.max(LEFT, Math.min(x, this.start));
    const right = Math.min(LEFT + this.plot, Math.max(x, this.start));
    this.band.setAttribute('x', left);
    this.band.setAttribute('width', Math.max(0, right - left));
    this.band.setAttribute('visibility', 'visible');
  }

  onDown(event) {
    if (event.button !== 0) return;
    this.start = this.place(event)[0];
    this.svg.setPointerCapture(event.pointerId);
  }

  onUp(event) {
    if (this.start === undefined) return;
    const [x, y] = this.place(event);
    const from = this.timeAt(Math.min(x, this.start));
    const to = this.timeAt(Math.max(x, this.start));
    const isClick = Math.abs(x - this.start) < 4;
    this.endDrag();
    if (isClick) this.click(y);
    else this.view.zoom(this.view.costs.stepAt(from), this.view.costs.stepAt(to) + 1);
  }

  endDrag() {
    this.start = undefined;
    this.band.setAttribute('visibility', 'hidden');
  }

  click(y) {
    const layer = this.layers.find((one) => one.click && y >= one.top && y < one.top + one.height());
    if (layer) layer.click(y - layer.top);
  }

  // ---- keys ----

  onKey(event) {
    const act = this.actions()[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act(event.shiftKey ? 10 : 1);
    this.live.textContent = this.view.cursor === null ? this.sayRange() : this.say(this.view.cursor, this);
  }

  actions() {
    const view = this.view;
    return {
      ArrowLeft: (times) => this.step(-times),
      ArrowRight: (times) => this.step(times),
      ArrowUp: () => this.up && this.up(-1),
      ArrowDown: () => this.up && this.up(1),
      Home: () => view.point(view.from),
      End: () => view.point(view.costs.begin(view.b - 1)),
      '+': () => view.scale(0.5),
      '=': () => view.scale(0.5),
      '-': () => view.scale(2),
      Backspace: () => view.back(),
      0: () => view.reset(),
      Escape: () => (view.cursor === null ? view.reset() : view.point(null)),
    };
  }

  // The cursor by columns.
  step(times) {
    const view = this.view;
    if (view.cursor === null) {
      view.point(times > 0 ? view.from : view.costs.begin(view.b - 1));
      return;
    }
    const at = this.columnAt(view.cursor)[0] + times * this.columnSteps;
    view.point(view.costs.begin(Math.max(view.a, Math.min(at, view.b - 1))));
  }

  sayRange() {
    const {from, to, costs} = this.view;
    return `${costs.moment(from)} to ${costs.moment(to)}`;
  }
}

// ---- layers ----

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
        return {left: chart.x(costs.begin(column.a)), right: chart.x(costs.begin(column.b)), low: at(low), high: at(below[i])};
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
  group.append(svg('path', {class: 'peak', d: `M${left.toFixed(1)} ${y - 1}v-4H${right.toFixed(1)}v4`}), svg('text', {y: y - 8, ...anchor}, text));
}

function drawShares(chart, group, y, height, most) {
  for (const share of ticks(0, most, 5).list) {
    const at = y + height - (share / most) * height;
    group.append(
      svg('line', {class: 'grid', x1: LEFT, x2: LEFT + chart.plot, y1: at, y2: at}),
      svg('text', {x: LEFT - 8, y: at + 4, 'text-anchor': 'end'}, +(share * 100).toPrecision(3) + GAP + '%'));
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
  const height = () => costs.cpus.length * row + 24;
  const draw = (chart, group, y) => {
    const paths = SHARES.map(() => '');
    let hatched = '';
    group.append(svg('text', {class: 'caption', x: LEFT, y: y + 12}, 'Network share of each CPU'));
    drawShades(chart, group, y + 3);
    costs.cpus.forEach((cpu, place) => {
      const top = y + 18 + place * row;
      drawName(chart, group, cpu, place, top);
      for (const column of costs.columns([place], view.a, view.b, chart.columnSteps)) {
        const left = chart.x(costs.begin(column.a));
        const d = `M${left.toFixed(2)} ${top}h${(chart.x(costs.begin(column.b)) - left).toFixed(2)}v${row - 2}H${left.toFixed(2)}z`;
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
      group.append(svg('text', {class: isChosen ? 'chosen' : null, x: LEFT - 8, y: top + row / 2 + 3, 'text-anchor': 'end'}, `CPU ${cpu.cpu}`));
    if (isChosen) group.append(svg('rect', {class: 'frame', x: LEFT - 1, y: top - 1, width: chart.plot + 2, height: row}));
  };
  const click = (y) => {
    const place = Math.floor((y - 18) / row);
    if (costs.cpus[place]) onChoose(place);
  };
  return {height, draw, click};
}

// What the shades of strips mean, at the right.
function drawShades(chart, group, y) {
  const wide = chart.plot > 520;
  const width = wide ? 34 : 18;
  SHARES.forEach((share, i) => {
    const x = LEFT + chart.plot - (SHARES.length - i) * width;
    group.append(svg('rect', {class: `heat h${i + 1}`, x, y, width, height: 9}));
    if (wide) group.append(svg('text', {class: `small on${i + 1}`, x: x + width / 2, y: y + 8, 'text-anchor': 'middle'}, `>${share * 100}%`));
  });
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
      d += `M${left.toFixed(2)} ${y + 18 + height}h${Math.max(1, right - left).toFixed(2)}v${-tall.toFixed(1)}H${left.toFixed(2)}z`;
    }
    group.append(
      svg('text', {class: 'caption', x: LEFT, y: y + 12}, event.title),
      svg('rect', {class: 'plot', x: LEFT, y: y + 18, width: chart.plot, height}),
      svg('path', {class: 'events', d}),
      svg('text', {x: LEFT - 8, y: y + 27, 'text-anchor': 'end'}, count(most)));
  };
  return {height: () => height + 24, draw, sum};
}

// How many packets were how late; time to the right, latency up, both as the page's data has them.
function heatLayer(view, map) {
  const rows = map.bounds.length - 1;
  const row = Math.max(3, Math.min(7, 200 / rows));
  const cells = [];
  for (let i = 0; i < map.cells.length; i += 3) cells.push({column: map.cells[i], bucket: map.cells[i + 1], packets: map.cells[i + 2]});
  const most = Math.max(1, ...cells.map((cell) => cell.packets));
  const level = (packets) => (packets >= most ? 9 : Math.min(9, 1 + Math.floor((9 * Math.log(Math.max(1, packets))) / Math.log(most))));
  const draw = (chart, group, y) => {
    const paths = Array(9).fill('');
    group.append(svg('rect', {class: 'plot', x: LEFT, y, width: chart.plot, height: rows * row}));
    for (const {column, bucket, packets} of cells) {
      const left = Math.max(chart.x(map.columns[column]), LEFT);
      const right = Math.min(chart.x(map.columns[column + 1]), LEFT + chart.plot);
      if (right <= left) continue;
      paths[level(packets) - 1] += `M${left.toFixed(2)} ${(y + (rows - bucket - 1) * row).toFixed(1)}h${(right - left).toFixed(2)}v${row.toFixed(1)}H${left.toFixed(2)}z`;
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
        svg('text', {x: LEFT - 8, y: at + 4, 'text-anchor': 'end'}, short(ns)));
    }
  };
  const at = (ns) => map.columns.findIndex((begin, i) => ns >= begin && ns < map.columns[i + 1]);
  return {height: () => rows * row + 8, draw, cells, at, bucketAt: (y) => rows - 1 - Math.floor(y / row)};
}

// A power of ten: "100 ns", "1 ms".
function short(ns) {
  const unit = ns >= 1e9 ? [1e9, 's'] : ns >= 1e6 ? [1e6, 'ms'] : ns >= 1e3 ? [1e3, '\u00b5s'] : [1, 'ns'];
  return ns / unit[0] + GAP + unit[1];
}
