import type { PathPattern } from "../guard/tools/path-pattern.ts";

const START = { project: "file:./", home: "file:~/", root: "file:///" };

/** A place on the disk as a URI: `file:./src/a` from the project, `file:~/a` from the home, `file:///a` from the root. */
export function fileUri(base: PathPattern["base"], names: readonly string[]): string {
  return START[base] + names.map(encoded).join("/");
}

/** Stars stay as they are: in a capability they are no part of a name. */
function encoded(name: string): string {
  const wellFormed = name.replace(/\p{Cs}/gu, "\uFFFD");
  return wellFormed.replace(/[^\w.~!$&'()*+,;=:@-]/gu, encodeURIComponent);
}

/**
 * A URI, or a pattern of URIs with stars, in the one spelling in which resources are compared: scheme and host in
 * small letters, `.` and `..` worked out, harmless escapes undone (RFC 3986, 6.2.2). Null where it cannot be told
 * what is meant: `..` above the start or after a star, a backslash, an escaped slash.
 */
export function resolveResource(text: string): string | null {
  if (/\\|%(?:2f|5c)/i.test(text)) return null;
  const parts = /^([a-z][a-z\d+.-]*:)?(\/\/[^/?#]*)?([^?#]*)/i.exec(text);
  const scheme = (parts?.[1] ?? "").toLowerCase();
  const authority = (parts?.[2] ?? "").toLowerCase();
  const path = unescaped(parts?.[3] ?? "");
  const resolved = scheme === "file:" ? filePath(authority, path) : plainPath(authority, path);
  return resolved === null ? null : scheme + resolved + text.slice(parts?.[0].length ?? 0);
}

/** Escapes of letters, digits and `-._~` say nothing that the character would not; `%2e%2e` climbs as `..` does. */
function unescaped(path: string): string {
  return path.replace(/%[\da-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : triplet.toUpperCase();
  });
}

function filePath(authority: string, path: string): string | null {
  // `file:*` and `file:~*` end before it is said where the path starts
  if (!path.includes("/") && path.includes("*")) return authority + path;
  const start = /^(?:\/|~(?:\/|$))/.exec(path)?.[0] ?? "";
  const segments = path.slice(start.length).split("/");
  const names = climbed(
    segments.filter((segment) => segment !== ""),
    start === "/",
  );
  if (names === null) return null;
  const written = names.join("/");
  if (start === "/") return `${authority === "" ? "//" : authority}/${written}`;
  return `${authority}${start === "" ? "." : "~"}/${written}`;
}

function plainPath(authority: string, path: string): string | null {
  if (path === "" && authority.includes("*")) return authority;
  const isAbsolute = path.startsWith("/") || authority !== "";
  const names = climbed(path.replace(/^\//, "").split("/"), isAbsolute);
  return names === null ? null : `${authority}${isAbsolute ? "/" : ""}${names.join("/")}`;
}

/** `..` at the root stays there; at another start, or after `//`, it leads where no resource can be told. */
function climbed(segments: readonly string[], isAbsolute: boolean): string[] | null {
  const names: string[] = [];
  let starred = false;
  for (const segment of segments) {
    starred ||= segment.includes("*");
    if (segment === ".") continue;
    if (segment !== "..") {
      names.push(segment);
      continue;
    }
    const left = names.pop();
    if (starred || left === "" || (left === undefined && !isAbsolute)) return null;
  }
  return names;
}
