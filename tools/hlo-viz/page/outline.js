// The tree of scopes on the left: opened branch by branch, so that its size does not matter.
import {countText, element} from './dom.js';

const kMaxBranches = 300;

export class Outline {
  constructor(host, onItem) {
    this.host = host;
    this.onItem = onItem;
  }
  setModel(model) {
    this.model = model;
    this.rows = new Map();
    const roots = model.entry >= 0 ? [model.size + model.comps[model.entry].s] : [];
    this.host.replaceChildren(...roots.map((item) => this.branch(item, true)));
  }
  // Scopes and instructions with bodies.
  children(item) {
    const {model} = this;
    const scopes = model.isScope(item) ? [item - model.size] : model.bodies(item).map((c) => model.comps[c].s);
    if (!model.isScope(item) && scopes.length > 1) return scopes.map((s) => model.size + s);
    return scopes.flatMap((s) => [...model.scopeChildren[s].map((child) => model.size + child),
      ...model.scopeMembers[s].filter((i) => model.runsBodies(i) && model.bodies(i).length > 0)]);
  }
  branch(item, open) {
    const children = this.children(item);
    const label = element('span', {class: 'tree-label', onclick: (event) => {
      event.preventDefault();
      this.onItem(item);
    }}, this.model.label(item), element('span', {class: 'aside'}, countText(this.model.totals(item).count || this.model.totals(item).inside || 1)));
    if (children.length === 0) {
      const leaf = element('div', {class: 'tree-leaf'}, label);
      this.rows.set(item, leaf);
      return leaf;
    }
    const details = element('details', {class: 'tree'}, element('summary', {}, label));
    const fill = () => {
      if (details.childElementCount > 1) return;
      details.append(...children.slice(0, kMaxBranches).map((child) => this.branch(child, false)));
      if (children.length > kMaxBranches) details.append(element('div', {class: 'aside'}, `and ${children.length - kMaxBranches} more`));
    };
    details.addEventListener('toggle', () => details.open && fill());
    if (open) {
      fill();
      details.open = true;
    }
    this.rows.set(item, details);
    return details;
  }
  mark(item) {
    this.host.querySelectorAll('.current').forEach((row) => row.classList.remove('current'));
    const row = this.rows.get(item);
    if (row) row.classList.add('current');
  }
}
// SPDX-License-Identifier: Apache-2.0
