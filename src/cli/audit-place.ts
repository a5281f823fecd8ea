import { statSync } from "node:fs";
import { join } from "node:path";
import { fileKey, idOfKey, namesIn, readIfPresent } from "../ledger/files.ts";
import { hasShape, isText } from "../ledger/shape.ts";
import { placesFolder } from "../policy/session-place.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where sessions leave their ledgers and audit chains, and how that is known. */
export type DataFolder = { folder: string; from: string };

/**
 * The plugin's data folder: the one given, the host's variable, the one that this session's SessionStart or else the
 * latest one wrote down (the host tells it to hooks alone), else the fallback that hooks use.
 */
export function dataFolder(given: string | undefined, config: string, environment: Environment): DataFolder {
  if (given !== undefined) return { folder: given, from: "--data" };
  const { CLAUDE_PLUGIN_DATA: own, CLAUDE_CODE_SESSION_ID: session } = environment;
  if (own !== undefined && own !== "") return { folder: own, from: "CLAUDE_PLUGIN_DATA" };
  const places = placesFolder(config);
  const names = session ? [`${fileKey(session)}.json`] : [];
  for (const name of [...names, ...newestFirst(places)]) {
    const place = placeIn(join(places, name));
    if (place !== null) return { folder: place.data_folder, from: join(places, name) };
  }
  return { folder: join(config, "spawn-guard"), from: "default" };
}

/** The session that is meant when none is named: the one whose shell this is, else the latest with a chain. */
export function defaultSession(audit: string, environment: Environment): string | null {
  const { CLAUDE_CODE_SESSION_ID: session } = environment;
  const latest = newestFirst(audit).map(idOfKey);
  return session || (latest.find((id) => id !== null) ?? null);
}

function newestFirst(folder: string): string[] {
  const time = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return namesIn(folder)
    .map((name) => ({ name, at: time(name) }))
    .sort((a, b) => b.at - a.at)
    .map(({ name }) => name);
}

/** The file with the key that a session was to sign with, as its SessionStart wrote it down; `""` where there is none. */
export function keyFileOf(session: string, config: string): string {
  return placeIn(join(placesFolder(config), `${fileKey(session)}.json`))?.policy.audit_key_file ?? "";
}

type Place = { data_folder: string; policy: { audit_key_file: string } };

function placeIn(file: string): Place | null {
  try {
    const value: unknown = JSON.parse(readIfPresent(file) ?? "null");
    return isPlace(value) ? value : null;
  } catch {
    return null;
  }
}

function isPlace(value: unknown): value is Place {
  return hasShape(value, {
    data_folder: isText,
    policy: (policy) => hasShape(policy, { audit_key_file: isText }),
  });
}
