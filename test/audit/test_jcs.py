import struct
import unittest

from jcs import canonical, number, parse

# RFC 8785, appendix B: the bits of a double, and how it is written.
NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]
CANONICAL = [
    ("literals", "[ null , true,\tfalse ]\n", "[null,true,false]"),
    ("fractions", "[333333333.33333329,4.50,2e-3]", "[333333333.3333333,4.5,0.002]"),
    ("exponents", "[1E30,0.000000000000000000000000001]", "[1e+30,1e-27]"),
    ("integers are doubles", "[-0, 12345678901234567890, 100]", "[0,12345678901234567000,100]"),
    ("escapes", r'"\u20ac$\u000F\u000aA\u0042\u0022\u005c\\\"\/"', '"€$\\u000f\\nAB\\"\\\\\\\\\\"/"'),
    ("short escapes", r'"\u0008\u0009\u000c\u000d\u001f\u007f\u2028"', '"\\b\\t\\f\\r\\u001f\u007f\u2028"'),
    ("a pair of surrogates", r'"\ud83d\ude00"', '"😀"'),
    ("empty", '{"b":{},"a":[], "":""}', '{"":"","a":[],"b":{}}'),
    # RFC 8785, 3.2.3: an emoji is two code units that begin with D83D, and so comes before U+FB33.
    (
        "names by UTF-16",
        r'{"\u20ac":5,"\r":1,"\ufb33":7,"1":2,"\ud83d\ude00":6,"\u0080":3,"\u00f6":4}',
        '{"\\r":1,"1":2,"\u0080":3,"ö":4,"€":5,"😀":6,"\ufb33":7}',
    ),
]
REFUSED_TEXTS = [
    ("NaN", "[NaN]"),
    ("Infinity", "-Infinity"),
    ("beyond the doubles", "1e999"),
    ("an integer beyond them", "9" * 400),
    ("a name twice", '{"a":1,"b":{"c":1,"c":1}}'),
    ("a name twice, one escaped", r'{"a":1,"\u0061":1}'),
    ("a control character", '"\n"'),
    ("a byte order mark", "\ufeff{}"),
    ("more after it", "{} {}"),
    ("a comma too many", "[1,]"),
    ("a leading zero", "01"),
    ("nothing", ""),
    ("deep nesting", "[" * 100_000),
]
REFUSED_VALUES = [
    ("a lone high surrogate", "\ud800"),
    ("a lone low surrogate in a name", {"\udc00": 1}),
    ("NaN", float("nan")),
    ("infinity", [float("inf")]),
    ("an integer beyond the doubles", 10**400),
    ("bytes", b""),
]


class Jcs(unittest.TestCase):
    def test_numbers_as_ecmascript_writes_them(self):
        for bits, written in NUMBERS:
            with self.subTest(bits):
                self.assertEqual(number(struct.unpack(">d", bytes.fromhex(bits))[0]), written)

    def test_canonical_forms(self):
        for name, text, expected in CANONICAL:
            with self.subTest(name):
                self.assertEqual(canonical(parse(text)), expected.encode("utf-8"))
                self.assertEqual(canonical(parse(expected)), expected.encode("utf-8"))

    def test_texts_that_are_no_i_json(self):
        for name, text in REFUSED_TEXTS:
            with self.subTest(name), self.assertRaises(ValueError):
                parse(text)

    def test_values_that_have_no_canonical_form(self):
        for name, value in REFUSED_VALUES:
            with self.subTest(name), self.assertRaises(ValueError):
                canonical(value)

    def test_a_lone_surrogate_that_a_text_escapes(self):
        with self.assertRaises(ValueError):
            canonical(parse(r'"\ud800"'))
