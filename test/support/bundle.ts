/**
 * Fixture programs written against `src`: bundled to CommonJS as the product is (Node 20 cannot run TypeScript), so the tests
 * also cover that the product works bundled. Under node_modules, because the bundle must find the SQLite package.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

const CACHE = resolve('node_modules/.cache/keepwell-test');

export interface Bundle {
  /** Run it with `process.execPath`. */
  readonly path: string;
  remove(): void;
}

export async function bundle(entry: string): Promise<Bundle> {
  mkdirSync(CACHE, { recursive: true });
  const dir = mkdtempSync(join(CACHE, 'bundle-'));
  const path = join(dir, `${basename(entry, '.ts')}.cjs`);
  const external = ['@photostructure/sqlite'];
  await build({
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': 'bundleUrl' },
    external,
  });
  return { path, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
