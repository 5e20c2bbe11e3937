// SPDX-License-Identifier: GPL-2.0-only
//
// live.js - the live page of nettape-serve: asks for the last minutes again and again, and shows them with the parts of
// the page of `export html`. It stands still while it is paused, zoomed or not to be seen.
'use strict';

const EVERY_MS = 1000;
const ANSWER_MS = 10000; // the server ends a connection that has taken as long
const VERSION = 1; // of the data
const WINDOWS = [
  [60, '1 min'],
  [300, '5 min'],
  [3600, '60 min'],
];
const DAY_NS = 86400e9;

// Times are those of the day, in UTC: a reader compares them with other logs. Digits that are not shown are cut off,
// since steps begin at any fraction of a second.
class LiveCosts extends Costs {
  constructor(costs, startNs) {
    super(costs);
    this.origin_ns = startNs % DAY_NS;
  }

  moment(ns, step = this.step_ns) {
    let places = 1;
    let shown = 1e8;
    for (; shown > 1 && step % shown; shown /= 10) places++;
    const time = (ns + this.origin_ns) % DAY_NS;
    return clock(time - (time % shown), places).replace(/^(?=\d:)/, '0');
  }
}

// The costs of programs, cgroups and ports, in the grouping that the reader chooses.
class LiveGroups {
  constructor(tables) {
    this.select = el('select', {}, ...tables.map(({by}) => el('option', {value: by}, by)));
    this.rows = el('div', {});
    this.when = el('p', {class: 'note'});
    this.select.addEventListener('change', () => this.show());
    this.element = el(
      'section',
      {class: 'groups'},
      el('h3', {}, 'Senders and receivers'),
      el('div', {class: 'controls'}, el('label', {}, 'Grouped by ', this.select)),
      this.rows,
      this.when,
      el('p', {class: 'note'}, GROUPS_NOTE),
    );
  }

  update(data, costs) {
    this.tables = data.tables;
    this.when.textContent =
      `From ${costs.moment(data.tables_from_ns)} to ${costs.moment(data.costs.to_ns)} UTC, also where the chart is ` +
      'zoomed. Of very many, only the most expensive have a row of their own; all others are one.';
    this.show();
  }

  show() {
    renew(this.rows, groupPanel(this.tables.find(({by}) => by === this.select.value)));
  }
}

// What is shown of one recording.
class LiveRecording {
  constructor(data, onZoom) {
    const {session} = data;
    this.uuid = session.uuid;
    this.costs = new LiveCosts(data.costs, session.start_realtime_ns);
    this.view = new View(this.costs);
    this.timeline = new Timeline({...data, events: []}, this.view);
    this.groups = new LiveGroups(data.tables);
    const names = ['facts', 'problems', 'cards', 'cpus', 'ends'];
    const places = (this.places = Object.fromEntries(names.map((name) => [name, el('div', {})])));
    this.element = el(
      'article',
      {},
      places.facts,
      places.problems,
      places.cards,
      this.timeline.element(),
      places.cpus,
      this.groups.element,
      places.ends,
    );
    this.view.listeners.push((what) => {
      if (what === 'range' && !this.isMoving) onZoom();
    });
  }

  // Whether the data is of the same recording and CPUs.
  fits(data) {
    const numbers = (costs) => costs.cpus.map(({cpu}) => cpu).join();
    return data.session.uuid === this.uuid && numbers(data.costs) === numbers(this.costs);
  }

  update(data) {
    const {costs, view} = this;
    this.isMoving = true;
    costs.set(data.costs);
    this.timeline.labelCpus();
    this.timeline.showNote();
    view.past = [];
    view.a = 0;
    view.b = costs.steps;
    if (view.cursor !== null && view.cursor < view.from) view.cursor = null;
    this.showTexts(data);
    this.groups.update(data, costs);
    view.changed('range');
    this.isMoving = false;
  }

  showTexts(data) {
    const {costs, places} = this;
    const {session} = data;
    const since = ['recorded since ', el('time', {}, wall(session.start_realtime_ns).slice(0, 19) + ' UTC')];
    renew(places.facts, headingOf(session, [since, ...machine(session)]));
    renew(places.problems, problems(data));
    renew(places.cards, cards(data, costs, this.groups.select.value, false));
    renew(places.cpus, cpuTable(costs));
    renew(places.ends, uncovered(data));
  }
}

// The page: asks, and says how that goes.
class Live {
  constructor(token) {
    this.token = token;
    this.seconds = WINDOWS[0][0];
    this.asked = 0; // how often: an answer to a question before the last is none
    this.windows = WINDOWS.map(([seconds, name]) => this.button(name, () => this.choose(seconds)));
    this.pause = this.button('', () => (this.isPaused ? this.resume() : this.stop()));
    this.state = el('strong', {role: 'status'});
    this.detail = el('span', {class: 'note'});
    this.place = el('div', {});
    this.mark();
  }

  button(text, act) {
    const made = el('button', {type: 'button'}, text);
    made.addEventListener('click', act);
    return made;
  }

  controls() {
    return el('div', {class: 'controls live'}, 'The last ', ...this.windows, this.pause, this.state, this.detail);
  }

  mark() {
    this.windows.forEach((one, i) => one.setAttribute('aria-pressed', String(WINDOWS[i][0] === this.seconds)));
    this.pause.textContent = this.isPaused ? 'Go on' : 'Pause';
  }

  say(state, detail) {
    if (this.state.textContent !== state) this.state.textContent = state;
    this.detail.textContent = detail;
  }

  choose(seconds) {
    this.seconds = seconds;
    this.shown = null;
    this.resume();
  }

  // What is shown stays so.
  stop() {
    if (this.isPaused) return;
    this.isPaused = true;
    this.asked++;
    clearTimeout(this.timer);
    this.mark();
    this.say('paused', this.recording ? `at ${this.recording.costs.moment(this.recording.costs.to_ns)} UTC` : '');
  }

  resume() {
    this.isPaused = false;
    this.shown = null;
    this.mark();
    this.ask();
  }

  async ask() {
    const number = ++this.asked;
    clearTimeout(this.timer);
    try {
      if (!document.hidden) await this.look(number);
    } catch (error) {
      this.say('no figures', `the answer cannot be shown: ${error.message}.`);
    } finally {
      if (number === this.asked) this.timer = setTimeout(() => this.ask(), EVERY_MS);
    }
  }

  async look(number) {
    let answer;
    let text;
    try {
      answer = await fetch(`live.json?window=${this.seconds}`, {
        headers: {Authorization: `Bearer ${this.token}`},
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      text = await answer.text();
    } catch {
      answer = null;
    }
    if (number !== this.asked) return;
    if (!answer) this.say('no answer', 'nettape-serve does not answer; it is asked again.');
    else if (answer.status === 401)
      this.say('no answer', 'nettape-serve was started anew, with another token: open the URL that it printed.');
    else if (answer.ok) this.take(text);
    else this.say('no figures', text.trim());
  }

  take(text) {
    const {facts, live} = JSON.parse(text);
    if (live.version !== VERSION) {
      this.say('no figures', 'nettape-serve has changed: load this page again.');
      return;
    }
    const data = {...facts, ...live, selection: {process: null}};
    data.costs.source = 'live';
    // Samples are not told apart here.
    const {records_count: events, lost_count: lost} = live;
    Object.assign(data.session, {events_count: events, lost_count: lost, lost_samples_count: 0});
    const now = [facts.session.uuid, live.costs.to_ns, live.ended].join();
    // The reader is dragging: what is under the pointer stays there.
    if (this.recording?.timeline.chart.start !== undefined) return;
    if (now !== this.shown) this.show(data);
    this.shown = now;
    this.sayAge(data);
  }

  show(data) {
    const {recording} = this;
    if (!recording || !recording.fits(data)) {
      this.recording = new LiveRecording(data, () => this.stop());
      this.place.replaceChildren(this.recording.element);
      redraw([this.recording.timeline.chart]);
      document.title = `nettape live: ${clean(data.session.host).slice(0, 100)}`;
    }
    this.recording.update(data);
  }

  sayAge(data) {
    const {costs} = this.recording;
    const until = `up to ${costs.moment(costs.to_ns)} UTC`;
    const age = Math.max(0, (data.wall_ns - data.session.start_realtime_ns - costs.to_ns) / 1e9);
    if (data.ended) this.say('ended', `${until}; the next recording is shown when it comes.`);
    else this.say('live', `${until}, ${age.toFixed(1)}${GAP}s ago.`);
  }
}

function main() {
  const live = new Live(new URLSearchParams(location.search).get('token') || '');
  document
    .getElementById('page')
    .append(
      hatchings(),
      el(
        'div',
        {class: 'top'},
        el('h1', {}, 'nettape', el('span', {}, ' what the network stack costs')),
        exactSwitch(),
      ),
      live.controls(),
      live.place,
      el(
        'footer',
        {},
        'Costs of all CPUs while they are recorded. nettape-report tells latency, drops, stages and sockets.',
      ),
    );
  document.addEventListener('visibilitychange', () => !live.isPaused && live.ask());
  live.ask();
}

main();
