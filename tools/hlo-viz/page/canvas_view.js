// The canvas: camera, pointer, what is under it. Paints at most once a frame.
import {CanvasPen, paint} from './paint.js';
import {palette} from './theme.js';
import {foldAt} from './levels.js';

const kMinScale = 0.01, kMaxScale = 4;
const kFirstScale = 0.6, kLargeScale = 0.75;  // a picture is first shown no smaller; one that does not fit, so that all names are whole

export class CanvasView {
  constructor(canvas, handlers) {
    this.canvas = canvas;
    this.handlers = handlers;  // select(item), toggle(item), hover(item)
    this.camera = {x: 0, y: 0, scale: 1};
    this.scene = {boxes: [], edges: [], w: 0, h: 0};
    this.marks = emptyMarks();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.listen();
    this.resize();
  }

  setScene(scene, overlay) {
    this.scene = scene;
    this.overlay = overlay;
    this.draw();
  }

  // A picture that fits is made to fit anew; of another what is in the middle stays there.
  resize() {
    const {clientWidth, clientHeight} = this.canvas.parentElement, ratio = window.devicePixelRatio || 1;
    const before = [this.width(), this.height()];
    this.canvas.width = Math.max(1, clientWidth * ratio);
    this.canvas.height = Math.max(1, clientHeight * ratio);
    this.canvas.style.width = clientWidth + 'px';
    this.canvas.style.height = clientHeight + 'px';
    if (this.fitted && this.scene.boxes.length > 0) return this.fit(...this.fitted);
    this.camera.x += (before[0] - clientWidth) / 2 / this.camera.scale;
    this.camera.y += (before[1] - clientHeight) / 2 / this.camera.scale;
    return this.draw();
  }

  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.drawNow();
    });
  }
  drawNow() {
    const context = this.canvas.getContext('2d'), ratio = window.devicePixelRatio || 1;
    const {x, y, scale} = this.camera;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = palette().paper;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (!this.overlay) return;
    context.setTransform(ratio * scale, 0, 0, ratio * scale, -x * scale * ratio, -y * scale * ratio);
    const clip = {x, y, w: this.width() / scale, h: this.height() / scale};
    const pen = new CanvasPen(context);
    paint(pen, this.scene, this.overlay, this.marks, clip, scale);
    this.smallestText = (pen.smallest ?? Infinity) * scale;  // pixels
    this.drawn = (this.drawn || 0) + 1;
  }

  width() { return this.canvas.clientWidth; }
  height() { return this.canvas.clientHeight; }

  // The innermost box at a place of the window.
  boxAt(clientX, clientY) {
    const rect = this.canvas.getBoundingClientRect();
    const x = this.camera.x + (clientX - rect.left) / this.camera.scale;
    const y = this.camera.y + (clientY - rect.top) / this.camera.scale;
    let found = null;
    foldAt(this.scene, this.camera.scale);
    for (const box of this.scene.boxes)
      if (!box.hidden && x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h &&
          (!found || box.depth >= found.depth)) found = box;
    return found;
  }
  boxOf(item) { return this.scene.boxes.find((box) => box.item === item) || null; }

  // Where an item's box is in the window; null: not in the scene.
  clientPlace(item) {
    const box = this.boxOf(item);
    if (!box) return null;
    const rect = this.canvas.getBoundingClientRect(), {x, y, scale} = this.camera;
    return {x: rect.left + (box.x + box.w / 2 - x) * scale, y: rect.top + (box.y + 12 - y) * scale};
  }

  // `whole`: all of it in the window, however small.
  fit(boxes = this.scene.boxes, most = 1, whole = false) {
    if (boxes.length === 0) return;
    let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
    for (const b of boxes) {
      left = Math.min(left, b.x);
      top = Math.min(top, b.y);
      right = Math.max(right, b.x + b.w);
      bottom = Math.max(bottom, b.y + b.h);
    }
    const wide = right - left + 40, high = bottom - top + 40;
    let scale = Math.min(this.width() / wide, this.height() / high, most);
    // A large picture starts legible at its top rather than whole and tiny.
    const large = !whole && scale < kFirstScale && boxes === this.scene.boxes;
    if (large) scale = Math.min(Math.max(kLargeScale, Math.min(this.width() / wide, 0.8)), most);
    const middle = large && wide * scale > this.width() ? this.middleOfTop(boxes, top) : (left + right) / 2;
    this.camera = {scale, x: middle - this.width() / 2 / scale,
                   y: large ? top - 20 : (top + bottom) / 2 - this.height() / 2 / scale};
    this.fitted = boxes === this.scene.boxes ? [undefined, most, whole] : null;
    this.draw();
  }
  // Where the boxes of the first row are.
  middleOfTop(boxes, top) {
    const row = boxes.filter((b) => b.y < top + 40);
    return row.reduce((sum, b) => sum + b.x + b.w / 2, 0) / row.length;
  }
  centre(item) {
    const box = this.boxOf(item);
    if (!box) return;
    const scale = Math.max(this.camera.scale, 0.7);
    const y = box.open ? box.y + Math.min(box.h / 2, this.height() / scale / 2 - 20) : box.y + box.h / 2;
    this.camera = {scale, x: box.x + box.w / 2 - this.width() / 2 / scale, y: y - this.height() / 2 / scale};
    this.fitted = null;
    this.draw();
  }
  // Moves the camera so that what was at `before` (a box of the last scene) stays where it was seen.
  keep(before) {
    const now = before && this.boxOf(before.item);
    if (!now) return false;
    this.fitted = null;
    this.camera.x += now.x + now.w / 2 - (before.x + before.w / 2);
    this.camera.y += now.y - before.y;
    return true;
  }
  zoom(factor, clientX, clientY) {
    const rect = this.canvas.getBoundingClientRect();
    const px = clientX === undefined ? this.width() / 2 : clientX - rect.left;
    const py = clientY === undefined ? this.height() / 2 : clientY - rect.top;
    const old = this.camera.scale;
    const scale = Math.min(Math.max(old * factor, kMinScale), kMaxScale);
    this.camera.x += px / old - px / scale;
    this.camera.y += py / old - py / scale;
    this.camera.scale = scale;
    this.fitted = null;
    this.draw();
  }
  pan(dx, dy) {
    this.fitted = null;
    this.camera.x += dx / this.camera.scale;
    this.camera.y += dy / this.camera.scale;
    this.draw();
  }

  listen() {
    const {canvas} = this;
    let drag = null;
    const touches = new Map();  // pointers that are down
    const spread = () => {
      const [a, b] = [...touches.values()];
      return {size: Math.hypot(a.x - b.x, a.y - b.y) || 1, x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
    };
    // One of two fingers may stay: it goes on as a drag.
    const lift = (event) => {
      touches.delete(event.pointerId);
      const [left] = touches.values();
      drag = left ? {...left, moved: true} : null;
    };
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      if (event.shiftKey) this.pan(event.deltaY, event.deltaX);
      else this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), event.clientX, event.clientY);
    }, {passive: false});
    canvas.addEventListener('pointerdown', (event) => {
      touches.set(event.pointerId, {x: event.clientX, y: event.clientY});
      drag = {x: event.clientX, y: event.clientY, moved: touches.size > 1};
      canvas.setPointerCapture(event.pointerId);
      canvas.focus();
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!drag) return this.handlers.hover(this.boxAt(event.clientX, event.clientY), event);
      if (touches.size === 2) {
        const before = spread();
        touches.set(event.pointerId, {x: event.clientX, y: event.clientY});
        const now = spread();
        this.pan(before.x - now.x, before.y - now.y);
        return this.zoom(now.size / before.size, now.x, now.y);
      }
      touches.set(event.pointerId, {x: event.clientX, y: event.clientY});
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return undefined;
      this.pan(-dx, -dy);
      return Object.assign(drag, {x: event.clientX, y: event.clientY, moved: true});
    });
    canvas.addEventListener('pointerup', (event) => {
      if (drag && !drag.moved) this.click(event);
      lift(event);
    });
    canvas.addEventListener('pointercancel', (event) => lift(event));
    canvas.addEventListener('pointerleave', () => this.handlers.hover(null));
  }
  click(event) {
    const box = this.boxAt(event.clientX, event.clientY);
    if (!box) return this.handlers.select(null);
    return this.handlers.click(box, event);
  }
}

export const emptyMarks = () => ({selected: null, operands: new Set(), users: new Set(), hits: new Set(),
                                  hover: null, values: new Set(), sources: new Set()});
// SPDX-License-Identifier: Apache-2.0
