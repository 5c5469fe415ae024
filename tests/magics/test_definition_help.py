"""What a question mark and Shift-Tab show."""

import nxkernel
from nxkernel_magics import definition_help


def shown(shell, name):
    return shell.ip.object_inspect_mime(name)["text/plain"]


def test_a_definition_has_one_signature(shell):
    shell.run("%%defn\ndef f(x, *, k=1):\n    'Twice, see :func:`nxkernel.sin`.'\n    return x * k")
    text = shown(shell, "f")
    assert "Signature:   f(x, *, k=1)" in text
    assert "Twice, see nx.sin." in text
    for part in ("Call signature", "Call docstring", "Class docstring", "*args", ":func:"):
        assert part not in text


def test_references_are_names(shell):
    text = shown(shell, "nx.grad")
    assert "As value_and_grad takes them." in text
    assert ":func:" not in text


def test_other_objects_keep_their_help(shell):
    shell.run("class A:\n    'A class.'\n    def __call__(self, y):\n        'Calls.'\na = A()")
    assert "Call docstring: Calls." in shown(shell, "a")


def test_unload_takes_it_out_again(shell):
    before = shell.ip.inspector.info
    nxkernel.unload_ipython_extension(shell.ip)
    assert shell.ip.inspector.info != before
    nxkernel.load_ipython_extension(shell.ip)


def test_plain():
    assert (
        definition_help.plain(":func:`a title <nxkernel.nn.dense>` and :class:`~nxkernel.Tensor`")
        == "nx.nn.dense and nx.Tensor"
    )
