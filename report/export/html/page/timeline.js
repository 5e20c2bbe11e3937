// SPDX-License-Identifier: GPL-2.0-only
//
// timeline.js - the chart of CPU time, with its controls and its texts.
'use strict';

const TABLE_ROWS = 50; // of a chart's table
const SOURCES = {
  cpu_slice: 'the slices themselves',
  cpu_cost: 'the sums that the import made',
  live: 'the records as they come',
};
const FIT_BELOW = 0.25; // a network that never takes more of the time is drawn on a scale of its own

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
    this.layers.push(
      stripsLayer(view, (place) => this.choose(String(place))),
      ...this.eventLayers,
    );
    this.chart = new Chart(
      view,
      'CPU time by owner. Left and right: by time; up and down: CPU; plus and minus: zoom; ' +
        'Backspace: zoom back; 0: all.',
      this.layers,
      (ns) => this.say(ns),
    );
    this.chart.up = (by) => this.chooseNext(by);
    view.listeners.push((what) => this.update(what));
  }

  // The greatest share of the network in any drawn column.
  mostNetwork() {
    const {a, b, places} = this.view;
    const width = Math.max(1, Math.ceil((b - a) / 1000));
    return Math.max(
      ...this.costs.columns(places, a, b, width).map((one) => (one.network + (one.uncovered || 0)) / one.all),
    );
  }

  top() {
    const most = this.mostNetwork();
    return this.isFit && most > 0 ? Math.min(1, nice(most)) : 1;
  }

  makeControls() {
    const values = this.costs.cpus.map((cpu, place) => String(place));
    if (values.length > 1) values.unshift('all');
    this.select = el('select', {}, ...values.map((value) => el('option', {value})));
    this.labelCpus();
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
    this.controls = el(
      'div',
      {class: 'controls'},
      el('label', {}, 'CPU ', this.select),
      this.fit,
      button('+', 'Zoom in (+)', () => this.view.scale(0.5)),
      button('\u2212', 'Zoom out (-)', () => this.view.scale(2)),
      this.back,
      this.reset,
      el(
        'span',
        {class: 'hint'},
        'Drag to zoom. Keys: \u2190 \u2192 time, \u2191 \u2193 CPU, + \u2212 zoom, Backspace back, 0 all.',
      ),
    );
  }

  placesOf(value) {
    return value === 'all' ? this.costs.everywhere() : [Number(value)];
  }

  // The shares of the network, in the list of CPUs.
  labelCpus() {
    for (const option of this.select.options) {
      const sums = this.costs.sum(this.placesOf(option.value), 0, this.costs.steps);
      const name = option.value === 'all' ? 'all CPUs' : `CPU ${this.costs.cpus[option.value].cpu}`;
      option.textContent = `${name}: ${percent(sums.network, sums.there)}`;
    }
  }

  choose(value) {
    this.select.value = value;
    this.view.choose(this.placesOf(value));
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
    const line = (owner, text, ns, whole) =>
      el(
        'tr',
        {class: owner === 'network' ? 'total' : null, 'data-owner': owner, 'data-ns': ns},
        el('th', {scope: 'row', title: text}, this.swatch(owner), owner),
        el('td', {}, percent(ns, whole)),
        el('td', {class: 'ns'}, figure(duration(ns), count(ns))),
      );
    const lines = this.costs.owners.map((owner) =>
      line(owner, OWNERS.find(([name]) => name === owner)[1], sums[owner], sums.all),
    );
    const events = this.eventLayers.map((layer, i) =>
      el(
        'tr',
        {},
        el('th', {scope: 'row'}, this.events[i].title.toLowerCase().replace(' packets', '')),
        el('td', {colspan: 2, class: 'ns'}, count(layer.sum(a, b))),
      ),
    );
    fill(this.readout, {'data-from': this.costs.begin(a), 'data-to': this.costs.begin(b)}, []);
    const at = this.view.cursor === null ? 'Seen here' : 'At the pointer';
    this.readout.replaceChildren(
      el(
        'p',
        {class: 'when'},
        el('strong', {}, `${at}, ${this.chosen}`),
        el('br'),
        this.times(a, b),
        el('br'),
        el('span', {class: 'note'}, wall(this.data.session.start_realtime_ns + this.costs.begin(a)) + ' UTC'),
      ),
      el(
        'table',
        {},
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', {scope: 'col'}, 'owner'),
            el('th', {scope: 'col', class: 'number'}, 'share'),
            el('th', {scope: 'col', class: 'number'}, 'time'),
          ),
        ),
        el('tbody', {}, line('network', 'net_rx, net_tx, recv and send', sums.network, sums.all), ...lines, ...events),
      ),
    );
  }

  swatch(owner) {
    if (owner === 'network') return null;
    const picture = svg(
      'svg',
      {class: 'swatch', width: 12, height: 12, 'aria-hidden': 'true'},
      svg('rect', {class: `owner ${owner}`, width: 12, height: 12}),
    );
    if (HATCHED[owner]) picture.append(svg('rect', {width: 12, height: 12, fill: `url(#hatch-${owner})`}));
    return picture;
  }

  say(ns) {
    const [a, b] = this.chart.columnAt(ns);
    const sums = this.costs.sum(this.view.places, a, b);
    const parts = this.costs.owners
      .filter((owner) => sums[owner])
      .map((owner) => `${owner} ${percent(sums[owner], sums.all)}`);
    return `${this.times(a, b)}, ${this.chosen}: network ${percent(sums.network, sums.all)}; ${parts.join(', ')}`;
  }

  // The chart as a table: what is seen, in at most TABLE_ROWS stretches.
  showRows() {
    const {a, b, places} = this.view;
    const owners = this.costs.owners;
    if (!this.fold || !this.fold.open) return;
    const columns = this.costs.columns(places, a, b, Math.ceil((b - a) / TABLE_ROWS));
    const rows = columns.map((one) => [
      this.times(one.a, one.b),
      el('span', {}, percent(one.network, one.all)),
      ...owners.map((owner) => one[owner]),
    ]);
    renew(
      this.rows,
      table(
        `CPU time by owner, ${this.chosen}`,
        ['time', 'network_share', ...owners.map((owner) => owner + '_ns')],
        rows,
      ),
    );
  }

  showNote() {
    const {costs} = this;
    const what = costs.owners
      .filter((owner) => owner !== 'idle')
      .map((owner) => `${owner}: ${OWNERS.find(([name]) => name === owner)[1]}`)
      .join('; ');
    this.note.textContent =
      `Sums over steps of ${roundDuration(costs.step_ns)}, from ${SOURCES[costs.source]}: exact. ` +
      `The network is net_rx, net_tx, recv and send. ${what}.`;
  }

  element() {
    this.note = el('p', {class: 'note'});
    this.showNote();
    this.fold = el('details', {}, el('summary', {}, 'This chart as a table'), this.rows);
    this.fold.addEventListener('toggle', () => this.showRows());
    return el(
      'section',
      {class: 'timeline'},
      el('h3', {}, 'Owners of CPU time'),
      this.controls,
      el('div', {class: 'beside'}, this.chart.element, this.readout),
      this.fold,
      this.note,
    );
  }
}
