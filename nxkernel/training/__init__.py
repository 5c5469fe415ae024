"""Training: compiled steps, the training loop, data batches, checkpoints.

>>> from nxkernel import optim, training
>>> x = nx.iota((8, 1), type="f32") / 8
>>> data = training.batches(x, 3 * x + 1, 4)
>>> line = lambda params, x: x * params["slope"] + params["start"]
>>> loss = lambda y, found: nx.mean((found - y) ** 2)
>>> params = {"slope": nx.tensor(0.0), "start": nx.tensor(0.0)}
>>> fitted = training.fit(line, loss, optim.adam(0.1), params, data, epochs=150, progress=False)
>>> round(float(fitted.params["slope"]), 1), round(float(fitted.params["start"]), 1)
(3.0, 1.0)
"""

from typing import TYPE_CHECKING, NoReturn

from nxkernel.messages import other_libraries
from nxkernel.messages.call_errors import explain
from nxkernel.training.batches import Batches, batches
from nxkernel.training.checkpoints import load_checkpoint, save_checkpoint
from nxkernel.training.early_stopping import EarlyStopping
from nxkernel.training.fitting import Fitted, evaluate, fit
from nxkernel.training.steps import make_evaluation, make_step

__all__ = [
    "Batches", "EarlyStopping", "Fitted", "batches", "evaluate", "fit", "load_checkpoint", "make_evaluation",
    "make_step", "save_checkpoint",
]  # fmt: skip

explain(globals(), __all__, "training")


if not TYPE_CHECKING:
    # A tool that read it would take any misspelt name for one that is there.
    def __getattr__(name: str) -> NoReturn:
        raise other_libraries.missing("nxkernel.training", name, {}, __all__)


def __dir__() -> list[str]:
    return __all__
