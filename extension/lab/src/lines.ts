/** Lines of cells and boxes of the inspector: what is pointed at in one lights up in the other. */

import { CodeCell } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { element } from './dom';

/** What the inspector emits, from its own element: a cell's name and a line of it from 1, or no line for none. */
const FROM_INSPECTOR = 'nxkernel:line';
/** The same the other way round, on the document. */
const TO_INSPECTOR = 'nxkernel:point';
const LIGHT = 'nx-lab-line';

/** Follow the events of all inspectors on the page. */
export function followLines(tracker: INotebookTracker): void {
  let told = '';
  document.addEventListener('mouseover', event => {
    const place = document.querySelector('.nx-inspector') ? pointed(tracker, event.target as Element) : null;
    const detail = place ?? { cell: '', line: 0 };
    const now = `${detail.cell} ${detail.line}`;
    if (now !== told && (place || told !== '')) {
      told = place ? now : '';
      document.dispatchEvent(new CustomEvent(TO_INSPECTOR, { detail }));
    }
  });
  document.addEventListener(FROM_INSPECTOR, event => {
    const detail: unknown = (event as CustomEvent).detail;
    dim();
    if (typeof detail !== 'object' || detail === null) {
      return;
    }
    const { cell, line, code } = detail as { cell?: unknown; line?: unknown; code?: unknown };
    if (typeof cell !== 'string' || typeof line !== 'number' || !Number.isInteger(line) || line < 1) {
      return;
    }
    const panel = tracker.find(each => each.node.contains(event.target as Node)) ?? tracker.currentWidget;
    const found = panel && find(panel, cell, line, typeof code === 'string' ? code : null);
    if (found) {
      light(found, line);
    }
  });
}

/** The line of a cell that has run, by what is under the mouse. */
function pointed(tracker: INotebookTracker, target: Element): { cell: string; line: number } | null {
  const row = target.closest?.('.cm-line');
  const panel = row && tracker.find(each => each.content.node.contains(row));
  const cell = panel?.content.widgets.find(each => each.node.contains(row));
  if (!row || !(cell instanceof CodeCell) || cell.model.executionCount === null) {
    return null;
  }
  const rows = [...cell.node.querySelectorAll('.cm-line')];
  return { cell: `cell ${cell.model.executionCount}`, line: rows.indexOf(row) + 1 };
}

/** The cell of a name such as "cell 4" that has that line: after a restart, two cells may have the same number. */
function find(panel: NotebookPanel, name: string, line: number, code: string | null): CodeCell | null {
  const number = Number(/^cell (\d+)$/.exec(name)?.[1]);
  for (const cell of panel.content.widgets) {
    if (cell instanceof CodeCell && cell.model.executionCount === number) {
      const text = cell.model.sharedModel.source.split('\n')[line - 1];
      if (text !== undefined && (code === null || text.trim() === code.trim())) {
        return cell;
      }
    }
  }
  return null;
}

/** The editor owns its lines, and would take a class off them again: the light lies behind them instead. */
function light(cell: CodeCell, line: number): void {
  const shown = cell.editorWidget?.node;
  const row = shown?.querySelectorAll('.cm-line')[line - 1];
  if (!shown || !row) {
    return;
  }
  const [inside, outside] = [row.getBoundingClientRect(), shown.getBoundingClientRect()];
  const made = element('div', { class: LIGHT, 'aria-hidden': 'true' });
  made.style.top = `${inside.top - outside.top - shown.clientTop}px`;
  made.style.height = `${inside.height}px`;
  shown.append(made);
}

function dim(): void {
  document.querySelectorAll(`.${LIGHT}`).forEach(each => each.remove());
}
