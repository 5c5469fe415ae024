"""The runtime object whose methods code rewritten by :mod:`nxkernel.definitions.syntax` calls."""

from nxkernel.definitions.flow.control.attempts import try_
from nxkernel.definitions.flow.control.branches import if_, if_exp, if_return
from nxkernel.definitions.flow.control.comprehensions import generated, listed
from nxkernel.definitions.flow.control.logic import and_, not_, or_
from nxkernel.definitions.flow.control.loops import for_, while_
from nxkernel.definitions.flow.operators.call_dispatch import fn
from nxkernel.definitions.flow.operators.contexts import context
from nxkernel.definitions.flow.operators.matching import match_
from nxkernel.definitions.flow.operators.membership import contains, key, member
from nxkernel.definitions.flow.operators.object_identity import is_
from nxkernel.definitions.flow.operators.output_calls import assert_, percent, text
from nxkernel.definitions.flow.operators.subscripts import get_item, in_place, own, set_item
from nxkernel.definitions.flow.values.unassigned_variables import pending, unassigned

__all__ = [
    "and_",
    "assert_",
    "contains",
    "context",
    "fn",
    "for_",
    "generated",
    "get_item",
    "if_",
    "if_exp",
    "if_return",
    "in_place",
    "is_",
    "key",
    "listed",
    "match_",
    "member",
    "not_",
    "or_",
    "own",
    "pending",
    "percent",
    "set_item",
    "text",
    "try_",
    "unassigned",
    "while_",
]
