/** How values are written in a systemd unit so that they arrive as they are (systemd.syntax(7), "Quoting" in systemd.service(5)). */
import { usage } from '../call.ts';

/** Specifiers such as %h are filled in everywhere; a doubled sign is one sign. */
const plainPercent = (text: string): string => text.replaceAll('%', '%%');

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const inQuotes = (text: string): string => {
  const escaped = text.replace(/[\\"\u0000-\u001f\u007f]/g, (char) => {
    return ESCAPES[char] ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
};

/** One argument of a command: also variables are filled in there, and $$ is one dollar. */
export const argument = (text: string): string => maybeQuoted(plainPercent(text.replaceAll('$', '$$$$')));

/**
 * The program of a command: no variables are filled in here, so a dollar is a dollar. One whose path has quotes, backslashes or
 * control characters is refused by systemd however they are written; as an argument of `env` it is not.
 */
export const program = (path: string): string =>
  /["'\\\p{Cc}]/u.test(path) ? `/usr/bin/env ${argument(path)}` : maybeQuoted(plainPercent(path));

/** An assignment of `Environment=`: dollars mean nothing there. */
export const assignment = (name: string, value: string): string => maybeQuoted(plainPercent(`${name}=${value}`));

/** Quotes only where they are needed: most paths are plain, and people read units. */
const maybeQuoted = (text: string): string => (/^[A-Za-z0-9_./:=@%$,+-]+$/.test(text) ? text : inQuotes(text));

/** A path that takes the rest of its line as it is, as `WorkingDirectory=` does: quotes would be part of it. */
export function bare(path: string): string {
  if (/[\u0000-\u001f\u007f]|\\$|^\s|\s$/.test(path)) {
    throw usage(`A systemd unit cannot name the folder ${JSON.stringify(path)}. Move the project to a plainer path.`);
  }
  return plainPercent(path);
}

/** A text for people, on one line. */
export const label = (text: string): string => plainPercent(text.replace(/\s+/g, ' ').replace(/\\$/, ''));
