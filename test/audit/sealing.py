"""The hashes and signatures of ACS receipts, from what the standard says of them."""

import base64
import binascii
import hashlib
import hmac
import re

from jcs import canonical


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def chained(value, previous):
    """SHA-256 of the canonical form and the 32 raw bytes of the hash before it; `previous` is hex or None."""
    return sha256(canonical(value) + bytes.fromhex(previous or ""))


def without(members, *names):
    return {name: value for name, value in members.items() if name not in names}


def request_hash(params):
    return sha256(canonical(params))


def entry_hash(entry):
    return chained(without(entry, "entry_hash", "previous_hash"), entry["previous_hash"])


def line_hash(line, previous):
    return chained(without(line, "line_hash"), previous)


def session_key(deployment_key, session_id):
    """HKDF-SHA256 (RFC 5869) with an empty salt, 32 bytes: one block of output."""
    extracted = hmac.new(bytes(32), deployment_key, hashlib.sha256).digest()
    return hmac.new(extracted, session_id.encode("utf-8") + b"\x01", hashlib.sha256).digest()


def key_id(deployment_key):
    return sha256(deployment_key)[:16]


def signature(envelope, member, key):
    """The base64 text that signs an envelope; `member` (params or result) is where its signature stands."""
    unsigned = dict(envelope, **{member: without(envelope[member], "signature")})
    return base64.b64encode(hmac.new(key, canonical(unsigned), hashlib.sha256).digest()).decode("ascii")


def keys_of(content):
    """What the bytes of a key file can mean (raw, hex, base64), by key id; keys under 32 bytes are none."""
    text = content.strip()
    meanings = [content, text]
    if re.fullmatch(rb"([0-9a-fA-F]{2})+", text):
        meanings.append(bytes.fromhex(text.decode("ascii")))
    try:
        meanings.append(base64.b64decode(text, validate=True))
    except binascii.Error:
        pass
    return {key_id(key): key for key in meanings if len(key) >= 32}
