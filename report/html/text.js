// text.js - numbers and times as people read them, and elements made of them. Names on a tape can hold anything: they come
// into the page as text nodes here, and in no other way.
'use strict';

const GAP = '\u202f'; // a narrow space that does not break, between a number and its unit
const SVG = 'http://www.w3.org/2000/svg';

// "1,234,567"
function count(n) {
  return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

// Four digits: "12.35", "871.9", "3.000".
function digits(n) {
  return n >= 1000 ? count(n) : n.toFixed(n >= 99.995 ? 1 : n >= 9.9995 ? 2 : 3);
}

function scaled(n, units, base) {
  let i = 0;
  while (i + 1 < units.length && n >= base * (1 - 0.00005)) {
    n /= base;
    i++;
  }
  return (i ? digits(n) : count(n)) + GAP + units[i];
}

function duration(ns) {
  if (ns >= 600e9) return digits(ns / 60e9) + GAP + 'min';
  return scaled(ns, ['ns', '\u00b5s', 'ms', 's'], 1000);
}

function bytes(n) {
  return scaled(n, ['B', 'kB', 'MB', 'GB', 'TB', 'PB'], 1000);
}

function percent(part, whole) {
  if (!(whole > 0)) return '\u2013';
  const p = (100 * part) / whole;
  if (part > 0 && p < 0.005) return '<' + GAP + '0.01' + GAP + '%';
  return p.toFixed(2) + GAP + '%';
}

// A time since the start, with as many digits as `step` has: "4.330 s".
function moment(ns, step) {
  let places = 0;
  for (let unit = 1e9; places < 9 && step % unit !== 0; unit /= 10) places++;
  return (ns / 1e9).toFixed(places) + GAP + 's';
}

// UTC; milliseconds, for numbers of a page know no nanoseconds of a date.
function wall(ns) {
  const ms = Number(ns) / 1e6;
  if (!(ms > 0 && ms < 8e15)) return 'unknown';
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
}

// What would act on the text around it, or is not to be seen, becomes a mark that is.
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
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
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
