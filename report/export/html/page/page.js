// SPDX-License-Identifier: GPL-2.0-only
//
// page.js - what reports and the live page have besides charts, tables and answers.
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
