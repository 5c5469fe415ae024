/** What computes: the compiler, the device and its threads. */

import { element, replace } from './dom';
import { IState } from './state';
import { count } from './wording';

export class Device {
  readonly node = element('div', {});

  update(state: IState): void {
    if (state.news === null) {
      replace(this.node);
      return;
    }
    const { compiler, device, threads, processors, programs } = state.news.status;
    const rows = [
      ['Device', device, ''],
      ['Compiler', compiler, 'Another one for all definitions: %nx options compiler=NAME'],
      ['Threads', `${threads} of ${count(processors, 'processor')}`, 'Another number: nx.set_threads(n); results stay the same bits'],
      ['Programs', `${programs} kept`, '']
    ];
    replace(
      this.node,
      element(
        'dl',
        {},
        ...rows.flatMap(([name, value, hint]) => [
          element('dt', {}, name),
          element('dd', {}, value, hint ? element('span', { class: 'nx-lab-note' }, hint) : null)
        ])
      )
    );
  }
}
