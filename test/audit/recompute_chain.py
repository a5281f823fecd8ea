"""Recomputes the audit chains of a session from the published rules, sharing no code with what wrote them.

    python3 recompute_chain.py FOLDER [--key-file FILE]

Prints one JSON object. Exits 0 where all is sound, 1 where something is not, 2 where it could not look.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from chain_files import chain_folders, read_chain
from links import check_links
from receipts import Malformed, check_form, check_seals, check_signatures, check_skeleton, member
from sealing import keys_of


class Report:
    def __init__(self):
        self.problems = []
        self.notices = []

    def problem(self, chain, file, line, what):
        self.problems.append({"chain": chain, "file": file, "line": line, "what": what})

    def at(self, line, what):
        self.problem(line.chain, line.file, line.number, what)

    def notice(self, chain, what):
        self.notices.append({"chain": chain, "what": what})


def recompute(folder, keys):
    """What is to say of a session's audit folder; `keys` by key id, empty where signatures cannot be checked."""
    report, counts = Report(), Counter(checked=0, unchecked=0, unsigned=0)
    chains = [read_chain(each, report) for each in chain_folders(folder) if not was_never_begun(each, report)]
    sound = [chain for chain in chains if check_chain(chain, keys, counts, report)]
    check_links(Path(folder).resolve().name, sound, report)
    lines = [line for chain in chains for line in chain.lines]
    if counts["unchecked"]:
        report.notice(None, f"{counts['unchecked']} signatures were not checked: no --key-file")
    return {
        "session": Path(folder).resolve().name,
        "chains": len(chains),
        "lines": len(lines),
        "pending": [{"chain": each.chain, "file": each.file, "line": each.number} for each in lines if each.pending],
        "signatures": dict(counts),
        "steps": dict(sorted(Counter(map(method, lines)).items())),
        "notices": report.notices,
        "problems": report.problems,
    }


def was_never_begun(folder, report):
    """A process that was killed before its first receipt leaves a folder without a file."""
    if any(each.is_file() for each in folder.rglob("*")):
        return False
    report.notice(folder.name, "an empty folder: a chain that was never begun, or one that was taken away")
    return True


def method(line):
    try:
        return member(line.value, "request.method", str)
    except Malformed:
        return "unreadable"


def check_chain(chain, keys, counts, report):
    """Whether every line of the chain could be read, so that it can be held against the others."""
    if not chain.lines:
        report.problem(chain.id, None, None, "the chain has no lines")
    previous, readable = None, bool(chain.lines)
    for line in chain.lines:
        try:
            check_skeleton(line)
            before, previous = previous, line.value
            for check in (check_seals(line, before), check_signatures(line, keys, counts), check_form(line)):
                for what in check:
                    report.at(line, what)
        except (Malformed, ValueError, TypeError, KeyError, AttributeError) as error:
            report.at(line, f"the line cannot be read: {error}")
            readable = False
    return readable


def main(arguments):
    parser = argparse.ArgumentParser(prog="recompute_chain.py")
    parser.add_argument("folder", help="the audit folder of a session")
    parser.add_argument("--key-file", help="the deployment key: raw, hex or base64, 32 bytes or more")
    options = parser.parse_args(arguments)
    try:
        keys = keys_of(Path(options.key_file).read_bytes()) if options.key_file else {}
        if options.key_file and not keys:
            raise OSError(f"{options.key_file} holds no key of 32 bytes or more")
        summary = recompute(options.folder, keys)
    except OSError as error:
        print(f"recompute_chain.py: {error}", file=sys.stderr)
        return 2
    print(json.dumps(summary, indent=2))
    return 1 if summary["problems"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
