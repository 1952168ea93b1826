import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** Says what it was given, then stays. */
const SAY = '#!/bin/sh\nfor word; do printf "[%s]" "$word"; done\necho\nexec sleep 1000\n';

interface Case {
  readonly what: string;
  /** Path → text. */
  readonly files: Readonly<Record<string, string>>;
  /** Component → its first line. */
  readonly says: Readonly<Record<string, string>>;
  readonly jobs?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    what: 'a Procfile with odd names, quotes and variables',
    files: {
      'say.sh': SAY,
      '.env': 'GREETING="good morning"\n',
      Procfile: [
        'release: echo migrated',
        'Web App: ./say.sh "two words" \'it costs $5\' "$GREETING" $PORT',
        'plain_1: ./say.sh "a;b" \'c|d\' e\\ f "say \\"hi\\"" \'$HOME\'',
        '1: COLOUR=red exec ./say.sh "#1"',
      ].join('\n'),
    },
    says: {
      'web-app': '[two words][it costs $5][good morning][5100]',
      plain_1: '[a;b][c|d][e f][say "hi"][$HOME]',
      '1': '[#1]',
    },
    jobs: ['release'],
  },
  {
    what: 'the scripts of a package.json',
    files: {
      'server.js':
        'console.log(JSON.stringify([process.env.MODE, ...process.argv.slice(2)])); setInterval(() => {}, 1000);',
      'say.sh': SAY,
      'package.json': JSON.stringify({
        name: 'shop',
        scripts: {
          build: 'tsc',
          start: 'MODE=\'a $b\' node server.js "c d"',
          'worker:mail': './say.sh "$npm_package_name" \'x y\'',
        },
      }),
    },
    says: { app: '["a $b","c d"]', 'worker-mail': '[shop][x y]' },
  },
  {
    what: 'a Django project',
    files: { 'manage.py': '', '.venv/bin/python': SAY },
    says: { web: '[manage.py][runserver][--noreload]' },
  },
  {
    what: 'the scripts of a pyproject.toml',
    files: { 'pyproject.toml': '[project.scripts]\nshop-worker = "shop:work"\n', '.venv/bin/shop-worker': SAY },
    says: { 'shop-worker': '' },
  },
  { what: 'nothing at all', files: {}, says: { example: 'it works' } },
];

test.each(CASES)('init makes something that runs of $what', async ({ files, says, jobs = [] }) => {
  await using project = new TestProject('');
  rmSync(project.path('keepwell.yaml'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(project.path(name)), { recursive: true });
    writeFileSync(project.path(name), text);
    if (text === SAY) chmodSync(project.path(name), 0o755);
  }
  const { components } = JSON.parse(await project.ok('init', '-o', 'json')) as { components: string[] };
  expect([...components].sort()).toEqual([...Object.keys(says), ...jobs].sort());
  await project.ok('validate');
  await project.ok('up');
  for (const [name, line] of Object.entries(says)) {
    await project.until(name, 'running', ({ state }) => state === 'running');
    await waitFor(`${name} to say ${line}`, () => project.log(name).includes(`${line}\n`));
  }
  for (const job of jobs) await project.until(job, 'completed', ({ state }) => state === 'completed');
  expect((await project.status()).components.every(({ restarts }) => restarts === 0)).toBe(true);
  await project.ok('graph', '-o', 'json');
  await project.ok('down');
});
