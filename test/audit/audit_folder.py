import tempfile
import unittest
from pathlib import Path

from forge import KEY, ROOT
from recompute_chain import recompute
from sealing import keys_of


class AuditFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name) / ROOT
        self.folder.mkdir()

    def problems(self, keys=keys_of(KEY)):
        return recompute(self.folder, keys)["problems"]

    def told(self, keys=keys_of(KEY)):
        return "\n".join(problem["what"] for problem in self.problems(keys))

    def segment(self, chain=ROOT):
        return self.folder / chain / "000001.jsonl"

    def lines(self, chain=ROOT):
        return self.segment(chain).read_bytes().splitlines(keepends=True)
