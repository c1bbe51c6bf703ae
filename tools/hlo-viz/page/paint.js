// Paints a scene with a pen: a canvas, or the writer of an SVG file.
import {lookColours, palette} from './theme.js';
import {textWidth} from './measure.js';
import {fitted, foldAt, kLegible} from './levels.js';

const kAllLinesFrom = kLegible / 11;  // a scale below which a title and the line that tells most are painted, larger

export class CanvasPen {
  constructor(context) { this.context = context; }
  box(x, y, w, h, radius, fill, stroke, width, dash) {
    const c = this.context;
    c.beginPath();
    c.roundRect(x, y, w, h, radius);
    if (fill) { c.fillStyle = fill; c.fill(); }
    if (!stroke) return;
    c.setLineDash(dash || []);
    c.strokeStyle = stroke;
    c.lineWidth = width;
    c.stroke();
    c.setLineDash([]);
  }
  text(text, x, y, fill, bold, align, size = 12) {
    const c = this.context;
    this.smallest = Math.min(this.smallest ?? Infinity, size);
    c.font = `${bold ? '600 ' : ''}${size}px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif`;
    c.fillStyle = fill;
    c.textAlign = align;
    c.fillText(text, x, y);
  }
  curve(points, stroke, width, arrow, dash = []) {
    const c = this.context;
    c.strokeStyle = c.fillStyle = stroke;
    c.lineWidth = width;
    c.setLineDash(dash);
    c.beginPath();
    eachPiece(points, (x, y) => c.moveTo(x, y), (...p) => c.bezierCurveTo(...p));
    c.stroke();
    c.setLineDash([]);
    if (!arrow) return;
    c.beginPath();
    arrowHead(points, width).forEach(([x, y], k) => (k === 0 ? c.moveTo(x, y) : c.lineTo(x, y)));
    c.fill();
  }
}

export class SvgPen {
  constructor() { this.parts = []; }
  box(x, y, w, h, radius, fill, stroke, width, dash) {
    this.parts.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" rx="${radius}" fill="${fill || 'none'}"` +
      (stroke ? ` stroke="${stroke}" stroke-width="${width}"` : '') +
      (dash && dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '') + '/>');
  }
  text(text, x, y, fill, bold, align, size = 12) {
    const anchor = {left: 'start', center: 'middle', right: 'end'}[align];
    this.parts.push(`<text x="${n(x)}" y="${n(y)}" fill="${fill}" text-anchor="${anchor}" font-size="${size}"` +
      `${bold ? ' font-weight="600"' : ''}>${escapeXml(text)}</text>`);
  }
  curve(points, stroke, width, arrow, dash = []) {
    let d = '';
    eachPiece(points, (x, y) => { d += `M${n(x)} ${n(y)}`; }, (...p) => { d += `C${p.map(n).join(' ')}`; });
    this.parts.push(`<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${width}"` +
      (dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '') + '/>');
    if (arrow)
      this.parts.push(`<path d="M${arrowHead(points, width).map((p) => p.map(n).join(' ')).join('L')}Z" fill="${stroke}"/>`);
  }
  file(w, h) {
    return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${n(w)} ${n(h)}" ` +
      `width="${n(w)}" height="${n(h)}" font-family="system-ui, Segoe UI, Roboto, Helvetica, Arial, sans-serif">\n` +
      `<rect width="100%" height="100%" fill="${palette().paper}"/>\n${this.parts.join('\n')}\n</svg>\n`;
  }
}

const n = (v) => (Math.round(v * 10) / 10).toString();
const escapeXml = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// A curve through points that meets each of them vertically.
function eachPiece(points, start, piece) {
  start(points[0], points[1]);
  for (let k = 2; k < points.length; k += 2) {
    const [x0, y0, x1, y1] = points.slice(k - 2, k + 2);
    const bend = (y1 - y0) / 2;
    piece(x0, y0 + bend, x1, y1 - bend, x1, y1);
  }
}
function arrowHead(points, width) {
  const x = points[points.length - 2], y = points[points.length - 1];
  const up = points[points.length - 3] > y ? 1 : -1, size = 4 + width;
  return [[x, y], [x - size * 0.6, y + up * size * 1.4], [x + size * 0.6, y + up * size * 1.4]];
}

// `marks`: {selected, from: Set, to: Set, hits: Set, hover} of items. `clip` holds what is visible.
export function paint(pen, scene, overlay, marks, clip, scale) {
  const colours = palette();
  foldAt(scene, scale);
  const visible = (l, t, r, b) => r >= clip.x && l <= clip.x + clip.w && b >= clip.y && t <= clip.y + clip.h;
  for (const box of scene.boxes)
    if (box.open && !box.hidden && visible(box.x, box.y, box.x + box.w, box.y + box.h))
      (box.folded ? paintFolded : paintOpen)(pen, box, marks, overlay, scale, clip);
  const inSight = (edge) => !(edge.parent && (edge.parent.folded || edge.parent.hidden)) &&
    visible(edge.left - 4, edge.top - 4, edge.right + 4, edge.bottom + 4);
  for (const edge of scene.edges)
    if (inSight(edge)) paintEdge(pen, edge, marks, colours, false);
  for (const edge of scene.edges)
    if (isMarked(edge, marks) && inSight(edge)) paintEdge(pen, edge, marks, colours, true);
  for (const box of scene.boxes)
    if (!box.open && !box.hidden && visible(box.x, box.y, box.x + box.w, box.y + box.h)) paintClosed(pen, box, marks, overlay, scale);
}

// Marks are few, values may be many.
const carries = (edge, marked) => {
  if (marked.size === 0) return false;
  edge.carried ||= new Set(edge.values);
  for (const value of marked) if (edge.carried.has(value)) return true;
  return false;
};
const isMarked = (edge, marks) => carries(edge, marks.values) || carries(edge, marks.sources);

function paintEdge(pen, edge, marks, colours, marked) {
  if (edge.ghost) return pen.curve(edge.points, colours.removed, 1, true, [4, 3]);
  const width = 1 + Math.min(Math.log2(Math.max(edge.values.length, 1)), 4) * 0.5;
  if (!marked) return pen.curve(edge.points, colours.edge, width, !edge.toPort);
  const colour = carries(edge, marks.values) ? colours.to : colours.from;
  return pen.curve(edge.points, colour, width + 1, !edge.toPort);
}

function outline(item, marks, colours) {
  if (item === marks.selected) return [colours.select, 3];
  if (marks.operands.has(item)) return [colours.from, 2];
  if (marks.users.has(item)) return [colours.to, 2];
  if (marks.hits.has(item)) return [colours.hit, 3];
  return item === marks.hover ? [colours.select, 1.5] : null;
}

const bold = (text) => textWidth(text, true), plain = (text) => textWidth(text, false);
const kMaxHeader = 26;  // units; more would run into what is below

// The name stays in sight where the box begins left of the window.
function paintOpen(pen, box, marks, overlay, scale, clip) {
  const colours = palette(), mark = outline(box.item, marks, colours);
  pen.box(box.x, box.y, box.w, box.h, 8, colours.inner, mark ? mark[0] : colours.line, mark ? mark[1] : 1);
  const size = Math.max(12, kLegible / scale);
  const left = Math.max(box.x, Math.min(clip.x, box.x + box.w - 160)) + 12;
  if (size <= kMaxHeader) pen.text(fitted('− ' + box.header, size, box.x + box.w - left - 8, bold), left, box.y + 8 + size, colours.ink, true, 'left', size);
}

// An open box too small for what is inside: its name, and what it holds, where there is room.
function paintFolded(pen, box, marks, overlay, scale) {
  const colours = palette(), mark = outline(box.item, marks, colours), {model} = overlay;
  const heat = model.isScope(box.item) ? overlay.heat(box.item) : null;
  const look = heat || {fill: colours.box, stroke: colours.line, text: colours.ink};
  pen.box(box.x, box.y, box.w, box.h, 6, look.fill, mark ? mark[0] : look.stroke, mark ? mark[1] : 1 / scale);
  const size = Math.min(13 / scale, Math.max(kLegible / scale, box.h / 4)), middle = box.y + box.h / 2;
  const [name, ...facts] = box.header.split(' · ');
  const lines = [fitted(name, size, box.w - 8, bold), fitted(facts.join(' · '), size, box.w - 8, plain)].filter((line) => line);
  const shown = lines.slice(0, Math.floor(box.h / (1.25 * size)));
  shown.forEach((line, k) => pen.text(line, box.x + box.w / 2, middle + size * (0.35 + 1.25 * (k - (shown.length - 1) / 2)), look.text, k === 0, 'center', size));
}

function paintGhost(pen, box, marks, scale) {
  const colours = palette(), mark = outline(box.item, marks, colours), middle = box.x + box.w / 2;
  pen.box(box.x, box.y, box.w, box.h, 6, colours.paper, mark ? mark[0] : colours.removed, mark ? mark[1] : 1, [4, 3]);
  if (scale * 12 >= kLegible) pen.text('− ' + box.face.title, middle, box.y + 18, colours.removed, true, 'center');
  if (scale >= kAllLinesFrom) pen.text(box.face.lines[0], middle, box.y + 34, colours.faint, false, 'center', 11);
}

function paintClosed(pen, box, marks, overlay, scale) {
  if (box.face.ghost) return paintGhost(pen, box, marks, scale);
  const colours = palette(), {face} = box, {model} = overlay;
  const heat = face.scope ? overlay.heat(box.item) : null;
  const look = face.scope ? heat || {fill: colours.box, stroke: colours.line, text: colours.ink} : overlay.colours(box.item);
  const mark = outline(box.item, marks, colours);
  const state = face.scope ? scopeState(model, box.item) : model.stateOf[box.item];
  if (model.isExpandable(box.item)) pen.box(box.x + 4, box.y + 4, box.w, box.h, 6, look.fill, look.stroke, 1);
  pen.box(box.x, box.y, box.w, box.h, 6, look.fill, mark ? mark[0] : look.stroke, mark ? mark[1] : 1);
  if (state) pen.box(box.x, box.y, 5, box.h, 2, state === 1 ? colours.added : colours.changed, null, 0);
  if (scale < kAllLinesFrom) return paintBars(pen, box, paintFewLines(pen, box, look.text, scale, overlay) ? 0 : 0.8);
  paintLines(pen, box, look.text);
  return paintBars(pen, box, 0);
}

function paintLines(pen, box, colour) {
  const middle = box.x + box.w / 2;
  pen.text(box.face.title, middle, box.y + 18, colour, true, 'center');
  box.face.lines.forEach((line, k) => pen.text(line, middle, box.y + 34 + 16 * k, colour, false, 'center', 11));
}
// The title, and one more line where there is room; nothing that cannot be read. True where the title is painted.
function paintFewLines(pen, box, colour, scale, overlay) {
  const {face} = box, middle = box.x + box.w / 2, line = overlay.key ? face.lines[face.lines.length - 1] : face.lines[0];
  const size = Math.max(12, kLegible / scale), room = box.h - (face.bars ? 16 : 4);
  const title = size * 1.15 <= room ? fitted(face.title, size, box.w - 6, bold, 4) : '';
  if (!title) return false;
  const second = line && 2.35 * size <= room ? fitted(line, size, box.w - 6, plain) : '';
  const top = box.y + 2 + (room - (second ? 2.3 : 1.15) * size) / 2;
  pen.text(title, middle, top + size, colour, true, 'center', size);
  if (second) pen.text(second, middle, top + 2.15 * size, colour, false, 'center', size);
  return true;
}

function scopeState(model, item) {
  model.scopeStates ||= new Map();
  if (!model.scopeStates.has(item)) {
    let state = 0;
    const open = [item - model.size];
    while (open.length > 0 && state === 0) {
      const s = open.pop();
      if (model.ghostsIn.has(s) || model.scopeMembers[s].some((i) => model.stateOf[i] !== 0)) state = 2;
      open.push(...model.scopeChildren[s]);
    }
    model.scopeStates.set(item, state);
  }
  return model.scopeStates.get(item);
}

// The shares of classes of opcodes, a strip at the bottom; taller where texts are too small to read.
function paintBars(pen, box, tall) {
  if (!box.face.bars) return;
  const inset = 10, h = tall > 0 ? box.h * 0.4 : 6, y = tall > 0 ? box.y + box.h * 0.3 : box.y + box.h - 12;
  let x = box.x + inset;
  for (const {look, share} of box.face.bars) {
    const w = (box.w - 2 * inset) * share, colours = lookColours(look);
    pen.box(x, y, Math.max(w, 0.5), h, 0, colours.fill, colours.stroke, 0.5);
    x += w;
  }
}
// SPDX-License-Identifier: Apache-2.0
