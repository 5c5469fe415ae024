"""The package as people import it."""

import subprocess
import sys

import pytest

import nxkernel as nx
from nxkernel import nn
from nxkernel.nn import losses


def test_every_name_is_there_and_documented():
    for name in nn.__all__:
        assert getattr(nn, name).__doc__, name


def test_it_is_imported_when_somebody_asks_for_it():
    code = (
        "import sys, nxkernel as nx; print('nxkernel.nn' in sys.modules, nx.nn.__name__, 'nxkernel.nn' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.split() == ["False", "nxkernel.nn", "True"]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            lambda: nn.dropout(0.5, noise=1),
            "dropout takes no noise=.\n  It is called as nn.dropout(rate=0.5, *, axes=None).",
        ),
        (lambda: nn.dense(4, use_bias=False), "dense takes bias=False, not use_bias=False.\n  It is called as "),
        (
            lambda: nn.dense(4, activation=nn.relu),
            "dense takes no activation=.\n  An activation is a layer of its own: nn.serial(nn.dense(16), nn.relu).\n",
        ),
        (
            lambda: nn.dense(4, name="first"),
            "dense takes no name=.\n  A layer that is called in another one is called by its variable: "
            "first = nn.dense(4).\n",
        ),
        (lambda: nn.conv(4, kernel_size=3), "conv takes window=3, not kernel_size=3.\n"),
        (lambda: nn.conv(4, data_format="NHWC"), 'conv takes channels="last", not data_format=\'NHWC\'.\n'),
        (
            lambda: nn.flatten(2),
            "flatten takes no argument by position, got 1.\n  Write nn.flatten(axes=1): so many axes stay in front.\n",
        ),
        (
            lambda: nn.bias(1, 2),
            "bias takes no argument by position, got 2.\n  It is called as nn.bias(*, init='zeros').",
        ),
        (
            lambda: nn.embedding(3),
            "embedding misses 'units'.\n  It is called as nn.embedding(size, units, *, init='uniform').",
        ),
        (lambda: nn.relu(nx.tensor(1.0), axis=0), "relu takes no axis=.\n  "),
        (
            lambda: losses.hinge(nx.tensor(1.0), nx.tensor(1.0), mean=True),
            "hinge takes no mean=.\n  It is called as nn.losses.hinge(y_true, y_pred, *, reduction='mean').",
        ),
        (
            lambda: nn.metrics.r2(nx.tensor(1.0)),
            "r2 misses 'y_pred'.\n  It is called as nn.metrics.r2(y_true, y_pred).",
        ),
        (
            lambda: nn.initializers.zeros(1),
            "zeros takes no argument by position, got 1.\n  It is called as nn.initializers.zeros().",
        ),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit_say_what_to_write(wrong, text):
    with pytest.raises(TypeError) as caught:
        wrong()
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("owner", "name", "text"),
    [
        (nn, "Dense", "nxkernel.nn has no 'Dense'.\n  Write nn.dense(units)."),
        (nn, "Sequential", "nxkernel.nn has no 'Sequential'.\n  Write nn.serial(nn.dense(16), nn.relu, nn.dense(4))."),
        (nn, "batchnorm", "nxkernel.nn has no 'batchnorm'.\n  Did you mean 'batch_norm'?"),
        (losses, "mse", "nxkernel.nn.losses has no 'mse'.\n  Write nn.losses.mean_squared_error(y_true, y_pred)."),
    ],
)
def test_names_of_other_libraries(owner, name, text):
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert str(caught.value) == text
    assert "dense" in dir(nn)
    assert "huber" in dir(losses)


def test_what_is_offered_for_other_names_is_there():
    for table, owner, package in ((nn._OTHERS, "nn", nn), (losses._OTHERS, "nn.losses", losses)):
        for entry in table.values():
            form = entry if isinstance(entry, str) else entry[0]
            assert hasattr(package, form.partition("(")[0].removeprefix("@").removeprefix(f"{owner}.")), form
