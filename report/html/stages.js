// SPDX-License-Identifier: GPL-2.0-only
//
// stages.js - what each network owner's time was spent on, as stack samples tell: a table for each owner, whose bars show the
// share, and a line from the least to the most that it is.
'use strict';

// The share as a bar, in the owner's colour; `most` is as long as a bar can be.
function stageBar(stage, most) {
  const at = (ns) => (most > 0 ? (100 * ns) / most : 0);
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

function ownerStages(owner, stages) {
  const most = Math.max(...stages.map((stage) => stage.high_ns));
  const rows = stages.map((stage) => [
    stage.stage,
    stage.family,
    stage.spent_ns,
    el('span', {class: 'share'}, percent(stage.spent_ns, owner.spent_ns), stageBar(stage, most)),
    el('small', {}, `${percent(stage.low_ns, owner.spent_ns)} \u2013 ${percent(stage.high_ns, owner.spent_ns)}`),
    stage.samples,
  ]);
  const [, text] = OWNERS.find(([name]) => name === owner.owner);
  return el(
    'div',
    {class: 'stages-of', 'data-owner': owner.owner},
    el('h4', {}, `${owner.owner}: ${text}`),
    el('p', {class: 'note'}, figure(duration(owner.spent_ns), `${count(owner.spent_ns)} ns`), `, ${samplesOf(owner)}`),
    table(
      `What the time of ${owner.owner} was spent on`,
      ['stage', 'family', 'time_ns', 'of owner_share', 'between_share', 'samples_count'],
      rows,
    ),
  );
}

// Who has too few samples, and what the shares then mean.
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
    `Too few samples: ${named.join(', ')}. Ticks of the clock were left out or lost, as in a virtual machine ` +
      'whose CPUs are often idle, or came late, where interrupts are off, and met whoever came next. Shares stand for ' +
      'what was sampled; what was not, the bounds do not cover.',
  );
}

function stages(data) {
  if (!data.stages || !data.stages.stages.length) return null;
  const {owners, stages} = data.stages;
  const whose =
    data.selection.process === null ? '' : ' What softirqs did in the time of this process may have been for others.';
  return el(
    'section',
    {class: 'stages'},
    el('h3', {}, 'What the time was spent on'),
    el(
      'p',
      {class: 'note'},
      "Each owner's time is exact, and its stages sum to it; what it was spent on is as sure as samples of the kernel's " +
        'stacks make it: with 95\u202f% a share lies in the range beside it, which is the line in its bar.' +
        whose,
    ),
    tooFew(owners),
    el(
      'div',
      {class: 'stages-all'},
      ...owners.map((owner) =>
        ownerStages(
          owner,
          stages.filter((stage) => stage.owner === owner.owner),
        ),
      ),
    ),
  );
}
