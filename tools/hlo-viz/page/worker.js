// The page's side of the layout worker.
import {byId} from './dom.js';

let worker = null, next = 1;
const waiting = new Map();

function createWorker() {
  const code = new Blob([byId('layout-worker').textContent], {type: 'text/javascript'});
  worker = new Worker(URL.createObjectURL(code));
  worker.onmessage = ({data}) => {
    waiting.get(data.id)(data.result);
    waiting.delete(data.id);
  };
}
export function startWorker() {
  if (!worker) createWorker();
}

// The layout of a graph, as layout.js describes it.
export function layoutOf(graph) {
  startWorker();
  return new Promise((resolve) => {
    waiting.set(next, resolve);
    worker.postMessage({id: next++, graph});
  });
}
// SPDX-License-Identifier: Apache-2.0
