// What is on the canvas: boxes and edges with absolute places, made from the scopes that are open.
import {composition, tellingOpcodes} from './overlay.js';
import {countText, flopText, bytesText} from './dom.js';
import {textWidth} from './measure.js';

const kHeaderBytes = 80;
export const kDeepest = 60;  // boxes in boxes; what is deeper stays closed
export const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);

// Lines of a closed box: {title, lines, bars}.
export class Faces {
  constructor(model, overlay) {
    this.model = model;
    this.overlay = overlay;
    this.cache = new Map();
  }
  of(item) {
    if (!this.cache.has(item)) this.cache.set(item, this.make(item));
    return this.cache.get(item);
  }
  make(item) {
    const {model} = this;
    const face = model.isGhost(item) ? this.ghostFace(item) : model.isScope(item) ? this.scopeFace(item) : this.instructionFace(item);
    const note = face.ghost ? '' : this.overlay.note(item);
    if (note) face.lines.push(note);
    const width = Math.max(textWidth(face.title, true), ...face.lines.map((line) => textWidth(line, false)));
    face.w = Math.min(Math.max(width + 24, 72), 420);
    face.h = 14 + 16 * (1 + face.lines.length) + (face.bars ? 10 : 0);
    return face;
  }
  // What an open box says on top: `while.3 ×50 · 12 instr · 3.4k flop`.
  header(item) {
    const {model} = this, total = model.totals(item), count = model.isScope(item) ? total.count : total.inside;
    const trips = model.tripsOf.has(item) ? ` ×${model.tripsOf.get(item)}` : '';
    return cut(model.label(item), kHeaderBytes) + trips + (count > 0 ? ` · ${countText(count)} instr` : '') +
      (total.flops > 0 ? ` · ${flopText(total.flops)}` : '') + (total.bytes > 0 ? ` · ${bytesText(total.bytes)}` : '');
  }
  ghostFace(item) {
    const {name, opcode, shape} = this.model.ghost(item);
    return {title: cut(name, 48), lines: [cut((name.startsWith(opcode) ? '' : opcode + ' ') + shape, 48)], bars: null, scope: false, ghost: true};
  }
  scopeFace(item) {
    const {model} = this, s = item - model.size, total = model.totals(item);
    const lines = [`${countText(total.count)} instr · ${flopText(total.flops)} · ${bytesText(total.bytes)}`];
    const telling = tellingOpcodes(model, s);
    if (telling) lines.push(telling);
    return {title: cut(model.scopeLabel(item), 60), lines, bars: composition(model, s), scope: true};
  }
  instructionFace(i) {
    const {model} = this;
    const opcode = model.opcode(i), name = model.names[i];
    const lines = [cut((name.startsWith(opcode) ? '' : opcode + ' ') + model.shapeText(i), 48)];
    const constants = this.constantOperands(i);
    if (constants) lines.push(cut(constants, 48));
    if (model.bodies(i).length > 0 && model.runsBodies(i)) {
      const total = model.totals(i);
      lines.push(`${countText(total.inside)} instr · ${flopText(total.flops)}` +
                 (model.tripsOf.has(i) ? ` · ×${model.tripsOf.get(i)}` : ''));
    }
    return {title: cut(name, 48), lines, bars: null, scope: false};
  }
  // `1: 0.5`: operands that are small constants, which are not drawn.
  constantOperands(i) {
    const {model} = this;
    return [...model.operandsOf.of(i)].map((operand, k) => {
      if (model.opcode(operand) !== 'constant') return null;
      const value = /constant\((.*?)\)(?:,|$)/.exec(model.instructionText(operand));
      return `${k}: ${value ? cut(value[1], 16) : '…'}`;
    }).filter((text) => text).slice(0, 3).join('  ');
  }
}

export class SceneMaker {
  constructor(model, contents, faces, isOpen) {
    Object.assign(this, {model, contents, faces, isOpen});
  }

  // The worker's request for the contents of an item, or for a set of instructions.
  request(content, depth = 0) {
    const nodes = [], index = new Map();
    const add = (node) => nodes.push(node) - 1;
    const ins = content.ins.map((port) => add({w: 10, h: 4, port: 'in', values: port.values}));
    for (const child of content.children) index.set(child, add(this.nodeOf(child, depth)));
    const edges = content.edges.map((edge) =>
      ({from: index.get(edge.from), to: index.get(edge.to), values: edge.values, ghost: edge.ghost}));
    content.ins.forEach((port, p) => port.children.forEach((child) =>
      edges.push({from: ins[p], to: index.get(child), values: port.values})));
    for (const port of content.outs) {
      const at = add({w: 10, h: 4, port: 'out', values: port.values});
      for (const child of port.children) edges.push({from: index.get(child), to: at, values: port.values});
    }
    return {nodes, edges};
  }
  nodeOf(item, depth) {
    const face = this.faces.of(item);
    if (depth >= kDeepest || !this.model.isExpandable(item) || !this.isOpen(item)) return {w: face.w, h: face.h};
    const title = textWidth(this.faces.header(item), true) + 60;
    return {w: title, h: 40, item, inner: this.request(this.contents.of(item), depth + 1)};
  }

  // Boxes and edges from a result, parents before children.
  scene(content, request, result) {
    const scene = {boxes: [], edges: [], w: result.w, h: result.h};
    const open = [{content, request, result, x: 0, y: 0, depth: 0, box: null}];
    while (open.length > 0) this.place(scene, open.pop(), open);
    return scene;
  }
  place(scene, at, open) {
    const {content, request, result} = at;
    const ports = content.ins.length;
    content.children.forEach((item, c) => {
      const k = ports + c, node = request.nodes[k], inner = result.inner[k];
      const face = this.faces.of(item);
      const box = {item, face, depth: at.depth, parent: at.box, open: inner !== null, x: at.x + result.x[k],
                   y: at.y + result.y[k], w: inner ? Math.max(node.w, inner.w) : face.w, h: inner ? inner.h : face.h};
      if (inner) box.header = this.faces.header(item);
      scene.boxes.push(box);
      if (inner)
        open.push({content: this.contents.of(item), request: node.inner, result: inner, x: box.x,
                   y: box.y, depth: at.depth + 1, box});
    });
    result.routes.forEach((route, e) => scene.edges.push(this.edgeOf(at, request.edges[e], route)));
  }
  edgeOf(at, edge, route) {
    const points = route.map((v, k) => v + (k % 2 === 0 ? at.x : at.y));
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    for (let k = 0; k < points.length; k += 2) {
      left = Math.min(left, points[k]);
      right = Math.max(right, points[k]);
      top = Math.min(top, points[k + 1]);
      bottom = Math.max(bottom, points[k + 1]);
    }
    return {points, values: edge.values, ghost: edge.ghost, parent: at.box, left, right, top, bottom,
            toPort: at.request.nodes[edge.to].port === 'out'};
  }
}
// SPDX-License-Identifier: Apache-2.0
