// The page's side of the timeline: what was compiled, what it cost, and what the caches hold. It follows elements.js in one module.

const PAGES = { timeline: "Timeline", functions: "Functions", cells: "Cells", caches: "Caches" };
/** Kinds of events that are shown or hidden together, and what they are called. */
const KINDS = { compiled: "compiled", loaded: "from disk", traced: "traced", hits: "hits", error: "errors", gone: "forgotten" };
const group = (kind) => (kind === "evicted" || kind === "cleared" ? "gone" : kind);
const PARTS = { trace: "trace", lower: "lowering", native: "native" };
/** As many events are kept here, and as many rows are shown of them. */
const KEPT = 2000, ROWS = 300;
/** Milliseconds between what has come and asking for more. */
const PAUSE = 250;

const duration = (ms) => ms > 0 && ms < 0.0009995 ? `${(ms * 1e6).toFixed(0)} ns` : ms < 0.9995 ? `${(ms * 1e3).toFixed(0)} µs` : ms < 9.95 ? `${ms.toFixed(1)} ms` : ms < 999.5 ? `${ms.toFixed(0)} ms` : `${(ms / 1e3).toFixed(1)} s`;
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });
function bytes(number) {
  for (const [factor, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (number >= factor) return `${(number / factor).toFixed(1)} ${prefix}B`;
  return `${number} B`;
}
function ago(seconds) {
  for (const [size, unit] of [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]]) if (seconds >= size) return `${counted(Math.floor(seconds / size), unit)} ago`;
  return "just now";
}
const atEnd = (node, side, size) => node[`scroll${side}`] + node[`client${size}`] > node[`scroll${size}`] - 8;
const kernels = (numbers) => [["compiled", "compiled"], ["memory", "from memory"], ["disk", "from disk"]].filter(([key]) => numbers[key]).map(([key, word]) => `${counted(numbers[key], "kernel")} ${word}`);

/** Trace, lowering and native code side by side, as parts of the longest time that there is. */
function cost(ms, longest) {
  const title = Object.entries(PARTS).map(([key, name]) => `${name} ${duration(ms[key])}`).join(", ");
  const parts = Object.keys(PARTS).map((key) => {
    const part = html("i", { class: `nx-${key}` });
    part.style.width = `${(100 * ms[key]) / (longest || 1)}%`;
    return part;
  });
  return html("span", { class: "nx-cost", title }, html("span", { class: "nx-spent", text: ms.total ? duration(ms.total) : "" }), html("span", { class: "nx-bar", "aria-hidden": "true" }, ...parts));
}

/** The whole widget. */
class Timeline {
  constructor(model, root) {
    Object.assign(this, { model, root, id: `nx${Math.random().toString(36).slice(2, 10)}`, events: [], current: null, asking: null, said: null });
    this.hidden = new Set();
    this.page = model.get("page");
    this.build();
    this.theme = new Theme(root);
    this.follow = { "msg:custom": (message) => this.receive(message) };
    for (const [name, call] of Object.entries(this.follow)) model.on(name, call);
    this.take(model.get("state"));
    this.draw();
    if (model.get("function")) {
      // The functions to choose from are there only after they were drawn.
      this.select.value = model.get("function");
      this.draw();
    }
    // It is not on the page yet: only then is there an end to scroll to.
    this.drawn = null;
    this.drawSoon();
    this.send("more", { since: this.data.last });
  }

  send = (kind, more = {}) => this.model.send({ kind, view: this.id, ...more });

  build() {
    this.line = html("span", { class: "nx-muted nx-line", role: "status" });
    this.tabs = Object.entries(PAGES).map(([page, text]) =>
      html("button", { type: "button", role: "tab", id: `${this.id}-${page}`, "aria-controls": `${this.id}-page`, text, onclick: () => this.turn(page) }));
    this.query = html("input", { type: "search", placeholder: "Search ( / )", "aria-label": "Search events", oninput: () => this.draw() });
    this.select = html("select", { "aria-label": "Function", onchange: () => this.draw() });
    this.cell = html("select", { "aria-label": "Cell", onchange: () => this.draw() });
    this.kinds = Object.entries(KINDS).map(([kind, text]) =>
      html("button", { type: "button", class: `nx-kind nx-${kind}`, "aria-pressed": "true", text, onclick: () => this.toggle(kind) }));
    this.again = html("button", { type: "button", "aria-pressed": "false", text: "only again", title: "Only what was compiled or traced again", onclick: () => this.onlyAgain() });
    this.filters = html("div", { class: "nx-tools", role: "toolbar", "aria-label": "Filters" }, this.query, this.select, this.cell, html("span", { class: "nx-set" }, ...this.kinds), this.again);
    this.body = html("div", { class: "nx-page", role: "tabpanel", id: `${this.id}-page`, tabindex: 0 });
    this.message = html("p", { class: "nx-message", role: "status", hidden: true });
    this.root.classList.add("nx-timeline");
    // JupyterLab's one-key commands (0 0 restarts the kernel) must not fire from here.
    this.root.dataset.lmSuppressShortcuts = "true";
    fill(this.root, { onkeydown: (event) => this.key(event) }, [
      html("div", { class: "nx-top" }, html("span", { class: "nx-tabs", role: "tablist", "aria-label": "Views" }, ...this.tabs), this.line,
        button("◐", "Light or dark", () => this.theme.turn())),
      this.filters, this.body, this.message]);
  }

  /** Add what Python has sent to what is known. */
  take(data) {
    if (!data.events) return;
    const other = this.data && (data.session !== this.data.session || data.cleared !== this.data.cleared);
    const known = other || !this.events.length ? 0 : this.events[this.events.length - 1].id;
    this.events = [...(other ? [] : this.events), ...data.events.filter((event) => event.id > known)].slice(-KEPT);
    this.left = (other ? 0 : this.left ?? 0) + data.left_out;
    this.data = data;
  }

  receive(message) {
    if (message.view && message.view !== this.id) return;
    if (message.kind === "news") {
      this.take(message);
      // More is asked for a little later: what is told meanwhile comes in one batch.
      this.asked ??= setTimeout(() => {
        this.asked = null;
        this.send("more", { since: this.data.last });
      }, PAUSE);
    }
    if (message.kind === "done") this.said = message;
    this.drawSoon();
  }

  drawSoon() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.draw();
    });
  }

  draw() {
    const { data } = this;
    if (!data) return;
    this.line.textContent = data.status.line;
    for (const tab of this.tabs) {
      const chosen = tab.id === `${this.id}-${this.page}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    this.body.setAttribute("aria-labelledby", `${this.id}-${this.page}`);
    this.filters.hidden = this.page !== "timeline";
    this.options(this.select, "all functions", [...new Set([...data.functions.map((row) => row.name), this.model.get("function")].filter(Boolean))].sort());
    this.options(this.cell, "all cells", [...new Set(this.events.map((event) => event.cell).filter(Boolean))]);
    const focused = this.body.contains(document.activeElement) ? keyOf(document.activeElement) : undefined;
    // What is new stands at the end, which is shown as long as nobody scrolls away from it.
    const turned = this.drawn !== this.page, end = turned || atEnd(this.body, "Top", "Height");
    const strip = this.body.querySelector(".nx-strip"), stripEnd = turned || !strip || atEnd(strip, "Left", "Width");
    settle(this.body, this[this.page]());
    if (end) this.body.scrollTop = this.page === "timeline" ? this.body.scrollHeight : turned ? 0 : this.body.scrollTop;
    if (stripEnd) this.body.querySelector(".nx-strip")?.scrollTo({ left: 1e9 });
    this.drawn = this.page;
    // A row that moved to another cell's list is another element.
    if (focused && !this.body.contains(document.activeElement)) this.find(focused)?.focus({ preventScroll: true });
    this.message.hidden = !this.said;
    const { text, undo: number } = this.said ?? {};
    settle(this.message, [html("span", { text }), number && button("Undo", "Put the programs back", () => this.send("undo", { number }), { "data-nx-key": `undo ${number}` })].filter(Boolean));
  }

  find = (key) => [...this.body.querySelectorAll("[data-nx-key]")].find((each) => keyOf(each) === key);

  options(select, all, names) {
    const { value } = select, now = [...select.options].slice(1).map((each) => each.value);
    if (select.options.length && now.length === names.length && now.every((name, i) => name === names[i])) return;
    select.replaceChildren(html("option", { value: "", text: all }), ...names.map((name) => html("option", { value: name, text: name })));
    select.value = names.includes(value) ? value : "";
  }

  turn(page) {
    this.page = page;
    this.asking = null;
    this.draw();
  }

  toggle(kind) {
    this.hidden.has(kind) ? this.hidden.delete(kind) : this.hidden.add(kind);
    for (const each of this.kinds) each.setAttribute("aria-pressed", String(!this.hidden.has(Object.keys(KINDS)[this.kinds.indexOf(each)])));
    this.draw();
  }

  onlyAgain() {
    this.again.setAttribute("aria-pressed", String(this.again.getAttribute("aria-pressed") !== "true"));
    this.draw();
  }

  shown() {
    const words = this.query.value.toLowerCase().split(/\s+/).filter(Boolean), again = this.again.getAttribute("aria-pressed") === "true";
    const text = (event) => [event.function, event.cell, event.where, event.what, ...event.reason, event.advice, ...event.notes].join(" ").toLowerCase();
    return this.events.filter((event) => !this.hidden.has(group(event.kind)) && (!again || event.again) && (!this.select.value || event.function === this.select.value)
      && (!this.cell.value || event.cell === this.cell.value) && words.every((word) => text(event).includes(word)));
  }

  timeline() {
    const found = this.shown(), rows = found.slice(-ROWS), left = this.left + found.length - rows.length;
    if (!this.events.length) return [html("p", { class: "nx-empty", text: "Nothing has been compiled yet: call a definition once, and it appears here." })];
    if (!rows.length) return [html("p", { class: "nx-empty", text: "Nothing fits these filters." })];
    const longest = Math.max(...rows.map((event) => event.ms.total)), parts = [this.chart(rows)];
    if (!rows.some((event) => event.id === this.current)) this.current = rows[rows.length - 1].id;
    let list = null, cell = null, last = null;
    const seen = {};
    if (left) parts.push(html("p", { class: "nx-muted", text: `${counted(left, "earlier event")} not shown` }));
    for (const event of rows) {
      const title = event.cell || event.where || "outside of cells";
      if (title !== cell) {
        cell = title;
        const key = `${title} ${(seen[title] = (seen[title] ?? 0) + 1)}`;
        list = html("ol", { class: "nx-rows", "aria-label": title, "data-nx-key": `rows of ${key}` });
        parts.push(html("h3", { text: title, "data-nx-key": key }), list);
      }
      list.append(this.row(event, longest, last?.advice === event.advice && last.function === event.function && last.cell === event.cell));
      last = event;
    }
    return parts;
  }

  /** An event; advice that the one before it has given is not given again. */
  row(event, longest, told) {
    const lines = (event.reason.length ? event.reason : [""]).map((text) => html("span", { text }));
    const more = [...kernels(event.kernels), event.where && event.where !== event.cell && `called in ${event.where}`].filter(Boolean);
    if (more.length) lines[lines.length - 1].append(html("span", { class: "nx-muted", text: `${event.reason.length ? " · " : ""}${more.join(" · ")}` }));
    return html("li", { class: `nx-${group(event.kind)}`, tabindex: event.id === this.current ? 0 : -1, "data-nx-key": `event ${event.id}`, onfocus: () => this.choose(event.id) },
      html("time", { text: clock(event.time) }), html("b", { text: event.what }), html("span", { class: "nx-function", text: event.function }), cost(event.ms, longest),
      html("span", { class: "nx-why" }, ...lines, !told && event.advice && html("em", { class: "nx-advice", text: event.advice }), ...event.notes.map((text) => html("em", { text }))));
  }

  /** Each event as a bar, as high as the logarithm of what it took; hits are dots. */
  chart(rows) {
    const high = 54, most = Math.log10(Math.max(100, ...rows.map((event) => event.ms.total)) / 0.1), bars = [];
    // A name has 6 pixels a letter; one that would run into its neighbour's is left to the tip of its bars.
    let x = 4, cell = null, free = 0;
    for (const event of rows) {
      const title = event.cell || event.where;
      if (title !== cell) {
        x += cell === null ? 0 : 10;
        const name = cell === null ? title : title.replace("cell ", "");
        if (x >= free) {
          bars.push(svg("text", { x, y: high + 13, text: name }));
          free = x + 6 * name.length + 4;
        }
        cell = title;
      }
      const height = Math.max(4, (high * Math.log10(Math.max(event.ms.total, 0.1) / 0.1)) / most), tip = `${event.function} ${event.what}${event.ms.total ? `, ${duration(event.ms.total)}` : ""} (${title})`;
      const mark = event.kind === "hits" ? svg("circle", { cx: x + 4, cy: high - 4, r: 4 }) : svg("rect", { x, y: high - height, width: 8, height, rx: 1.5 });
      bars.push(svg("g", { class: `nx-${group(event.kind)}${event.id === this.current ? " nx-current" : ""}`, "data-nx-key": `bar ${event.id}`, onclick: () => this.choose(event.id, true) }, svg("title", { text: tip }), svg("rect", { class: "nx-touch", x: x - 1, y: 0, width: 10, height: high }), mark));
      x += 11;
    }
    const width = Math.max(x + 30, free);
    const picture = svg("svg", { width, height: high + 18, "aria-hidden": "true" }, svg("line", { x1: 0, x2: width, y1: high + 0.5, y2: high + 0.5 }), ...bars);
    return html("div", { class: "nx-strip", "data-nx-key": "strip" }, picture);
  }

  choose(id, focus = false) {
    this.current = id;
    for (const each of this.body.querySelectorAll(".nx-strip g")) each.classList.toggle("nx-current", keyOf(each) === `bar ${id}`);
    for (const each of this.body.querySelectorAll(".nx-rows li")) {
      const chosen = keyOf(each) === `event ${id}`;
      each.tabIndex = chosen ? 0 : -1;
      if (chosen && focus) each.focus();
    }
  }

  functions = () => this.sums("Function", this.data.functions.map((row) => ({ ...row, title: row.name, open: () => this.only(this.select, row.name) })));
  cells = () => this.sums("Cell", this.data.cells.map((row) => ({ ...row, title: row.cell, open: () => this.only(this.cell, row.cell) })));

  only(select, value) {
    this.select.value = this.cell.value = "";
    if ([...select.options].some((each) => each.value === value)) select.value = value;
    this.turn("timeline");
    this.tabs[0].focus();
  }

  sums(what, rows) {
    if (!rows.length) return [html("p", { class: "nx-empty", text: what === "Cell" ? "Nothing happened in a cell yet." : "Nothing has been compiled yet." })];
    const longest = Math.max(...rows.map((row) => row.ms.total)), all = { compiled: "compiled", loaded: "from disk", traced: "traced", again: "again", hits: "hits", errors: "errors" };
    const counts = Object.fromEntries(Object.entries(all).filter(([key]) => key === "hits" || rows.some((row) => row[key])));
    const heads = [what, ...Object.values(counts), "Time", ...(what === "Cell" ? [] : ["Programs"])];
    return [html("table", {}, html("caption", { text: `What happened by ${what.toLowerCase()}, the most expensive first. Time: trace, lowering and native code.` }),
      html("thead", {}, html("tr", {}, ...heads.map((text) => html("th", { scope: "col", text })))),
      html("tbody", {}, ...rows.sort((a, b) => b.ms.total - a.ms.total).flatMap((row) => [html("tr", { "data-nx-key": `sums of ${row.title}` },
        html("th", { scope: "row" }, button(row.title, `Show the events of ${row.title}`, row.open, { "data-nx-key": `events of ${row.title}` })),
        ...Object.keys(counts).map((key) => html("td", { class: row[key] ? "" : "nx-none", text: row[key] })), html("td", {}, cost(row.ms, longest)),
        what === "Function" && html("td", { text: row.programs })),
      row.again_last?.length > 0 && html("tr", { "data-nx-key": `reasons of ${row.title}` }, html("td", { class: "nx-why", colspan: heads.length }, html("span", { class: "nx-muted", text: "in its last run" }),
        ...row.again_last.flatMap((each) => [html("span", { text: `${each.function} again: ${each.reason.join("; ")}` }), each.advice && html("em", { class: "nx-advice", text: each.advice })])))].filter(Boolean))))];
  }

  caches() {
    const { caches: held, time } = this.data, { memory, disk } = held, wanted = this.model.get("function");
    const rows = [...held.functions].reverse().filter((row) => !wanted || row.name === wanted);
    const programs = html("table", {}, html("caption", { text: "Programs in memory" }), html("thead", {}, html("tr", {}, ...["Function", "Programs", "Calls answered", "Arrays held", "Made"].map((text) => html("th", { scope: "col", text })), html("td"))),
      html("tbody", {}, ...rows.map((row) => html("tr", { "data-nx-key": `programs of ${row.label}` },
        html("th", { scope: "row" }, html("details", {}, html("summary", { text: row.label }), html("ul", {}, ...row.signatures.map((text) => html("li", { text }))))),
        html("td", { text: `${row.programs} of ${row.limit}` }), html("td", { text: row.hits }), html("td", { text: bytes(row.bytes) }),
        html("td", { class: "nx-age", text: row.oldest === row.latest ? ago(time - row.latest) : `${ago(time - row.oldest)}, last ${ago(time - row.latest)}` }),
        html("td", {}, button("Forget", `Forget the programs of ${row.name}`, () => this.send("forget", { what: "programs", function: row.name })))))));
    return [
      rows.length ? programs : html("p", { class: "nx-empty", text: "There are no programs in memory." }),
      held.functions.length > 1 && !wanted && html("p", {}, button("Forget all programs", "Forget the programs of all functions", () => this.send("forget", { what: "programs", function: "" }))),
      html("h3", { text: "Native code in memory" }),
      html("p", { text: memory.kernels + memory.programs ? `${counted(memory.kernels, "kernel")} and ${counted(memory.programs, "program")}, ${bytes(memory.bytes)} of code, the first loaded ${ago(time - memory.oldest)}` : "none" }),
      memory.kernels + memory.programs > 0 && this.ask("memory", "Forget…", "Forget the kernels in memory", disk.on ? "Programs that are made later load them from disk again." : "There is no cache on disk: programs that are made later compile them again."),
      html("h3", { text: "Kernels and programs on disk" }),
      html("p", { text: disk.on ? this.disk(disk, time) : "Nothing is kept on disk: NXKERNEL_CACHE_DIR is off, or its folder cannot be used." }),
      disk.on && disk.bytes > 0 && this.ask("disk", "Remove…", "Remove the files from disk", "All files of the cache go, those of other versions too; later sessions compile again."),
    ].filter(Boolean);
  }

  disk(disk, time) {
    const others = `${counted(disk.others, "file")} of ${bytes(disk.other_bytes)} for other versions or processors`;
    return [`${counted(disk.kernels, "kernel")} of ${bytes(disk.kernel_bytes)}`, disk.records && `${counted(disk.records, "program")} of ${bytes(disk.record_bytes)}`, disk.others && others,
      !disk.whole && "and more files, which are not counted", disk.oldest && `the oldest was used ${ago(time - disk.oldest)}`, `limit ${bytes(disk.limit)}`, `in ${disk.folder}`].filter(Boolean).join(", ");
  }

  /** A button that asks before it clears what cannot be put back. */
  ask(what, text, title, warning) {
    const open = (name) => () => {
      this.asking = name;
      this.draw();
      this.find(`${name ? "keep" : "clear"} ${what}`)?.focus();
    };
    if (this.asking !== what) return html("p", {}, button(text, title, open(what), { "data-nx-key": `clear ${what}` }));
    const go = () => {
      this.asking = null;
      this.send("forget", { what });
    };
    return html("p", { class: "nx-ask", role: "group", "aria-label": title }, html("span", { text: warning }), button(text.replace("…", ""), title, go, { class: "nx-danger" }), button("Keep", "Keep them", open(null), { "data-nx-key": `keep ${what}` }));
  }

  key(event) {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tab = this.tabs.indexOf(event.target), rows = [...this.body.querySelectorAll(".nx-rows li")], row = rows.indexOf(event.target);
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.target === this.query) {
      if (event.key !== "Escape") return;
      this.query.value = "";
      this.draw();
    } else if (event.key === "/" && this.page === "timeline" && !event.target.matches("select")) this.query.focus();
    else if (tab >= 0 && step && event.key.match(/Left|Right/)) {
      const next = (tab + step + this.tabs.length) % this.tabs.length;
      this.turn(Object.keys(PAGES)[next]);
      this.tabs[next].focus();
    } else if (row >= 0 && step && event.key.match(/Up|Down/)) rows[row + step]?.focus();
    else if (row >= 0 && event.key === "Home") rows[0].focus();
    else if (row >= 0 && event.key === "End") rows[rows.length - 1].focus();
    else return;
    event.preventDefault();
  }

  dispose() {
    this.send("close");
    for (const [name, call] of Object.entries(this.follow)) this.model.off(name, call);
    cancelAnimationFrame(this.pending);
    clearTimeout(this.asked);
    this.theme.stop();
  }
}

export default {
  render({ model, el }) {
    const timeline = new Timeline(model, el);
    return () => timeline.dispose();
  },
};
