/** Widgets that are gone, as in a notebook that was closed and opened again: what was saved beside them is shown. */

import { CodeCell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Panel, Widget } from '@lumino/widgets';

const WIDGET = 'application/vnd.jupyter.widget-view+json';
/** What an output's metadata says where there is a twin for those who cannot see the widget; see nxkernel_lab/messaging/static_twins.py. */
const TWIN = 'nxkernel_twin';
/** What the manager of widgets makes of an output whose widget it does not find: a text, in an element of this class. */
const FAILED = '.jp-OutputArea-output.jupyter-widgets';

/** Show twins in a notebook from now on. */
export function showTwins(notebook: NotebookPanel): void {
  const { node } = notebook.content;
  const look = (failed: Element): void => {
    if (failed.childElementCount === 0) {
      replace(notebook, failed);
    }
  };
  const observer = new MutationObserver(changes => {
    for (const { target } of changes) {
      if (target instanceof Element && target.matches(FAILED)) {
        look(target);
      }
    }
  });
  observer.observe(node, { childList: true, subtree: true });
  notebook.disposed.connect(() => observer.disconnect());
  node.querySelectorAll(FAILED).forEach(look);
}

function replace({ content: { rendermime, widgets } }: NotebookPanel, failed: Element): void {
  const cell = widgets.find(each => each.node.contains(failed));
  if (!(cell instanceof CodeCell)) {
    return;
  }
  const { outputArea } = cell;
  const index = outputArea.widgets.findIndex(each => each.node.contains(failed));
  const output = index < 0 || index >= outputArea.model.length ? null : outputArea.model.get(index);
  const place = index < 0 ? null : within(outputArea.widgets[index], failed);
  if (!output || !(place instanceof Panel) || output.metadata[TWIN] !== true) {
    return;
  }
  const data = { ...output.data };
  delete data[WIDGET];
  const type = rendermime.preferredMimeType(data, output.trusted ? 'any' : 'ensure');
  if (type === undefined) {
    return;
  }
  const twin = rendermime.createRenderer(type);
  const { trusted, metadata } = output;
  void twin.renderModel({ trusted, data, metadata, setData: () => undefined }).then(() => {
    failed.textContent = '';
    failed.classList.remove('jupyter-widgets');
    twin.addClass('jp-OutputArea-output');
    place.addWidget(twin);
  });
}

/** The widget of an element, somewhere in another widget. */
function within(outer: Widget, node: Element): Widget | null {
  if (outer.node === node) {
    return outer;
  }
  for (const child of outer.children()) {
    const found = within(child, node);
    if (found) {
      return found;
    }
  }
  return null;
}
