// SPDX-License-Identifier: GPL-2.0-only
//
// charts.js - charts over time, drawn as SVG so that style sheets colour them, on screen, in the dark and on paper. A
// Chart is one picture with a time axis: what pointer and keys do is here, what is drawn comes from its `layers`.
'use strict';

const LEFT = 62; // of the plot, in pixels; the labels stand there
const RIGHT = 12;
const AXIS = 26;
const LEAST_STEPS = 8; // that can be zoomed to
const LEAST_WIDTH = 300; // of a picture; in less room it scrolls

// The state that all charts of a session share: the steps in sight, the cursor, the chosen CPUs.
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
  // `layers`: {height(chart), draw(chart, group, y), click(y)?}, from top to bottom. `say(ns)`: what a reader is told
  // of a time.
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
    this.width = Math.max(LEAST_WIDTH, this.element.clientWidth || 1000);
    this.plot = this.width - LEFT - RIGHT;
    this.svg.replaceChildren();
    let y = 4;
    for (const layer of this.layers) {
      const group = svg('g', {});
      layer.top = y;
      this.svg.append(group);
      layer.draw(this, group, y);
      y += layer.height(this);
      layer.bottom = y;
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
    const {from, to, costs} = this.view;
    const origin = costs.origin_ns;
    const {step, list} = ticks(from + origin, to + origin, Math.max(2, this.plot / 110), niceTime);
    for (const ns of list.map((time) => time - origin)) {
      const x = this.x(ns);
      if (x > this.width - RIGHT + 0.5) continue;
      const anchor = x > this.width - 45 ? 'end' : 'middle';
      this.svg.append(
        svg('line', {class: 'tick', x1: x, x2: x, y1: y, y2: y + 5}),
        svg('text', {x, y: y + 18, 'text-anchor': anchor}, costs.moment(ns, step)),
      );
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
    this.svg.addEventListener('pointerleave', (event) => this.onLeave(event));
    this.svg.addEventListener('keydown', (event) => this.onKey(event));
  }

  place(event) {
    const box = this.svg.getBoundingClientRect();
    return [
      ((event.clientX - box.left) * this.width) / box.width,
      ((event.clientY - box.top) * this.height) / box.height,
    ];
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

  // A finger that is lifted leaves the cursor where it was.
  onLeave(event) {
    if (this.start === undefined && event.pointerType !== 'touch') this.view.point(null);
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
    const layer = this.layers.find((one) => one.click && y >= one.top && y < one.bottom);
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
