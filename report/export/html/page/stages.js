// SPDX-License-Identifier: GPL-2.0-only
//
// stages.js - the stages of each owner's time, from stack samples: a table for each owner. A bar shows the share, a
// line in it the bounds. The address families of a stage are one row, which unfolds.
'use strict';

const SLIGHT = 0.005; // of the time of all owners

// The share as a bar, in the owner's colour; as long as it can be, it is all of the owner's time.
function stageBar(stage, owner) {
  const at = (ns) => (owner.spent_ns > 0 ? (100 * ns) / owner.spent_ns : 0);
  const part = el('span', {class: `bar-part of-${stage.owner}`});
  const range = el('span', {class: 'bar-range'});
  part.style.width = `${at(stage.spent_ns)}%`;
  range.style.left = `${at(stage.low_ns)}%`;
  range.style.width = `${at(stage.high_ns - stage.low_ns)}%`;
  return el('span', {class: 'bar ranged', 'aria-hidden': 'true'}, part, range);
}

function samplesOf(owner) {
  const due = owner.samples_due === null ? '' : ` of ${count(owner.samples_due)} due`;
  return `${plural(owner.samples, 'sample', 'samples')}${due}`;
}

function stageRow(owner, stage, first) {
  return [
    first,
    stage.spent_ns,
    el('span', {class: 'share'}, percent(stage.spent_ns, owner.spent_ns), stageBar(stage, owner)),
    el('small', {}, `${percent(stage.low_ns, owner.spent_ns)} \u2013 ${percent(stage.high_ns, owner.spent_ns)}`),
    stage.samples,
  ];
}

const familyOf = (stage) => (stage.family === null ? 'family not known' : stage.family);

// A stage, and below it its families if it has several. Gives the rows of a table and, of each, the button that unfolds
// it.
function stageRows(owner, merged, single) {
  const of = single.filter((one) => one.stage === merged.stage);
  if (of.length === 1) {
    const family = of[0].family === null ? null : el('small', {}, ` ${clean(of[0].family)}`);
    return [{row: stageRow(owner, merged, el('span', {}, named(merged.stage), family))}];
  }
  const button = el('button', {type: 'button', class: 'unfold', 'aria-expanded': 'false'}, named(merged.stage));
  return [
    {row: stageRow(owner, merged, button), button, families: of.length},
    ...of.map((one) => ({row: stageRow(owner, one, el('small', {class: 'family'}, named(familyOf(one))))})),
  ];
}

// Lets each button show and hide the rows after its own.
function makeUnfold(made, rows) {
  const lines = [...made.querySelectorAll('tbody tr')];
  rows.forEach(({button, families}, i) => {
    if (!button) return;
    const below = lines.slice(i + 1, i + 1 + families);
    const show = (isOpen) => {
      button.setAttribute('aria-expanded', String(isOpen));
      below.forEach((line) => (line.hidden = !isOpen));
    };
    button.addEventListener('click', () => show(button.getAttribute('aria-expanded') === 'false'));
    show(false);
  });
}

// Owners with next to no time, or no sample: their stages tell little, and are folded.
function isSlight(owner, owners) {
  return !owner.samples || owner.spent_ns < SLIGHT * sum(owners.map((one) => one.spent_ns));
}

function slightOwner(owner, made) {
  const text = `${owner.owner}: ${duration(owner.spent_ns)}, ${samplesOf(owner)}`;
  return el('details', {class: 'slight'}, el('summary', {}, text), made);
}

function ownerStages(owner, merged, single) {
  const rows = merged.flatMap((stage) => stageRows(owner, stage, single));
  const [, text] = OWNERS.find(([name]) => name === owner.owner);
  const made = table(
    `Stages of ${owner.owner}`,
    ['stage', 'time_ns', 'of owner_share', 'between_share', 'samples_count'],
    rows.map((one) => one.row),
  );
  makeUnfold(made, rows);
  return el(
    'div',
    {class: 'stages-of', 'data-owner': owner.owner},
    el('h4', {}, `${owner.owner}: ${text}`),
    el('p', {class: 'note'}, figure(duration(owner.spent_ns), `${count(owner.spent_ns)} ns`), `, ${samplesOf(owner)}`),
    made,
  );
}

// The owners with too few samples, and the meaning of the shares then.
function tooFew(owners) {
  const short = owners.filter((owner) => owner.too_few);
  if (!short.length) return null;
  const named = short.map(
    (owner) =>
      `${owner.owner} has ${count(owner.samples)} of ${count(owner.samples_due)} due ` +
      `(${percent(owner.samples, owner.samples_due)})`,
  );
  return el(
    'p',
    {class: 'banner few'},
    `Too few samples: ${named.join(', ')}. Clock ticks were skipped or lost, as in a virtual machine whose CPUs are ` +
      'often idle. Or they came late, where interrupts were off, and sampled the next owner. ' +
      'The bounds do not cover time that was not sampled.',
  );
}

function stages(data) {
  if (!data.stages || !data.stages.stages.length) return null;
  const {owners, stages} = data.stages;
  const of = (owner, list) => list.filter((stage) => stage.owner === owner.owner);
  const made = (owner) => ownerStages(owner, of(owner, data.merged_stages), of(owner, stages));
  const whose =
    data.selection.process === null ? '' : ' Softirqs in the time of this process may have worked for others.';
  return el(
    'section',
    {class: 'stages'},
    el('h3', {}, 'Stages of the network stack'),
    el(
      'p',
      {class: 'note'},
      "Each owner's time is exact, and its stages sum to it. The shares come from samples of the kernel's stacks: " +
        'with 95\u202f% confidence each lies in the range beside it, which is the line in its bar. A full bar is ' +
        "100\u202f% of the owner's time. A stage with several address families unfolds." +
        whose,
    ),
    tooFew(owners),
    el('div', {class: 'stages-all'}, ...owners.filter((owner) => !isSlight(owner, owners)).map(made)),
    ...owners.filter((owner) => isSlight(owner, owners)).map((owner) => slightOwner(owner, made(owner))),
  );
}
