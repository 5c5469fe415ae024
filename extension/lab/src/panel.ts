/** The panel at the right: the timeline of the current notebook's kernel, or why there is none. */

import { LabIcon } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';

import { html } from '../../nxkernel_lab/static/elements.js';
import { State } from '../../nxkernel_lab/static/session_state.js';
import { Host, Timeline } from '../../nxkernel_lab/static/timeline.js';

const ABSENT = 'nxkernel is not loaded in this kernel. Run %load_ext nxkernel, or choose the kernel “Nx (Python 3)”.';

export const icon = new LabIcon({
  name: 'nxkernel-lab:icon',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><g class="jp-icon3" fill="none" ' +
    'stroke="#616161" stroke-width="1.3"><path d="M3 13V3L9 13V3M11.5 9.5L14.5 13.5M14.5 9.5L11.5 13.5"/></g></svg>'
});

export class Panel extends Widget {
  constructor(host: Host) {
    super();
    this.id = 'nxkernel-panel';
    this.addClass('nx-lab-panel');
    this.title.icon = icon;
    this.title.caption = 'Nx: compilations and caches';
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Nx: compilations and caches');
    this._timeline = new Timeline(this._view, host);
    this.node.append(html('h2', { text: 'Nx' }), this._of, this._message, this._view);
  }

  /**
   * Show another state.
   *
   * @param of - whose it is, such as the name of the notebook and its kernel
   * @param state - null where there is no kernel that nxkernel is loaded in
   */
  set(of: string, state: State | null): void {
    this._of.textContent = of;
    this._state = state;
    this._draw();
  }

  /** Show the events of a cell. */
  showCell(name: string): void {
    if (this._state !== null) {
      this._timeline.update(this._state);
    }
    this._timeline.showCell(name);
  }

  protected onAfterShow(): void {
    this._draw();
  }

  protected onActivateRequest(): void {
    this._timeline.focus();
  }

  private _draw(): void {
    const state = this._state;
    this._view.hidden = !state?.news;
    this._message.hidden = !this._view.hidden;
    this._message.textContent = state === null ? ABSENT : state.complaint || 'Waiting for the kernel…';
    if (this.isVisible && state !== null) {
      this._timeline.update(state);
    }
  }

  private readonly _of = html('p', { class: 'nx-lab-kernel' });
  private readonly _message = html('p', { class: 'nx-lab-empty', role: 'status' });
  private readonly _view = html('div', {});
  private readonly _timeline: Timeline;
  private _state: State | null = null;
}
