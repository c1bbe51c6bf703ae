// What stands inside a scope or body: its children, and the edges between them, lifted from those of
// the instructions. Constants and get-tuple-elements are not drawn, unless asked for.

const kMaxPorts = 6;  // values that enter or leave a box one by one; more are drawn as one
const kMaxGhosts = 40;  // removed instructions that a scope shows

export class Contents {
  constructor(model, showAll, showGhosts = true) {
    this.model = model;
    this.showAll = showAll;
    this.showGhosts = showGhosts;
    this.cache = new Map();
    this.hidden = new Uint8Array(model.size);
    for (let i = 0; i < model.size; ++i) this.hidden[i] = this.isHidden(i) ? 1 : 0;
  }

  isHidden(i) {
    const {model} = this;
    if (this.showAll || model.comps[model.compOf[i]].r === i) return false;
    const opcode = model.opcode(i);
    return opcode === 'constant' || opcode === 'get-tuple-element' || this.isConstantBroadcast(i);
  }
  isConstantBroadcast(i) {
    const {model} = this;
    if (model.opcode(i) !== 'broadcast') return false;
    const operands = model.operandsOf.of(i);
    return operands.length === 1 && model.opcode(operands[0]) === 'constant';
  }

  // The drawn instruction whose value `i` is; -1: a constant.
  source(i) {
    const {model} = this;
    while (this.hidden[i]) {
      if (model.opcode(i) !== 'get-tuple-element') return -1;
      i = model.operandsOf.of(i)[0];
    }
    return i;
  }

  // Of a scope or an instruction with bodies.
  of(item) {
    if (!this.cache.has(item)) this.cache.set(item, this.make(item));
    return this.cache.get(item);
  }
  // About how many children it has, told without its edges.
  childCount(item) {
    const {model} = this;
    if (model.isScope(item)) {
      const s = item - model.size;
      return model.scopeChildren[s].length + model.scopeMembers[s].reduce((n, i) => n + 1 - this.hidden[i], 0);
    }
    const roots = model.bodies(item).map((c) => model.size + model.comps[c].s);
    return roots.length === 1 ? this.childCount(roots[0]) : roots.length;
  }
  make(item) {
    const {model} = this;
    if (model.isScope(item)) return this.ofScope(item - model.size);
    const roots = model.bodies(item).map((c) => model.size + model.comps[c].s);
    if (roots.length === 1) return this.of(roots[0]);
    return {children: roots, edges: [], ins: [], outs: []};
  }

  ofScope(scope) {
    const {model} = this;
    const children = model.scopeMembers[scope].filter((i) => !this.hidden[i]);
    const first = new Map(children.map((i) => [i, i]));
    for (const child of model.scopeChildren[scope]) {
      const inside = this.inside(child);
      if (inside.length === 0) continue;
      children.push(model.size + child);
      first.set(model.size + child, this.meanPlace(inside));
    }
    const ghosts = this.ghostsOf(scope);
    for (const ghost of ghosts) first.set(ghost, model.ghost(ghost).place - 0.5);
    children.push(...ghosts);
    const made = this.edgesOf(scope);
    for (const edge of this.ghostEdges(scope, new Set(children), ghosts)) made.edges.push(edge);
    return {children: inOrder(children, made.edges, first), ...made};
  }

  // What the pass has removed from a scope, as far as it is drawn.
  ghostsOf(scope) {
    if (!this.showGhosts) return [];
    const all = this.model.ghostsIn.get(scope) || [];
    const shown = (this.showAll ? all : all.filter((ghost) => !this.isHiddenGhost(ghost))).slice(0, kMaxGhosts);
    return all.includes(this.wanted) && !shown.includes(this.wanted) ? [...shown, this.wanted] : shown;
  }
  // From now on a ghost is drawn, however many there are in its scope.
  want(ghost) {
    if (this.wanted === ghost) return;
    this.wanted = ghost;
    this.cache.clear();
  }
  // As isHidden has it.
  isHiddenGhost(ghost) {
    const {model} = this, {opcode, operands} = model.ghost(ghost);
    const constant = (item) => (model.isGhost(item) ? model.ghost(item).opcode : model.opcode(item)) === 'constant';
    return opcode === 'constant' || opcode === 'get-tuple-element' ||
      (opcode === 'broadcast' && operands.every((link) => constant(model.ghostLink(link))));
  }
  // From and to ghosts, within a scope; each pair of boxes once.
  ghostEdges(scope, drawn, ghosts) {
    const edges = new Map();
    const add = (from, to) => {
      if (from !== to && drawn.has(from) && drawn.has(to)) edges.set(`${from} ${to}`, {from, to, values: [], ghost: true});
    };
    const shown = (link) => {
      const item = this.model.ghostLink(link);
      if (this.model.isGhost(item)) return item;
      const source = this.source(item);
      return source < 0 ? -1 : this.childHolding(scope, source);
    };
    for (const ghost of ghosts) {
      const {operands, users} = this.model.ghost(ghost);
      for (const operand of operands) add(shown(operand), ghost);
      for (const user of users) add(ghost, shown(user));
    }
    return [...edges.values()];
  }

  // Where a scope stands in the order of execution. Parameters stand first in many texts, whatever uses them.
  meanPlace(inside) {
    let sum = 0, count = 0;
    for (const i of inside)
      if (this.model.opcode(i) !== 'parameter') {
        sum += i;
        ++count;
      }
    return count > 0 ? sum / count : inside[0];
  }

  // Drawn instructions in a scope, at any depth, in order.
  inside(scope) {
    const {model} = this, open = [scope], found = [];
    while (open.length > 0) {
      const s = open.pop();
      for (const i of model.scopeMembers[s]) if (!this.hidden[i]) found.push(i);
      open.push(...model.scopeChildren[s]);
    }
    return found.sort((a, b) => a - b);
  }

  // The child of `scope` that is or holds `i`; -1: it is not inside.
  childHolding(scope, i) {
    const {model} = this;
    let at = model.scope[i], below = i;
    while (at >= 0 && at !== scope) {
      below = model.size + at;
      at = model.scopes[at][0];
    }
    return at === scope ? below : -1;
  }

  edgesOf(scope) {
    const {model} = this;
    const between = new Map(), entering = new Map(), leaving = new Map();
    const whole = model.scopes[scope][0] < 0;  // nothing is outside of a computation
    const note = (map, key, value) => {
      if (!map.has(key)) map.set(key, new Set());
      map.get(key).add(value);
    };
    for (const user of this.inside(scope)) {
      const to = this.childHolding(scope, user);
      for (const operand of model.operandsOf.of(user)) {
        const value = this.source(operand);
        if (value < 0) continue;
        const from = this.childHolding(scope, value);
        if (from < 0) note(entering, value, to);
        else if (from !== to) note(between, from * 2 ** 26 + to, value);
      }
      if (!whole && this.isUsedOutside(scope, user)) note(leaving, user, to);
    }
    const edges = [...between].map(([key, values]) => ({
      from: Math.floor(key / 2 ** 26), to: key % 2 ** 26, values: [...values]}));
    return {edges, ins: ports(entering), outs: ports(leaving)};
  }

  isUsedOutside(scope, i) {
    for (const user of this.model.usersOf.of(i)) {
      if (this.hidden[user] && this.model.opcode(user) === 'get-tuple-element') {
        if (this.isUsedOutside(scope, user)) return true;
      } else if (this.childHolding(scope, user) < 0) {
        return true;
      }
    }
    return false;
  }
}

// Along the edges, as far as they do not run in circles, and by place where they leave it open.
function inOrder(children, edges, place) {
  const waits = new Map(children.map((child) => [child, 0])), after = new Map(children.map((child) => [child, []]));
  for (const {from, to} of edges) {
    waits.set(to, waits.get(to) + 1);
    after.get(from).push(to);
  }
  const open = [...children].sort((a, b) => place.get(a) - place.get(b) || a - b), order = [];
  while (open.length > 0) {
    const next = open.splice(Math.max(open.findIndex((child) => waits.get(child) === 0), 0), 1)[0];
    for (const other of after.get(next)) waits.set(other, waits.get(other) - 1);
    order.push(next);
  }
  return order;
}

// [{values, children}], merged into one where there are many.
function ports(byValue) {
  const each = [...byValue].map(([value, children]) => ({values: [value], children: [...children]}));
  if (each.length <= kMaxPorts) return each;
  const values = each.map((port) => port.values[0]);
  const children = new Set(each.flatMap((port) => port.children));
  return [{values, children: [...children]}];
}

// A plain set of instructions, for neighbourhoods and paths.
export function contentsOfSet(model, instructions) {
  const inSet = new Set(instructions);
  const edges = [];
  for (const user of instructions)
    for (const operand of new Set(model.operandsOf.of(user)))
      if (inSet.has(operand)) edges.push({from: operand, to: user, values: [operand]});
  return {children: [...instructions].sort((a, b) => a - b), edges, ins: [], outs: []};
}
// SPDX-License-Identifier: Apache-2.0
