/** Made up, and put together here so that no scanner takes them for real. */
function fake(...parts: string[]): string {
  return parts.join("");
}

const BODY = "0Fake1Fake2Fake3Fake4Fake5Fake6Fake7Fake8";

export const PROVIDER_KEYS: Record<string, string> = {
  "an OpenAI key": fake("sk", "-", BODY),
  "an OpenAI project key": fake("sk", "-proj-", BODY, "-_x"),
  "an Anthropic key": fake("sk", "-ant-api03-", BODY),
  "a GitHub token": fake("gh", "p_", BODY.slice(0, 36)),
  "a fine-grained GitHub token": fake("github", "_pat_11", BODY.slice(0, 20), "_", BODY),
  "a Slack token": fake("xo", "xb-1234567890-", BODY),
  "a Slack webhook": fake("https://hooks.slack", ".com/services/T0FAKE/B0FAKE/", BODY.slice(0, 24)),
  "an AWS key id": fake("AK", "IA", "FAKEFAKEFAKE0123"),
  "a temporary AWS key id": fake("AS", "IA", "FAKEFAKEFAKE0123"),
  "a Google key": fake("AI", "za", BODY.slice(0, 35)),
  "a Google OAuth token": fake("ya", "29.", BODY),
  "a GitLab token": fake("gl", "pat-", BODY.slice(0, 20)),
  "an npm token": fake("np", "m_", BODY.slice(0, 36)),
  "a Hugging Face token": fake("h", "f_", BODY.slice(0, 34)),
  "a PyPI token": fake("py", "pi-AgE", BODY),
  "a Stripe key": fake("sk", "_live_", BODY.slice(0, 24)),
  "a restricted Stripe key": fake("rk", "_test_", BODY.slice(0, 24)),
  "a webhook secret": fake("wh", "sec_", BODY.slice(0, 32)),
  "a SendGrid key": fake("S", "G.", BODY.slice(0, 22), ".", BODY),
  "a Vault token": fake("hv", "s.", BODY),
};

export const JWT = fake("ey", "JhbGciOiJub25lIn0", ".", "eyJzdWIiOiJmYWtlIn0", ".", BODY);
export const PASSWORD = fake("Tr0ub4dor", "+fake/", "pw");
export const BASIC = fake("ZmFrZTpUcjB1", "YjRkb3I=");

const KEY_LINES = ["MIIFAKE0fake1fake2", "fake3/fake4+fake5=="];

export function privateKey(kind: string, lineBreak = "\n"): string {
  return [`-----BEGIN ${kind} KEY-----`, ...KEY_LINES, `-----END ${kind} KEY-----`].join(lineBreak);
}

export const KEY_LINE = KEY_LINES[0] ?? "";
