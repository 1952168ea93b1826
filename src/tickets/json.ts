/** JSON that trackers answer. */

/** An object, or null when the text is none. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
  const value = jsonValue(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

/** Undefined: it is no JSON. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
