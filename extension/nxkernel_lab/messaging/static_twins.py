"""Static HTML saved beside a widget's output, for pages that cannot show widgets."""

from __future__ import annotations

from typing import Any

#: What an output's metadata says where there is a twin, here and in lab/src/twins.ts.
MARK = "nxkernel_twin"

Bundle = tuple[dict[str, Any], dict[str, Any]]


def with_twins(bundle: Bundle | None, twins: dict[str, str]) -> Bundle | None:
    """Add static replacements to a widget's output bundle.

    Parameters
    ----------
    bundle : tuple of dict or None
        The data and the metadata of a widget's output; None where widgets are switched off.
    twins : dict
        Texts by their MIME type; one that is empty is left out.

    Returns
    -------
    tuple of dict or None

    Examples
    --------
    >>> with_twins(({"text/plain": "Widget()"}, {}), {"text/plain": "a table", "text/html": ""})
    ({'text/plain': 'a table'}, {'nxkernel_twin': True})
    """
    if bundle is None:
        return None
    data, metadata = bundle
    return {**data, **{kind: text for kind, text in twins.items() if text}}, {**metadata, MARK: True}
