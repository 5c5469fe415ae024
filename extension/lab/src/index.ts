/** The plugin: which kernel is shown, and what its commands do. */

import { ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, ICommandPalette, showDialog } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';

import { onceAFrame } from '../../nxkernel_lab/static/elements.js';
import { State } from '../../nxkernel_lab/static/session_state.js';
import { followLines } from './lines';
import { mark, told } from './marks';
import { icon, Panel } from './panel';
import { Session, Sessions } from './sessions';
import { Status } from './status';
import { showTwins } from './twins';

const COMMANDS = {
  open: 'nxkernel:open-panel',
  next: 'nxkernel:next-recompilation',
  programs: 'nxkernel:clear-programs',
  disk: 'nxkernel:clear-disk'
};

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'nxkernel-lab:plugin',
  description: 'What nxkernel compiles, beside the notebook: a panel, a status item, and marks at cells.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette, ILayoutRestorer, IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    statusBar: IStatusBar | null
  ) => {
    const sessions = new Sessions();

    const sessionOf = (notebook: NotebookPanel | null): Session | null => {
      const kernel = notebook?.sessionContext.session?.kernel;
      return kernel && !kernel.isDisposed ? sessions.of(kernel) : null;
    };
    const current = (): Session | null => sessionOf(tracker.currentWidget);
    const state = (): State | null => current()?.state ?? null;

    const reveal = (id: string): void => {
      const notebook = tracker.currentWidget;
      const index = notebook?.content.widgets.findIndex(cell => cell.model.id === id) ?? -1;
      if (notebook && index >= 0) {
        app.shell.activateById(notebook.id);
        notebook.content.activeCellIndex = index;
        void notebook.content.scrollToItem(index, 'smart');
      }
    };

    const clearPrograms = (name: string): void => {
      current()?.send({ kind: 'forget', what: 'programs', function: name });
    };
    const clearDisk = async (): Promise<void> => {
      const session = current();
      const answer = await showDialog({
        title: 'Clear the cache on disk?',
        body: 'All kernels on disk are deleted, also those of other notebooks. They are compiled again when they are called.',
        buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: 'Clear' })]
      });
      if (answer.button.accept) {
        session?.send({ kind: 'forget', what: 'disk' });
      }
    };

    const panel = new Panel({ page: 'timeline', function: '', send: message => current()?.send(message), reveal });
    app.shell.add(panel, 'right', { rank: 900, type: 'Nx' });
    restorer?.add(panel, panel.id);
    const open = (): void => app.shell.activateById(panel.id);
    const status = new Status(open);
    statusBar?.registerStatusItem('nxkernel-lab:status', { item: status, align: 'left', rank: 20 });

    const openAt = (id: string): void => {
      const cell = state()?.news?.cells.find(each => each.cell_id === id);
      open();
      panel.showCell(cell?.cell ?? '');
    };

    const markCells = (notebook: NotebookPanel): void => {
      mark(notebook.content, told(sessionOf(notebook)?.state ?? null), openAt);
    };
    const show = (): void => {
      const notebook = tracker.currentWidget;
      panel.set(notebook ? `${notebook.title.label} · ${notebook.sessionContext.kernelDisplayName}` : 'No notebook', state());
      status.set(state());
    };

    sessions.changed.connect((_, id) => {
      tracker.filter(each => each.sessionContext.session?.kernel?.id === id).forEach(markCells);
      show();
    });
    tracker.widgetAdded.connect((_, notebook) => {
      const changed = (): void => {
        sessionOf(notebook);
        markCells(notebook);
        show();
      };
      notebook.sessionContext.kernelChanged.connect(changed);
      notebook.title.changed.connect(show);
      // Every key that is pressed changes the content.
      notebook.content.modelContentChanged.connect(onceAFrame(() => {
        if (!notebook.isDisposed) {
          markCells(notebook);
        }
      }));
      showTwins(notebook);
      changed();
    });
    tracker.currentChanged.connect(show);
    // The cell may have been the one that loads nxkernel.
    NotebookActions.executed.connect((_, { notebook }) => {
      void sessionOf(tracker.find(each => each.content === notebook) ?? null)?.find();
    });
    followLines(tracker);

    const enabled = (): boolean => state()?.news != null;
    const category = 'Nx';
    app.commands.addCommand(COMMANDS.open, { label: 'Show the Nx Panel', caption: 'Compilations and caches', icon, execute: open });
    app.commands.addCommand(COMMANDS.next, {
      label: 'Go to the Next Cell That Compiled Again',
      isEnabled: enabled,
      execute: () => {
        const notebook = tracker.currentWidget;
        const texts = told(state());
        const marked = (notebook?.content.widgets ?? []).map((cell, index) => ({ id: cell.model.id, index })).filter(({ id }) => texts.has(id));
        const next = marked.find(({ index }) => index > notebook!.content.activeCellIndex) ?? marked[0];
        if (next) {
          reveal(next.id);
        }
      }
    });
    app.commands.addCommand(COMMANDS.programs, {
      label: 'Clear All Programs',
      caption: 'Forget the compiled programs of this kernel',
      isEnabled: enabled,
      execute: () => clearPrograms('')
    });
    app.commands.addCommand(COMMANDS.disk, {
      label: 'Clear the Cache on Disk…',
      isEnabled: enabled,
      execute: () => clearDisk()
    });
    Object.values(COMMANDS).forEach(command => palette?.addItem({ command, category }));

    show();
  }
};

export default plugin;
