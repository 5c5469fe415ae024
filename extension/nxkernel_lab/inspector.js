// The page's side of the inspector: shows what Python has laid out, and asks Python for folding, code and exports.
// It follows canvas.js in one module. Nothing is loaded from anywhere.

/** What is known about the selected box: type, line, kernel, and the kernel's code on demand. */
class Pane {
  constructor({ read, select }) {
    Object.assign(this, { onRead: read, onSelect: select, open: null });
    this.element = html("section", { class: "nx-pane", "aria-label": "Details", tabindex: -1 });
  }

  show(graph, shape, empty) {
    this.open = null;
    if (!graph.nodes) return this.element.replaceChildren(html("p", { class: "nx-muted", role: "status", text: empty }));
    const node = shape && graph.nodes[shape.node], kernel = shape && graph.kernels[shape.kernel];
    if (node) this.element.replaceChildren(...this.node(graph, node), ...(kernel ? this.kernel(kernel, shape.kernel) : []));
    else if (kernel) this.element.replaceChildren(...this.kernel(kernel, shape.kernel));
    else this.element.replaceChildren(...this.overview(graph));
    this.element.scrollTop = 0;
  }

  overview(graph) {
    const keys = [["↑ ↓ ← →", "walk along the edges"], ["Enter, g", "open or fold a kernel"], ["/", "search"], ["+ − 0", "zoom, fit"]];
    return [
      html("h3", { text: graph.signature }),
      ...graph.about.map((line) => html("p", { text: line })),
      html("dl", { class: "nx-keys" }, ...keys.flatMap(([key, what]) => [html("dt", { text: key }), html("dd", { text: what })])),
    ];
  }

  node(graph, node) {
    const links = (title, ids) => ids.length > 0 && html("p", { class: "nx-links" }, html("span", { class: "nx-muted", text: title }),
      ...ids.map((id) => button(`${id} ${graph.nodes[id].label}`, `Select ${id}`, () => this.onSelect(id))));
    const role = { argument: "argument", captured: "captured value", constant: "constant" }[node.role];
    return [
      html("h3", { class: "nx-head" }, html("span", { text: node.label }), html("span", { class: "nx-spec", text: node.spec })),
      html("p", { class: "nx-expression", text: node.expression }),
      node.body.length > 0 && html("pre", { class: "nx-body", "aria-label": "Its function" }, html("code", { text: node.body.join("\n") })),
      (role || node.output) && html("p", { class: "nx-muted", text: [role, node.output && "returned by the function"].filter(Boolean).join(", ") }),
      node.place && html("p", { class: "nx-place", text: node.place }),
      node.code && html("pre", { class: "nx-code" }, html("code", { text: node.code })),
      links("reads ", node.operands),
      links("read by ", node.readers),
    ].filter(Boolean);
  }

  kernel(kernel, index) {
    this.text = html("div", { class: "nx-text" });
    this.forms = new Map(kernel.forms.map((form) => [form, button(form, `Show the ${form} of ${kernel.name}`, () => this.toggle(index, form), { "aria-expanded": "false" })]));
    return [
      html("h4", { text: `${kernel.name} · ${kernel.title}` }),
      html("p", { class: "nx-muted", text: kernel.about.join(" · ") }),
      html("p", { class: "nx-forms" }, ...this.forms.values()),
      this.text,
    ];
  }

  toggle(kernel, form) {
    const same = this.open?.form === form;
    for (const [name, each] of this.forms) each.setAttribute("aria-expanded", String(name === form && !same));
    this.open = same ? null : { kernel, form };
    this.text.replaceChildren(...(same ? [] : [html("p", { class: "nx-muted", role: "status", text: "Waiting for the kernel…" })]));
    if (!same) this.onRead(kernel, form);
  }

  receive({ kernel, form, text }) {
    if (this.open?.kernel !== kernel || this.open?.form !== form) return;
    const copy = button("Copy", `Copy the ${form}`, async () => {
      await navigator.clipboard?.writeText(text);
      copy.textContent = "Copied";
    });
    this.text.replaceChildren(copy, html("pre", { tabindex: 0, "aria-label": form }, html("code", { text })));
  }
}

/** The whole widget. */
class Inspector {
  constructor(model, root) {
    Object.assign(this, { model, root, id: `nx${Math.random().toString(36).slice(2, 10)}`, toggled: null, asked: null, hit: -1 });
    this.canvas = new Canvas(this.id, { select: (id) => this.selected(id), toggle: (kernel) => this.toggle(kernel) });
    this.pane = new Pane({ read: (kernel, form) => this.send("read", { kernel, form }), select: (id) => this.goTo(id) });
    this.build();
    this.follow = {
      "change:choices": () => this.top(), "change:empty": () => (this.top(), this.draw()), "change:chosen": () => this.top(),
      "change:graph": () => this.search(), "change:geometry": () => this.draw(), "change:feed": () => this.events(), "msg:custom": (message) => this.receive(message),
    };
    for (const [name, call] of Object.entries(this.follow)) model.on(name, call);
    this.theme();
    this.watcher = new MutationObserver(() => this.theme());
    this.watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.media.addEventListener("change", (this.onMedia = () => this.theme()));
    this.sizes = new ResizeObserver(() => this.canvas.moved || this.canvas.fit());
    this.sizes.observe(this.canvas.element);
    this.top();
    this.draw();
    this.events();
    this.send("open");
  }

  build() {
    this.select = html("select", { "aria-label": "Compilation", onchange: () => this.send("choose", { index: this.select.selectedIndex }) });
    this.title = html("strong", { class: "nx-name" });
    this.number = html("span", { class: "nx-muted" });
    this.query = html("input", { type: "search", placeholder: "Search ( / )", "aria-label": "Search the graph", oninput: () => this.search() });
    this.matches = html("span", { class: "nx-muted nx-matches", role: "status" });
    this.list = html("ol", { class: "nx-events", role: "log", "aria-label": "Events", tabindex: 0 });
    this.counts = html("p", { class: "nx-counts" });
    this.spoken = html("span", { class: "nx-spoken", "aria-live": "polite" });
    this.all = button("Fold all", "Fold or open all kernels", () => this.toggleAll());
    const tools = html("div", { class: "nx-tools", role: "toolbar", "aria-label": "Graph" },
      this.query, this.matches, html("span", { class: "nx-gap" }), this.all,
      html("span", { class: "nx-set" }, button("−", "Zoom out (-)", () => this.canvas.zoom(0.8)), button("Fit", "Fit (0)", () => this.canvas.fit()), button("+", "Zoom in (+)", () => this.canvas.zoom(1.25))),
      button("◐", "Light or dark", () => this.theme(true)),
      html("span", { class: "nx-set" }, ...["SVG", "PNG", "DOT"].map((kind) => button(kind, `Save as ${kind}`, () => this.save(kind)))));
    this.root.classList.add("nx-inspector");
    // JupyterLab's one-key commands (0 0 restarts the kernel) must not fire from here.
    this.root.dataset.lmSuppressShortcuts = "true";
    fill(this.root, { onkeydown: (event) => this.key(event) }, [
      html("header", { class: "nx-top" }, this.title, this.select, this.number), tools,
      (this.main = html("div", { class: "nx-main" }, this.canvas.element, this.pane.element)),
      html("footer", { class: "nx-bottom" }, this.list, this.counts), this.spoken]);
  }

  send = (kind, more = {}) => this.model.send({ kind, view: this.id, ...more });
  get graph() { return this.model.get("graph"); }
  shapeOf = (id) => this.model.get("geometry").shapes?.find((shape) => shape.id === id) ?? this.frameOf(id);
  frameOf = (id) => { const frame = this.model.get("geometry").frames?.find(({ kernel }) => `kernel ${kernel + 1}` === id); return frame && { ...frame, id, node: "" }; };

  top() {
    const choices = this.model.get("choices"), chosen = this.model.get("chosen");
    this.title.textContent = choices.length > 1 ? "" : (choices[0] ?? this.model.get("name"));
    this.select.hidden = choices.length < 2;
    this.select.replaceChildren(...choices.map((text) => html("option", { text })));
    this.select.selectedIndex = chosen;
    this.number.textContent = choices.length ? `${choices.length} compilation${choices.length === 1 ? "" : "s"}` : this.model.get("empty").split(":")[0].toLowerCase();
  }

  draw() {
    const geometry = this.model.get("geometry");
    const empty = { width: 0, height: 0, shapes: [], frames: [], lines: [], folded: [] };
    const same = this.drawnFor === this.model.get("chosen");
    // Only for the first graph: a height that followed each fold would move the page under the reader.
    if (geometry.height && !this.main.style.getPropertyValue("--needed")) this.main.style.setProperty("--needed", `${geometry.height + 24}px`);
    this.canvas.draw(geometry.shapes ? geometry : empty, this.model.get("name"), same ? this.toggled : null);
    this.drawnFor = this.model.get("chosen");
    if (same && this.toggled) this.canvas.select(this.toggled);
    else this.selected(this.canvas.selected);
    this.toggled = null;
    const kernels = Object.keys(this.graph.kernels ?? {}).length;
    this.all.hidden = kernels === 0;
    this.all.textContent = geometry.folded?.length ? "Open all" : "Fold all";
    if (this.asked) this.goTo(this.asked);
    this.search();
  }

  selected(id) {
    const shape = id && this.shapeOf(id);
    this.pane.show(this.graph, shape, this.model.get("empty"));
    const kernel = shape && this.graph.kernels[shape.kernel];
    this.spoken.textContent = shape ? [shape.label ?? shape.title, shape.sub, shape.node && kernel?.name].filter(Boolean).join(", ") : "";
  }

  toggle(kernel) {
    const folded = new Set(this.model.get("geometry").folded);
    folded.has(kernel) ? folded.delete(kernel) : folded.add(kernel);
    this.toggled = `kernel ${kernel + 1}`;
    this.send("fold", { kernels: [...folded] });
  }

  toggleAll() {
    const folded = this.model.get("geometry").folded?.length;
    this.send("fold", { kernels: folded ? [] : Object.keys(this.graph.kernels).map(Number) });
  }

  /** Select a node, opening its kernel first when that is folded. */
  goTo(node) {
    const { shapes, folded } = this.model.get("geometry"), current = this.shapeOf(this.canvas.selected)?.kernel;
    const boxes = shapes.filter((shape) => shape.node === node);
    this.asked = null;
    if (boxes.length) return this.canvas.select((boxes.find((shape) => shape.kernel === current) ?? boxes[0]).id, true);
    const [kernel] = this.graph.nodes[node]?.kernels ?? [];
    if (!folded.includes(kernel)) return;
    this.asked = node;
    this.toggle(kernel);
  }

  search(step) {
    const words = this.query.value.toLowerCase().split(/\s+/).filter(Boolean), graph = this.graph;
    const text = (node) => [node.label, node.expression, node.spec, node.code].join(" ").toLowerCase();
    const nodes = new Set(words.length && graph.nodes ? Object.keys(graph.nodes).filter((id) => words.every((word) => text(graph.nodes[id]).includes(word))) : []);
    const holds = (shape) => shape.node ? nodes.has(shape.node) : [...nodes].some((id) => graph.nodes[id].kernels.includes(shape.kernel));
    // What is called so comes before what merely stands on a line with it.
    const named = (shape) => !words.every((word) => shape.label.toLowerCase().includes(word));
    const hits = nodes.size ? this.model.get("geometry").shapes.filter(holds) : [];
    const found = hits.sort((a, b) => named(a) - named(b)).map((shape) => shape.id);
    this.canvas.show(found);
    this.hit = step && found.length ? (this.hit + step + found.length) % found.length : -1;
    if (this.hit >= 0) this.canvas.select(found[this.hit], true);
    this.matches.textContent = words.length ? (this.hit >= 0 ? `${this.hit + 1} of ${found.length}` : found.length ? `${found.length} found` : "nothing found") : "";
  }

  events() {
    const { rows = [], counts = "" } = this.model.get("feed");
    const pinned = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 8;
    const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });
    this.list.replaceChildren(...rows.map((row) => html("li", { class: row.what === "error" ? "nx-error" : undefined },
      html("time", { text: clock(row.time) }), html("span", { text: row.where }), html("b", { text: row.what }), html("span", { class: "nx-spent", text: row.spent }),
      html("span", { class: "nx-why" }, row.why, row.advice && html("em", { text: row.advice }),
        row.notes && html("em", { text: row.notes })))));
    this.list.hidden = !rows.length;
    if (pinned) this.list.scrollTop = this.list.scrollHeight;
    this.counts.textContent = counts;
  }

  key(event) {
    event.stopPropagation();
    if (event.target === this.query) {
      if (event.key === "Enter") this.search(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") (this.query.value = ""), this.search(), this.canvas.element.focus();
      else return;
      return event.preventDefault();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
    const inside = event.target === this.canvas.element, kernel = this.shapeOf(this.canvas.selected)?.kernel;
    if (event.key === "/") this.query.focus();
    else if (!inside) return;
    else if (event.key.startsWith("Arrow")) this.canvas.walk(event.key);
    else if (event.key === "Home") this.canvas.select(this.canvas.geometry.shapes[0]?.id, true);
    else if (event.key === "+" || event.key === "=") this.canvas.zoom(1.25);
    else if (event.key === "-") this.canvas.zoom(0.8);
    else if (event.key === "0") this.canvas.fit();
    else if (event.key === "Escape") this.canvas.select(null);
    else if (event.key === "g" && kernel >= 0) this.toggle(kernel);
    else if (event.key === "Enter" && this.canvas.selected)
      this.shapeOf(this.canvas.selected).node ? this.pane.element.focus() : this.toggle(kernel);
    else return;
    event.preventDefault();
  }

  /** Follow the page's theme, or turn it over for this widget alone. */
  theme(turn = false) {
    const page = document.body, light = page.dataset.jpThemeLight;
    const dark = light ? light === "false" : page.classList.contains("vscode-dark") || (!page.classList.contains("vscode-light") && matchMedia("(prefers-color-scheme: dark)").matches);
    if (turn) this.turned = !this.turned;
    this.root.dataset.nxTheme = dark !== Boolean(this.turned) ? "dark" : "light";
    this.root.toggleAttribute("data-nx-turned", Boolean(this.turned));
  }

  save(kind) {
    this.saving = kind;
    this.send("export", { format: kind === "DOT" ? "dot" : "svg" });
  }

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
    this.watcher.disconnect();
    this.sizes.disconnect();
    this.media.removeEventListener("change", this.onMedia);
  }
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function picture(blob, done) {
  const image = new Image(), address = URL.createObjectURL(blob);
  image.onload = () => {
    const scale = Math.min(2, 8000 / Math.max(image.width, image.height));
    const canvas = html("canvas", { width: Math.ceil(image.width * scale), height: Math.ceil(image.height * scale) });
    const context = canvas.getContext("2d");
    context.fillStyle = matchMedia("(prefers-color-scheme: dark)").matches ? "#0d1117" : "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob(done, "image/png");
  };
  image.src = address;
}

export default {
  render({ model, el }) {
    const inspector = new Inspector(model, el);
    return () => inspector.dispose();
  },
};
