"use strict";
// The position of every box. Owners are above their objects; each owner forms a block with the objects below it, and blocks
// are side by side. Each namespace has a frame, and inside it each Cluster with its objects. Clusters come first.
// The run time is nearly linear. This file does not access the page.

const BOX = { width: 208, height: 44 };
const GAP = { x: 20, y: 40, stack: 10, trunk: 16 };
const FRAME = { pad: 26, title: 40 };
/** Titles: their usual size, the largest that fits above what is in a frame, how large they are on the screen at least, and
 * how wide a letter is. */
const TITLE = { usual: 17, most: 56, screen: 13, letter: 0.64 };
/** Boxes one above the other, and how wide a row of blocks may become before the next one begins. */
const STACK = 6;
const ROW = 1100;
/** An owner of at most so many objects has them in one column below it. */
const COLUMN = 4;
/** Of more than so many equal neighbours only the first are shown. */
const EQUAL = { most: 6, shown: 3 };

function isCluster({ object }) {
  return object.kind === "Cluster" && object.group === "cluster.x-k8s.io";
}

/** Objects by the owner they are drawn below; -1 holds those below none, and every Cluster. */
function childrenOf(graph, parents) {
  const children = new Map();
  parents.forEach((parent, at) => {
    const key = parent === null || isCluster(graph.objects[at]) ? -1 : parent;
    if (!children.has(key)) children.set(key, []);
    children.get(key).push(at);
  });
  return children;
}

/** Neighbours that look the same: a fold stands for all but the first of them. */
function equals(graph, owner, siblings) {
  const groups = new Map();
  for (const at of siblings) {
    const { object, state, paused, deleting } = graph.objects[at];
    const key = JSON.stringify([owner, object.namespace, object.kind, object.group, state, paused, deleting]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(at);
  }
  return groups;
}

/** The fold each object may be hidden behind, by position; to unfold the way to an object. */
function foldKeys(graph, children) {
  const keys = new Array(graph.objects.length).fill(null);
  for (const [owner, siblings] of children) {
    for (const [key, group] of equals(graph, owner, siblings)) {
      if (group.length > EQUAL.most) group.slice(EQUAL.shown).forEach((at) => { keys[at] = key; });
    }
  }
  return keys;
}

/** What is shown of some neighbours: objects and folds. */
function items(graph, owner, siblings, unfolded) {
  const shown = [];
  for (const [key, group] of equals(graph, owner, siblings)) {
    const { kind } = graph.objects[group[0]].object;
    const item = (at) => ({ at, fold: null, children: [] });
    if (group.length <= EQUAL.most) {
      shown.push(...group.map(item));
      continue;
    }
    const rest = group.length - EQUAL.shown;
    const open = unfolded.has(key);
    shown.push(...(open ? group : group.slice(0, EQUAL.shown)).map(item));
    const label = (open ? "− fold " : "+ ") + rest + " " + kind + (rest === 1 ? "" : plural(kind));
    shown.push({ at: null, fold: { key, open, label, hidden: open ? [] : group.slice(EQUAL.shown) }, children: [] });
  }
  return shown.sort((a, b) => (a.at === null) - (b.at === null) || a.at - b.at);
}

function plural(kind) {
  return /(s|x|ch|sh)$/.test(kind) ? "es" : "s";
}

/** Puts leaves one above the other, and all other blocks beside them. */
function units(children) {
  const others = children.filter((child) => child.children.length > 0);
  const isLast = (child) => child.fold !== null && others.length > 0;
  const leaves = children.filter((child) => child.children.length === 0 && !isLast(child));
  const made = [];
  if (leaves.length === 1 && others.length === 0) return [{ stack: null, block: leaves[0], width: BOX.width, height: BOX.height }];
  for (let from = 0; from < leaves.length; from += STACK) {
    const stack = leaves.slice(from, from + STACK);
    const height = stack.length * (BOX.height + GAP.stack) - GAP.stack;
    made.push({ stack, block: null, width: GAP.trunk + BOX.width, height });
  }
  for (const block of [...others, ...children.filter(isLast)]) made.push({ stack: null, block, width: block.width, height: block.height });
  return made;
}

/** Units in rows; the rows know how large they are. */
function rows(made) {
  const area = made.reduce((sum, unit) => sum + (unit.width + GAP.x) * (unit.height + GAP.y), 0);
  const most = Math.max(ROW, Math.sqrt(area) * 1.6);
  const done = [];
  let row = null;
  for (const unit of made) {
    if (!row || row.width + GAP.x + unit.width > most) {
      row = { units: [], width: -GAP.x, height: 0 };
      done.push(row);
    }
    row.units.push(unit);
    row.width += GAP.x + unit.width;
    row.height = Math.max(row.height, unit.height);
  }
  return done;
}

/** All below an item, each with how far below it is; nothing when that is too much for one column. */
function columnOf(item) {
  const column = [];
  const open = item.children.map((child) => [child, 1]).reverse();
  while (open.length > 0 && column.length <= COLUMN) {
    const [child, depth] = open.pop();
    column.push({ child, depth });
    for (let last = child.children.length - 1; last >= 0; last -= 1) open.push([child.children[last], depth + 1]);
  }
  return column.length > COLUMN || column.length === 0 ? null : column;
}

/** How large a block is with what is below it. */
function measure(graph, item) {
  const framed = item.at !== null && isCluster(graph.objects[item.at]);
  item.frame = framed ? FRAME.pad : 0;
  item.column = framed ? null : columnOf(item);
  if (item.column) {
    item.rows = [];
    item.gutter = 0;
    item.width = BOX.width + Math.max(...item.column.map(({ depth }) => depth)) * GAP.trunk;
    item.height = BOX.height + item.column.length * (BOX.height + GAP.stack);
    return;
  }
  item.rows = rows(units(item.children));
  item.gutter = item.rows.length > 1 ? GAP.x : 0;
  const widest = Math.max(0, ...item.rows.map((row) => row.width));
  item.width = Math.max(BOX.width, widest + item.gutter) + 2 * item.frame;
  item.height = BOX.height + item.rows.reduce((sum, row) => sum + GAP.y + row.height, 0);
  if (framed) item.height += FRAME.title + 2 * item.frame;
}

/** Places what is in rows; `below` is the item they hang from, if any. Returns what is to be placed further. */
function placeRows(inside, left, top, lines, below) {
  const open = [];
  let y = top;
  inside.forEach((row, number) => {
    let x = left;
    for (const unit of row.units) {
      if (unit.stack) {
        unit.stack.forEach((item, place) => {
          item.x = x + GAP.trunk;
          item.y = y + place * (BOX.height + GAP.stack);
          if (below) lines.push({ item, below, number, lane: y - GAP.y / 2, trunk: x + GAP.trunk / 2 });
        });
      } else {
        open.push([unit.block, x, y]);
        if (below) lines.push({ item: unit.block, below, number, lane: y - GAP.y / 2, trunk: null });
      }
      x += unit.width + GAP.x;
    }
    y += row.height + GAP.y;
  });
  return open;
}

/** Places what is in the column of an item. */
function placeColumn(item, lines) {
  item.column.forEach(({ child, depth }, place) => {
    child.x = item.x + depth * GAP.trunk;
    child.y = item.y + (place + 1) * (BOX.height + GAP.stack);
    lines.push({ item: child, below: child.above, number: 0, lane: null, trunk: null });
  });
}

/** The way from an owner to what is drawn below it. */
function way({ item, below, number, lane, trunk }) {
  if (lane === null) return "M" + (below.x + GAP.trunk / 2) + " " + (below.y + BOX.height) + "V" + (item.y + BOX.height / 2) + "H" + item.x;
  const from = below.x + BOX.width / 2;
  const bottom = below.y + BOX.height;
  const first = bottom + GAP.y / 2;
  const around = number === 0 ? "" : "V" + first + "H" + (below.left + GAP.x / 2);
  const start = "M" + from + " " + bottom + around + "V" + lane;
  return trunk === null
    ? start + "H" + (item.x + BOX.width / 2) + "V" + item.y
    : start + "H" + trunk + "V" + (item.y + BOX.height / 2) + "H" + item.x;
}

/** The title of a namespace. */
function titleOf(namespace) {
  return namespace === "" ? "cluster-scoped" : "namespace " + namespace;
}

/** Shortened in the middle: the end of a name tells objects apart. */
function short(name, most) {
  if (name.length <= most) return name;
  const end = Math.floor(most / 2);
  return name.slice(0, most - end - 1) + "…" + name.slice(name.length - end);
}

/** The title of a frame at a scale; from afar that of a Cluster may be in front of its boxes. */
function titleAt({ title, at, width }, scale, isFar) {
  const most = isFar && at !== undefined ? Infinity : TITLE.most;
  const size = Math.min(Math.max(TITLE.usual, TITLE.screen / scale), most);
  const letters = Math.floor((width - FRAME.pad) / (size * TITLE.letter));
  const bare = title.replace(/^(Cluster|namespace) /, "");
  return { size, name: title.length <= letters ? title : letters < 3 ? "" : short(bare, letters) };
}

/** Frames of namespaces with Clusters come first, and what is of the whole cluster last. */
function inOrder(graph, frames) {
  const rank = ([namespace, roots]) => (roots.some((at) => isCluster(graph.objects[at])) ? 0 : namespace === "" ? 2 : 1);
  return [...frames].sort((a, b) => rank(a) - rank(b) || (a[0] < b[0] ? -1 : 1));
}

/** In a namespace Clusters come first, then owners with what is below them, then all else. */
function unitsOfFrame(graph, frame) {
  const ofCluster = frame.items.filter((item) => item.frame > 0);
  return [...units(ofCluster), ...units(frame.items.filter((item) => item.frame === 0)).sort((a, b) => (a.stack !== null) - (b.stack !== null))];
}

/** Lays everything out. Returns boxes, frames, lines as paths, and which box stands for each object. */
function layOut(graph, parents, children, unfolded) {
  const all = [];
  const frames = new Map();
  for (const root of children.get(-1) || []) {
    const { namespace } = graph.objects[root].object;
    if (!frames.has(namespace)) frames.set(namespace, []);
    frames.get(namespace).push(root);
  }
  const grow = (owner, siblings, above) => items(graph, owner, siblings, unfolded).map((item) => {
    item.above = above;
    item.number = all.push(item) - 1;
    return item;
  });
  const drawn = inOrder(graph, frames).map(([namespace, roots]) => ({ title: titleOf(namespace), items: grow("namespace " + namespace, roots, null) }));
  for (let next = 0; next < all.length; next += 1) {
    const item = all[next];
    if (item.at !== null && children.has(item.at)) item.children = grow(item.at, children.get(item.at), item);
  }
  for (let last = all.length - 1; last >= 0; last -= 1) measure(graph, all[last]);
  const lines = [];
  const open = [];
  const clusters = [];
  const blocks = drawn.map((frame) => {
    frame.rows = rows(unitsOfFrame(graph, frame));
    const title = frame.title.length * TITLE.usual * TITLE.letter;
    frame.width = Math.max(title, ...frame.rows.map((row) => row.width)) + 2 * FRAME.pad;
    frame.height = frame.rows.reduce((sum, row) => sum + row.height + GAP.y, 0) - GAP.y + FRAME.title + 2 * FRAME.pad;
    return { stack: null, block: frame, width: frame.width, height: frame.height };
  });
  for (const [frame, x, y] of placeRows(rows(blocks), 0, 0, lines, null)) {
    frame.x = x;
    frame.y = y;
    open.push(...placeRows(frame.rows, x + FRAME.pad, y + FRAME.pad + FRAME.title, lines, null));
  }
  while (open.length > 0) {
    const [item, outside, above] = open.pop();
    const left = outside + item.frame;
    const top = above + (item.frame ? item.frame + FRAME.title : 0);
    if (item.frame) clusters.push({ title: "Cluster " + graph.objects[item.at].object.name, at: item.at, x: outside, y: above, width: item.width, height: item.height });
    item.left = left;
    item.y = top;
    if (item.column) {
      item.x = left;
      placeColumn(item, lines);
      continue;
    }
    item.x = left + item.gutter / 2 + (item.width - 2 * item.frame - item.gutter - BOX.width) / 2;
    for (const next of placeRows(item.rows, left + item.gutter, top + BOX.height + GAP.y, lines, item)) open.push(next);
  }
  return { items: all, frames: drawn, clusters, lines, ...boxesOf(graph, all) };
}

/** The box of each object, or the fold it is behind, or null where an owner of it is. */
function boxesOf(graph, all) {
  const boxOf = new Array(graph.objects.length).fill(null);
  for (const item of all) {
    if (item.at !== null) boxOf[item.at] = item;
    else item.fold.hidden.forEach((at) => { boxOf[at] = item; });
  }
  return { boxOf };
}

/** All objects as they are listed: Clusters first, then by kind and name. */
function ranking(objects) {
  const key = ({ kind, name, namespace }) => [kind, name, namespace];
  const compare = (a, b) => {
    const [one, other] = [key(objects[a].object), key(objects[b].object)];
    const differs = one.findIndex((text, at) => text !== other[at]);
    return isCluster(objects[b]) - isCluster(objects[a]) || (differs < 0 ? a - b : one[differs] < other[differs] ? -1 : 1);
  };
  return objects.map((_, at) => at).sort(compare);
}
