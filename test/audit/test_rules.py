import contextlib
import copy

from audit_folder import AuditFolder
from forge import ROOT, call, family, lines_of, seal, session_of, start, step, write
from jcs import canonical
from recompute_chain import recompute

CHILD = session_of("one")

# Paths into the lines of the family's root chain, what one with the key puts there, and what is said of it.
FORMS = [
    (0, "request.params.payload.policy_mode", "loose", "policy_mode is none of"),
    (0, "request.params.payload.policy_mode", "strict", "intent.scope_mode is not policy_mode"),
    (0, "request.params.payload.intent.parser_provenance", None, "parser_provenance.provenance_id is missing"),
    (0, "request.params.payload.intent.parser_provenance.origin", "model", "origin 'model' is none of"),
    (0, "request.params.payload.intent.parsed", [{"tool": 1}], "holds what is no capability"),
    (0, "request.params.acs_version", "0.2.0", "acs_version is not 0.1.0"),
    (0, "request.params.nonce", "short", "nonce is not of 16 to 64 characters"),
    (0, "request.params.more", 1, "params has members that the standard does not: more"),
    (0, "request.params.timestamp", "yesterday", "the timestamps are not RFC 3339"),
    (0, "request.params.metadata.session_id", CHILD, "metadata.session_id is not the chain's"),
    (0, "request.params.request_id", "1", "request_id is no UUID"),
    (0, "entry.step_id", "x", "entry_id, step_id, the two request_ids, or the two ids differ"),
    (0, "entry.step_type", "steps/sessionEnd", "step_type is not the method"),
    (0, "request.method", "steps/sessionEnd", "the chain starts with steps/sessionEnd"),
    (0, "response.result.decision", "ask", "decision 'ask' is not permitted at steps/sessionStart"),
    (0, "response.result.metadata.evaluator", "model", "metadata.evaluator is not deterministic"),
    (1, "request.params.payload.arguments.prompt", {"value": "text"}, "value is of the wrong type"),
    (1, "request.params.payload.tool", {}, "tool.name is missing"),
    (1, "response.result.decision", "deny", "the spawn was decided allow, its call deny"),
    (1, "request.params.metadata.spawn_guard.tool_use_id", "uno", "is not the version 5 UUID of 'uno'"),
    (2, "request.params.payload.intent_derivation", "widened", "intent_derivation 'widened' is none of"),
    (2, "request.params.payload.intent_derivation", "derived_from_parent", "does not cite parent_step_id"),
    (2, "request.params.payload.parent_session_id", "me", "parent_session_id is no UUID"),
    (2, "request.params.payload.parent_session_id", CHILD, "parent_session_id is not this chain's"),
    (2, "request.params.payload.parent_step_id", "nowhere", "parent_step_id is no earlier step of this chain"),
    (2, "request.params.payload.subagent_session_id", session_of("x"), "a subagentStop with no subagentStart"),
    (2, "request.params.payload.subagent_intent.parsed", [{"tool": "Read"}], "inherit_full, and the capabilities"),
    (2, "request.params.payload.subagent_intent.raw", "else", "intent is not the subagent_intent"),
    (2, "request.params.payload.subagent_descriptor.agent_id", "other", "trace_id is not other"),
    (3, "request.params.payload.outcome", "fine", "outcome 'fine' is none of"),
    (3, "request.params.payload.outcome", "denied_at_spawn", "denied_at_spawn, and the spawn was not denied"),
    (3, "request.params.payload.subagent_step_count", 3, "subagent_step_count is not 2"),
    (3, "request.params.payload.final_chain_hash", "0" * 64, "final_chain_hash is no sessionEnd's"),
    (3, "response.result.decision", "deny", "audit only"),
    (5, "response.result.reasoning", "", "reasoning is missing, and the decision is deny"),
    (6, "request.params.payload.subagent_session_id", CHILD, "a refused spawn with no subagentStop"),
]


def put(value, path, new):
    *way, last = path.split(".")
    for name in way:
        value = value[name]
    value[last] = new


def paths(value, before=""):
    for name, inner in value.items():
        yield before + name
        if isinstance(inner, dict):
            yield from paths(inner, before + name + ".")


class RulesBrokenByOneWithTheKey(AuditFolder):
    def setUp(self):
        super().setUp()
        write(self.folder, family())

    def write_root(self, lines):
        self.segment().write_bytes(b"".join(canonical(line) + b"\n" for line in lines))

    def test_members_enums_and_links(self):
        for index, path, new, said in FORMS:
            with self.subTest(path=path, new=new):
                lines = family()[ROOT]
                put(lines[index], path, new)
                self.write_root(seal(lines, ROOT))
                told = self.told()
                self.assertIn(said, told)
                self.assertNotIn("signature is not by", told)
                self.assertNotIn("is not the hash of this", told)

    def test_no_value_in_any_place_is_beyond_it(self):
        original = family(None)[ROOT]
        for index, line in enumerate(original[:4]):
            for path in list(paths(line)):
                for new in (None, [], {}, "x"):
                    lines = copy.deepcopy(original)
                    put(lines[index], path, new)
                    with contextlib.suppress(TypeError, KeyError, AttributeError, ValueError):
                        seal(lines, ROOT, None)
                    self.write_root(lines)
                    self.problems({})


class Intents(AuditFolder):
    def spawn(self, parent, child, derivation, modes=("permissive", "permissive")):
        intents = [
            {"parsed": parsed, "parser_provenance": {"provenance_id": "p", "origin": "system"}, "scope_mode": mode}
            for parsed, mode in zip((parent, child), modes)
        ]
        first = step("sessionStart", {"intent": intents[0]})
        begun = start("one", 1, intent_derivation=derivation, subagent_intent=intents[1])
        write(self.folder, {ROOT: lines_of(ROOT, [first, call("one"), begun])})
        summary = recompute(self.folder, {})
        return [each["what"] for each in summary["problems"] + summary["notices"][:-1]]

    CASES = [
        ([{"tool": "*"}], [{"tool": "Read"}], "inherit_subset", None),
        ([{"tool": "Bash", "operation": "git *"}], [{"tool": "Bash", "operation": "git log*"}], "inherit_subset", None),
        ([{"tool": "Read"}, {"tool": "Bash"}], [{"tool": "Bash", "operation": "ls"}], "inherit_subset", None),
        ([{"tool": "Read"}], [{"tool": "Bash"}], "inherit_subset", "not all within the parent's"),
        ([{"tool": "Bash", "operation": "git *"}], [{"tool": "Bash"}], "inherit_subset", "not all within the parent's"),
        (
            [{"tool": "Read", "resource": "file:///a/*"}],
            [{"tool": "Read", "resource": "file:///a/../b"}],
            "inherit_subset",
            "not all within the parent's",
        ),
        ([{"tool": "Read"}], [{"tool": "Read"}], "inherit_subset", "parsed lacks nothing of the parent's"),
        ([{"tool": "Read"}, {"tool": "Bash"}], [{"tool": "Bash"}, {"tool": "Read"}], "inherit_full", None),
        ([{"tool": "Read"}, {"tool": "Bash"}], [{"tool": "Bash"}], "inherit_full", "are not the parent's"),
    ]

    def test_capabilities(self):
        for parent, child, derivation, said in self.CASES:
            with self.subTest(parent=parent, child=child):
                self.setUp()
                told = self.spawn(parent, child, derivation)
                self.assertEqual([said is not None and said in what for what in told], [True] * (said is not None))

    def test_modes(self):
        told = self.spawn([{"tool": "*"}], [{"tool": "*"}], "inherit_full", ("strict", "moderate"))
        self.assertEqual(told, ["scope_mode is looser than the parent's"])
