// The tree on the left: scopes, and the instructions in them. Only the rows in sight are elements of the page; the others are
// entries of a list, so that 50,000 rows cost as much as 30. The box above it filters by name and opcode.
import {countText, element} from './dom.js';

const kRow = 20;  // pixels; style.css has it too
const kMaxRows = 200000;  // of a filtered tree: a computation that many call stands under each caller

export class Outline {
  constructor(host, onItem) {
    this.onItem = onItem;
    this.filter = element('input', {type: 'search', placeholder: 'filter', 'aria-label': 'filter the tree by name or opcode', autocomplete: 'off',
                                    spellcheck: 'false', oninput: () => this.build()});
    this.sizer = element('div', {class: 'tree-sizer', role: 'presentation'});
    this.list = element('div', {class: 'tree', role: 'tree', tabindex: '0', 'aria-label': 'scopes and instructions',
                                onscroll: () => this.draw(), onkeydown: (event) => this.key(event)}, this.sizer);
    this.none = element('div', {class: 'aside', role: 'status'});
    host.replaceChildren(this.filter, this.none, this.list);
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  setModel(model) {
    const root = model.entry >= 0 ? model.size + model.comps[model.entry].s : -1;
    Object.assign(this, {model, root, opened: new Set([root]), active: root, current: null});
    this.filter.value = '';
    this.build();
  }

  // Scopes, then instructions; of an instruction, what its bodies hold.
  children(item) {
    const {model} = this;
    const scopes = model.isScope(item) ? [item - model.size] : model.bodies(item).map((c) => model.comps[c].s);
    if (!model.isScope(item) && scopes.length > 1) return scopes.map((s) => model.size + s);
    return scopes.flatMap((s) => [...model.scopeChildren[s].map((child) => model.size + child), ...model.scopeMembers[s]]);
  }
  // What a filter leaves: the items that have the words, and all around them. Null without a filter.
  kept() {
    const words = this.filter.value.trim().toLowerCase(), {model} = this;
    if (words === '') return null;
    const kept = new Set();
    const keep = (item) => {
      kept.add(item);
      for (const around of model.ancestors(item)) {
        if (kept.has(around)) return;
        kept.add(around);
      }
    };
    for (let i = 0; i < model.size; ++i)
      if (model.names[i].toLowerCase().includes(words) || model.opcode(i).includes(words)) keep(i);
    model.scopes.forEach((scope, s) => scope[1].toLowerCase().includes(words) && keep(model.size + s));
    return kept;
  }

  // The rows from top to bottom, each {item, depth, open}: open is undefined for a leaf.
  build() {
    const kept = this.kept();
    this.rows = [];
    const waiting = this.root >= 0 && (!kept || kept.has(this.root)) ? [[this.root, 0]] : [];
    while (waiting.length > 0 && this.rows.length < kMaxRows) {
      const [item, depth] = waiting.pop();
      const expandable = this.model.isExpandable(item), open = kept ? expandable : expandable && this.opened.has(item);
      const inner = open ? this.children(item).filter((child) => !kept || kept.has(child)) : [];
      this.rows.push({item, depth, open: expandable && (!kept || inner.length > 0) ? open : undefined});
      for (let k = inner.length - 1; k >= 0; --k) waiting.push([inner[k], depth + 1]);
    }
    this.filtered = kept !== null;
    this.none.textContent = this.filtered ? `${this.rows.length.toLocaleString('en')} rows` : '';
    this.sizer.style.height = this.rows.length * kRow + 'px';
    if (!this.rows.some(({item}) => item === this.active)) this.active = this.rows.length > 0 ? this.rows[0].item : -1;
    this.draw();
  }
  draw() {
    if (!this.rows) return;
    const first = Math.max(0, Math.floor(this.list.scrollTop / kRow) - 5);
    const last = Math.min(this.rows.length, first + Math.ceil(this.list.clientHeight / kRow) + 10);
    this.sizer.replaceChildren(...this.rows.slice(first, last).map((row, k) => this.row(row, first + k)));
    const shown = this.rows.findIndex(({item}) => item === this.active);
    if (shown >= first && shown < last) this.list.setAttribute('aria-activedescendant', `tree-${shown}`);
    else this.list.removeAttribute('aria-activedescendant');
  }
  row({item, depth, open}, k) {
    const {model} = this, total = model.totals(item), count = total.count || total.inside || 0;
    const marks = [item === this.current ? 'current' : '', item === this.active ? 'active' : ''].join(' ');
    const turn = (event) => {
      event.stopPropagation();
      this.turn(item, !open);
    };
    return element('div', {class: `tree-row ${marks}`, id: `tree-${k}`, role: 'treeitem', 'aria-level': depth + 1, 'aria-selected': String(item === this.current),
                           'aria-expanded': open === undefined ? null : String(open), style: `top:${k * kRow}px;padding-left:${Math.min(depth, 20) * 10}px`,
                           title: model.label(item), onclick: () => this.take(item)},
      element('span', {class: 'tree-turn', onclick: open === undefined ? null : turn}, open === undefined ? '' : open ? '▾' : '▸'),
      element('span', {class: 'tree-label'}, model.label(item)),
      element('span', {class: 'aside'}, count > 0 ? countText(count) : model.isInstruction(item) ? model.opcode(item) : ''));
  }

  turn(item, open) {
    this.active = item;
    if (open) this.opened.add(item);
    else this.opened.delete(item);
    if (!this.filtered) this.build();
  }
  take(item) {
    this.active = item;
    this.onItem(item);
  }
  activate(k) {
    if (!(k in this.rows)) return;
    this.active = this.rows[k].item;
    this.scrollTo(k);
    this.draw();
  }
  scrollTo(k) {
    const top = k * kRow, {scrollTop, clientHeight} = this.list;
    if (top < scrollTop) this.list.scrollTop = top;
    else if (top + kRow > scrollTop + clientHeight) this.list.scrollTop = top + kRow - clientHeight;
  }
  key(event) {
    const k = this.rows.findIndex(({item}) => item === this.active), row = this.rows[k];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.list.clientHeight / kRow) - 1);
    const parent = () => {
      for (let p = k; p >= 0; --p) if (this.rows[p].depth < row.depth) return p;
      return k;
    };
    const actions = {
      ArrowDown: () => this.activate(k + 1), ArrowUp: () => this.activate(k - 1), Home: () => this.activate(0), End: () => this.activate(this.rows.length - 1),
      PageDown: () => this.activate(Math.min(k + page, this.rows.length - 1)), PageUp: () => this.activate(Math.max(k - page, 0)),
      ArrowRight: () => (row.open === false ? this.turn(row.item, true) : this.activate(k + 1)),
      ArrowLeft: () => (row.open && !this.filtered ? this.turn(row.item, false) : this.activate(parent())), Enter: () => this.take(row.item), ' ': () => this.take(row.item),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }

  // Shows where an item is, its surroundings opened.
  mark(item) {
    this.current = item;
    if (item !== null && !this.model.isGhost(item) && !this.filtered) {
      for (const around of this.model.ancestors(item)) this.opened.add(around);
      this.active = item;
      this.build();
    }
    const k = this.rows.findIndex((row) => row.item === item);
    if (k >= 0) this.scrollTo(k);
    this.draw();
  }
}
// SPDX-License-Identifier: Apache-2.0
