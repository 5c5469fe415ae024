"""What a function can get at, by the names in its code."""

from nxkernel.definitions.captures.reachable_names import OF_OBJECT, Reach


class Model:
    pass


def function():
    pass


def method():
    pass


def made(names, *, introspects=False):
    """A function that reads an object, whose class has a method that is noted."""
    reach, model = Reach(), Model()
    reach.lead([], function)
    reach.runs(function, frozenset(names), introspects)
    reach.lead([function], model)
    reach.lead([function, model], Model, OF_OBJECT)
    return reach, model


def test_a_method_that_is_called():
    for names, found in (({"save"}, ["note"]), ({"load"}, [])):
        reach, _ = made(names)
        reach.has_method(Model, method, "save")
        reach.note([method], "note")
        assert reach.reached() == found


def test_a_method_that_python_calls():
    reach, _ = made(set())
    reach.has_method(Model, method, "__getitem__")
    reach.note([method], "note")
    assert reach.reached() == ["note"]


def test_a_method_that_makes_objects():
    for names, found in ((set(), []), ({"type"}, ["note"])):
        reach, _ = made(names)
        reach.has_method(Model, method, "__init__")
        reach.note([method], "note")
        assert reach.reached() == found
    reach, _ = made(set())
    reach.has_method(Model, method, "__init__")
    reach.note([method], "note")
    reach.lead([function], Model)
    assert reach.reached() == ["note"]


def test_attributes_by_name_and_by_introspection():
    for names, introspects, found in (({"lock"}, False, ["note"]), (set(), False, []), (set(), True, ["note"])):
        reach, model = made(names, introspects=introspects)
        lock = object()
        reach.lead([function, model], lock, "lock")
        reach.note([lock], "note")
        assert reach.reached() == found


def test_names_of_functions_that_are_reached():
    reach, model = made({"save"})
    reach.has_method(Model, method, "save")
    reach.runs(method, frozenset({"lock"}), False)
    lock = object()
    reach.lead([function, model], lock, "lock")
    reach.note([lock], "note")
    assert reach.reached() == ["note"]
