/** Beside the picture: what is known about the selected box, and the text of the function with the lines that made nodes. */

import { button, fill, html } from "./elements.js";

/**
 * What nxkernel_lab/inspector/page_data.py tells of a compilation; what says nothing is left out.
 *
 * @typedef {object} GraphNode
 * @property {string} label
 * @property {string} expression
 * @property {string} spec
 * @property {"argument" | "captured" | "constant" | "operation"} role
 * @property {string[]} operands
 * @property {string[]} readers
 * @property {number[]} kernels
 * @property {string} place
 * @property {string} code
 * @property {[string, number]} at - the cell and the line that made it
 * @property {string[]} [body]
 * @property {boolean} [output]
 * @property {string} [work]
 * @property {string} [module]
 * @property {boolean} [gradient]
 * @property {[string, string]} [change] - what a step did to it: a word and a line
 *
 * @typedef {{ name: string, title: string, about: string[], time: string, share: number, forms: string[] }} GraphKernel
 * @typedef {{ signature: string, about: string[], nodes: Record<string, GraphNode>, kernels: Record<string, GraphKernel> }} Graph
 * @typedef {{ name: string, cell: string, first: number, lines: string[] }} SourceText
 * @typedef {{ text: HTMLElement, forms: Map<string, HTMLElement> }} KernelView
 * @typedef {import("./elements.js").Child} Child
 */

/** What is worth showing. @param {(HTMLElement | string | false | undefined)[]} parts @returns {HTMLElement[]} */
const present = (parts) => parts.filter((part) => part instanceof HTMLElement);

/** What is known about the selected box: type, line, work, kernel and its time, and the kernel's code on demand. */
export class Pane {
  /** @param {{ read: (kernel: number, form: string) => void, select: (node: string) => void }} calls */
  constructor({ read, select }) {
    this.onRead = read;
    this.onSelect = select;
    /** @type {{ kernel: number, form: string } | null} */
    this.open = null;
    /** @type {Map<number, KernelView>} */
    this.kernels = new Map();
    this.element = html("section", { class: "nx-pane", "aria-label": "Details", tabindex: 0 });
  }

  /** @param {Partial<Graph>} partial @param {{ node?: string, kernel: number } | null | undefined} shape @param {string} empty */
  show(partial, shape, empty) {
    this.open = null;
    this.kernels = new Map();
    if (!partial.nodes) return this.element.replaceChildren(html("p", { class: "nx-muted", role: "status", text: empty }));
    const graph = /** @type {Graph} */ (partial), node = shape?.node === undefined ? undefined : graph.nodes[shape.node];
    // A box in its kernel belongs to that one; where nodes stand together otherwise, to all that compute it.
    const kernels = shape ? (shape.kernel >= 0 ? [shape.kernel] : (node?.kernels ?? [])) : [];
    const shown = kernels.filter((index) => graph.kernels[index]).flatMap((index) => this.kernel(graph.kernels[index], index));
    if (node || shown.length) this.element.replaceChildren(...(node ? this.node(graph, node) : []), ...shown);
    else this.element.replaceChildren(...this.overview(graph));
    this.element.scrollTop = 0;
  }

  /** @param {Graph} graph */
  overview(graph) {
    const keys = [["↑ ↓ ← →", "walk"], ["Enter, g", "open, fold"], ["[ ]", "back, forth"], ["/", "search"], ["+ − 0", "zoom, fit"]];
    return [
      html("h3", { text: graph.signature }),
      ...graph.about.map((line) => html("p", { text: line })),
      html("p", { class: "nx-keys", "aria-label": "Keys" }, ...keys.map(([key, what]) => html("span", {}, html("kbd", { text: key }), ` ${what}`))),
    ];
  }

  /** @param {Graph} graph @param {GraphNode} node */
  node(graph, node) {
    const links = (/** @type {string} */ title, /** @type {string[]} */ ids) => ids.length > 0 && html("p", { class: "nx-links" }, html("span", { class: "nx-muted", text: title }),
      ...ids.slice(0, 24).map((id) => button(`${id.split(".").pop()} ${graph.nodes[id].label}`, `Select ${id}`, () => this.onSelect(id))),
      ids.length > 24 && html("span", { class: "nx-muted", text: `and ${ids.length - 24} more` }));
    const role = { argument: "argument", captured: "captured value", constant: "constant", operation: "" }[node.role];
    const facts = [role, node.gradient && "made by differentiation", node.module && `module ${node.module}`, node.output && "returned by the function"];
    return present([
      html("h3", { class: "nx-head" }, html("span", { text: node.label }), html("span", { class: "nx-spec", text: node.spec })),
      html("p", { class: "nx-expression", text: node.expression }),
      node.change && html("p", { class: `nx-change nx-${node.change[0]}`, text: node.change[1] }),
      node.body && html("pre", { class: "nx-body", tabindex: 0, "aria-label": "Its function" }, html("code", { text: node.body.join("\n") })),
      facts.some(Boolean) && html("p", { class: "nx-muted", text: facts.filter(Boolean).join(", ") }),
      node.work && html("p", { class: "nx-work", text: `by itself: ${node.work}` }),
      node.place && html("p", { class: "nx-place", text: node.place }),
      node.code && html("pre", { class: "nx-code" }, html("code", { text: node.code })),
      links("reads ", node.operands),
      links("read by ", node.readers),
    ]);
  }

  /** @param {GraphKernel} kernel @param {number} index */
  kernel(kernel, index) {
    const text = html("div", { class: "nx-text" });
    const forms = new Map(kernel.forms.map((form) => [form, button(form, `Show the ${form} of ${kernel.name}`, () => this.toggle(index, form), { "aria-expanded": "false" })]));
    this.kernels.set(index, { text, forms });
    return present([
      html("h4", { text: `${kernel.name} · ${kernel.title}` }),
      html("p", { class: "nx-muted", text: kernel.about.join(" · ") }),
      kernel.time && html("p", { class: "nx-time", text: kernel.time }),
      html("p", { class: "nx-forms" }, ...forms.values()),
      text,
    ]);
  }

  /** @param {number} kernel @param {string} form */
  toggle(kernel, form) {
    const same = this.open?.kernel === kernel && this.open?.form === form;
    for (const [index, { text, forms }] of this.kernels) {
      text.replaceChildren();
      for (const [name, each] of forms) each.setAttribute("aria-expanded", String(index === kernel && name === form && !same));
    }
    this.open = same ? null : { kernel, form };
    this.kernels.get(kernel)?.text.replaceChildren(...(same ? [] : [html("p", { class: "nx-muted", role: "status", text: "Waiting for the kernel…" })]));
    if (!same) this.onRead(kernel, form);
  }

  /** @param {{ kernel: number, form: string, text: string }} message */
  receive({ kernel, form, text }) {
    if (this.open?.kernel !== kernel || this.open?.form !== form) return;
    const shown = html("pre", { tabindex: 0, "aria-label": form, role: "region" }, html("code", { text }));
    const write = async () => {
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = "Copied";
      } catch {
        // A frame may not be allowed to: the reader is.
        getSelection()?.selectAllChildren(shown);
        copy.textContent = "Selected: press Ctrl+C";
      }
    };
    const copy = button("Copy", `Copy the ${form}`, () => void write());
    this.kernels.get(kernel)?.text.replaceChildren(copy, shown);
  }
}

/** The functions whose lines made nodes: a line lights its nodes, a node its line. */
export class Source {
  /** @param {{ point: (nodes: string[], cell: string, line: number) => void, select: (node: string) => void }} calls */
  constructor({ point, select }) {
    this.onPoint = point;
    this.onSelect = select;
    /** @type {Map<string, HTMLElement>} */
    this.lines = new Map();
    /** @type {HTMLElement | undefined} */
    this.lit = undefined;
    this.element = html("section", { class: "nx-source", "aria-label": "Source", tabindex: 0, hidden: true });
  }

  /** @param {SourceText[]} sources @param {Partial<Graph>} graph */
  show(sources, graph) {
    /** @type {Map<string, string[]>} */
    const nodes = new Map(), key = (/** @type {string} */ cell, /** @type {number} */ line) => `${cell}\n${line}`;
    for (const [id, { at }] of Object.entries(graph.nodes ?? {})) if (at[1]) nodes.set(key(...at), [...(nodes.get(key(...at)) ?? []), id]);
    this.lines.clear();
    this.element.hidden = !sources.length;
    this.element.replaceChildren(...sources.flatMap(({ name, cell, first, lines }) => [
      html("h4", { text: `${name} · ${cell}` }),
      html("ol", { start: first, style: `--digits: ${String(first + lines.length).length}` }, ...lines.map((text, index) => {
        const found = nodes.get(key(cell, first + index)), item = html("li", { value: first + index });
        if (!found) return fill(item, {}, [html("code", { text: text || " " })]);
        const what = `Line ${first + index}, ${found.length} node${found.length === 1 ? "" : "s"}: ${text.trim()}`;
        const enter = () => this.onPoint(found, cell, first + index), leave = () => this.onPoint([], cell, first + index);
        this.lines.set(key(cell, first + index), item);
        let turn = 0;
        return fill(item, {}, [html("button", { type: "button", "aria-label": what, title: what.split(":")[0],
          onpointerenter: enter, onpointerleave: leave, onfocus: enter, onblur: leave, onclick: () => this.onSelect(found[turn++ % found.length]) }, html("code", { text }))]);
      })),
    ]));
  }

  /** Light the line of a node, and bring it into sight without moving the page. @param {[string, number] | undefined} at @param {boolean} scroll */
  light(at, scroll = false) {
    const item = at === undefined ? undefined : this.lines.get(at.join("\n"));
    if (item === this.lit) return;
    this.lit?.classList.remove("nx-lit");
    this.lit = item;
    item?.classList.add("nx-lit");
    if (!item || !scroll) return;
    const box = this.element.getBoundingClientRect(), { top, bottom } = item.getBoundingClientRect();
    if (top < box.top || bottom > box.bottom) this.element.scrollTop += (top + bottom - box.top - box.bottom) / 2;
  }
}
