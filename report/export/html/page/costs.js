// SPDX-License-Identifier: GPL-2.0-only
//
// costs.js - sums of the time in the page: by owner, CPU and step. Pure: no document here.
'use strict';

// The meaning of each owner, from the bottom of the charts up: the network, time that may be the network's, the others.
const OWNERS = [
  ['net_rx', 'receiving packets (softirq NET_RX)'],
  ['net_tx', 'sending packets (softirq NET_TX)'],
  ['recv', 'processes in receive'],
  ['send', 'processes in send'],
  ['uncovered', 'records were lost'],
  ['hardirq', 'hard interrupts'],
  ['softirq', 'other softirqs'],
  ['task', 'everything else of tasks'],
  ['other', 'everything else on the CPU'],
  ['idle', 'idle'],
  ['offline', 'CPU offline'],
];

class Costs {
  constructor(costs) {
    this.origin_ns = 0; // of the start of the recording, on the clock whose times are shown
    this.set(costs);
  }

  set(costs) {
    Object.assign(this, {peak: null, peak_all: null}, costs);
    this.owners = OWNERS.map(([name]) => name).filter((name) => costs.cpus.some((cpu) => cpu.ns[name]));
  }

  // When a step begins, in ns since the start of the recording; of one past the last, the end.
  begin(step) {
    return Math.min(this.from_ns + step * this.step_ns, this.to_ns);
  }

  // A time as text; `step`: what it is a multiple of.
  moment(ns, step) {
    return moment(ns, step || this.step_ns, this.to_ns);
  }

  stepAt(ns) {
    return Math.max(0, Math.min(this.steps - 1, Math.floor((ns - this.from_ns) / this.step_ns)));
  }

  // Nanoseconds by owner on these CPUs (places in `cpus`) from step a to before step b; `all` is how long that is.
  sum(places, a, b) {
    const sums = {all: (this.begin(b) - this.begin(a)) * places.length};
    for (const owner of this.owners) {
      sums[owner] = 0;
      for (const place of places) {
        const cells = this.cpus[place].ns[owner];
        for (let step = a; cells && step < b; step++) sums[owner] += cells[step];
      }
    }
    sums.network = this.network.reduce((sum, owner) => sum + (sums[owner] || 0), 0);
    sums.there = sums.all - (sums.offline || 0);
    return sums;
  }

  everywhere() {
    return this.cpus.map((cpu, place) => place);
  }

  // The same for columns of `width` steps.
  columns(places, a, b, width) {
    const columns = [];
    for (let step = a; step < b; step += width) {
      const end = Math.min(step + width, b);
      columns.push(Object.assign(this.sum(places, step, end), {a: step, b: end}));
    }
    return columns;
  }
}

// The least of 1, 2, 5 times a power of ten that is not below n.
function nice(n) {
  const power = 10 ** Math.floor(Math.log10(n));
  for (const factor of [1, 2, 5]) {
    if (factor * power >= n * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Steps of a clock, in seconds: from half a minute on they are no powers of ten.
const CLOCK = [30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800, 86400];

// A round time, in ns, that is not below this one.
function niceTime(ns) {
  return ns <= 20e9 || ns > 86400e9 ? nice(ns) : CLOCK.find((seconds) => seconds * 1e9 >= ns) * 1e9;
}

// Round numbers from a to b, about `wanted` of them.
function ticks(a, b, wanted, round = nice) {
  const step = round((b - a) / wanted);
  const list = [];
  for (let i = Math.ceil(a / step - 1e-9); i * step <= b * (1 + 1e-12); i++) list.push(i * step);
  return {step, list};
}
