// The module's text, coloured, with links. Only the lines in sight are in the document.
import {element} from './dom.js';

const kLine = 18;
const kToken = /(%?[\w.\-]+)(?=\s*=\s)|("(?:[^"\\]|\\.)*")|(%[\w.\-]+)|\b([a-z]+\d*[a-z0-9]*\[[^\]]*\](?:\{[^}]*\})?)|\b([\w-]+)(?==)|\b([a-z][a-z0-9-]*)(?=\()|(\/\*.*?\*\/)/g;
const kClasses = ['def', 'str', 'ref', 'shape', 'attr', 'opc', 'note'];
const kMaxPerLine = 4000;

// Nodes for a line: what names instructions and computations are links.
export function colouredLine(line, model) {
  const shown = line.length > kMaxPerLine ? line.slice(0, kMaxPerLine) + ' …' : line;
  const nodes = [];
  let last = 0;
  for (const match of shown.matchAll(kToken)) {
    if (match.index > last) nodes.push(shown.slice(last, match.index));
    const kind = match.slice(1).findIndex((group) => group !== undefined);
    const name = match[0].replace(/^%/, '');
    const linked = (kind === 0 || kind === 2 || kind === 5) && kind !== 5 && (model.byName.has(name) || isComputation(model, name));
    nodes.push(element(linked ? 'a' : 'span', {class: 'hlo-' + kClasses[kind], 'data-name': linked ? name : null}, match[0]));
    last = match.index + match[0].length;
  }
  nodes.push(shown.slice(last));
  return nodes;
}
function isComputation(model, name) {
  model.compByName ||= new Map(model.comps.map((comp, c) => [comp.n, c]));
  return model.compByName.has(name);
}

export class TextView {
  constructor(host, onName, onLine) {
    this.host = host;
    this.sizer = element('div', {class: 'text-sizer'});
    this.lines = element('div', {class: 'text-lines'});
    this.sizer.append(this.lines);
    host.append(this.sizer);
    host.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(host);
    host.addEventListener('click', (event) => {
      const name = event.target.dataset.name, row = event.target.closest('[data-line]');
      if (name) onName(name);
      else if (row) onLine(Number(row.dataset.line));
    });
  }
  setModel(model) {
    this.model = model;
    this.marked = -1;
    this.first = -1;
    this.draw();
  }
  mark(line) {
    this.marked = line;
    this.first = -1;
    this.draw();
  }
  show(line) {
    this.mark(line);
    this.sizer.style.height = this.model.lineStarts.length * kLine + 'px';
    this.host.scrollTop = Math.max(0, line * kLine - this.host.clientHeight / 3);
    this.draw();
  }
  draw() {
    if (!this.model || this.host.clientHeight === 0) return;
    this.sizer.style.height = this.model.lineStarts.length * kLine + 'px';
    const first = Math.max(0, Math.floor(this.host.scrollTop / kLine) - 10);
    const count = Math.ceil(this.host.clientHeight / kLine) + 20;
    if (first === this.first && count === this.count) return;
    Object.assign(this, {first, count});
    const rows = [];
    for (let line = first; line < Math.min(first + count, this.model.lineStarts.length); ++line)
      rows.push(element('div', {class: 'text-line' + (line === this.marked ? ' marked' : ''), 'data-line': line},
                        element('span', {class: 'text-number'}, String(line + 1)),
                        ...colouredLine(this.model.lineText(line), this.model)));
    this.lines.style.transform = `translateY(${first * kLine}px)`;
    this.lines.replaceChildren(...rows);
  }
}
// SPDX-License-Identifier: Apache-2.0
