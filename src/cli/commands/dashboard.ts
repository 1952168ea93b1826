/** keepwell dashboard: where the page is, and opens it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option } from 'commander';
import { silentLog } from '../../base/log.ts';
import type { PageView } from '../../dashboard/rules/views.ts';
import type { CliCall } from '../call.ts';
import type { Definition } from '../define.ts';
import { orInterrupted } from '../interrupt.ts';

interface Options {
  readonly open: boolean;
  readonly readOnly?: true;
}

export const dashboard: Definition<Options> = {
  usage: 'dashboard',
  group: 'See what happened:',
  summary: 'open the page in the browser',
  description:
    'Prints the address of the page with its token, and opens it. Anyone with this address can use it: with --read-only only to view, otherwise also to start, stop and restart. Where the configuration has no "dashboard", the page is served on a free port of 127.0.0.1 for as long as the daemon runs. With -H, the page of the other machine is served here, over ssh and with tokens of its own, until Ctrl-C.',
  options: [
    new Option('--no-open', 'only print the address'),
    new Option('--read-only', 'with a token that only allows viewing'),
  ],
  examples: [
    ['keepwell dashboard', 'open the page'],
    ['keepwell dashboard --no-open --read-only', 'an address for somebody who only looks'],
    ['keepwell dashboard -o json | jq -r .url', 'for a script'],
    ['keepwell -H ssh://deploy@web.example.com/srv/shop dashboard', 'the page of another machine, until Ctrl-C'],
  ],
  handler: async (call, _words, { open, readOnly = false }) => {
    const role = readOnly ? 'read' : 'control';
    if (call.host !== null) return await showRemote(call, role, open);
    const page = await call.client.dashboard(role);
    await show(call, page, open ? join(call.project.home, 'page.html') : null);
    return 0;
  },
};

/** `file`: by which a browser is led to the page; null: none is opened. */
async function show(call: CliCall, page: PageView, file: string | null): Promise<void> {
  call.printJson(page);
  call.print(page.url);
  if (file === null || call.json) return;
  const { openBrowser } = await import('../open-browser.ts');
  const isOpened = await openBrowser(page.url, file, call.world.env).catch(() => false);
  if (!isOpened) call.note('No browser could be opened here: open this address in one.');
}

/** Served from here, until somebody ends it. */
async function showRemote(call: CliCall, role: PageView['role'], open: boolean): Promise<never> {
  await call.client.version(); // whatever is in the way is told now
  const { serveRemotePage } = await import('../../fleet/remote-page.ts');
  await using served = await serveRemotePage(call.address, silentLog);
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-page-'));
  try {
    await show(call, served.find(role), open ? join(dir, 'page.html') : null);
    call.note(`The page of ${call.host} is served here until Ctrl-C.`);
    return await orInterrupted(new Promise<never>(() => {}), call.signal);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
