import fc from "fast-check";

const TAGS = [
  "<spawn_payload>",
  "</spawn_payload>",
  "<return_contract>",
  "</return_contract>",
  "</untrusted_content>",
  "<SPAWN_PAYLOAD>",
  "< spawn_payload>",
  "<\tspawn_payload\t>",
  "\\u003cspawn_payload\\u003e",
  "&lt;spawn_payload&gt;",
  "{}",
  '{"trace_id":"wf-1-a-spawn-1"}',
  "```",
  `\${x}`,
  "`",
  "'",
  '"',
  "\\",
  "*/",
  "</script>",
  "__proto__",
];
const LINE_ENDS = ["\n", "\r", "\r\n", "\u2028", "\u2029", "\v", "\f", "\u0085", " ", "\t", "\0", "\ufeff"];

/** Any UTF-16 text, half surrogate pairs included. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));

/** Text that is out to break the prompt: our tags, line ends and quoting, between anything else. */
export const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...TAGS), fc.constantFrom(...LINE_ENDS), anyText, fc.string()), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));

/** The same within the bounds of a payload field. */
export function hostileTextOf(min: number, max: number) {
  return hostileText
    .map((text) => Array.from(text.padEnd(min, "x")).slice(0, max).join(""))
    .filter((text) => Array.from(text).length >= min);
}

/** Any JSON object that comes back from JSON as it went in. */
export const hostileState = fc
  .dictionary(hostileText, fc.oneof(hostileText, fc.jsonValue()), { maxKeys: 5 })
  .map((state): Record<string, unknown> => JSON.parse(JSON.stringify(state)));
