import { describe, expect, test } from 'vitest';
import { flowList, splitCommand } from '../../../src/config/words/argv.ts';
import { api, linesOf, oneProblem, problemsOf, proc } from './support.ts';

const GOOD = 'components: { api: { process: { command: [server] } } }';

test('a campaign file is named as such and nothing else is said about it', () => {
  expect(oneProblem('campaign: night-run\ncommand: [lem]\nexperiments: []\nretries: 2\n')).toBe(
    'campaign: this is a campaign file | Run it with: keepwell campaign run FILE',
  );
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
    [api('rediness: {}'), 'components.api.rediness: unknown key "rediness" | Did you mean "readiness"?'],
    [api('hartbeat: {}'), 'components.api.hartbeat: unknown key "hartbeat" | Did you mean "heartbeat"?'],
    [api('readiness: { htttp: 80 }'), 'components.api.readiness.htttp: unknown key "htttp" | Did you mean "http"?'],
    [api('liveness: { gprc: {} }'), 'components.api.liveness.gprc: unknown key "gprc" | Did you mean "grpc"?'],
    [
      api('colour: red'),
      'components.api.colour: unknown key "colour" | Known here: process, container, compose, external, startup, liveness, readiness, crash_patterns, heartbeat, stop, depends_on, min_uptime, restart, limits, cleanup, logs.',
    ],
    [
      'components: { a: { contaner: {} } }',
      'components.a.contaner: unknown key "contaner" | Did you mean "container"?',
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
    [
      api('restart: { min_uptime: 5s }'),
      'components.api.restart.min_uptime: unknown key "min_uptime" | "min_uptime" belongs directly in the component. Write there: min_uptime: …',
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
    ['script: app.js', 'process: { command: [node, app.js] }'],
    ['script: worker.py', 'process: { command: [python3, worker.py] }'],
    ['script: ./bin/server', 'process: { command: [./bin/server] }'],
    ['args: [a, b]', 'process: { command: [./bin/server, --port, "7234"] }'],
    ['ExecStart: /bin/x', 'process: { command: [/bin/x] }'],
    ['EnvironmentFile: x.env', 'process: { env_file: x.env }'],
    ['max_restarts: 5', 'restart: { limit: { max: 5 } }'],
    ['startretries: 3', 'restart: { limit: { max: 3 } }'],
    ['StartLimitBurst: 3', 'restart: { limit: { max: 3 } }'],
    ['autorestart: true', 'restart: { policy: always }'],
    ['autorestart: false', 'restart: { policy: never }'],
    ['autorestart: unexpected', 'restart: { policy: on-failure }'],
    ['restart_policy: on-failure', 'restart: { policy: on-failure }'],
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
    ['RestartSec: 5s', 'restart: { backoff: { initial: 5s } }'],
    ['RestartSec: infinity', 'restart: { backoff: { initial: 1s } }'],
    ['stop_grace_period: 30', 'stop: { grace: 30s }'],
    ['uid: app', 'process: { user: app }'],
    ['user: app', 'process: { user: … }'],
    ['max_memory_restart: 300M', 'limits: { soft_memory: 300MiB }'],
    ['mem_limit: 1.5g', 'limits: { memory: 1.5GiB }'],
    ['MemoryMax: infinity', 'limits: { memory: 512MiB }'],
    ['TasksMax: 64', 'limits: { pids: 64 }'],
    ['LimitNOFILE: 1024', 'limits: { nofile: 1024 }'],
    ['stdout_logfile_maxbytes: 10MB', 'logs: { max_size: 10MiB }'],
    ['stdout_logfile_backups: 3', 'logs: { keep: 3 }'],
    ['dependsOn: [a]', 'depends_on: { other: started }'],
    ['Requires: a', 'depends_on: { other: started }'],
    ['WatchdogSec: 30', 'heartbeat: { log_every: 30s, freeze_after: 5m }'],
  ])('%s', (key, form) => {
    expect(oneProblem(api(key))).toMatch(new RegExp(`Write: ${form.replace(/[[\]{}.*+?^$|()]/g, '\\$&')}$`));
  });

  test.each([
    ['exec_mode: cluster', 'one process per component'],
    ['instances: 4', 'one process per component'],
    ['numprocs: 2', 'one process per component'],
    ['stdout_logfile: x', 'all output goes to .keepwell/logs/NAME.log'],
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
    expect(oneProblem(proc('script: app.js'))).toContain('Write: command: [node, app.js]');
  });

  test.each(['process', 'liveness', 'depends_on'])('%s at the top belongs into a component', (key) => {
    expect(oneProblem(`${key}: {}\n${GOOD}`)).toContain(
      `"${key}" belongs to a component. Write: components: { NAME: { ${key}: … } }`,
    );
  });
});

describe('the probes of other tools', () => {
  const SAMPLE = '{ http: { port: 8080, path: /ready }, period: 10s }';

  test.each([
    [
      'livenessProbe: { httpGet: { path: /healthz, port: 8080 }, periodSeconds: 3, failureThreshold: 5 }',
      'liveness: { http: { port: 8080, path: /healthz }, period: 3s, failure_threshold: 5 }',
    ],
    [
      'readinessProbe: { tcpSocket: { port: 5432 }, initialDelaySeconds: 5, timeoutSeconds: 2, successThreshold: 2 }',
      'readiness: { tcp: { port: 5432 }, initial_delay: 5s, timeout: 2s, success_threshold: 2 }',
    ],
    ['startupProbe: { exec: { command: [cat, /tmp/up] } }', 'startup: { exec: { command: [cat, /tmp/up] } }'],
    [
      'readiness_probe: { http_get: { host: 127.0.0.1, scheme: HTTP, path: "/", port: 8080 }, initial_delay_seconds: 5 }',
      'readiness: { http: { port: 8080, path: /, host: "127.0.0.1", scheme: http }, initial_delay: 5s }',
    ],
    [
      'liveness_probe: { exec: { command: "pg_isready -q" }, period_seconds: 2 }',
      'liveness: { exec: { command: [pg_isready, -q] }, period: 2s }',
    ],
    [
      'healthcheck: { test: [CMD, curl, -f, "http://localhost"], interval: 1m30s, timeout: 10s, retries: 3, start_period: 40s }',
      'readiness: { exec: { command: [curl, -f, http://localhost] }, period: 1m30s, timeout: 10s, failure_threshold: 3, initial_delay: 40s }',
    ],
    [
      'healthcheck: { test: [CMD-SHELL, "curl -f localhost || exit 1"] }',
      'readiness: { exec: { command: "curl -f localhost || exit 1", shell: true } }',
    ],
    ['healthcheck: { test: curl -f localhost }', 'readiness: { exec: { command: [curl, -f, localhost] } }'],
    ['ready_log_line: Server started', 'readiness: { log: "Server started" }'],
    ['listen_timeout: 3000', 'startup: { tcp: { port: 8080 }, period: 1s, failure_threshold: 30 }'],
    // Where something in it is not understood, the form is shown with nothing of it.
    ['wait_ready: true', `readiness: ${SAMPLE}`],
    ['readinessProbe: {}', `readiness: ${SAMPLE}`],
    ['readinessProbe: { httpGet: { port: web } }', `readiness: ${SAMPLE}`],
    ['readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 1 }', `readiness: ${SAMPLE}`],
    ['healthcheck: { disable: true }', `readiness: ${SAMPLE}`],
    ['healthcheck: { test: [NONE] }', `readiness: ${SAMPLE}`],
    ['healthcheck: [CMD, x]', `readiness: ${SAMPLE}`],
    ['periodSeconds: 10', 'readiness: { period: 10s }'],
    ['initial_delay_seconds: 5', 'readiness: { initial_delay: 5s }'],
    ['timeoutSeconds: 2', 'readiness: { timeout: 2s }'],
    ['failureThreshold: 5', 'readiness: { failure_threshold: 5 }'],
    ['successThreshold: 5', 'readiness: { success_threshold: 5 }'],
    ['PIDFile: /run/x.pid', 'external: { pid_file: /run/x.pid }'],
  ])('%s', (key, form) => {
    expect(oneProblem(api(key))).toContain(` Write: ${form}`);
    expect(oneProblem(api(key)).endsWith(form)).toBe(true);
  });

  test.each([
    ['httpGet: { path: /healthz, port: 8080 }', 'http: { port: 8080, path: /healthz }'],
    ['http_get: { port: 8080 }', 'http: { port: 8080 }'],
    ['httpGet: {}', 'http: { port: 8080, path: /healthz }'],
    ['tcpSocket: { port: 8080 }', 'tcp: { port: 8080 }'],
    ['test: [CMD, a, b]', 'exec: { command: [a, b] }'],
    ['cmd: ./check -q', 'exec: { command: [./check, -q] }'],
    ['command: ./check -q', 'exec: { command: [./check, -q] }'],
    ['port: 8080', 'http: { port: … }, tcp: { port: … } or grpc: { port: … }'],
    ['url: "http://localhost:8080/x"', 'http: http://localhost:8080/x'],
    ['http: { url: "http://localhost:8080/x" }', 'liveness: { http: http://localhost:8080/x }'],
    ['tcp: 1, periodSeconds: 10', 'period: 10s'],
    ['tcp: 1, interval: 10s', 'period: 10s'],
    ['tcp: 1, interval: 10', 'period: 10s'],
    ['tcp: 1, every: soon', 'period: 10s'],
    ['tcp: 1, timeoutSeconds: 5', 'timeout: 5s'],
    ['tcp: 1, initialDelaySeconds: 5', 'initial_delay: 5s'],
    ['tcp: 1, start_period: 40s', 'initial_delay: 40s'],
    ['tcp: 1, retries: 5', 'failure_threshold: 5'],
    ['tcp: 1, failureThreshold: 5', 'failure_threshold: 5'],
    ['tcp: 1, successThreshold: 1', 'success_threshold: 1'],
    ['http: { port: 80, httpHeaders: [] }', 'headers: { Name: "value" }'],
    ['http: { port: 80, hostname: x.example }', 'host: x.example'],
    ['http: { port: 80, expected_status: 204 }', 'status: 204'],
    ['http: { port: 80, body: all ok }', 'contains: "all ok"'],
    ['http: { port: 80, timeout: 1s }', 'liveness: { timeout: … }'],
    ['http: { port: 80, insecureSkipVerify: true }', 'insecure: true'],
    ['exec: { cmd: [a, b] }', 'command: [a, b]'],
    ['exec: { command: [a], working_dir: ./x }', 'cwd: ./x'],
    ['all_of: [{ tcp: 1, retries: 5 }]', 'liveness: { failure_threshold: 5 }'],
    ['all_of: [{ httpGet: { port: 80 } }]', 'http: { port: 80 }'],
  ])('liveness: { %s }', (keys, form) => {
    const problem = oneProblem(api(`liveness: { ${keys} }`));
    expect(problem).toMatch(/unknown key .* \| .*liveness/);
    expect(problem.endsWith(`: ${form}`)).toBe(true);
  });

  test('a key of a probe that stands in the component', () => {
    expect(oneProblem(api('http: { port: 8080 }'))).toBe(
      'components.api.http: unknown key "http" | "http" belongs to a probe (startup, liveness or readiness). Write: readiness: { http: … }',
    );
    expect(oneProblem(api('failure_threshold: 5'))).toContain('Write: readiness: { failure_threshold: … }');
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
    ['restart: { limit: none }', 'restart.limit: must be a map, not a single value | Write: limit: { max: 1000000 }'],
    [
      'restart: { limit: 5m }',
      'restart.limit: must be a map, not a single value | Write: limit: { max: 10, within: 5m }',
    ],
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
