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

/** Give a widget's element its look, and keep `data-nx-theme` what the page's theme is, or the other one when it is turned. */
class Theme {
  constructor(root) {
    this.root = root;
    this.turned = false;
    root.classList.add("nx-view");
    this.watcher = new MutationObserver(() => this.set());
    this.watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.media.addEventListener("change", (this.onMedia = () => this.set()));
    this.set();
  }

  set() {
    const page = document.body, light = page.dataset.jpThemeLight;
    const dark = light ? light === "false" : page.classList.contains("vscode-dark") || (!page.classList.contains("vscode-light") && this.media.matches);
    this.root.dataset.nxTheme = dark !== this.turned ? "dark" : "light";
    this.root.toggleAttribute("data-nx-turned", this.turned);
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
