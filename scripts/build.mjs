/**
 * Builds the package: the program and the library from one set of bundles (docs/decisions say why), the types, by tsc, the page, and the native
 * launcher, by the C compiler of this machine or as it was built before. Run by `npm ci` through "prepare". Does nothing when the build is fresh; never leaves half a build behind.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildNative, nativeSources } from './native.mjs';
import { notices } from './notices.mjs';
import { copySqlite, SQLITE } from './sqlite.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stampFile = join(dist, '.stamp');
const require = createRequire(import.meta.url);

/** What is started or loaded by its file name; what is loaded lazily, and what several of them need, becomes a file by itself. */
const ENTRIES = {
  keepwell: 'src/cli/start.ts',
  main: 'src/cli/main.ts',
  library: 'src/index.ts',
  'config-worker': 'src/config/config-worker.ts',
  'pattern-worker': 'src/probes/log/pattern-worker.ts',
  telemetry: 'src/telemetry/open.ts',
};

/** What the API says about itself, written by scripts/reference.mjs. */
const OPENAPI = 'docs/reference/openapi.json';

function sources() {
  const files = [];
  const walk = (dir) => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) walk(path);
      else files.push(path);
    }
  };
  walk(join(root, 'src'));
  walk(join(root, 'dashboard'));
  walk(join(root, 'native/prebuilt'));
  const others = ['build.mjs', 'bundle.mjs', 'native.mjs', 'notices.mjs', 'page.mjs', 'sqlite.mjs'].map(
    (name) => `scripts/${name}`,
  );
  return [...files, ...nativeSources(), ...others, 'package.json', 'tsconfig.json', 'tsconfig.lib.json', OPENAPI]
    .map((file) => resolve(root, file))
    .sort();
}

function stamp() {
  const hash = createHash('sha256');
  for (const file of sources()) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

async function toolsOrExplain() {
  try {
    return {
      ...(await import('./bundle.mjs')),
      ...(await import('./page.mjs')),
      tsc: join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc'),
    };
  } catch {
    console.error('keepwell: cannot build, the development dependencies are not installed.');
    console.error(
      '  Run "npm ci" without --omit=dev (and without NODE_ENV=production), or install the published package.',
    );
    process.exit(1);
  }
}

async function program({ bundle, buildPage }, out) {
  const bundled = await bundle({ entries: ENTRIES, outdir: join(out, 'bin'), minify: true, instead: SQLITE });
  const inputs = [...bundled, ...(await buildPage(out)), ...copySqlite(root, join(out, 'sqlite'))];
  const packaged = inputs.filter((path) => isAbsolute(path)).map((path) => relative(root, path));
  writeFileSync(join(out, 'THIRD-PARTY.txt'), notices(root, packaged));
  const openapi = JSON.parse(readFileSync(join(root, OPENAPI), 'utf8'));
  writeFileSync(join(out, 'bin', 'openapi.json'), JSON.stringify(openapi));
  chmodSync(join(out, 'bin', 'keepwell.cjs'), 0o755);
}

/**
 * The library is the same code as the program, for `import` and for `require`: its declarations are those of CommonJS, and an ES module beside
 * them hands out the same names.
 */
function library(tsc, out) {
  const dir = join(out, 'lib');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.lib.json', '--outDir', dir], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
  const names = Object.keys(require(join(out, 'bin', 'library.cjs'))).filter((name) => name !== '__esModule');
  const files = {
    'package.json': '{ "type": "commonjs" }\n',
    'index.js': "module.exports = require('../bin/library.cjs');\n",
    'index.mjs': `import library from '../bin/library.cjs';\n\nexport const { ${names.join(', ')} } = library;\n`,
    'index.d.mts': "export * from './index.js';\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  keepOnlyWhatIsNamed(dir);
}

const IMPORTED = /(?:from\s+|import\()['"](\.[^'"]+)['"]/g;

/** Declarations that nobody can reach from the library's own say nothing to anybody. */
function keepOnlyWhatIsNamed(dir) {
  const needed = new Set();
  const follow = (file) => {
    if (needed.has(file)) return;
    needed.add(file);
    for (const [, path] of readFileSync(file, 'utf8').matchAll(IMPORTED))
      follow(resolve(dirname(file), path.replace(/\.[tj]s$/, '.d.ts')));
  };
  follow(join(dir, 'index.d.ts'));
  for (const path of readdirSync(dir, { recursive: true })) {
    const file = join(dir, path);
    if (path.endsWith('.d.ts') && !needed.has(file)) rmSync(file);
  }
  removeEmpty(dir);
}

function removeEmpty(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmpty(join(dir, entry.name));
  if (readdirSync(dir).length === 0) rmSync(dir, { recursive: true });
}

async function main() {
  if (!existsSync(join(root, 'src'))) return; // an installed package: built before it was published
  const wanted = stamp();
  const fresh = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted;
  if (fresh && !process.argv.includes('--force')) return;
  const tools = await toolsOrExplain();
  const out = `${dist}.new-${process.pid}`;
  mkdirSync(out, { recursive: true });
  try {
    await program(tools, out);
    library(tools.tsc, out);
    buildNative(join(out, 'native'));
    writeFileSync(join(out, '.stamp'), wanted);
    swap(out);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** The old build or the new one, never a mixture: a running daemon may load a bundle at any moment. */
function swap(out) {
  const old = `${dist}.old-${process.pid}`;
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(out, dist);
  rmSync(old, { recursive: true, force: true });
}

await main();
