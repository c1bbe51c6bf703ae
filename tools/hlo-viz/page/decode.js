// The page's data: JSON, packed with gzip and base64 by hlo-viz, unpacked when it is first needed.
import {byId} from './dom.js';

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; ++k) bytes[k] = text.charCodeAt(k);
  return bytes;
}

// The object in the <script> of that id.
export async function unpack(id) {
  const packed = byId(id).textContent;
  if (typeof DecompressionStream === 'undefined')
    throw new Error('this browser has no DecompressionStream: it is older than 2023');
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}
// SPDX-License-Identifier: Apache-2.0
