import { describe, expect, test } from 'vitest';
import { flowList, splitCommand } from '../../../src/config/hints/argv.ts';
import { UNAVAILABLE } from '../../../src/config/hints/unavailable.ts';
import { api, linesOf, oneProblem, problemsOf, proc } from './support.ts';

const GOOD = 'components: { api: { process: { command: [server] } } }';

describe('what is not in this version is refused, never silently accepted', () => {
  const places: Readonly<Record<string, (key: string) => string>> = {
    '': (key) => `${key}: {}\n${GOOD}`,
    'components.*': (key) => api(`${key}: {}`),
    'components.*.process': (key) => proc(`command: [server], ${key}: 1`),
    'components.*.restart': (key) => api(`restart: { ${key}: [x] }`),
  };
  const rows = Object.entries(UNAVAILABLE).flatMap(([place, keys]) => keys.map((key) => [place, key] as const));

  test.each(rows)('%s %s', (place, key) => {
    expect(oneProblem(places[place]!(key))).toContain('not available in this version (0.1)');
  });

  test('a component of another kind is not told that it also lacks a process', () => {
    expect(oneProblem('components: { a: { container: { image: x } } }')).toBe(
      'components.a.container: not available in this version (0.1) | Remove it.',
    );
  });

  test('process and container together are one problem too', () => {
    expect(oneProblem(api('container: { image: x }'))).toContain('components.api.container: not available');
  });

  test('a campaign file is named as such and nothing else is said about it', () => {
    expect(oneProblem('campaign: night-run\ncommand: [lem]\nexperiments: []\nretries: 2\n')).toBe(
      'campaign: campaign files are not available in this version (0.1)',
    );
  });
});

describe('a mistyped key', () => {
  test.each([
    ['nmae: x\n' + GOOD, 'nmae: unknown key "nmae" | Did you mean "name"?'],
    [
      'componets: { api: { process: { command: [a] } } }',
      'componets: unknown key "componets" | Did you mean "components"?',
    ],
    [
      'components: { api: { proces: { command: [a] } } }',
      'components.api.proces: unknown key "proces" | Did you mean "process"?',
    ],
    [proc('comand: [a]'), 'components.api.process.comand: unknown key "comand" | Did you mean "command"?'],
    [api('restart: { polcy: always }'), 'components.api.restart.polcy: unknown key "polcy" | Did you mean "policy"?'],
    [
      api('restart: { limit: { maxx: 5 } }'),
      'components.api.restart.limit.maxx: unknown key "maxx" | Did you mean "max"?',
    ],
    [
      api('rediness: {}'),
      'components.api.rediness: unknown key "rediness" | Did you mean "readiness"? It is not available in this version (0.1).',
    ],
    [
      api('colour: red'),
      'components.api.colour: unknown key "colour" | Known here: process, stop, depends_on, min_uptime, restart.',
    ],
    [
      'components: { a: { contaner: {} } }',
      'components.a.contaner: unknown key "contaner" | Did you mean "container"? It is not available in this version (0.1).',
    ],
  ])('%s', (text, problem) => {
    expect(oneProblem(text)).toBe(problem);
  });

  test('an unrelated unknown key does not hide that something is missing', () => {
    expect(problemsOf('components: { a: { colour: red } }').map(({ message }) => message)).toEqual([
      'nothing says what to run',
      'unknown key "colour"',
    ]);
  });

  test('escape sequences in keys are shown, not obeyed', () => {
    const [problem] = problemsOf(`"\\e[2J\\u202e": 1\n${GOOD}`);
    expect(problem!.message).toBe('unknown key "\\u001b[2J\\u202e"');
    expect(problem!.path).toBe('"\\u001b[2J\\u202e"');
  });
});

describe('a key of ours at the wrong height', () => {
  test.each([
    [
      'components: { a: { command: ./bin/server --port 7234 } }',
      'components.a.command: unknown key "command" | "command" belongs to process.command. Write: process: { command: [./bin/server, --port, "7234"] }',
    ],
    [
      'components: { a: { command: "a | b" } }',
      'components.a.command: unknown key "command" | "command" belongs to process.command. Write: process: { command: "a | b", shell: true }',
    ],
    [
      api('cwd: ./x'),
      'components.api.cwd: unknown key "cwd" | "cwd" belongs to process.cwd. Write: process: { cwd: … }',
    ],
    [
      api('policy: always'),
      'components.api.policy: unknown key "policy" | "policy" belongs to restart.policy. Write: restart: { policy: … }',
    ],
    [
      api('restart: { initial: 1s }'),
      'components.api.restart.initial: unknown key "initial" | "initial" belongs to restart.backoff.initial. Write: backoff: { initial: … }',
    ],
    [
      api('restart: { max: 5 }'),
      'components.api.restart.max: unknown key "max" | "max" belongs to restart.backoff.max or restart.limit.max. Write: backoff: { max: … } or limit: { max: … }',
    ],
    [
      proc('command: [a], grace: 1s'),
      'components.api.process.grace: unknown key "grace" | "grace" belongs to stop.grace. Write in the component: stop: { grace: … }',
    ],
  ])('%s', (text, problem) => {
    expect(oneProblem(text)).toBe(problem);
  });
});

describe('the words of other tools', () => {
  test.each([
    ['services: {}', 'components', 'components: { api: { process: { command: [./bin/server] } } }'],
    ['processes: {}', 'components', 'components: {'],
    ['programs: {}', 'components', 'components: {'],
    ['apps: []', 'components', 'components: {'],
  ])('%s at the top', (text, ours, form) => {
    const problem = oneProblem(text);
    expect(problem).toContain(`is ${ours}.`);
    expect(problem).toContain(form);
  });

  test.each([
    ['environment: { A: b }', 'process: { env: { NAME: "value" } }'],
    ['working_dir: ./x', 'process: { cwd: ./x }'],
    ['workingDir: ./x', 'process: { cwd: ./x }'],
    ['workdir: ./x', 'process: { cwd: ./x }'],
    ['directory: ./x', 'process: { cwd: ./x }'],
    ['script: app.js', 'process: { command: [app.js] }'],
    ['args: [a, b]', 'process: { command: [./bin/server, --port, "7234"] }'],
    ['ExecStart: /bin/x', 'process: { command: [/bin/x] }'],
    ['EnvironmentFile: x.env', 'process: { env_file: x.env }'],
    ['max_restarts: 5', 'restart: { limit: { max: 5 } }'],
    ['startretries: 3', 'restart: { limit: { max: 3 } }'],
    ['StartLimitBurst: 3', 'restart: { limit: { max: 3 } }'],
    ['autorestart: true', 'restart: { policy: always }'],
    ['availability: { restart: always }', 'restart: { policy: always }'],
    ['RestartSec: 5', 'restart: { backoff: { initial: 5s } }'],
    ['restart_delay: 100', 'restart: { backoff: { initial: 100ms } }'],
    ['RestartPreventExitStatus: 1', 'restart: { never_on: [78] }'],
    ['stopwaitsecs: 20', 'stop: { grace: 20s }'],
    ['stop_grace_period: 30s', 'stop: { grace: 30s }'],
    ['kill_timeout: 1600', 'stop: { grace: 1600ms }'],
    ['terminationGracePeriodSeconds: 30', 'stop: { grace: 30s }'],
    ['stopsignal: QUIT', 'stop: { signal: SIGTERM }'],
    ['KillSignal: SIGQUIT', 'stop: { signal: SIGTERM }'],
    ['startsecs: 5', 'min_uptime: 5s'],
    ['dependsOn: [a]', 'depends_on: { other: started }'],
    ['Requires: a', 'depends_on: { other: started }'],
  ])('%s', (key, form) => {
    expect(oneProblem(api(key))).toMatch(new RegExp(`Write: ${form.replace(/[[\]{}.*+?^$|()]/g, '\\$&')}$`));
  });

  test.each([
    ['readiness_probe: {}', 'readiness'],
    ['readinessProbe: {}', 'readiness'],
    ['liveness_probe: {}', 'liveness'],
    ['startup_probe: {}', 'startup'],
    ['healthcheck: {}', 'readiness'],
    ['periodSeconds: 10', 'readiness.period (readiness: { period: 10s })'],
    ['initialDelaySeconds: 10', 'startup'],
    ['image: redis', 'container (container: { image: redis })'],
    ['user: app', 'process.user (process: { user: app })'],
  ])('%s has a word of ours that is not available yet', (key, ours) => {
    const problem = oneProblem(api(key));
    expect(problem).toContain(`is ${ours}`);
    expect(problem).toContain('which is not available in this version (0.1).');
  });

  test.each([
    ['exec_mode: cluster', 'one process per component'],
    ['instances: 4', 'one process per component'],
    ['numprocs: 2', 'one process per component'],
    ['stdout_logfile: x', 'all output goes to .keepwell/logs/NAME.log'],
    ['ports: ["80:80"]', 'It belongs to containers'],
    ['autostart: false', '"keepwell up" starts every component'],
    ['watch: true', 'does not watch source files'],
  ])('%s has no counterpart, and it says what to do', (key, hint) => {
    expect(oneProblem(api(key))).toContain(hint);
  });

  test('inside process the short form is printed', () => {
    expect(oneProblem(proc('command: [a], environment: {}'))).toContain('Write: env: { NAME: "value" }');
  });

  test('a word that stands for something required is one problem, not two', () => {
    expect(oneProblem('components: { api: { script: app.js } }')).toContain('unknown key "script"');
    expect(oneProblem(proc('script: app.js'))).toContain('Write: command: [app.js]');
  });
});

describe('the shapes of other tools', () => {
  test.each([
    ['restart: always', 'restart: must be a map, not a single value | Write: restart: { policy: always }'],
    ['restart: unless-stopped', 'restart: must be a map, not a single value | Write: restart: { policy: always }'],
    ['restart: no', 'restart: must be a map, not a single value | Write: restart: { policy: never }'],
    ['restart: "no"', 'restart: must be a map, not a single value | Write: restart: { policy: never }'],
    ['restart: false', 'restart: must be a map, not a single value | Write: restart: { policy: never }'],
    [
      'restart: on-failure:5',
      'restart: must be a map, not a single value | Write: restart: { policy: on-failure, limit: { max: 5 } }',
    ],
    [
      'restart: { policy: unless-stopped }',
      'restart.policy: must be always, on-failure or never, not "unless-stopped" | Did you mean "always"?',
    ],
    [
      'restart: { policy: no }',
      'restart.policy: must be always, on-failure or never, not "no" | Did you mean "never"?',
    ],
    [
      'restart: { policy: On-Failure }',
      'restart.policy: must be always, on-failure or never, not "On-Failure" | Did you mean "on-failure"?',
    ],
    ['restart: { limit: 5 }', 'restart.limit: must be a map, not a single value | Write: limit: { max: 5 }'],
    [
      'restart: { backoff: 5s }',
      'restart.backoff: must be a map, not a single value | Write: backoff: { initial: 5s }',
    ],
    ['restart: { never_on: 78 }', 'restart.never_on: must be a list, not a single value | Write: never_on: [78]'],
    ['stop: SIGINT', 'stop: must be a map, not a single value | Write: stop: { signal: SIGINT }'],
    ['stop: 10s', 'stop: must be a map, not a single value | Write: stop: { grace: 10s }'],
    [
      'depends_on: [db, cache]',
      'depends_on: must be a map of names and conditions, not a list | Write: depends_on: { db: started, cache: started }   (started, ready or completed)',
    ],
    [
      'depends_on: db',
      'depends_on: must be a map of names and conditions, not a single value | Write: depends_on: { db: started }   (started, ready or completed)',
    ],
  ])('%s', (key, problem) => {
    expect(oneProblem(api(key))).toBe(`components.api.${problem}`);
  });

  test.each([
    ['{ condition: service_healthy }', 'not a map | Write ready.'],
    ['{ condition: service_started }', 'not a map | Write started.'],
    ['{ condition: service_completed_successfully }', 'not a map | Write completed.'],
    ['{ condition: process_healthy }', 'not a map | Write ready.'],
    ['service_healthy', 'not "service_healthy" | Did you mean "ready"?'],
    ['healthy', 'not "healthy" | Did you mean "ready"?'],
    ['redy', 'not "redy" | Did you mean "ready"?'],
  ])('a dependency given as %s', (condition, problem) => {
    const text = `components: { db: { process: { command: [a] } }, api: { process: { command: [a] }, depends_on: { db: ${condition} } } }`;
    expect(oneProblem(text)).toBe(`components.api.depends_on.db: must be started, ready or completed, ${problem}`);
  });

  test.each([
    [
      'components: [{ name: web }]',
      'components: must be a map from name to component, not a list | Write: components: { web: { process: … } }',
    ],
    [
      'components: { web: npm start }',
      'components.web: a component is a map, not a bare command | Write: { process: { command: [npm, start] } }',
    ],
    [
      'components: { web: [npm, start] }',
      'components.web: a component is a map, not a bare command | Write: { process: { command: [npm, start] } }',
    ],
    [
      'components: { web: { process: npm start | tee x } }',
      'components.web.process: must be a map, not a bare command | Write: process: { command: "npm start | tee x", shell: true }',
    ],
    [
      proc('command: [a], env: ["A=b c", PORT]'),
      'components.api.process.env: must be a map of names and values, not a list | Write: env: { A: "b c", PORT: "${PORT}" }',
    ],
  ])('%s', (text, problem) => {
    expect(oneProblem(text)).toBe(problem);
  });
});

describe('a command given as one text', () => {
  test.each([
    ['./bin/server --port 7234', ['./bin/server', '--port', '7234'], '[./bin/server, --port, "7234"]'],
    ['echo \'a b\' "c d" e\\ f', ['echo', 'a b', 'c d', 'e f'], '[echo, "a b", "c d", "e f"]'],
    ['a\'\'b --x="y z"', ['ab', '--x=y z'], '[ab, "--x=y z"]'],
    ['  node   app.js ', ['node', 'app.js'], '[node, app.js]'],
    [
      'run ${HOST} true null 1e3 -',
      ['run', '${HOST}', 'true', 'null', '1e3', '-'],
      '[run, "${HOST}", "true", "null", "1e3", "-"]',
    ],
  ])('%j is split like a shell would', (line, words, form) => {
    expect(splitCommand(line)).toEqual(words);
    expect(flowList(words)).toBe(form);
  });

  test.each([
    'a | b',
    'a && b',
    'a > x',
    'echo $HOME',
    'ls *.js',
    'A=b cmd',
    'echo "open',
    '',
    '   ',
    'a; b',
    '`x`',
    'a\nb',
  ])('%j needs a shell or more thought', (line) => {
    expect(splitCommand(line)).toBeNull();
  });

  test('the error prints the form to paste', () => {
    expect(linesOf(proc('command: ./bin/server --port 7234'))).toEqual([
      '1:42 components.api.process.command: a command is a list of texts, not one text | Write: command: [./bin/server, --port, "7234"]',
    ]);
    expect(oneProblem(proc('command: "a | b"'))).toBe(
      'components.api.process.command: a command is a list of texts, not one text | Add "shell: true" to run it with /bin/sh -c, or write: command: [program, argument]',
    );
  });
});
