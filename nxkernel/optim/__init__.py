"""Optimizers, and the gradient transformations with `init` and `update` that they are chains of.

>>> from nxkernel import optim
>>> optimizer = optim.chain(optim.clip_by_global_norm(1.0), optim.adam(0.1))
>>> params = {"w": nx.tensor([1.0, -2.0])}
>>> state = optimizer.init(params)
>>> grads = nx.grad(lambda params: nx.sum(params["w"] ** 2))(params)
>>> updates, state = optimizer.update(grads, state, params)
>>> params = optim.apply_updates(params, updates)
>>> [round(x, 4) for x in params["w"].to_list()]
[0.9, -1.9]

All of it are numerical functions: they run on tensors, become part of definitions that call them, and states are
containers of tensors, which pass through :func:`nxkernel.jit`.
"""

from typing import TYPE_CHECKING, NoReturn

from nxkernel.messages import other_libraries
from nxkernel.messages.call_errors import explain
from nxkernel.optim.accumulation import multi_steps
from nxkernel.optim.clipping import add_decayed_weights, add_noise, clip, clip_by_global_norm, clip_by_norm
from nxkernel.optim.learning_rates import scale, scale_by_learning_rate, scale_by_schedule
from nxkernel.optim.norms import global_norm
from nxkernel.optim.optimizers import (
    adabelief,
    adagrad,
    adam,
    adamax,
    adamw,
    lamb,
    lion,
    nadam,
    noisy_sgd,
    radam,
    rmsprop,
    sgd,
)
from nxkernel.optim.parameter_groups import masked, multi_transform, set_to_zero
from nxkernel.optim.scaling import (
    scale_by_adam,
    scale_by_adamax,
    scale_by_belief,
    scale_by_lion,
    scale_by_radam,
    scale_by_rms,
    scale_by_rss,
    scale_by_trust_ratio,
    trace,
)
from nxkernel.optim.schedules import (
    constant_schedule,
    cosine_decay_schedule,
    exponential_decay,
    join_schedules,
    linear_schedule,
    one_cycle_schedule,
    piecewise_constant_schedule,
    polynomial_schedule,
    warmup_cosine_decay_schedule,
)
from nxkernel.optim.transformation import Transformation, apply_updates, chain, identity

__all__ = [
    "Transformation", "adabelief", "adagrad", "adam", "adamax", "adamw", "add_decayed_weights", "add_noise",
    "apply_updates", "chain", "clip", "clip_by_global_norm", "clip_by_norm", "constant_schedule",
    "cosine_decay_schedule", "exponential_decay", "global_norm", "identity", "join_schedules", "lamb",
    "linear_schedule", "lion", "masked", "multi_steps", "multi_transform", "nadam", "noisy_sgd", "one_cycle_schedule",
    "piecewise_constant_schedule", "polynomial_schedule", "radam", "rmsprop", "scale", "scale_by_adam",
    "scale_by_adamax", "scale_by_belief", "scale_by_learning_rate", "scale_by_lion", "scale_by_radam", "scale_by_rms",
    "scale_by_rss", "scale_by_schedule", "scale_by_trust_ratio", "set_to_zero", "sgd", "trace",
    "warmup_cosine_decay_schedule",
]  # fmt: skip

explain(globals(), __all__, "optim")

#: Names of Optax that are others here.
_OTHERS: dict[str, other_libraries.Entry] = {
    "GradientTransformation": "optim.Transformation(init, change)", "MultiSteps": "optim.multi_steps(optimizer, 4)",
    "cosine_onecycle_schedule": "optim.one_cycle_schedule(steps, peak)",
    "inject_hyperparams": ("optimizer.update(grads, state, params, learning_rate)", "A rate can be given each time."),
    "AdamW": "optim.adamw(1e-3)", "Adagrad": "optim.adagrad(1e-2)", "RMSprop": "optim.rmsprop(1e-3)",
    "SGD": "optim.sgd(1e-2)", "freeze": "optim.multi_transform(transformations, labels)",
    "nadamw": "optim.adamw(1e-3, nesterov=True)", "partition": "optim.multi_transform(transformations, labels)",
    "tree_norm": "optim.global_norm(tree)",
}  # fmt: skip


if not TYPE_CHECKING:
    # A tool that read it would take any misspelt name for one that is there.
    def __getattr__(name: str) -> NoReturn:
        raise other_libraries.missing("nxkernel.optim", name, _OTHERS, __all__)


def __dir__() -> list[str]:
    return __all__
