"""Streams: inputs go in, outputs come in their order, and the state stays inside."""

import gc
import signal
import threading
import time

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.streams import channel
from nxkernel.errors import ClosedStreamError, NxTypeError, NxValueError, StreamTimeoutError, StreamWaitingWarning

#: Longer than anything here takes; a test that hangs fails instead.
LONG = 20.0
pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.usefixtures("little_garbage"),
]


@nx.defn
def running(x, total):
    return x * 2, total + x


def opened(function=running, *, more=(), **options):
    return nx.stream(function, [nx.template((), "f32"), 0.0, *more], **options)


def in_thread(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def text(kind, function, *arguments, **options):
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    return str(caught.value).split("\n")


@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
def test_outputs_come_in_the_order_of_the_inputs(compiler):
    stream = opened(compiler=compiler)
    for value in range(10):
        stream.send(float(value))
    assert [float(stream.recv(LONG)) for _ in range(10)] == [2.0 * value for value in range(10)]
    assert float(stream.done(LONG)) == 45.0
    assert float(stream.done(LONG)) == 45.0


def test_it_is_compiled_once():
    @nx.defn
    def step(x, state):
        total, count = state
        return x - total, (total + x, count + 1)

    with nx.stream(step, [nx.template((3,), "f32"), (np.zeros(3, "f4"), 0)]) as stream:
        assert step.cache_info().misses == 1
        for value in range(5):
            stream.send(nx.broadcast(float(value), (3,)))
        stream.send(np.full(3, 5.0, "f4"))
    total, count = stream.done()
    assert (total.to_list(), int(count)) == ([15.0] * 3, 6)
    assert step.cache_info().misses == 1


def test_numpy_programs_are_compiled_once():
    @nx.defn(promotion="numpy")
    def step(x, state):
        state[0] += x
        return state * 1, state

    stream = nx.stream(step, [1.0, np.zeros(2)])
    for value in (1.0, 2, 3.0):
        stream.send(value)
    assert stream.done(LONG).to_list() == [6.0, 0.0]
    assert [output.to_list() for output in stream] == [[1.0, 0.0], [3.0, 0.0], [6.0, 0.0]]
    assert step.cache_info().misses == 1


def test_further_arguments_and_options():
    @nx.defn
    def scaled(x, total, weights, *, power):
        return nx.sum(weights * x**power), total + x

    weights = np.array([1.0, 2.0])
    stream = opened(scaled, more=[weights], options={"power": 2})
    weights[:] = 0
    stream.send(3.0)
    assert float(stream.recv(LONG)) == 27.0
    assert repr(stream) == "<stream scaled(x, total, …): 1 sent, 1 received, open>"
    assert float(stream.done(LONG)) == 3.0


def test_containers_go_in_and_out():
    def step(batch, state):
        return {"sum": batch["a"] + batch["b"][0]}, {"last": batch["a"]}

    template = {"a": nx.template((2,), "s64"), "b": (1,)}
    with nx.stream(step, [template, {"last": nx.tensor([0, 0])}]) as stream:
        stream.send({"a": nx.tensor([1, 2]), "b": (10,)})
    assert stream.recv()["sum"].to_list() == [11, 12]
    assert stream.done()["last"].to_list() == [1, 2]
    again = nx.stream(step, [template, {"last": nx.tensor([0, 0])}])
    assert text(NxTypeError, again.send, (1, 2)) == [
        "the stream step(batch, state) takes batch built as {'a': ·, 'b': (·,)}, got (·, ·).",
        "  Each dot stands for a tensor; send what is built like the template.",
    ]
    assert text(NxTypeError, again.send, {"a": nx.tensor([1]), "b": (10,)})[0] == (
        "the stream step(batch, state) takes batch['a']: s64[2], got s64[1]."
    )
    assert text(NxTypeError, again.send, {"a": "text", "b": (10,)})[0] == (
        "the stream step(batch, state) takes batch built as {'a': ·, 'b': (·,)}, got {'a': 'text', 'b': (·,)}."
    )
    assert text(NxTypeError, again.send, {"a": {1}, "b": (10,)})[0].startswith(
        "the stream step(batch, state) takes tensors, got "
    )
    again.send({"a": nx.tensor([1, 2]), "b": (10,)})
    assert again.done(LONG)["last"].to_list() == [1, 2]


def test_inputs_are_not_changed_by_those_who_sent_them():
    held = threading.Event()
    step = nx.jit(lambda x, n: (nx.hook(x, "wait"), n + 1), hooks={"wait": lambda value: held.wait(LONG)})
    stream = nx.stream(step, [nx.template((2,), "f64"), 0])
    array = np.array([1.0, 2.0])
    for value in range(3):
        array[:] = value
        stream.send(array)
    array[:] = -1
    held.set()
    assert int(stream.done(LONG)) == 3
    assert [output.to_list() for output in stream] == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]


def test_recv_waits_for_an_output():
    stream, found = opened(), []
    thread = in_thread(lambda: found.append(float(stream.recv())))
    time.sleep(0.05)
    assert found == []
    stream.send(4.0)
    thread.join(LONG)
    assert found == [8.0]


def test_several_threads_send_and_receive():
    stream, found = opened(size=4), [[] for _ in range(3)]

    def send(first):
        for value in range(first, first + 50):
            stream.send(float(value))

    def receive(outputs):
        outputs.extend(float(output) for output in stream)

    receivers = [in_thread(receive, outputs) for outputs in found]
    senders = [in_thread(send, first) for first in (0, 100, 200)]
    for thread in senders:
        thread.join(LONG)
    sent = [value for first in (0, 100, 200) for value in range(first, first + 50)]
    assert float(stream.done(LONG)) == sum(sent)
    for thread in receivers:
        thread.join(LONG)
    assert sorted([*found[0], *found[1], *found[2]]) == [2.0 * value for value in sent]
    for outputs in found:
        for first in (0, 200, 400):
            own = [value for value in outputs if first <= value < first + 100]
            assert own == sorted(own)


def test_a_slow_receiver_holds_up_the_sender():
    stream, most = opened(size=3), []

    def send():
        for value in range(12):
            stream.send(float(value))
            sent, received, _ = stream._channel.counts()
            most.append(sent - received)
        stream.close()

    thread = in_thread(send)
    outputs = []
    for output in stream:
        time.sleep(0.005)
        outputs.append(float(output))
    thread.join(LONG)
    assert outputs == [2.0 * value for value in range(12)]
    assert max(most) == 3


def test_send_waits_for_room_and_can_be_given_a_time():
    stream = opened(size=2)
    stream.send(1.0)
    stream.send(2.0)
    assert text(StreamTimeoutError, stream.send, 3.0, timeout=0.02) == [
        "stream running(x, total): send() waited for room: 2 outputs to be received, its size is 2, for 0.02 s",
        "  Receive outputs first, with recv() or in another thread, or open the stream with a larger size=.",
    ]
    assert float(stream.recv(LONG)) == 2.0
    stream.send(3.0, LONG)
    assert float(stream.done(LONG)) == 6.0


def test_who_sends_and_waits_long_is_told_for_whom(monkeypatch):
    monkeypatch.setattr(channel, "_PATIENCE", 0.02)
    stream = opened(size=1)
    stream.send(1.0)

    def waits(said):
        other = threading.Thread(target=lambda: (time.sleep(0.1), received.append(stream.recv(LONG))), name="ear")
        other.start()
        with pytest.warns(StreamWaitingWarning) as warned:
            stream.send(2.0)
        other.join(LONG)
        assert (len(warned), warned[0].filename) == (1, __file__)
        assert str(warned[0].message) == (
            "stream running(x, total): send() in MainThread waits for room: 1 output to be received, its size is 1, "
            f"and {said}.\n"
            "  Receive outputs first, with recv() or in another thread, or open the stream with a larger size=."
        )

    received = []
    waits("no thread has received any")
    waits("they were received by ear so far")
    stream._channel._receivers = {"MainThread"}
    waits("MainThread alone has received any, and waits here")
    assert [float(value) for value in received] == [2.0, 4.0, 4.0]
    assert float(stream.done(LONG)) == 7.0


def test_without_a_size_nothing_waits():
    stream = opened(size=None)
    for value in range(500):
        stream.send(float(value), timeout=0.0)
    assert float(stream.done(LONG)) == sum(range(500))
    assert len(list(stream)) == 500


def test_recv_and_done_can_be_given_a_time():
    held = threading.Event()
    step = nx.jit(running, hooks={"wait": lambda value: held.wait(LONG)})
    assert text(StreamTimeoutError, opened(step).recv, timeout=0.01) == [
        "stream running(x, total): recv() waited for an output: 0 inputs on the way, for 0.01 s",
        "  Each output is that of one input: send() one first.",
    ]

    def slow(x, total):
        return nx.hook(x, "wait"), total + x

    stream = opened(slow, hooks={"wait": lambda value: held.wait(LONG)})
    stream.send(1.0)
    assert text(StreamTimeoutError, stream.recv, timeout=0.01) == [
        "stream slow(x, total): recv() waited for an output: 1 input on the way, for 0.01 s",
        "  The stream goes on: call recv() again, with more time.",
    ]
    assert text(StreamTimeoutError, stream.done, timeout=0.01) == [
        "stream slow(x, total): done() waited for 1 input, for 0.01 s",
        "  The stream goes on with what was sent: call done() again, with more time.",
    ]
    held.set()
    assert float(stream.done(LONG)) == 1.0


def failing(at):
    def check(value):
        if float(value) == at:
            raise ValueError(f"no {at:g}")

    return nx.stream(
        lambda x, total: (nx.hook(x, "check"), total + x), [nx.template((), "f32"), 0.0], hooks={"check": check}
    )


def test_an_error_comes_after_the_outputs_before_it_and_names_the_call():
    stream = failing(3.0)
    for value in (1.0, 2.0, 3.0):
        stream.send(value)
    assert [float(stream.recv(LONG)), float(stream.recv(LONG))] == [1.0, 2.0]
    for method in (stream.recv, stream.done, stream.recv):
        with pytest.raises(ValueError, match="no 3") as caught:
            method(LONG)
        assert caught.value.__notes__ == [
            "Raised by the hook 'check' of <lambda>(x: f32, total: f32).",
            "Raised by call 3 of the stream <lambda>(x, total).",
        ]
    assert text(ClosedStreamError, stream.send, 4.0) == [
        "the stream <lambda>(x, total) takes no more inputs: call 3 raised ValueError.",
        "  recv() and done() raise the error.",
    ]
    assert repr(stream) == "<stream <lambda>(x, total): 3 sent, 2 received, failed>"


def test_going_over_a_stream_and_the_end_of_its_block_raise_errors_too():
    with pytest.raises(ValueError, match="no 1"), failing(1.0) as stream:
        stream.send(1.0)
    with pytest.raises(ValueError, match="no 1"):
        list(stream)


def test_a_sender_that_waits_hears_of_an_error():
    held = threading.Event()

    def check(value):
        held.wait(LONG)
        raise ValueError("no")

    def step(x, total):
        return nx.hook(x, "check"), total

    stream = nx.stream(step, [1.0, 0.0], size=1, hooks={"check": check})
    stream.send(1.0)
    threading.Timer(0.02, held.set).start()
    assert text(ClosedStreamError, stream.send, 2.0, LONG)[0].endswith("call 1 raised ValueError.")


def test_a_closed_stream():
    stream = opened()
    stream.send(1.0)
    assert float(stream.done(LONG)) == 1.0
    assert text(ClosedStreamError, stream.send, 1.0) == [
        "the stream running(x, total) is closed and takes no more inputs.",
        "  Open another one.",
    ]
    assert float(stream.recv()) == 2.0
    assert text(ClosedStreamError, stream.recv) == [
        "the stream running(x, total) is closed, and its outputs were received: 1 of them.",
        "  `for output in stream` ends by itself.",
    ]
    assert repr(stream) == "<stream running(x, total): 1 sent, 1 received, done>"
    assert float(opened().done(LONG)) == 0.0


def test_the_end_of_a_block_waits_and_an_error_in_it_does_not():
    with opened() as stream:
        stream.send(1.0)
    assert "done" in repr(stream)
    with pytest.raises(KeyError), opened() as stream:
        raise KeyError("x")
    assert text(ClosedStreamError, stream.send, 1.0)[0].endswith("is closed and takes no more inputs.")


def test_a_stream_that_nobody_holds_ends_its_thread():
    before = set(threading.enumerate())
    stream = opened()
    stream.send(1.0)
    stream.recv(LONG)
    new = set(threading.enumerate()) - before
    [thread] = [thread for thread in new if thread.name == "nx.stream running(x, total)"]
    del stream
    gc.collect()
    thread.join(LONG)
    assert not thread.is_alive()


@pytest.mark.parametrize("method", ["recv", "send"])
def test_an_interrupt_ends_the_waiting_and_not_the_stream(method):
    stream = opened(size=1)
    if method == "send":
        stream.send(1.0)
        time.sleep(0.02)
    main = threading.main_thread().ident
    threading.Timer(0.05, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        stream.send(2.0) if method == "send" else stream.recv()
    assert caught.value.__notes__ == [
        "Stream running(x, total): send() waited for room: 1 output to be received, its size is 1."
        if method == "send"
        else "Stream running(x, total): recv() waited for an output: 0 inputs on the way."
    ]
    if method == "recv":
        stream.send(1.0)
    assert float(stream.recv(LONG)) == 2.0
    assert float(stream.done(LONG)) == 1.0


def test_default_options_are_those_of_where_it_was_opened():
    with nx.default_options(compiler="evaluator"):
        stream = opened(nx.jit(lambda x, n: (x + 17, n + x)))
    stream.send(1.0)
    stream.done(LONG)
    assert stream._step.compilations()[-1].compiler == "evaluator"
    assert stream._step.cache_info().misses == 1


def test_functions_that_are_none_of_a_stream():
    assert text(NxTypeError, opened, nx.jit(lambda x, n: x)) == [
        "<lambda> gives ·; the function of a stream gives two things.",
        "  Return (output, state).",
    ]
    assert text(NxTypeError, opened, lambda x, n: (x, (n, x))) == [
        "<lambda> takes n as · and gives it as (·, ·).",
        "  The state of a stream is built the same in each call.",
    ]
    assert text(NxTypeError, nx.stream, running, [nx.template((), "f32"), 0]) == [
        "running gives the state of the stream in another form than it takes it.",
        "  total: s64 → f32",
        '  Begin with what it gives, as in nx.tensor(0, type="f32").',
    ]


def test_arguments_that_are_none_of_a_stream():
    assert text(NxTypeError, nx.stream, running, [1.0]) == [
        "nx.stream takes a template of the inputs and the state to begin with, got 1 argument.",
        "  Write nx.stream(fun, [template, state]).",
    ]
    assert text(NxTypeError, nx.stream, 3, [1.0, 2.0]) == ["nx.stream takes a function, got 3"]
    assert text(NxTypeError, nx.stream, running, [1.0, nx.template((), "f32")]) == [
        "the state of a stream is a value, got template f32.",
        "  Inputs alone have a template.",
    ]
    for size in (0, 1.5, True):
        assert text(NxValueError, opened, size=size)[1] == "  None sets no limit."
    assert text(NxTypeError, nx.jit(lambda t: nx.stream(running, [t, t])), 1.0)[0] == (
        "a stream of running is opened while a definition is traced."
    )
    stream = opened()
    assert text(NxTypeError, stream.send, nx.template((), "f32"))[0] == (
        "the stream running(x, total) takes x: f32, got the template f32."
    )
    assert text(NxTypeError, stream.send, 1j)[0] == "the stream running(x, total) takes x: f32, got c64."
    stream.send(2)
    assert float(stream.done(LONG)) == 2.0
