/**
 * Shows a page in the browser of whoever sits here. Its address holds a token, and the command line of a browser can be read by every
 * user of the machine: so the browser is given a file that only this user can read, and that leads to the page.
 */
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { writeAtomically } from '../base/home-dir.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The command that opens a URL; null: there is no screen to show it on, and none was named. */
export function browserCommand(env: Env, url: string): readonly string[] | null {
  const [first = ''] = (env['BROWSER'] ?? '').split(':');
  const words = first.split(/\s+/).filter(Boolean);
  if (words.length > 0) {
    const filled = words.map((word) => word.replaceAll('%s', url));
    return first.includes('%s') ? filled : [...filled, url];
  }
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open', url] : null;
}

/** A page that leads to another one, without a script. */
const leadingTo = (url: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Keepwell</title>
<meta http-equiv="refresh" content="0; url=${url}"><p><a href="${url}">Open the page</a>
`;

/** Whether a browser was started. `url`: of ours, so nothing in it needs escaping. */
export async function openBrowser(url: string, file: string, env: Env): Promise<boolean> {
  const command = browserCommand(env, pathToFileURL(file).href);
  if (command === null) return false;
  writeAtomically(file, leadingTo(url));
  const child = spawn(command[0]!, command.slice(1), { detached: true, stdio: 'ignore' });
  return await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
