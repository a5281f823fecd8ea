import { redactNamed } from "./named-secrets.ts";

export type SecretKind = "secret" | "depth" | "pem" | "url" | "jwt" | "api-key" | "bearer" | "basic";

export function redacted(kind: SecretKind): string {
  return `[redacted:${kind}]`;
}

/** Keys that providers give out, by what they begin with. Each is a fixed beginning and one run of characters. */
const PROVIDER_KEYS = [
  /gh[oprsu]_[A-Za-z\d]{20,}/g,
  /github_pat_\w{20,}/g,
  /gl(?:pat|dt|ptt|rt|cbt|soat)-[\w.-]{16,}/g,
  /xox[a-z]-[\w-]{10,}/g,
  /xapp-[\w-]{10,}/g,
  /A(?:KI|SI)A[A-Z\d]{16,}/g,
  /AIza[\w-]{30,}/g,
  /ya29\.[\w-]{20,}/g,
  /GOCSPX-[\w-]{20,}/g,
  /npm_[A-Za-z\d]{30,}/g,
  /hf_[A-Za-z\d]{30,}/g,
  /pypi-[\w-]{30,}/g,
  /[rs]k_(?:live|test)_[A-Za-z\d]{16,}/g,
  /whsec_[\w+/=]{16,}/g,
  /SG\.[\w-]{16,64}\.[\w-]{16,}/g,
  /gsk_[A-Za-z\d]{20,}/g,
  /xai-[A-Za-z\d]{20,}/g,
  /hvs\.[\w-]{20,}/g,
  /dop_v1_[a-f\d]{32,}/g,
  /dckr_pat_[\w-]{20,}/g,
  /shp(?:at|ca|pa|ss)_[a-fA-F\d]{32,}/g,
  /AGE-SECRET-KEY-1[A-Z\d]{30,}/g,
  /hooks\.slack\.com\/(?:services|workflows)\/[\w/-]{10,}/g,
  /discord(?:app)?\.com\/api\/webhooks\/\d{5,25}\/[\w-]{20,}/g,
];

/** `sk-proj-…`, `sk-ant-…` and older ones; a digit or capital tells them from words with hyphens. */
const SK_KEY = /(?:(?<![A-Za-z\d])|(?<=\\[nrt]))sk-[\w-]{16,}|sk-(?:ant|or|proj|svcacct)-[\w-]{16,}/g;

const DOTTED_RUN = /[\w.-]{20,}/g;
const USER_INFO = /:\/\/(?:[^\s/?#"'`<>@:[]*:[^\s/?#"'`<>]*|[^\s/?#"'`<>@:[]{16,})@/g;
const BEARER = /(?:\b|(?<=\\[nrt]))(bearer\s{1,20})([\w~+/.=-]{8,})/gi;
const BASIC = /(?:\b|(?<=\\[nrt]))(basic\s{1,20})([A-Za-z\d+/]{8,}={0,2})/gi;

/** Replaces what looks like a secret in a text, or goes by a secret's name. Time in proportion to the text. */
export function redactText(text: string): string {
  let clean = redactPem(text).replace(USER_INFO, `://${redacted("url")}@`);
  clean = clean.replace(DOTTED_RUN, redactJwt);
  for (const key of PROVIDER_KEYS) clean = clean.replace(key, redacted("api-key"));
  clean = clean.replace(SK_KEY, (key) => (/[A-Z\d]/.test(key) ? redacted("api-key") : key));
  clean = clean.replace(BEARER, (all, scheme: string, token: string) =>
    token.length >= 24 || /\d/.test(token) ? scheme + redacted("bearer") : all,
  );
  clean = clean.replace(BASIC, (all, scheme: string, pair: string) =>
    /[A-Z\d+/=]/.test(pair.slice(1)) ? scheme + redacted("basic") : all,
  );
  return redactNamed(clean, redacted("secret"));
}

/** A token of three or more parts whose first begins as `{"` does in base64. */
function redactJwt(run: string): string {
  const parts = run.split(".");
  const at = parts.findIndex((part, index) => {
    const start = part.indexOf("eyJ");
    return start !== -1 && part.length - start >= 10 && (parts[index + 1] ?? "").length >= 8;
  });
  const first = parts[at];
  if (first === undefined) return run;
  return [...parts.slice(0, at), first.slice(0, first.indexOf("eyJ"))].join(".") + redacted("jwt");
}

const PEM_BEGIN = /-{4,5} ?BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;
const PEM_END = /-{4,5} ?END [A-Z\d ]{1,60}-{4,5}/g;

/** Private keys, in lines or in one line with `\n`; one that is cut off reaches to the end. */
function redactPem(text: string): string {
  let clean = "";
  let done = 0;
  PEM_BEGIN.lastIndex = 0;
  for (let begin = PEM_BEGIN.exec(text); begin !== null; begin = PEM_BEGIN.exec(text)) {
    PEM_END.lastIndex = PEM_BEGIN.lastIndex;
    const end = PEM_END.exec(text);
    clean += text.slice(done, begin.index) + redacted("pem");
    done = end === null ? text.length : PEM_END.lastIndex;
    PEM_BEGIN.lastIndex = done;
  }
  return clean + text.slice(done);
}
