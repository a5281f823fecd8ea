import base64
import json
import os
import unittest
from pathlib import Path

from jcs import canonical
from sealing import entry_hash, key_id, keys_of, line_hash, request_hash, session_key, signature

VECTORS = os.environ.get("ACS_VECTORS")
KEY = b"k" * 40
SESSION = "5e551000-0000-4000-8000-00000000beef"


class Sealing(unittest.TestCase):
    """Expected values were made with sha256sum and openssl from texts that were written out by hand."""

    def test_the_first_entry_is_hashed_alone(self):
        entry = {"step_id": "b", "entry_id": "a", "previous_hash": None, "entry_hash": "left out"}
        self.assertEqual(entry_hash(entry), "615c1bd0bded6a126a26683ea054dba37eb4657911c394a12f4e0e94922b0045")

    def test_a_later_entry_is_hashed_with_the_raw_bytes_of_the_hash_before(self):
        entry = {"step_id": "b", "entry_id": "a", "previous_hash": "ab" * 32, "entry_hash": "left out"}
        self.assertEqual(entry_hash(entry), "f7f3e41aa37a0bc8068074dba63dabdbc8901e422cbe892b1636ce2c07aa1ce5")

    def test_a_line_is_hashed_as_an_entry_is(self):
        line = {"step_id": "b", "entry_id": "a", "line_hash": "left out"}
        self.assertEqual(line_hash(line, "ab" * 32), "f7f3e41aa37a0bc8068074dba63dabdbc8901e422cbe892b1636ce2c07aa1ce5")

    def test_params_are_hashed_in_utf_8(self):
        params = {"request_id": "é", "acs_version": "0.1.0"}
        self.assertEqual(request_hash(params), "ef3f353cd5bd94a3ee2c2e87e7bd5e2e22e484bf6175a1dd2953aa35b35ecee4")

    def test_the_key_of_rfc_5869_test_case_3(self):
        expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
        self.assertEqual(session_key(b"\x0b" * 22, "").hex(), expected)

    def test_the_key_of_a_session(self):
        expected = "dd68706038a661fc41c85ea4328a3bb5bb3b09840c59f01a869e800f98363178"
        self.assertEqual(session_key(KEY, SESSION).hex(), expected)
        self.assertEqual(key_id(KEY), "dc4c5d17d972b666")

    def test_a_signature_leaves_itself_out(self):
        envelope = {"id": "1", "params": {"n": 1, "signature": {"value": "old"}}}
        expected = "3x+2GuuKU5ZSl+pOd6ld8/X5bjcvLoXUmytjBu71NmQ="
        self.assertEqual(signature(envelope, "params", session_key(KEY, SESSION)), expected)

    def test_what_a_key_file_can_mean(self):
        raw = bytes(range(200, 232))
        hexadecimal = raw.hex().upper().encode() + b"\n"
        for content in [raw, hexadecimal, base64.b64encode(raw)]:
            with self.subTest(content):
                self.assertIn(raw, keys_of(content).values())
        self.assertEqual(keys_of(b"31 characters are too few: 7890"), {})


@unittest.skipUnless(VECTORS, "ACS_VECTORS names no folder of published vectors")
class PublishedVectors(unittest.TestCase):
    def read(self, name):
        return json.loads((Path(VECTORS) / name).read_text(encoding="utf-8"))

    def test_request_hash(self):
        vector = self.read("chain.json")["request_hash"]
        self.assertEqual(canonical(vector["params"]).decode("utf-8"), vector["canonical"])
        self.assertEqual(request_hash(vector["params"]), vector["hash"])

    def test_chain(self):
        chain = self.read("chain.json")["chain"]
        self.assertEqual(len(chain), 3)
        for link in chain:
            self.assertEqual(canonical(link["entry"]).decode("utf-8"), link["canonical_content"])
            self.assertEqual(entry_hash(dict(link["entry"], previous_hash=link["previous_hash"])), link["entry_hash"])

    def test_signatures(self):
        vector = self.read("envelope.json")
        key = session_key(bytes.fromhex(vector["ikm_hex"]), vector["session_id"])
        self.assertEqual(key.hex(), vector["session_key_hex"])
        for envelope, member in [("request", "params"), ("response", "result")]:
            signed = vector[envelope]["signed"]
            self.assertEqual(signature(signed, member, key), signed[member]["signature"]["value"])
