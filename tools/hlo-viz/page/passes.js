// The slider over a dump's passes, with what each has changed.
import {byId, element} from './dom.js';
import {itemFrom, itemText} from './state.js';

export function addPasses(app) {
  const bar = byId('passes'), slider = byId('pass-slider'), modules = byId('modules');
  const {index} = app;
  const many = index.modules.length > 1 || index.modules[0].versions.length > 1;
  bar.hidden = !many;
  modules.append(...index.modules.map((module, m) => element('option', {value: m}, module.name)));
  modules.hidden = index.modules.length < 2;

  // Keeps what is open and selected, as far as the other version has it under the same name.
  const show = async (m, v) => {
    const {model} = app, selected = app.state.selected;
    const open = [...app.open].map((item) => itemText(model, item));
    const name = selected === null ? '' : itemText(model, selected), same = m === app.state.m;
    await app.load(m, v);
    if (same) {
      const kept = open.map((text) => itemFrom(app.model, text)).filter((item) => item >= 0);
      if (kept.length > 0) app.open = new Set(kept);
    }
    await app.refresh();
    const item = name && same ? itemFrom(app.model, name) : -1;
    app.select(item >= 0 ? item : null);
    update();
  };
  const step = (by) => {
    const {versions} = index.modules[app.state.m];
    const v = app.state.v + by;
    return v >= 0 && v < versions.length ? show(app.state.m, v) : null;
  };
  const update = () => {
    const {versions} = index.modules[app.state.m], version = versions[app.state.v];
    modules.value = app.state.m;
    slider.max = versions.length - 1;
    slider.value = app.state.v;
    byId('pass-name').textContent = `${app.state.v + 1}/${versions.length} ${version.label}`;
    byId('pass-changes').replaceChildren(...changes(version));
    byId('ticks').replaceChildren(...versions.map((v, k) => tick(v, k, versions.length)));
    showRemoved(app);
  };
  slider.addEventListener('input', () => show(app.state.m, Number(slider.value)));
  modules.addEventListener('change', () => show(Number(modules.value), 0));
  byId('pass-before').addEventListener('click', () => step(-1));
  byId('pass-after').addEventListener('click', () => step(1));
  app.onRestored = update;
  return {step, update, show};
}

const changed = (version) => (version.added || 0) + (version.removed || 0) + (version.changed || 0);

function changes(version) {
  if (version.added === undefined) return [];
  return [element('span', {class: 'added'}, `+${version.added}`), ' ', element('span', {class: 'removed'}, `−${version.removed}`), ' ',
          element('span', {class: 'changed'}, `~${version.changed}`)];
}
// A mark below the slider, higher where more has changed.
function tick(version, k, count) {
  const height = Math.min(2 + 3 * Math.log2(1 + changed(version)), 26);
  return element('span', {class: 'tick', title: version.label,
                          style: `left:${count > 1 ? 100 * k / (count - 1) : 0}%;height:${height}px`});
}
function showRemoved(app) {
  const removed = app.model.ghosts, host = byId('removed');
  host.hidden = removed.length === 0;
  const more = app.model.diff ? app.model.diff.more : 0;
  host.replaceChildren(element('summary', {}, `${removed.length + more} removed by this pass`),
    ...removed.slice(0, 500).map(({name, text}, g) => element('div', {class: 'removed-row', title: text},
      element('a', {onclick: () => app.go(app.model.firstGhost + g)}, name), ' ', text.slice(0, 120))));
}
// SPDX-License-Identifier: Apache-2.0
