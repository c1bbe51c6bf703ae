// The side panel: everything about the selected instruction or scope.
import {bytesText, countText, element, flopText, plural, secondsText} from './dom.js';

import {lookColours} from './theme.js';
import {colouredLine} from './text_view.js';

const kMaxLinks = 60;

export class Panel {
  // handlers: go(item), near(i), pathFrom(i), showText(i), open(item)
  constructor(host, handlers) {
    this.host = host;
    this.handlers = handlers;
    host.addEventListener('click', (event) => {
      const name = event.target.dataset.name;
      if (name) handlers.goName(name);
    });
  }

  show(model, item) {
    this.model = model;
    if (item === null || item === undefined) return this.host.replaceChildren(...this.module());
    const rows = model.isGhost(item) ? this.ghost(item) : model.isScope(item) ? this.scope(item) : this.instruction(item);
    this.host.scrollTop = 0;
    return this.host.replaceChildren(...rows);
  }

  module() {
    const {model} = this;
    const entry = model.size + model.comps[Math.max(model.entry, 0)].s;
    return [element('h2', {}, model.name), ...this.facts([
      ['instructions', model.size.toLocaleString('en')], ['computations', model.comps.length.toLocaleString('en')],
      ...this.costs(entry)]), this.bars(entry - model.size), element('p', {class: 'hint'},
      'Click a box to select it, a double click or Enter opens and closes it. / searches, ? shows all keys.')];
  }

  costs(item) {
    const total = this.model.totals(item);
    const rows = [['flops', flopText(total.flops)], ['bytes', bytesText(total.bytes)]];
    if (total.bytes > 0 && total.flops > 0) rows.push(['flops / byte', (total.flops / total.bytes).toFixed(2)]);
    if (total.time > 0) rows.push(['time', secondsText(total.time)]);
    return rows;
  }

  facts(rows) {
    return [element('dl', {}, rows.filter(([, value]) => value).flatMap(([name, value]) =>
      [element('dt', {}, name), element('dd', {}, value)]))];
  }

  scope(item) {
    const {model} = this, s = item - model.size, total = model.totals(item);
    return [
      element('h2', {}, model.scopeLabel(item)), this.crumbs(item),
      ...this.facts([['instructions', total.count.toLocaleString('en')], ...this.costs(item)]),
      element('div', {class: 'buttons'}, this.button('Open / close', () => this.handlers.toggle(item)),
              this.button('Look at this alone', () => this.handlers.root(item))),
      this.bars(s), ...this.heaviest(s)];
  }

  ghost(item) {
    const {model} = this, {name, text, opcode, shape, operands, users, opName, frames} = model.ghost(item);
    const list = (title, links) => (links.length === 0 ? [] : [element('h3', {}, title), element('ul', {class: 'links'},
      links.map((link) => model.ghostLink(link)).map((other) => element('li', {},
        element('a', {onclick: () => this.handlers.go(other), class: model.isGhost(other) ? 'removed' : null}, model.label(other)))))]);
    return [element('h2', {class: 'removed'}, name), this.crumbs(item),
      ...this.facts([['change', 'removed by this pass'], ['opcode', opcode], ['shape', shape], ['op_name', opName]]),
      element('pre', {class: 'full'}, colouredLine(text, model)), ...list('Operands', operands), ...list('Users', users),
      ...this.source(frames)];
  }

  bars(scope) {
    const {model} = this, counts = new Map(), open = [scope];
    while (open.length > 0) {
      const s = open.pop();
      for (const i of model.scopeMembers[s]) counts.set(model.op[i], (counts.get(model.op[i]) || 0) + 1);
      open.push(...model.scopeChildren[s]);
    }
    const sorted = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 14);
    return element('div', {class: 'histogram'}, sorted.map(([op, count]) => {
      const colours = lookColours(model.looks[op]);
      const bar = element('span', {class: 'bar', style: `width:${100 * count / sorted[0][1]}%;background:${colours.fill};border-color:${colours.stroke}`});
      return element('div', {class: 'histogram-row'}, element('span', {class: 'histogram-name'}, model.ops[op]),
                     element('span', {class: 'histogram-bar'}, bar), element('span', {class: 'histogram-count'}, countText(count)));
    }));
  }

  heaviest(scope) {
    const {model} = this, found = [], open = [scope];
    while (open.length > 0) {
      const s = open.pop();
      for (const i of model.scopeMembers[s]) if (model.flops[i] > 0 || model.timeOf[i] > 0) found.push(i);
      open.push(...model.scopeChildren[s]);
    }
    const by = found.some((i) => model.timeOf[i] > 0) ? model.timeOf : model.flops;
    found.sort((a, b) => by[b] - by[a]);
    if (found.length === 0) return [];
    return [element('h3', {}, 'Heaviest'), ...this.links(found.slice(0, 10), (i) =>
      by === model.timeOf ? secondsText(by[i]) : flopText(by[i]))];
  }

  instruction(i) {
    const {model} = this, opName = model.opName(i), frames = model.sourceFrames(i);
    const operands = [...model.operandsOf.of(i)], users = [...model.usersOf.of(i)];
    return [
      element('h2', {}, model.names[i]), this.crumbs(i),
      ...this.facts([['opcode', model.opcode(i)], ['shape', model.shapeText(i)], ...this.costs(i),
        ['trips', model.tripsOf.has(i) ? String(model.tripsOf.get(i)) : ''],
        ['sharding', model.shardingOf[i] >= 0 ? model.shardings[model.shardingOf[i]] : ''],
        ['op_name', opName], ['change', this.change(i)]]),
      element('div', {class: 'buttons'},
              this.button('Neighbourhood', () => this.handlers.near(i)),
              this.button('Path from here', () => this.handlers.pathFrom(i)),
              this.button('Text', () => this.handlers.showText(i)),
              model.isExpandable(i) ? this.button('Open / close', () => this.handlers.toggle(i)) : null),
      element('pre', {class: 'full'}, colouredLine(model.instructionText(i), model)),
      ...(model.was.has(i) ? [element('h3', {}, 'Before this pass'), element('pre', {class: 'full'}, colouredLine(model.was.get(i).text, model))] : []),
      ...this.list(`Operands (${operands.length})`, operands), ...this.list(`Users (${users.length})`, users),
      ...this.calledList(i),
      ...this.source(frames), ...this.code(i)];
  }

  source(frames) {
    return frames.length === 0 ? [] : [element('h3', {}, 'Source'), element('ol', {class: 'frames'},
      frames.map((frame) => element('li', {}, frame)))];
  }
  // What a compiler made of the instruction: PTX, LLVM IR, assembler.
  code(i) {
    const texts = this.model.codeOf.get(i) || [];
    return texts.length === 0 ? [] : [element('h3', {}, 'Code'), ...texts.map(([title, text]) => element('details', {class: 'code'},
      element('summary', {}, `${title} (${plural(text.split('\n').length, 'line')})`), element('pre', {class: 'code', tabindex: '0'}, text)))];
  }
  change(i) {
    const {model} = this;
    if (!model.diff || model.stateOf[i] === 0) return '';
    if (model.stateOf[i] === 1) return 'added by this pass';
    return 'changed' + (model.was.has(i) ? ': ' + model.was.get(i).what : '');
  }

  calledList(i) {
    const {model} = this, comps = model.called.get(i) || [];
    if (comps.length === 0) return [];
    return [element('h3', {}, 'Calls'), element('ul', {class: 'links'}, comps.map((c) => element('li', {},
      element('a', {'data-name': model.comps[c].n}, model.comps[c].n),
      element('span', {class: 'aside'}, model.comps[c].o || plural(model.comps[c].c, 'instruction')))))];
  }

  list(title, items) {
    return items.length === 0 ? [] : [element('h3', {}, title), ...this.links(items, (i) => this.model.shapeText(i))];
  }
  links(items, aside) {
    const {model} = this;
    const rows = items.slice(0, kMaxLinks).map((i) => element('li', {},
      element('a', {'data-name': model.names[i]}, model.names[i]), element('span', {class: 'aside'}, aside(i))));
    if (items.length > kMaxLinks) rows.push(element('li', {class: 'aside'}, `and ${items.length - kMaxLinks} more`));
    return [element('ul', {class: 'links'}, rows)];
  }

  crumbs(item) {
    const around = this.model.ancestors(item).reverse();
    return element('nav', {class: 'crumbs'}, around.flatMap((scope, k) => [k > 0 ? ' › ' : '',
      element('a', {onclick: () => this.handlers.go(scope)}, this.model.label(scope))]));
  }
  button(text, action) {
    return element('button', {onclick: action}, text);
  }
}
// SPDX-License-Identifier: Apache-2.0
