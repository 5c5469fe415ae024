"""A runtime for rewritten functions that does what Python does, and records what it was asked."""

import operator

SIGNS = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "@": operator.imatmul, "/": operator.itruediv,
    "//": operator.ifloordiv, "%": operator.imod, "**": operator.ipow, "<<": operator.ilshift, ">>": operator.irshift,
    "|": operator.ior, "^": operator.ixor, "&": operator.iand,
}  # fmt: skip


class Unassigned:
    """What a variable without a value holds; nothing can be done with it."""

    def __init__(self, name):
        self.name = name

    def refuse(self, *_):
        raise UnboundLocalError(self.name)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __getitem__ = refuse
    __bool__ = __iter__ = __call__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__ = refuse
    __hash__ = None


class PlainRuntime:
    """Carries everything out at once."""

    def __init__(self):
        self.asked = []

    def unassigned(self, name):
        return Unassigned(name)

    pending = unassigned

    def if_(self, test, then, otherwise, state, names, site):
        self.asked.append(("if", names))
        assert len(state) == len(names)
        found = then(*state) if test else otherwise(*state)
        assert len(found) == len(names)
        return found

    def if_return(self, test, then, otherwise, site):
        return then() if test else otherwise()

    def if_exp(self, test, then, otherwise, site):
        return then() if test else otherwise()

    def while_(self, test, body, state, names, site):
        self.asked.append(("while", names))
        while test(*state):
            state = body(*state)
            assert len(state) == len(names)
        return state

    def for_(self, items, body, state, names, site, broken=None, gathered=()):
        self.asked.append(("for", names))
        for item in items:
            state = body(item, *state[1:])
            for place, _, held in gathered:
                held.append(state[place])
            assert len(state) == len(names)
            if broken is not None and state[broken]:
                break
        return state

    def listed(self, items, item, parts, site):
        return [item(*each) if parts else item(each) for each in items]

    def generated(self, items, item, test, parts, site):
        def of(function, each):
            return function(*each) if parts else function(each)

        return (of(item, each) for each in iter(items) if test is None or of(test, each))

    def and_(self, one, other, site=None):
        return one() and other()

    def or_(self, one, other, site=None):
        return one() or other()

    def not_(self, value, site=None):
        return not value

    def is_(self, one, other, site=None):
        return one is other

    def text(self, *parts):
        conversions = {"": lambda value: value, "r": repr, "s": str, "a": ascii}
        return "".join(p if isinstance(p, str) else format(conversions[p[1]](p[0]), p[2]) for p in parts)

    def percent(self, form, given):
        return form % given

    def contains(self, member, container):
        return member in container

    def member(self, value):
        return value

    key = member

    def get_item(self, value, key):
        return value[key]

    def set_item(self, value, key, part):
        if isinstance(value, Frozen):
            return value.with_part(key, part)
        value[key] = part
        return value

    def in_place(self, sign, value, other):
        return SIGNS[sign](value, other)

    def own(self, value):
        return value

    def fn(self, function):
        return function

    def try_(self, block, kinds, state, names, site):
        self.asked.append(("try", names))
        found = block(PlainAttempt(), *state)
        assert len(found) == len(names)
        return found

    def context(self, manager, site):
        return manager

    def assert_(self, test, text, site):
        if not test:
            raise AssertionError(text())


class PlainAttempt:
    """A run of the block of a `try` whose handlers get what Python gives them."""

    everything = BaseException

    def begin(self):
        """Nothing is to be remembered."""

    end = begin

    def catches(self, error, kind=lambda: BaseException):
        return isinstance(error, kind())


class Frozen:
    """A list that does not change, as traced values do not."""

    def __init__(self, *parts):
        self.parts = parts

    def __getitem__(self, key):
        return self.parts[key]

    def __iter__(self):
        return iter(self.parts)

    def __len__(self):
        return len(self.parts)

    def __repr__(self):
        return f"Frozen{self.parts}"

    def __eq__(self, other):
        return isinstance(other, Frozen) and self.parts == other.parts

    __hash__ = None

    def with_part(self, key, part):
        parts = list(self.parts)
        parts[key] = part
        return Frozen(*parts)

    def __setitem__(self, key, part):
        self.parts = self.with_part(key, part).parts
