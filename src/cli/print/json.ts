/** JSON for stdout: complete, but harmless on a terminal. */

/** JSON itself escapes C0; C1 and what turns or splits lines is escaped here as well, which changes nothing for a parser. */
const RISKY = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const harmless = (json: string): string =>
  json.replace(RISKY, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

export const jsonDocument = (value: unknown): string => `${harmless(JSON.stringify(value, null, 2))}\n`;
export const jsonLine = (value: unknown): string => `${harmless(JSON.stringify(value))}\n`;
