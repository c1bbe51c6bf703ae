// Small helpers for elements, and numbers as people read them.

export const byId = (id) => document.getElementById(id);

// An element with attributes (`on*` are listeners, `class` a class) and children (texts or nodes).
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

function scaled(value, step, units) {
  let unit = 0;
  while (value >= step && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return (unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)) + units[unit];
}

export const countText = (n) => scaled(n, 1000, ['', 'k', 'M', 'G', 'T', 'P', 'E']);
export const flopText = (n) => countText(n) + ' flop';
export const bytesText = (n) => scaled(n, 1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB']);

export function secondsText(s) {
  if (s >= 1) return s.toFixed(2) + ' s';
  return s >= 1e-3 ? (s * 1e3).toFixed(2) + ' ms' : (s * 1e6).toFixed(1) + ' µs';
}

export const plural = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`;
// SPDX-License-Identifier: Apache-2.0
