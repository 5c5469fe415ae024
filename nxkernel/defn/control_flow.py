"""The runtime of definitions: what the calls that :mod:`nxkernel.defn.syntax` makes of a person's code go to."""

from nxkernel.defn.flow.choices import and_, if_, if_exp, if_return, not_, or_
from nxkernel.defn.flow.functions import fn
from nxkernel.defn.flow.identity import is_
from nxkernel.defn.flow.items import get_item, in_place, own, set_item
from nxkernel.defn.flow.loops import for_, while_
from nxkernel.defn.flow.membership import contains, key, member
from nxkernel.defn.flow.saying import assert_, percent, text
from nxkernel.defn.flow.unassigned import pending, unassigned

__all__ = [
    "and_",
    "assert_",
    "contains",
    "fn",
    "for_",
    "get_item",
    "if_",
    "if_exp",
    "if_return",
    "in_place",
    "is_",
    "key",
    "member",
    "not_",
    "or_",
    "own",
    "pending",
    "percent",
    "set_item",
    "text",
    "unassigned",
    "while_",
]
