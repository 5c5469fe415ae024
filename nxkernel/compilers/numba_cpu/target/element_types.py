"""The LLVM type of each element type, in registers and in memory."""

from __future__ import annotations

#: The element that holds a value of a type in a register, and the one that holds it in memory. Of a complex number two
#: of the former are registers, and the latter has both its parts.
REGISTER = {"f16": "float", "bf16": "float", "f32": "float", "f64": "double", "bool": "i8"}
REGISTER |= {"c64": "float", "c128": "double"}
MEMORY = {**REGISTER, "f16": "half", "bf16": "i16", "c64": "[2 x float]", "c128": "[2 x double]"}
for _bits in (8, 16, 32, 64):
    for _kind in "us":
        REGISTER[f"{_kind}{_bits}"] = MEMORY[f"{_kind}{_bits}"] = f"i{_bits}"
