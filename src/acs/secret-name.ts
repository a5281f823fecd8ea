/** Names that end in one of these, written as one word or more, name a secret. */
const SECRET_ENDING =
  /(?:password|passwd|passphrase|passcode|secret|credential|cookie|apikey|accesskey|secretkey|privatekey|authkey)s?$|(?:token|authorization|pwd)$|(?:access|api|auth|refresh|session)tokens$|^(?:auth|bearer|jwt|otp|pw|totp)$|^(?:db|ftp|http|mysql|pg|redis|root|smtp|user)pass$/;

/** What may stand behind such a name and leaves it one: `token_value`, `secret_key_base`, `password_hash`. */
const QUALIFIERS = new Set(
  "base confirm confirmation encrypted hash new old pem plain raw string text value".split(" "),
);

/** What makes a key a secret one: `key` alone is no secret, nor is a sort key. */
const SECRET_KEYS = new Set(
  "access account admin api auth client deploy encryption hmac master private secret service session shared signing ssh storage subscription webhook".split(
    " ",
  ),
);

/** `OPENAI_KEY` is a secret as an environment variable, these are not. */
const PLAIN_KEYS = new Set("cache foreign hot index partition primary public row sort unique".split(" "));

const TOKEN_KINDS = new Set("access api auth bearer bot device refresh secret session".split(" "));

/** Parameters that are secrets in a URL's query alone. */
const QUERY_SECRETS = /^(?:key|sig|signature|pass|x-amz-(?:credential|signature))$/i;

/** The host's own variables for folders. */
const FOLDERS = /^(?:OLD)?PWD$/;

/** Names are read from their end, and no longer ones than this. */
const LONGEST = 100;

/** Whether what goes by this name is a secret, in any case style: `apiKey`, `API_KEY`, `x-api-key`. */
export function isSecretName(name: string): boolean {
  const end = name.slice(-LONGEST);
  if (FOLDERS.test(end)) return false;
  const words = wordsOf(end);
  while (words.length > 1 && QUALIFIERS.has(words.at(-1) ?? "")) words.pop();
  const last = words.at(-1) ?? "";
  const before = words.at(-2) ?? "";
  if (SECRET_ENDING.test(last)) return true;
  if (last === "tokens") return TOKEN_KINDS.has(before);
  if (last === "pass") return before !== "";
  if (last === "id") return before === "secret";
  if (last !== "key" && last !== "keys") return false;
  return SECRET_KEYS.has(before) || (/^[A-Z][A-Z\d_]*_KEY$/.test(end) && !PLAIN_KEYS.has(before));
}

export function isSecretInQuery(name: string): boolean {
  return QUERY_SECRETS.test(name) || isSecretName(name);
}

/** In small letters, without digits at their ends; what follows from case is a word of its own. */
function wordsOf(name: string): string[] {
  const parts = name.split(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z\d]+/);
  return parts.map((part) => part.toLowerCase().replace(/\d+$/, "")).filter((word) => word !== "");
}
