/** The panel at the right: the views of the current notebook's kernel, one at a time. */

import { LabIcon } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';

import { Caches, IClearing } from './caches';
import { Device } from './device';
import { element, onceAFrame } from './dom';
import { emptyState, IState } from './state';
import { IPlaces, Timeline } from './timeline';
import { Totals } from './totals';

export const icon = new LabIcon({
  name: 'nxkernel-lab:icon',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><g class="jp-icon3" fill="none" ' +
    'stroke="#616161" stroke-width="1.3"><path d="M3 13V3L9 13V3M11.5 9.5L14.5 13.5M14.5 9.5L11.5 13.5"/></g></svg>'
});

interface IView {
  readonly node: HTMLElement;
  update(state: IState): void;
}

export class Panel extends Widget {
  readonly timeline: Timeline;

  constructor(places: IPlaces, clearing: IClearing) {
    super();
    this.id = 'nxkernel-panel';
    this.addClass('nx-lab-panel');
    this.title.icon = icon;
    this.title.caption = 'Nx: compilations and caches';
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Nx: compilations and caches');
    this.timeline = new Timeline(places);
    this._views = [
      ['Timeline', this.timeline],
      ['Totals', new Totals(places)],
      ['Caches', new Caches(clearing)],
      ['Device', new Device()]
    ];
    this._of = element('p', { class: 'nx-lab-kernel' });
    this._message = element('p', { class: 'nx-lab-empty', role: 'status' });
    const list = element('div', { role: 'tablist', 'aria-label': 'Views', class: 'nx-lab-tabs' });
    this._tabs = this._views.map(([name], index) => this._tab(name, index));
    list.append(...this._tabs);
    this._page = element('div', { role: 'tabpanel', class: 'nx-lab-page', id: 'nxkernel-panel-page', tabindex: 0 });
    this.node.append(element('h2', {}, 'Nx'), this._of, list, this._message, this._page);
    this.choose(0);
  }

  /** Show a view. */
  choose(index: number): void {
    this._chosen = index;
    this._tabs.forEach((tab, place) => {
      tab.setAttribute('aria-selected', String(place === index));
      tab.tabIndex = place === index ? 0 : -1;
    });
    this._page.setAttribute('aria-labelledby', this._tabs[index].id);
    this._page.replaceChildren(this._views[index][1].node);
    this._draw();
  }

  /**
   * Show another state.
   *
   * @param of - whose it is, such as the name of the notebook and its kernel
   * @param state - null where there is no kernel that nxkernel is loaded in
   */
  set(of: string, state: IState | null): void {
    this._of.textContent = of;
    this._state = state;
    this._drawSoon();
  }

  protected onAfterShow(): void {
    this._draw();
  }

  protected onActivateRequest(): void {
    this._tabs[this._chosen].focus();
  }

  private _tab(name: string, index: number): HTMLButtonElement {
    const tab = element(
      'button',
      { type: 'button', role: 'tab', id: `nxkernel-panel-tab-${index}`, 'aria-controls': 'nxkernel-panel-page' },
      name
    );
    tab.addEventListener('click', () => this.choose(index));
    tab.addEventListener('keydown', event => {
      const last = this._views.length - 1;
      const places: Record<string, number> = {
        ArrowLeft: index === 0 ? last : index - 1,
        ArrowRight: index === last ? 0 : index + 1,
        Home: 0,
        End: last
      };
      const next = places[event.key];
      if (next !== undefined) {
        event.preventDefault();
        this.choose(next);
        this._tabs[next].focus();
      }
    });
    return tab;
  }

  private _draw(): void {
    if (!this.isVisible) {
      return;
    }
    const state = this._state;
    const ready = state !== null && state.news !== null;
    this._page.hidden = !ready;
    this._message.hidden = ready;
    if (!ready) {
      const absent = 'nxkernel is not loaded in this kernel. Run %load_ext nxkernel, or choose the kernel “Nx (Python 3)”.';
      this._message.textContent = state === null ? absent : state.complaint || 'Waiting for the kernel…';
    }
    this._views[this._chosen][1].update(state ?? emptyState());
  }

  private readonly _views: [string, IView][];
  private readonly _tabs: HTMLButtonElement[];
  private readonly _of: HTMLElement;
  private readonly _message: HTMLElement;
  private readonly _page: HTMLElement;
  private _chosen = 0;
  private _state: IState | null = null;
  private readonly _drawSoon = onceAFrame(() => this._draw());
}
