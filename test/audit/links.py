"""Holds the chains of a session against each other: what a parent's says of a child, and what the child's says."""

import uuid
from types import SimpleNamespace

from intents import within
from receipts import SCOPE_MODES, UUID, matches

SPAWNING = ("Agent", "Task")


def check_links(session, chains, report):
    """`chains` are those whose lines could all be read, by id; `session` is the host's name of the session."""
    steps = {chain.id: [_step(line) for line in chain.lines] for chain in chains}
    starts = [step for chain in steps.values() for step in chain if step.method == "steps/subagentStart"]
    root = _root(session, steps, starts, report)
    _unique_ids(steps, report)
    for chain, own in steps.items():
        _opening(own, report)
        by_id = {}
        for step in own:
            if step.method == "steps/subagentStart":
                _start(step, by_id, steps, root, report)
            elif step.method == "steps/subagentStop":
                _stop(step, by_id.values(), steps, report)
            by_id[step.id] = step
        _completeness(own, report)
        if chain != root and not any(start.payload["subagent_session_id"] == chain for start in starts):
            report.at(own[0].line, "no subagentStart of the session names this chain")


def _step(line):
    params, result = line.value["request"]["params"], line.value["response"]["result"]
    return SimpleNamespace(
        line=line,
        method=line.value["request"]["method"],
        id=params["request_id"],
        payload=params["payload"],
        own=params["metadata"].get("spawn_guard", {}),
        hash=line.value["entry"]["entry_hash"],
        decision=result.get("decision"),
    )


def _root(session, steps, starts, report):
    """The main thread's chain: the host's session id where that is a UUID, else the chain that nobody names."""
    if matches(UUID, session):
        root = session.lower()
    else:
        named = {start.payload["subagent_session_id"] for start in starts}
        root = next((chain for chain in steps if chain not in named), "")
    if root not in steps:
        report.problem(root or None, None, None, "the session's own chain is missing, or cannot be read")
    return root


def _unique_ids(steps, report):
    seen = set()
    for step in (step for chain in steps.values() for step in chain):
        if step.id in seen:
            report.at(step.line, f"request_id {step.id} was used before in this session")
        seen.add(step.id)


def _opening(own, report):
    if own[0].method != "steps/sessionStart":
        report.at(own[0].line, f"the chain starts with {own[0].method}")
    for step in own[1:]:
        if step.method == "steps/sessionStart":
            report.at(step.line, "a second sessionStart")


def _start(step, before, steps, root, report):
    """`before` are the earlier steps of the same chain, by id."""
    payload, chain = step.payload, step.line.chain
    child = payload["subagent_session_id"]
    if payload["parent_session_id"] != chain:
        report.at(step.line, "parent_session_id is not this chain's")
    parent = before.get(payload["parent_step_id"])
    if parent is None:
        report.at(step.line, "parent_step_id is no earlier step of this chain")
    elif step.own.get("adopted") is not True:
        _call(step, parent, root, report)
    first = steps[child][0] if child in steps else None
    if first is not None and first.method == "steps/sessionStart":
        _child(step, first, steps[chain][0], root, report)
    if step.decision == "allow":
        _derivation(step, steps[chain][0], report)


def _call(step, parent, root, report):
    """A spawn that a call asked for, and so is decided with it and named for it."""
    if parent.method != "steps/toolCallRequest":
        report.at(step.line, f"parent_step_id is a {parent.method}, and the spawn was not adopted")
        return
    if step.own.get("resumed") is not True and step.decision != parent.decision:
        report.at(step.line, f"the spawn was decided {step.decision}, its call {parent.decision}")
    _named_for(step, parent.own.get("tool_use_id"), root, report)


def _named_for(step, name, root, report):
    if not isinstance(name, str) or not matches(UUID, root):
        return
    if step.payload["subagent_session_id"] != str(uuid.uuid5(uuid.UUID(root), name)):
        report.at(step.line, f"subagent_session_id is not the version 5 UUID of {name!r} in {root}")


def _child(step, first, parent_first, root, report):
    """What a child's sessionStart says of where it comes from, held against its parent's chain."""
    context, above = first.payload.get("platform_context", {}), parent_first.payload.get("platform_context", {})
    agent = step.payload.get("subagent_descriptor", {}).get("agent_id")
    if step.decision == "allow" and context.get("trace_id") != agent:
        report.at(first.line, f"trace_id is not {agent}, as the parent's chain says")
    if context.get("parent_trace_id") != above.get("trace_id"):
        report.at(first.line, "parent_trace_id is not the trace_id of the parent's chain")
    depth = above.get("depth")
    if isinstance(depth, float) and context.get("depth") != depth + 1:
        report.at(first.line, "depth is not one more than the parent's")
    if step.own.get("adopted") is True:
        _named_for(step, context.get("tool_use_id") or f"agent:{context.get('agent_id')}", root, report)
    given, held = step.payload.get("subagent_intent"), first.payload.get("intent")
    if step.decision == "allow" and given is not None and given != held:
        report.at(first.line, "intent is not the subagent_intent that the parent's chain gives")


def _derivation(step, parent_first, report):
    """Whether an admitted spawn's intent comes from its parent's as intent_derivation says."""
    own, parent = step.payload.get("subagent_intent"), parent_first.payload.get("intent", {})
    if own is None or "parsed" not in own or "parsed" not in parent:
        report.at(step.line, "an admitted spawn, and its capabilities or its parent's are not said")
        return
    inner, outer, derivation = own["parsed"], parent["parsed"], step.payload["intent_derivation"]
    if derivation == "inherit_full" and not (within(inner, outer) and within(outer, inner)):
        report.at(step.line, "inherit_full, and the capabilities are not the parent's")
    if derivation == "inherit_subset" and not within(inner, outer):
        report.at(step.line, "inherit_subset, and the capabilities are not all within the parent's")
    elif derivation == "inherit_subset" and within(outer, inner):
        report.notice(step.line.chain, f"step {step.id} is inherit_subset, and parsed lacks nothing of the parent's")
    modes = [SCOPE_MODES.index(intent.get("scope_mode", "permissive")) for intent in (own, parent)]
    if modes[0] > modes[1]:
        report.at(step.line, "scope_mode is looser than the parent's")


def _stop(step, before, steps, report):
    payload, child = step.payload, step.payload["subagent_session_id"]
    starts = [s for s in before if s.method == "steps/subagentStart" and s.payload["subagent_session_id"] == child]
    if not starts:
        report.at(step.line, "a subagentStop with no subagentStart before it")
    elif payload["outcome"] == "denied_at_spawn" and starts[-1].decision != "deny":
        report.at(step.line, "denied_at_spawn, and the spawn was not denied")
    own = steps.get(child, [])
    if "final_chain_hash" not in payload:
        if payload["subagent_step_count"] != 0:
            report.at(step.line, "steps are counted, and there is no final_chain_hash")
        return
    last = ("steps/sessionEnd", payload["final_chain_hash"])
    ends = [place for place, s in enumerate(own, 1) if (s.method, s.hash) == last]
    if not ends:
        report.at(step.line, f"final_chain_hash is no sessionEnd's on the chain {child}")
    elif payload["subagent_step_count"] != ends[0]:
        report.at(step.line, f"subagent_step_count is not {ends[0]}, the place of that sessionEnd")


def _completeness(own, report):
    """Each call to spawn has its spawn, and each that was refused its stop."""
    asked = {s.payload["parent_step_id"] for s in own if s.method == "steps/subagentStart"}
    stopped = {s.payload["subagent_session_id"] for s in own if s.method == "steps/subagentStop"}
    for step in own:
        spawning = step.method == "steps/toolCallRequest" and step.payload["tool"]["name"] in SPAWNING
        if spawning and step.id not in asked:
            report.at(step.line, "a call to spawn with no subagentStart")
        refused = step.method == "steps/subagentStart" and step.decision == "deny" and not step.own.get("adopted")
        if refused and step.payload["subagent_session_id"] not in stopped:
            report.at(step.line, "a refused spawn with no subagentStop")
