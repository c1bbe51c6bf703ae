// What colours the nodes: the opcode's class, or a measure or category of one's choice.
import {countText, bytesText, flopText, secondsText} from './dom.js';
import {categoryColours, heatColours, kLookMeanings, lookColours, palette} from './theme.js';

const kLargeElements = 4096;
export const kOverlays = ['opcode', 'time', 'flops', 'bytes', 'sharding', 'op_name', 'memory space', 'changes'];

export function elementCount(shape) {
  const dims = /^[a-z0-9]+\[([^\]]*)\]/.exec(shape);
  if (!dims) return 0;
  return dims[1] === '' ? 1 : dims[1].split(',').reduce((n, d) => n * parseInt(d.replace('<=', ''), 10), 1);
}

function opcodeLook(model, i) {
  if (model.opcode(i) !== 'parameter') return model.looks[model.op[i]];
  return elementCount(model.shapeText(i)) >= kLargeElements ? 5 : 4;
}

export class Overlay {
  constructor(model, kind) {
    this.model = model;
    this.kind = kind;
    this.numbers = new Map();  // category text -> number
    const key = {time: 'time', flops: 'flops', bytes: 'bytes'}[kind];
    if (key) this.measure(key);
  }

  // The scale is of single instructions for instructions, of the whole module for scopes.
  measure(key) {
    this.key = key;
    const {model} = this;
    const of = key === 'time' ? model.timeOf : model[key];
    this.most = 0;
    for (let i = 0; i < model.size; ++i) if (!model.runsBodies(i)) this.most = Math.max(this.most, of[i]);
    this.total = model.entry >= 0 ? model.totals(model.size + model.comps[model.entry].s)[key] : 0;
  }

  category(text) {
    if (!this.numbers.has(text)) this.numbers.set(text, this.numbers.size);
    return categoryColours(this.numbers.get(text));
  }

  // {fill, stroke, text} of an instruction's node.
  colours(i) {
    const {model} = this;
    if (this.key) {
      const value = model.totals(i)[this.key];
      return heatColours(value / ((model.runsBodies(i) ? this.total : this.most) || 1));
    }
    if (this.kind === 'sharding' && model.shardingOf[i] >= 0)
      return this.category(model.shardings[model.shardingOf[i]]);
    if (this.kind === 'op_name') return this.category(model.scopeLabel(model.size + model.scope[i]));
    if (this.kind === 'memory space') return this.category(String(model.spaceOf[i]));
    if (this.kind === 'changes') return this.changeColours(i);
    if (this.kind !== 'opcode') return lookColours(0);
    return lookColours(opcodeLook(model, i));
  }
  changeColours(i) {
    const base = lookColours(0), state = this.model.stateOf[i];
    const mark = state === 1 ? palette().added : state === 2 ? palette().changed : null;
    return mark ? {fill: mark, stroke: mark, text: '#ffffff'} : base;
  }

  // [{text, fill, stroke}]: what the colours mean.
  legend() {
    if (this.kind === 'changes') return this.changeLegend();
    if (this.key) {
      const text = {time: secondsText, flops: flopText, bytes: bytesText}[this.key];
      const scopes = (share) => (share > 0 && this.hasScopes() ? `; of a scope ${100 * share} % of all` : '');
      return [0, 0.1, 0.4, 1].map((share) => ({...heatColours(share), text: text(share * this.most) + scopes(share)}));
    }
    if (this.kind !== 'opcode')
      return [...this.numbers].slice(0, 12).map(([text, k]) => ({...categoryColours(k), text}));
    const present = new Set(this.model.looks);
    return [...present].sort((a, b) => a - b).map((look) => ({...lookColours(look), text: kLookMeanings[look]}));
  }
  changeLegend() {
    const {added, changed, removed, paper} = palette();
    return [{text: 'added', fill: added, stroke: added}, {text: 'changed', fill: changed, stroke: changed},
            {text: 'removed', fill: paper, stroke: removed}];
  }

  hasScopes() { return this.model.scopes.some(([parent]) => parent >= 0); }

  // A line of text for an item, or ''.
  note(item) {
    if (!this.key) return '';
    const value = this.model.totals(item)[this.key];
    const text = {time: secondsText, flops: flopText, bytes: bytesText}[this.key](value);
    return this.total > 0 && value > 0 ? `${text} (${(100 * value / this.total).toFixed(1)} %)` : text;
  }
  heat(item) {
    return this.key ? heatColours(this.model.totals(item)[this.key] / (this.total || 1)) : null;
  }
}

// [{look, share}] of a scope's instructions by class, largest first; constants and the like left out.
export function composition(model, scope) {
  const counts = new Map();
  const open = [scope];
  let total = 0;
  while (open.length > 0) {
    const s = open.pop();
    for (const i of model.scopeMembers[s]) {
      const opcode = model.opcode(i);
      if (opcode === 'constant' || opcode === 'get-tuple-element') continue;
      const look = opcodeLook(model, i);
      counts.set(look, (counts.get(look) || 0) + 1);
      ++total;
    }
    open.push(...model.scopeChildren[s]);
  }
  return [...counts].map(([look, count]) => ({look, share: count / total})).sort((a, b) => a.look - b.look);
}

// `10 dot, 6 reduce`: the opcodes that tell what a scope is for.
export function tellingOpcodes(model, scope, most = 3) {
  const counts = new Map(), open = [scope];
  while (open.length > 0) {
    const s = open.pop();
    for (const i of model.scopeMembers[s])
      if ([1, 2, 3, 7, 9].includes(model.looks[model.op[i]]))
        counts.set(model.opcode(i), (counts.get(model.opcode(i)) || 0) + 1);
    open.push(...model.scopeChildren[s]);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, most).map(([op, n]) => `${countText(n)} ${op}`).join(', ');
}
// SPDX-License-Identifier: Apache-2.0
