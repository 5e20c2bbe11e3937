// SPDX-License-Identifier: GPL-2.0-only
//
// text.js - numbers and times as people read them, and elements made of them. Names on a tape can hold anything: they
// come into the page as text nodes here, and in no other way.
'use strict';

const GAP = '\u202f'; // a narrow space that does not break, between a number and its unit
const SVG = 'http://www.w3.org/2000/svg';

// "1,234,567"
function count(n) {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

// Four digits in the greatest unit that fits, the rest cut off, as nettape-report prints them: "12.34 ms", "3.000 s".
function scaled(n, units) {
  let size = 1;
  let i = 0;
  for (; i + 1 < units.length && n >= size * 1000; i++) size *= 1000;
  const whole = Math.floor(n / size);
  const milli = String(Math.floor(((n % size) * 1000) / size)).padStart(3, '0');
  const places = whole < 10 ? 3 : whole < 100 ? 2 : 1;
  return count(whole) + (i ? '.' + milli.slice(0, places) : '') + GAP + units[i];
}

function duration(ns) {
  return scaled(ns, ['ns', '\u00b5s', 'ms', 's']);
}

// The same without zeros at the end, for what is round: "5 ms".
function roundDuration(ns) {
  return duration(ns).replace(/\.0+(?=\D)|(\.\d*[1-9])0+(?=\D)/, '$1');
}

function bytes(n) {
  return scaled(n, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']);
}

function energy(uj) {
  return scaled(uj, ['\u00b5J', 'mJ', 'J', 'kJ', 'MJ']);
}

function percent(part, whole) {
  if (!(whole > 0)) return '\u2013';
  const p = (100 * part) / whole;
  if (part > 0 && p < 0.005) return '<' + GAP + '0.01' + GAP + '%';
  return p.toFixed(2) + GAP + '%';
}

// A time since the start, with as many digits as `step` has, in a unit that suits the `longest` there is: "4.330 s",
// "1:02:10".
function moment(ns, step, longest) {
  const [unit, name] = longest < 1e7 ? [1e3, '\u00b5s'] : longest < 2e9 ? [1e6, 'ms'] : [1e9, 's'];
  let places = 0;
  for (let size = unit; size > 1 && step % size > size * 1e-6; size /= 10) places++;
  return longest < 600e9 ? (ns / unit).toFixed(places) + GAP + name : clock(ns, places);
}

// Hours, minutes and seconds.
function clock(ns, places) {
  const minutes = Math.floor(ns / 60e9);
  const seconds = ((ns - minutes * 60e9) / 1e9).toFixed(places).padStart(places ? places + 3 : 2, '0');
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${seconds}`;
}

// UTC; milliseconds, for numbers of a page know no nanoseconds of a date.
function wall(ns) {
  const ms = Number(ns) / 1e6;
  if (!(ms > 0 && ms < 8e15)) return 'unknown';
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
}

// A character that would act on the text around it, or is invisible, becomes a visible mark.
function clean(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '\ufffd');
}

// An element: el('p', {class: 'note'}, 'text', child, ...). Strings become text, never markup.
function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A name of the tape: set apart from the text around it, whatever direction it is written in.
function named(text) {
  return el('bdi', {class: 'name'}, clean(text));
}

// A figure twice, for people and exactly; the page shows one of them.
function figure(human, exact) {
  if (human === exact) return el('span', {}, human);
  return el('span', {}, el('span', {class: 'human'}, human), el('span', {class: 'exact'}, exact));
}

const sum = (list) => list.reduce((total, one) => total + one, 0);
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;
