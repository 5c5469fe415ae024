/** The timeline as a widget: it hears of news by messages of its model, and asks for more a little later. */

import { PAUSE, emptyState, updated } from "./session_state.js";
import { Timeline } from "./timeline.js";

/**
 * What Python keeps in step, and what it says: see nxkernel_lab/timeline/widget.py.
 *
 * @typedef {import("./session_state.js").News} News
 * @typedef {import("./session_state.js").Done} Done
 * @typedef {{ page: import("./timeline.js").Page, function: string, state: News | { events?: undefined } }} Fields
 * @typedef {(News | Done) & { view?: string }} Message
 */

/** @param {{ model: import("./elements.js").Model<Fields, Message>, el: HTMLElement }} context */
function render({ model, el }) {
  let state = emptyState();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let asked;
  /** @param {Record<string, string | number>} message */
  const send = (message) => model.send({ view: timeline.id, ...message });
  const timeline = new Timeline(el, { page: model.get("page"), function: model.get("function"), send });
  const more = () => {
    asked = undefined;
    send({ kind: "more", since: state.until });
  };
  /** @param {Message} message */
  const receive = (message) => {
    if (message.view && message.view !== timeline.id) return;
    if (message.kind === "news") {
      state = updated(state, message) ?? state;
      // What is told meanwhile comes in one batch.
      asked ??= setTimeout(more, PAUSE);
    }
    if (message.kind === "done") state = { ...state, done: message };
    timeline.update(state);
  };
  // JupyterLab's one-key commands (0 0 restarts the kernel) must not fire from here.
  el.dataset.lmSuppressShortcuts = "true";
  model.on("msg:custom", receive);
  const first = model.get("state");
  if (first.events) state = updated(state, first) ?? state;
  // It is not on the page yet: only then is there an end to scroll to.
  timeline.update(state);
  more();
  return () => {
    send({ kind: "close" });
    model.off("msg:custom", receive);
    clearTimeout(asked);
    timeline.dispose();
  };
}

export default { render };
