"""A small ELF linker: object files of Linux on x86-64 become machine code in memory.

LLVM's own loaders give each object file mappings of its own, and end the process where a symbol is missing. Here its
parts become one block of memory that programs share with others, and what is missing is an error.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from dataclasses import dataclass

from nxkernel.compilers.numba_cpu.runtime import executable_memory
from nxkernel.compilers.numba_cpu.runtime.executable_memory import CodeBlock

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
#: The first bytes of an object file of 64 bits, little-endian; its kind, and the processor.
_MAGIC, _RELOCATABLE, _X86_64 = b"\x7fELF\x02\x01", 1, 62
#: Kinds of sections: symbols, relocations, zeros, what unwinds the stack.
_SYMTAB, _RELA, _NOBITS, _UNWIND = 2, 4, 8, 0x70000001
#: Sections that are written to, and those that are part of memory at all; those of threads.
_WRITTEN, _IN_MEMORY, _OF_THREADS = 1, 2, 0x400
#: Where symbols are that are in no section: outside, nowhere, and in zeros that are to be provided.
_OUTSIDE, _ABSOLUTE, _COMMON = 0, 0xFFF1, 0xFFF2
#: Kinds of relocations: how a number is written, whether relative to its own place, and the least and greatest.
_KINDS = {
    1: (struct.Struct("<Q"), False, 0, (1 << 64) - 1),
    2: (struct.Struct("<i"), True, -(1 << 31), (1 << 31) - 1),
    4: (struct.Struct("<i"), True, -(1 << 31), (1 << 31) - 1),
    10: (struct.Struct("<I"), False, 0, (1 << 32) - 1),
    11: (struct.Struct("<i"), False, -(1 << 31), (1 << 31) - 1),
    24: (struct.Struct("<q"), True, -(1 << 63), (1 << 63) - 1),
}


class MissingSymbolsError(Exception):
    """Symbols that machine code refers to are not defined; their names are the arguments."""


@dataclass(frozen=True, slots=True)
class _ElfSection:
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    target: int
    alignment: int

    @property
    def is_loaded(self) -> bool:
        return bool(self.flags & _IN_MEMORY) and self.size > 0 and self.kind != _UNWIND

    def contents(self, data: bytes) -> bytes:
        return bytes(self.size) if self.kind == _NOBITS else data[self.offset : self.offset + self.size]


class ObjectFile:
    """The parsed parts of an object file.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    ValueError
        For what is none, or none for x86-64.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            head = _HEADER.unpack_from(data)
            if not head[0].startswith(_MAGIC) or head[1:3] != (_RELOCATABLE, _X86_64):
                raise ValueError("no object file for x86-64")
            rows = [_SECTION.unpack_from(data, head[6] + number * head[11]) for number in range(head[12])]
            self._sections = [
                _ElfSection(row[1], row[2], row[4], row[5], row[6], row[7], max(row[8], 1)) for row in rows
            ]
            self._names = [row[0] for row in rows]
            self._named = self._sections[head[13]]
            table = next((one for one in self._sections if one.kind == _SYMTAB), None)
            self._symbols = list(_SYMBOL.iter_unpack(table.contents(data))) if table else []
            self._strings = self._sections[table.link].offset if table else 0
        except (struct.error, IndexError):
            raise ValueError("a damaged object file") from None

    def _text(self, offset: int) -> str:
        return self._data[offset : self._data.index(b"\0", offset)].decode()

    def undefined(self) -> list[str]:
        """The names of the undefined symbols."""
        return [
            self._text(self._strings + name)
            for name, info, _, section, _, _ in self._symbols[1:]
            if section == _OUTSIDE and name and info >> 4 != 2
        ]

    def link(self, find: Callable[[str], int | None]) -> tuple[CodeBlock, object, dict[str, int]]:
        """Load it into memory, resolving symbols with `find`.

        Parameters
        ----------
        find : callable
            Gives the address of a name, or None.

        Returns
        -------
        CodeBlock
            Where its machine code is.
        object
            What else is to live as long.
        dict
            The addresses of the functions that it has for others.

        Raises
        ------
        MissingSymbolsError
            Where names have no address.
        MemoryError
        """
        outside = {name: find(name) for name in self.undefined()}
        missing = [name for name, address in outside.items() if address is None]
        if missing:
            raise MissingSymbolsError(*missing)
        offsets, sizes = self._laid_out()
        block = executable_memory.take(sizes[0])
        try:
            data = _Data(sizes[1])
            bases = (block.address, data.address)
            placed = {number: bases[which] + offset for number, (which, offset) in offsets.items()}
            addresses = self._addresses(placed, outside)
            images = (bytearray(sizes[0]), bytearray(sizes[1]))
            for number, (which, offset) in offsets.items():
                if number >= 0:
                    section = self._sections[number]
                    images[which][offset : offset + section.size] = section.contents(self._data)
            for relocations in self._sections:
                if relocations.kind == _RELA and relocations.target in offsets:
                    which, offset = offsets[relocations.target]
                    self._relocate(relocations, images[which], offset, bases[which], addresses)
            data.write(images[1])
            block.write(images[0])
        except BaseException:
            block.release()
            raise
        exported = {
            self._text(self._strings + name): address
            for (name, info, _, section, _, _), address in zip(self._symbols, addresses, strict=True)
            if info >> 4 and section != _OUTSIDE
        }
        return block, data, exported

    def _laid_out(self) -> tuple[dict[int, tuple[int, int]], list[int]]:
        """For each section whether it is data and its offset, and the total sizes of code and data.

        What is common to several object files, and is to be provided, has its symbol's number, less than zero.
        """
        offsets, sizes = {}, [0, 0]
        todo = [
            (number, bool(one.flags & _WRITTEN), one.size, one.alignment)
            for number, one in enumerate(self._sections)
            if one.is_loaded and not self._text(self._named.offset + self._names[number]).startswith(".eh_frame")
        ]
        todo += [
            (-number, True, size, value)
            for number, (_, _, _, section, value, size) in enumerate(self._symbols)
            if section == _COMMON
        ]
        for number, which, size, alignment in todo:
            if number >= 0 and self._sections[number].flags & _OF_THREADS:
                raise ValueError("an object file with data of threads")
            if alignment > executable_memory.ALIGNMENT:
                raise ValueError(f"an object file with parts at multiples of {alignment} bytes")
            offset = -(-sizes[which] // alignment) * alignment
            offsets[number], sizes[which] = (int(which), offset), offset + size
        return offsets, sizes

    def _addresses(self, placed: dict[int, int], outside: dict[str, int]) -> list[int]:
        """The address of each symbol."""
        addresses = []
        for number, (name, _, _, section, value, _) in enumerate(self._symbols):
            if section == _OUTSIDE:
                addresses.append(outside.get(self._text(self._strings + name), 0) if number else 0)
            elif section == _ABSOLUTE:
                addresses.append(value)
            elif section == _COMMON:
                addresses.append(placed[-number])
            else:
                addresses.append(placed.get(section, 0) + value)
        return addresses

    def _relocate(self, section: _ElfSection, image: bytearray, begin: int, base: int, addresses: list[int]) -> None:
        """Apply the relocations of a section."""
        for offset, info, addend in _RELOCATION.iter_unpack(section.contents(self._data)):
            if info & 0xFFFFFFFF not in _KINDS:
                raise ValueError(f"an object file with relocations of the kind {info & 0xFFFFFFFF}")
            form, relative, least, most = _KINDS[info & 0xFFFFFFFF]
            at = begin + offset
            number = addresses[info >> 32] + addend - (base + at if relative else 0)
            if not least <= number <= most:
                raise ValueError(f"an object file with an address that is too far, {number:#x}")
            form.pack_into(image, at, number)


class _Data:
    """Writable memory for the data sections of machine code."""

    def __init__(self, size: int) -> None:
        self._memory = (ctypes.c_char * (size + executable_memory.ALIGNMENT))() if size else None
        start = ctypes.addressof(self._memory) if size else 0
        self.address = -(-start // executable_memory.ALIGNMENT) * executable_memory.ALIGNMENT

    def write(self, contents: bytearray) -> None:
        if contents:
            ctypes.memmove(self.address, bytes(contents), len(contents))
