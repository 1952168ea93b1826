/**
 * SQLite for Node 20, which has none: what the package @photostructure/sqlite brings for Linux with glibc, and nothing else of it. As a dependency
 * it would put 29 MB of builds for other systems on every machine, also where Node has SQLite. On musl, whose builds are left out, the
 * package is used if somebody has installed it.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = '@photostructure/sqlite';
const LOADER = 'require("node-gyp-build")';

/** Where bundles find it. */
export const SQLITE = { [PACKAGE]: '../sqlite/index.cjs' };

const INDEX = `try {
  module.exports = require('./sqlite.cjs');
} catch (error) {
  try {
    module.exports = require('${PACKAGE}');
  } catch {
    throw error;
  }
}
`;

/** Returns the paths of what was copied. */
export function copySqlite(root, out) {
  const from = join(root, 'node_modules', PACKAGE);
  mkdirSync(out, { recursive: true });
  const program = readFileSync(join(from, 'dist/index.cjs'), 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, '');
  if (program.split(LOADER).length !== 2) throw new Error(`${PACKAGE} no longer loads its build by ${LOADER}`);
  writeFileSync(join(out, 'sqlite.cjs'), program.replace(LOADER, "() => require('./linux-' + process.arch + '.node')"));
  writeFileSync(join(out, 'index.cjs'), INDEX);
  for (const arch of ['x64', 'arm64'])
    copyFileSync(
      join(from, `prebuilds/linux-${arch}/@photostructure+sqlite.glibc.node`),
      join(out, `linux-${arch}.node`),
    );
  return [join(from, 'package.json')];
}
