/** What is known of each kernel, told by its side of the comm; a session outlives restarts, as its kernel does. */

import { Kernel, KernelMessage } from '@jupyterlab/services';
import { ISignal, Signal } from '@lumino/signaling';

import { complaining, emptyState, PAUSE, State, updated } from '../../nxkernel_lab/static/session_state.js';
import { readMessage } from './messages';

/** The comm's target, here and in nxkernel_lab/messaging/comm.py. */
const TARGET = 'nxkernel';

const STRANGER =
  'This kernel runs another version of nxkernel than JupyterLab. Install the same one for both, and reload the page.';
const SILENT =
  'This page speaks with the kernel through another document, or did until that was closed. Close it, and reload the page.';

/** One kernel. */
export class Session {
  constructor(readonly kernel: Kernel.IKernelConnection) {
    kernel.statusChanged.connect((_, status) => this._statusChanged(status));
    kernel.connectionStatusChanged.connect((_, status) => this._connectionChanged(status));
    kernel.disposed.connect(() => this._forget(), this);
    if (kernel.connectionStatus === 'connected') {
      void this.find();
    }
  }

  /** What the panel shows; null where nxkernel does not answer. */
  get state(): State | null {
    return this.speaks ? this._comm && this._state : complaining(SILENT);
  }

  /** Whether the page can speak with the kernel here: of several notebooks with one kernel, one does so for all. */
  get speaks(): boolean {
    return this.kernel.handleComms;
  }

  /** Emitted when the state has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Look whether nxkernel is loaded, and open the comm if it is. Asking is silent, wherever it is not. */
  async find(): Promise<void> {
    const kernel = this.kernel;
    if (this._comm !== null || this._finding || kernel.isDisposed || !this.speaks) {
      return;
    }
    this._finding = true;
    try {
      const answer = await kernel.requestCommInfo({ target_name: TARGET });
      const there = answer.content.status === 'ok' && Object.keys(answer.content.comms).length > 0;
      if (there && this._comm === null && !kernel.isDisposed) {
        this._open(kernel.createComm(TARGET));
      }
    } catch {
      // The kernel went away or was restarted meanwhile: the next connection asks again.
    } finally {
      this._finding = false;
    }
  }

  /** Ask the kernel for something; nothing happens where it does not listen. */
  send(message: { [key: string]: string | number }): void {
    if (this._comm !== null && !this._comm.isDisposed && this.kernel.connectionStatus === 'connected') {
      this._comm.send(message);
    }
  }

  private _open(comm: Kernel.IComm): void {
    this._comm = comm;
    this._state = emptyState();
    comm.onMsg = message => this._hear(comm, message);
    comm.onClose = () => {
      if (this._comm === comm) {
        this._forget();
      }
    };
    comm.open({});
    this._changed.emit();
  }

  private _hear(comm: Kernel.IComm, message: KernelMessage.ICommMsgMsg): void {
    const said = this._comm === comm ? readMessage(message.content.data) : null;
    if (said === null) {
      return;
    }
    if (said === 'stranger') {
      this._state = complaining(STRANGER);
    } else if (said.kind === 'done') {
      this._state = { ...this._state, done: said };
    } else {
      // What was lost on the way, as when the connection broke, is asked for again.
      this._state = updated(this._state, said) ?? this._state;
      this._ask();
    }
    this._changed.emit();
  }

  private _ask(): void {
    const comm = this._comm;
    if (this._asking === comm) {
      return;
    }
    this._asking = comm;
    setTimeout(() => {
      if (this._asking === comm) {
        this._asking = null;
      }
      if (this._comm === comm) {
        this.send({ kind: 'more', since: this._state.until });
      }
    }, PAUSE);
  }

  private _forget(): void {
    this._comm = null;
    this._state = emptyState();
    this._changed.emit();
  }

  private _statusChanged(status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting' || status === 'dead') {
      this._restarted = true;
      this._forget();
    } else if (status === 'idle' && this._restarted) {
      this._restarted = false;
      void this.find();
    }
  }

  private _connectionChanged(status: Kernel.ConnectionStatus): void {
    if (status !== 'connected') {
      return;
    }
    if (this._comm !== null) {
      this._ask();
    } else {
      void this.find();
    }
  }

  private _state: State = emptyState();
  private _comm: Kernel.IComm | null = null;
  private _finding = false;
  private _asking: Kernel.IComm | null = null;
  private _restarted = false;
  private _changed = new Signal<this, void>(this);
}

/** The sessions of all kernels, by the kernel's id: several notebooks may share one. */
export class Sessions {
  /** The session of a kernel; its own one if there is none yet. */
  of(kernel: Kernel.IKernelConnection): Session {
    let session = this._sessions.get(kernel.id);
    if (session === undefined || session.kernel.isDisposed || (!session.speaks && kernel.handleComms)) {
      session = new Session(kernel);
      session.changed.connect(() => this._changed.emit(kernel.id));
      this._sessions.set(kernel.id, session);
      const made = session;
      kernel.disposed.connect(() => {
        if (this._sessions.get(kernel.id) === made) {
          this._sessions.delete(kernel.id);
          this._changed.emit(kernel.id);
        }
      });
    }
    return session;
  }

  /** Emitted with the kernel's id when what is known of it has changed. */
  get changed(): ISignal<this, string> {
    return this._changed;
  }

  private _sessions = new Map<string, Session>();
  private _changed = new Signal<this, string>(this);
}
