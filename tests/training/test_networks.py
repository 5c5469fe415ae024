"""Networks of nxkernel.nn in the loop: keys for dropout, state for batch normalization, checkpoints of both."""

import numpy as np

import nxkernel as nx
from nxkernel import nn, optim, training

RNG = np.random.default_rng(1)
X = RNG.normal(size=(96, 6)).astype("f4")
Y = (X[:, 0] * X[:, 1] > 0).astype("i4")


def network():
    return nn.serial(nn.dense(16), nn.batch_norm(), nn.relu, nn.dropout(0.1), nn.dense(1))


def loss(y_true, y_pred):
    return nx.mean(nx.log1p(nx.exp(-(2 * y_true - 1) * nx.squeeze(y_pred, axes=[1]))))


def run(epochs, **options):
    net = network()
    params = net.init(nx.random.key(0), X[:1])
    return net, training.fit(
        net, loss, optim.adam(0.02), params, training.batches(X, Y, 32), epochs=epochs, validation=(X, Y),
        key=nx.random.key(2), progress=False, **options,
    )  # fmt: skip


def test_a_network_with_dropout_and_batch_normalization_is_fitted():
    net, fitted = run(40)
    assert fitted.history["validation_loss"][-1] < 0.35 < fitted.history["validation_loss"][0]
    assert list(fitted.model_state) == ["batch_norm"]
    figures = training.evaluate(net, loss, fitted.params, (X, Y), model_state=fitted.model_state)
    assert figures == {"loss": fitted.history["validation_loss"][-1]}


def test_its_checkpoints_have_the_state_of_the_network(tmp_path):
    path = tmp_path / "net.safetensors"
    _, whole = run(4)
    run(2, checkpoint=path)
    with nx.no_compile():
        _, rest = run(4, checkpoint=path, resume=True)
    assert rest.history == whole.history
    for name in ("mean", "variance"):
        there, here = (one.model_state["batch_norm"][name].to_numpy() for one in (whole, rest))
        np.testing.assert_array_equal(there, here)
