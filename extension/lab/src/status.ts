/** The item of the status bar: what the current kernel compiled and found, its threads and its device. */

import { Widget } from '@lumino/widgets';

import { html } from '../../nxkernel_lab/static/elements.js';
import { State } from '../../nxkernel_lab/static/session_state.js';

export class Status extends Widget {
  constructor(open: () => void) {
    super();
    this.addClass('nx-lab-status');
    this._button = html('button', { type: 'button', title: 'Show the Nx panel', onclick: open });
    this.node.append(this._button);
    this.set(null);
  }

  /** Show another state; nothing where nxkernel is not loaded. */
  set(state: State | null): void {
    const line = state?.news?.status.line;
    this.node.hidden = line === undefined;
    this._button.textContent = line === undefined ? '' : `Nx: ${line}`;
  }

  private readonly _button: HTMLButtonElement;
}
