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
 * Put other children into an element, and keep the focus where it was, if an element with the same `data-key` is there
 * again.
 */
export function replace(parent: HTMLElement, ...children: Child[]): void {
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && parent.contains(focused) ? focused.dataset.key : undefined;
  const { scrollTop } = parent;
  parent.replaceChildren(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  parent.scrollTop = scrollTop;
  if (key !== undefined) {
    parent.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }
}
