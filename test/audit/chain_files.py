"""Reads the files of one chain: segments of lines, and heads, which say where the chain ends."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from jcs import parse

HEAD_MEMBERS = {"entry": str, "line": str, "lines": str, "count": float, "segment": float, "start": float, "end": float}


@dataclass
class Line:
    chain: str
    file: str
    number: int
    content: bytes
    # In the head, and not in its segment yet: whoever goes on with the chain writes it.
    pending: bool
    value: object = None


@dataclass
class Chain:
    id: str
    lines: list = field(default_factory=list)


def read_chain(folder, report):
    """The chain in a folder, with its pending lines; what is wrong with the files goes to the report."""
    chain = Chain(folder.name)
    written = _segments(folder, report)
    heads = _heads(folder, report)
    whole = _with_pending(chain.id, written, heads, report)
    for number in sorted(whole):
        chain.lines += _lines(chain.id, _name(number), whole[number], len(written.get(number, b"")), report)
    _hold_against_heads(chain, whole, heads, report)
    return chain


def _name(number):
    return "%06d.jsonl" % number


def _segments(folder, report):
    files = sorted(folder.glob("*.jsonl"))
    for number, file in enumerate(files, 1):
        if file.name != _name(number):
            report.problem(folder.name, file.name, None, f"not the segment that should come here, {_name(number)}")
    return {number: file.read_bytes() for number, file in enumerate(files, 1)}


def _heads(folder, report):
    """The heads that parse, by number: each is a checksum, a space, and JSON."""
    heads = {}
    for file in (folder / "head").glob("*"):
        if not re.fullmatch(r"[0-9]+\.json", file.name):
            if file.name.endswith(".damaged"):
                report.notice(folder.name, f"head/{file.name} was set aside as damaged")
            continue
        try:
            value = parse(file.read_bytes().decode("utf-8").partition(" ")[2])["value"]
            for name, kind in HEAD_MEMBERS.items():
                if not isinstance(value[name], kind) or (kind is float and not is_count(value[name])):
                    raise ValueError(name)
        except (ValueError, KeyError, TypeError) as error:
            report.problem(folder.name, f"head/{file.name}", None, f"this head does not parse: {error!r}")
        else:
            heads[int(file.stem)] = value
    if not heads:
        report.problem(folder.name, "head", None, "the chain has no head: whether its tail is there cannot be told")
    return dict(sorted(heads.items()))


def _with_pending(chain, written, heads, report):
    """The segments' bytes with those that only a head holds."""
    whole = dict(written)
    for number, head in heads.items():
        segment, start, lines = int(head["segment"]), int(head["start"]), head["lines"].encode("utf-8", "replace")
        data = whole.get(segment, b"")
        end = start + len(lines)
        where = (chain, f"head/{number}.json", None)
        if end != head["end"]:
            report.problem(*where, f"its lines end at byte {end}, it says at {head['end']:.0f}")
        if start > len(data):
            report.problem(*where, f"{_name(segment)} ends at byte {len(data)}, before the head's lines at {start}")
        elif lines.startswith(data[start:]):
            whole[segment] = data[:start] + lines
        elif data[start:end] != lines:
            report.problem(*where, f"{_name(segment)} holds other bytes from {start} to {end} than the head")
    return whole


def _lines(chain, file, data, written, report):
    if not data.endswith(b"\n"):
        report.problem(chain, file, data.count(b"\n") + 1, "the last line is cut, or the file is empty")
    lines, end = [], 0
    for number, content in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data), 1):
        end += len(content)
        line = Line(chain, file, number, content.rstrip(b"\n"), end > written)
        try:
            line.value = parse(line.content.decode("utf-8"))
        except ValueError as error:
            report.problem(chain, file, number, f"no JSON of one meaning: {error}")
        lines.append(line)
    return lines


def _hold_against_heads(chain, whole, heads, report):
    for number, head in heads.items():
        count, where = int(head["count"]), (chain.id, f"head/{number}.json", None)
        if not 0 < count <= len(chain.lines):
            report.problem(*where, f"it counts {count} lines, the chain has {len(chain.lines)}")
            continue
        line = chain.lines[count - 1].value
        if not isinstance(line, dict):
            continue
        entry = line.get("entry")
        if line.get("line_hash") != head["line"]:
            report.problem(*where, f"its line hash is not that of line {count} of the chain")
        if not isinstance(entry, dict) or entry.get("entry_hash") != head["entry"]:
            report.problem(*where, f"its entry hash is not that of line {count} of the chain")
    if heads:
        number, head = list(heads.items())[-1]
        if len(chain.lines) > head["count"] or max(whole) != head["segment"]:
            what = f"the chain goes on after the {head['count']:.0f} lines of its head"
            report.problem(chain.id, f"head/{number}.json", None, what)


def is_count(number):
    return number >= 0 and number.is_integer()


def chain_folders(folder):
    """The folders of a session's chains; raises OSError when the session's folder cannot be read."""
    return sorted(entry for entry in Path(folder).iterdir() if entry.is_dir())
