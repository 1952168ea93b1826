/** The built package under another version: a copy of dist and package.json in which the version, and if wanted the shims, differ. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENTRY } from './project.ts';

export interface BuiltVersion extends Disposable {
  readonly dir: string;
  /** Its CLI. */
  readonly entry: string;
}

interface Patch {
  /** A line that goes into its shim of sh: older versions had another one, and no native one. */
  readonly shimLine?: string;
}

/** Inside node_modules, so that the copied program finds its packages. */
export function builtVersion(version: string, patch: Patch = {}): BuiltVersion {
  const dir = mkdtempSync(join(process.cwd(), 'node_modules/.keepwell-version-'));
  writeVersion(dir, version, patch);
  return {
    dir,
    entry: join(dir, 'dist/bin/keepwell.cjs'),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** As a package manager does it: the same place, another content. */
export function writeVersion(dir: string, version: string, { shimLine }: Patch = {}): void {
  const own = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const bin = join(dir, 'dist/bin');
  rmSync(join(dir, 'dist'), { recursive: true, force: true });
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ ...own, version }));
  cpSync(join(ENTRY, '..'), bin, { recursive: true });
  cpSync(join(ENTRY, '../../sqlite'), join(dir, 'dist/sqlite'), { recursive: true });
  if (shimLine === undefined) cpSync(join(ENTRY, '../../native'), join(dir, 'dist/native'), { recursive: true });
  for (const file of readdirSync(bin).filter((name) => name.endsWith('.cjs'))) {
    const text = readFileSync(join(bin, file), 'utf8');
    const versioned = text.replaceAll(quoted(own.version), (_, quote: string) => `${quote}${version}${quote}`);
    const marked = shimLine === undefined ? versioned : versioned.replace('# keepwell shim ', `$&(${shimLine}) `);
    writeFileSync(join(bin, file), marked);
  }
}

const quoted = (version: string): RegExp => new RegExp(`(["'\`])${version.replaceAll('.', '\\.')}\\1`, 'g');
