import { asEnvelopeText, asMarkupText } from "./inert-text.ts";
import { isSourceLabel } from "./source-label.ts";

/** Text that somebody else wrote, and where it comes from (isSourceLabel). */
export type UntrustedText = { source: string; text: string };

/** Envelopes as this file writes them: nothing inside can end one, since no angle bracket stands there. */
const ENVELOPE =
  /<untrusted_content source="([^"<>]+)" timestamp="[0-9]{4}-[0-9T:.Z+-]+">\n[^<>\ufe64\ufe65\uff1c\uff1e]*\n<\/untrusted_content>/y;
const GAP = /\s*/y;

/**
 * The text in an envelope that marks it as data. Text that stands wholly in envelopes already stays as it is, with
 * the sources that they name.
 *
 * @param timestamp when it was taken in, ISO 8601
 */
export function wrapUntrusted({ source, text }: UntrustedText, timestamp: string): string {
  if (wrappedSources(text) !== null) return text;
  return `<untrusted_content source="${asMarkupText(source)}" timestamp="${timestamp}">\n${asEnvelopeText(text)}\n</untrusted_content>`;
}

/** Under which labels a text is listed once it is wrapped. */
export function sourcesOf({ source, text }: UntrustedText): string[] {
  return wrappedSources(text) ?? [source];
}

/** The sources of a text that consists of envelopes with labels and nothing else; null for any other. */
export function wrappedSources(text: string): string[] | null {
  const sources: string[] = [];
  for (let at = skip(text, 0); at < text.length; at = skip(text, ENVELOPE.lastIndex)) {
    ENVELOPE.lastIndex = at;
    const match = ENVELOPE.exec(text);
    if (match === null) return null;
    const source = fromMarkup(match[1] ?? "");
    if (!isSourceLabel(source)) return null;
    sources.push(source);
  }
  return sources.length === 0 ? null : sources;
}

function skip(text: string, at: number): number {
  GAP.lastIndex = at;
  GAP.exec(text);
  return GAP.lastIndex;
}

/** An attribute's value as it was before asMarkupText. */
export function fromMarkup(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
}
