/** Commands that `keepwell run` keeps: one file each in the state directory, a component as it would stand in a configuration. */
import { linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { aloneNote, homePaths } from '../base/home.ts';
import { errorCode, meansGone } from '../base/pure/errno.ts';
import { writeNewFile } from '../base/regular-file.ts';

export interface KeptCommand {
  readonly name: string;
  readonly command: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: the usual one. */
  readonly restart?: string;
}

export const keptFile = (home: string, name: string): string => join(homePaths(home).kept, `${name}.json`);

/** In order of their names. Throws what the file system says, but that there are none. */
export function keptFiles(home: string): readonly string[] {
  const { kept } = homePaths(home);
  try {
    const names = readdirSync(kept).flatMap((name) => (name.endsWith('.json') ? [basename(name, '.json')] : []));
    return names.sort().map((name) => keptFile(home, name));
  } catch (error) {
    if (meansGone(error) || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** Dollars are doubled: what was typed has been through a shell already, and no variable is looked for in it. */
export function keptText({ name, command, cwd, env, restart }: KeptCommand): string {
  const process = { command, cwd, ...(Object.keys(env).length === 0 ? {} : { env }) };
  const component = { process, ...(restart === undefined ? {} : { restart: { policy: restart } }) };
  const text = (_: string, value: unknown) => (typeof value === 'string' ? value.replaceAll('$', '$$$$') : value);
  return `${JSON.stringify({ components: { [name]: component } }, text, 2)}\n`;
}

/** False: one with this name is kept already, by whoever came first. Nothing of it is left when it throws. */
export function keepCommand(home: string, name: string, text: string): boolean {
  const file = keptFile(home, name);
  const draft = `${file}.${process.pid}.tmp`;
  mkdirSync(homePaths(home).kept, { recursive: true, mode: 0o700 });
  try {
    writeNewFile(draft, text);
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

export const forgetCommand = (home: string, name: string): void => rmSync(keptFile(home, name), { force: true });

/** From now on the project may have no configuration. */
export function beginAlone(home: string): void {
  mkdirSync(homePaths(home).kept, { recursive: true, mode: 0o700 });
  writeFileSync(aloneNote(home), '');
}
