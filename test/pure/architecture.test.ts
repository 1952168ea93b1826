import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Which folder may import from which: the table of docs/architecture.md. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  ports: ['core'],
  config: ['core'],
  drivers: ['core', 'ports'],
  store: ['core', 'ports'],
  logs: ['core', 'ports'],
  probes: ['core', 'ports'],
  engine: ['core', 'ports'],
  healing: ['core', 'ports'],
  sessions: ['core', 'ports'],
  compose: ['core', 'ports'],
  campaigns: ['core', 'ports'],
  agents: ['core', 'ports'],
  alerts: ['core', 'ports'],
  tickets: ['core', 'ports'],
  web: ['core', 'ports'],
  supervisor: ['core', 'ports'],
  checks: ['core', 'ports'],
  telemetry: ['core', 'ports'],
  http: ['core', 'ports'],
  client: ['core', 'ports'],
  cli: ['core', 'client'],
  library: ['core', 'ports', 'config', 'client', 'daemon', 'engine', 'healing', 'sessions'],
  // The composition root.
  daemon: [
    'core',
    'ports',
    'config',
    'checks',
    'drivers',
    'engine',
    'healing',
    'sessions',
    'agents',
    'alerts',
    'tickets',
    'web',
    'campaigns',
    'compose',
    'probes',
    'store',
    'logs',
    'supervisor',
    'http',
    'telemetry',
  ],
};

/** Light files that the CLI loads on every call; everything else it loads only when a command needs it. */
const CLI_STATIC = new Set(['src/config/duration.ts', 'src/daemon/home.ts', 'src/logs/names.ts', 'src/version.ts']);

const OTEL = ['api', 'exporter-prometheus', 'otlp-transformer', 'resources', 'sdk-metrics', 'sdk-trace-base'];

/** Third-party packages and the one place that may know them. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  yaml: /^src\/config\//,
  zod: /^src\/(config|http)\//,
  commander: /^src\/cli\//,
  picocolors: /^src\/cli\//,
  '@photostructure/sqlite': /^src\/store\/sqlite\/driver\.ts$/,
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
const folderOf = (file: string): string => file.split('/')[1]!;

describe.each(files)('%s', (file) => {
  const folder = folderOf(file);
  test('imports only what its folder may import', () => {
    for (const { specifier, lazy, typeOnly } of importsOf(file)) {
      if (!specifier.startsWith('.')) continue;
      const to = target(file, specifier);
      if (folderOf(to) === folder || dirname(file) === 'src' || dirname(to) === 'src') continue;
      if (folder === 'cli' && (lazy || typeOnly || CLI_STATIC.has(to))) continue;
      expect(MAY_IMPORT[folder], `${file} imports ${to}`).toContain(folderOf(to));
    }
  });

  test('uses packages and Node only where it may', () => {
    for (const { specifier } of importsOf(file)) {
      if (specifier.startsWith('.')) continue;
      if (specifier.startsWith('node:')) {
        expect(['core', 'ports'], `${file} imports ${specifier}`).not.toContain(folder);
        continue;
      }
      expect(PACKAGES[specifier], `${file} imports an unlisted package ${specifier}`).toBeDefined();
      expect(file).toMatch(PACKAGES[specifier]!);
    }
  });

  test('reads neither the clock nor chance in the core, and leaves the process to main', () => {
    const text = readFileSync(file, 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
    if (folder === 'core')
      expect(text).not.toMatch(/Date\.now|new Date\(\)|Math\.random|performance\.|setTimeout|setInterval/);
    if (!/^src\/(cli|daemon)\/main\.ts$/.test(file)) expect(text).not.toMatch(/process\.exit\(/);
    if (!/^src\/(cli|library|config\/hints)\//.test(file)) expect(text).not.toMatch(/process\.env/);
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
