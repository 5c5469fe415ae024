"""Damaged files: bytes with a few bits flipped, parts cut out, doubled or overwritten."""

from hypothesis import strategies as st

from nxkernel.errors import NxValueError


@st.composite
def damaged(draw, data, start=0):
    """Bytes that differ from `data` from `start` on."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(start, max(len(changed) - 1, start)))
        kind = draw(st.sampled_from(["flip", "cut", "remove", "insert", "overwrite", "double"]))
        length = draw(st.integers(1, 12))
        if kind == "flip" and place < len(changed):
            changed[place] ^= 1 << draw(st.integers(0, 7))
        elif kind == "cut":
            del changed[place:]
        elif kind == "remove":
            del changed[place : place + length]
        elif kind == "insert":
            changed[place:place] = draw(st.binary(min_size=1, max_size=length))
        elif kind == "overwrite":
            changed[place : place + length] = draw(st.sampled_from([b"\0", b"\xff", b"9", b"[", b'"'])) * length
        else:
            changed[place:place] = changed[place : place + length]
    return bytes(changed)


def outcome(read, data):
    """What was read, or the text of the only error that there may be, which tells what cannot be read."""
    try:
        return read(data)
    except NxValueError as error:
        text = str(error)
    assert text.startswith("cannot read ")
    return text
