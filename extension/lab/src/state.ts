/** What is known of a kernel, and how batches of news add up. */

import { IDone, IEvent, INews } from './messages';

/** How many events are kept on the page. */
const KEPT = 2000;

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

/** The state of a kernel of which something else is to be said than what it does. */
export function complaining(complaint: string): IState {
  return { ...emptyState(), complaint };
}

/** The state after a batch; null where something between them was lost on the way. */
export function updated(state: IState, news: INews): IState | null {
  const before = state.news;
  const same = before !== null && before.session === news.session && before.cleared === news.cleared;
  if (news.since > state.until && (before === null || before.session === news.session)) {
    return null;
  }
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
