// Layered layout of boxes in boxes. Runs in a worker, so that the page never waits for it.
//
// A graph is {nodes: [{w, h, port, inner, values}], edges: [{from, to, values}]}: nodes in the order of
// execution, ports ('in' first, 'out' last) on the upper and lower border, `inner` a graph to be laid
// out first, whose size the node takes. The result is {w, h, x, y, routes, inner}: x and y of each
// node's upper left corner, a flat list of points for each edge, results of inner graphs.

const kGapX = 22, kGapY = 36, kHeader = 30, kPad = 16, kWidestRank = 3200, kMaxDummies = 30000;
const kDummyWidth = 8;

// Ranks from longest paths; edges against the order are turned for this.
function ranksOf(graph, forward) {
  const {nodes} = graph, rank = new Int32Array(nodes.length);
  const hasPorts = nodes.some((node) => node.port === 'in');
  const below = nodes.map(() => []), degree = new Int32Array(nodes.length);
  for (const [a, b] of forward) {
    below[a].push(b);
    ++degree[b];
    --degree[a];
  }
  nodes.forEach((node, k) => {
    if (hasPorts && node.port !== 'in') rank[k] = Math.max(rank[k], 1);
    for (const b of below[k]) rank[b] = Math.max(rank[b], rank[k] + 1);
  });
  for (let k = nodes.length - 1; k >= 0; --k)  // what feeds more than it reads moves down to that
    if (below[k].length > 0 && degree[k] < 0 && nodes[k].port !== 'in')
      rank[k] = Math.max(rank[k], below[k].reduce((least, b) => Math.min(least, rank[b]), Infinity) - 1);
  pushOutPorts(nodes, rank);
  return splitWideRanks(nodes, rank);
}

function pushOutPorts(nodes, rank) {
  let last = 0;
  nodes.forEach((node, k) => {
    if (node.port !== 'out') last = Math.max(last, rank[k]);
  });
  nodes.forEach((node, k) => {
    if (node.port === 'out') rank[k] = last + 1;
  });
}

// Ranks wider than a few screens become several.
function splitWideRanks(nodes, rank) {
  const order = [...nodes.keys()].sort((a, b) => rank[a] - rank[b] || a - b);
  const result = new Int32Array(nodes.length);
  let at = 0, width = 0, previous = order.length > 0 ? rank[order[0]] : 0;
  for (const k of order) {
    if (rank[k] !== previous || (width > 0 && width + nodes[k].w > kWidestRank && !nodes[k].port)) {
      ++at;
      width = 0;
      previous = rank[k];
    }
    width += nodes[k].w + kGapX;
    result[k] = at;
  }
  return result;
}

// Edges that pass ranks get a chain of dummy points, one chain for all edges of a node.
function addDummies(graph, forward, rank) {
  const points = graph.nodes.map((node, k) => ({w: node.w, h: node.h, rank: rank[k], node: k}));
  const segments = [], vias = new Array(forward.length);
  const chains = new Map();
  let budget = kMaxDummies;
  forward.forEach(([a, b], e) => {
    const via = [];
    let from = a;
    if (rank[b] - rank[a] > budget) {
      vias[e] = via;  // a straight line
      return;
    }
    for (let r = rank[a] + 1; r < rank[b]; ++r) {
      const key = a * 65536 + r;
      if (!chains.has(key)) {
        chains.set(key, points.length);
        segments.push([from, points.length]);
        points.push({w: kDummyWidth, h: 0, rank: r, node: -1});
        --budget;
      }
      from = chains.get(key);
      via.push(from);
    }
    segments.push([from, b]);
    vias[e] = via;
  });
  return {points, segments, vias};
}

function neighbours(count, segments) {
  const up = Array.from({length: count}, () => []), down = Array.from({length: count}, () => []);
  for (const [a, b] of segments) {
    down[a].push(b);
    up[b].push(a);
  }
  return {up, down};
}

// Orders each rank by the mean place of neighbours, back and forth.
function orderRanks(points, near) {
  const ranks = [];
  points.forEach((point, k) => (ranks[point.rank] ||= []).push(k));
  for (let r = 0; r < ranks.length; ++r) ranks[r] ||= [];
  const place = new Float64Array(points.length);
  const settle = (rank) => rank.forEach((k, at) => { place[k] = at; });
  ranks.forEach(settle);
  const sweeps = points.length > 4000 ? 4 : 10;
  for (let sweep = 0; sweep < sweeps; ++sweep) {
    const down = sweep % 2 === 0;
    const mean = (k) => {
      const others = down ? near.up[k] : near.down[k];
      if (others.length === 0) return place[k];
      let sum = 0;
      for (const other of others) sum += place[other];
      return sum / others.length;
    };
    for (let s = 0; s < ranks.length; ++s) {
      const rank = ranks[down ? s : ranks.length - 1 - s];
      const key = new Map(rank.map((k) => [k, mean(k)]));
      rank.sort((a, b) => key.get(a) - key.get(b) || place[a] - place[b]);
      settle(rank);
    }
  }
  return ranks;
}

// The places nearest to `wanted` (weighted squares) that keep the order and the widths of a rank:
// isotonic regression by pooling neighbours that push each other.
function spread(rank, points, wanted, weight, x) {
  const offsets = [];
  let offset = 0;
  rank.forEach((k, at) => {
    if (at > 0) offset += (points[rank[at - 1]].w + points[k].w) / 2 + kGapX;
    offsets.push(offset);
  });
  const pools = [];
  rank.forEach((k, at) => {
    pools.push({sum: (wanted[k] - offsets[at]) * weight[k], weight: weight[k], count: 1});
    while (pools.length > 1) {
      const last = pools[pools.length - 1], before = pools[pools.length - 2];
      if (before.sum / before.weight <= last.sum / last.weight) break;
      before.sum += last.sum;
      before.weight += last.weight;
      before.count += last.count;
      pools.pop();
    }
  });
  let at = 0;
  for (const pool of pools)
    for (let c = 0; c < pool.count; ++c, ++at) x[rank[at]] = pool.sum / pool.weight + offsets[at];
}

// Centres of all points along x.
function placeAlongX(points, ranks, near) {
  const x = new Float64Array(points.length), wanted = new Float64Array(points.length);
  const weight = new Float64Array(points.length).fill(1);
  for (const rank of ranks) spread(rank, points, wanted, weight, x);
  const pull = (k, others) => {
    let sum = 0, total = 0;
    for (const other of others) {
      const strength = points[k].node < 0 && points[other].node < 0 ? 8 : points[other].node < 0 ? 2 : 1;
      sum += x[other] * strength;
      total += strength;
    }
    wanted[k] = total > 0 ? sum / total : x[k];
    weight[k] = total > 0 ? total : 0.1;
  };
  const sweeps = points.length > 4000 ? 4 : 12;
  for (let sweep = 0; sweep < sweeps; ++sweep) {
    const down = sweep % 2 === 0, both = sweep >= sweeps - 2;
    for (let s = 0; s < ranks.length; ++s) {
      const rank = ranks[down ? s : ranks.length - 1 - s];
      for (const k of rank)
        pull(k, both ? [...near.up[k], ...near.down[k]] : down ? near.up[k] : near.down[k]);
      spread(rank, points, wanted, weight, x);
    }
  }
  return x;
}

function placeAlongY(points, ranks) {
  const top = [];
  let y = kHeader + kPad;
  ranks.forEach((rank, r) => {
    top[r] = y;
    const height = rank.reduce((most, k) => Math.max(most, points[k].h), 0);
    y += height + kGapY;
  });
  return {top, height: Math.max(y - kGapY + kPad, kHeader + kPad)};
}

// Where an edge meets a node's border: at the port of its value, else spread in order of the far ends.
function borderX(graph, node, edges, end, centre, farX, results) {
  const box = graph.nodes[node], left = centre - box.w / 2;
  const inner = results[node];
  const sorted = [...edges].sort((a, b) => farX(a) - farX(b));
  const place = new Map();
  sorted.forEach((edge, at) => {
    const port = inner && portX(box.inner, inner, end, graph.edges[edge].values);
    const share = (at + 1) / (sorted.length + 1);
    place.set(edge, port === undefined || port === null ? left + box.w * (0.2 + 0.6 * share) : left + port);
  });
  return place;
}

function portX(innerGraph, inner, end, values) {
  const kind = end === 'from' ? 'out' : 'in';
  let sum = 0, count = 0;
  innerGraph.nodes.forEach((node, k) => {
    if (node.port !== kind || !values.some((value) => node.values.includes(value))) return;
    sum += inner.x[k] + node.w / 2;
    ++count;
  });
  return count > 0 ? sum / count : null;
}

function routesOf(graph, forward, laid) {
  const {points, vias, x, top, results, height} = laid;
  const atFrom = new Map(), atTo = new Map();
  const collect = (end) => {
    const byNode = graph.nodes.map(() => []);
    graph.edges.forEach((edge, e) => byNode[edge[end]].push(e));
    const far = end === 'from' ? 'to' : 'from';
    byNode.forEach((edges, node) => {
      const placed = borderX(graph, node, edges, end, x[node], (e) => x[graph.edges[e][far]], results);
      for (const [edge, at] of placed) (end === 'from' ? atFrom : atTo).set(edge, at);
    });
  };
  collect('from');
  collect('to');
  return graph.edges.map((edge, e) => {
    const turned = forward[e][0] !== edge.from;
    const lower = (k) => top[points[k].rank] + points[k].h, upper = (k) => top[points[k].rank];
    const middle = vias[e].map((v) => [x[v], top[points[v].rank]]);
    if (turned) middle.reverse();
    const ends = turned ? [upper(edge.from), lower(edge.to)] : [lower(edge.from), upper(edge.to)];
    if (graph.nodes[edge.from].port) ends[0] = kHeader;  // ports lie on the border
    if (graph.nodes[edge.to].port) ends[1] = height;
    return [[atFrom.get(e), ends[0]], ...middle, [atTo.get(e), ends[1]]].flat();
  });
}

export function layout(graph) {
  const results = graph.nodes.map((node) => (node.inner ? node.done || layout(node.inner) : null));
  graph.nodes.forEach((node, k) => {
    if (results[k]) Object.assign(node, {w: Math.max(node.w, results[k].w), h: results[k].h});
  });
  const forward = graph.edges.map(({from, to}) => (from < to ? [from, to] : [to, from]));
  const rank = ranksOf(graph, forward);
  const {points, segments, vias} = addDummies(graph, forward, rank);
  const near = neighbours(points.length, segments);
  const ranks = orderRanks(points, near);
  const x = placeAlongX(points, ranks, near);
  let left = Infinity, right = -Infinity;
  points.forEach((point, k) => {
    left = Math.min(left, x[k] - point.w / 2);
    right = Math.max(right, x[k] + point.w / 2);
  });
  const shift = points.length > 0 ? kPad - left : 0;
  for (let k = 0; k < x.length; ++k) x[k] += shift;
  const {top, height} = placeAlongY(points, ranks);
  const routes = routesOf(graph, forward, {points, vias, x, top, results, height});
  return {
    w: points.length > 0 ? right - left + 2 * kPad : 2 * kPad, h: height, routes, inner: results,
    x: graph.nodes.map((node, k) => x[k] - node.w / 2), y: graph.nodes.map((_, k) => top[rank[k]]),
  };
}

function answer({id, graph}) {
  try {
    return {id, result: layout(graph)};
  } catch (error) {
    return {id, error: error.message};
  }
}

// In the worker: a request {id, graph} gets the answer {id, result} or {id, error}.
if (typeof document === 'undefined' && typeof self !== 'undefined')
  self.onmessage = ({data}) => self.postMessage(answer(data));
// SPDX-License-Identifier: Apache-2.0
