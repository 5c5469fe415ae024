"""Which element of LLVM holds a value of each type: in a register, and in memory."""

from __future__ import annotations

#: The element that holds a value of a type in a register, and the one that holds it in memory.
REGISTER = {"f16": "float", "bf16": "float", "f32": "float", "f64": "double", "bool": "i8"}
MEMORY = {**REGISTER, "f16": "half", "bf16": "i16"}
for _bits in (8, 16, 32, 64):
    for _kind in "us":
        REGISTER[f"{_kind}{_bits}"] = MEMORY[f"{_kind}{_bits}"] = f"i{_bits}"
