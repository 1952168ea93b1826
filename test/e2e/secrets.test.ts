/** What a program writes just before it dies may be secret: it must not get any further than its own log. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useEngine } from '../support/engine.ts';
import { freePort } from '../support/free-port.ts';
import { TestProject } from '../support/project.ts';
import { SHAPES } from '../support/secret-shapes.ts';
import { waitFor } from '../support/wait-for.ts';

const engineFor = useEngine();

/** So few for each that all of them are in the lines that a dossier keeps. */
const SHAPES_EACH = 8;

const batches = Array.from({ length: Math.ceil(SHAPES.length / SHAPES_EACH) }, (_, n) =>
  SHAPES.slice(n * SHAPES_EACH, (n + 1) * SHAPES_EACH),
);

/** The last of them is in the message of the error, too: that is what titles, incidents and alerts are made of. Each has its own type. */
const output = (batch: typeof SHAPES, n: number): string => {
  const texts = batch.map(([, text]) => text);
  const last = texts.at(-1)!.split('\n')[0];
  const frames = ['Traceback (most recent call last):', '  File "/srv/app/main.py", line 3, in <module>', '    go()'];
  return [...texts, ...frames, `${'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[n]}Error: cannot go on with ${last}`, ''].join('\n');
};

const CONFIG = `components:
${batches
  .map(
    (_, n) => `  c${n}:
    process: { command: [sh, -c, "cat said-${n}.txt >&2; exit 1"] }
    restart: { limit: { max: 0, retry: never } }`,
  )
  .join('\n')}
tickets: { trackers: [{ local: { dir: tickets } }, { command: { command: [sh, -c, "cat >>tracked.jsonl"] } }] }
alerts: { channels: [{ command: { command: [sh, -c, "cat >>alerts.jsonl"] } }] }
`;

/** What the daemon itself has written. */
function kept(project: TestProject): Readonly<Record<string, string>> {
  const files = readdirSync(project.path('.keepwell')).filter((file) => /^(keepwell\.db|daemon\.log)/.test(file));
  return Object.fromEntries(files.map((file) => [file, readFileSync(project.path(`.keepwell/${file}`), 'latin1')]));
}

test('no secret that a program wrote is in a dossier, an event, an incident, a ticket, an alert or the database', async () => {
  await using project = new TestProject(CONFIG);
  for (const [n, batch] of batches.entries()) project.write(`said-${n}.txt`, output(batch, n));
  await project.cli('up');
  const json = (...args: string[]) => project.ok(...args, '-o', 'json');
  const names = batches.map((_, n) => `c${n}`);
  await waitFor('everybody to be told of all of them', async () => {
    const tickets = JSON.parse(await json('tickets', 'list')) as { tickets: readonly unknown[] };
    const isTold = (file: string) => names.every((name) => project.read(file).includes(`"${name}"`));
    const files = tickets.tickets.length === names.length && readdirSync(project.path('tickets')).length;
    return files === names.length && isTold('tracked.jsonl') && isTold('alerts.jsonl');
  });
  const sinks: Record<string, string> = {
    crashes: await json('crashes', '--limit', '100'),
    events: await json('events', '--limit', '1000'),
    tickets: await json('tickets', 'list'),
    'tracked.jsonl': project.read('tracked.jsonl'),
    'alerts.jsonl': project.read('alerts.jsonl'),
  };
  for (const name of names) sinks[`why ${name}`] = await json('why', name);
  for (const file of readdirSync(project.path('tickets'))) sinks[file] = project.read(`tickets/${file}`);
  Object.assign(sinks, kept(project));
  const told = Object.entries(sinks).flatMap(([sink, text]) =>
    SHAPES.filter(([, , secret]) => text.includes(secret)).map(([shape]) => `${shape} in ${sink}`),
  );
  expect(told).toEqual([]);
  expect(sinks['why c0']).toContain('AError');
});

const KNOWN = 'open-sesame-4711';
/** In the command of the check, and in no variable of the container: only the configuration knows that it is one. */
const OF_PROJECT = { CHECK_TOKEN: 'zebra-giraffe-check' };
const SHORT = SHAPES.filter(([, text]) => text.length < 60 && !text.includes('\n')).slice(0, 6);
const SICK = `
      image: keepwell-test
      command: [sh, -c, 'trap "exit 0" TERM; while :; do sleep 0.1; done']
      env: ${JSON.stringify({ API_TOKEN: KNOWN, SAYS: SHORT.map(([, text]) => text).join('\n') })}
      healthcheck: { command: [sh, -c, 'echo "sick, $$API_TOKEN $$SAYS" and \${CHECK_TOKEN}; exit 1'], period: 100ms, failure_threshold: 1 }`;
const CONTAINERS = `
name: telltale
sessions:
  templates:
    lab: ${SICK}
      restart: { limit: { max: 1 } }
components:
  web:
    container: ${SICK}
      network: none
    restart: { limit: { max: 1, retry: never } }
    cleanup: remove
`;

test('nor is one that the health check of a container or a session printed', async ({ skip }) => {
  const engine = engineFor(skip);
  await using project = new TestProject(CONTAINERS, { ...engine.env, ...OF_PROJECT });
  await project.ok('up', '--no-wait');
  await project.ok('sessions', 'spawn', 'lab', '--user', 'ann');
  await project.until('web', 'given up', ({ state }) => state === 'gave-up');
  const sessions = await waitFor('the session to be given up', async () => {
    const text = await project.ok('sessions', 'list', '--all', '-o', 'json');
    return text.includes('"gave-up"') ? text : null;
  });
  const events = await project.ok('events', '--limit', '1000', '-o', 'json');
  const crashes = await project.ok('crashes', '-o', 'json');
  const sinks = { sessions, events, crashes, status: await project.ok('status', '-o', 'json'), ...kept(project) };
  const secrets = [KNOWN, OF_PROJECT.CHECK_TOKEN, ...SHORT.map(([, , secret]) => secret)];
  const told = Object.entries(sinks).flatMap(([sink, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${sink}`),
  );
  expect(told).toEqual([]);
  for (const text of [events, crashes]) expect(text).toMatch(/sick, \[redacted\]/);
});

/** As words, so that no pattern knows them: only the name of their variable tells. */
const TOKENS = {
  PROBE_TOKEN: 'zebra-giraffe-probe',
  ALERT_TOKEN: 'zebra-giraffe-alert',
  TRACKER_SECRET: 'zebra-giraffe-track',
};
const LONG_TOKEN = `zebra-${'giraffe-'.repeat(10)}line`;
const INTERPOLATED = (port: number) => `components:
  asked:
    process: { command: [sleep, "1000"] }
    liveness: { http: "http://127.0.0.1:${port}/\${PROBE_TOKEN}/alive", period: 100ms, failure_threshold: 1 }
    restart: { limit: { max: 0, retry: never } }
  run:
    process: { command: [sleep, "1000"] }
    liveness:
      exec: { command: [sh, -c, 'echo "no $$1"; exit 1', sh, "\${PROBE_TOKEN}"] }
      period: 100ms
      failure_threshold: 1
    restart: { limit: { max: 0, retry: never } }
  both:
    process: { command: [sleep, "1000"] }
    liveness:
      all_of: [{ pid: {} }, { exec: { command: ["false", "\${PROBE_TOKEN}"] } }]
      period: 100ms
      failure_threshold: 1
    restart: { limit: { max: 0, retry: never } }
  said:
    process:
      command: [sh, -c, 'while :; do echo "panic: ${'x'.repeat(150)} $$LONG_TOKEN is wrong"; sleep 0.1; done']
      env: { LONG_TOKEN: ${LONG_TOKEN} }
    liveness: { pid: {}, period: 1h, failure_threshold: 1 }
    crash_patterns: ["panic:"]
    restart: { limit: { max: 0, retry: never } }
tickets: { trackers: [{ command: { command: [sh, -c, 'echo "$$1 is not known"; exit 3', sh, "\${TRACKER_SECRET}"] } }] }
alerts: { channels: [{ command: { command: [sh, -c, 'echo "$$1 is not known"; exit 3', sh, "\${ALERT_TOKEN}"] } }] }
`;

test('nor is a variable with a telling name that stands in a probe, in a command of a tracker or of an alert', async () => {
  await using project = new TestProject(INTERPOLATED(await freePort()));
  project.write(
    '.env',
    Object.entries(TOKENS)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  await project.ok('up', '--no-wait');
  const names = ['asked', 'run', 'both', 'said'];
  for (const name of names) await project.until(name, 'given up', ({ state }) => state === 'gave-up');
  const json = (...args: string[]) => project.ok(...args, '-o', 'json');
  await waitFor('the tracker and the channel to have failed', async () => {
    const told = await json('events', '--limit', '1000');
    return told.includes('"alert.failed"') && (await json('tickets', 'list')).includes('ended with exit code 3');
  });
  const sinks: Record<string, string> = {
    status: await json('status', '--verbose'),
    events: await json('events', '--limit', '1000'),
    incidents: await json('incidents', '--all'),
    tickets: await json('tickets', 'list'),
    health: (await project.cli('health', '-o', 'json')).stdout,
  };
  for (const name of names) sinks[`why ${name}`] = await json('why', name);
  Object.assign(sinks, kept(project));
  const told = Object.entries(sinks).flatMap(([sink, text]) =>
    (text.match(/.{0,60}(?:zebra|giraffe).{0,60}/g) ?? []).map((words) => `${sink}: ${words}`),
  );
  expect(told).toEqual([]);
  expect(sinks['why asked']).toContain('[redacted]/alive');
  expect(sinks['events']).toContain('[redacted] is not known');
});
