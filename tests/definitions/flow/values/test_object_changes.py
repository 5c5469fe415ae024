"""Changes of Python's own objects are noticed and undone."""

from nxkernel.definitions.flow.values.object_changes import ObjectWatch

LOG = []


class Model:
    """A user's object."""

    def __init__(self):
        self.layers = [{"w": 1}]


def test_what_functions_reach():
    found, seen, names, model = [1], {1}, {"a": [2]}, Model()

    def helper():
        found.append(3)

    def body(extra=found):
        helper()
        seen.add(2)
        names["a"].append(5)
        model.layers[0]["w"] = 7
        model.count = 3
        LOG.append("here")

    watch = ObjectWatch([body])
    assert watch.changed() == []
    body()
    assert sorted(name for name, _ in watch.changed()) == ["LOG", "extra", "model", "model", "names", "seen"]
    watch.undo()
    assert watch.changed() == []
    assert (found, seen, names, LOG) == ([1], {1}, {"a": [2]}, [])
    assert (model.layers, hasattr(model, "count")) == ([{"w": 1}], False)


def test_values_have_names():
    numbers = [1, 2]
    watch = ObjectWatch([], [("numbers", numbers)])
    numbers[0] = 5
    assert watch.changed() == [("numbers", numbers)]
    watch.undo()
    assert numbers == [1, 2]


def test_numbers_that_are_equal_but_other_objects_count_as_changed():
    big = 10**20
    numbers = [big]
    watch = ObjectWatch([], [("numbers", numbers)])
    numbers[0] = 10**20 + len(numbers) - 1
    assert [name for name, _ in watch.changed()] == ["numbers"]


def test_methods_of_objects_and_classes_reach_something_too():
    noted = [0]

    class Parent:
        def note(self):
            noted[0] += 1

    class Child(Parent):
        __slots__ = ()

        @property
        def noting(self):
            return self.note()

        @staticmethod
        def alone():
            noted.append(1)

    child = Child()
    for body in (lambda: child.note(), lambda: child.noting, lambda: Child.alone(), lambda: Parent.note(None)):
        watch = ObjectWatch([body])
        body()
        assert [name for name, _ in watch.changed()] == ["noted"]
        watch.undo()
        assert noted == [0]
