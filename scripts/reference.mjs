/**
 * Writes docs/reference, the tables of other pages and the types of a configuration from what the source says, so that none of them can say
 * something else than the program.
 *   node scripts/reference.mjs           write
 *   node scripts/reference.mjs --check   exit 1 and name the files that are out of step
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSource } from './bundle.mjs';
import { campaignPage } from './reference/campaign-page.mjs';
import { configPage } from './reference/config-page.mjs';
import { configTypes } from './reference/config-types.mjs';
import { errorsPage } from './reference/errors-page.mjs';
import { libraryPage } from './reference/library-page.mjs';
import { manPage } from './reference/man-page.mjs';
import { openApi } from './reference/openapi.mjs';
import { importsPart, roomsPart, routesPart } from './reference/parts.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Tables inside pages that people write: between `<!-- name -->` and `<!-- /name -->`. */
const PARTS = { rooms: roomsPart, imports: importsPart, routes: routesPart };
const withParts = (file) => (source) =>
  Object.entries(PARTS).reduce(
    (text, [name, part]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`),
        (_, begin, end) => `${begin}${part(source)}\n${end}`,
      ),
    readFileSync(join(root, file), 'utf8'),
  );

/** As the formatter would write it. */
const formatted = (file, text) =>
  execFileSync(join(root, 'node_modules/.bin/biome'), ['format', `--stdin-file-path=${file}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  });

/** One line per generated file. */
const PAGES = {
  ...Object.fromEntries(
    ['config-components.ts', 'config-features.ts', 'config-input.ts'].map((name) => [
      `src/library/${name}`,
      ({ jsonSchema }) => formatted(`src/library/${name}`, configTypes(jsonSchema())[name]),
    ]),
  ),
  'CONTRIBUTING.md': withParts('CONTRIBUTING.md'),
  'docs/architecture.md': withParts('docs/architecture.md'),
  'docs/guide/api.md': withParts('docs/guide/api.md'),
  'docs/reference/campaign.md': campaignPage,
  'docs/reference/config.md': configPage,
  'docs/reference/errors.md': errorsPage,
  'docs/reference/keepwell.1': manPage,
  'docs/reference/library.md': () => libraryPage(root),
  'docs/reference/openapi.json': (source) => `${JSON.stringify(openApi(root, source), null, 2)}\n`,
  'docs/reference/keepwell.schema.json': ({ jsonSchema }) => `${JSON.stringify(jsonSchema(), null, 2)}\n`,
};

const current = (file) => {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return null;
  }
};

const source = await loadSource(join(root, 'scripts/reference/ingredients.ts'));
const isCheck = process.argv.includes('--check');
const stale = [];
// One after the other: the page about the library is made from the types that are written before it.
for (const [file, page] of Object.entries(PAGES)) {
  const text = page(source);
  if (current(file) === text) continue;
  stale.push(file);
  if (isCheck) continue;
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
  console.log(`wrote ${file}`);
}

if (isCheck && stale.length > 0) {
  console.error(`Out of step with the source: ${stale.join(', ')}. Run "npm run reference" and commit the result.`);
  process.exitCode = 1;
}
