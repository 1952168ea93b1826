import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StatusView } from '../../src/supervision/rules/views.ts';
import { freePort } from '../support/free-port.ts';
import { ENTRY } from '../support/project.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const PAGE = readFileSync('docs/guide/getting-started.md', 'utf8');

/** The commands of a section of the page, block by block. */
function blocksOf(heading: string): readonly string[] {
  const [, section] = PAGE.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`the page has no section "${heading}"`);
  const own = section.split('\n## ')[0]!;
  return [...own.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
}

test('following the page word for word works', async () => {
  using dir = tempDir();
  const port = String(await freePort());
  const bin = dir.at('bin');
  const shop = dir.at('shop');
  mkdirSync(bin);
  const program = (name: string, line: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('keepwell', `exec '${process.execPath}' '${ENTRY}' "$@"`);
  program('curl', `exec '${process.execPath}' -e 'fetch(process.argv[1]).catch(() => {})' "$@"`);
  const { KEEPWELL_HOME: _, ...inherited } = process.env;
  const env = { ...inherited, PATH: `${bin}:${process.env['PATH']}` };
  const type = (block: string, cwd: string): string => {
    const script = `exec 2>&1\n${block.replaceAll('4080', port)}`;
    return spawnSync('sh', ['-c', script], { cwd, env, encoding: 'utf8' }).stdout;
  };
  const status = (): StatusView =>
    JSON.parse(execFileSync('keepwell', ['-o', 'json', 'status'], { cwd: shop, env, encoding: 'utf8' })) as StatusView;
  const until = (what: string, fact: (status: StatusView) => boolean) => waitFor(what, () => fact(status()));

  try {
    const [server, hurried, corrected] = blocksOf('A first stack');
    type(server!, dir.path);
    const mistakes = type(hurried!, shop);
    for (const line of ['The configuration has 3 problems', 'Write: command: [node, web.cjs]', 'Write 2s, not 2'])
      expect(mistakes).toContain(line);
    expect(mistakes).toContain('Did you mean "web"?');
    expect(type(corrected!, shop)).toContain('valid: 2 components');

    const [up, look] = blocksOf('Up');
    expect(type(up!, shop)).toMatch(/web: running, ready[\s\S]*2 components are up/);
    expect(type(look!, shop)).toMatch(/web +running[\s\S]*worker +running/);

    const [boom, why, history] = blocksOf('Break it');
    type(boom!, shop);
    await until('web to be back', ({ components: [web] }) => web?.restarts === 1 && web.ready);
    expect(type(why!, shop)).toMatch(/web died: exit code 1 [\s\S]*Error: no price for item 7/);
    expect(type(history!, shop)).toMatch(/exit code 1; ran for/);

    const before = status();
    const [kill, after] = blocksOf('Kill Keepwell');
    type(kill!, shop);
    await until('a new daemon', ({ daemon }) => daemon.answers && daemon.pid !== before.daemon.pid);
    expect(type(after!, shop).match(/taken over from an earlier daemon/g)).toHaveLength(2);
    expect(status().components.map(({ pid }) => pid)).toEqual(before.components.map(({ pid }) => pid));

    expect(type(blocksOf('Logs')[0]!, shop)).toContain('worker: 12 jobs in the queue');
    type(blocksOf('Change something')[0]!, shop);
    await waitFor('the new line', () => type('keepwell logs worker', shop).includes('13 jobs'));

    const [stop, down] = blocksOf('Stop');
    expect(type(stop!, shop)).toMatch(/worker +stopped[\s\S]*started: worker/);
    expect(type(down!, shop)).toContain('everything is stopped: web, worker');
    expect(type(blocksOf('In scripts')[0]!, shop)).toMatch(/everything is stopped/);

    mkdirSync(dir.at('own'));
    expect(type(blocksOf('Your own programs')[0]!, dir.at('own'))).toContain('1 component is up');
  } finally {
    type('keepwell down', shop);
    type('keepwell down', dir.at('own'));
  }
});
