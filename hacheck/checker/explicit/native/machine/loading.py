"""Object code put into memory without LLVM, so that a start with everything compiled need not load it.

Knows what LLVM makes of our code on Linux and x86-64: a few kinds of sections and references. Whatever else there is,
LLVM's own linker is to be used. Memory is written first and made executable then, never both at once.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from hacheck.model.data import dataclass

_FILE = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_REFERENCE = struct.Struct("<QIIq")  # offset, kind, symbol, what is added
_MAGIC = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian
_RELOCATABLE, _X86_64 = 1, 62

_SYMBOLS, _REFERENCES, _ZEROS, _OLD_REFERENCES, _UNWINDING = 2, 4, 8, 9, 0x70000001  # kinds of sections
_WRITABLE, _LOADED, _EXECUTABLE, _OF_THREAD = 0x1, 0x2, 0x4, 0x400  # flags of sections
_BOTH = _WRITABLE | _EXECUTABLE
_UNDEFINED = 0  # the number of no section

_NOTHING, _ADDRESS, _NEAR, _NEAR_CALL = 0, 1, 2, 4  # kinds of references
_BY_TABLE = (9, 41, 42)  # the address is read from a table, which is near

# The way to what may be far: a jump to the address in the 8 bytes after it, which is such a table's entry as well.
_WAY = struct.Struct("<8sQ")
_DISTANCE, _WORD = struct.Struct("<i"), struct.Struct("<Q")
_JUMP = b"\xff\x25\x02\x00\x00\x00\x90\x90"
_TABLE_ENTRY = 8  # bytes from the way's beginning

_PAGE_BYTES = mmap.PAGESIZE
_READ, _WRITE, _EXECUTE = 1, 2, 4  # protections


class NotUnderstoodError(Exception):
    """The object code has what is not known here: LLVM is to link it."""


class NotLinkedError(Exception):
    """The object code cannot be linked by anybody: it is damaged, or a name is missing, or is there twice."""


@dataclass(frozen=True, slots=True)
class Image:
    """Object code in this process's memory, for as long as this lives: what it exports, by name."""

    addresses: Mapping[str, int]
    memory: tuple[mmap.mmap, ctypes.c_char]


@dataclass(frozen=True, slots=True)
class _Section:
    """One section of an object file; `link` and `info` are numbers of other sections."""

    kind: int
    flags: int
    content: bytes
    link: int
    info: int
    alignment: int

    @property
    def is_loaded(self) -> bool:
        """Whether the running code needs it. Nothing unwinds our code."""
        return bool(self.flags & _LOADED and self.content) and self.kind != _UNWINDING


@dataclass(frozen=True, slots=True)
class _Symbol:
    """What references refer to: a place in a section, or a name that is defined elsewhere."""

    name: str
    exported: bool
    section: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Object:
    """One object file."""

    sections: tuple[_Section, ...]
    symbols: tuple[_Symbol, ...]


def is_supported() -> bool:
    """Whether this machine is one whose object code is known here."""
    return sys.platform == "linux" and os.uname().machine == "x86_64"


def load(contents: Sequence[bytes]) -> Image:
    """Puts object files into memory; what one exports, the others find, and all find the functions of libc.

    Raises `NotUnderstoodError`, `NotLinkedError`, and `OSError` where no memory may be made executable.
    """
    try:
        return _Loader([_read(content) for content in contents]).load()
    except (struct.error, LookupError, ValueError) as error:
        raise NotLinkedError(f"a damaged object file: {error}") from None


def _read(content: bytes) -> _Object:
    kind, machine, _, _, _, start, _, _, _, _, size, number, _ = _FILE.unpack_from(content)
    if not content.startswith(_MAGIC) or (kind, machine, size) != (_RELOCATABLE, _X86_64, _SECTION.size):
        raise NotLinkedError("no object file of x86-64")
    table = content[start : start + number * size]
    if len(table) != number * size:
        raise NotLinkedError("a damaged object file: its end is missing")
    sections = tuple(_section(content, *entry) for entry in _SECTION.iter_unpack(table))
    tables = [section for section in sections if section.kind == _SYMBOLS]
    return _Object(sections, tuple(_symbols(tables[0], sections)) if tables else ())


def _section(
    content: bytes,
    _name: int,
    kind: int,
    flags: int,
    _address: int,
    offset: int,
    size: int,
    link: int,
    info: int,
    alignment: int,
    _entry: int,
) -> _Section:
    if flags & _OF_THREAD or kind == _OLD_REFERENCES or alignment > _PAGE_BYTES or flags & _BOTH == _BOTH:
        raise NotUnderstoodError("a section of an unknown kind")
    found = bytes(size) if kind == _ZEROS else content[offset : offset + size]
    if len(found) != size:
        raise NotLinkedError("a damaged object file: a section is cut off")
    return _Section(kind, flags, found, link, info, max(alignment, 1))


def _symbols(table: _Section, sections: Sequence[_Section]) -> Iterator[_Symbol]:
    names = sections[table.link].content
    for name, info, _, section, offset, _ in _SYMBOL.iter_unpack(table.content):
        text = names[name : names.index(b"\0", name)].decode()
        yield _Symbol(text, info >> 4 != 0, section, offset)


class _Loader:
    """Gives each section its place, then writes them with all references filled in.

    Sections and symbols are known by the number of their object and their own number in it.
    """

    def __init__(self, objects: Sequence[_Object]) -> None:
        self.objects = objects
        self.exported: dict[str, tuple[int, int]] = {}
        self.places: dict[tuple[int, int], int] = {}
        self.ways: dict[tuple[int, int], int] = {}
        self.parts: list[tuple[int, int, int]] = []  # begin, end, protection
        self.image = bytearray()
        self.base = 0

    def load(self) -> Image:
        self.export()
        self.arrange()
        memory = mmap.mmap(-1, max(len(self.image), _PAGE_BYTES), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        first = ctypes.c_char.from_buffer(memory)
        self.base = ctypes.addressof(first)
        for (number, symbol), way in self.ways.items():
            _WAY.pack_into(self.image, way, _JUMP, self.far_address(number, symbol))
        for number, section, entry in self.references():
            self.fill_in(number, self.places[number, section], *entry)
        memory[: len(self.image)] = bytes(self.image)
        for begin, end, protection in self.parts:
            _protect(self.base + begin, end - begin, protection)
        addresses = {name: self.address(*symbol) for name, symbol in self.exported.items()}
        return Image(addresses, (memory, first))

    def export(self) -> None:
        """Finds out which object has which name."""
        for number, one in enumerate(self.objects):
            for position, symbol in enumerate(one.symbols):
                if symbol.exported and symbol.section != _UNDEFINED:
                    if symbol.name in self.exported:
                        raise NotLinkedError(f"`{symbol.name}` is defined twice")
                    self.exported[symbol.name] = number, position

    def arrange(self) -> None:
        """Gives each loaded section its place: code with its ways first, then what is read, then what is written."""
        for wanted, protection in ((_EXECUTABLE, _READ | _EXECUTE), (0, _READ), (_WRITABLE, _READ | _WRITE)):
            begin = len(self.image)
            for number, one in enumerate(self.objects):
                for position, section in enumerate(one.sections):
                    if section.is_loaded and section.flags & _BOTH == wanted:
                        self.align(section.alignment)
                        self.places[number, position] = len(self.image)
                        self.image += section.content
            if wanted == _EXECUTABLE:
                self.pave()
            self.align(_PAGE_BYTES)
            if len(self.image) > begin:
                self.parts.append((begin, len(self.image), protection))

    def pave(self) -> None:
        """Gives each symbol its way that is far, or whose address is read from a table."""
        self.align(_WAY.size)
        for number, _, (_, kind, position, _) in self.references():
            symbol = self.objects[number].symbols[position]
            far = symbol.section == _UNDEFINED and symbol.name not in self.exported and kind != _NOTHING
            if (far or kind in _BY_TABLE) and (number, position) not in self.ways:
                self.ways[number, position] = len(self.image)
                self.image += bytes(_WAY.size)

    def align(self, alignment: int) -> None:
        self.image += bytes(-len(self.image) % alignment)

    def references(self) -> Iterator[tuple[int, int, tuple[int, int, int, int]]]:
        """Each reference in a loaded section: the object, the section, and what the file says of it."""
        for number, one in enumerate(self.objects):
            for section in one.sections:
                if section.kind == _REFERENCES and one.sections[section.info].is_loaded:
                    for entry in _REFERENCE.iter_unpack(section.content):
                        yield number, section.info, entry

    def fill_in(self, number: int, section: int, offset: int, kind: int, symbol: int, added: int) -> None:
        """Writes one reference: an address, or the distance to it."""
        place = section + offset
        if kind in (_NEAR, _NEAR_CALL):
            _DISTANCE.pack_into(self.image, place, self.address(number, symbol) + added - self.base - place)
        elif kind in _BY_TABLE:
            entry = self.ways[number, symbol] + _TABLE_ENTRY
            _DISTANCE.pack_into(self.image, place, entry + added - place)
        elif kind == _ADDRESS:
            _WORD.pack_into(self.image, place, self.address(number, symbol) + added)
        elif kind != _NOTHING:
            raise NotUnderstoodError(f"a reference of kind {kind}")

    def address(self, number: int, position: int) -> int:
        """Where a symbol is: in the image, or on the way out of it."""
        symbol = self.objects[number].symbols[position]
        if symbol.section == _UNDEFINED:
            if symbol.name in self.exported:
                return self.address(*self.exported[symbol.name])
            return self.base + self.ways[number, position]
        return self.base + self.places[number, symbol.section] + symbol.offset

    def far_address(self, number: int, position: int) -> int:
        """Where a way leads: to a symbol of the image, or to what libc has."""
        symbol = self.objects[number].symbols[position]
        if symbol.section != _UNDEFINED or symbol.name in self.exported:
            return self.address(number, position)
        try:
            found = ctypes.cast(getattr(_process(), symbol.name), ctypes.c_void_p).value
        except AttributeError:
            found = None
        if found is None:
            raise NotLinkedError(f"`{symbol.name}` is defined nowhere")
        return found


@cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _protect(address: int, size: int, protection: int) -> None:
    arguments = ctypes.c_void_p(address), ctypes.c_size_t(size), ctypes.c_int(protection)
    if _process().mprotect(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
