import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { StatusView } from '../../src/supervision/rules/views.ts';
import { VERSION } from '../../src/version.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<Record<string, unknown>>;
/** What an installation takes on the disk. */
const MAX_BYTES = 12 * 1024 * 1024;

/** The types of an ES module and of CommonJS, as a user's own compiler reads them. */
const TYPES = JSON.stringify({
  compilerOptions: {
    ...{ module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
    ...{ typeRoots: [resolve('node_modules/@types')], types: ['node'] },
  },
  files: ['a.mts', 'b.cts'],
});

test('the version in the source is the version of the package', () => {
  expect(VERSION).toBe(manifest['version']);
});

test('nothing is installed along with it', () => {
  const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies', 'bundleDependencies'];
  expect(kinds.filter((kind) => manifest[kind] !== undefined)).toEqual([]);
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
    ) as [{ filename: string; unpackedSize: number; files: { path: string }[] }];
    expect(packed.unpackedSize).toBeLessThan(MAX_BYTES);
    const files = packed.files.map(({ path }) => path);
    expect(files).toContain('dist/bin/keepwell.cjs');
    expect(files).toContain('dist/lib/index.d.ts');
    expect(files).toContain('dist/THIRD-PARTY.txt');
    expect(readFileSync('dist/THIRD-PARTY.txt', 'utf8')).toContain('@photostructure/sqlite');
    expect(files).toContain('docs/reference/keepwell.1');
    for (const arch of ['x64', 'arm64']) expect(files).toContain(`dist/native/keepwell-launcher-linux-${arch}`);
    expect(files.filter((path) => /^(src|test|scripts)\//.test(path))).toEqual([]);
    writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
    run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', `./${packed.filename}`);
    expect(run('node_modules/.bin/keepwell', '-o', 'json', 'version')).toContain(VERSION);
    for (const load of ["import('keepwell')", "Promise.resolve(require('keepwell'))"])
      expect(run(process.execPath, '-e', `${load}.then((library) => console.log(library.VERSION))`).trim()).toBe(
        VERSION,
      );
    for (const [file, line] of [
      ['a.mts', "import { Keepwell, VERSION } from 'keepwell';"],
      ['b.cts', "import { Keepwell, VERSION } from 'keepwell';"],
    ] as const)
      writeFileSync(join(dir, file), `${line}\nexport const both: [typeof Keepwell, string] = [Keepwell, VERSION];\n`);
    writeFileSync(join(dir, 'tsconfig.json'), TYPES);
    run(process.execPath, resolve('node_modules/typescript/bin/tsc'), '-p', '.');
    writeFileSync(join(dir, 'keepwell.yaml'), 'components:\n  a: { process: { command: [sleep, "1000"] } }\n');
    expect(run('node_modules/.bin/keepwell', 'up')).toContain('1 component is up');
    const { components } = JSON.parse(run('node_modules/.bin/keepwell', '-o', 'json', 'status')) as StatusView;
    expect(components[0]?.shim).toEqual({ kind: 'native', why: null });
    run('node_modules/.bin/keepwell', 'down');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
