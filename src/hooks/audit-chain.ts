import { join } from "node:path";
import { auditFolder } from "../acs/audit-folder.ts";
import { Chain } from "../acs/chain.ts";
import type { Head } from "../acs/chain-head.ts";
import type { Step } from "../acs/envelope.ts";
import type { Actor, Occasion } from "../acs/receipts.ts";
import { keyFrom, Signer } from "../acs/signer.ts";
import { bytesIfPresent } from "../ledger/files.ts";
import { isJson, type Json } from "../ledger/shape.ts";
import { AUDIT_KEY_VARIABLE } from "../policy/load-policy.ts";
import { keyFileProblem } from "../policy/policy-text.ts";
import type { HookContext } from "./hook-context.ts";

/** A decision that could not be recorded, and why. */
export class NotRecorded extends Error {}

/**
 * Appends steps to one chain of this session; the first receipt of a chain is `root`. What could not be recorded is
 * counted in the ledger and stands in the next receipt (`audit_gap`); throws NotRecorded.
 */
export function record(context: HookContext, actor: Actor, steps: readonly Step[], root: () => Step): Head {
  const folder = join(auditFolder(context.dataFolder, context.event.sessionId), actor.session);
  try {
    const signer = signerOf(context);
    const chain = new Chain(folder, { signer, deadline: context.deadline });
    const { head, added } = chain.append(steps, root);
    for (const note of chain.notes) context.notes.push(`spawn-guard's audit chain: ${note}`);
    clearGap(context, added);
    return head;
  } catch (error) {
    throw notRecorded(context, error);
  }
}

/** An error as what it means: something is missing in the chain, which is counted once. */
export function notRecorded(context: HookContext, error: unknown): NotRecorded {
  if (error instanceof NotRecorded) return error;
  const why = error instanceof Error ? error.message : String(error);
  noteGap(context, why);
  return new NotRecorded(why);
}

/** What the person is told of a gap. */
export function gapNote({ message }: NotRecorded): string {
  return `spawn-guard could not write its audit chain (${message}); the gap is noted and stands in the next receipt`;
}

/** Now, on a chain; with what is missing before it. */
export function occasionOf(context: HookContext, actor: Actor): Occasion {
  const gap = context.ledger.session()?.auditGap ?? null;
  return { actor, now: context.now, ...(gap === null ? {} : { facts: { audit_gap: gap } }) };
}

/** Signs where a key is configured. One that cannot be used is said, and receipts go unsigned unless audit is require. */
function signerOf(context: HookContext): Signer | null {
  const { audit_key_file: file, audit } = context.policy;
  try {
    if (file === "") return signerOfVariable(context);
    const problem = keyFileProblem(file);
    if (problem !== null) throw new RangeError(`audit_key_file is ${file}; ${problem}`);
    const bytes = bytesIfPresent(file);
    if (bytes === null) throw new RangeError(`audit_key_file ${file} is no file that can be read`);
    return new Signer(keyFrom(bytes));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (audit === "require") throw error;
    context.notes.push(`spawn-guard cannot sign its receipts: ${why}`);
    return null;
  }
}

function signerOfVariable({ environment, auditKey }: HookContext): Signer | null {
  if ((environment[AUDIT_KEY_VARIABLE] ?? "") === "") return null;
  if (auditKey === null) {
    throw new RangeError(
      `${AUDIT_KEY_VARIABLE} is not believed, since the project's settings may have set it`,
    );
  }
  return new Signer(keyFrom(Buffer.from(auditKey)));
}

function noteGap({ ledger, now }: HookContext, why: string): void {
  try {
    ledger.updateSession((state) => ({
      ...state,
      auditGap:
        state.auditGap === null
          ? { missed: 1, since: now, why: why.slice(0, 300) }
          : { ...state.auditGap, missed: state.auditGap.missed + 1 },
    }));
  } catch {
    // The ledger cannot be written either: the decision itself says so.
  }
}

/** What stands in a receipt now is no gap any more; what others have missed since then still is. */
function clearGap({ ledger }: HookContext, added: readonly Step[]): void {
  const told = added.map(gapIn).find((gap) => gap !== null) ?? null;
  if (told === null) return;
  ledger.updateSession((state) => {
    const { auditGap: gap } = state;
    if (gap === null || gap.since !== told.since || gap.missed < Number(told.missed)) return null;
    const missed = gap.missed - Number(told.missed);
    return { ...state, auditGap: missed === 0 ? null : { ...gap, missed } };
  });
}

function gapIn({ request }: Step): Json | null {
  const facts = request.params.metadata.spawn_guard;
  return isJson(facts) && isJson(facts.audit_gap) ? facts.audit_gap : null;
}
