// Draws the layout. Only visible boxes are elements. When zoomed out, all boxes with the same state are one path.

const SVG = "http://www.w3.org/2000/svg";
const SIGNS = {
  ready: ["✓", "condition is healthy"], notReady: ["✕", "condition is unhealthy"],
  unknown: ["?", "condition unknown"], noCondition: ["·", "no condition"],
};
/** Below this scale names cannot be read, and below the other one only large ones can. */
const FAR = 0.2;
const NEAR = 0.5;

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

class View {
  constructor(graph, root) {
    this.graph = graph;
    this.root = root;
    this.world = root.querySelector("#world");
    this.boxes = root.querySelector("#boxes");
    this.elements = new Map();
    this.at = { x: 0, y: 0, scale: 1 };
    this.hits = new Set();
    this.active = null;
    this.chosen = null;
    // True if the view is zoomed out, and if it is outdated.
    this.far = false;
    this.near = true;
    this.stale = false;
    this.asked = false;
    this.titles = [];
    this.titled = 0;
  }

  /** Takes a new layout. */
  show(layout) {
    this.layout = layout;
    this.size = {
      width: Math.max(0, ...layout.frames.map((frame) => frame.x + frame.width)),
      height: Math.max(0, ...layout.frames.map((frame) => frame.y + frame.height)),
    };
    this.elements.clear();
    this.boxes.replaceChildren();
    this.far = false;
    this.showFrames();
    this.showLines();
    this.draw();
  }

  showFrames() {
    const { frames, clusters } = this.layout;
    const rect = (name) => ({ x, y, width, height, at }) => {
      const state = at === undefined ? "" : " " + this.graph.objects[at].state;
      return svg("rect", { class: name + state, x, y, width, height });
    };
    this.root.querySelector("#frames").replaceChildren(...frames.map(rect("frame")), ...clusters.map(rect("frame cluster")));
    this.titles = [...frames, ...clusters].map((frame) => ({ frame, text: svg("text", frame.at === undefined ? {} : { class: "cluster" }) }));
    this.root.querySelector("#titles").replaceChildren(...this.titles.map(({ text }) => text));
    this.titled = 0;
  }

  /** Titles keep a size that can be read, and never go beyond their frame: what is too long loses its middle. */
  drawTitles() {
    const { scale } = this.at;
    if (this.titled === scale) return;
    this.titled = scale;
    for (const { frame, text } of this.titles) {
      const { size, name } = titleAt(frame, scale, scale < FAR);
      text.textContent = name;
      text.setAttribute("font-size", size);
      text.setAttribute("x", frame.x + FRAME.pad / 2);
      text.setAttribute("y", frame.y + FRAME.pad / 2 + size * 0.8);
    }
  }

  /** Ties of an object to the owner it is drawn below and to others. */
  tie(at, parent) {
    const owner = this.graph.objects[at].owners.find((one) => one.position === parent);
    return owner ? owner.tie : "hard";
  }

  showLines() {
    const paths = { hard: [], soft: [], crossing: [], "crossing-soft": [] };
    for (const line of this.layout.lines) {
      const { item, below } = line;
      const at = item.at === null ? item.fold.hidden[0] : item.at;
      const tie = at === undefined ? "hard" : this.tie(at, below.at);
      paths[tie].push(way(line));
    }
    const seen = new Set();
    this.graph.objects.forEach((object, at) => {
      for (const owner of object.owners) {
        const curve = owner.position === undefined ? null : this.curve(owner.position, at);
        if (curve && !seen.has(curve)) {
          seen.add(curve);
          paths[owner.tie === "soft" ? "crossing-soft" : "crossing"].push(curve);
        }
      }
    });
    for (const [id, parts] of Object.entries(paths)) this.root.querySelector("#" + id).setAttribute("d", parts.join(""));
  }

  /** From an owner that is not the one it is drawn below. */
  curve(owner, at) {
    const [from, to] = [this.layout.boxOf[owner], this.layout.boxOf[at]];
    if (!from || !to || to.above === from || from === to) return null;
    const [x1, y1] = [from.x + BOX.width / 2, from.y + BOX.height];
    const [x2, y2] = [to.x + BOX.width / 2, to.y];
    const bend = Math.max(40, Math.abs(y2 - y1) / 2);
    return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
  }

  /** Draws at the next frame, however often it is asked for. */
  redraw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  inSight() {
    const { x, y, scale } = this.at;
    const [width, height] = [this.root.clientWidth, this.root.clientHeight];
    const margin = BOX.width;
    const [left, top] = [-x / scale - margin, -y / scale - margin];
    const [right, bottom] = [(width - x) / scale + margin, (height - y) / scale + margin];
    return (item) => item.x < right && item.x + BOX.width > left && item.y < bottom && item.y + BOX.height > top;
  }

  draw() {
    const { x, y, scale } = this.at;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    this.drawTitles();
    if (scale < FAR) return this.drawFar();
    if (this.far || this.near !== (scale >= NEAR)) {
      this.far = false;
      this.near = scale >= NEAR;
      this.boxes.replaceChildren();
      this.elements.clear();
    }
    const isInSight = this.inSight();
    for (const item of this.layout.items) {
      const element = this.elements.get(item);
      if (isInSight(item)) {
        if (!element) this.add(item);
      } else if (element) {
        element.remove();
        this.elements.delete(item);
      }
    }
    return undefined;
  }

  /** One path for all boxes of a state. */
  drawFar() {
    if (this.far && !this.stale) return;
    this.far = true;
    this.stale = false;
    this.elements.clear();
    const paths = new Map();
    const add = (name, { x, y }) => {
      if (!paths.has(name)) paths.set(name, []);
      paths.get(name).push(`M${x} ${y}h${BOX.width}v${BOX.height}h-${BOX.width}z`);
    };
    for (const item of this.layout.items) {
      add(item.fold ? "fold" : this.graph.objects[item.at].state, item);
      if (this.isHit(item) || item === this.active) add("hit", item);
    }
    this.boxes.replaceChildren(...[...paths].map(([name, parts]) => svg("path", { class: "far " + name, d: parts.join("") })));
  }

  add(item) {
    const rect = svg("rect", { width: BOX.width, height: BOX.height });
    const element = svg("g", { id: "box" + item.number, transform: `translate(${item.x} ${item.y})`, role: "img", "aria-label": this.label(item) }, rect);
    if (item.fold) {
      element.append(this.near ? svg("text", { x: 14, y: 27 }, item.fold.label) : svg("text", { class: "large", x: 14, y: 31 }, short(item.fold.label, 12)));
    } else if (!this.near) {
      element.append(
        svg("rect", { class: "stripe", width: 12, height: BOX.height }),
        svg("text", { class: "large", x: 20, y: 31 }, short(this.ownName(item.at), 12)),
        svg("title", {}, this.label(item)),
      );
    } else {
      const { object, state, paused, deleting } = this.graph.objects[item.at];
      const beside = item.above && item.above.at !== null ? this.graph.objects[item.above.at].object.namespace : object.namespace;
      const place = object.namespace === beside ? "" : " · " + (object.namespace || "cluster-scoped");
      const signs = (deleting ? "⌫ " : "") + (paused ? "‖ " : "") + SIGNS[state][0];
      element.append(
        svg("rect", { class: "stripe", width: 6, height: BOX.height }),
        svg("text", { class: "kind", x: 14, y: 17 }, short(object.kind + place, 28)),
        svg("text", { x: 14, y: 34 }, short(object.name, 27)),
        svg("text", { class: "sign", x: BOX.width - 8, y: 17 }, signs),
        svg("title", {}, this.label(item)),
      );
    }
    this.elements.set(item, element);
    this.mark(item);
    this.boxes.append(element);
  }

  /** The name without that of the Cluster it begins with. */
  ownName(at) {
    const { object, cluster } = this.graph.objects[at];
    const prefix = cluster === undefined || cluster === at ? "" : this.graph.objects[cluster].object.name + "-";
    return prefix !== "" && object.name.startsWith(prefix) ? object.name.slice(prefix.length) : object.name;
  }

  isHit(item) {
    return item.fold ? item.fold.hidden.some((at) => this.hits.has(at)) : this.hits.has(item.at);
  }

  /** Classes of a box as things are now. */
  mark(item) {
    const element = this.elements.get(item);
    if (!element) return;
    const names = ["box", item.fold ? "fold" : this.graph.objects[item.at].state];
    if (this.isHit(item)) names.push("hit");
    if (item === this.active) names.push("active");
    if (item.at !== null && item.at === this.chosen) names.push("chosen");
    element.setAttribute("class", names.join(" "));
  }

  markAll() {
    this.root.classList.toggle("searching", this.hits.size > 0);
    this.elements.forEach((_, item) => this.mark(item));
    this.stale = true;
    this.redraw();
  }

  /** In words, for those who do not see it. */
  label(item) {
    if (item.fold) return item.fold.label;
    const { object, condition, state, paused, deleting } = this.graph.objects[item.at];
    const where = object.namespace ? "namespace " + object.namespace : "cluster-scoped";
    const how = condition ? `${condition.type} ${condition.status}${condition.reason && state !== "ready" ? ": " + condition.reason : ""}` : "no condition";
    const more = (paused ? ", paused" : "") + (deleting ? ", deleting" : "");
    return `${object.kind} ${object.name}, ${where}, ${how}${more}`;
  }

  /** Lines from the chosen object to its owners and to what it owns. */
  markLines(owned) {
    const paths = { hard: [], soft: [] };
    const box = this.chosen === null ? null : this.layout.boxOf[this.chosen];
    for (const line of box ? this.layout.lines : []) {
      const at = line.item.at;
      if (at !== null && (line.item === box || line.below === box)) paths[this.tie(at, line.below.at)].push(way(line));
    }
    const pairs = box ? owned.map(([at, tie]) => [this.chosen, at, tie]) : [];
    for (const owner of box ? this.graph.objects[this.chosen].owners : []) {
      if (owner.position !== undefined) pairs.push([owner.position, this.chosen, owner.tie]);
    }
    for (const [owner, at, tie] of pairs) paths[tie].push(this.curve(owner, at) || "");
    this.root.querySelector("#marked").setAttribute("d", paths.hard.join(""));
    this.root.querySelector("#marked-soft").setAttribute("d", paths.soft.join(""));
  }

  /** The box at a point of the window. */
  under(clientX, clientY) {
    const bounds = this.root.getBoundingClientRect();
    const x = (clientX - bounds.left - this.at.x) / this.at.scale;
    const y = (clientY - bounds.top - this.at.y) / this.at.scale;
    return this.layout.items.find((item) => x >= item.x && x <= item.x + BOX.width && y >= item.y && y <= item.y + BOX.height) || null;
  }

  /** Zooms and leaves a point of the window where it is. */
  zoom(factor, clientX, clientY) {
    const bounds = this.root.getBoundingClientRect();
    const [x, y] = [clientX - bounds.left, clientY - bounds.top];
    const scale = Math.min(3, Math.max(0.01, this.at.scale * factor));
    const by = scale / this.at.scale;
    this.at = { x: x - (x - this.at.x) * by, y: y - (y - this.at.y) * by, scale };
    this.redraw();
  }

  move(dx, dy) {
    this.at.x += dx;
    this.at.y += dy;
    this.redraw();
  }

  /** All of it, but no smaller than `least`. */
  fit(least) {
    const [width, height] = [this.root.clientWidth, this.root.clientHeight];
    const all = Math.min((width - 30) / this.size.width, (height - 30) / this.size.height, 1);
    const scale = Math.max(all, least);
    const middle = (room, size) => Math.max(15, (room - size * scale) / 2);
    this.at = { x: middle(width, this.size.width), y: middle(height, this.size.height), scale };
    this.redraw();
  }

  /** Brings a box into the middle, large enough to be read. */
  center(item) {
    const scale = Math.max(this.at.scale, 0.7);
    const [width, height] = [this.root.clientWidth, this.root.clientHeight];
    this.at = { x: width / 2 - (item.x + BOX.width / 2) * scale, y: height / 2 - (item.y + BOX.height / 2) * scale, scale };
    this.redraw();
  }

  /** Brings a box into sight when it is not. */
  bring(item) {
    const [left, top] = [item.x * this.at.scale + this.at.x, item.y * this.at.scale + this.at.y];
    const [right, bottom] = [left + BOX.width * this.at.scale, top + BOX.height * this.at.scale];
    const isIn = left > 0 && top > 0 && right < this.root.clientWidth && bottom < this.root.clientHeight;
    if (!isIn || this.at.scale < 0.5) this.center(item);
  }
}
