// Actions of the user: pan, zoom, search, select, fold.

const data = JSON.parse(document.getElementById("data").textContent);
const graph = data.graph;
// Cluster-scoped objects have no namespace.
graph.objects.forEach(({ object }) => { object.namespace = object.namespace || ""; });
const element = (id) => document.getElementById(id);
const drawing = element("drawing");
const children = childrenOf(graph, data.parents);
const folds = foldKeys(graph, children);
const unfolded = new Set();
const view = new View(graph, drawing);
const owned = graph.objects.map(() => []);
graph.objects.forEach((object, at) => object.owners.forEach((owner) => {
  const known = owner.position === undefined ? null : owned[owner.position];
  // With two references to one owner, the last reference counts.
  if (known && (known.length === 0 || known[known.length - 1][0] !== at)) known.push([at, owner.tie]);
}));
const MOST_LISTED = 200;
/** Words that find objects by how they are. */
const flags = ({ state, paused, deleting, fate }) => [
  { ready: "is:ready", notReady: "is:not-ready", unknown: "is:unknown", noCondition: "is:without-condition" }[state],
  paused ? "is:paused" : "", deleting ? "is:deleting" : "", fate.moves ? "is:moving" : "is:staying",
].join(" ");
const texts = graph.objects.map((object) => {
  const { kind, namespace, name } = object.object;
  return `${kind} ${namespace}/${name} ${flags(object)}`.toLowerCase();
});

const ranked = ranking(graph.objects);

function html(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

function named({ kind, namespace, name }) {
  return `${kind} ${namespace ? namespace + "/" : ""}${name}`;
}

function layAgain() {
  view.show(layOut(graph, data.parents, children, unfolded));
  view.markLines(view.chosen === null ? [] : owned[view.chosen]);
}

/** Unfolds what hides an object. */
function reveal(at) {
  let changed = false;
  for (let next = at; next !== null; next = data.parents[next]) {
    if (folds[next] !== null && !unfolded.has(folds[next])) {
      unfolded.add(folds[next]);
      changed = true;
    }
  }
  if (changed) layAgain();
  return view.layout.boxOf[at];
}

function activate(item) {
  const before = view.active;
  view.active = item;
  if (before) view.mark(before);
  view.stale = true;
  view.redraw();
  if (!item) return drawing.removeAttribute("aria-activedescendant");
  view.mark(item);
  drawing.setAttribute("aria-activedescendant", "box" + item.number);
  element("said").textContent = view.label(item);
  return undefined;
}

function goTo(at) {
  const item = reveal(at);
  activate(item);
  choose(at);
  view.center(item);
}

/** Unfolds or folds; the first of what was hidden, or the fold, is active then. */
function toggle(fold) {
  if (!unfolded.delete(fold.key)) unfolded.add(fold.key);
  const first = fold.hidden[0];
  const scale = view.at.scale;
  layAgain();
  const item = first === undefined ? view.layout.items.find((one) => one.fold && one.fold.key === fold.key) : view.layout.boxOf[first];
  activate(item);
  if (scale >= FAR) view.bring(item);
}

function press(item) {
  activate(item);
  if (item.fold) toggle(item.fold);
  else choose(item.at);
}

function choose(at) {
  view.chosen = at;
  view.markLines(at === null ? [] : owned[at]);
  view.markAll();
  element("details").replaceChildren(...(at === null ? [] : detailsOf(at)));
}

function link(at, remark) {
  const { object, state } = graph.objects[at];
  const button = html("button", { type: "button", class: state }, html("span", { class: "sign", "aria-hidden": "true" }, SIGNS[state][0]), " " + named(object) + remark);
  button.addEventListener("click", () => goTo(at));
  return html("li", {}, button);
}

function detailsOf(at) {
  const { object, owners, condition, state, paused, deleting, fate, cluster } = graph.objects[at];
  const rows = [
    ["Kind", object.kind], ["Group", object.group || "core"], ["Namespace", object.namespace || "none (cluster-scoped)"], ["Name", object.name],
    ["Condition", condition ? `${condition.type} is ${condition.status}` : SIGNS[state][1]],
    ["Reason", condition ? condition.reason : ""], ["Paused", paused ? "yes" : ""], ["Deleting", deleting ? "yes" : ""],
    ["Cluster", cluster === undefined || cluster === at ? "" : graph.objects[cluster].object.name],
    ["Move", (fate.moves ? "moves: " : "stays: ") + fate.why], ["Also stays", fate.kept || ""],
  ];
  const list = html("dl", {});
  for (const [term, text] of rows) if (text) list.append(html("dt", {}, term), html("dd", {}, text));
  const above = owners.map((owner) => {
    const remark = (owner.controller ? " (controller)" : "") + (owner.tie === "soft" ? " (by name)" : "");
    return owner.position === undefined ? html("li", {}, `${owner.kind} ${owner.name}${remark}, not found`) : link(owner.position, remark);
  });
  const below = owned[at].slice(0, MOST_LISTED).map(([other, tie]) => link(other, tie === "soft" ? " (by name)" : ""));
  const more = owned[at].length > MOST_LISTED ? [html("li", {}, `and ${owned[at].length - MOST_LISTED} more`)] : [];
  const part = (title, entries) => (entries.length ? [html("h3", {}, title), html("ul", {}, ...entries)] : []);
  return [html("h2", {}, object.name), list, ...part("Owners", above), ...part(`Owns ${owned[at].length}`, [...below, ...more])];
}

function search() {
  const words = element("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ? ranked.filter((at) => words.every((word) => texts[at].includes(word))) : [];
  view.hits = new Set(hits);
  view.markAll();
  element("found").textContent = words.length ? `${hits.length} of ${graph.objects.length} objects` + (hits.length > MOST_LISTED ? `, showing the first ${MOST_LISTED}` : "") : "";
  element("hits").replaceChildren(...hits.slice(0, MOST_LISTED).map((at) => link(at, "")));
  for (const button of element("legend").children) button.setAttribute("aria-pressed", String(button.dataset.word === words.join(" ")));
  return hits;
}

function searchFor(text) {
  element("search").value = text;
  search();
}

function legend() {
  const count = (word) => texts.filter((text) => text.split(" ").includes(word)).length;
  const entries = [
    ["ready", "✓", "Ready", "is:ready"], ["notReady", "✕", "Not ready", "is:not-ready"], ["unknown", "?", "Unknown", "is:unknown"],
    ["noCondition", "·", "No condition", "is:without-condition"], ["", "‖", "Paused", "is:paused"], ["", "⌫", "Deleting", "is:deleting"],
  ];
  for (const [state, sign, title, word] of entries) {
    const number = count(word);
    if (number === 0) continue;
    const button = html("button", { type: "button", class: state, "data-word": word, "aria-pressed": "false" }, html("span", { class: "sign", "aria-hidden": "true" }, sign), ` ${title} ${number}`);
    button.addEventListener("click", () => searchFor(button.getAttribute("aria-pressed") === "true" ? "" : word));
    element("legend").append(button);
  }
}

/** The neighbour of a box in a direction. */
function neighbour(item, key) {
  if (key === "ArrowUp") return item.above;
  if (key === "ArrowDown") return item.children[0];
  const roots = view.layout.frames.flatMap((frame) => frame.items);
  const siblings = item.above ? item.above.children : roots;
  return siblings[siblings.indexOf(item) + (key === "ArrowRight" ? 1 : -1)];
}

function middle(factor) {
  const bounds = drawing.getBoundingClientRect();
  view.zoom(factor, bounds.left + bounds.width / 2, bounds.top + bounds.height / 2);
}

function onArrow(event) {
  const step = { ArrowUp: [0, 80], ArrowDown: [0, -80], ArrowLeft: [80, 0], ArrowRight: [-80, 0] }[event.key];
  if (event.shiftKey) return view.move(...step);
  const known = view.active && view.layout.items[view.active.number] === view.active ? view.active : null;
  const next = known ? neighbour(known, event.key) : view.layout.items[0];
  if (!next) return undefined;
  activate(next);
  return view.bring(next);
}

drawing.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const acts = {
    "+": () => middle(1.25), "=": () => middle(1.25), "-": () => middle(0.8), 0: () => view.fit(0.01),
    Enter: () => view.active && press(view.active), " ": () => view.active && press(view.active),
  };
  const act = event.key.startsWith("Arrow") ? () => onArrow(event) : acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== element("search")) {
    event.preventDefault();
    element("search").focus();
  } else if (event.key === "Escape") {
    searchFor("");
    choose(null);
    drawing.focus();
  }
});

const fingers = new Map();
let moved = 0;

drawing.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  drawing.setPointerCapture(event.pointerId);
  if (fingers.size === 0) moved = 0;
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  drawing.classList.add("held");
});

drawing.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const now = [event.clientX, event.clientY];
  const other = [...fingers].find(([id]) => id !== event.pointerId);
  fingers.set(event.pointerId, now);
  moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
  if (!other) {
    if (moved > 4) view.move(now[0] - before[0], now[1] - before[1]);
    return;
  }
  const span = ([x, y]) => Math.max(1, Math.hypot(x - other[1][0], y - other[1][1]));
  view.zoom(span(now) / span(before), (now[0] + other[1][0]) / 2, (now[1] + other[1][1]) / 2);
  view.move((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
});

function release(event) {
  if (!fingers.delete(event.pointerId) || fingers.size > 0) return;
  drawing.classList.remove("held");
  const item = event.type === "pointerup" && moved <= 4 ? view.under(event.clientX, event.clientY) : null;
  if (item) press(item);
}
drawing.addEventListener("pointerup", release);
drawing.addEventListener("pointercancel", release);

drawing.addEventListener("wheel", (event) => {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : 1;
  if (event.shiftKey) view.move(-(event.deltaX || event.deltaY) * unit, 0);
  else view.zoom(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0016)), event.clientX, event.clientY);
}, { passive: false });

element("search").addEventListener("input", search);
element("search").addEventListener("keydown", (event) => {
  const [first] = event.key === "Enter" ? search() : [];
  if (first !== undefined) goTo(first);
});
element("closer").addEventListener("click", () => middle(1.25));
element("farther").addEventListener("click", () => middle(0.8));
element("fit").addEventListener("click", () => view.fit(0.01));
element("theme").addEventListener("click", () => {
  const { dataset } = document.documentElement;
  dataset.theme = dataset.theme === "dark" ? "light" : "dark";
});
addEventListener("resize", () => view.redraw());
document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
legend();
layAgain();
view.fit(0.5);
