/** What a kernel tells of itself: the data of nxkernel_lab/history.py, and how batches of it add up. */

/** The form of the data that is understood here. */
export const VERSION = 1;
/** How many events are kept on the page. */
const KEPT = 2000;

export interface IMilliseconds {
  trace: number;
  lower: number;
  native: number;
  total: number;
}

export interface IKernels {
  compiled: number;
  memory: number;
  disk: number;
}

export interface IEvent {
  id: number;
  time: number;
  kind: string;
  again: boolean;
  what: string;
  function: string;
  where: string;
  cell: string;
  cell_id: string;
  reason: string[];
  advice: string;
  notes: string[];
  ms: IMilliseconds;
  kernels: IKernels;
  calls: number;
}

export interface ISums {
  compiled: number;
  loaded: number;
  traced: number;
  again: number;
  hits: number;
  errors: number;
  evicted: number;
  cleared: number;
  ms: IMilliseconds;
  kernels: IKernels;
  last: number;
}

export interface IFunctionSums extends ISums {
  name: string;
  programs: number;
}

export interface ICellSums extends ISums {
  cell: string;
  cell_id: string;
  again_last: { function: string; reason: string[]; advice: string }[];
}

export interface ICaches {
  functions: {
    name: string;
    programs: number;
    limit: number;
    hits: number;
    bytes: number;
    oldest: number;
    latest: number;
    signatures: string[];
  }[];
  memory: { kernels: number; bytes: number; oldest: number; latest: number };
  disk: {
    on: boolean;
    folder: string;
    kernels: number;
    records: number;
    others: number;
    bytes: number;
    limit: number;
    oldest: number;
    latest: number;
  };
  processors: number;
}

export interface IStatus {
  compiler: string;
  threads: number;
  processors: number;
  device: string;
  compiled: number;
  loaded: number;
  traced: number;
  again: number;
  hits: number;
  errors: number;
  programs: number;
  line: string;
}

/** What became of a request to clear something. */
export interface IDone {
  kind: 'done';
  text: string;
  /** The number by which it is undone; 0 where it cannot be. */
  undo: number;
}

export interface INews {
  kind: 'news';
  version: number;
  session: string;
  cleared: number;
  time: number;
  since: number;
  last: number;
  left_out: number;
  events: IEvent[];
  functions: IFunctionSums[];
  cells: ICellSums[];
  caches: ICaches;
  status: IStatus;
}

/** What is known of a kernel. */
export interface IState {
  /** The latest batch, whose sums are those of the whole session; null before the first one. */
  news: INews | null;
  /** All events, oldest first. */
  events: IEvent[];
  /** How many events there were no room for. */
  leftOut: number;
  /** The number of the last event. */
  until: number;
  /** What became of the last request. */
  done: IDone | null;
  /** What is to be said in the place of it all. */
  complaint: string;
}

export function emptyState(): IState {
  return { news: null, events: [], leftOut: 0, until: 0, done: null, complaint: '' };
}

/** What a message says; null for one that is not understood. */
export function readMessage(data: unknown): INews | IDone | null {
  const message = data as INews | IDone | null;
  if (typeof message === 'object' && message !== null) {
    if (message.kind === 'news' && typeof message.version === 'number') {
      return message;
    }
    if (message.kind === 'done' && typeof message.text === 'string' && typeof message.undo === 'number') {
      return message;
    }
  }
  return null;
}

/** The state after a batch. */
export function updated(state: IState, news: INews): IState {
  if (news.version !== VERSION) {
    const complaint = 'This kernel runs another version of nxkernel than the one that this page was made for. Reload the page.';
    return { ...emptyState(), complaint };
  }
  const before = state.news;
  const same = before !== null && before.session === news.session && before.cleared === news.cleared;
  const known = same ? state.events : [];
  const last = known.length > 0 ? known[known.length - 1].id : 0;
  const events = [...known, ...news.events.filter(event => event.id > last)];
  return {
    news: { ...news, events: [] },
    events: events.slice(-KEPT),
    leftOut: (same ? state.leftOut : 0) + news.left_out + Math.max(events.length - KEPT, 0),
    until: news.last,
    done: same ? state.done : null,
    complaint: ''
  };
}
