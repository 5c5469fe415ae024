"""Loss functions, per example or reduced to a mean or sum.

Each takes ``(y_true, y_pred)``, in this order, and ``reduction=``: the mean of all entries, their sum, or none.
"""

from typing import TYPE_CHECKING, NoReturn

from nxkernel.messages import other_libraries
from nxkernel.messages.call_errors import explain
from nxkernel.nn.losses import classification, margins, regression, sequences
from nxkernel.nn.losses.classification import *  # noqa: F403
from nxkernel.nn.losses.margins import *  # noqa: F403
from nxkernel.nn.losses.regression import *  # noqa: F403
from nxkernel.nn.losses.sequences import *  # noqa: F403

__all__ = [*classification.__all__, *regression.__all__, *margins.__all__, *sequences.__all__]

explain(globals(), __all__, "nn.losses")

#: Names of other libraries that are others here.
_OTHERS: dict[str, other_libraries.Entry] = {
    "cross_entropy": (
        "nn.losses.categorical_cross_entropy(y_true, y_pred)",
        "sparse_categorical_cross_entropy takes numbers of classes.",
    ),
    "mae": "nn.losses.mean_absolute_error(y_true, y_pred)", "mse": "nn.losses.mean_squared_error(y_true, y_pred)",
    "mse_loss": "nn.losses.mean_squared_error(y_true, y_pred)",
    "softmax_cross_entropy": "nn.losses.categorical_cross_entropy(y_true, y_pred, from_logits=True)",
    "softmax_cross_entropy_with_integer_labels": (
        "nn.losses.sparse_categorical_cross_entropy(y_true, y_pred, from_logits=True)"
    ),
}  # fmt: skip


if not TYPE_CHECKING:
    # A tool that read it would take any misspelt name for one that is there.
    def __getattr__(name: str) -> NoReturn:
        raise other_libraries.missing("nxkernel.nn.losses", name, _OTHERS, __all__)


def __dir__() -> list[str]:
    return __all__
