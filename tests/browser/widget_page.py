"""A page with one widget on it and no JupyterLab: its model is here, and what it asks for is answered here."""

import json

#: The same in the page: a model as anywidget gives it, whose state Python sets.
_MODEL = """
const state = STATE, calls = {};
window.sent = [];
window.model = {
  get: (name) => state[name],
  on: (name, call) => (calls[name] ??= []).push(call),
  off: (name, call) => (calls[name] = (calls[name] ?? []).filter((each) => each !== call)),
  send: (message) => window.sent.push(message),
};
window.change = (changes) => {
  Object.assign(state, changes);
  for (const name of Object.keys(changes)) for (const call of calls["change:" + name] ?? []) call();
};
window.tell = (message) => { for (const call of calls["msg:custom"] ?? []) call(message); };
"""


class WidgetPage:
    """A widget on a page of its own.

    Parameters
    ----------
    page : playwright page
    widget : anywidget.AnyWidget
        Its ``send`` is replaced by one that tells the page.
    light : bool
        As JupyterLab says what its theme is.
    """

    def __init__(self, page, widget, light=True, width=1100):
        self.page, self.widget, self._said = page, widget, []
        object.__setattr__(widget, "send", lambda content, buffers=None: self._said.append(content))
        self._names = [name for name in widget.keys if not name.startswith("_") and name not in ("layout", "tooltip")]
        state = json.dumps({name: getattr(widget, name) for name in self._names if name not in _OWN})
        module = str(widget._esm)
        ground = "#ffffff" if light else "#111111"
        page.set_content(
            f"<!doctype html><html lang=en><head><title>widget</title><style>{widget._css}\nbody{{background:{ground}}}"
            f"</style></head><body data-jp-theme-light={'true' if light else 'false'}><main><h1 hidden>A widget</h1>"
            f"<div id=here style='width:{width}px'></div></main></body></html>"
        )
        page.evaluate(f"() => {{ {_MODEL.replace('STATE', state)} }}")
        page.add_script_tag(content=_as_script(module), type="module")
        page.wait_for_function("() => window.shown")
        self.before = self._state()
        self.settle()

    def _state(self):
        return {name: json.dumps(getattr(self.widget, name)) for name in self._names if name not in _OWN}

    def settle(self):
        """Send what the widget said, and answer what the page asked for."""
        self._tell()
        while messages := self.page.evaluate("() => window.sent.splice(0)"):
            for message in messages:
                self.widget._receive(self.widget, message, [])
            now = self._state()
            changes = {name: json.loads(text) for name, text in now.items() if text != self.before[name]}
            self.before = now
            # As text, which is how it travels to a widget too; playwright takes seconds for a large object.
            self.page.evaluate("(text) => window.change(JSON.parse(text))", json.dumps(changes))
            self._tell()

    def _tell(self):
        while self._said:
            self.page.evaluate("(said) => window.tell(said)", self._said.pop(0))


_OWN = ("comm", "keys", "log")


def _as_script(module):
    """The module, ending in the one call that a page with widgets makes."""
    head, _, rest = module.rpartition("export default")
    call = "window.render = (el) => widget.render({ model: window.model, el });\n"
    call += "window.render(document.getElementById('here'));\nwindow.shown = true;"
    return f"{head}const widget = {rest}\n{call}"
