// Starts the page: data, toolbar, search box, first picture.
import {byId, element} from './dom.js';
import {App} from './app.js';
import {kOverlays} from './overlay.js';
import {listenToKeys, toggleHelp} from './keys.js';
import {decodeState} from './state.js';
import {startWorker} from './worker.js';
import {addPasses} from './passes.js';
import {addMemory} from './memory.js';

function addSearch(app) {
  const input = byId('search'), results = byId('results');
  let chosen = -1, items = [];
  const show = () => {
    const found = app.find(input.value);
    items = found.items;
    chosen = -1;
    results.replaceChildren(...items.slice(0, 50).map((i, k) => element('li', {'data-k': k, id: `result-${k}`, role: 'option'},
      element('b', {class: app.model.isGhost(i) ? 'removed' : null}, app.model.label(i)), ' ', element('span', {class: 'aside'}, app.model.summary(i)))));
    results.hidden = input.value.trim() === '';
    input.setAttribute('aria-expanded', String(!results.hidden));
    byId('found').textContent = input.value.trim() === '' ? '' : `${found.total} found`;
  };
  const take = (k) => {
    if (!(k in items)) return;
    const item = items[k];
    if (app.pathStart !== undefined) app.endPath(item);
    else app.go(item);
    results.hidden = true;
    input.blur();
  };
  input.addEventListener('input', show);
  input.addEventListener('focus', () => { results.hidden = input.value.trim() === ''; });
  input.addEventListener('blur', () => setTimeout(() => { results.hidden = true; }, 150));
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') take(Math.max(chosen, 0));
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    chosen = Math.min(Math.max(chosen + (event.key === 'ArrowDown' ? 1 : -1), 0), Math.min(items.length, 50) - 1);
    [...results.children].forEach((row, k) => row.classList.toggle('chosen', k === chosen));
    input.setAttribute('aria-activedescendant', `result-${chosen}`);
  });
  results.addEventListener('pointerdown', (event) => {
    const row = event.target.closest('li');
    if (row) take(Number(row.dataset.k));
  });
}

function addToolbar(app, actions) {
  byId('colours').append(...kOverlays.map((kind) => element('option', {value: kind}, kind)));
  byId('colours').addEventListener('change', (event) => {
    app.setColours(event.target.value);
    app.save(false);
  });
  const on = (id, action) => byId(id).addEventListener('click', action);
  on('home', () => app.home());
  on('back', () => history.back());
  on('forward', () => history.forward());
  on('fit', () => app.view.fit(undefined, 1, true));
  on('link', () => app.copyLink());
  on('toggle-text', actions.toggleText);
  on('dark', () => app.toggleDark());
  on('export', () => app.saveSvg());
  on('keys', toggleHelp);
  const shown = () => app.setShown(byId('show-all').checked, byId('show-removed').checked);
  byId('show-all').addEventListener('change', shown);
  byId('show-removed').addEventListener('change', shown);
}

// With hlo-viz --serve: asks now and then whether the dump has changed, and goes on with the new page once
// it has stayed the same for a while: a compiler writes many files.
function watch() {
  const {revision} = JSON.parse(byId('index').textContent);
  if (revision === undefined || !location.protocol.startsWith('http')) return;
  let seen = String(revision);
  setInterval(async () => {
    const answer = await fetch('revision').catch(() => null);
    byId('notes').classList.toggle('gone', !answer);
    if (!answer || !answer.ok) return;
    const now = await answer.text();
    if (now !== String(revision) && now === seen) location.reload();
    seen = now;
  }, 1000);
}

function showNotes(notes) {
  if (notes.length === 0) return;
  byId('notes').textContent = `⚠ ${notes.length === 1 ? notes[0] : notes.length + ' notes'}`;
  byId('notes').title = notes.join('\n');
}

async function start() {
  startWorker();
  const app = new App(JSON.parse(byId('index').textContent));
  window.hloViz = app;
  app.setDarkMode(matchMedia('(prefers-color-scheme: dark)').matches);
  const passes = addPasses(app), memory = addMemory(app);
  const actions = {toggleText: () => app.setTextShown(byId('text-pane').hidden), pass: passes.step, memory};
  addToolbar(app, actions);
  addSearch(app);
  listenToKeys(app, actions);
  await app.restore(decodeState(location.hash || app.index.start || ''));
  app.written = location.hash;
  if (app.state.selected === null) app.panel.show(app.model, null);
  passes.update();
  showNotes(app.index.notes);
  app.timings.first = performance.now();
  document.documentElement.dataset.ready = 'yes';
  watch();
}

start().catch((error) => {
  byId('status').textContent = `This page cannot be shown: ${error.message}`;
  console.error(error);
});
// SPDX-License-Identifier: Apache-2.0
