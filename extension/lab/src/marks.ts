/** A mark beside each cell whose functions compiled again in its last run. */

import { Notebook } from '@jupyterlab/notebook';

import { html } from '../../nxkernel_lab/static/elements.js';
import { State } from '../../nxkernel_lab/static/session_state.js';

const MARK = 'nx-lab-mark';

/** What is said of a cell: a line for each function, and its reasons; empty where nothing compiled again. */
export function told(state: State | null): Map<string, string> {
  const texts = new Map<string, string>();
  for (const cell of state?.news?.cells ?? []) {
    if (cell.cell_id && cell.again_last.length > 0) {
      const each = cell.again_last.map(({ function: name, reason, advice }) =>
        [`another program of ${name}`, ...reason, ...(advice ? [advice] : [])].join('\n  ')
      );
      texts.set(cell.cell_id, each.join('\n'));
    }
  }
  return texts;
}

/**
 * Mark the cells of a notebook.
 *
 * @param notebook - whose cells
 * @param texts - what is said, by the cell's id
 * @param open - called with the id when a mark is pressed
 */
export function mark(notebook: Notebook, texts: Map<string, string>, open: (id: string) => void): void {
  for (const cell of notebook.widgets) {
    const text = texts.get(cell.model.id);
    const there = cell.node.querySelector<HTMLButtonElement>(`:scope > .${MARK}`);
    if (text === undefined) {
      there?.remove();
      continue;
    }
    const made = there ?? html('button', { type: 'button', class: MARK, text: '↻' });
    if (there === null) {
      made.addEventListener('click', event => {
        event.stopPropagation();
        open(cell.model.id);
      });
      cell.node.append(made);
    }
    if (made.title !== text) {
      made.title = text;
      made.setAttribute('aria-label', text);
    }
  }
}
