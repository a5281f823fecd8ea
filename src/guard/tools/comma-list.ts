/** Splits at commas outside quotes and brackets of every kind; trims the parts and drops empty ones. */
export function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let current = "";
  let depth = 0;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "\\") {
      current += text.slice(at, at + 2);
      at += 1;
      continue;
    }
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if (char === '"' || (char === "'" && !/\w/.test(text.charAt(at - 1)))) quote = char;
    else if ("([{".includes(char)) depth += 1;
    else if (")]}".includes(char)) depth -= 1;
    else if (char === "," && depth === 0) {
      parts.push(current);
      current = "";
      continue;
    }
    current += char;
  }
  parts.push(current);
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** Takes one pair of quotes off that stands around the whole text. */
export function unquoted(text: string): string {
  return text.replace(/^(["'])(.*)\1$/s, "$2");
}
