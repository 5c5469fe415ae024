/** The timeline: what was compiled, found and dropped, cell by cell, with the reason and the change that avoids it. */

import { button, element, replace } from './dom';
import { IEvent } from './messages';
import { IState } from './state';
import { clock, count, duration } from './wording';

/** How many rows are drawn. */
const ROWS = 200;

/** What can be asked for, and which events that leaves. */
const KINDS: [string, (event: IEvent) => boolean][] = [
  ['All events', () => true],
  ['New programs', event => ['compiled', 'loaded', 'traced'].includes(event.kind)],
  ['Compiled again', event => event.again],
  ['From disk', event => event.kernels.disk > 0],
  ['Hits', event => event.kind === 'hits'],
  ['Errors', event => event.kind === 'error'],
  ['Dropped', event => event.kind === 'evicted' || event.kind === 'cleared']
];

/** What the view asks of the notebook. */
export interface IPlaces {
  /** Show a cell. */
  reveal(id: string): void;
}

export class Timeline {
  readonly node: HTMLElement;

  constructor(private readonly _places: IPlaces) {
    this._search = element('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter by function, cell or reason' });
    this._kinds = element('select', { 'aria-label': 'Kinds of events' });
    this._kinds.append(...KINDS.map(([name]) => element('option', {}, name)));
    this._search.addEventListener('input', () => this._draw());
    this._kinds.addEventListener('change', () => this._draw());
    this._found = element('p', { class: 'nx-lab-found', role: 'status' });
    this._list = element('div', { class: 'nx-lab-timeline' });
    this.node = element('div', {}, element('div', { class: 'nx-lab-tools' }, this._search, this._kinds), this._found, this._list);
  }

  /** Show only what has to do with a text. */
  filter(text: string): void {
    this._search.value = text;
    this._kinds.selectedIndex = 0;
    this._draw();
  }

  update(state: IState): void {
    this._state = state;
    this._draw();
  }

  private _draw(): void {
    const state = this._state;
    if (state === null) {
      return;
    }
    const words = this._search.value.toLowerCase().trim();
    const wanted = KINDS[this._kinds.selectedIndex][1];
    const found = state.events.filter(event => wanted(event) && (words === '' || matches(event, words)));
    const shown = found.slice(-ROWS);
    const hidden = found.length - shown.length + (found.length === state.events.length ? state.leftOut : 0);
    this._found.textContent =
      found.length === state.events.length ? '' : `${found.length} of ${count(state.events.length, 'event')}`;
    if (state.events.length === 0) {
      replace(this._list, element('p', { class: 'nx-lab-empty' }, 'Nothing yet: call a definition, and what becomes of the call appears here.'));
      return;
    }
    // The latest stands first; places are counted from the oldest, so that what is new changes no key.
    const groups: HTMLElement[] = [];
    const times = new Map<string, number>();
    let last: IEvent | null = null;
    for (const [index, event] of shown.entries()) {
      if (last === null || last.cell !== event.cell || last.cell_id !== event.cell_id) {
        const place = `${event.cell} ${event.cell_id}`;
        times.set(place, (times.get(place) ?? 0) + 1);
        groups.unshift(this._group(event, `${place} ${times.get(place)}`));
      }
      groups[0].lastElementChild!.prepend(row(event, !isTold(event, shown[index + 1])));
      last = event;
    }
    const more = hidden > 0 ? element('p', { class: 'nx-lab-empty' }, `${count(hidden, 'older event')} not shown`) : null;
    replace(this._list, ...groups, more);
  }

  private _group(event: IEvent, key: string): HTMLElement {
    const name = event.cell || 'outside of cells';
    const heading = element('h3', {});
    if (event.cell_id) {
      const go = { 'aria-label': `Go to ${name}`, title: 'Go to this cell', 'data-key': `go ${event.cell_id}` };
      heading.append(button(name, () => this._places.reveal(event.cell_id), { class: 'nx-lab-link', ...go }));
    } else {
      heading.append(name);
    }
    return element('section', { 'data-key': key }, heading, element('ol', {}));
  }

  private _state: IState | null = null;
  private readonly _search: HTMLInputElement;
  private readonly _kinds: HTMLSelectElement;
  private readonly _found: HTMLElement;
  private readonly _list: HTMLElement;
}

function matches(event: IEvent, words: string): boolean {
  const texts = [event.function, event.cell, event.where, event.what, event.advice, ...event.reason, ...event.notes];
  return texts.some(text => text.toLowerCase().includes(words));
}

/** Whether the next event, which stands above it, gives the same advice in the same cell. */
function isTold(event: IEvent, next: IEvent | undefined): boolean {
  return next !== undefined && event.advice === next.advice && event.function === next.function && event.cell === next.cell;
}

function row(event: IEvent, advises: boolean): HTMLElement {
  const { compiled, memory, disk } = event.kernels;
  const kernels = [
    [compiled, 'compiled'],
    [memory, 'from memory'],
    [disk, 'from disk']
  ] as const;
  const origins = kernels.filter(([number]) => number > 0).map(([number, what]) => `${count(number, 'kernel')} ${what}`);
  const { trace, lower, native, total } = event.ms;
  const parts = `${duration(trace)} trace, ${duration(lower)} lowering, ${duration(native)} native`;
  const reasons = event.again || event.kind === 'error' ? event.reason : [];
  return element(
    'li',
    { class: `nx-lab-event nx-lab-${event.again ? 'again' : event.kind}`, 'data-key': `event ${event.id}` },
    element('div', { class: 'nx-lab-head' }, element('span', { class: 'nx-lab-name' }, event.function), element('time', {}, clock(event.time))),
    element(
      'p',
      {},
      element('span', { class: 'nx-lab-badge' }, event.what),
      total > 0 ? element('span', { class: 'nx-lab-ms', title: parts }, ` ${duration(total)}`) : null
    ),
    ...reasons.map(line => element('p', { class: 'nx-lab-reason' }, line)),
    advises && event.advice ? element('p', { class: 'nx-lab-advice' }, event.advice) : null,
    ...event.notes.map(line => element('p', { class: 'nx-lab-note' }, line)),
    origins.length > 0 ? element('p', { class: 'nx-lab-note' }, origins.join(', ')) : null,
    event.where && event.where !== event.cell ? element('p', { class: 'nx-lab-note' }, `called by ${event.where}`) : null
  );
}
