// A module as the page works with it. An item is a number: instruction k is k, scope s is
// `instructions + s`, ghost g, an instruction that the pass has removed, `instructions + scopes + g`.

function sparse(size, pairs, empty) {
  const values = new Float64Array(size).fill(empty);
  for (let k = 0; k + 1 < (pairs || []).length; k += 2) values[pairs[k]] = pairs[k + 1];
  return values;
}

// Rows of variable length in one array: row k is `items[starts[k] .. starts[k + 1])`.
class Rows {
  constructor(starts, items) {
    this.starts = starts;
    this.items = items;
  }
  of(k) {
    return this.items.subarray(this.starts[k], this.starts[k + 1]);
  }
}

function operandRows(data, size) {
  const starts = new Int32Array(size + 1);
  for (let k = 0; k < size; ++k) starts[k + 1] = starts[k] + data.counts[k];
  const items = new Int32Array(starts[size]);
  for (let k = 0; k < size; ++k)
    for (let o = starts[k]; o < starts[k + 1]; ++o) items[o] = k - data.operands[o];
  return new Rows(starts, items);
}

// The transposed rows, each user once.
function userRows(operands, size) {
  const starts = new Int32Array(size + 1), last = new Int32Array(size).fill(-1);
  const each = (visit) => {
    last.fill(-1);
    for (let user = 0; user < size; ++user)
      for (const operand of operands.of(user))
        if (last[operand] !== user) {
          last[operand] = user;
          visit(operand, user);
        }
  };
  each((operand) => ++starts[operand + 1]);
  for (let k = 0; k < size; ++k) starts[k + 1] += starts[k];
  const next = starts.slice(), items = new Int32Array(starts[size]);
  each((operand, user) => {
    items[next[operand]++] = user;
  });
  return new Rows(starts, items);
}

const kRunsBodies = ['while', 'call', 'conditional', 'async-start'];

export class Model {
  constructor(data) {
    Object.assign(this, data);
    this.names = data.names === '' ? [] : data.names.split('\n');
    this.size = this.names.length;
    this.operandsOf = operandRows(data, this.size);
    this.usersOf = userRows(this.operandsOf, this.size);
    this.addComputations();
    this.addSparse(data);
    this.addGhosts(data);
    this.addTotals();
  }

  addComputations() {
    this.compOf = new Int32Array(this.size);
    this.callersOf = this.comps.map(() => []);
    this.called = new Map();
    this.comps.forEach((comp, c) => this.compOf.fill(c, comp.f, comp.f + comp.c));
    this.entry = this.comps.findIndex((comp) => comp.k === 1);
    for (const [i, ...comps] of this.calls) {
      this.called.set(i, comps);
      for (const c of comps) this.callersOf[c].push(i);
    }
    this.scopeChildren = this.scopes.map(() => []);
    this.scopeMembers = this.scopes.map(() => []);
    this.scopes.forEach(([parent], s) => parent >= 0 && this.scopeChildren[parent].push(s));
    for (let i = 0; i < this.size; ++i) this.scopeMembers[this.scope[i]].push(i);
  }

  addSparse(data) {
    this.shardingOf = sparse(this.size, data.sharding, -1);
    this.spaceOf = sparse(this.size, data.spaces, 0);
    this.frameOf = sparse(this.size, data.frame, 0);
    this.timeOf = sparse(this.size, data.time, 0);
    this.tripsOf = new Map();
    for (let k = 0; k + 1 < data.trips.length; k += 2) this.tripsOf.set(data.trips[k], data.trips[k + 1]);
    this.stateOf = sparse(this.size, data.diff ? data.diff.state : [], 0);
    this.codeOf = new Map();  // by instruction: [title, text], ...
    for (const [i, title, text] of data.code || []) this.codeOf.set(i, [...(this.codeOf.get(i) || []), [title, text]]);
  }

  addGhosts({diff}) {
    this.ghosts = (diff ? diff.removed : []).map(([name, text, opcode, shape, scope, place, operands, users, opName, frames]) =>
      ({name, text, opcode, shape, scope, place, operands, users, opName, frames}));
    this.firstGhost = this.size + this.scopes.length;
    this.was = new Map((diff ? diff.was : []).map(([i, what, text]) => [i, {what, text}]));
    this.ghostsIn = new Map();  // by scope
    this.ghosts.forEach(({scope}, g) => {
      if (scope < 0) return;
      if (!this.ghostsIn.has(scope)) this.ghostsIn.set(scope, []);
      this.ghostsIn.get(scope).push(this.firstGhost + g);
    });
  }
  ghost(item) { return this.ghosts[item - this.firstGhost]; }
  // Of an operand or user that a ghost names.
  ghostLink(link) { return link >= 0 ? link : this.firstGhost - 1 - link; }

  // Made when first asked for, so that the first picture does not wait for them.
  get byName() {
    this.numbers ||= new Map(this.names.map((name, i) => [name, i]));
    return this.numbers;
  }
  get lineStarts() {
    if (this.starts) return this.starts;
    this.starts = [0];
    for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) this.starts.push(at + 1);
    return this.starts;
  }

  // Sums over scopes: instructions, flops, bytes, seconds. Bodies count as often as loops run, as
  // far as the module says.
  addTotals() {
    const runs = this.ops.map((opcode) => kRunsBodies.includes(opcode));
    this.runsOp = runs;
    this.scopeTotals = this.scopes.map(() => ({count: 0, flops: 0, bytes: 0, time: 0}));
    const {scope, op, flops, bytes, timeOf, scopeTotals} = this;
    for (let i = 0; i < this.size; ++i) {
      const total = scopeTotals[scope[i]];
      ++total.count;
      total.time += timeOf[i];
      if (!runs[op[i]]) {
        total.flops += flops[i];
        total.bytes += bytes[i];
        continue;
      }
      const own = this.totalsOfInstruction(i);
      total.flops += own.flops;
      total.bytes += own.bytes;
      total.time += own.time - timeOf[i];
      total.count += own.inside;
    }
  }

  totalsOfInstruction(i) {
    const own = {flops: this.flops[i], bytes: this.bytes[i], time: this.timeOf[i], inside: 0};
    if (!this.runsBodies(i)) return own;
    const trips = this.tripsOf.get(i) || 1;
    for (const c of this.called.get(i)) {
      const body = this.totals(this.size + this.comps[c].s);
      own.flops += trips * body.flops;
      own.bytes += trips * body.bytes;
      own.time += body.time;
      own.inside += body.count;
    }
    return own;
  }

  // Of an item. Scopes of computations that come later in the text are complete only after them,
  // so a computation's sums are made when it is first asked for.
  totals(item) {
    if (this.isGhost(item)) return {count: 0, flops: 0, bytes: 0, time: 0};
    if (item < this.size) return this.totalsOfInstruction(item);
    const s = item - this.size;
    const sum = {...this.scopeTotals[s]};
    for (const child of this.scopeChildren[s]) {
      const inner = this.summed(child);
      for (const key of Object.keys(sum)) sum[key] += inner[key];
    }
    return sum;
  }
  summed(s) {
    this.sums ||= new Map();
    if (!this.sums.has(s)) this.sums.set(s, this.totals(this.size + s));
    return this.sums.get(s);
  }

  opcode(i) { return this.ops[this.op[i]]; }
  shapeText(i) { return this.shapes[this.shape[i]]; }
  isScope(item) { return item >= this.size && item < this.firstGhost; }
  isGhost(item) { return item >= this.firstGhost; }
  isInstruction(item) { return item < this.size; }
  runsBodies(i) {
    return this.runsOp[this.op[i]] && this.called.has(i);
  }

  // Computations of an instruction that are worth a box of their own.
  bodies(i) {
    return (this.called.get(i) || []).filter((c) => this.comps[c].o === '');
  }
  isExpandable(item) {
    return this.isScope(item) || (this.isInstruction(item) && this.bodies(item).length > 0);
  }

  lineOf(i) {
    const comp = this.comps[this.compOf[i]];
    return comp.l + 1 + i - comp.f;
  }
  lineText(line) {
    const end = line + 1 < this.lineStarts.length ? this.lineStarts[line + 1] - 1 : this.text.length;
    return this.text.slice(this.lineStarts[line], end);
  }
  instructionText(i) { return this.lineText(this.lineOf(i)).trim(); }
  // The instruction on a line of the text, or -1.
  instructionAt(line) {
    let low = 0, high = this.comps.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.comps[middle].l <= line) low = middle;
      else high = middle - 1;
    }
    const comp = this.comps[low], k = line - comp.l - 1;
    return k >= 0 && k < comp.c ? comp.f + k : -1;
  }

  opName(i) {
    const found = /op_name="((?:[^"\\]|\\.)*)"/.exec(this.instructionText(i));
    return found ? found[1] : '';
  }
  sourceFrames(i) {
    const frames = [];
    const text = this.instructionText(i);
    const file = /source_file="([^"]*)"/.exec(text), line = /source_line=(\d+)/.exec(text);
    if (file) frames.push(file[1] + (line ? ':' + line[1] : ''));
    for (let f = this.frameOf[i]; f > 0 && f <= this.frames.length && frames.length < 24;) {
      frames.push(this.frames[f - 1][0]);
      f = this.frames[f - 1][1];
    }
    return frames;
  }

  scopeLabel(item) {
    const [, label, kind, comp] = this.scopes[item - this.size];
    if (kind !== 0) return label;
    return this.comps[comp].n + (label ? ': ' + label : '');
  }
  label(item) {
    if (this.isGhost(item)) return this.ghost(item).name;
    return this.isScope(item) ? this.scopeLabel(item) : this.names[item];
  }
  // What stands beside an instruction's name in lists.
  summary(item) {
    if (!this.isGhost(item)) return `${this.opcode(item)} ${this.shapeText(item)}`;
    const {opcode, shape} = this.ghost(item);
    return `removed · ${opcode} ${shape}`;
  }
  // The scope directly around an item; -1: it is a computation's.
  scopeAround(item) {
    if (this.isGhost(item)) return this.ghost(item).scope;
    return this.isScope(item) ? this.scopes[item - this.size][0] : this.scope[item];
  }
  // Scopes around an item from the innermost out, across calls; the caller of a body is one of them.
  ancestors(item) {
    const around = [];
    let at = item;
    while (around.length < 200) {
      const s = this.scopeAround(at);
      if (s >= 0) {
        at = this.size + s;
      } else {
        const callers = this.isScope(at) ? this.callersOf[this.scopes[at - this.size][3]] : [];
        if (callers.length === 0) break;
        at = callers[0];
      }
      around.push(at);
    }
    return around;
  }
}
// SPDX-License-Identifier: Apache-2.0
