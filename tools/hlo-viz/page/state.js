// What is looked at, as text in the address's fragment: links to it can be kept and sent, and the
// browser's back and forward go through it.

// {m: module's name, v: first word of the version's label, r: root item or '', o: open items, s: selected
// item or '', q: near:ITEM:RADIUS or paths:A:B, c: colours}. Items are named, not numbered: `i:NAME`,
// `s:PATH`, `g:NAME` for what a pass has removed.
export function encodeState(state) {
  const parts = Object.entries(state).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return '#' + parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
}
export function decodeState(fragment) {
  const state = {};
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    if (at < 0) continue;
    try {
      state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
    } catch (error) {
      continue;  // a link cut short
    }
  }
  return state;
}

export function itemText(model, item) {
  if (model.isGhost(item)) return 'g:' + model.ghost(item).name;
  if (!model.isScope(item)) return 'i:' + model.names[item];
  const [parent, label, kind, comp] = model.scopes[item - model.size];
  if (kind === 0) return 's:' + model.comps[comp].n;
  return itemText(model, model.size + parent) + '>' + label;
}

// The item, or -1 where this module has none of that name.
export function itemFrom(model, text) {
  if (text.startsWith('i:')) return model.byName.has(text.slice(2)) ? model.byName.get(text.slice(2)) : -1;
  if (text.startsWith('g:')) {
    const g = model.ghosts.findIndex(({name}) => name === text.slice(2));
    return g < 0 ? -1 : model.firstGhost + g;
  }
  if (!text.startsWith('s:')) return -1;
  const [comp, ...labels] = text.slice(2).split('>');
  const c = model.comps.findIndex((candidate) => candidate.n === comp);
  if (c < 0) return -1;
  let s = model.comps[c].s;
  for (const label of labels) {
    s = model.scopeChildren[s].find((child) => model.scopes[child][1] === label);
    if (s === undefined) return -1;
  }
  return model.size + s;
}

// A change that back undoes; `replace` for one that it should not see.
export function writeFragment(text, replace) {
  if (location.hash === text || (text === '#' && location.hash === '')) return;
  if (!replace) {
    location.hash = text;
    return;
  }
  try {
    history.replaceState(null, '', text);
  } catch (error) {
    location.hash = text;  // some browsers refuse it for files
  }
}
// SPDX-License-Identifier: Apache-2.0
