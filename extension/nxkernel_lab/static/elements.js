// Making elements, and following the page's theme. Python puts this before other files, and they become one module.
// Texts are always set as textContent. Nothing is loaded from anywhere.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
}
const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const button = (text, title, click, more = {}) => html("button", { type: "button", text, title, "aria-label": title, onclick: click, ...more });

const keyOf = (node) => node?.dataset?.nxKey;

/**
 * Give a node other children, and leave in the document what is there already: the focus, selected text and scroll
 * positions are its. A child with a `data-nx-key` is the same one as before, whatever else has become of it; one without
 * is the same in its place. What a button does goes by its key, or else by what it says.
 */
function settle(parent, children) {
  const focused = document.activeElement, keys = new Set(children.map(keyOf)), known = new Map();
  for (const old of [...parent.childNodes]) {
    const key = keyOf(old);
    if (key && (known.has(key) || !keys.has(key))) old.remove();
    else if (key) known.set(key, old);
  }
  let at = parent.firstChild;
  const drop = () => {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  };
  for (const child of children) {
    const key = keyOf(child);
    while (key && at && !keyOf(at)) drop();
    const old = key ? known.get(key) : keyOf(at) ? null : at, stays = old && adapt(old, child);
    known.delete(key);
    if (old && old === at) at = at.nextSibling;
    else if (stays) parent.insertBefore(old, at);
    if (!stays) parent.insertBefore(child, at);
    if (old && !stays) old.remove();
  }
  while (at) drop();
  if (focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

/** Make a node say what another one says; false where that one has to take its place. */
function adapt(node, other) {
  if (node.isEqualNode(other)) return true;
  if (node.nodeName !== other.nodeName || node.nodeType !== Node.ELEMENT_NODE || (node.nodeName === "BUTTON" && !keyOf(node))) return false;
  // Whether details are open is the reader's.
  for (const name of node.getAttributeNames()) if (!other.hasAttribute(name) && name !== "open") node.removeAttribute(name);
  for (const name of other.getAttributeNames()) if (node.getAttribute(name) !== other.getAttribute(name)) node.setAttribute(name, other.getAttribute(name));
  settle(node, [...other.childNodes]);
  return true;
}

/** Give a widget's element its look, and keep `data-nx-theme` what the page's theme is, or the other one when it is turned. */
class Theme {
  constructor(root) {
    this.root = root;
    this.turned = false;
    root.classList.add("nx-view");
    this.watcher = new MutationObserver(() => this.set());
    this.watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind", "class"] });
    this.watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["theme"] });
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.media.addEventListener("change", (this.onMedia = () => this.set()));
    this.set();
  }

  set() {
    // JupyterLab, Colab and VS Code each say it in their own way; other pages follow what the reader's system prefers.
    const { body } = document, light = body.dataset.jpThemeLight, colab = document.documentElement.getAttribute("theme"), code = body.dataset.vscodeThemeKind ?? body.className.match(/vscode-\S+/)?.[0];
    const dark = light ? light === "false" : colab ? colab === "dark" : code ? !code.includes("light") : this.media.matches;
    this.root.dataset.nxTheme = dark !== this.turned ? "dark" : "light";
    // Outside of JupyterLab, what widgets bring along sets its variables to light colours on all pages.
    this.root.toggleAttribute("data-nx-turned", this.turned || !light);
  }

  turn() {
    this.turned = !this.turned;
    this.set();
  }

  stop() {
    this.watcher.disconnect();
    this.media.removeEventListener("change", this.onMedia);
  }
}
