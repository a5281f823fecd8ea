"""Canonical JSON as RFC 8785 defines it, and a reader that takes I-JSON only."""

import json
import math
import re

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
ESCAPED = re.compile(r'[\x00-\x1f"\\]')


def parse(text):
    """The value of a JSON text; every number becomes a float, as in ECMAScript.

    Raises ValueError for what is no JSON, for a number that is no double, for a name that an object has twice, and
    for nesting that is deeper than Python takes.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_finite, parse_int=_finite, parse_float=_finite
        )
    except RecursionError:
        raise ValueError("nested too deep") from None


def canonical(value):
    """The UTF-8 bytes of the canonical form; raises ValueError for what has none."""
    try:
        return _text(value).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a string with a lone surrogate") from None
    except RecursionError:
        raise ValueError("nested too deep") from None


def _object(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError("a name twice in an object: " + next(n for n in names if names.count(n) > 1))
    return members


def _finite(text):
    double = float(text)
    if not math.isfinite(double):
        raise ValueError(text[:40] + " is no number of I-JSON")
    return double


def _text(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(_string(name) + ":" + _text(value[name]) for name in _sorted(value)) + "}"
    raise ValueError("no JSON value: " + type(value).__name__)


def _sorted(members):
    """Names by their UTF-16 code units: U+1F600 (D83D DE00) comes before U+FB33."""
    return sorted(members, key=lambda name: name.encode("utf-16-be"))


def _string(text):
    return '"' + ESCAPED.sub(_escape, text) + '"'


def _escape(found):
    character = found.group()
    return ESCAPES.get(character) or "\\u%04x" % ord(character)


def number(value):
    """ECMAScript's Number::toString (ECMA-262, 6.1.6.1.20) of the double that a number stands for."""
    try:
        double = float(value)
    except OverflowError:
        raise ValueError("a number beyond the doubles") from None
    if not math.isfinite(double):
        raise ValueError(repr(double) + " is no JSON number")
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    digits, point = _shortest(abs(double))
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    fraction = "." + digits[1:] if count > 1 else ""
    return sign + digits[0] + fraction + "e%+d" % (point - 1)


def _shortest(double):
    """The fewest digits that read back as the double, and n with double = 0.digits * 10**n."""
    mantissa, _, exponent = repr(double).partition("e")
    whole, _, fraction = mantissa.partition(".")
    written = whole + fraction
    digits = written.lstrip("0")
    point = len(whole) - (len(written) - len(digits)) + int(exponent or 0)
    return digits.rstrip("0"), point
