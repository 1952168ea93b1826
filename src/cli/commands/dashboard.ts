/** keepwell dashboard: where the page is, and opens it. */
import { join } from 'node:path';
import { Option } from 'commander';
import type { Definition } from '../define.ts';

interface Options {
  readonly open: boolean;
  readonly readOnly?: true;
}

export const dashboard: Definition<Options> = {
  usage: 'dashboard',
  onlyHere:
    'The page is served on the loopback of that machine. "keepwell -H HOST top" shows the same in the terminal.',
  group: 'Look:',
  summary: 'open the page in the browser',
  description:
    'Prints the address of the page with its token, and opens it. Anyone with this address can use it: with --read-only only to view, otherwise also to start, stop and restart. Where the configuration has no "dashboard", the page is served on a free port of 127.0.0.1 for as long as the daemon runs.',
  options: [
    new Option('--no-open', 'only print the address'),
    new Option('--read-only', 'with a token that only allows viewing'),
  ],
  examples: [
    ['keepwell dashboard', 'open the page'],
    ['keepwell dashboard --no-open --read-only', 'an address for somebody who only looks'],
    ['keepwell dashboard -o json | jq -r .url', 'for a script'],
  ],
  handler: async (call, _words, { open, readOnly = false }) => {
    const page = await call.client.dashboard(readOnly ? 'read' : 'control');
    call.printJson(page);
    call.print(page.url);
    if (!open || call.json) return 0;
    const { openBrowser } = await import('../open-browser.ts');
    const file = join(call.project.home, 'page.html');
    const isOpened = await openBrowser(page.url, file, call.world.env).catch(() => false);
    if (!isOpened) call.note('No browser could be opened here: open this address in one.');
    return 0;
  },
};
