"""A learning rate that changes at each step, in cells: as an argument, and as an option."""

SETUP = """
import nxkernel as nx
from nxkernel import optim

optimizer = optim.adam()
params = {"w": nx.tensor([1.0, -2.0])}
state = optimizer.init(params)
"""
ARGUMENT = """%%defn
def step(params, state, rate):
    slope = nx.grad(params, lambda params: nx.sum(params["w"] ** 2))
    updates, state = optimizer.update(slope, state, params, rate)
    return optim.apply_updates(params, updates), state
"""
OPTION = ARGUMENT.replace("state, rate)", "state, *, rate)", 1)
LOOP = """
for turn in range({}, 20):
    params, state = step(params, state, {}0.1 / (turn + 1))
"""


def test_as_an_argument_it_is_compiled_once(shell):
    shell.run(SETUP)
    shell.run(ARGUMENT)
    ran = shell.run(LOOP.format(0, "") + "print(step.cache_info().misses)")
    assert ran.out.strip().endswith("1")
    assert "was traced" not in ran.err


def test_as_an_option_it_is_traced_each_time_with_the_same_kernels_and_said_once(shell):
    shell.run(SETUP)
    shell.run(OPTION)
    shell.run("params, state = step(params, state, rate=0.5); before = step.cache_info()")
    ran = shell.run(LOOP.format(1, "rate=") + "print(step.cache_info().misses - before.misses)")
    assert ran.out.strip().endswith("19")
    assert ran.err.count("step was traced 19 times in this cell, each time for a new value of the option rate") == 1
    assert ran.err.splitlines()[-2:] == [
        "  rate is a number, and each new one makes a program of its own: if it keeps changing,",
        "  declare it before `*` and pass it by position, and it will be compiled once.",
    ]
    assert shell.run("print(step.cache_info().compiled - before.compiled)").out.strip() == "0"
