import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StatusView } from '../../src/supervision/rules/views.ts';
import { VERSION } from '../../src/version.ts';

interface Installed {
  readonly dev?: boolean;
  readonly optional?: boolean;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
  dependencies?: Record<string, string>;
};

test('the version in the source is the version of the package', () => {
  expect(VERSION).toBe(manifest.version);
});

test('nothing is installed along with it, except SQLite for a Node that has none', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Installed> };
  const runtime = Object.entries(lock.packages).filter(([path, { dev, optional }]) => path !== '' && !dev && !optional);
  expect(manifest.dependencies).toBeUndefined();
  expect(runtime).toEqual([]);
});

test('packed and installed in an empty folder, the program runs and the library can be imported', () => {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-pack-'));
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--pack-destination', dir], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ filename: string; files: { path: string }[] }];
    const files = packed.files.map(({ path }) => path);
    expect(files).toContain('dist/bin/keepwell.cjs');
    expect(files).toContain('dist/lib/index.d.ts');
    expect(files).toContain('dist/THIRD-PARTY.txt');
    for (const arch of ['x64', 'arm64']) expect(files).toContain(`dist/native/keepwell-launcher-linux-${arch}`);
    expect(files.filter((path) => /^(src|test|scripts)\//.test(path))).toEqual([]);
    writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
    run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', `./${packed.filename}`);
    expect(run('node_modules/.bin/keepwell', '-o', 'json', 'version')).toContain(VERSION);
    expect(
      run(process.execPath, '-e', "import('keepwell').then((library) => console.log(library.VERSION))").trim(),
    ).toBe(VERSION);
    writeFileSync(join(dir, 'keepwell.yaml'), 'components:\n  a: { process: { command: [sleep, "1000"] } }\n');
    expect(run('node_modules/.bin/keepwell', 'up')).toContain('1 component is up');
    const { components } = JSON.parse(run('node_modules/.bin/keepwell', '-o', 'json', 'status')) as StatusView;
    expect(components[0]?.shim).toEqual({ kind: 'native', why: null });
    run('node_modules/.bin/keepwell', 'down');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
