import { describe, expect, it } from "vitest";
import { overHardCap, sessionTokens, softCapNote } from "../../../src/guard/session-tokens.ts";
import { deepFreeze, policy, session, slot } from "./spawn-states.ts";

describe("the session's tokens", () => {
  it("are what ended spawns used, what running ones used, and what those still hold in reserve", () => {
    const running = {
      quiet: slot({ reserved: 500, spent: 0 }),
      half: slot({ reserved: 500, spent: 200 }),
      over: slot({ reserved: 500, spent: 900 }),
      attached: slot({ reserved: 0, spent: 40 }),
    };
    expect(sessionTokens(deepFreeze(session({ spent: 1000, running })))).toEqual({
      used: 2140,
      reserved: 800,
    });
  });

  const rows: [number, number, number, number, boolean][] = [
    // spent, reserved, asked, cap, fits
    [0, 0, 0, 0, false],
    [0, 0, 0, 1, true],
    [0, 0, 100, 100, true],
    [0, 0, 101, 100, false],
    [100, 0, 0, 100, false],
    [50, 50, 0, 100, false],
    [50, 49, 0, 100, true],
    [50, 40, 10, 100, true],
    [50, 40, 11, 100, false],
    [200, 0, 0, 100, false],
  ];
  it.each(rows)(
    "%i used, %i reserved, %i asked for, cap %i: fits is %s",
    (spent, reserved, asked, cap, fits) => {
      const state = session({ spent, running: { w1: slot({ reserved }) } });
      const refused = overHardCap(deepFreeze(state), asked, policy({ session_token_hard_cap: cap }));
      expect(refused === null).toBe(fits);
      if (refused !== null) expect(refused.reason).toContain(`the cap of ${cap}`);
    },
  );
});

describe("the soft cap", () => {
  const POLICY = policy({ session_token_soft_cap: 1000, session_token_hard_cap: 5000 });

  it("is told when it is reached, by what was used alone, with both caps", () => {
    const running = { w1: slot({ spent: 400, reserved: 9_000 }) };
    const below = deepFreeze(session({ spent: 599, running }));
    expect(softCapNote(below, POLICY)).toEqual({ session: below, note: null });
    const { note, session: after } = softCapNote(deepFreeze(session({ spent: 600, running })), POLICY);
    expect(note).toContain("used 1000 tokens, past the soft cap of 1000; at 5000 no more will be started");
    expect(softCapNote({ ...after, spent: 4000 }, POLICY).note).toBeNull();
  });
});
