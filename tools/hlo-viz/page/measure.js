// How wide texts of boxes are, at 12 pixels.

const kFont = '12px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif';
const kBold = '600 ' + kFont;

const ruler = document.createElement('canvas').getContext('2d');
const widths = new Map();
export function textWidth(text, bold) {
  const key = (bold ? 'b' : 'n') + text;
  if (!widths.has(key)) {
    ruler.font = bold ? kBold : kFont;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}
// SPDX-License-Identifier: Apache-2.0
