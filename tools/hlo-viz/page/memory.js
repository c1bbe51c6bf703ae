// Memory over the schedule: a chart of live bytes, what lies where in an allocation, and the buffers
// that are alive at the pointer.
import {byId, bytesText, element, plural} from './dom.js';
import {unpack} from './decode.js';
import {categoryColours, palette} from './theme.js';

const kMaxListed = 200;

export function addMemory(app) {
  const button = byId('toggle-memory'), pane = byId('memory-pane');
  let chart = null;
  button.hidden = !app.index.modules.some((module) => module.versions.some((version) => version.memory));
  const refresh = async () => {
    chart = null;
    if (pane.hidden) return;
    const {memory} = app.version();
    for (const id of ['memory-chart', 'memory-arena', 'memory-allocation']) byId(id).hidden = !memory;
    byId('memory-list').replaceChildren();
    byId('memory-note').textContent = memory ? '' : 'This version has no schedule to count live bytes over; the last one of a dump has.';
    if (memory) chart = new MemoryView(app, await unpack(memory));
  };
  button.addEventListener('click', () => {
    pane.hidden = !pane.hidden;
    refresh();
  });
  app.onModel = refresh;
  return {chart: () => chart};
}

// A canvas as large as its place, to be drawn in its own pixels.
function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = w * ratio;
  canvas.height = h * ratio;
  const c = canvas.getContext('2d');
  c.scale(ratio, ratio);
  c.fillStyle = palette().paper;
  c.fillRect(0, 0, w, h);
  return {c, w, h};
}

// Buffers of one place that live at the same time (a loop's state and its result) count once.
export function liveBytes(values, end) {
  const steps = new Float64Array(end + 2), places = new Map();
  for (const [, , bytes, from, to, allocation, offset] of values) {
    const key = allocation < 0 ? {} : `${allocation} ${offset} ${bytes}`;
    if (!places.has(key)) places.set(key, []);
    places.get(key).push([from, to, bytes]);
  }
  for (const spans of places.values()) {
    spans.sort((a, b) => a[0] - b[0]);
    let until = -1;
    for (const [from, to, bytes] of spans) {
      const start = Math.max(from, until + 1);
      if (to < start) continue;
      steps[start] += bytes;
      steps[to + 1] -= bytes;
      until = to;
    }
  }
  for (let t = 1; t < steps.length; ++t) steps[t] += steps[t - 1];
  return steps.subarray(0, end + 1);
}

class MemoryView {
  constructor(app, data) {
    Object.assign(this, {app, data, at: null, hot: -1});
    this.live = liveBytes(data.values, data.end);
    this.peak = this.live.reduce((most, bytes) => Math.max(most, bytes), 0);
    this.peakAt = this.live.indexOf(this.peak);
    byId('memory-note').textContent = this.note();
    this.addAllocations();
    for (const [id, hover] of [['memory-chart', (event) => this.hoverChart(event)], ['memory-arena', (event) => this.hoverArena(event)]]) {
      byId(id).onpointermove = hover;
      byId(id).onclick = () => this.follow();
    }
    this.show(this.peakAt, -1);
  }

  note() {
    const {data, live} = this, source = data.source === 'xla' ? "XLA's assignment" : 'assigned by hlokit';
    const shared = data.allocations.filter(([, purpose]) => !purpose.includes('thread-local'));
    const total = shared.reduce((sum, [bytes]) => sum + bytes, 0);
    return `${source}: peak ${bytesText(this.peak)} at step ${this.peakAt} of ${live.length}, ` +
      `${plural(data.values.length, 'buffer')}` + (total > 0 ? `, ${bytesText(total)} in ${plural(shared.length, 'allocation')}` : '');
  }

  // The allocation with most buffers is looked at first.
  addAllocations() {
    const {allocations, values} = this.data, counts = allocations.map(() => 0);
    for (const value of values) if (value[5] >= 0) ++counts[value[5]];
    const order = [...allocations.keys()].filter((a) => counts[a] > 0).sort((a, b) => allocations[b][0] - allocations[a][0]).slice(0, 500);
    const select = byId('memory-allocation');
    select.replaceChildren(...order.map((a) => element('option', {value: a},
      `allocation ${a}: ${bytesText(allocations[a][0])}, ${plural(counts[a], 'buffer')}, ${allocations[a][1]}`.slice(0, 120))));
    select.hidden = order.length === 0;
    this.allocation = order.reduce((best, a) => (best < 0 || counts[a] > counts[best] ? a : best), -1);
    select.value = this.allocation;
    select.onchange = () => {
      this.allocation = Number(select.value);
      this.show(this.at, -1);
    };
  }

  stepOf(event) {
    const rect = event.target.getBoundingClientRect();
    return Math.min(Math.max(Math.floor((event.clientX - rect.left) / rect.width * this.live.length), 0), this.live.length - 1);
  }
  hoverChart(event) { this.show(this.stepOf(event), -1); }
  hoverArena(event) {
    const rect = event.target.getBoundingClientRect(), at = this.stepOf(event);
    const place = (event.clientY - rect.top) / rect.height * this.size();
    this.show(at, this.data.values.findIndex(([, , bytes, from, to, allocation, offset]) =>
      allocation === this.allocation && from <= at && at <= to && offset <= place && place < offset + bytes));
  }
  follow() {
    const [i] = this.hot >= 0 ? this.data.values[this.hot] : [this.data.steps[this.at]];
    if (i >= 0) this.app.go(i);
  }
  size() { return Math.max(1, this.allocation < 0 ? 1 : this.data.allocations[this.allocation][0]); }

  show(at, hot) {
    Object.assign(this, {at, hot});
    this.drawChart();
    this.drawArena();
    this.list();
  }

  drawChart() {
    const {c, w, h} = prepare(byId('memory-chart')), {live} = this, top = 4;
    c.beginPath();
    c.moveTo(0, h);
    for (let x = 0; x <= w; ++x) c.lineTo(x, h - (h - top) * this.mostIn(x / w, (x + 1) / w) / Math.max(1, this.peak));
    c.lineTo(w, h);
    c.fillStyle = categoryColours(0).fill;
    c.fill();
    this.cursor(c, w, h, live.length);
  }
  cursor(c, w, h, steps) {
    if (this.at === null) return;
    c.strokeStyle = palette().to;
    c.strokeRect((this.at + 0.5) / steps * w, 0, 0.5, h);
  }
  mostIn(from, to) {
    const {live} = this, end = Math.min(live.length, Math.max(Math.ceil(to * live.length), Math.floor(from * live.length) + 1));
    let most = 0;
    for (let t = Math.floor(from * live.length); t < end; ++t) most = Math.max(most, live[t]);
    return most;
  }

  // Time goes right, offsets go down.
  drawArena() {
    const {c, w, h} = prepare(byId('memory-arena')), colours = palette(), steps = this.live.length;
    c.font = '11px system-ui, sans-serif';
    this.data.values.forEach(([i, name, bytes, from, to, allocation, offset], k) => {
      if (allocation !== this.allocation) return;
      const x = from / steps * w, y = offset / this.size() * h;
      const wide = Math.max((to + 1 - from) / steps * w, 1), high = Math.max(bytes / this.size() * h, 1);
      const look = categoryColours(i >= 0 ? i : k);
      c.fillStyle = look.fill;
      c.fillRect(x, y, wide, high);
      c.strokeStyle = k === this.hot ? colours.select : look.stroke;
      c.lineWidth = k === this.hot ? 2.5 : 0.5;
      c.strokeRect(x, y, wide, high);
      if (high < 13 || wide < 40) return;
      c.save();
      c.beginPath();
      c.rect(x, y, wide, high);
      c.clip();
      c.fillStyle = look.text;
      c.fillText(bare(name), x + 3, y + Math.min(high / 2 + 4, 14));
      c.restore();
    });
    this.cursor(c, w, h, steps);
  }

  list() {
    const {model} = this.app, {values, steps, report} = this.data, {at} = this;
    const alive = values.map((value, k) => [k, ...value]).filter(([, , , , from, to]) => from <= at && at <= to).sort((a, b) => b[3] - a[3]);
    const first = alive.findIndex(([k]) => k === this.hot);
    if (first > 0) alive.unshift(...alive.splice(first, 1));
    const running = steps[at] >= 0 ? `, ${model.names[steps[at]]}` : '';
    byId('memory-list').replaceChildren(
      element('div', {class: 'hint'}, `step ${at}${running}: ${bytesText(this.live[at] || 0)} in ${plural(alive.length, 'buffer')}`),
      ...alive.slice(0, kMaxListed).map((row) => this.row(row)),
      ...(report.trim() ? [element('details', {}, element('summary', {}, "XLA's memory usage report"), element('pre', {}, report))] : []));
  }
  row([k, i, name, bytes, from, to, allocation, offset]) {
    const {model} = this.app, known = i >= 0, source = known ? model.sourceFrames(i)[0] || model.opName(i) : '';
    return element('div', {class: k === this.hot ? 'memory-row hot' : 'memory-row', title: known ? model.instructionText(i).slice(0, 600) : name},
      element('b', {}, bytesText(bytes)), ' ', known ? element('a', {onclick: () => this.app.go(i)}, bare(name)) : bare(name),
      element('span', {class: 'aside'}, `${known ? model.shapeText(i).slice(0, 40) : ''} ${allocation >= 0 ? `@${allocation}+${offset}` : ''} ${from}–${to} ${source}`));
  }
}
// A plain array needs no index.
const bare = (name) => name.replace(/\{\}$/, '');
// SPDX-License-Identifier: Apache-2.0
