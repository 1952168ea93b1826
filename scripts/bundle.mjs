/** How TypeScript becomes programs that Node 20 runs: CommonJS, bundled, with the parts that several of them need in files of their own. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Inside node_modules, so that bundles find the packages that stay outside of them. */
const CACHE = join(root, 'node_modules/.cache/keepwell');

/** Found in the installation at run time; everything else goes into the bundles. */
const EXTERNAL = [/^node:/, '@photostructure/sqlite'];

/** Commander starts programs, ours never do it through commander: two milliseconds of every call. */
const lateChildProcess = {
  name: 'late-child-process',
  transform: {
    filter: { id: /commander\/lib\/command\.js$/ },
    handler: (code) =>
      code.replace(
        "const childProcess = require('node:child_process');",
        "const childProcess = { spawn: (...call) => process.getBuiltinModule('node:child_process').spawn(...call) };",
      ),
  },
};

/** V8 keeps the text of a program with one such character in it as two bytes for each, for as long as the program runs. */
const asciiOnly = {
  name: 'ascii-only',
  generateBundle(_options, output) {
    for (const chunk of Object.values(output).filter(({ type }) => type === 'chunk'))
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
  },
};

/** Packages that a build brings along in files of its own: name → where they are, seen from the bundles. */
const elsewhere = (instead) => ({
  name: 'elsewhere',
  resolveId: (id) => (Object.hasOwn(instead, id) ? { id: instead[id], external: 'relative' } : null),
});

/** `entries`: name → source file. Writes NAME.cjs each, and what they share; returns the paths of all sources that went in. */
export async function bundle({ entries, outdir, minify = false, instead = {} }) {
  const build = await rolldown({
    cwd: root,
    input: entries,
    platform: 'node',
    external: EXTERNAL.filter((name) => !Object.hasOwn(instead, name)),
    transform: { target: 'node20.19' },
    logLevel: 'warn',
    checks: { ineffectiveDynamicImport: false },
    plugins: [elsewhere(instead), lateChildProcess, asciiOnly],
  });
  const { output } = await build.write({
    dir: outdir,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'part-[name]-[hash].cjs',
    // Scripts that come out of a code cache cannot import().
    dynamicImportInCjs: false,
    // Names stay: whoever reports a crash of ours sends a stack that can be read.
    minify: minify && { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  });
  await build.close();
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}

/** A program of one source file: where it is, and `remove()` for when it is not needed any more. */
export async function bundleFile(entry) {
  mkdirSync(CACHE, { recursive: true });
  const dir = mkdtempSync(join(CACHE, 'bundle-'));
  const name = basename(entry, '.ts');
  await bundle({ entries: { [name]: entry }, outdir: dir });
  return { path: join(dir, `${name}.cjs`), remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** What a source file exports, for scripts: Node 20 does not read TypeScript. */
export async function loadSource(entry) {
  const { path, remove } = await bundleFile(entry);
  process.once('exit', remove);
  return createRequire(import.meta.url)(path);
}
