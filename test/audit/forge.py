"""Makes audit folders for tests, sealed by the rules, so that a test can break one rule at a time."""

import copy
import json
import uuid

from jcs import canonical
from sealing import entry_hash, key_id, line_hash, request_hash, session_key, signature

KEY = bytes(range(32))
ROOT = "0a0a0a0a-1111-4222-8333-444444444444"
TIME = "2026-11-30T12:00:00.000Z"
INTENT = {
    "parsed": [{"tool": "*"}],
    "parser_provenance": {"provenance_id": "p", "origin": "user_input"},
    "scope_mode": "permissive",
}


def session_of(name):
    return str(uuid.uuid5(uuid.UUID(ROOT), name))


def step(kind, payload, decision="allow", **own):
    return {"method": "steps/" + kind, "payload": payload, "decision": decision, "own": own}


def call(name, decision="allow"):
    value = {"bytes": 1, "sha256": "0" * 64}
    argument = {"value": value, "provenance": {"provenance_id": "q", "origin": "agent_generated"}}
    payload = {"tool": {"name": "Agent"}, "arguments": {"prompt": argument}}
    return step("toolCallRequest", payload, decision, tool_use_id=name)


def opening(**context):
    return step("sessionStart", {"policy_mode": "permissive", "intent": INTENT, "platform_context": context})


def start(name, asked, decision="allow", parent=ROOT, **more):
    """`asked` is the index of the step that asked for it, for seal() to put the id in."""
    payload = {
        "subagent_session_id": session_of(name),
        "parent_session_id": parent,
        "parent_step_id": asked,
        "intent_derivation": "inherit_full",
        "subagent_intent": INTENT,
        "subagent_descriptor": {"agent_id": "trace of " + name},
    }
    return step("subagentStart", dict(payload, **more), decision)


def stop(name, outcome, steps=0, **more):
    payload = {"subagent_session_id": session_of(name), "outcome": outcome, "subagent_step_count": steps, "summary": {}}
    return step("subagentStop", dict(payload, **more))


def lines_of(chain, steps, key=KEY):
    """The sealed lines of a chain, as values."""
    lines = []
    for number, each in enumerate(steps):
        request_id = str(uuid.uuid5(uuid.UUID(chain), "step %d" % number))
        payload = copy.deepcopy(each["payload"])
        if isinstance(payload.get("parent_step_id"), int):
            payload["parent_step_id"] = str(uuid.uuid5(uuid.UUID(chain), "step %d" % payload["parent_step_id"]))
        params = {
            "acs_version": "0.1.0",
            "request_id": request_id,
            "timestamp": TIME,
            "metadata": {"agent_id": "main", "session_id": chain, "spawn_guard": each["own"]},
            "payload": payload,
        }
        result = {"type": "final", "acs_version": "0.1.0", "request_id": request_id, "decision": each["decision"]}
        result.update(reasoning="because", reason_codes=[], metadata={"evaluator": "deterministic"})
        entry = {"entry_id": request_id, "step_id": request_id, "step_type": each["method"], "timestamp": TIME}
        request = {"jsonrpc": "2.0", "id": request_id, "method": each["method"], "params": params}
        response = {"jsonrpc": "2.0", "id": request_id, "result": result}
        lines.append({"request": request, "entry": entry, "response": response})
    return seal(lines, chain, key)


def seal(lines, chain, key=KEY):
    """Puts signatures and hashes in anew, as one with the key (or without one, where it is None) could."""
    line = entry = None
    for each in lines:
        params, result = each["request"]["params"], each["response"]["result"]
        _sign(each["request"], "params", chain, key)
        each["entry"].update(request_hash=request_hash(params), previous_hash=entry)
        entry = each["entry"]["entry_hash"] = entry_hash(each["entry"])
        result["chain_hash"] = entry
        _sign(each["response"], "result", chain, key)
        line = each["line_hash"] = line_hash(each, line)
    return lines


def _sign(envelope, member, chain, key):
    envelope[member].pop("signature", None)
    if key is not None:
        value = signature(envelope, member, session_key(key, chain))
        envelope[member]["signature"] = {"algorithm": "HMAC-SHA256", "value": value, "key_id": key_id(key)}


def family(key=KEY):
    """The lines by chain of a session with one spawn that ran and one that was refused."""
    child = session_of("one")
    context = {"trace_id": "trace of one", "parent_trace_id": None, "depth": 1, "tool_use_id": "one"}
    below = lines_of(child, [opening(**context), step("sessionEnd", {"reason": "completed"})], key)
    final = below[-1]["entry"]["entry_hash"]
    root = [
        opening(source="startup"),
        call("one"),
        start("one", 1),
        stop("one", "completed", 2, final_chain_hash=final),
        call("two", "deny"),
        start("two", 4, "deny"),
        stop("two", "denied_at_spawn"),
        step("sessionEnd", {"reason": "other"}),
    ]
    return {ROOT: lines_of(ROOT, root, key), child: below}


def write(folder, chains, batch=1):
    """Writes each chain as one segment and one head, whose own lines are the last `batch`."""
    for chain, lines in chains.items():
        contents = [canonical(line) + b"\n" for line in lines]
        (folder / chain / "head").mkdir(parents=True)
        (folder / chain / "000001.jsonl").write_bytes(b"".join(contents))
        write_head(folder / chain, lines, contents, batch)


def write_head(folder, lines, contents, batch):
    value = {
        "count": len(lines),
        "entry": lines[-1]["entry"]["entry_hash"],
        "line": lines[-1]["line_hash"],
        "segment": 1,
        "start": len(b"".join(contents[:-batch])),
        "end": len(b"".join(contents)),
        "lines": b"".join(contents[-batch:]).decode("utf-8"),
    }
    write_head_value(folder / "head" / ("%d.json" % len(lines)), value)


def write_head_value(file, value):
    file.write_text("00000000 " + json.dumps({"value": value}), encoding="utf-8")


def read_head_value(file):
    return json.loads(file.read_text(encoding="utf-8")[9:])["value"]
