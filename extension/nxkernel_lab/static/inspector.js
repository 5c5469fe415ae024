/** The page's side of the inspector: shows what Python has laid out, and asks Python for folding, code and exports. */

import { Canvas } from "./canvas.js";
import { Theme, button, fill, html } from "./elements.js";
import { Pane, Source } from "./pane.js";
import { clock, counted } from "./quantities.js";

/**
 * @typedef {import("./canvas.js").Geometry} Geometry
 * @typedef {import("./canvas.js").Shape} Shape
 * @typedef {import("./canvas.js").Frame} Frame
 * @typedef {import("./pane.js").Graph} Graph
 * @typedef {import("./pane.js").GraphNode} GraphNode
 * @typedef {import("./pane.js").SourceText} SourceText
 * @typedef {0 | 1} Side - the compilation that is inspected, and the one beside it
 * @typedef {"SVG" | "PNG" | "DOT"} Picture
 * @typedef {{ time: number, where: string, what: string, spent: string, why: string, advice: string, notes: string }} Row
 * @typedef {{ cell?: string, line?: number, text?: string[] }} Pointed - a line in a cell, and all lines of that
 * @typedef {{ view: string } & ({ kind: "text", kernel: number, form: string, text: string } | { kind: "export", text: string, name: string })} Message
 *
 * @typedef {object} Fields - what Python keeps in step: see nxkernel_lab/inspector/widget.py
 * @property {string} name
 * @property {string[]} choices
 * @property {number} chosen
 * @property {{ name: string, count: string, about: string }[]} steps
 * @property {string} step
 * @property {string} way
 * @property {string[]} ways
 * @property {Partial<Graph>} graph
 * @property {Geometry | { shapes?: undefined }} geometry
 * @property {SourceText[]} sources
 * @property {{ index: number, graph?: Partial<Graph>, difference?: string[] }} beside
 * @property {Geometry | { shapes?: undefined }} beside_geometry
 * @property {{ text?: string, failed?: boolean }} measured
 * @property {{ rows?: Row[], counts?: string }} feed
 * @property {string} empty
 *
 * @typedef {import("./elements.js").Model<Fields, Message>} Model
 */

/** @type {Side[]} */
const SIDES = [0, 1];
/** @type {Geometry} */
const NOTHING = { width: 0, height: 0, shapes: [], frames: [], lines: [], folded: [], groups: [], homes: {} };

/** The whole widget. */
class Inspector {
  /** @param {Model} model @param {HTMLElement} root */
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.id = `nx${Math.random().toString(36).slice(2, 10)}`;
    /** @type {Side} */
    this.active = 0;
    /** @type {(string | null)[]} the group of each side that was folded or opened last */
    this.toggled = [null, null];
    /** @type {string | null} the node to go to when its groups are open */
    this.asked = null;
    this.hit = -1;
    /** @type {({ geometry: Geometry, graph: Partial<Graph>, what: string } | undefined)[]} */
    this.drawn = [];
    /** @type {Picture | null} */
    this.saving = null;
    this.seconds = false;
    /** @type {[string, number] | undefined} the cell and line that were told last */
    this.told = undefined;
    this.canvases = SIDES.map((side) => new Canvas(`${this.id}-${side}`, {
      select: (id) => this.selected(side, id), toggle: (group) => this.toggle(side, group), point: (id) => this.pointed(side, id),
    }));
    this.pane = new Pane({ read: (kernel, form) => this.send("read", { side: this.active, kernel, form }), select: (id) => this.goTo(id) });
    this.source = new Source({ point: (nodes, cell, line) => this.line(nodes, cell, line), select: (id) => ((this.active = 0), this.goTo(id)) });
    const choice = (/** @type {string} */ label, /** @type {() => void} */ change) => html("select", { "aria-label": label, title: label, onchange: change });
    this.select = choice("Compilation", () => this.send("choose", { index: this.select.selectedIndex }));
    this.other = choice("Compare with", () => this.send("compare", { index: Number(this.other.value) }));
    this.other.classList.add("nx-other");
    this.way = choice("Put together the nodes of", () => this.send("together", { way: this.way.value }));
    this.title = html("strong", { class: "nx-name" });
    this.number = html("span", { class: "nx-muted" });
    this.stepTabs = html("div", { class: "nx-steps", role: "tablist", "aria-label": "Steps of the compilation", hidden: true });
    this.query = html("input", { type: "search", placeholder: "Search ( / )", "aria-label": "Search the graph", oninput: () => this.search() });
    this.matches = html("span", { class: "nx-muted nx-matches", role: "status" });
    this.list = html("ol", { class: "nx-events", "aria-label": "Events", tabindex: 0 });
    this.counts = html("p", { class: "nx-counts" });
    this.spoken = html("span", { class: "nx-spoken", "aria-live": "polite" });
    this.all = button("Fold all", "Fold or open all groups", () => this.toggleAll());
    this.measure = button("Measure", "Measure what each kernel takes: on the call that was inspected, else on made-up inputs", () => ((this.measured.textContent = "Measuring…"), (this.measured.hidden = false), this.send("measure")));
    this.measured = html("p", { class: "nx-measured", role: "status", hidden: true, style: "white-space: pre-line" });
    this.difference = html("ul", { class: "nx-difference", "aria-label": "How the keys differ", hidden: true });
    const view = () => this.canvases[this.active];
    const tools = html("div", { class: "nx-tools", role: "toolbar", "aria-label": "Graph" },
      this.query, this.matches, html("span", { class: "nx-gap" }), this.way, this.all, this.measure,
      html("span", { class: "nx-set" }, button("−", "Zoom out (-)", () => view().zoom(0.8)), button("Fit", "Fit (0)", () => view().fit()), button("+", "Zoom in (+)", () => view().zoom(1.25))),
      button("◐", "Light or dark", () => this.theme.turn()),
      html("span", { class: "nx-set" }, .../** @type {Picture[]} */ (["SVG", "PNG", "DOT"]).map((kind) => button(kind, `Save as ${kind}`, () => this.save(kind)))));
    this.names = [0, 1].map(() => html("p", { class: "nx-side-name", hidden: true }));
    this.panels = this.canvases.map((canvas, side) => html("div", { class: "nx-side" }, this.names[side], canvas.element));
    fill(this.panels[0], { id: `${this.id}-panel` }, []);
    this.root.classList.add("nx-inspector");
    // JupyterLab's one-key commands (0 0 restarts the kernel) must not fire from here.
    this.root.dataset.lmSuppressShortcuts = "true";
    fill(this.root, { onkeydown: (event) => this.key(event) }, [
      html("div", { class: "nx-top" }, this.title, this.select, this.number, this.other, html("span", { class: "nx-gap" }), this.stepTabs), tools, this.measured, this.difference,
      (this.main = html("div", { class: "nx-main" }, this.panels[0], html("div", { class: "nx-beside" }, this.pane.element, this.source.element))),
      html("div", { class: "nx-bottom" }, this.list, this.counts), this.spoken]);
    const both = () => (this.top(), this.draw(0));
    /** @type {Record<string, (message: Message) => void>} */
    this.follow = {
      "change:choices": () => this.top(), "change:empty": both, "change:chosen": () => this.top(), "change:step": () => this.tabs(), "change:steps": () => this.tabs(),
      "change:graph": () => this.draw(0), "change:geometry": () => this.draw(0), "change:sources": () => this.sources(), "change:ways": () => this.top(), "change:way": () => this.top(),
      "change:beside": () => this.beside(), "change:beside_geometry": () => this.draw(1), "change:measured": () => this.times(), "change:feed": () => this.events(), "msg:custom": (message) => this.receive(message),
    };
    for (const [name, call] of Object.entries(this.follow)) model.on(name, call);
    this.onOutside = (/** @type {Event} */ event) => this.outside(/** @type {CustomEvent<Pointed | null>} */ (event).detail ?? {});
    document.addEventListener("nxkernel:point", this.onOutside);
    this.theme = new Theme(root);
    this.sizes = new ResizeObserver(() => this.canvases.forEach((canvas) => canvas.resized()));
    this.canvases.forEach((canvas) => this.sizes.observe(canvas.element));
    this.top();
    this.tabs();
    this.beside();
    this.draw(0);
    this.sources();
    this.times();
    this.events();
    this.send("open");
  }

  /** @param {string} kind @param {object} more */
  send = (kind, more = {}) => this.model.send({ kind, view: this.id, ...more });
  /** @param {Side} side @returns {Partial<Graph>} */
  graph = (side) => (side ? this.model.get("beside").graph : this.model.get("graph")) ?? {};
  /** @param {Side} side @returns {Geometry} */
  geometry = (side) => { const geometry = this.model.get(side ? "beside_geometry" : "geometry"); return geometry.shapes ? geometry : NOTHING; };
  /** @param {Side} side @param {string | null | undefined} id @returns {Shape | Frame | undefined} */
  shapeOf = (side, id) => this.geometry(side).shapes.find((shape) => shape.id === id) ?? this.geometry(side).frames.find((frame) => frame.id === id);

  top() {
    const choices = this.model.get("choices"), chosen = this.model.get("chosen");
    const options = (/** @type {[string | number, string][]} */ texts) => texts.map(([value, text]) => html("option", { value, text }));
    const numbered = choices.map((text, index) => /** @type {[number, string]} */ ([index, text]));
    this.title.textContent = choices.length > 1 ? "" : (choices[0] ?? this.model.get("name"));
    this.title.hidden = choices.length > 1;
    this.root.classList.toggle("nx-nothing", !choices.length);
    this.select.hidden = this.other.hidden = choices.length < 2;
    this.select.replaceChildren(...options(numbered));
    this.select.selectedIndex = chosen;
    this.other.replaceChildren(...options([[-1, "compare with…"], ...numbered.filter(([index]) => index !== chosen)]));
    this.other.value = String(this.model.get("beside").index);
    this.number.textContent = choices.length ? counted(choices.length, "compilation") : this.model.get("empty").split(":")[0].toLowerCase();
    const ways = this.model.get("ways");
    this.way.hidden = ways.length < 2;
    this.way.replaceChildren(...options(ways.map((way) => [way, way === "nothing" ? "no groups" : `by ${way}`])));
    this.way.value = this.model.get("way");
  }

  tabs() {
    const steps = this.model.get("steps"), now = this.model.get("step");
    this.stepTabs.hidden = steps.length < 2;
    const inside = this.stepTabs.contains(document.activeElement);
    this.stepTabs.replaceChildren(...steps.map(({ name, count, about }) => html("button", {
      type: "button", role: "tab", title: about, "aria-selected": String(name === now), "aria-controls": `${this.id}-panel`, tabindex: name === now ? 0 : -1, onclick: () => this.send("step", { name }),
    }, name, html("span", { text: count }))));
    if (inside) /** @type {HTMLElement | null} */ (this.stepTabs.querySelector("[aria-selected=true]"))?.focus();
    if (steps.length > 1) fill(this.panels[0], { role: "tabpanel", "aria-label": `The graph as ${now}` }, []);
  }

  /** @param {number} by */
  turn(by) {
    const steps = this.model.get("steps"), at = steps.findIndex(({ name }) => name === this.model.get("step")) + by;
    if (steps[at]) this.send("step", { name: steps[at].name });
  }

  beside() {
    const { index, difference = [] } = this.model.get("beside"), two = index >= 0, choices = this.model.get("choices");
    this.difference.hidden = !two;
    if (two && !this.seconds) this.panels[0].after(this.panels[1]);
    if (!two) this.panels[1].remove();
    this.seconds = two;
    this.difference.replaceChildren(...difference.map((text) => html("li", { text })));
    this.names.forEach((name, side) => { name.hidden = !two; name.textContent = choices[side ? index : this.model.get("chosen")] ?? ""; });
    if (!two) this.active = 0;
    this.top();
    // What was measured comes without another geometry.
    if (two && this.canvases[1].geometry) this.draw(1);
  }

  sources() {
    this.source.show(this.model.get("sources"), this.graph(0));
    const at = this.told;
    if (!at?.[0]) return;
    // What is pointed at was told before the text was there, by which its cell is found.
    this.told = undefined;
    this.tell({ at });
  }

  times() {
    const { text = "", failed = false } = this.model.get("measured");
    this.measured.hidden = !text;
    this.measured.textContent = text;
    this.measured.classList.toggle("nx-failed", failed);
  }

  /** @param {Side} side */
  draw(side) {
    const geometry = this.geometry(side), graph = this.graph(side), canvas = this.canvases[side];
    if (this.drawn[side]?.geometry === geometry && this.drawn[side]?.graph === graph) return;
    // Graph and geometry arrive one after the other, with nothing in between that could be drawn.
    const what = `${side ? this.model.get("beside").index : this.model.get("chosen")} ${this.model.get("step")} ${this.model.get("way")}`;
    const same = this.drawn[side]?.what === what, keep = same ? (this.toggled[side] ?? canvas.selected) : null;
    this.drawn[side] = { geometry, graph, what };
    // Only for the first graph: a height that followed each fold would move the page under the reader.
    if (geometry.height && !this.main.style.getPropertyValue("--needed")) this.main.style.setProperty("--needed", `${geometry.height + 24}px`);
    canvas.draw(geometry, graph, this.model.get("name"), keep, same);
    if (same && this.toggled[side]) canvas.select(this.toggled[side]);
    else if (side === this.active) this.selected(side, canvas.selected);
    this.toggled[side] = null;
    if (side) return;
    this.measure.hidden = Object.keys(graph.kernels ?? {}).length === 0;
    this.all.hidden = geometry.groups.length === 0;
    this.all.textContent = geometry.folded.length ? "Open all" : "Fold all";
    if (this.asked) this.goTo(this.asked);
    this.sources();
    this.search();
  }

  /** @param {Side} side @param {string | null} id */
  selected(side, id) {
    this.active = side;
    const shape = this.shapeOf(side, id), graph = this.graph(side);
    this.pane.show(graph, shape, this.model.get("empty"));
    const kernel = shape && graph.kernels?.[shape.kernel], node = shape && graph.nodes?.[shape.node];
    const words = shape && ("label" in shape ? [shape.label, shape.sub] : [shape.title]);
    this.source.light(node?.at, true);
    this.tell(node);
    this.spoken.textContent = shape && words ? [...words, shape.node && kernel?.name].filter(Boolean).join(", ") : "";
  }

  /** A box is pointed at: its line lights up, here and, by way of whoever listens, in its cell. @param {Side} side @param {string | null} id */
  pointed(side, id) {
    const shape = this.shapeOf(side, id ?? this.canvases[side].selected), node = shape && this.graph(side).nodes?.[shape.node];
    this.source.light(node?.at, Boolean(id));
    this.tell(node);
  }

  /** @param {{ at: [string, number] } | null | undefined} node */
  tell(node) {
    const [cell, line] = node?.at ?? ["", 0];
    if (this.told?.[0] === cell && this.told[1] === line) return;
    this.told = [cell, line];
    // Cells are run again and get other numbers: which one it is can be told by the text of the function.
    const { first, lines } = this.model.get("sources").find((each) => each.cell === cell && line >= each.first && line < each.first + each.lines.length) ?? {};
    this.root.dispatchEvent(new CustomEvent("nxkernel:line", { bubbles: true, composed: true, detail: { function: this.model.get("name"), cell, line, first, lines } }));
  }

  /** @param {string[]} nodes @param {string} cell @param {number} line */
  line(nodes, cell, line) {
    const others = Object.entries(this.graph(1).nodes ?? {}).filter(([, { at }]) => nodes.length && at.join() === `${cell},${line}`).map(([id]) => id);
    for (const side of SIDES) if (this.geometry(side).shapes.length) this.canvases[side].light(side ? others : nodes);
    this.tell(nodes.length ? { at: [cell, line] } : null);
  }

  /** A line in a cell is pointed at, by whoever tells: its nodes light up, where the text is that of their function. @param {Pointed} pointed */
  outside({ cell = "", line = 0, text }) {
    const nodes = this.graph(0).nodes ?? {}, sources = this.model.get("sources");
    const there = (/** @type {SourceText} */ { first, lines }) => line >= first && line < first + lines.length && lines.every((each, index) => each === text?.[first - 1 + index]);
    const names = text && sources.length ? sources.filter(there).map((each) => each.cell) : [cell];
    this.canvases[0].light(Object.keys(nodes).filter((id) => names.includes(nodes[id].at[0]) && nodes[id].at[1] === line));
    this.source.light([names[0], line]);
  }

  /** @param {Side} side @param {string} group */
  toggle(side, group) {
    const folded = new Set(this.geometry(side).folded);
    if (!folded.delete(group)) folded.add(group);
    this.toggled[side] = group;
    this.send("fold", { side, groups: [...folded] });
  }

  toggleAll() {
    for (const side of this.seconds ? SIDES : SIDES.slice(0, 1)) this.send("fold", { side, groups: this.geometry(0).folded.length ? [] : this.geometry(side).groups });
  }

  /** Select a node, opening the groups around it first where they are folded. @param {string} node */
  goTo(node) {
    const side = this.active, { shapes, folded, homes } = this.geometry(side), canvas = this.canvases[side], current = this.shapeOf(side, canvas.selected)?.kernel;
    const boxes = shapes.filter((shape) => shape.node === node), around = (homes[node] ?? []).filter((group) => folded.includes(group));
    this.asked = null;
    if (boxes.length) return canvas.select((boxes.find((shape) => shape.kernel === current) ?? boxes[0]).id, true);
    if (!around.length || side) return;
    this.asked = node;
    this.toggled[side] = around[0];
    this.send("fold", { side, groups: folded.filter((group) => !around.includes(group)) });
  }

  /** @param {number} step - to another match, 0 for none */
  search(step = 0) {
    const words = this.query.value.toLowerCase().split(/\s+/).filter(Boolean), all = this.graph(0).nodes ?? {}, { homes, shapes } = this.geometry(0);
    const text = (/** @type {GraphNode} */ node) => [node.label, node.expression, node.spec, node.code, node.module].join(" ").toLowerCase();
    const nodes = new Set(words.length ? Object.keys(all).filter((id) => words.every((word) => text(all[id]).includes(word))) : []);
    const inside = new Set([...nodes].flatMap((id) => homes[id] ?? []));
    // What is called so comes before what merely stands on a line with it.
    const named = (/** @type {Shape} */ shape) => (words.every((word) => shape.label.toLowerCase().includes(word)) ? 0 : 1);
    const hits = nodes.size ? shapes.filter((shape) => nodes.has(shape.node) || inside.has(shape.id)) : [];
    const found = hits.sort((a, b) => named(a) - named(b)).map((shape) => shape.id);
    this.canvases[0].show(found);
    this.hit = step && found.length ? (this.hit + step + found.length) % found.length : -1;
    if (this.hit >= 0) this.canvases[0].select(found[this.hit], true);
    this.matches.textContent = words.length ? (this.hit >= 0 ? `${this.hit + 1} of ${found.length}` : found.length ? `${found.length} found` : "nothing found") : "";
  }

  events() {
    const { rows = [], counts = "" } = this.model.get("feed");
    const pinned = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 8;
    const told = (/** @type {Row} */ row, /** @type {Row | undefined} */ before) => before?.advice === row.advice && before.where === row.where;
    this.list.replaceChildren(...rows.map((row, index) => html("li", { class: row.what === "error" ? "nx-error" : undefined },
      html("time", { text: clock(row.time) }), html("span", { text: row.where }), html("b", { text: row.what }), html("span", { class: "nx-spent", text: row.spent }),
      html("span", { class: "nx-why" }, row.why, row.advice && !told(row, rows[index - 1]) && html("em", { text: row.advice }),
        row.notes && html("em", { text: row.notes })))));
    this.list.hidden = !rows.length;
    if (pinned) this.list.scrollTop = this.list.scrollHeight;
    this.counts.textContent = counts;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    event.stopPropagation();
    const target = /** @type {Element} */ (event.target);
    if (target === this.query) {
      if (event.key === "Enter") this.search(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") {
        this.query.value = "";
        this.search();
        this.canvases[0].element.focus();
      } else return;
      return event.preventDefault();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("select")) return;
    if (this.stepTabs.contains(target) && /Arrow(Left|Right)/.test(event.key)) return this.turn(event.key === "ArrowLeft" ? -1 : 1), event.preventDefault();
    const side = SIDES.find((each) => this.canvases[each].element === target) ?? 0, canvas = this.canvases.find((each) => each.element === target), shape = canvas && this.shapeOf(side, canvas.selected);
    const group = shape && (canvas.shapes.get(shape.id)?.dataset.group ?? this.geometry(side).homes[shape.node]?.at(-1));
    if (event.key === "/") this.query.focus();
    else if (event.key === "[" || event.key === "]") this.turn(event.key === "[" ? -1 : 1);
    else if (!canvas) return;
    else if (event.key.startsWith("Arrow")) canvas.walk(event.key);
    else if (event.key === "Home") canvas.select(canvas.geometry?.shapes[0]?.id, true);
    else if (event.key === "+" || event.key === "=") canvas.zoom(1.25);
    else if (event.key === "-") canvas.zoom(0.8);
    else if (event.key === "0") canvas.fit();
    else if (event.key === "Escape") canvas.select(null);
    else if (event.key === "g" && group) this.toggle(side, group);
    else if (event.key === "Enter" && group && canvas.shapes.get(shape.id)?.dataset.group) this.toggle(side, group);
    else if (event.key === "Enter" && shape) this.pane.element.focus();
    else return;
    event.preventDefault();
  }

  /** @param {Picture} kind */
  save(kind) {
    this.saving = kind;
    this.send("export", { format: kind === "DOT" ? "dot" : "svg" });
  }

  /** @param {Message} message */
  receive(message) {
    if (message.view !== this.id) return;
    if (message.kind === "text") this.pane.receive(message);
    if (message.kind !== "export" || !this.saving) return;
    const { text, name } = message, kind = this.saving;
    const type = { SVG: "image/svg+xml", PNG: "image/svg+xml", DOT: "text/vnd.graphviz" }[kind];
    const blob = new Blob([text], { type });
    this.saving = null;
    if (kind === "PNG") picture(blob, (png) => png && download(png, `${name}.png`));
    else download(blob, `${name}.${kind.toLowerCase()}`);
  }

  dispose() {
    this.send("close");
    for (const [name, call] of Object.entries(this.follow)) this.model.off(name, call);
    this.theme.stop();
    this.sizes.disconnect();
    document.removeEventListener("nxkernel:point", this.onOutside);
  }
}

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A drawing as a picture of pixels. @param {Blob} blob @param {(png: Blob | null) => void} done */
function picture(blob, done) {
  const image = new Image(), address = URL.createObjectURL(blob);
  image.onload = () => {
    const scale = Math.min(2, 8000 / Math.max(image.width, image.height));
    const canvas = html("canvas", { width: Math.ceil(image.width * scale), height: Math.ceil(image.height * scale) });
    const context = canvas.getContext("2d");
    if (!context) return done(null);
    // The picture's own style follows what the browser prefers.
    context.fillStyle = matchMedia("(prefers-color-scheme: dark)").matches ? "#0d1117" : "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob(done, "image/png");
  };
  image.src = address;
}

export default {
  /** @param {{ model: Model, el: HTMLElement }} context */
  render({ model, el }) {
    const inspector = new Inspector(model, el);
    return () => inspector.dispose();
  },
};
