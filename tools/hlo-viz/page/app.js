// The explorer: what is open, selected and shown, and everything that changes it.
import {byId, element, plural} from './dom.js';
import {unpack} from './decode.js';
import {Model} from './model.js';
import {Contents, contentsOfSet} from './contents.js';
import {Overlay, kOverlays} from './overlay.js';
import {Faces, kDeepest, SceneMaker} from './scene.js';
import {CanvasView, emptyMarks} from './canvas_view.js';
import {SvgPen, paint} from './paint.js';
import {layoutOf} from './worker.js';
import {Search} from './search.js';
import {kMaxInSet, neighbourhood, drawnOperands, drawnUsers, pathsBetween} from './near.js';
import {decodeState, encodeState, itemFrom, itemText, writeFragment} from './state.js';
import {TextView} from './text_view.js';
import {Panel} from './panel.js';
import {Outline} from './outline.js';
import {setDark, isDark} from './theme.js';

const kFewBoxes = 8, kManyBoxes = 60, kMaxHidden = 0.6;  // at first sight; a share of instructions in one box
const kMaxOpenInLink = 80;
const kMaxExpanded = 3000;  // instructions that one key opens

// `0005` of `0005 simplification: algsimp`, which stays when a served dump grows.
const stageWord = (version) => version.label.split(' ')[0];

export class App {
  constructor(index) {
    this.index = index;
    this.models = new Map();  // by data id
    this.timings = {};
    this.open = new Set();
    this.state = {m: 0, v: 0, root: null, selected: null, set: null, colours: 'opcode'};
    this.showAll = false;
    this.showGhosts = true;
    this.view = new CanvasView(byId('canvas'), {
      hover: (box) => this.hover(box), select: (item) => this.select(item), click: (box, event) => this.click(box, event)});
    this.panel = new Panel(byId('panel'), {
      go: (item) => this.go(item), goName: (name) => this.goName(name), near: (i) => this.showNear(i, 2),
      pathFrom: (i) => this.startPath(i), showText: (i) => this.showText(i), toggle: (item) => this.toggle(item),
      root: (item) => this.setRoot(item)});
    this.text = new TextView(byId('text'), (name) => this.goName(name), (line) => this.goLine(line));
    this.outline = new Outline(byId('outline'), (item) => this.go(item));
    window.addEventListener('hashchange', () => this.readFragment());
  }

  version() { return this.index.modules[this.state.m].versions[this.state.v]; }

  async load(m, v) {
    Object.assign(this.state, {m, v});
    const {id} = this.version();
    if (!this.models.has(id)) this.models.set(id, new Model(await unpack(id)));
    this.setModel(this.models.get(id));
  }
  setModel(model) {
    this.model = model;
    this.open = new Set();
    this.contents = new Contents(model, this.showAll, this.showGhosts);
    this.search = new Search(model);
    this.state.root = model.size + model.comps[Math.max(model.entry, 0)].s;
    Object.assign(this.state, {selected: null, set: null});
    this.setColours(this.state.colours, true);
    this.openFirst();
    this.text.setModel(model);
    this.outline.setModel(model);
    byId('title').textContent = model.name;
    if (this.onModel) this.onModel();
  }

  setColours(kind, quiet) {
    this.state.colours = kOverlays.includes(kind) ? kind : 'opcode';
    this.overlay = new Overlay(this.model, this.state.colours);
    this.faces = new Faces(this.model, this.overlay);
    this.maker = new SceneMaker(this.model, this.contents, this.faces, (item) => this.open.has(item));
    byId('colours').value = this.state.colours;
    return quiet ? null : this.refresh();
  }
  setShown(all, ghosts) {
    Object.assign(this, {showAll: all, showGhosts: ghosts});
    this.contents = new Contents(this.model, all, ghosts);
    this.setColours(this.state.colours);
  }

  // Opens what is largest until there is something to see.
  openFirst() {
    const visible = [...this.contents.of(this.state.root).children], all = this.weight(this.state.root);
    while (true) {
      const closed = visible.filter((item) => !this.open.has(item) && this.canOpenFirst(item));
      const fits = closed.filter((item) => visible.length + this.contents.childCount(item) <= kManyBoxes);
      if (fits.length === 0) return;
      const best = fits.reduce((a, b) => (this.weight(b) > this.weight(a) ? b : a));
      if (visible.length >= kFewBoxes && this.weight(best) < kMaxHidden * all) return;
      this.open.add(best);
      visible.splice(visible.indexOf(best), 1, ...this.contents.of(best).children);
    }
  }
  canOpenFirst(item) {
    const {model} = this;
    return model.isScope(item) || (model.isInstruction(item) && model.runsBodies(item) && model.bodies(item).length > 0);
  }
  weight(item) {
    const total = this.model.totals(item);
    return (total.count || 0) + (total.inside || 0);
  }

  content() {
    if (this.state.set) return contentsOfSet(this.model, this.state.set.items);
    return this.contents.of(this.state.root);
  }

  // Lays out and shows the present state. `anchor`: an item that should stay where it is.
  async refresh(anchor) {
    const started = performance.now(), turn = (this.turn = (this.turn || 0) + 1);
    const before = anchor === undefined ? null : this.view.boxOf(anchor);
    const content = this.content(), request = this.maker.request(content);
    const result = await layoutOf(request).catch((error) => this.say(`This view cannot be laid out: ${error.message}`));
    if (turn !== this.turn || !result) return;  // something newer is on its way
    const scene = this.maker.scene(content, request, result);
    this.view.setScene(scene, this.overlay);
    if (!this.view.keep(before) && anchor === undefined) this.view.fit();
    this.updateMarks();
    this.view.drawNow();
    this.showLegend();
    this.timings.refresh = performance.now() - started;
    byId('status').textContent = this.statusText(scene);
  }
  statusText(scene) {
    const shown = plural(scene.boxes.length, 'box').replace(/boxs$/, 'boxes');
    const what = this.state.set ? this.state.set.title : this.model.label(this.state.root);
    return `${what} — ${shown}, ${plural(scene.edges.length, 'edge')}`;
  }

  updateMarks() {
    const {selected} = this.state, marks = emptyMarks();
    marks.selected = selected;
    marks.hits = this.view.marks.hits;
    if (selected !== null && this.model.isInstruction(selected)) {
      const source = this.contents.source(selected);
      for (const i of drawnOperands(this.model, this.contents, selected)) this.markVisible(marks.operands, i);
      for (const i of drawnUsers(this.model, this.contents, selected)) this.markVisible(marks.users, i);
      if (source >= 0) marks.values.add(source);
    }
    this.view.marks = marks;
    this.view.draw();
  }
  // The box that shows an instruction: its own, or the closed scope around it.
  markVisible(set, i) { set.add(this.visibleItem(i)); }
  visibleItem(i) {
    const chain = [i, ...this.model.ancestors(i)];
    for (let k = chain.length - 1; k > 0; --k)
      if (!this.open.has(chain[k]) && chain[k] !== this.state.root && this.view.boxOf(chain[k])) return chain[k];
    return i;
  }

  click(box, event) {
    const now = performance.now(), twice = this.lastClick && this.lastClick.item === box.item && now - this.lastClick.at < 400;
    this.lastClick = {item: box.item, at: now};
    if (this.pathStart !== undefined && !this.model.isScope(box.item)) return this.endPath(box.item);
    const onHeader = box.open && event && this.headerHit(box, event);
    if (this.model.isScope(box.item) && !this.state.set && (onHeader || !box.open)) {
      this.select(box.item, true);
      return this.toggle(box.item);
    }
    this.select(box.item);
    return twice ? this.toggle(box.item) : null;
  }
  headerHit(box, event) {
    const place = this.view.clientPlace(box.item);
    return Math.abs(event.clientY - place.y) < 22 * this.view.camera.scale + 6;
  }

  async toggle(item) {
    if (!this.model.isExpandable(item)) return;
    const box = this.view.boxOf(item);
    if (box && box.depth >= kDeepest - 1) return void this.setRoot(item);
    if (this.open.has(item)) this.open.delete(item);
    else this.open.add(item);
    await this.refresh(item);
    this.save(false);
  }

  // Opens a scope and all scopes inside; bodies of loops and calls too, fusions not.
  async expandAll(item) {
    const {model} = this, open = [[item, 0]];
    let shown = 0;
    while (open.length > 0 && shown < kMaxExpanded) {
      const [at, depth] = open.pop();
      if (!this.canOpenFirst(at) || depth >= kDeepest) continue;
      this.open.add(at);
      const {children} = this.contents.of(at);
      shown += children.filter((child) => !model.isScope(child)).length;
      for (const child of children) open.push([child, depth + 1]);
    }
    await this.refresh(item);
    this.save(false);
  }

  select(item, quiet) {
    this.state.selected = item;
    this.updateMarks();
    this.panel.show(this.model, item);
    this.outline.mark(item);
    byId('said').textContent = item === null ? '' : this.spoken(item);
    if (item !== null && this.model.isInstruction(item)) this.text.mark(this.model.lineOf(item));
    if (!quiet) this.save(false);
  }

  // What a screen reader says of what is selected.
  spoken(item) {
    const {model} = this;
    if (!model.isInstruction(item)) return `${model.isGhost(item) ? 'removed instruction' : 'scope'} ${model.label(item)}`;
    const around = model.ancestors(item);
    return `${model.names[item]}: ${model.summary(item)}, ${plural(model.operandsOf.of(item).length, 'operand')}, ${plural(model.usersOf.of(item).length, 'user')}` +
      (around.length > 0 ? `, in ${model.label(around[0])}` : '');
  }

  // Opens everything around an item, selects it and brings it to the middle.
  async go(item, quiet) {
    if (this.model.isGhost(item) && !this.showGhost(item)) return this.select(item, quiet);
    const shown = this.model.isInstruction(item) ? this.shownFor(item) : item;
    if (this.state.set && !this.state.set.items.has(shown)) this.state.set = null;
    if (!this.state.set) this.reveal(shown);
    await this.refresh(shown);
    this.select(item, true);
    this.updateMarks();
    this.view.centre(shown);
    if (byId('text').clientHeight > 0 && this.model.isInstruction(item)) this.text.show(this.model.lineOf(item));
    if (!quiet) this.save(false);
  }
  // False where all around it is gone too.
  showGhost(item) {
    if (this.model.scopeAround(item) < 0) return false;
    if (!this.showGhosts) {
      byId('show-removed').checked = true;
      this.setShown(this.showAll, true);
    }
    this.contents.want(item);
    return true;
  }
  // Constants and get-tuple-elements are shown by what they come from or go to.
  shownFor(i) {
    if (!this.contents.hidden[i]) return i;
    const source = this.contents.source(i);
    if (source >= 0) return source;
    const users = drawnUsers(this.model, this.contents, i);
    return users.length > 0 ? users[0] : i;
  }
  reveal(item) {
    const all = this.model.ancestors(item), around = all.slice(0, kDeepest);
    const rooted = around.indexOf(this.state.root);
    if (rooted < 0 && item !== this.state.root)
      this.state.root = around.length > 0 ? around[around.length - 1] : item;
    for (const scope of rooted < 0 ? around : around.slice(0, rooted)) if (scope !== this.state.root) this.open.add(scope);
  }
  goName(name) {
    const bare = name.replace(/^%/, '');
    if (this.model.byName.has(bare)) return this.go(this.model.byName.get(bare));
    const c = this.model.comps.findIndex((comp) => comp.n === bare);
    return c >= 0 ? this.goComputation(c) : null;
  }
  goComputation(c) {
    if (this.model.callersOf[c].length === 0) return this.setRoot(this.model.size + this.model.comps[c].s);
    if (this.model.comps[c].o !== '') return this.go(this.model.callersOf[c][0]);
    this.open.add(this.model.callersOf[c][0]);
    return this.go(this.model.comps[c].r);
  }
  goLine(line) {
    const i = this.model.instructionAt(line);
    return i >= 0 ? this.go(i) : null;
  }

  async setRoot(item) {
    Object.assign(this.state, {root: item, set: null});
    await this.refresh();
    this.save(false);
  }
  home() {
    this.open = new Set();
    this.state.selected = null;
    this.panel.show(this.model, null);
    this.openFirstAndShow();
  }
  async openFirstAndShow() {
    this.state.root = this.model.size + this.model.comps[Math.max(this.model.entry, 0)].s;
    this.state.set = null;
    this.openFirst();
    await this.refresh();
    this.save(false);
  }

  async showNear(i, radius) {
    const items = neighbourhood(this.model, this.contents, this.shownFor(i), radius);
    const part = items.size >= kMaxInSet ? ` (the nearest ${kMaxInSet})` : '';
    this.state.set = {items, title: `Within ${plural(radius, 'step')} of ${this.model.names[i]}${part}`, key: `near:${this.model.names[i]}:${radius}`, centre: i, radius};
    this.state.selected = i;
    await this.refresh();
    this.select(i);
  }
  widen(by) {
    const {set} = this.state;
    if (set && set.centre !== undefined) this.showNear(set.centre, Math.max(0, set.radius + by));
  }
  startPath(i) {
    this.pathStart = i;
    this.say(`Choose the other end: click, or search for it. Escape ends it.`);
  }
  endPath(i) {
    const start = this.pathStart;
    this.pathStart = undefined;
    if (!this.model.isInstruction(i)) return this.say(`${this.model.label(i)} is on no path of this module.`);
    return this.showPaths(start, i);
  }
  async showPaths(a, b) {
    const items = pathsBetween(this.model, this.contents, this.shownFor(a), this.shownFor(b));
    if (items.length === 0) return this.say(`No path between ${this.model.names[a]} and ${this.model.names[b]}.`);
    const part = items.length > kMaxInSet ? ` (${kMaxInSet} of ${items.length} instructions)` : '';
    this.state.set = {items: new Set(items.slice(0, kMaxInSet)), title: `All paths between ${this.model.names[a]} and ${this.model.names[b]}${part}`,
                      key: `paths:${this.model.names[a]}:${this.model.names[b]}`};
    await this.refresh();
    return this.select(b);
  }
  say(text) { byId('status').textContent = text; }

  showText(i) {
    this.setTextShown(true);
    this.text.show(this.model.lineOf(i));
  }
  setTextShown(on) {
    byId('text-pane').hidden = !on;
    this.text.first = -1;
    const {selected} = this.state;
    if (on && selected !== null && this.model.isInstruction(selected)) this.text.show(this.model.lineOf(selected));
    else this.text.draw();
  }

  hover(box) {
    const item = box ? box.item : null;
    if (this.view.marks.hover === item) return;
    this.view.marks.hover = item;
    this.view.canvas.title = item === null ? '' : this.hoverText(item).slice(0, 600);
    this.view.draw();
  }

  hoverText(item) {
    const {model} = this;
    if (model.isGhost(item)) return 'removed: ' + model.ghost(item).text;
    return model.isScope(item) ? model.scopeLabel(item) : model.instructionText(item);
  }

  find(query) {
    const started = performance.now(), found = this.search.find(query);
    this.view.marks.hits = new Set((found.all || []).slice(0, 5000).map((i) => this.visibleItemFast(i)));
    this.view.draw();
    this.timings.search = performance.now() - started;
    return found;
  }
  visibleItemFast(i) {
    let shown = i;
    for (const around of this.model.ancestors(i)) {
      if (around === this.state.root) break;
      if (!this.open.has(around)) shown = around;
    }
    return shown;
  }

  svg() {
    const pen = new SvgPen(), {scene} = this.view;
    paint(pen, scene, this.overlay, this.view.marks, {x: 0, y: 0, w: scene.w, h: scene.h}, 1);
    this.view.draw();
    return pen.file(scene.w, scene.h);
  }
  saveSvg() {
    const link = element('a', {href: URL.createObjectURL(new Blob([this.svg()], {type: 'image/svg+xml'})),
                               download: `${this.model.name}.svg`});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  setDarkMode(on) {
    setDark(on);
    document.documentElement.dataset.theme = on ? 'dark' : 'light';
    if (this.overlay) this.view.draw();
  }
  toggleDark() {
    this.setDarkMode(!isDark());
    this.panel.show(this.model, this.state.selected);
    this.showLegend();
  }
  showLegend() {
    byId('legend').replaceChildren(...this.overlay.legend().map(({text, fill, stroke}) => element('span', {class: 'legend-row'},
      element('span', {class: 'legend-box', style: `background:${fill};border-color:${stroke}`}), text.slice(0, 60))));
  }

  // The fragment that leads back here.
  link() {
    const {m, v, root, selected, set, colours} = this.state, {model} = this;
    const open = [...this.open].slice(0, kMaxOpenInLink).map((item) => itemText(model, item)).join('|');
    const {modules} = this.index;
    return encodeState({m: m > 0 ? modules[m].name : '', v: v > 0 ? stageWord(modules[m].versions[v]) : '', r: root === model.size + model.comps[Math.max(model.entry, 0)].s ? '' : itemText(model, root),
      o: open, s: selected === null ? '' : itemText(model, selected), q: set ? set.key : '', c: colours === 'opcode' ? '' : colours});
  }
  async copyLink() {
    this.save(true);
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    this.say(copied ? 'The link to this view is in the clipboard.' : location.href);
  }
  save(replace) {
    this.written = this.link();
    writeFragment(this.written, replace);
  }

  async readFragment() {
    if (location.hash === (this.written || '')) return;
    await this.restore(decodeState(location.hash));
    this.written = location.hash;
  }
  async restore(state) {
    const {modules} = this.index;
    const m = Math.max(modules.findIndex((module) => module.name === state.m), 0);
    const v = Math.max(modules[m].versions.findIndex((version) => stageWord(version) === state.v), 0);
    if (!this.model || m !== this.state.m || v !== this.state.v) await this.load(m, v);
    const {model} = this, item = (text) => (text ? itemFrom(model, text) : -1);
    const root = item(state.r);
    this.state.root = root >= 0 ? root : model.size + model.comps[Math.max(model.entry, 0)].s;
    this.open = new Set((state.o || '').split('|').map(item).filter((i) => i >= 0));
    if (!state.o && !state.s && !state.q) this.openFirst();
    this.state.set = null;
    this.setColours(state.c || 'opcode', true);
    const selected = item(state.s);
    await this.restoreView(state, selected);
    this.select(selected >= 0 ? selected : null, true);
    if (this.onRestored) this.onRestored();
  }
  async restoreView(state, selected) {
    const [kind, a, b] = (state.q || '').split(':');
    const {byName} = this.model;
    if (kind === 'near' && byName.has(a)) return this.showNear(byName.get(a), Number(b) || 2);
    if (kind === 'paths' && byName.has(a) && byName.has(b)) return this.showPaths(byName.get(a), byName.get(b));
    await this.refresh();
    if (selected >= 0) await this.go(selected, true);
    return undefined;
  }
}
// SPDX-License-Identifier: Apache-2.0
