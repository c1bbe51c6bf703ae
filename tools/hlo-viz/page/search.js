// Search over instructions, those that a pass has removed among them, by name, opcode, shape, op_name, source file, what
// the pass has done to them, or anything in their text.

const kFields = ['name', 'op', 'shape', 'op_name', 'source', 'change', 'text'];
const kChanges = ['same', 'added', 'changed'];  // by model.stateOf

// `op:dot shape:bf16 layer_3 source:model.py:12` -> [{field, word}]; words without a field look at
// the whole line.
export function parseQuery(query) {
  return query.trim().split(/\s+/).filter((word) => word).map((word) => {
    const colon = word.indexOf(':');
    const field = colon > 0 ? word.slice(0, colon) : '';
    return kFields.includes(field) ? {field, word: word.slice(colon + 1).toLowerCase()}
                                   : {field: 'text', word: word.toLowerCase()};
  }).filter(({word}) => word);
}

export class Search {
  constructor(model) {
    this.model = model;
    this.lower = null;
  }

  // Items that match all words, instructions whose names match first; at most `most`, and how many
  // there are in all.
  find(query, most = 200) {
    const words = parseQuery(query);
    if (words.length === 0) return {items: [], total: 0};
    let found = null;
    for (const {field, word} of words) {
      const matching = this.matching(field, word);
      for (const ghost of this.ghosts(field, word)) matching.add(ghost);
      found = found === null ? matching : found.filter((i) => matching.has(i));
      if (!(found instanceof Array)) found = [...found];
    }
    const first = words[0].word, {model} = this;
    const rank = (i) => {
      const name = model.label(i).toLowerCase();
      return name === first ? 0 : name.startsWith(first) ? 1 : name.includes(first) ? 2 : 3;
    };
    const ranked = found.map((i) => [rank(i), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return {items: ranked.slice(0, most).map(([, i]) => i), total: found.length, all: found};
  }

  matching(field, word) {
    const {model} = this;
    switch (field) {
      case 'name': return this.where((i) => model.names[i].toLowerCase().includes(word));
      case 'op': return this.byTable(model.ops, model.op, word);
      case 'shape': return this.byTable(model.shapes, model.shape, word);
      case 'source': return this.bySource(word);
      case 'change': return model.diff ? this.where((i) => kChanges[model.stateOf[i]].startsWith(word)) : new Set();
      case 'op_name': return this.inText(word, (line) => /op_name="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] || '');
      default: return new Set([...this.inText(word, null), ...this.bySource(word)]);
    }
  }
  // What the pass has removed, by what is kept of it.
  ghosts(field, word) {
    const {model} = this;
    const has = (text) => text.toLowerCase().includes(word);
    return model.ghosts.map((_, g) => model.firstGhost + g).filter((item) => {
      const {name, text, opcode, shape, opName, frames} = model.ghost(item);
      switch (field) {
        case 'name': return has(name);
        case 'op': return has(opcode);
        case 'shape': return has(shape);
        case 'source': return frames.some(has);
        case 'op_name': return has(opName);
        case 'change': return 'removed'.startsWith(word);
        default: return has(text) || has(opName) || frames.some(has);
      }
    });
  }
  where(test) {
    const found = new Set();
    for (let i = 0; i < this.model.size; ++i) if (test(i)) found.add(i);
    return found;
  }
  byTable(texts, numbers, word) {
    const matches = texts.map((text) => text.toLowerCase().includes(word));
    return this.where((i) => matches[numbers[i]]);
  }
  // Occurrences in the whole text, each led back to its line; `part` picks what of the line counts.
  inText(word, part) {
    const {model} = this, found = new Set();
    this.lower ||= model.text.toLowerCase();
    let line = 0;
    for (let at = this.lower.indexOf(word); at >= 0;) {
      line = lineAt(model.lineStarts, at);
      const i = model.instructionAt(line);
      if (i >= 0 && (!part || part(model.lineText(line)).toLowerCase().includes(word))) found.add(i);
      if (line + 1 >= model.lineStarts.length) break;
      at = this.lower.indexOf(word, model.lineStarts[line + 1]);
    }
    return found;
  }
  // Stack frames: those that match, and all that are called from them.
  bySource(word) {
    const {model} = this;
    const matches = model.frames.map(([text]) => text.toLowerCase().includes(word));
    const reached = (f) => {
      for (let steps = 0; f > 0 && steps < 200; f = model.frames[f - 1][1], ++steps)
        if (matches[f - 1]) return true;
      return false;
    };
    const frames = model.frames.length === 0 ? null : model.frames.map((_, k) => reached(k + 1));
    const found = frames ? this.where((i) => model.frameOf[i] > 0 && frames[model.frameOf[i] - 1]) : new Set();
    for (const i of this.inText(word, (line) => /source_file="([^"]*)"/.exec(line)?.[1] || '')) found.add(i);
    return found;
  }
}

// The number of the line that holds a place of the text.
export function lineAt(starts, at) {
  let low = 0, high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
// SPDX-License-Identifier: Apache-2.0
