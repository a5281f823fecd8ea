"""Holds one line of a chain against ACS v0.1.0: its hashes, signatures, ids and members."""

import re

from chain_files import is_count
from jcs import canonical
from sealing import entry_hash, key_id, line_hash, request_hash, session_key, signature

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
HASH = re.compile(r"[0-9a-f]{64}")
# Lists in the order of the standard; for the modes it is from the strictest on.
DECISIONS = ["allow", "deny", "modify", "ask", "defer"]
DERIVATIONS = ["inherit_full", "inherit_subset", "derived_from_parent", "fresh"]
SCOPE_MODES = ["strict", "moderate", "permissive"]
OUTCOMES = ["completed", "failed", "cancelled", "timeout", "denied_at_spawn"]
ORIGINS = ["user_input", "system", "tool_output", "retrieved", "agent_generated", "a2a_inbound", "external"]


class Malformed(Exception):
    """A member that all other checks of a line would need."""


def member(value, path, kind):
    """The member at a dotted path; raises Malformed where it is missing or of another kind."""
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            raise Malformed(f"{path} is missing")
        value = value[name]
    if not isinstance(value, kind):
        raise Malformed(f"{path} is of the wrong type")
    return value


def _optional(value, name, kind):
    """A member that may be missing, and then is empty."""
    return member(value, name, kind) if name in value else kind()


def matches(pattern, value):
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def check_seals(line, previous):
    """What is wrong with the hashes of a line after the line `previous` (a value, or None for the first)."""
    value, before = line.value, previous or {"line_hash": None, "entry": {"entry_hash": None}}
    if canonical(value) != line.content:
        yield "the line is not in its canonical form"
    if set(value) != {"request", "entry", "response", "line_hash"}:
        yield "the line's members are not request, entry, response, line_hash"
    if value["line_hash"] != line_hash(value, before["line_hash"]):
        yield "line_hash is not the hash of this line and the one before"
    entry = value["entry"]
    if entry["previous_hash"] != before["entry"]["entry_hash"]:
        yield "previous_hash is not the entry_hash of the line before"
    if not matches(HASH, entry["previous_hash"] or "0" * 64) or entry["entry_hash"] != entry_hash(entry):
        yield "entry_hash is not the hash of this entry and the one before"
    if entry["request_hash"] != request_hash(value["request"]["params"]):
        yield "request_hash is not the hash of params"
    if value["response"]["result"]["chain_hash"] != entry["entry_hash"]:
        yield "chain_hash is not the entry's entry_hash"


def check_signatures(line, keys, counts):
    """What is wrong with the signatures of a line; `keys` by key id, none where they cannot be checked."""
    for envelope, where in ((line.value["request"], "params"), (line.value["response"], "result")):
        found = envelope[where].get("signature")
        if found is None:
            counts["unsigned"] += 1
            if keys:
                yield f"{where} has no signature, and a key was given"
            continue
        key = keys.get(member(found, "key_id", str))
        if found.get("algorithm") != "HMAC-SHA256" or set(found) != {"algorithm", "value", "key_id"}:
            yield f"{where}.signature is no HMAC-SHA256 with value and key_id"
        elif not keys:
            counts["unchecked"] += 1
        elif key is None:
            yield f"{where} is signed with the key {found['key_id']}; the key given is {' or '.join(keys)}"
        elif found["value"] != signature(envelope, where, session_key(key, line.chain)):
            yield f"{where}.signature is not by the key of this chain"
        else:
            counts["checked"] += 1


def check_form(line):
    """What of the standard's members, enums and equal ids does not hold in a line."""
    request, entry, response = (line.value[name] for name in ("request", "entry", "response"))
    params, result = request["params"], response["result"]
    yield from _only(request, "request", "jsonrpc method id params")
    yield from _only(params, "params", "acs_version request_id timestamp metadata payload nonce signature")
    yield from _only(response, "response", "jsonrpc id result")
    entry_members = "entry_id step_id step_type timestamp request_hash previous_hash entry_hash provenance_summary"
    yield from _only(entry, "entry", entry_members)
    if (request.get("jsonrpc"), response.get("jsonrpc")) != ("2.0", "2.0"):
        yield "jsonrpc is not 2.0"
    if (params.get("acs_version"), result.get("acs_version")) != ("0.1.0", "0.1.0"):
        yield "acs_version is not 0.1.0"
    if "nonce" in params and not 16 <= len(str(params["nonce"])) <= 64:
        yield "nonce is not of 16 to 64 characters"
    if not matches(UUID, params["request_id"]):
        yield "request_id is no UUID"
    ids = [entry.get("entry_id"), entry.get("step_id"), result.get("request_id")]
    if ids != [params["request_id"]] * 3 or request.get("id") != response.get("id"):
        yield "entry_id, step_id, the two request_ids, or the two ids differ"
    if entry.get("step_type") != request["method"]:
        yield "step_type is not the method"
    if not matches(TIME, params["timestamp"]) or entry.get("timestamp") != params["timestamp"]:
        yield "the timestamps are not RFC 3339, or differ"
    if member(params, "metadata.session_id", str) != line.chain:
        yield "metadata.session_id is not the chain's"
    member(params, "metadata.agent_id", str)
    _optional(params["metadata"], "spawn_guard", dict)
    yield from _result(request["method"], result)
    yield from PAYLOADS.get(request["method"], _any_payload)(params["payload"])


def _only(members, name, allowed):
    more = sorted(set(members) - set(allowed.split()))
    if more:
        yield f"{name} has members that the standard does not: {', '.join(more)}"


def _result(method, result):
    if result.get("type") != "final":
        yield "result.type is not final"
    decision = result.get("decision")
    if decision not in DECISIONS:
        yield f"decision {decision!r} is none of {DECISIONS}"
    if method in ("steps/sessionStart", "steps/subagentStart") and decision not in ("allow", "deny"):
        yield f"decision {decision!r} is not permitted at {method}"
    if method in ("steps/subagentStop", "steps/sessionEnd") and decision != "allow":
        yield f"decision {decision!r} at {method}, which is audit only"
    if decision == "deny" and not result.get("reasoning"):
        yield "reasoning is missing, and the decision is deny"
    if member(result, "metadata.evaluator", str) != "deterministic":
        yield "metadata.evaluator is not deterministic"
    if not all(isinstance(code, str) for code in result.get("reason_codes", [])):
        yield "reason_codes are not texts"


def provenance_problems(value, where):
    if not isinstance(value, dict) or not isinstance(value.get("provenance_id"), str):
        yield f"{where}.provenance_id is missing"
    elif value.get("origin") not in ORIGINS:
        yield f"{where}.origin {value.get('origin')!r} is none of {ORIGINS}"
    elif not all(isinstance(one, str) for one in value.get("derived_from", [])):
        yield f"{where}.derived_from is no list of ids"


def _intent(intent, where):
    for capability in _optional(intent, "parsed", list):
        if not isinstance(capability, dict) or not all(isinstance(text, str) for text in capability.values()):
            raise Malformed(f"{where}.parsed holds what is no capability")
    if "parsed" in intent or "parser_provenance" in intent:
        yield from provenance_problems(intent.get("parser_provenance"), f"{where}.parser_provenance")
    if intent.get("scope_mode", "strict") not in SCOPE_MODES:
        raise Malformed(f"{where}.scope_mode is none of {SCOPE_MODES}")
    _optional(intent, "raw", str)


def _session_start(payload):
    if payload.get("policy_mode", "strict") not in SCOPE_MODES:
        yield f"policy_mode is none of {SCOPE_MODES}"
    for name in ("user_identity", "platform_context", "intent"):
        _optional(payload, name, dict)
    if "intent" not in payload:
        return
    yield from _intent(payload["intent"], "intent")
    if "policy_mode" in payload and payload["policy_mode"] != member(payload, "intent.scope_mode", str):
        yield "intent.scope_mode is not policy_mode"


def _subagent_start(payload):
    for name in ("subagent_session_id", "parent_session_id"):
        if not matches(UUID, member(payload, name, str)):
            yield f"{name} is no UUID"
    member(payload, "parent_step_id", str)
    derivation = member(payload, "intent_derivation", str)
    if derivation not in DERIVATIONS:
        yield f"intent_derivation {derivation!r} is none of {DERIVATIONS}"
    descriptor = _optional(payload, "subagent_descriptor", dict)
    for name in ("agent_id", "agent_name", "model_id"):
        _optional(descriptor, name, str)
    if "subagent_intent" not in payload:
        return
    yield from _intent(_optional(payload, "subagent_intent", dict), "subagent_intent")
    provenance = member(payload, "subagent_intent.parser_provenance", dict)
    if derivation == "derived_from_parent" and payload["parent_step_id"] not in provenance.get("derived_from", []):
        yield "an intent that is derived_from_parent does not cite parent_step_id in derived_from"


def _subagent_stop(payload):
    if not matches(UUID, member(payload, "subagent_session_id", str)):
        yield "subagent_session_id is no UUID"
    if payload.get("outcome") not in OUTCOMES:
        yield f"outcome {payload.get('outcome')!r} is none of {OUTCOMES}"
    if "final_chain_hash" in payload and not matches(HASH, payload["final_chain_hash"]):
        yield "final_chain_hash is no hash"
    if not is_count(member(payload, "subagent_step_count", float)):
        yield "subagent_step_count is no count"
    member(payload, "summary", dict)


def _tool_call(payload):
    member(payload, "tool.name", str)
    for name, argument in member(payload, "arguments", dict).items():
        where = f"arguments.{name}"
        value = member(argument, "value", dict)
        if not matches(HASH, value.get("sha256")) or not is_count(member(value, "bytes", float)):
            yield f"{where}.value is no hash and size"
        yield from provenance_problems(argument.get("provenance"), f"{where}.provenance")


def _any_payload(payload):
    return []


PAYLOADS = {
    "steps/sessionStart": _session_start,
    "steps/subagentStart": _subagent_start,
    "steps/subagentStop": _subagent_stop,
    "steps/toolCallRequest": _tool_call,
}
# What the checks above reach for without asking, and of which kind it is.
SKELETON = {
    "request.method": str,
    "request.params.payload": dict,
    "request.params.metadata": dict,
    "request.params.request_id": str,
    "request.params.timestamp": str,
    "entry.entry_hash": str,
    "entry.request_hash": str,
    "entry.previous_hash": (str, type(None)),
    "response.result.chain_hash": str,
    "line_hash": str,
}


def check_skeleton(line):
    """Raises Malformed for a line that the other checks cannot read."""
    for path, kind in SKELETON.items():
        member(line.value, path, kind)
