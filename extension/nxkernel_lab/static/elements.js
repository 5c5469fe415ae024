/**
 * Making elements, and following the page's theme. What a kernel says is always set as text, never read as markup.
 *
 * @typedef {(event: PointerEvent) => void} Pointing
 * @typedef {(event: Event) => void} Listening
 * @typedef {{
 *   [name: string]: string | number | boolean | ((event: never) => void) | undefined,
 *   onclick?: Pointing, ondblclick?: (event: MouseEvent) => void, onpointerdown?: Pointing, onpointermove?: Pointing,
 *   onpointerup?: Pointing, onpointercancel?: Pointing, onpointerover?: Pointing, onpointerenter?: Pointing,
 *   onpointerleave?: Pointing, onwheel?: (event: WheelEvent) => void, onkeydown?: (event: KeyboardEvent) => void,
 *   onchange?: Listening, oninput?: Listening, onfocus?: Listening, onblur?: Listening,
 * }} Attributes
 * @typedef {Node | string | null | undefined | false | 0 | ""} Child
 */
/**
 * What anywidget gives: the fields that Python keeps in step, and messages.
 *
 * @template F - the fields by name
 * @template M - a message from Python
 * @typedef {object} Model
 * @property {<K extends keyof F>(name: K) => F[K]} get
 * @property {(message: object) => void} send
 * @property {(name: string, call: (message: M) => void) => void} on
 * @property {(name: string, call: (message: M) => void) => void} off
 */

/**
 * Set attributes of a node, and append children.
 *
 * @template {Element} E
 * @param {E} node
 * @param {Attributes} attributes - `text` is its content, functions of names such as `onclick` listen to events, and
 *   what is false or undefined is left out
 * @param {Child[]} children
 */
export function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = String(value ?? "");
    else if (typeof value === "function") node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value !== false && value !== undefined) node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) node.append(child);
  return node;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** @param {string} text @param {string} title @param {() => void} click @param {Attributes} more */
export const button = (text, title, click, more = {}) => html("button", { type: "button", text, title, "aria-label": title, onclick: click, ...more });

/** The name by which a node is the same one as before. @param {Node | null | undefined} node @returns {string | undefined} */
export const keyOf = (node) => node instanceof HTMLElement || node instanceof SVGElement ? node.dataset.nxKey : undefined;

/**
 * Give a node other children, and leave in the document what is there already: the focus, selected text and scroll
 * positions are its. A child with a `data-nx-key` is the same one as before, whatever else has become of it; one without
 * is the same in its place. What a button does goes by its key, or else by what it says.
 *
 * @param {Element} parent
 * @param {Node[]} children
 */
export function settle(parent, children) {
  const focused = document.activeElement, keys = new Set(children.map(keyOf));
  /** @type {Map<string | undefined, ChildNode>} */
  const known = new Map();
  for (const old of [...parent.childNodes]) {
    const key = keyOf(old);
    if (key && (known.has(key) || !keys.has(key))) old.remove();
    else if (key) known.set(key, old);
  }
  let at = parent.firstChild;
  /** Take a node off, and go on with the next one. @param {ChildNode} node */
  const dropped = (node) => {
    const next = node.nextSibling;
    node.remove();
    return next;
  };
  for (const child of children) {
    const key = keyOf(child);
    while (key && at && !keyOf(at)) at = dropped(at);
    const old = key ? known.get(key) : keyOf(at) ? null : at, stays = old && adapt(old, child);
    known.delete(key);
    if (old && old === at) at = at.nextSibling;
    else if (old && stays) parent.insertBefore(old, at);
    if (!stays) {
      parent.insertBefore(child, at);
      old?.remove();
    }
  }
  while (at) at = dropped(at);
  if (focused instanceof HTMLElement && focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

/** Make a node say what another one says; false where that one has to take its place. @param {Node} node @param {Node} other */
function adapt(node, other) {
  if (node.isEqualNode(other)) return true;
  const mayDoElse = node.nodeName === "BUTTON" && !keyOf(node);
  if (!(node instanceof Element) || !(other instanceof Element) || node.nodeName !== other.nodeName || mayDoElse) return false;
  // Whether details are open is the reader's.
  for (const name of node.getAttributeNames()) if (!other.hasAttribute(name) && name !== "open") node.removeAttribute(name);
  for (const name of other.getAttributeNames()) {
    const value = other.getAttribute(name) ?? "";
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  settle(node, [...other.childNodes]);
  return true;
}

/** What does something before the page is drawn the next time: once, however often it is called until then. @param {() => void} action */
export function onceAFrame(action) {
  let waiting = 0;
  const soon = () => {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      action();
    });
  };
  soon.cancel = () => cancelAnimationFrame(waiting);
  return soon;
}

/** Give an element the look of our views, and keep `data-nx-theme` what the page's theme is, or the other one when it is turned. */
export class Theme {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.turned = false;
    root.classList.add("nx-view");
    this.watcher = new MutationObserver(this.set);
    this.watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind", "class"] });
    this.watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["theme"] });
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.media.addEventListener("change", this.set);
    this.set();
  }

  set = () => {
    // JupyterLab, Colab and VS Code each say it in their own way; other pages follow what the reader's system prefers.
    const { body } = document, light = body.dataset.jpThemeLight, colab = document.documentElement.getAttribute("theme");
    const code = body.dataset.vscodeThemeKind ?? body.className.match(/vscode-\S+/)?.[0];
    const dark = light ? light === "false" : colab ? colab === "dark" : code ? !code.includes("light") : this.media.matches;
    this.root.dataset.nxTheme = dark !== this.turned ? "dark" : "light";
    // Outside of JupyterLab, what widgets bring along sets its variables to light colours on all pages.
    this.root.toggleAttribute("data-nx-turned", this.turned || !light);
  };

  turn() {
    this.turned = !this.turned;
    this.set();
  }

  stop() {
    this.watcher.disconnect();
    this.media.removeEventListener("change", this.set);
  }
}
