/**
 * What is known of a kernel's compilations, and how batches of news add up.
 *
 * @typedef {import("../../lab/src/messages").INews} News
 * @typedef {import("../../lab/src/messages").IDone} Done
 * @typedef {import("../../lab/src/messages").IEvent} Event
 *
 * @typedef {object} State
 * @property {News | null} news - the latest batch, whose sums are those of the whole session; null before the first one
 * @property {Event[]} events - all events, oldest first
 * @property {number} leftOut - how many events there were no room for
 * @property {number} until - the number of the last event
 * @property {Done | null} done - what became of the last request
 * @property {string} complaint - what is to be said in the place of it all
 */

/** How many events are kept on the page. */
const KEPT = 2000;
/** Milliseconds between a batch and asking for more: what is told meanwhile comes in one batch. */
export const PAUSE = 250;

/** @returns {State} */
export function emptyState() {
  return { news: null, events: [], leftOut: 0, until: 0, done: null, complaint: "" };
}

/** The state of a kernel of which something else is to be said than what it does. @param {string} complaint @returns {State} */
export function complaining(complaint) {
  return { ...emptyState(), complaint };
}

/**
 * The state after a batch; null where something between them was lost on the way.
 *
 * @param {State} state
 * @param {News} news
 * @returns {State | null}
 */
export function updated(state, news) {
  const before = state.news, same = before?.session === news.session && before.cleared === news.cleared;
  if (news.since > state.until && (before === null || before.session === news.session)) return null;
  const known = same ? state.events : [], last = known.at(-1)?.id ?? 0;
  const events = [...known, ...news.events.filter((event) => event.id > last)];
  return {
    news: { ...news, events: [] },
    events: events.slice(-KEPT),
    leftOut: (same ? state.leftOut : 0) + news.left_out + Math.max(events.length - KEPT, 0),
    until: news.last,
    done: same ? state.done : null,
    complaint: "",
  };
}
