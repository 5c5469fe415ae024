/** Elements whose content is text: nothing that a kernel says is ever read as markup. */

type Child = Node | string | null | undefined;

/**
 * Make an element.
 *
 * @param tag - its name
 * @param attributes - attributes, with `class` among them; those that are undefined or false are left out
 * @param children - nodes, and strings that become text
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? '' : String(value));
    }
  }
  made.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return made;
}

/** A button that does something. */
export function button(text: string, action: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', action);
  return made;
}

/**
 * Give an element other children, and leave on the page what is there already: the focus, selected text and scroll
 * positions are its. A child with a `data-key` is the same one as before, whatever else has become of it; one without
 * is the same in its place. What a button does goes by its key, or else by what it says.
 */
export function replace(parent: Element, ...children: Child[]): void {
  const focused = document.activeElement;
  const wanted = children.filter(child => child !== null && child !== undefined).map(child => (typeof child === 'string' ? new Text(child) : child));
  settle(parent, wanted);
  if (focused instanceof HTMLElement && focused !== document.activeElement && parent.contains(focused)) {
    focused.focus({ preventScroll: true });
  }
}

function keyOf(node: Node | null): string | undefined {
  return node instanceof HTMLElement ? node.dataset.key : undefined;
}

function settle(parent: Element, wanted: Node[]): void {
  const keys = new Set(wanted.map(keyOf));
  const known = new Map<string, ChildNode>();
  for (const old of [...parent.childNodes]) {
    const key = keyOf(old);
    if (key !== undefined && (known.has(key) || !keys.has(key))) {
      old.remove();
    } else if (key !== undefined) {
      known.set(key, old);
    }
  }
  let at = parent.firstChild;
  for (const child of wanted) {
    const key = keyOf(child);
    while (key !== undefined && at !== null && keyOf(at) === undefined) {
      at = dropped(at);
    }
    const old = key !== undefined ? known.get(key) : keyOf(at) === undefined ? at : null;
    const stays = old && adapt(old, child);
    if (key !== undefined) {
      known.delete(key);
    }
    if (old && old === at) {
      at = at.nextSibling;
    } else if (stays) {
      parent.insertBefore(old, at);
    }
    if (!stays) {
      parent.insertBefore(child, at);
      old?.remove();
    }
  }
  while (at !== null) {
    at = dropped(at);
  }
}

/** Take a node off, and go on with the next one. */
function dropped(node: ChildNode): ChildNode | null {
  const next = node.nextSibling;
  node.remove();
  return next;
}

/** Make a node say what another one says; false where that one has to take its place. */
function adapt(node: Node, other: Node): boolean {
  if (node.isEqualNode(other)) {
    return true;
  }
  const mayDoElse = node.nodeName === 'BUTTON' && keyOf(node) === undefined;
  if (!(node instanceof Element) || !(other instanceof Element) || node.nodeName !== other.nodeName || mayDoElse) {
    return false;
  }
  for (const name of node.getAttributeNames()) {
    if (!other.hasAttribute(name)) {
      node.removeAttribute(name);
    }
  }
  for (const name of other.getAttributeNames()) {
    if (node.getAttribute(name) !== other.getAttribute(name)) {
      node.setAttribute(name, other.getAttribute(name)!);
    }
  }
  settle(node, [...other.childNodes]);
  return true;
}

/** What does something before the page is drawn the next time: once, however often it is called until then. */
export function onceAFrame(action: () => void): () => void {
  let waiting = false;
  return () => {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        action();
      });
    }
  };
}
