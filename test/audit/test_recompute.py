import contextlib
import copy
import io
import json

from audit_folder import AuditFolder
from forge import KEY, ROOT, family, read_head_value, seal, session_of, write, write_head, write_head_value
from jcs import canonical
from recompute_chain import main, recompute
from sealing import keys_of

CHILD = session_of("one")


class Sound(AuditFolder):
    def test_a_family_of_chains(self):
        write(self.folder, family())
        summary = recompute(self.folder, keys_of(KEY))
        self.assertEqual(summary["problems"], [])
        self.assertEqual((summary["chains"], summary["lines"], summary["pending"]), (2, 10, []))
        self.assertEqual(summary["signatures"], {"checked": 20, "unchecked": 0, "unsigned": 0})
        self.assertEqual(summary["steps"]["steps/subagentStart"], 2)

    def test_without_the_key_signatures_are_left_out_and_that_is_said(self):
        write(self.folder, family())
        summary = recompute(self.folder, {})
        self.assertEqual((summary["problems"], summary["signatures"]["unchecked"]), ([], 20))
        self.assertIn("20 signatures were not checked", summary["notices"][0]["what"])

    def test_lines_that_only_the_head_holds_are_pending(self):
        write(self.folder, family(), batch=2)
        whole = self.lines()
        for kept in [b"".join(whole[:-2]), b"".join(whole[:-1]), b"".join(whole)[:-5]]:
            self.segment().write_bytes(kept)
            summary = recompute(self.folder, keys_of(KEY))
            self.assertEqual(summary["problems"], [])
            self.assertEqual(summary["pending"][-1], {"chain": ROOT, "file": "000001.jsonl", "line": 8})
            self.assertEqual(len(summary["pending"]), 2 if kept == b"".join(whole[:-2]) else 1)

    def test_a_chain_goes_on_in_its_next_segment(self):
        write(self.folder, family())
        whole = self.lines()
        self.segment().write_bytes(b"".join(whole[:3]))
        (self.folder / ROOT / "000002.jsonl").write_bytes(b"".join(whole[3:]))
        head = self.folder / ROOT / "head" / "8.json"
        value = read_head_value(head)
        before = len(b"".join(whole[:3]))
        value.update(segment=2, start=value["start"] - before, end=value["end"] - before)
        write_head_value(head, value)
        self.assertEqual(self.problems(), [])


class Tampered(AuditFolder):
    def setUp(self):
        super().setUp()
        write(self.folder, family())

    def test_any_byte_of_any_line_that_is_changed(self):
        for chain in (ROOT, CHILD):
            data = self.segment(chain).read_bytes()
            for place in range(0, len(data), 97):
                changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
                self.segment(chain).write_bytes(changed)
                self.assertNotEqual(self.problems({}), [], f"byte {place} of {chain}")
            self.segment(chain).write_bytes(data)

    def test_a_line_that_is_dropped_is_named(self):
        lines = self.lines()
        for number in range(len(lines) - 1):
            self.segment().write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
            hits = [p["line"] for p in self.problems() if p["what"].startswith("line_hash")]
            self.assertEqual(hits, [number + 1])

    def test_lines_that_are_swapped(self):
        lines = self.lines()
        for number in range(len(lines) - 1):
            swapped = lines[:number] + [lines[number + 1], lines[number]] + lines[number + 2 :]
            self.segment().write_bytes(b"".join(swapped))
            self.assertIn("line_hash is not the hash of this line and the one before", self.told())

    def test_a_line_that_is_there_twice(self):
        lines = self.lines()
        self.segment().write_bytes(b"".join(lines[:4] + lines[3:]))
        self.assertIn("was used before in this session", self.told())

    def test_a_tail_that_is_cut_off(self):
        lines = self.lines()
        for kept in range(len(lines) - 1):
            self.segment().write_bytes(b"".join(lines[:kept]))
            self.assertIn("before the head's lines", self.told())

    def test_a_tail_that_is_cut_off_with_its_head(self):
        lines = self.lines(CHILD)
        self.segment(CHILD).write_bytes(lines[0])
        (self.folder / CHILD / "head" / "2.json").unlink()
        write_head(self.folder / CHILD, [json.loads(lines[0])], lines[:1], 1)
        self.assertEqual(self.told(), f"final_chain_hash is no sessionEnd's on the chain {CHILD}")

    def test_lines_beyond_the_head(self):
        lines = self.lines()
        (self.folder / ROOT / "head" / "8.json").unlink()
        self.assertIn("the chain has no head", self.told())
        write_head(self.folder / ROOT, list(map(json.loads, lines[:5])), lines[:5], 1)
        self.assertIn("the chain goes on after the 5 lines of its head", self.told())

    def test_heads_that_say_something_else(self):
        head = self.folder / ROOT / "head" / "8.json"
        value = read_head_value(head)
        for name, false, said in [
            ("count", 7, "its line hash is not that of line 7"),
            ("count", 9, "it counts 9 lines, the chain has 8"),
            ("count", 0, "it counts 0 lines"),
            ("count", -1, "this head does not parse"),
            ("line", "0" * 64, "its line hash is not that of line 8"),
            ("entry", "0" * 64, "its entry hash is not that of line 8"),
            ("end", 1, "its lines end at byte"),
            ("lines", "x" * len(value["lines"]), "holds other bytes"),
            ("segment", 2, "000002.jsonl ends at byte 0"),
        ]:
            write_head_value(head, dict(value, **{name: false}))
            self.assertIn(said, self.told(), (name, false))
        head.write_bytes(head.read_bytes()[:50])
        self.assertIn("this head does not parse", self.told())

    def test_a_segment_that_is_missing(self):
        self.segment().rename(self.folder / ROOT / "000002.jsonl")
        self.assertIn("not the segment that should come here, 000001.jsonl", self.told())

    def test_a_chain_that_is_missing(self):
        (self.folder / CHILD).rename(self.folder / session_of("three"))
        self.assertIn(f"final_chain_hash is no sessionEnd's on the chain {CHILD}", self.told())
        self.assertIn("metadata.session_id is not the chain's", self.told())
        self.assertIn("no subagentStart of the session names this chain", self.told())

    def test_writing_that_has_the_same_value(self):
        data = self.segment().read_bytes()
        for changed in [b" " + data, data.replace(b"\n", b"\r\n", 1), b"\xef\xbb\xbf" + data, data + b"\n"]:
            self.segment().write_bytes(changed)
            self.assertNotEqual(self.problems(), [])

    def test_lines_of_another_key_or_none(self):
        self.assertIn("is signed with the key", self.told(keys_of(b"o" * 32)))
        lines = list(map(json.loads, self.lines()))
        for key, said in [(None, "params has no signature"), (b"o" * 32, "result is signed with the key")]:
            sealed = [canonical(line) + b"\n" for line in seal(copy.deepcopy(lines), ROOT, key)]
            self.segment().write_bytes(b"".join(sealed))
            self.assertIn(said, self.told())

    def test_a_chain_that_is_signed_for_another_session(self):
        lines = seal(list(map(json.loads, self.lines())), session_of("elsewhere"))
        self.segment().write_bytes(b"".join(canonical(line) + b"\n" for line in lines))
        self.assertIn("params.signature is not by the key of this chain", self.told())


class CommandLine(AuditFolder):
    def run_main(self, *arguments):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                code = main([str(each) for each in arguments])
            except SystemExit as exit:
                code = exit.code
        return code, out.getvalue(), error.getvalue()

    def test_exits(self):
        write(self.folder, family())
        key, short = self.folder.parent / "key", self.folder.parent / "short"
        key.write_bytes(KEY)
        short.write_bytes(KEY[:31])
        code, out, error = self.run_main(self.folder, "--key-file", key)
        self.assertEqual((code, json.loads(out)["signatures"]["checked"], error), (0, 20, ""))
        for arguments in [[], [self.folder / "none"], [key], [self.folder, "--key-file", short], [self.folder, "-x"]]:
            code, out, error = self.run_main(*arguments)
            self.assertEqual((code, out, error != ""), (2, "", True))
        self.segment().write_bytes(b"".join(self.lines()[1:]))
        self.assertEqual(self.run_main(self.folder)[0], 1)

    def test_an_empty_folder_of_a_chain_is_told_and_is_a_problem_where_the_chain_was_closed(self):
        write(self.folder, family())
        (self.folder / session_of("three") / "head").mkdir(parents=True)
        summary = recompute(self.folder, keys_of(KEY))
        self.assertEqual((summary["problems"], summary["chains"]), ([], 2))
        self.assertEqual(summary["notices"][0]["chain"], session_of("three"))
        self.segment(CHILD).unlink()
        (self.folder / CHILD / "head" / "2.json").unlink()
        self.assertEqual(self.told(), f"final_chain_hash is no sessionEnd's on the chain {CHILD}")

    def test_a_folder_with_no_chain_is_not_sound(self):
        self.assertEqual(self.run_main(self.folder)[0], 1)
