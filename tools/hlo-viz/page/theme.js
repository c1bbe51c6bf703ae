// Colours: XLA's by class of opcode, their counterparts in the dark, and scales for overlays.

const kLight = {
  paper: '#ffffff', ink: '#1f2328', faint: '#6b7280', box: '#f6f8fa', inner: 'rgba(120,144,156,0.07)',
  line: '#b0bec5', edge: '#90a4ae', select: '#0b57d0', from: '#1976d2', to: '#d32f2f', hit: '#f9a825',
  added: '#2e7d32', changed: '#f57f17', removed: '#c62828',
};
const kDark = {
  paper: '#0d1117', ink: '#e6edf3', faint: '#8b949e', box: '#161b22', inner: 'rgba(144,164,174,0.06)',
  line: '#3d4752', edge: '#56636f', select: '#58a6ff', from: '#58a6ff', to: '#ff7b72', hit: '#e3b341',
  added: '#3fb950', changed: '#d29922', removed: '#f85149',
};
// By the numbers that hlo-viz gives classes: fill, stroke, text; then the same for the dark.
const kLooks = [
  ['#ffffff', '#9e9e9e', '#1f2328', '#21262d', '#5a6572', '#e6edf3'],
  ['#bcaaa4', '#8c7b75', '#1f2328', '#5d4a43', '#8d736a', '#f3ebe8'],
  ['#1565c0', '#003c8f', '#ffffff', '#1565c0', '#5c9ce6', '#ffffff'],
  ['#2e7d32', '#005005', '#ffffff', '#2e7d32', '#62b266', '#ffffff'],
  ['#ffe0b2', '#cbae82', '#1f2328', '#5a4526', '#a5814a', '#f6e7cf'],
  ['#ffb74d', '#c88719', '#1f2328', '#7a4f10', '#d0913a', '#fff0da'],
  ['#b71c1c', '#7f0000', '#ffffff', '#b71c1c', '#ff6b6b', '#ffffff'],
  ['#cfd8dc', '#9ea7aa', '#1f2328', '#37474f', '#78909c', '#eceff1'],
  ['#c8e6c9', '#97b498', '#1f2328', '#24472a', '#5b8f63', '#dff3e0'],
  ['#e1bee7', '#af8eb5', '#1f2328', '#4a2d55', '#9b6fae', '#f3e3f7'],
  ['#fff9c4', '#cbc693', '#1f2328', '#4f4a1f', '#9d9550', '#fbf7d0'],
];
// What each class holds, for legends.
export const kLookMeanings = ['elementwise and others', 'collectives, host transfers', 'dot, convolution, solvers', 'calls, loops, branches',
  'small parameter', 'large parameter', 'highlighted', 'fusion', 'moves data', 'reduces, gathers, scatters', 'broadcast, update in place'];
const kCategories = ['#90caf9', '#ffab91', '#a5d6a7', '#ce93d8', '#fff176', '#80cbc4', '#f48fb1',
  '#bcaaa4', '#9fa8da', '#dce775', '#ffcc80', '#81d4fa'];

let dark = false;
export const setDark = (on) => { dark = on; };
export const isDark = () => dark;
export const palette = () => (dark ? kDark : kLight);

export function lookColours(look) {
  const row = kLooks[look] || kLooks[0];
  return dark ? {fill: row[3], stroke: row[4], text: row[5]} : {fill: row[0], stroke: row[1], text: row[2]};
}

export function categoryColours(k) {
  return {fill: kCategories[k % kCategories.length], stroke: dark ? '#c9d1d9' : '#607d8b', text: '#1f2328'};
}

// From pale to red; `share` from 0 to 1.
export function heatColours(share) {
  const t = Math.sqrt(Math.min(Math.max(share || 0, 0), 1));
  const mix = (a, b) => Math.round(a + (b - a) * t);
  const cold = dark ? [38, 44, 52] : [245, 245, 245];
  const fill = `rgb(${mix(cold[0], 255)},${mix(cold[1], 45)},${mix(cold[2], 0)})`;
  return {fill, stroke: dark ? '#5a6572' : '#bdbdbd', text: dark || t > 0.8 ? '#ffffff' : '#1f2328'};
}
// SPDX-License-Identifier: Apache-2.0
