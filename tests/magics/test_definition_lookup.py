import pytest
from IPython.core.error import UsageError

import nxkernel as nx
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.keys import source_locations
from nxkernel_magics.definition_lookup import compiled, definitions, find, is_definition


@nx.defn
def double(x):
    return x * 2


def test_definitions_are_found_among_other_names():
    namespace = {"b": double, "a": double, "_": double, "__": double, "_12": double, "n": 1, "_private": double}
    assert list(definitions(namespace)) == ["_private", "a", "b"]


def test_only_what_answers_like_one_is_a_definition():
    assert is_definition(double)
    assert not is_definition(len)
    assert not is_definition(type(double))


def test_dots_lead_to_attributes():
    class Model:
        step = double

    assert find({"model": Model}, "model.step") is double
    with pytest.raises(UsageError, match=r"there is no definition named 'model\.stop'"):
        find({"model": Model}, "model.stop")


def test_there_may_be_none():
    graph_cache.clear()
    with pytest.raises(UsageError) as error:
        find({}, "f")
    assert str(error.value) == (
        "there is no definition named 'f'.\n"
        "  There are none yet: begin a cell with %%defn, or decorate a function with nx.defn."
    )


def test_what_has_programs_is_found_without_a_variable():
    graph_cache.clear()
    nx.jit(lambda t: t + 1, on_conflict="force")(1.0)
    double(1.0)
    assert list(compiled({"twice": double})) == ["twice", "<lambda>"]
    assert find({}, "double").is_of(double)
    assert find({"double": 3}, "double").is_of(double)
    with pytest.raises(UsageError, match=r"Definitions here: twice, <lambda>\. Did you mean 'twice'\?"):
        find({"twice": double}, "twicer")


def test_cells_have_names_while_nxkernel_is_loaded(shell):
    file = shell.ip.compile.cache("x = 1", 7)
    assert source_locations.name_of(file) == "cell 7"
    assert source_locations.name_of("/home/a/train.py") == "train.py"
    nx.unload_ipython_extension(shell.ip)
    assert source_locations.name_of(file) != "cell 7"


@pytest.mark.parametrize("command", ["%timeit -n1 -r1", "%time", "%prun -q"])
def test_what_a_line_is_timed_with_stands_in_its_cell(shell, command):
    shell.run("%%defn\ndef halve(x):\n    return x / 2")
    assert shell.run(f"{command} halve(1.0)").success
    assert [event.where for event in nx.events(shell.ns["halve"], "miss")] == ["cell 2"]
