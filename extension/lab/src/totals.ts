/** The totals: what every function and every cell cost so far, the dearest first. */

import { button, element, replace } from './dom';
import { ISums } from './messages';
import { IState } from './state';
import { IPlaces } from './timeline';
import { duration } from './wording';

const COLUMNS: [string, string, (sums: ISums) => number][] = [
  ['new', 'Programs that were made: kernels compiled, or all of them found', s => s.compiled + s.loaded + s.traced],
  ['again', 'Programs that were made for another kind of call than before', s => s.again],
  ['hits', 'Calls that were answered from the cache', s => s.hits]
];

export class Totals {
  readonly node = element('div', {});

  constructor(private readonly _places: IPlaces) {}

  update(state: IState): void {
    const news = state.news;
    if (news === null || (news.functions.length === 0 && news.cells.length === 0)) {
      replace(this.node, element('p', { class: 'nx-lab-empty' }, 'Nothing yet: call a definition, and what it cost appears here.'));
      return;
    }
    const functions = news.functions.map(sums => ({ sums, name: sums.name, head: sums.name as string | HTMLElement }));
    const cells = news.cells.map(sums => ({ sums, name: sums.cell, head: this._cell(sums.cell, sums.cell_id) }));
    replace(this.node, table('Functions', functions), table('Cells', cells));
  }

  private _cell(name: string, id: string): string | HTMLElement {
    const go = { class: 'nx-lab-link', 'aria-label': `Go to ${name}`, 'data-key': `total-${id}` };
    return id ? button(name, () => this._places.reveal(id), go) : name || 'outside of cells';
  }
}

function table(title: string, rows: { sums: ISums; name: string; head: string | HTMLElement }[]): HTMLElement {
  const most = Math.max(...rows.map(({ sums }) => sums.ms.total), 1e-9);
  const heads = COLUMNS.map(([name, meaning]) => element('th', { scope: 'col', title: meaning }, name));
  const body = [...rows]
    .sort((one, other) => other.sums.ms.total - one.sums.ms.total)
    .map(({ sums, name, head }) => {
      const { trace, lower, native, total } = sums.ms;
      const parts = `${duration(trace)} trace, ${duration(lower)} lowering, ${duration(native)} native`;
      const bar = element('span', { class: 'nx-lab-bar', 'aria-hidden': 'true' });
      bar.style.width = `${(100 * total) / most}%`;
      return element(
        'tr',
        { 'data-key': `sums ${name}` },
        element('th', { scope: 'row' }, head),
        element('td', { class: 'nx-lab-time', title: parts }, duration(total), bar),
        ...COLUMNS.map(([, , number]) => element('td', {}, String(number(sums))))
      );
    });
  return element(
    'table',
    {},
    element('caption', {}, title),
    element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'name'), element('th', { scope: 'col' }, 'time'), ...heads)),
    element('tbody', {}, ...body)
  );
}
