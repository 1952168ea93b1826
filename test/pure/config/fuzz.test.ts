import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { NAME_PATTERN } from '../../../src/base/pure/ids.ts';
import { describeConfig } from '../../../src/config/describe.ts';
import { loadConfigFromTexts } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';
import { jsonSchema } from '../../../src/config/schema.ts';
import { parsePattern } from '../../../src/supervision/rules/health/pattern.ts';
import type { ProbeQuestion, ProbeSpec } from '../../../src/supervision/rules/health/probe.ts';
import type { ContainerSpec, DriverSpec } from '../../../src/supervision/spec.ts';
import { cpuTimeMs } from '../../support/cpu-time.ts';
import { probed } from './arbitrary-probes.ts';
import { accepts } from './json-schema.ts';

const MAX_MS = 5_000;

/** A plain check: twenty thousand files with dozens of problems each are too many for `expect`. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Whatever comes in: a complete configuration, or a ConfigError whose every problem has a place that exists. Within moments. */
function survives(text: string, dotenv: string | null = null): 'accepted' | 'refused' {
  const started = cpuTimeMs();
  const verdict = attempt(text, dotenv);
  must(cpuTimeMs() - started < MAX_MS, 'it took too long');
  return verdict;
}

function mustRun(driver: DriverSpec): void {
  must(driver.cwd.startsWith('/'), `the directory ${driver.cwd}`);
  if (driver.kind === 'process') mustBeArgv(driver.command);
  else if (driver.kind === 'container') mustBeMade(driver);
  else if (driver.kind === 'compose') must(driver.file.startsWith('/') && driver.service !== '', 'the compose file');
  else if (driver.kind === 'external') {
    if (driver.recover) mustBeArgv(driver.recover);
    if (driver.target.kind === 'pid-file') must(driver.target.path.startsWith('/'), 'the pid file');
    if (driver.target.kind === 'address') mustConnect(driver.target);
  }
}

function mustBeMade({ image, ports, volumes, healthcheck }: ContainerSpec): void {
  must(image !== '', 'the image');
  for (const { hostIp, port, hostPort } of ports) mustConnect({ host: hostIp, port: hostPort ?? port });
  for (const volume of volumes)
    must(/^(?:\/|[A-Za-z0-9])[^:]*:\/[^:]+(?::[\w,]+)?$/.test(volume), `the volume ${volume}`);
  if (healthcheck !== null && healthcheck !== 'none') mustBeArgv(healthcheck.command);
}

function mustBeArgv(command: readonly string[]): void {
  must(command.length > 0 && command[0] !== '' && command.every((word) => typeof word === 'string'), 'the command');
}

function mustConnect({ host, port }: { readonly host: string; readonly port: number }): void {
  must(
    host !== '' && /^[\x21-\x7e]+$/.test(host) && Number.isInteger(port) && port > 0 && port < 65_536,
    `${host} ${port}`,
  );
}

function mustAsk({ question, ...timing }: ProbeSpec): void {
  must(timing.periodMs > 0 && timing.timeoutMs > 0 && timing.initialDelayMs >= 0, 'the times');
  must(timing.failureThreshold >= 1 && timing.successThreshold >= 1, 'the thresholds');
  if (question.kind === 'all_of') must(question.all.length > 0, 'no questions');
  for (const each of question.kind === 'all_of' ? question.all : [question]) mustBeAskable(each);
}

function mustBeAskable(question: ProbeQuestion): void {
  must(question.kind !== 'all_of', 'nested questions');
  if (question.kind === 'exec') mustBeArgv(question.command);
  if (question.kind === 'exec') must(question.cwd.startsWith('/'), 'the directory of a probe');
  if (question.kind === 'tcp' || question.kind === 'http') mustConnect(question);
  if (question.kind === 'log') must(!('problem' in parsePattern(question.pattern)), 'the pattern');
  if (question.kind !== 'http') return;
  must(/^\/[\x21-\x7e]*$/.test(question.path), `the path ${question.path}`);
  must(!/[\r\n]/.test(Object.values(question.headers).join()), 'the headers');
  must(question.status === null || question.status.length > 0, 'no status could pass');
}

function attempt(text: string, dotenv: string | null): 'accepted' | 'refused' {
  try {
    const files = [{ path: '/p/k.yaml', text }];
    const { components } = loadConfigFromTexts({ files, dotenv, env: { HOME: '/root', PORT: '8080' }, cwd: '/p' });
    must(components.length > 0, 'no components');
    for (const { name, driver, probes, crashPatterns } of components) {
      must(NAME_PATTERN.test(name) && !name.includes('..'), `the name ${name}`);
      mustRun(driver);
      for (const probe of Object.values(probes)) if (probe) mustAsk(probe);
      must(
        crashPatterns.every((pattern) => !('problem' in parsePattern(pattern))),
        'the patterns',
      );
    }
    return 'accepted';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    must(error.problems.length > 0, 'refused without a problem');
    const lines = text.split(/\r\n|\r|\n/).length;
    for (const { file, line, column, message } of error.problems) {
      must(file === '/p/k.yaml' ? line <= lines : file === '/p/.env', `the file ${file}:${line}`);
      must(line >= 1 && column >= 1 && message !== '', `the place ${line}:${column} ${message}`);
    }
    return 'refused';
  }
}

const SEED = `name: shop # short, so that many mutants fit into the time
components:
  job: &j
    process:
      command: |
        echo "\${HOME:-x}" | tee $$x
      shell: true
    restart: { policy: on-failure, never_on: [78, SIGILL] }
    readiness: { all_of: [{ log: up }, { exec: { command: [x] } }], period: 2s }
  api:
    process: { command: [./api, "\${HOME}"], cwd: ./s, env: { A: '1' }, env_file: .env }
    depends_on: { job: completed }
    stop: { signal: SIGINT, grace: 1m30s }
    restart: { limit: { max: 10, retry: never } }
    startup: { tcp: 'h:1', failure_threshold: 30 }
    liveness: { http: { port: 80, path: /x, headers: { A: b }, status: [200] } }
    crash_patterns: [panic, /^E/i]
  old: { external: { address: 'h:1' }, restart: { command: [x] }, readiness: { http: 'http://h:1/' } }
`;

const BYTES = [...Buffer.from('\0\t\n\r !"#$%&\'*,-.0:<>?@[\\]^`{|}~ax\u00e9\ufeff'), 0x80, 0xff, 0xed, 0xa0];

const mutant = fc
  .array(
    fc.tuple(fc.nat({ max: SEED.length - 1 }), fc.nat({ max: 3 }), fc.constantFrom(...BYTES), fc.nat({ max: 40 })),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((edits) => {
    const bytes = [...Buffer.from(SEED)];
    for (const [at, kind, byte, length] of edits) {
      if (kind === 0) bytes[at] = byte;
      else if (kind === 1) bytes.splice(at, 0, byte);
      else if (kind === 2) bytes.splice(at, length);
      else bytes.splice(at, 0, ...bytes.slice(at + 1, at + 1 + length));
    }
    return Buffer.from(bytes).toString('utf8');
  });

/** Keys of ours, of others and of nobody; values of every kind; written as flow YAML, with anchors and tags here and there. */
const KEYS = [...new Set(describeConfig().flatMap(({ path }) => path.split('.')))];
const key = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...KEYS, 'api', 'db') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...['environment', 'services', 'image', 'httpGet', 'healthcheck', 'livenessProbe', 'interval', 'url', 'grpc'],
      ...['<<', '__proto__', 'constructor', ''],
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
);
const scalar = fc.oneof(
  fc.constantFrom(
    '10s',
    '1m30s',
    '10',
    '0',
    '-1',
    '1.5',
    'true',
    'null',
    '~',
    '.nan',
    'always',
    'never',
    'ready',
    'completed',
    'api',
    'db',
    '1',
  ),
  fc.constantFrom(
    ...[
      '7233',
      '65536',
      '"h:1"',
      '"[::1]:80"',
      '"http://h:1/x?y"',
      '"http://u:p@h"',
      '/healthz',
      '"/(/"',
      '"/a/i"',
      '"\\r\\n"',
    ],
    'SIGTERM',
    'TERM',
    '"${HOME}"',
    '"${NO}"',
    '"${"',
    '"$x"',
    '*a',
    '&a x',
    '!t x',
    '""',
    "'it''s'",
    '78',
    '1e999',
    '"a b"',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text)),
);
const { tree } = fc.letrec<{ tree: string; map: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, depthIdentifier: 'tree' },
    scalar,
    tie('map'),
    fc.array(tie('tree'), { maxLength: 3, depthIdentifier: 'tree' }).map((items) => `[${items.join(', ')}]`),
  ),
  map: fc
    .array(fc.tuple(key, tie('tree')), { maxLength: 4, depthIdentifier: 'tree' })
    .map((pairs) => `{ ${pairs.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ')} }`),
}));
const grammar = fc
  .record({ process: tree, rest: fc.array(fc.tuple(key, tree), { maxLength: 4 }), top: fc.option(tree) })
  .map(
    ({ process, rest, top }) =>
      `components: { db: { process: { command: [x] } }, api: { process: ${process}${rest.map(([name, value]) => `, ${JSON.stringify(name)}: ${value}`).join('')} } }${top === null ? '' : `\nname: ${top}`}`,
  );

describe('whatever the file, it is accepted or refused with places, and never anything else', () => {
  test('the seed itself is accepted', () => {
    expect(survives(SEED)).toBe('accepted');
  });

  test('ten thousand files with a few bytes changed', () => {
    const verdicts = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(mutant, (text) => {
        verdicts[survives(text)] += 1;
      }),
      { numRuns: 10_000 },
    );
    // Both kinds must occur, or the mutants test nothing.
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(100);
  });

  test('eight thousand files made of known words in random places', () => {
    fc.assert(
      fc.property(grammar, (text) => {
        survives(text);
      }),
      { numRuns: 8_000 },
    );
  });

  test('eight thousand components with a probe that is right or nearly so, and the JSON Schema accepts the right ones', () => {
    const schema = jsonSchema();
    const verdicts = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(probed, (text) => {
        const verdict = survives(text);
        verdicts[verdict] += 1;
        if (verdict === 'accepted') must(accepts(parse(text), schema), 'the JSON Schema refuses it');
      }),
      { numRuns: 8_000 },
    );
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(100);
  });

  test('two thousand texts of anything', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.string({ unit: 'binary', maxLength: 50 }),
        (text, dotenv) => {
          survives(text, dotenv);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
