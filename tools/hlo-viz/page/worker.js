// The page's side of the layout worker.
import {byId} from './dom.js';

let worker = null, next = 1;
const waiting = new Map();

function createWorker() {
  const code = new Blob([byId('layout-worker').textContent], {type: 'text/javascript'});
  worker = new Worker(URL.createObjectURL(code));
  worker.onmessage = ({data}) => {
    const {resolve, reject} = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) reject(new Error(data.error));
    else resolve(data.result);
  };
}
export function startWorker() {
  if (!worker) createWorker();
}

// The layout of a graph, as layout.js describes it; rejected with what the worker complains of.
export function layoutOf(graph) {
  startWorker();
  return new Promise((resolve, reject) => {
    waiting.set(next, {resolve, reject});
    worker.postMessage({id: next++, graph});
  });
}
// SPDX-License-Identifier: Apache-2.0
