import { describe, expect, test } from 'vitest';
import { describeConfig } from '../../../src/config/describe.ts';
import { jsonSchema } from '../../../src/config/schema.ts';
import {
  EXTERNAL_WORDS,
  FOREIGN_WORDS,
  NO_COUNTERPART,
  PROBE_WORDS,
  INSIDE_WORDS as RPC_WORDS,
} from '../../../src/config/words/vocabulary.ts';
import { PROBE_KINDS } from '../../../src/probes/kinds.ts';
import { load } from './support.ts';

type Json = Readonly<Record<string, unknown>>;
const schema = jsonSchema() as Json;

/** Every object inside, with its path. */
function* objects(value: unknown, path = ''): Generator<readonly [string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Json];
  for (const [key, inner] of Object.entries(value)) yield* objects(inner, `${path}/${key}`);
}

describe('the JSON Schema', () => {
  test('says what it is', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:keepwell:schema:config:1',
      title: 'Keepwell configuration',
      anyOf: [
        { required: ['components'] },
        { required: ['checks'] },
        { required: ['sessions'] },
        { required: ['agents'] },
      ],
      additionalProperties: false,
    });
  });

  test('survives being written as JSON, and every reference in it exists', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    const defs = schema['$defs'] as Json;
    for (const [path, { $ref }] of objects(schema)) {
      if (typeof $ref === 'string') expect(defs, path).toHaveProperty([$ref.replace('#/$defs/', '')]);
    }
  });

  test('describes every property and keeps our own words to itself', () => {
    for (const [path, object] of objects(schema)) {
      // A key of the configuration may well be called `kind`.
      for (const ours of ['defaultsTo', 'defaultNote', 'example', 'kind', 'sameKeysAs', 'exactlyOne', 'atLeastOne'])
        if (!/\/(?:properties|examples\/\d+)$/.test(path)) expect(object, path).not.toHaveProperty(ours);
      const { properties } = object;
      if (typeof properties !== 'object' || path.includes('/properties/properties')) continue;
      if (/^(?:\/properties\/agents)?\/anyOf\/\d+$/.test(path)) continue; // says only which of them must be there
      for (const [key, property] of Object.entries(properties as Json))
        expect(property, key).toHaveProperty('description');
    }
  });

  test('states defaults in the syntax of the configuration', () => {
    const component = (schema['$defs'] as Record<string, { properties: Record<string, Json> }>)['component']!
      .properties;
    expect((component['stop']!['properties'] as Json)['grace']).toMatchObject({ default: '10s' });
    expect((component['restart']!['properties'] as Json)['policy']).toMatchObject({ default: 'always' });
  });
});

const RPC: Readonly<Record<string, object>> = {
  grpc: { port: 80, tls: true },
  temporal: { task_queue: 'a', kind: 'activity', tls: true },
};

/** What must stand beside a key for its component to be valid; the key itself goes over it. */
function around(path: string): object {
  const command = path.endsWith('.shell') ? 'a b' : ['a'];
  const process = { process: { command: ['a'] } };
  if (/\.external\b/.test(path)) return {};
  const container = { container: { image: 'a' } };
  if (/\.(container|compose|compose\.service)$/.test(path)) return {};
  if (/\.compose\./.test(path)) return { compose: { service: 'a' } };
  if (/\.container\.healthcheck\./.test(path)) return { container: { image: 'a', healthcheck: { command: ['a'] } } };
  if (/\.container\.|\.limits\.cpus$|\.cleanup$/.test(path)) return container;
  if (path.endsWith('.restart.command')) return { external: { container: 'a' } };
  if (path.endsWith('.process.shell')) return { process: { command } };
  if (path.includes('.readiness.exec.')) return { ...process, readiness: { exec: { command } } };
  if (path.includes('.heartbeat.')) return { ...process, ...aroundHeartbeat(path) };
  const rpc = /\.readiness\.(grpc|temporal)\./.exec(path)?.[1];
  if (rpc) return { ...process, readiness: { [rpc]: RPC[rpc] } };
  if (path.endsWith('.insecure')) return { ...process, readiness: { http: { port: 443, scheme: 'https' } } };
  const question = /\.readiness\.(http|tcp)\./.exec(path)?.[1];
  if (question) return { ...process, readiness: { [question]: { port: 80 } } };
  const key = /\.readiness\.(\w+)/.exec(path)?.[1];
  const isTiming = key !== undefined && key !== 'all_of' && !Object.hasOwn(PROBE_KINDS, key);
  return isTiming ? { ...process, readiness: { tcp: 80 } } : process;
}

/** The same for a check. */
function aroundCheck(path: string): object {
  const kind = path.split('.')[2];
  if (kind === 'file_exists') return { api: path.endsWith('.any_of') ? {} : { file_exists: { any_of: ['/a'] } } };
  if (kind === 'env_set') return { api: { env_set: { name: 'A' } } };
  if (kind === 'state_file') return { api: { state_file: { path: 'a' } } };
  const isAsked = ['needs', 'hint', 'timeout'].includes(kind ?? '');
  return isAsked ? { api: { tcp: 80 }, sandbox: { tcp: 80 } } : {};
}

/** The same for a template of sessions. */
const aroundSession = { templates: { api: { image: 'a', ttl: '1m' } } };

/** The same for the page: a certificate goes with its key. */
const aroundDashboard = (path: string) => (path.includes('.tls.') ? { tls: { cert: 'a', key: 'a' } } : {});

/** The same for alerts. */
const aroundAlerts = { channels: [{ slack: { url: 'http://a' } }] };

/** The same for agents. */
const aroundAgents = (path: string) => ({
  types: { api: { command: ['a'], ...aroundHeartbeat(path) } },
  state_file: { path: 'a' },
});

/** The same for a heartbeat. */
function aroundHeartbeat(path: string): object {
  if (path.endsWith('.heartbeat.field')) return { heartbeat: { file: 'state.json' } };
  return /\.heartbeat\.(log_pattern|freeze_after|dump_signal)$/.test(path) ? { heartbeat: { log_every: '30s' } } : {};
}

/** The same for an item of a list. */
function aroundItem(path: string): Record<string, object> {
  if (path.includes('.github.')) return { github: { repo: 'a/b', token: 'a' } };
  return path.includes('.webhook.')
    ? { webhook: { url: 'http://a' } }
    : path.includes('.command.')
      ? { command: { command: ['a'] } }
      : {};
}

/** Those that examples name. */
const VARIABLES = { GITHUB_TOKEN: 'a', HOOK_TOKEN: 'a', FLEET_PASSWORD: 'a' };

describe('the rows of the reference page', () => {
  const rows = describeConfig();

  test('the keys of a probe are listed once', () => {
    const paths = rows.map(({ path }) => path.replace('components.NAME.', ''));
    expect(paths).toContain('readiness.http.port');
    expect(paths.filter((path) => /^(?:startup|liveness|checks\.NAME\.(?:exec|http|tcp))\./.test(path))).toEqual([]);
  });

  test.each(rows)(
    '$path has a meaning, and a default or a reason',
    ({ description, required, type, default: value, defaultNote }) => {
      expect(description).toMatch(/\.$/);
      expect(type).not.toBe('value');
      if (type !== 'map') expect(required || value !== undefined || defaultNote !== null).toBe(true);
    },
  );

  test.each(rows.filter(({ example }) => example !== undefined))(
    'the example of $path is accepted',
    ({ path, example }) => {
      const config: Record<string, unknown> = {
        components: {
          api: structuredClone(around(path)),
          database: { process: { command: ['a'] } },
          'work-loop': { process: { command: ['a'] }, heartbeat: { ping: true } },
          migrate: { process: { command: ['a'] }, restart: { policy: 'never' } },
        },
        ...(path.startsWith('checks.') ? { checks: structuredClone(aroundCheck(path)) } : {}),
        ...(path.startsWith('agents.') ? { agents: aroundAgents(path) } : {}),
        ...(path.startsWith('dashboard.') ? { dashboard: aroundDashboard(path) } : {}),
        ...(path.startsWith('alerts.') ? { alerts: structuredClone(aroundAlerts) } : {}),
        ...(path.startsWith('alerts.quiet_hours.')
          ? { alerts: { ...structuredClone(aroundAlerts), quiet_hours: { from: '22:00', to: '07:00' } } }
          : {}),
        ...(path.startsWith('sessions.') ? { sessions: structuredClone(aroundSession) } : {}),
      };
      const steps = path.replace('NAME', 'api').split('.');
      let at = config;
      for (const step of steps.slice(0, -1)) {
        const item = { ...aroundItem(path) };
        if (step.endsWith('[]')) at[step.slice(0, -2)] = [item];
        else at[step] ??= {};
        at = (step.endsWith('[]') ? item : at[step]) as Record<string, unknown>;
      }
      at[steps.at(-1)!] = example;
      expect(() => load(JSON.stringify(config), { env: VARIABLES })).not.toThrow();
    },
  );
});

describe('the vocabulary', () => {
  const words = [FOREIGN_WORDS, PROBE_WORDS, EXTERNAL_WORDS, ...Object.values(RPC_WORDS)].flatMap((table) =>
    Object.entries(table),
  );

  test.each(words)('%s leads to a key that exists', (word, { to }) => {
    expect(word).toMatch(/^[a-z]+$/); // compared without case, dashes and underscores
    const known = describeConfig().map(({ path }) => path.replace('components.NAME.', ''));
    expect(known.includes(to), to).toBe(true);
  });

  test('no word has two answers', () => {
    expect(Object.keys(NO_COUNTERPART).filter((word) => Object.hasOwn(FOREIGN_WORDS, word))).toEqual([]);
  });
});
