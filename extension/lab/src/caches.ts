/** The caches: what is in them, how large and how old it is, and buttons that clear them. */

import { button, element, replace } from './dom';
import { ICaches, IDone } from './messages';
import { IState } from './state';
import { ago, bytes, count } from './wording';

/** What can be cleared: the programs of a function or of all (''), the kernels in memory, or the files on disk. */
export interface IClearing {
  programs(name: string): void;
  memory(): void;
  disk(): void;
  undo(number: number): void;
}

export class Caches {
  readonly node: HTMLElement;

  constructor(private readonly _clearing: IClearing) {
    this._done = element('p', { role: 'status', class: 'nx-lab-done' });
    this._page = element('div', {});
    this.node = element('div', {}, this._done, this._page);
  }

  update(state: IState): void {
    const news = state.news;
    if (news === null) {
      replace(this._page);
      return;
    }
    const { functions, memory, disk } = news.caches;
    const now = news.time;
    const programs = functions.reduce((sum, each) => sum + each.programs, 0);
    this._say(state.done);
    replace(
      this._page,
      section(
        'Programs',
        programs === 0 ? null : button('Clear all', () => this._clearing.programs(''), { 'data-key': 'clear-all', 'aria-label': 'Clear all programs' }),
        programs === 0
          ? element('p', { class: 'nx-lab-empty' }, 'No programs are kept.')
          : element('ul', {}, ...[...functions].reverse().map(each => this._function(each, now)))
      ),
      section(
        'Native code in memory',
        memory.kernels + memory.programs === 0
          ? null
          : button('Clear', () => this._clearing.memory(), { 'data-key': 'clear-memory', 'aria-label': 'Clear the kernels in memory' }),
        sentence([count(memory.kernels, 'kernel'), count(memory.programs, 'program'), bytes(memory.bytes), memory.oldest > 0 && `oldest made ${ago(memory.oldest, now)}`])),
      section(
        'On disk',
        disk.bytes === 0 ? null : button('Clear', () => this._clearing.disk(), { 'data-key': 'clear-disk', 'aria-label': 'Clear the cache on disk' }),
        disk.on
          ? sentence([
              count(disk.kernels, 'kernel'),
              count(disk.records, 'program'),
              disk.others > 0 && `${count(disk.others, 'file')} of other versions`,
              `${disk.whole ? '' : 'more than '}${bytes(disk.bytes)} of ${bytes(disk.limit)}`,
              disk.oldest > 0 && `oldest used ${ago(disk.oldest, now)}`
            ])
          : element('p', { class: 'nx-lab-empty' }, 'There is none: no folder can be written to.'),
        disk.on ? meter(disk.bytes, disk.limit) : null,
        disk.on ? element('p', { class: 'nx-lab-note' }, disk.folder) : null
      )
    );
  }

  /** Apart from the rest, so that it is read out once. */
  private _say(done: IDone | null): void {
    const undo = done !== null && done.undo > 0;
    replace(
      this._done,
      done?.text,
      undo ? button('Undo', () => this._clearing.undo(done.undo), { class: 'nx-lab-link', 'data-key': `undo ${done.undo}` }) : null
    );
  }

  private _function(each: ICaches['functions'][number], now: number): HTMLElement {
    const clear = { 'data-key': `clear-${each.name}`, 'aria-label': `Clear the programs of ${each.name}` };
    return element(
      'li',
      { class: 'nx-lab-cached', 'data-key': `cached ${each.label}` },
      element('div', { class: 'nx-lab-head' }, element('span', { class: 'nx-lab-name' }, each.label), button('Clear', () => this._clearing.programs(each.name), clear)),
      sentence([
        `${each.programs} of ${count(each.limit, 'program')}`,
        count(each.hits, 'hit'),
        each.bytes > 0 && `${bytes(each.bytes)} of arrays`,
        `latest made ${ago(each.latest, now)}`
      ]),
      ...[...each.signatures].reverse().map(signature => element('p', { class: 'nx-lab-signature' }, signature))
    );
  }

  private readonly _done: HTMLElement;
  private readonly _page: HTMLElement;
}

function section(title: string, action: HTMLElement | null, ...content: (HTMLElement | null)[]): HTMLElement {
  return element('section', {}, element('div', { class: 'nx-lab-head' }, element('h3', {}, title), action), ...content);
}

function sentence(parts: (string | false)[]): HTMLElement {
  return element('p', {}, parts.filter(part => part !== false).join(' · '));
}

function meter(value: number, limit: number): HTMLElement {
  return element('meter', { min: 0, max: limit, value, 'aria-label': 'How full the cache on disk is' }, `${bytes(value)}`);
}
