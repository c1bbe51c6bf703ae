// Levels of detail: what of a scene is painted at a scale. A box whose inner boxes would be too small to read is painted as one
// box with its name, so that a large picture seen from far away is a small picture of its scopes, never a grid of specks.
//
//   scale 1.0   while.3 [ add.1  mul.2  [fusion.4: exp.5 ...] ]
//   scale 0.4   while.3 [ add.1  mul.2  fusion.4 ]
//   scale 0.1   while.3
// Costs a pass over the boxes of the scene, once a scale.

export const kLegible = 9;  // pixels of the screen: no text is painted smaller
const kTileWidth = 44, kTileHeight = 13;  // pixels of the screen that a box with a name takes at least

// Scales from which the boxes directly inside of each open box can be read, by the average of them.
function readableFrom(scene) {
  const sums = new Map();
  for (const box of scene.boxes) {
    const sum = sums.get(box.parent) || {w: 0, h: 0, n: 0};
    sum.w += box.w;
    sum.h += box.open ? 2 * kTileHeight + box.h : box.h;
    ++sum.n;
    sums.set(box.parent, sum);
  }
  for (const box of scene.boxes) {
    const sum = sums.get(box);
    box.readableFrom = sum ? Math.max(kTileWidth * sum.n / sum.w, kTileHeight * sum.n / sum.h) : 0;
  }
  scene.measured = true;
}

// Sets `folded` (painted as one) and `hidden` (inside of such a box) of each box. Parents stand before children.
export function foldAt(scene, scale) {
  if (scene.foldedAt === scale) return;
  if (!scene.measured) readableFrom(scene);
  for (const box of scene.boxes) {
    box.hidden = Boolean(box.parent && (box.parent.hidden || box.parent.folded));
    box.folded = box.open && !box.hidden && scale < box.readableFrom;
  }
  scene.foldedAt = scale;
}

// As much of a text as has room, at `size` units where the texts of `measured(text)` are 12 units high. Of the `tail` its last
// letters are kept: multi….649, for the number tells names apart.
export function fitted(text, size, room, measured, tail = 0) {
  const width = measured(text) * size / 12;
  if (width <= room) return text;
  const letters = Math.floor(text.length * room / width) - 1;
  if (letters < tail + 3) return letters < 3 ? '' : text.slice(0, letters) + '…';
  return text.slice(0, letters - tail) + '…' + (tail > 0 ? text.slice(-tail) : '');
}
// SPDX-License-Identifier: Apache-2.0
