/**
 * Builds the package: the library (ES modules and types, by tsc) and the program (CommonJS bundles, by esbuild; docs/decisions say
 * why). Run by `npm ci` through "prepare". Does nothing when the build is fresh; never leaves half a build behind.
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
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notices } from './notices.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stampFile = join(dist, '.stamp');
const require = createRequire(import.meta.url);

/** What `import()` may load: each becomes a bundle of its own, so that the small commands stay small. */
const BUNDLES = {
  keepwell: 'src/cli/main.ts',
  daemon: 'src/daemon/main.ts',
  launch: 'src/daemon/launch.ts',
  offline: 'src/daemon/offline.ts',
  'left-containers': 'src/daemon/left-containers.ts',
  health: 'src/daemon/health-report.ts',
  campaigns: 'src/campaigns/service.ts',
  demo: 'src/cli/demo/run.ts',
  config: 'src/config/load.ts',
  schema: 'src/config/schema.ts',
  starter: 'src/config/starter/starter.ts',
  names: 'src/config/names.ts',
  backoff: 'src/cli/commands/backoff-report.ts',
  graph: 'src/cli/commands/graph-drawing.ts',
  complete: 'src/cli/complete/answer.ts',
  logs: 'src/logs/open.ts',
  telemetry: 'src/telemetry/open.ts',
  'config-worker': 'src/config/config-worker.ts',
  'pattern-worker': 'src/probes/log/pattern-worker.ts',
};

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
  return [...files, 'scripts/build.mjs', 'scripts/notices.mjs', 'package.json', 'tsconfig.json', 'tsconfig.lib.json']
    .map((file) => resolve(root, file))
    .sort();
}

function stamp() {
  const hash = createHash('sha256');
  for (const file of sources()) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function toolsOrExplain() {
  try {
    return {
      esbuild: require('esbuild'),
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

async function bundle(esbuild, out) {
  const entries = Object.fromEntries(Object.entries(BUNDLES).map(([name, file]) => [join(root, file), name]));
  const lazy = {
    name: 'lazy',
    setup(build) {
      build.onResolve({ filter: /^\.{1,2}\// }, ({ kind, path, resolveDir }) => {
        const name = kind === 'dynamic-import' ? entries[resolve(resolveDir, path)] : undefined;
        return name ? { path: `./${name}.cjs`, external: true } : undefined;
      });
    },
  };
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(BUNDLES).filter(([, file]) => existsSync(join(root, file)))),
    outdir: join(out, 'bin'),
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    // As require(): for an import() Node reads the whole bundle once more to learn its exports, half the start-up of a command (measured).
    supported: { 'dynamic-import': false },
    // The sources are ES modules, and some ask where they lie.
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': 'bundleUrl' },
    external: ['@photostructure/sqlite'],
    plugins: [lazy],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  writeFileSync(join(out, 'THIRD-PARTY.txt'), notices(root, Object.keys(metafile.inputs)));
  chmodSync(join(out, 'bin', 'keepwell.cjs'), 0o755);
}

function library(tsc, out) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.lib.json', '--outDir', join(out, 'lib')], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

async function main() {
  if (!existsSync(join(root, 'src'))) return; // an installed package: built before it was published
  const wanted = stamp();
  const fresh = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted;
  if (fresh && !process.argv.includes('--force')) return;
  const { esbuild, tsc } = toolsOrExplain();
  const out = `${dist}.new-${process.pid}`;
  mkdirSync(out, { recursive: true });
  try {
    await bundle(esbuild, out);
    library(tsc, out);
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
