/**
 * The native launcher. `npm run native` builds it for both processors into native/prebuilt, which is committed, so that a machine
 * without a compiler has it too; `-- --check` tells whether what is there belongs to the source. The build (scripts/build.mjs) puts
 * both into dist/native, the one of this processor built here where there is a C compiler. docs/decisions/0034 says why.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sourceDir = join(root, 'native');
const prebuiltDir = join(sourceDir, 'prebuilt');

/** As process.arch names them → the compiler that builds for it on any machine. */
const CROSS_COMPILERS = { x64: 'x86_64-linux-gnu-gcc', arm64: 'aarch64-linux-gnu-gcc' };
const nameFor = (arch) => `keepwell-launcher-linux-${arch}`;
const NAMES = Object.keys(CROSS_COMPILERS).map(nameFor);
const SUMS = 'SHA256SUMS';
/** The compiler, and the hash of everything the bytes depend on. */
const ORIGIN = 'ORIGIN';

const FLAGS = [
  '-std=c11',
  '-Os',
  '-Wall',
  '-Wextra',
  '-Werror',
  // No libc, no start files, nothing to relocate: the kernel is all it needs.
  '-ffreestanding',
  '-nostdlib',
  '-static',
  '-fno-pie',
  '-no-pie',
  '-fno-stack-protector',
  '-fno-tree-loop-distribute-patterns',
  // Nothing in it that is not needed to run, and nothing that differs from one build to the next.
  '-fno-asynchronous-unwind-tables',
  '-fno-ident',
  '-ffunction-sections',
  '-Wl,--gc-sections',
  '-Wl,--build-id=none',
  '-Wl,-z,noseparate-code',
  '-Wl,-z,noexecstack',
  '-Wl,-s',
];

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const cFiles = () => readdirSync(sourceDir).filter((name) => name.endsWith('.c'));

/** Everything that the launcher is made of. */
export const nativeSources = () =>
  readdirSync(sourceDir)
    .filter((name) => /\.[ch]$/.test(name))
    .sort()
    .map((name) => join(sourceDir, name));

function sourceHash() {
  const hash = createHash('sha256').update(FLAGS.join(' '));
  for (const file of nativeSources()) hash.update('\0').update(readFileSync(file));
  return hash.digest('hex');
}

/** Null: there is no such compiler. */
function versionOf(compiler) {
  const { status, stdout } = spawnSync(compiler, ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n')[0].replace(/^\S+ /, '') : null;
}

/** Empty: it is built. Otherwise what the compiler said. */
function compile(compiler, file) {
  const { status, error, stderr } = spawnSync(compiler, [...FLAGS, ...cFiles(), '-o', file], {
    cwd: sourceDir,
    encoding: 'utf8',
  });
  return status === 0 ? '' : (error?.message ?? stderr);
}

const writeSums = (dir) =>
  writeFileSync(join(dir, SUMS), NAMES.map((name) => `${sha256(readFileSync(join(dir, name)))}  ${name}\n`).join(''));

/** Into dist/native: what is committed, and for this processor what this machine's own compiler makes of the source. */
export function buildNative(out) {
  mkdirSync(out, { recursive: true });
  for (const name of NAMES) {
    copyFileSync(join(prebuiltDir, name), join(out, name));
    chmodSync(join(out, name), 0o755);
  }
  const name = nameFor(process.arch);
  const built = join(out, `${name}.new`);
  if (NAMES.includes(name) && compile(process.env.CC || 'cc', built) === '' && worksHere(built))
    copyFileSync(built, join(out, name));
  rmSync(built, { force: true });
  writeSums(out);
}

/** Whatever the compiler made of it, it runs on this machine and is what it should be. */
function worksHere(file) {
  chmodSync(file, 0o755);
  const { status, stdout } = spawnSync(file, ['version'], { encoding: 'utf8' });
  return status === 0 && stdout.startsWith('keepwell-launcher ');
}

function prebuild(dir) {
  const versions = Object.entries(CROSS_COMPILERS).map(([arch, compiler]) => {
    const version = versionOf(compiler);
    if (version === null)
      throw new Error(`${compiler} is not installed: apt install gcc gcc-aarch64-linux-gnu (or gcc-x86-64-linux-gnu)`);
    const said = compile(compiler, join(dir, nameFor(arch)));
    if (said !== '') throw new Error(said);
    return version;
  });
  writeSums(dir);
  writeFileSync(join(dir, ORIGIN), `source ${sourceHash()}\ncompiler ${[...new Set(versions)].join(', ')}\n`);
}

/** What is wrong with native/prebuilt; null: nothing. Where its very compilers are installed, the bytes are compared as well. */
function problem() {
  const read = (dir, name) => readFileSync(join(dir, name));
  if (!read(prebuiltDir, ORIGIN).includes(`source ${sourceHash()}\n`)) return 'they were built from another source';
  const made = mkdtempSync(join(tmpdir(), 'keepwell-native-'));
  try {
    for (const name of [...NAMES]) copyFileSync(join(prebuiltDir, name), join(made, name));
    writeSums(made);
    if (!read(made, SUMS).equals(read(prebuiltDir, SUMS))) return `they are not those of ${SUMS}`;
    if (Object.values(CROSS_COMPILERS).some((compiler) => versionOf(compiler) === null)) return null;
    prebuild(made);
    if (!read(made, ORIGIN).equals(read(prebuiltDir, ORIGIN))) return null; // other compilers make other bytes
    return read(made, SUMS).equals(read(prebuiltDir, SUMS))
      ? null
      : 'the same compilers make something else of the source';
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) {
    const wrong = problem();
    if (wrong !== null) {
      console.error(`native: the files in native/prebuilt are out of step: ${wrong}. Run: npm run native`);
      process.exitCode = 1;
    }
  } else {
    mkdirSync(prebuiltDir, { recursive: true });
    prebuild(prebuiltDir);
    console.log(readFileSync(join(prebuiltDir, SUMS), 'utf8').trim());
  }
}
