// Neighbourhoods and paths: sets of instructions of one computation.

const kMaxUsers = 16;
export const kMaxInSet = 2000;  // instructions that are laid out as one flat picture

// Drawn instructions at most `radius` steps from `centre`; get-tuple-elements and constants cost
// nothing and are not in the result, which ends at kMaxInSet.
export function neighbourhood(model, contents, centre, radius) {
  const found = new Set([centre]);
  let level = [centre];
  for (let d = 0; d < radius; ++d) {
    const next = [];
    for (const i of level) {
      const users = drawnUsers(model, contents, i);
      const reached = drawnOperands(model, contents, i);
      if (i === centre || users.length <= kMaxUsers) for (const user of users) reached.push(user);
      for (const other of reached)
        if (!found.has(other) && found.size < kMaxInSet) {
          found.add(other);
          if (model.opcode(other) !== 'tuple') next.push(other);
        }
    }
    level = next;
  }
  return found;
}

export function drawnOperands(model, contents, i) {
  const found = [];
  for (const operand of model.operandsOf.of(i)) {
    const source = contents.source(operand);
    if (source >= 0) found.push(source);
  }
  return found;
}
export function drawnUsers(model, contents, i) {
  const found = [], open = [i];
  while (open.length > 0)
    for (const user of model.usersOf.of(open.pop()))
      if (contents.hidden[user]) open.push(user);
      else found.push(user);
  return [...new Set(found)];
}

// Instructions on any path from `a` to `b`, or from `b` to `a`; empty where there is none.
export function pathsBetween(model, contents, a, b) {
  const closure = (start, next) => {
    const seen = new Set([start]), open = [start];
    while (open.length > 0)
      for (const other of next(model, contents, open.pop()))
        if (!seen.has(other)) {
          seen.add(other);
          open.push(other);
        }
    return seen;
  };
  const down = (from, to) => {
    const below = closure(from, drawnUsers);
    if (!below.has(to)) return [];
    return [...closure(to, drawnOperands)].filter((i) => below.has(i));
  };
  const forward = down(a, b);
  return forward.length > 0 ? forward : down(b, a);
}
// SPDX-License-Identifier: Apache-2.0
