// Live bytes over the schedule: a chart, and below the pointer the buffers that are alive.
import {byId, bytesText, element} from './dom.js';
import {unpack} from './decode.js';
import {palette, categoryColours} from './theme.js';

const kMostBuffers = 40;

export function addMemory(app) {
  const button = byId('toggle-memory'), pane = byId('memory-pane');
  let data = null, chart = null;
  const available = () => app.version().memory;
  button.hidden = !app.index.modules.some((module) => module.versions.some((version) => version.memory));
  button.addEventListener('click', async () => {
    pane.hidden = !pane.hidden;
    if (pane.hidden) return;
    const id = available();
    if (!id) {
      byId('memory-note').textContent = 'This version has no schedule to count live bytes over; the last one of a dump has.';
      return;
    }
    data = await unpack(id);
    chart = new MemoryChart(app, data);
    chart.draw();
  });
  return {chart: () => chart};
}

class MemoryChart {
  constructor(app, data) {
    this.app = app;
    this.data = data;  // {end, values: [[instruction, leaf, bytes, begin, end, kind], ...]}
    this.canvas = byId('memory-chart');
    this.live = this.sums();
    this.canvas.onpointermove = (event) => this.hover(event);
    this.canvas.onclick = () => this.rows && this.rows.length > 0 && app.go(this.rows[0][0]);
    byId('memory-note').textContent = `peak ${bytesText(Math.max(...this.live))} of ${plainCount(data.values.length)} buffers over ${plainCount(data.end)} steps`;
  }
  // Live bytes at each time.
  sums() {
    const steps = new Float64Array(this.data.end + 2);
    for (const [, , bytes, begin, end] of this.data.values) {
      steps[begin] += bytes;
      steps[end + 1] -= bytes;
    }
    for (let t = 1; t < steps.length; ++t) steps[t] += steps[t - 1];
    return steps.subarray(0, this.data.end + 1);
  }
  draw(at) {
    const {canvas, live} = this, ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    canvas.width = w * ratio;
    canvas.height = h * ratio;
    const c = canvas.getContext('2d'), most = Math.max(1, ...live), colours = palette();
    c.scale(ratio, ratio);
    c.fillStyle = colours.paper;
    c.fillRect(0, 0, w, h);
    c.beginPath();
    c.moveTo(0, h);
    for (let x = 0; x <= w; ++x) c.lineTo(x, h - (h - 14) * this.peakIn(x / w, (x + 1) / w) / most);
    c.lineTo(w, h);
    c.fillStyle = categoryColours(0).fill;
    c.fill();
    if (at === undefined) return;
    c.strokeStyle = colours.to;
    c.strokeRect(at / Math.max(1, live.length - 1) * w, 0, 0.5, h);
  }
  peakIn(from, to) {
    const last = this.live.length - 1;
    let most = 0;
    for (let t = Math.floor(from * last); t <= Math.min(last, Math.floor(to * last)); ++t) most = Math.max(most, this.live[t]);
    return most;
  }
  hover(event) {
    const rect = this.canvas.getBoundingClientRect();
    const at = Math.round((event.clientX - rect.left) / rect.width * (this.live.length - 1));
    this.rows = this.data.values.filter(([, , , begin, end]) => begin <= at && at <= end).sort((a, b) => b[2] - a[2]);
    const {model} = this.app;
    byId('memory-list').replaceChildren(
      element('div', {class: 'aside'}, `step ${at}: ${bytesText(this.live[at] || 0)} in ${this.rows.length} buffers`),
      ...this.rows.slice(0, kMostBuffers).map(([i, leaf, bytes, begin, end, kind]) => element('div', {class: 'memory-row'},
        element('b', {}, bytesText(bytes)), ' ', element('a', {onclick: () => this.app.go(i)}, model.names[i] + (leaf ? `{${leaf}}` : '')),
        element('span', {class: 'aside'}, ` ${model.shapeText(i).slice(0, 40)} ${kind} ${begin}–${end} ${model.sourceFrames(i)[0] || ''}`))));
    this.draw(at);
  }
}
const plainCount = (n) => n.toLocaleString('en');
// SPDX-License-Identifier: Apache-2.0
