// The keyboard: what each key does, and the page that says so.
import {byId, element} from './dom.js';
import {drawnOperands, drawnUsers} from './near.js';

const kHelp = [
  ['/', 'search'], ['m', 'memory'], ['g', 'removed instructions: shown or not'], ['click', 'open a scope; select an instruction'], ['Enter', 'open or close what is selected'], ['x', 'open it with all scopes inside'],
  ['↑ ↓', 'to the first operand, to the first user'], ['← →', 'to the box on the left, on the right'],
  ['n', 'neighbourhood of what is selected'], ['[ ]', 'a step less, a step more of it'],
  ['p', 'path: from here to what is clicked next'], ['o', 'out: select the scope around'],
  ['r', 'look at the selected scope alone'], ['h', 'home: the whole module'], ['f', 'fit the picture into the window'],
  ['+ −', 'zoom'], ['l', 'copy a link to this view'], ['Tab', 'search, tree, picture, panel: in the tree ↑ ↓ ← → Enter'], ['t', 'the text'], ['d', 'dark or light'], ['e', 'export the picture as SVG'],
  [', .', 'the pass before, the pass after'], ['Alt ← →', 'back and forward'], ['Esc', 'leave a view; close this'],
];

export function listenToKeys(app, actions) {
  const sideways = (by) => {
    const box = app.view.boxOf(app.state.selected);
    if (!box) return;
    const row = app.view.scene.boxes.filter((b) => Math.abs(b.y - box.y) < 2 && b.depth === box.depth).sort((a, b) => a.x - b.x);
    const next = row[row.indexOf(box) + by];
    if (next) step(next.item);
  };
  const step = (item) => {
    app.select(item);
    app.view.centre(item);
  };
  const follow = (next) => {
    const {selected} = app.state;
    if (selected === null) return select(app);
    if (!app.model.isInstruction(selected)) return sceneNeighbour(app, selected, next === drawnUsers, step);
    const others = next(app.model, app.contents, selected);
    return others.length > 0 ? app.go(others[0]) : null;
  };
  const keys = {
    '/': () => byId('search').focus(), 'Enter': () => app.state.selected !== null && app.toggle(app.state.selected),
    'x': () => app.state.selected !== null && app.expandAll(app.state.selected),
    'ArrowUp': () => follow(drawnOperands), 'ArrowDown': () => follow(drawnUsers),
    'ArrowLeft': () => sideways(-1), 'ArrowRight': () => sideways(1),
    'n': () => isInstruction(app) && app.showNear(app.state.selected, 2),
    '[': () => app.widen(-1), ']': () => app.widen(1),
    'p': () => isInstruction(app) && app.startPath(app.state.selected),
    'o': () => app.state.selected !== null && app.model.ancestors(app.state.selected).length > 0 &&
      app.go(app.model.ancestors(app.state.selected)[0]),
    'r': () => app.state.selected !== null && app.model.isScope(app.state.selected) && app.setRoot(app.state.selected),
    'h': () => app.home(), 'f': () => app.view.fit(undefined, 1, true), '+': () => app.view.zoom(1.25), '=': () => app.view.zoom(1.25),
    '-': () => app.view.zoom(0.8), 'l': () => app.copyLink(), 't': () => actions.toggleText(), 'd': () => app.toggleDark(), 'e': () => app.saveSvg(),
    'g': () => byId('show-removed').click(), 'm': () => byId('toggle-memory').click(),
    ',': () => actions.pass(-1), '.': () => actions.pass(1), '?': () => toggleHelp(), 'Escape': () => escape(app),
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || isForElement(event)) return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

const isTyping = (event) => ['INPUT', 'SELECT', 'TEXTAREA'].includes(event.target.tagName) && event.key !== 'Escape';
// Buttons and links are pressed by Enter, panels scrolled by arrows.
const isForElement = (event) => (event.key === 'Enter' && ['BUTTON', 'A', 'SUMMARY'].includes(event.target.tagName)) ||
  (event.key.startsWith('Arrow') && Boolean(event.target.closest('#panel, #text-pane, #memory-pane, #left')));
const isInstruction = (app) => app.state.selected !== null && app.model.isInstruction(app.state.selected);

function select(app) {
  const [first] = app.view.scene.boxes;
  if (first) app.select(first.item);
}
// From a scope: along the first edge up or down in the picture.
function sceneNeighbour(app, item, down, step) {
  const box = app.view.boxOf(item);
  if (!box) return;
  const boxes = app.view.scene.boxes.filter((b) => b.depth === box.depth && (down ? b.y > box.y : b.y < box.y));
  boxes.sort((a, b) => Math.abs(a.y - box.y) - Math.abs(b.y - box.y) || Math.abs(a.x - box.x) - Math.abs(b.x - box.x));
  if (boxes.length > 0) step(boxes[0].item);
}
function escape(app) {
  byId('help').hidden = true;
  if (app.pathStart !== undefined) {
    app.pathStart = undefined;
    app.say('');
  } else if (app.state.set) {
    app.state.set = null;
    app.refresh().then(() => app.save(false));
  }
  byId('search').blur();
}
export function toggleHelp() {
  const help = byId('help');
  help.hidden = !help.hidden;
  if (help.childElementCount > 0) return;
  help.append(element('h2', {}, 'Keys'), element('dl', {}, kHelp.flatMap(([key, what]) => [element('dt', {}, key), element('dd', {}, what)])),
              element('button', {onclick: () => { help.hidden = true; }}, 'Close'));
}
// SPDX-License-Identifier: Apache-2.0
