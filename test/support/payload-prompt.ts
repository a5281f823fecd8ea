/** A prompt that begins with some words and holds a payload, as a caller writes it. */
export function promptOf(payload: object, words = "look"): string {
  return `${words}\n<spawn_payload>\n${JSON.stringify(payload)}\n</spawn_payload>`;
}
