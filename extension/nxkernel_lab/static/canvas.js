/** The picture of a graph: zoom, pan, selection, and the walk along edges. */

import { fill, svg } from "./elements.js";

/**
 * What nxkernel_lab/inspector/page_data.py tells of where things are drawn.
 *
 * @typedef {[number, number, number, number]} Area - left, top, width, height
 * @typedef {{ id: string, node: string, kernel: number, area: Area, label: string, sub: string, look: string, output: boolean }} Shape
 * @typedef {{ id: string, node: string, kernel: number, look: string, area: Area, title: string }} Frame
 * @typedef {object} Geometry
 * @property {number} width
 * @property {number} height
 * @property {Shape[]} shapes
 * @property {Frame[]} frames
 * @property {[string, string, number, string][]} lines - what they leave, what they reach, the line before, the path
 * @property {string[]} folded
 * @property {string[]} groups
 * @property {Record<string, string[]>} homes - the groups around each node, the outermost first
 *
 * @typedef {import("./pane.js").Graph} Graph
 */

/** The scale below which labels cannot be read: what is searched or walked to is shown larger than that. */
const READABLE = 0.45;
/** The scale below which texts are not drawn at all, and the number of boxes from which those out of sight are not. */
const LEGIBLE = 0.28, MANY = 300;

/** Put more into a list by its key. @template T @param {Map<string, T[]>} map @param {string} key @param {T[]} values */
function add(map, key, ...values) {
  const list = map.get(key);
  if (list) list.push(...values);
  else map.set(key, values);
}

/** The picture: zoom, pan, selection, and the walk along edges. */
export class Canvas {
  /** @type {Map<string, Area>} */
  boxes = new Map();
  /** @type {Map<string, string[]>} */
  operands = new Map();
  /** @type {Map<string, string[]>} */
  readers = new Map();
  /** @type {Map<string, number[]>} */
  from = new Map();
  /** @type {Map<string, number[]>} */
  into = new Map();
  /** @type {Map<number, SVGElement>} */
  paths = new Map();
  /** @type {Map<string, Set<string | number>>} */
  marked = new Map();
  /** @type {Set<string>} */
  hot = new Set();
  /** @type {Map<string, SVGElement[]> | null} */
  cells = null;
  /** @type {Set<string>} */
  hiddenCells = new Set();
  /** @type {Map<string, Record<string, number>>} what a step did in each group: words, and how often */
  changed = new Map();

  /** @param {string} id @param {{ select: (id: string | null) => void, toggle: (group: string) => void, point: (id: string | null) => void }} calls */
  constructor(id, { select, toggle, point }) {
    this.id = id;
    this.onSelect = select;
    this.onToggle = toggle;
    this.onPoint = point;
    /** @type {string | null} */
    this.selected = null;
    /** @type {string | null} */
    this.came = null;
    /** @type {string[]} */
    this.found = [];
    this.at = { x: 0, y: 0, k: 1 };
    this.world = svg("g");
    /** @type {Map<string, SVGElement>} */
    this.shapes = new Map();
    /** @type {Geometry | null} */
    this.geometry = null;
    /** @type {Partial<Graph>} */
    this.graph = {};
    /** @type {{ tail: string, head: string, previous: number }[]} */
    this.lines = [];
    /** @type {DOMRect | null} */
    this.seen = null;
    this.moved = false;
    // Otherwise every text is laid out anew at each scale, which takes ten frames.
    this.element = svg("svg", { class: "nx-canvas", role: "tree", tabindex: 0, "text-rendering": "geometricPrecision" }, this.world);
    this.listen();
  }

  /** Forget all of the picture before. */
  forget() {
    for (const map of [this.boxes, this.operands, this.readers, this.from, this.into, this.paths, this.shapes]) map.clear();
    this.marked = new Map();
    this.hot = new Set();
    this.cells = null;
    this.hiddenCells = new Set();
  }

  /** @param {Geometry} geometry @param {Partial<Graph>} graph @param {string} name @param {string | null} keep @param {boolean} stay */
  draw(geometry, graph, name, keep, stay) {
    const before = keep && this.boxes.get(keep);
    this.geometry = geometry;
    this.graph = graph;
    this.element.setAttribute("aria-label", `Graph of ${name}. Arrow keys walk along edges, g folds a group.`);
    this.forget();
    this.lines = geometry.lines.map(([tail, head, previous, d], index) => {
      if (head) {
        add(this.readers, tail, head);
        add(this.operands, head, tail);
        add(this.into, head, index);
      }
      add(this.from, tail, index);
      this.paths.set(index, svg("path", { d }));
      return { tail, head, previous };
    });
    this.changed = this.changesInside(geometry);
    const frames = geometry.frames.map((frame) => this.frame(frame));
    const shapes = geometry.shapes.map((shape) => this.shape(shape));
    this.world.replaceChildren(
      ...frames.map(([area]) => area),
      svg("g", { class: "nx-lines", "aria-hidden": "true" }, ...this.paths.values()),
      ...frames.map(([, title]) => title),
      ...shapes,
    );
    if (this.selected && !this.boxes.has(this.selected)) this.selected = null;
    const after = keep && this.boxes.get(keep);
    if (before && after) {
      // What was folded or opened stays in its place, by the middle of its upper border.
      this.at.x += (before[0] + before[2] / 2 - after[0] - after[2] / 2) * this.at.k;
      this.at.y += (before[1] - after[1]) * this.at.k;
      this.move();
    } else if (stay && this.moved) this.move();
    else this.fit();
    this.mark();
  }

  /** What a step did to the nodes in each group: of a box that stands for many, how many and what. @param {Geometry} geometry */
  changesInside(geometry) {
    /** @type {Map<string, Record<string, number>>} */
    const changed = new Map();
    for (const [id, groups] of Object.entries(geometry.homes)) {
      const word = this.graph.nodes?.[id]?.change?.[0];
      if (!word) continue;
      for (const group of groups) {
        const counts = changed.get(group) ?? {};
        changed.set(group, { ...counts, [word]: (counts[word] ?? 0) + 1 });
      }
    }
    return changed;
  }

  /** The part of the measured time that a kernel takes, as a bar, with its words for those who do not see it. @param {number} kernel @param {number} x @param {number} y @param {number} width */
  share(kernel, x, y, width) {
    const share = this.graph.kernels?.[kernel]?.share ?? 0;
    return { words: share ? `, ${Math.round(share * 100)} % of the time` : "", bar: share > 0 && svg("rect", { class: "nx-share", x, y, width: Math.max(2, width * share), height: 3 }) };
  }

  /** @param {Frame} frame @returns {[SVGElement, SVGElement]} */
  frame({ id, kernel, look, area: [x, y, width, height], title }) {
    this.boxes.set(id, [x, y, width, height]);
    const { words, bar } = this.share(kernel, x + 1, y + 23, width - 2);
    const handle = svg(
      "g",
      { class: `nx-title ${look}`, id: this.domId(id), "data-id": id, "data-group": id, role: "treeitem", "aria-expanded": "true", "aria-label": title + words },
      svg("rect", { x: x + 1, y: y + 1, width: width - 2, height: 24, rx: 7 }),
      bar,
      svg("text", { x: x + 12, y: y + 17, text: title }),
      svg("text", { class: "nx-fold", x: x + width - 20, y: y + 17, text: "▾", "aria-hidden": "true" }),
    );
    this.shapes.set(id, handle);
    return [svg("rect", { class: `nx-frame ${look}`, x, y, width, height, rx: 8 }), handle];
  }

  /** @param {Shape} shape */
  shape({ id, node, kernel, area: [x, y, width, height], label, sub, look, output }) {
    this.boxes.set(id, [x, y, width, height]);
    const folded = look.startsWith("group"), inside = folded ? Object.entries(this.changed.get(id) ?? {}) : [];
    inside.sort((one, other) => other[1] - one[1]);
    const done = inside.map(([word, count]) => `${count} ${word}`).join(", ");
    const change = folded ? inside[0] : this.graph.nodes?.[node]?.change;
    const { words, bar } = folded ? this.share(kernel, 1, height - 4, width - 2) : { words: "" };
    const below = done ? `${done} of ${sub.split(" ")[0]}` : sub + (bar ? words.replace(" of the time", "").replace(", ", " · ") : "");
    const group = svg(
      "g",
      {
        class: `nx-shape ${look}${output ? " nx-output" : ""}${change ? ` nx-${change[0]}` : ""}`, id: this.domId(id), "data-id": id, role: "treeitem", transform: `translate(${x},${y})`,
        "aria-label": `${label}, ${sub}${output ? ", returned" : ""}${words}${done && `, ${done}`}${change && !folded ? `, ${change[1]}` : ""}`,
        "aria-expanded": folded ? "false" : undefined, "data-group": folded ? id : undefined,
      },
      svg("rect", { width, height, rx: 6 }),
      bar,
      svg("text", { x: width / 2, y: height / 2 - 3, text: label }),
      svg("text", { class: "nx-sub", x: width / 2, y: height / 2 + 12, text: below }),
      folded && svg("text", { class: "nx-fold", x: width - 14, y: height / 2 + 4, text: "▸", "aria-hidden": "true" }),
    );
    this.shapes.set(id, group);
    return group;
  }

  /** @param {string} id */
  domId = (id) => `${this.id}-${id.replace(/[^\w@]/g, "-")}`;

  move() {
    const { x, y, k } = this.at;
    this.moved = true;
    this.world.setAttribute("transform", `translate(${x},${y}) scale(${k})`);
    this.element.classList.toggle("nx-tiny", k < LEGIBLE);
    if (this.shapes.size > MANY) this.cull();
  }

  /** Of a large graph, draw only what is in sight and around it: the rest is left out by squares of the picture. */
  cull() {
    const size = 1200, { x, y, k } = this.at, { width, height } = this.room();
    if (!this.cells) {
      /** @type {Map<string, SVGElement[]>} */
      const cells = (this.cells = new Map());
      for (const [id, [bx, by]] of this.boxes) {
        const shape = this.shapes.get(id), cell = `${Math.floor(bx / size)} ${Math.floor(by / size)}`;
        if (!shape || shape.classList.contains("nx-title")) continue;
        // Texts are laid out even where what they are in is not drawn.
        const parts = [shape, ...shape.querySelectorAll("text")];
        add(cells, cell, ...parts);
      }
      this.hiddenCells = new Set();
    }
    for (const [cell, parts] of this.cells) {
      const [cx, cy] = cell.split(" ").map((part) => Number(part) * size);
      const out = (cx + 2 * size) * k + x < 0 || (cy + 2 * size) * k + y < 0 || (cx - size) * k + x > width || (cy - size) * k + y > height;
      if (out === this.hiddenCells.has(cell)) continue;
      if (out) this.hiddenCells.add(cell);
      else this.hiddenCells.delete(cell);
      for (const part of parts) part.style.display = out ? "none" : "";
    }
  }

  /** Its size, which is asked for once: it costs a layout of all that was just drawn. */
  room() {
    return (this.seen ??= this.element.getBoundingClientRect());
  }

  resized() {
    this.seen = null;
    if (!this.geometry) return;
    if (this.moved) this.move();
    else this.fit();
  }

  /** Show all of it; a view that nobody has moved stays so when the widget changes its size. */
  fit() {
    const { width, height } = this.room(), all = this.geometry;
    if (!width || !all?.width) return;
    const k = Math.max(0.03, Math.min((width - 24) / all.width, (height - 24) / all.height, 1.15));
    this.at = { k, x: (width - all.width * k) / 2, y: Math.max(12, (height - all.height * k) / 2) };
    this.move();
    this.moved = false;
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] - what stays in its place */
  zoom(factor, x, y) {
    const { width, height } = this.room(), at = this.at;
    const k = Math.min(6, Math.max(0.02, at.k * factor)), cx = x ?? width / 2, cy = y ?? height / 2;
    this.at = { k, x: cx - ((cx - at.x) * k) / at.k, y: cy - ((cy - at.y) * k) / at.k };
    this.move();
  }

  /** @param {string} id */
  reveal(id) {
    const box = this.boxes.get(id);
    if (!box) return;
    if (this.at.k < READABLE) this.zoom(0.8 / this.at.k);
    const { width, height } = this.room(), [x, y, w, h] = box, { k } = this.at;
    const left = x * k + this.at.x, top = y * k + this.at.y, edge = 20;
    if (left < edge || left + w * k > width - edge) this.at.x += Math.min(width / 2, Math.max(edge, (width - w * k) / 2)) - left;
    if (top < edge || top + Math.min(h, 40) * k > height - edge) this.at.y += (height - Math.min(h, 40) * k) / 2 - top;
    this.move();
  }

  /** @param {string | null | undefined} id @param {boolean} reveal */
  select(id, reveal = false) {
    this.selected = id && this.boxes.has(id) ? id : null;
    if (this.selected && reveal) this.reveal(this.selected);
    this.mark();
    this.onSelect(this.selected);
  }

  /** Light the boxes of some nodes, as of those that a line made, or of the folded groups that they are in. @param {string[]} nodes */
  light(nodes) {
    const { homes = {}, shapes = [] } = this.geometry ?? {}, wanted = new Set(nodes), around = new Set(nodes.flatMap((id) => homes[id] ?? []));
    this.hot = new Set(wanted.size ? shapes.filter((shape) => wanted.has(shape.node) || around.has(shape.id)).map((shape) => shape.id) : []);
    this.among("nx-hot", this.hot, this.shapes);
  }

  /** @param {string[]} ids */
  show(ids) {
    this.found = ids;
    this.mark();
  }

  mark() {
    const now = this.selected ?? "", near = new Set([...(this.operands.get(now) ?? []), ...(this.readers.get(now) ?? [])]);
    const lit = new Set(this.from.get(now) ?? []);
    for (const index of this.into.get(now) ?? []) for (let i = index; i >= 0 && !lit.has(i); i = this.lines[i].previous) lit.add(i);
    this.element.classList.toggle("nx-searching", this.found.length > 0);
    this.among("nx-selected", new Set(this.selected ? [this.selected] : []), this.shapes);
    this.among("nx-near", near, this.shapes);
    this.among("nx-found", new Set(this.found), this.shapes);
    this.among("nx-hot", this.hot, this.shapes);
    this.among("nx-lit", lit, this.paths);
    if (this.selected) this.element.setAttribute("aria-activedescendant", this.domId(this.selected));
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** Give a class to some elements, and take it from those that had it: a large graph has few of either. @template {string | number} T @param {string} name @param {Set<T>} wanted @param {Map<T, SVGElement>} elements */
  among(name, wanted, elements) {
    const before = /** @type {Set<T>} */ (this.marked.get(name) ?? new Set());
    for (const id of new Set([...before, ...wanted])) {
      const is = wanted.has(id), element = elements.get(id);
      if (is === before.has(id) || !element) continue;
      element.classList.toggle(name, is);
      if (name === "nx-selected") element.setAttribute("aria-selected", String(is));
    }
    this.marked.set(name, wanted);
  }

  /** @param {string} key */
  walk(key) {
    const here = this.selected && this.boxes.get(this.selected), now = this.selected ?? "";
    if (!here) return this.select(this.geometry?.shapes[0]?.id, true);
    const [x, y, w] = here, middle = x + w / 2;
    const off = (/** @type {string} */ id) => {
      const [a, b, c] = this.boxes.get(id) ?? here;
      return [a + c / 2 - middle, b - y];
    };
    const beside = () => [...this.boxes.keys()].filter((id) => Math.abs(off(id)[1]) < 32 && (key === "ArrowRight" ? off(id)[0] > 1 : off(id)[0] < -1));
    const options = key === "ArrowDown" ? this.readers.get(now) : key === "ArrowUp" ? this.operands.get(now) : beside();
    if (!options?.length) return;
    const nearest = options.reduce((a, b) => (Math.hypot(...off(b)) < Math.hypot(...off(a)) ? b : a));
    const next = this.came && options.includes(this.came) ? this.came : nearest;
    this.came = this.selected;
    this.select(next, true);
  }

  listen() {
    const at = (/** @type {Event} */ event, /** @type {string} */ what) => /** @type {SVGElement | null} */ (/** @type {Element} */ (event.target).closest(what));
    const node = (/** @type {Event} */ event) => at(event, "[data-id]");
    /** @type {{ x: number, y: number, from: { x: number, y: number } } | null} */
    let drag = null;
    let moved = false;
    fill(this.element, {
      onwheel: (event) => {
        // A page that scrolls past is not caught: zooming takes the focus or the Ctrl key.
        if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.element) return;
        event.preventDefault();
        const box = this.element.getBoundingClientRect();
        this.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
      },
      onpointerdown: (event) => {
        if (event.button === 0) [drag, moved] = [{ x: event.clientX, y: event.clientY, from: { ...this.at } }, false];
      },
      onpointermove: (event) => {
        if (!drag || (!moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 4)) return;
        if (!moved) this.element.setPointerCapture(event.pointerId);
        moved = true;
        this.at = { k: this.at.k, x: drag.from.x + event.clientX - drag.x, y: drag.from.y + event.clientY - drag.y };
        this.move();
      },
      onpointerup: () => (drag = null),
      onpointercancel: () => (drag = null),
      onclick: (event) => {
        if (moved) return;
        const hit = node(event);
        this.element.focus({ preventScroll: true });
        const group = at(event, ".nx-fold") && hit?.dataset.group;
        if (group) this.onToggle(group);
        else this.select(hit?.dataset.id);
      },
      ondblclick: (event) => {
        const hit = node(event);
        if (hit?.dataset.group !== undefined && !at(event, ".nx-fold")) this.onToggle(hit.dataset.group);
      },
      onpointerover: (event) => this.onPoint(node(event)?.dataset.id ?? null),
      onpointerleave: () => this.onPoint(null),
    }, []);
  }
}
