/** The timeline, of the widget and of the panel: what was compiled, what it cost, what the caches hold, and what computes. */

import { ago, bytes, clock, counted, duration } from "./quantities.js";
import { Theme, button, fill, html, keyOf, onceAFrame, settle, svg } from "./elements.js";

/**
 * @typedef {import("./session_state.js").State} State
 * @typedef {import("./session_state.js").News} News
 * @typedef {import("./session_state.js").Event} Event
 * @typedef {import("./elements.js").Child} Child
 * @typedef {keyof typeof PAGES} Page
 *
 * @typedef {object} Host - where it is shown
 * @property {Page} page - what it shows first
 * @property {string} function - the function that was asked for, or ""
 * @property {(message: Record<string, string | number>) => void} send - asks Python for something
 * @property {(id: string) => void} [reveal] - shows the cell of this id, where the notebook is at hand
 *
 * @typedef {object} SumsRow - a row of the functions or cells
 * @property {string} title
 * @property {() => void} open - shows the events of it
 * @property {News["functions"][number] | News["cells"][number]} sums
 */

const PAGES = { timeline: "Timeline", functions: "Functions", cells: "Cells", caches: "Caches", device: "Device" };
/** Kinds of events that are shown or hidden together, and what they are called. */
const KINDS = { compiled: "compiled", loaded: "from disk", traced: "traced", hits: "hits", error: "errors", gone: "forgotten" };
/** @type {[keyof Event["ms"], string][]} */
const PARTS = [["trace", "trace"], ["lower", "lowering"], ["native", "native"]];
/** @type {[keyof Event["kernels"], string][]} */
const ORIGINS = [["compiled", "compiled"], ["memory", "from memory"], ["disk", "from disk"]];
const COUNTS = /** @type {const} */ ([["compiled", "compiled"], ["loaded", "from disk"], ["traced", "traced"], ["again", "again"], ["hits", "hits"], ["errors", "errors"]]);
/** As many rows are shown. */
const ROWS = 300;

/** @param {string} kind */
const group = (kind) => (kind === "evicted" || kind === "cleared" ? "gone" : kind);
/** @param {Event["kernels"]} numbers */
const kernels = (numbers) => ORIGINS.filter(([key]) => numbers[key]).map(([key, word]) => `${counted(numbers[key], "kernel")} ${word}`);
/** @param {Event} event */
const placeOf = (event) => event.cell || event.where || "outside of cells";
/** @param {Element} node */
const isAtBottom = (node) => node.scrollTop + node.clientHeight > node.scrollHeight - 8;
/** @param {Element} node */
const isAtRight = (node) => node.scrollLeft + node.clientWidth > node.scrollWidth - 8;
/** @param {string} text */
const empty = (text) => html("p", { class: "nx-empty", text });
/** @param {(string | false | 0)[]} parts */
const sentence = (parts) => parts.filter(Boolean).join(", ");

/** Trace, lowering and native code side by side, as parts of the longest time that there is. @param {Event["ms"]} ms @param {number} longest */
function cost(ms, longest) {
  const title = PARTS.map(([key, name]) => `${name} ${duration(ms[key])}`).join(", ");
  const parts = PARTS.map(([key]) => {
    const part = html("i", { class: `nx-${key}` });
    part.style.width = `${(100 * ms[key]) / (longest || 1)}%`;
    return part;
  });
  const spent = html("span", { class: "nx-spent", text: ms.total ? duration(ms.total) : "" });
  return html("span", { class: "nx-cost", title }, spent, html("span", { class: "nx-bar", "aria-hidden": "true" }, ...parts));
}

/** A picture of events: each a bar, as high as the logarithm of what it took; hits are dots. */
class Chart {
  /** @param {Event[]} rows @param {number | null} current @param {(id: number) => void} choose */
  constructor(rows, current, choose) {
    this.current = current;
    this.choose = choose;
    this.high = 54;
    this.most = Math.log10(Math.max(100, ...rows.map((event) => event.ms.total)) / 0.1);
    const marks = [];
    // A name has 6 pixels a letter; one that would run into its neighbour's is left to the tip of its bars.
    let x = 4, free = 0;
    /** @type {string | null} */
    let cell = null;
    for (const event of rows) {
      const title = placeOf(event);
      if (title !== cell) {
        x += cell === null ? 0 : 10;
        const name = cell === null ? title : title.replace("cell ", "");
        if (x >= free) {
          marks.push(svg("text", { x, y: this.high + 13, text: name }));
          free = x + 6 * name.length + 4;
        }
        cell = title;
      }
      marks.push(this.mark(event, x));
      x += 11;
    }
    const width = Math.max(x + 30, free), ground = svg("line", { x1: 0, x2: width, y1: this.high + 0.5, y2: this.high + 0.5 });
    const picture = svg("svg", { width, height: this.high + 18, "aria-hidden": "true" }, ground, ...marks);
    this.element = html("div", { class: "nx-strip", "data-nx-key": "strip" }, picture);
  }

  /** @param {Event} event @param {number} x */
  mark(event, x) {
    const { high } = this, { total } = event.ms, height = Math.max(4, (high * Math.log10(Math.max(total, 0.1) / 0.1)) / this.most);
    const tip = `${event.function} ${event.what}${total ? `, ${duration(total)}` : ""} (${placeOf(event)})`;
    const shape = event.kind === "hits" ? svg("circle", { cx: x + 4, cy: high - 4, r: 4 }) : svg("rect", { x, y: high - height, width: 8, height, rx: 1.5 });
    const now = event.id === this.current ? " nx-current" : "";
    return svg("g", { class: `nx-${group(event.kind)}${now}`, "data-nx-key": `bar ${event.id}`, onclick: () => this.choose(event.id) },
      svg("title", { text: tip }), svg("rect", { class: "nx-touch", x: x - 1, y: 0, width: 10, height: high }), shape);
  }
}

/** The whole view. */
export class Timeline {
  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.id = `nx${Math.random().toString(36).slice(2, 10)}`;
    /** @type {Page} */
    this.page = host.page;
    /** @type {State | null} */
    this.state = null;
    /** The function to choose as soon as there are some to choose from. */
    this.wanted = host.function;
    /** @type {number | null} the event that the keyboard is at */
    this.current = null;
    /** @type {string | null} what is to be cleared, if the reader says so once more */
    this.asking = null;
    /** @type {Page | null} what was drawn last */
    this.drawn = null;
    /** @type {Set<string>} */
    this.hidden = new Set();
    this.drawSoon = onceAFrame(() => this.draw());
    this.theme = new Theme(root);

    const names = /** @type {[Page, string][]} */ (Object.entries(PAGES)), redraw = { onchange: () => this.draw() };
    this.line = html("span", { class: "nx-muted nx-line", role: "status" });
    this.tabs = names.map(([page, text]) =>
      html("button", { type: "button", role: "tab", id: `${this.id}-${page}`, "aria-controls": `${this.id}-page`, text, onclick: () => this.turn(page) }));
    this.query = html("input", { type: "search", placeholder: "Search ( / )", "aria-label": "Search events", oninput: () => this.draw() });
    this.select = html("select", { "aria-label": "Function", ...redraw });
    this.cell = html("select", { "aria-label": "Cell", ...redraw });
    this.kinds = Object.entries(KINDS).map(([kind, text]) =>
      html("button", { type: "button", class: `nx-kind nx-${kind}`, "aria-pressed": "true", text, onclick: () => this.toggle(kind) }));
    this.again = html("button", {
      type: "button", "aria-pressed": "false", text: "only again", title: "Only what was compiled or traced again", onclick: () => this.onlyAgain(),
    });
    this.filters = html("div", { class: "nx-tools", role: "toolbar", "aria-label": "Filters" },
      this.query, this.select, this.cell, html("span", { class: "nx-set" }, ...this.kinds), this.again);
    this.body = html("div", { class: "nx-page", role: "tabpanel", id: `${this.id}-page`, tabindex: 0 });
    this.message = html("p", { class: "nx-message", role: "status", hidden: true });
    root.classList.add("nx-timeline");
    fill(root, { onkeydown: (event) => this.key(event) }, [
      html("div", { class: "nx-top" }, html("span", { class: "nx-tabs", role: "tablist", "aria-label": "Views" }, ...this.tabs), this.line,
        button("◐", "Light or dark", () => this.theme.turn())),
      this.filters, this.body, this.message]);
  }

  /** Show what is known now, when the page is drawn the next time. @param {State} state */
  update(state) {
    this.state = state;
    this.drawSoon();
  }

  focus() {
    this.tabs.find((tab) => tab.tabIndex === 0)?.focus();
  }

  draw() {
    const { state } = this, news = state?.news;
    if (!state || !news) return;
    this.line.textContent = news.status.line;
    for (const tab of this.tabs) {
      const chosen = tab.id === `${this.id}-${this.page}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    this.body.setAttribute("aria-labelledby", `${this.id}-${this.page}`);
    this.filters.hidden = this.page !== "timeline";
    this.options(this.select, "all functions", [...new Set([...news.functions.map((row) => row.name), this.host.function].filter(Boolean))].sort());
    if (this.wanted) this.select.value = this.wanted;
    this.wanted = "";
    this.options(this.cell, "all cells", [...new Set(state.events.map((event) => event.cell).filter(Boolean))]);
    const focused = this.body.contains(document.activeElement) ? keyOf(document.activeElement) : undefined;
    // What is new stands at the end, which is shown as long as nobody scrolls away from it.
    const turned = this.drawn !== this.page, end = turned || isAtBottom(this.body);
    const strip = this.body.querySelector(".nx-strip"), stripEnd = turned || !strip || isAtRight(strip);
    settle(this.body, this[this.page](state, news));
    if (end) this.body.scrollTop = this.page === "timeline" ? this.body.scrollHeight : turned ? 0 : this.body.scrollTop;
    if (stripEnd) this.body.querySelector(".nx-strip")?.scrollTo({ left: 1e9 });
    this.drawn = this.page;
    // A row that moved to another cell's list is another element.
    if (focused && !this.body.contains(document.activeElement)) this.find(focused)?.focus({ preventScroll: true });
    this.message.hidden = !state.done;
    const { text = "", undo: number = 0 } = state.done ?? {};
    const undo = () => this.host.send({ kind: "undo", number });
    settle(this.message, [html("span", { text }), ...(number ? [button("Undo", "Put the programs back", undo, { "data-nx-key": `undo ${number}` })] : [])]);
  }

  /** @param {string} key @returns {HTMLElement | undefined} */
  find = (key) => [.../** @type {NodeListOf<HTMLElement>} */ (this.body.querySelectorAll("[data-nx-key]"))].find((each) => keyOf(each) === key);

  /** @param {HTMLSelectElement} select @param {string} all @param {string[]} names */
  options(select, all, names) {
    const { value } = select, now = [...select.options].slice(1).map((each) => each.value);
    if (select.options.length && now.length === names.length && now.every((name, i) => name === names[i])) return;
    select.replaceChildren(html("option", { value: "", text: all }), ...names.map((name) => html("option", { value: name, text: name })));
    select.value = names.includes(value) ? value : "";
  }

  /** @param {Page} page */
  turn(page) {
    this.page = page;
    this.asking = null;
    this.draw();
  }

  /** @param {string} kind */
  toggle(kind) {
    if (!this.hidden.delete(kind)) this.hidden.add(kind);
    Object.keys(KINDS).forEach((name, index) => this.kinds[index].setAttribute("aria-pressed", String(!this.hidden.has(name))));
    this.draw();
  }

  onlyAgain() {
    this.again.setAttribute("aria-pressed", String(this.again.getAttribute("aria-pressed") !== "true"));
    this.draw();
  }

  /** The events that the filters leave. @param {Event[]} events */
  shown(events) {
    const words = this.query.value.toLowerCase().split(/\s+/).filter(Boolean), again = this.again.getAttribute("aria-pressed") === "true";
    const text = (/** @type {Event} */ event) =>
      [event.function, event.cell, event.where, event.what, ...event.reason, event.advice, ...event.notes].join(" ").toLowerCase();
    return events.filter((event) => !this.hidden.has(group(event.kind)) && (!again || event.again) && (!this.select.value || event.function === this.select.value)
      && (!this.cell.value || event.cell === this.cell.value) && words.every((word) => text(event).includes(word)));
  }

  /** @param {State} state */
  timeline({ events, leftOut }) {
    const matches = this.shown(events), rows = matches.slice(-ROWS), left = leftOut + matches.length - rows.length;
    if (!events.length) return [empty("Nothing has been compiled yet: call a definition once, and it appears here.")];
    if (!rows.length) return [empty("Nothing fits these filters.")];
    if (!rows.some((event) => event.id === this.current)) this.current = rows[rows.length - 1].id;
    const longest = Math.max(...rows.map((event) => event.ms.total)), seen = /** @type {Map<string, number>} */ (new Map());
    /** @type {HTMLElement[]} */
    const parts = [new Chart(rows, this.current, (id) => this.choose(id, true)).element];
    if (left) parts.push(html("p", { class: "nx-muted", text: `${counted(left, "earlier event")} not shown` }));
    let list = html("ol");
    rows.forEach((event, index) => {
      const title = placeOf(event), last = rows[index - 1];
      if (!last || title !== placeOf(last)) {
        seen.set(title, (seen.get(title) ?? 0) + 1);
        const key = `${title} ${seen.get(title)}`;
        list = html("ol", { class: "nx-rows", "aria-label": title, "data-nx-key": `rows of ${key}` });
        parts.push(this.heading(event, key), list);
      }
      list.append(this.row(event, longest, last?.advice === event.advice && last.function === event.function && last.cell === event.cell));
    });
    return parts;
  }

  /** Where events happened; where the notebook is at hand, it leads there. @param {Event} event @param {string} key */
  heading(event, key) {
    const { reveal } = this.host, title = placeOf(event);
    if (!reveal || !event.cell_id) return html("h3", { text: title, "data-nx-key": key });
    return html("h3", { "data-nx-key": key }, button(title, `Go to ${title}`, () => reveal(event.cell_id), { "data-nx-key": `go ${event.cell_id}` }));
  }

  /** An event; advice that the one before it has given is not given again. @param {Event} event @param {number} longest @param {boolean} told */
  row(event, longest, told) {
    const lines = (event.reason.length ? event.reason : [""]).map((text) => html("span", { text }));
    const more = [...kernels(event.kernels), event.where && event.where !== event.cell && `called in ${event.where}`].filter(Boolean).join(" · ");
    if (more) lines[lines.length - 1].append(html("span", { class: "nx-muted", text: `${event.reason.length ? " · " : ""}${more}` }));
    return html("li", { class: `nx-${group(event.kind)}`, tabindex: event.id === this.current ? 0 : -1, "data-nx-key": `event ${event.id}`, onfocus: () => this.choose(event.id) },
      html("time", { text: clock(event.time) }), html("b", { text: event.what }), html("span", { class: "nx-function", text: event.function }), cost(event.ms, longest),
      html("span", { class: "nx-why" }, ...lines, !told && event.advice && html("em", { class: "nx-advice", text: event.advice }),
        ...event.notes.map((text) => html("em", { text }))));
  }

  /** @param {number} id @param {boolean} focus */
  choose(id, focus = false) {
    this.current = id;
    for (const each of this.body.querySelectorAll(".nx-strip g")) each.classList.toggle("nx-current", keyOf(each) === `bar ${id}`);
    for (const each of this.rows()) {
      const chosen = keyOf(each) === `event ${id}`;
      each.tabIndex = chosen ? 0 : -1;
      if (chosen && focus) each.focus();
    }
  }

  rows = () => [.../** @type {NodeListOf<HTMLElement>} */ (this.body.querySelectorAll(".nx-rows li"))];

  /** @param {State} _ @param {News} news */
  functions(_, { functions }) {
    return this.sums("Function", functions.map((sums) => ({ sums, title: sums.name, open: () => this.only(this.select, sums.name) })));
  }

  /** @param {State} _ @param {News} news */
  cells(_, { cells }) {
    return this.sums("Cell", cells.map((sums) => ({ sums, title: sums.cell, open: () => this.showCell(sums.cell) })));
  }

  /** Show the events of one cell. @param {string} name */
  showCell(name) {
    // The cells to choose from are those that were drawn.
    this.draw();
    this.only(this.cell, name);
  }

  /** @param {HTMLSelectElement} select @param {string} value */
  only(select, value) {
    this.select.value = this.cell.value = "";
    if ([...select.options].some((each) => each.value === value)) select.value = value;
    this.turn("timeline");
    this.tabs[0].focus();
  }

  /** @param {"Function" | "Cell"} what @param {SumsRow[]} rows */
  sums(what, rows) {
    if (!rows.length) return [empty(what === "Cell" ? "Nothing happened in a cell yet." : "Nothing has been compiled yet.")];
    const longest = Math.max(...rows.map(({ sums }) => sums.ms.total)), counts = COUNTS.filter(([key]) => key === "hits" || rows.some(({ sums }) => sums[key]));
    const heads = [what, ...counts.map(([, text]) => text), "Time", ...(what === "Cell" ? [] : ["Programs"])];
    const body = rows.sort((a, b) => b.sums.ms.total - a.sums.ms.total).flatMap(({ title, open, sums }) => {
      const row = html("tr", { "data-nx-key": `sums of ${title}` },
        html("th", { scope: "row" }, button(title, `Show the events of ${title}`, open, { "data-nx-key": `events of ${title}` })),
        ...counts.map(([key, text]) => html("td", { class: sums[key] ? "" : "nx-none", "data-head": text, text: sums[key] })), html("td", {}, cost(sums.ms, longest)),
        "programs" in sums && html("td", { "data-head": "programs", text: sums.programs }));
      if (!("again_last" in sums) || !sums.again_last.length) return [row];
      const reasons = sums.again_last.flatMap((each) =>
        [html("span", { text: `${each.function} again: ${each.reason.join("; ")}` }), each.advice && html("em", { class: "nx-advice", text: each.advice })]);
      return [row, html("tr", { "data-nx-key": `reasons of ${title}` },
        html("td", { class: "nx-why", colspan: heads.length }, html("span", { class: "nx-muted", text: "in its last run" }), ...reasons))];
    });
    return [html("table", {}, html("caption", { text: `What happened by ${what.toLowerCase()}, the most expensive first. Time: trace, lowering and native code.` }),
      html("thead", {}, html("tr", {}, ...heads.map((text) => html("th", { scope: "col", text })))), html("tbody", {}, ...body))];
  }

  /** @param {State} _ @param {News} news */
  caches(_, { caches: held, time }) {
    const { memory, disk } = held, wanted = this.host.function, native = memory.kernels + memory.programs > 0;
    const rows = [...held.functions].reverse().filter((row) => !wanted || row.name === wanted);
    /** @param {string} name */
    const forget = (name) => () => this.host.send({ kind: "forget", what: "programs", function: name });
    const names = ["Function", "Programs", "Calls answered", "Arrays held", "Made"], heads = names.map((text) => html("th", { scope: "col", text }));
    const body = rows.map((row) => html("tr", { "data-nx-key": `programs of ${row.label}` },
      html("th", { scope: "row" }, html("details", {}, html("summary", { text: row.label }), html("ul", {}, ...row.signatures.map((text) => html("li", { text }))))),
      ...[`${row.programs} of ${row.limit}`, row.hits, bytes(row.bytes)].map((text, index) => html("td", { "data-head": names[index + 1].toLowerCase(), text })),
      html("td", { class: "nx-age", "data-head": "made", text: row.oldest === row.latest ? ago(time - row.latest) : `${ago(time - row.oldest)}, last ${ago(time - row.latest)}` }),
      html("td", {}, button("Forget", `Forget the programs of ${row.name}`, forget(row.name)))));
    const programs = html("table", {}, html("caption", { text: "Programs in memory" }), html("thead", {}, html("tr", {}, ...heads, html("td"))), html("tbody", {}, ...body));
    const code = `${counted(memory.kernels, "kernel")} and ${counted(memory.programs, "program")}, ${bytes(memory.bytes)} of code, the first loaded ${ago(time - memory.oldest)}`;
    const later = disk.on ? "Programs that are made later load them from disk again." : "There is no cache on disk: programs that are made later compile them again.";
    const parts = [
      rows.length ? programs : empty("There are no programs in memory."),
      held.functions.length > 1 && !wanted && html("p", {}, button("Forget all programs", "Forget the programs of all functions", forget(""))),
      html("h3", { text: "Native code in memory" }),
      html("p", { text: native ? code : "none" }),
      native && this.ask("memory", "Forget…", "Forget the kernels in memory", later),
      html("h3", { text: "Kernels and programs on disk" }),
      html("p", { text: disk.on ? this.disk(disk, time) : "Nothing is kept on disk: NXKERNEL_CACHE_DIR is off, or its folder cannot be used." }),
      disk.on && html("meter", { min: 0, max: disk.limit, value: disk.bytes, "aria-label": "How full the cache on disk is" }),
      disk.on && disk.bytes > 0 && this.ask("disk", "Remove…", "Remove the files from disk", "All files of the cache go, those of other versions too; later sessions compile again."),
    ];
    return parts.filter((part) => part !== false);
  }

  /** @param {News["caches"]["disk"]} disk @param {number} time */
  disk(disk, time) {
    return sentence([
      `${counted(disk.kernels, "kernel")} of ${bytes(disk.kernel_bytes)}`,
      disk.records && `${counted(disk.records, "program")} of ${bytes(disk.record_bytes)}`,
      disk.others && `${counted(disk.others, "file")} of ${bytes(disk.other_bytes)} for other versions or processors`,
      !disk.whole && "and more files, which are not counted",
      disk.oldest && `the oldest was used ${ago(time - disk.oldest)}`,
      `limit ${bytes(disk.limit)}`,
      `in ${disk.folder}`,
    ]);
  }

  /** A button that asks before it clears what cannot be put back. @param {string} what @param {string} text @param {string} title @param {string} warning */
  ask(what, text, title, warning) {
    const open = (/** @type {string | null} */ name) => () => {
      this.asking = name;
      this.draw();
      this.find(`${name ? "keep" : "clear"} ${what}`)?.focus();
    };
    if (this.asking !== what) return html("p", {}, button(text, title, open(what), { "data-nx-key": `clear ${what}` }));
    const go = () => {
      this.asking = null;
      this.host.send({ kind: "forget", what });
    };
    return html("p", { class: "nx-ask", role: "group", "aria-label": title }, html("span", { text: warning }),
      button(text.replace("…", ""), title, go, { class: "nx-danger" }), button("Keep", "Keep them", open(null), { "data-nx-key": `keep ${what}` }));
  }

  /** What computes: the device, the compiler and its threads. @param {State} _ @param {News} news */
  device(_, { status: { device, compiler, threads, processors, programs } }) {
    const rows = [
      ["Device", device, ""],
      ["Compiler", compiler, "Another one for all definitions: %nx options compiler=NAME"],
      ["Threads", `${threads} of ${counted(processors, "processor")}`, "Another number: nx.set_threads(n); results stay the same bits"],
      ["Programs", `${programs} kept`, ""],
    ];
    return [html("dl", {}, ...rows.flatMap(([name, value, hint]) => [html("dt", { text: name }), html("dd", { text: value }, hint && html("em", { text: hint }))]))];
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target), tab = this.tabs.findIndex((each) => each === target);
    const rows = this.rows(), row = rows.indexOf(target), list = tab >= 0 ? this.tabs : rows;
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const end = event.key === "Home" ? 0 : event.key === "End" ? list.length - 1 : undefined;
    if (target === this.query) {
      if (event.key !== "Escape") return;
      this.query.value = "";
      this.draw();
    } else if (event.key === "/" && this.page === "timeline" && !target.matches("select")) this.query.focus();
    else if (tab >= 0 && (end !== undefined || (step && event.key.match(/Left|Right/)))) {
      const next = end ?? (tab + (step ?? 0) + this.tabs.length) % this.tabs.length;
      this.turn(/** @type {Page} */ (Object.keys(PAGES)[next]));
      this.tabs[next].focus();
    } else if (row >= 0 && end !== undefined) rows[end].focus();
    else if (row >= 0 && step && event.key.match(/Up|Down/)) rows[row + step]?.focus();
    else return;
    event.preventDefault();
  }

  dispose() {
    this.drawSoon.cancel();
    this.theme.stop();
  }
}

