import { unquoted } from "./comma-list.ts";

/**
 * What stands in `WebFetch(domain:…)`: one host (`example.com`), the hosts below one (`*.example.com`, without
 * itself), or `*`. So reads the host: `domain:example.com` does not let `www.example.com` through.
 */
export function domainPattern(written: string): string | null {
  const domain = /^domain:\s*(\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?$/i.exec(
    unquoted(written.trim()),
  )?.[1];
  return domain?.toLowerCase() ?? null;
}

export function domainAllows(domain: string, host: string): boolean {
  if (domain === "*") return true;
  return domain.startsWith("*.")
    ? host.endsWith(domain.slice(1)) && host !== domain.slice(1)
    : host === domain;
}

/** For rules that take away: hosts below the named one as well. */
export function domainBans(domain: string, host: string): boolean {
  return domainAllows(domain, host) || host.endsWith(`.${domain}`);
}

export function domainCovers(outer: string, inner: string): boolean {
  return outer === inner || (inner !== "*" && domainAllows(outer, inner.replace(/^\*/, "x")));
}

/** The host of a plain http(s) address, in small letters; null for an address with anything unusual before its path. */
export function hostOf(address: string): string | null {
  const host = /^https?:\/\/([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::\d{1,5})?(?:[/?#]|$)/i.exec(address)?.[1];
  return host?.toLowerCase() ?? null;
}
