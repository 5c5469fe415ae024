/** Lines of cells and boxes of the inspector: what is pointed at in one lights up in the other. */

import { CodeCell } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { html } from '../../nxkernel_lab/static/elements.js';

/**
 * What the inspector emits, from its own element: a cell's name and a line of it from 1, or no line for none; and the
 * first line and the lines of the function that it is of, where they are known.
 */
const FROM_INSPECTOR = 'nxkernel:line';
/** The other way round, on the document: a cell's name, a line of it, and all lines of the cell. */
const TO_INSPECTOR = 'nxkernel:point';
const LIGHT = 'nx-lab-line';

/** Follow the events of all inspectors on the page. */
export function followLines(tracker: INotebookTracker): void {
  let told = '';
  document.addEventListener('mouseover', event => {
    const place = document.querySelector('.nx-inspector') ? pointed(tracker, event.target as Element) : null;
    const now = place ? `${place.id} ${place.line}` : '';
    if (now !== told) {
      told = now;
      const detail = place ?? { cell: '', line: 0, text: [] };
      document.dispatchEvent(new CustomEvent(TO_INSPECTOR, { detail }));
    }
  });
  document.addEventListener(FROM_INSPECTOR, event => {
    const detail: unknown = (event as CustomEvent).detail;
    dim();
    if (typeof detail !== 'object' || detail === null) {
      return;
    }
    const { cell, line, first, lines } = detail as Record<string, unknown>;
    if (typeof cell !== 'string' || typeof line !== 'number' || !Number.isInteger(line) || line < 1) {
      return;
    }
    const panel = tracker.find(each => each.node.contains(event.target as Node)) ?? tracker.currentWidget;
    const known = Number.isInteger(first) && Array.isArray(lines);
    const found = panel && find(panel, cell, known ? { first: first as number, lines } : null);
    if (found) {
      light(found, line);
    }
  });
}

/** The number of a line: a long cell has only those on the page that are in sight, and the editor knows which. */
function lineOf(cell: CodeCell, row: Element): number | null {
  const { left, top, bottom } = row.getBoundingClientRect();
  const spot = { left: left + 1, right: left + 1, top: (top + bottom) / 2, bottom };
  const found = cell.editor?.getPositionForCoordinate(spot);
  return found ? found.line + 1 : null;
}

/** The line of a cell that has run, by what is under the mouse. */
function pointed(
  tracker: INotebookTracker,
  target: Element
): { id: string; cell: string; line: number; text: string[] } | null {
  const row = target.closest?.('.cm-line');
  const panel = row && tracker.find(each => each.content.node.contains(row));
  const cell = panel?.content.widgets.find(each => each.node.contains(row));
  if (!row || !(cell instanceof CodeCell) || cell.model.executionCount === null) {
    return null;
  }
  const line = lineOf(cell, row);
  const text = cell.model.sharedModel.source.split('\n');
  return line === null ? null : { id: cell.model.id, cell: `cell ${cell.model.executionCount}`, line, text };
}

/**
 * The cell of a name such as "cell 4" in which a function stands. After a restart two cells may have the same number,
 * and one that was run again has another one than when its function was compiled: the text tells which it is, and the
 * number where several cells have that text.
 */
function find(
  panel: NotebookPanel,
  name: string,
  known: { first: number; lines: unknown[] } | null
): CodeCell | null {
  const number = Number(/^cell (\d+)$/.exec(name)?.[1]);
  const cells = panel.content.widgets.filter(each => each instanceof CodeCell);
  const there = (cell: CodeCell): boolean => {
    const text = cell.model.sharedModel.source.split('\n');
    return known === null || known.lines.every((each, index) => text[known.first - 1 + index] === each);
  };
  const found = Number.isNaN(number) ? [] : cells.filter(there);
  const numbered = found.find(cell => cell.model.executionCount === number);
  return numbered ?? (known && found.find(cell => cell.model.executionCount !== null)) ?? null;
}

/** The editor owns its lines, and would take a class off them again: the light lies behind them instead. */
function light(cell: CodeCell, line: number): void {
  const shown = cell.editorWidget?.node;
  const row = [...(shown?.querySelectorAll('.cm-line') ?? [])].find(each => lineOf(cell, each) === line);
  if (!shown || !row) {
    return;
  }
  const [inside, outside] = [row.getBoundingClientRect(), shown.getBoundingClientRect()];
  const made = html('div', { class: LIGHT, 'aria-hidden': 'true' });
  made.style.top = `${inside.top - outside.top - shown.clientTop}px`;
  made.style.height = `${inside.height}px`;
  shown.append(made);
}

function dim(): void {
  document.querySelectorAll(`.${LIGHT}`).forEach(each => each.remove());
}
