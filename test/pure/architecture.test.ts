import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isPure, mayImport, ROOMS, roomOf } from '../support/rooms.ts';

/** Light files that the CLI loads on every call; everything else it loads only when a command needs it. */
const CLI_STATIC = new Set(['src/config/duration.ts', 'src/logs/names.ts', 'src/version.ts']);

const OTEL = ['api', 'exporter-prometheus', 'otlp-transformer', 'resources', 'sdk-metrics', 'sdk-trace-base'];

/** Third-party packages and the one place that may know them. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  yaml: /^src\/(config|kubernetes)\//,
  zod: /^src\/(config|api|cli\/mcp)\/|\/kinds\/|\/kinds?\.ts$/,
  commander: /^src\/cli\//,
  '@modelcontextprotocol/server': /^src\/cli\/mcp\//,
  '@modelcontextprotocol/server/stdio': /^src\/cli\/mcp\//,
  picocolors: /^src\/cli\//,
  nodemailer: /^src\/incidents\/alerts\/kinds\/email\.ts$/,
  '@photostructure/sqlite': /^src\/base\/sqlite\.ts$/,
  ...Object.fromEntries(OTEL.map((name) => [`@opentelemetry/${name}`, /^src\/telemetry\//])),
};

const files = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => posix.normalize(join(entry.parentPath, entry.name)))
  .sort();

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly lazy: boolean;
}

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(file, 'utf8');
  const fixed = [...text.matchAll(/^(?:import|export)\s+(type\s+)?[^;]*?from '([^']+)'/gm)].map(
    ([, type, specifier]) => ({ specifier: specifier!, typeOnly: type !== undefined, lazy: false }),
  );
  const lazy = [...text.matchAll(/import\(\s*'([^']+)'/g)].map(([, specifier]) => ({
    specifier: specifier!,
    typeOnly: false,
    lazy: true,
  }));
  return [...fixed, ...lazy];
}

const target = (file: string, specifier: string): string => posix.join(posix.dirname(file), specifier);

test('every folder of src is a room', () => {
  expect([...new Set(files.filter((file) => dirname(file) !== 'src').map(roomOf))].sort()).toEqual(
    Object.keys(ROOMS).sort(),
  );
});

describe.each(files)('%s', (file) => {
  const room = roomOf(file);
  test('imports only what its room may import', () => {
    for (const { specifier, lazy, typeOnly } of importsOf(file)) {
      if (!specifier.startsWith('.')) continue;
      const to = target(file, specifier);
      if (dirname(file) === 'src' || dirname(to) === 'src') continue;
      if (room === 'cli' && (lazy || typeOnly || CLI_STATIC.has(to))) continue;
      expect(mayImport(file, to), `${file} imports ${to}`).toBe(true);
    }
  });

  test('decides from what it is given alone, if it is a rule', () => {
    if (!isPure(file)) return;
    for (const { specifier } of importsOf(file)) {
      expect(specifier, `${file} imports ${specifier}`).toMatch(/^\./);
      expect(isPure(target(file, specifier)), `${file} imports ${specifier}`).toBe(true);
    }
    const text = readFileSync(file, 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
    expect(text).not.toMatch(/Date\.now|new Date\(\)|Math\.random|performance\.|setTimeout|setInterval/);
  });

  test('uses packages only where it may', () => {
    for (const { specifier } of importsOf(file)) {
      if (specifier.startsWith('.') || specifier.startsWith('node:')) continue;
      expect(PACKAGES[specifier], `${file} imports an unlisted package ${specifier}`).toBeDefined();
      expect(file).toMatch(PACKAGES[specifier]!);
    }
  });

  test('leaves the process to main', () => {
    const text = readFileSync(file, 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
    if (!/^src\/(cli|daemon)\/main\.ts$/.test(file)) expect(text).not.toMatch(/process\.exit\(/);
    if (!/^src\/(cli|library|config\/words)\//.test(file)) expect(text).not.toMatch(/process\.env/);
  });

  test('is short enough to be read whole', () => {
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThanOrEqual(500);
  });
});

test('no file imports itself in a circle', () => {
  const edges = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter(({ specifier, lazy }) => specifier.startsWith('.') && !lazy)
        .map(({ specifier }) => target(file, specifier)),
    ]),
  );
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    expect(path, `a circle: ${[...path, file].join(' → ')}`).not.toContain(file);
    if (done.has(file)) return;
    for (const to of edges.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});
