import { describe, expect, test } from 'vitest';
import { linesOf, load, oneProblem, only } from './support.ts';

const component = (keys: string): string => `components: { api: { ${keys} } }`;
const withB = (api: string, b: string): string => `components: { api: { ${api} }, b: { ${b} } }`;

describe('something that others start', () => {
  test.each([
    ['pid_file: /run/legacy.pid', { kind: 'pid-file', path: '/run/legacy.pid' }],
    ['pid_file: run/legacy.pid', { kind: 'pid-file', path: '/project/run/legacy.pid' }],
    ['address: "localhost:7233"', { kind: 'address', host: 'localhost', port: 7233 }],
    ['address: "[::1]:7233"', { kind: 'address', host: '::1', port: 7233 }],
    ['address: "db:${PORT}"', { kind: 'address', host: 'db', port: 8080 }],
    ['container: redis', { kind: 'container', name: 'redis' }],
    ['container: My_App.1-a', { kind: 'container', name: 'My_App.1-a' }],
  ])('%s', (key, target) => {
    const { driver, minUptimeMs } = only(component(`external: { ${key} }`), { env: { PORT: '8080' } });
    const none = { recover: null, cwd: '/project', env: {}, envFiles: [] };
    expect(driver).toEqual({ kind: 'external', target, ...none });
    expect(minUptimeMs).toBe(0);
  });

  test('with a command it is brought back, under the policy that is given', () => {
    const restart = 'restart: { policy: on-failure, command: [systemctl, restart, legacy], limit: { max: 2 } }';
    const { driver, restart: spec } = only(component(`external: { pid_file: x }, liveness: { pid: {} }, ${restart}`));
    expect(driver).toMatchObject({ recover: ['systemctl', 'restart', 'legacy'] });
    expect(spec).toMatchObject({ policy: 'on-failure', limit: { max: 2 } });
  });

  test.each([
    'external: { pid_file: x }, restart: { policy: always }',
    'external: { pid_file: x }, restart: { command: [a], backoff: { initial: 2s }, dependents: true }',
    'external: { address: "h:1" }, startup: { tcp: 1 }, liveness: { exec: { command: [a] } }, readiness: { http: 1 }',
    'external: { container: x }, min_uptime: 5s, restart: { command: [a], never_on: [78] }',
  ])('%s is fine', (keys) => {
    expect(linesOf(component(keys))).toEqual([]);
  });

  test.each([
    [
      'external: {}',
      'external: nothing says how to find it | Write one of: pid_file: /run/legacy.pid, address: "127.0.0.1:7233", container: redis',
    ],
    ['external:', 'external: is empty | Give it content, or remove the line.'],
    [
      'external: { pid_file: x, address: "h:1" }',
      'external: it can be found in one way only, not by pid_file and address | Keep one; use a probe for the others.',
    ],
    [
      'external: { pid_file: x, address: "h:1", container: y }',
      'external: it can be found in one way only, not by pid_file, address and container | Keep one; use a probe for the others.',
    ],
    ['external: { pid_file: ~/x }', 'external.pid_file: "~" is not expanded | Write ${HOME}/x.'],
    [
      'external: { pid_file: "" }',
      'external.pid_file: is empty; it must be a path | Give it a value, or remove the line.',
    ],
    ['external: { pid_file: 5 }', 'external.pid_file: must be text, not a number | Put it in quotes: "5".'],
    ['external: { address: 7233 }', 'external.address: must be a host and a port | Write "127.0.0.1:7233".'],
    [
      'external: { address: localhost }',
      'external.address: "localhost" lacks the port | Write "host:port", for example "127.0.0.1:7233".',
    ],
    ['external: { address: "localhost:0" }', 'external.address: the port must be a whole number from 1 to 65535'],
    ['external: { address: "http://localhost:80" }', 'external.address: must not be a URL | Write "localhost:80".'],
    [
      'external: { address: "::1:80" }',
      'external.address: "::1:80" leaves open what is the port | Put the IPv6 address in brackets: "[::1]:7233".',
    ],
    [
      'external: { container: /redis }',
      'external.container: "/redis" is not the name of a container | Write redis, without the slash.',
    ],
    [
      'external: { container: "a b" }',
      'external.container: "a b" is not the name of a container | Use the name or the id that "docker ps" shows.',
    ],
    ['external: { container: 5 }', 'external.container: must be text, not a number | Put it in quotes: "5".'],
    ['external: /run/x.pid', 'external: must be a map, not a single value | Write: external: { pid_file: /run/x.pid }'],
    ['external: x.pid', 'external: must be a map, not a single value | Write: external: { pid_file: x.pid }'],
    [
      'external: localhost:7233',
      'external: must be a map, not a single value | Write: external: { address: localhost:7233 }',
    ],
    ['external: redis', 'external: must be a map, not a single value | Write: external: { container: redis }'],
    ['external: true', 'external: must be a map, not a single value | Write: external: { pid_file: /run/legacy.pid }'],
    ['external: [a]', 'external: must be a map'],
    [
      'external: { pidfile: /run/x.pid }',
      `external.pidfile: unknown key "pidfile" | Keepwell's word for "pidfile" is external.pid_file. Write: pid_file: /run/x.pid`,
    ],
    [
      'external: { pid: 5 }',
      `external.pid: unknown key "pid" | Keepwell's word for "pid" is external.pid_file. Write: pid_file: /run/legacy.pid`,
    ],
    [
      'external: { port: 7233 }',
      `external.port: unknown key "port" | Keepwell's word for "port" is external.address. Write: address: "127.0.0.1:7233"`,
    ],
    [
      'external: { name: redis }',
      `external.name: unknown key "name" | Keepwell's word for "name" is external.container. Write: container: redis`,
    ],
    [
      'external: { pid_file: x, command: systemctl restart x }',
      `external.command: unknown key "command" | Keepwell's word for "command" is restart.command. Write in the component: restart: { command: [systemctl, restart, x] }`,
    ],
    [
      'external: { pid_file: x }, restart: { command: systemctl restart legacy }',
      'restart.command: a command is a list of texts, not one text | Write: command: [systemctl, restart, legacy]',
    ],
    [
      'external: { pid_file: x }, restart: { command: "a | b" }',
      'restart.command: a command is a list of texts, not one text | Write: command: [sh, -c, "a | b"]',
    ],
    [
      'external: { pid_file: x }, restart: { command: [] }',
      'restart.command: the command is empty | Write: command: [systemctl, restart, x]',
    ],
    [
      'external: { pid_file: x }, restart: { command: ["", a] }',
      'restart.command[0]: the name of the program is empty | Name the program to run.',
    ],
    [
      'external: { pid_file: x }, restart: { command: [a, 5] }',
      'restart.command[1]: must be text, not a number | Put it in quotes: "5".',
    ],
    [
      'external: { pid_file: x }, restart: { shell: true }',
      'restart.shell: unknown key "shell" | Write: command: [sh, -c, "one | two"]',
    ],
    [
      'external: { pid_file: x }, stop: { grace: 1s }',
      'stop: something external is not ours to stop | Remove it: "keepwell stop" only ends the watching.',
    ],
    [
      'external: { pid_file: x }, stop: {}',
      'stop: something external is not ours to stop | Remove it: "keepwell stop" only ends the watching.',
    ],
    [
      'external: { pid_file: x }, crash_patterns: [a]',
      'crash_patterns: the output of something external is not ours to read | Ask with exec, http or tcp instead.',
    ],
    [
      'external: { pid_file: x }, min_uptime: 5s',
      'min_uptime: how it ended is only known of a container | Remove it: every end counts as a failure already.',
    ],
    [
      'external: { address: "h:1" }, restart: { command: [a], never_on: [1] }',
      'restart.never_on: how it ended is only known of a container | Remove it: every end counts as a failure already.',
    ],
    [
      'external: { container: x }, min_uptime: 5s',
      'min_uptime: it is only watched, so nothing depends on how it ended | Remove it, or say how to bring it back: restart: { command: [systemctl, restart, x] }',
    ],
    [
      'external: { container: x }, restart: { never_on: [1] }',
      'restart.never_on: it is only watched, so nothing depends on how it ended | Remove it, or say how to bring it back: restart: { command: [systemctl, restart, x] }',
    ],
    [
      'external: { pid_file: x }, readiness: { log: a }',
      'readiness.log: the output of something external is not ours to read | Ask with exec, http or tcp instead.',
    ],
    [
      'external: { pid_file: x }, readiness: { all_of: [{ tcp: 1 }, { log: a }] }',
      'readiness.all_of[1].log: the output of something external is not ours to read | Ask with exec, http or tcp instead.',
    ],
    [
      'external: { address: "h:1" }, liveness: { pid: {} }',
      'liveness.pid: its process is only known with external: { pid_file: … } | Remove the probe: what "external" names is watched anyway.',
    ],
    [
      'external: { container: h }, liveness: { all_of: [{ pid: {} }] }',
      'liveness.all_of[0].pid: its process is only known with external: { pid_file: … } | Remove the probe: what "external" names is watched anyway.',
    ],
    [
      'external: { pid_file: x }, process: { command: [a] }',
      'components.api: process and external exclude each other: a component is one thing | Keep process, container or compose to have it started here, or external to watch what others start.',
    ],
    [
      'external: { pid_file: x }, process: { command: [a] }, stop: {}, restart: { command: [a] }',
      'components.api: process and external exclude each other: a component is one thing | Keep process, container or compose to have it started here, or external to watch what others start.',
    ],
    [
      'process: { command: [a] }, restart: { command: [a] }',
      'restart.command: a process is started again with its own command | Remove it: restart.command is for what others start ("external").',
    ],
    [
      'liveness: { tcp: 1 }',
      'components.api: nothing says what to run | Write: process: { command: [./bin/server] }, or: container: { image: name:tag }',
    ],
    ['externl: { pid_file: x }', 'externl: unknown key "externl" | Did you mean "external"?'],
    [
      'pidfile: /run/x.pid',
      `pidfile: unknown key "pidfile" | Keepwell's word for "pidfile" is external.pid_file. Write: external: { pid_file: /run/x.pid }`,
    ],
  ])('%s is refused', (keys, problem) => {
    expect(oneProblem(component(keys)).replace(/^components\.api\./, '')).toBe(problem);
  });
});

describe('dependencies of and on something that others start', () => {
  const PROCESS = 'process: { command: [x] }';

  test('it can only wait when there is something to start', () => {
    expect(oneProblem(withB('external: { pid_file: x }, depends_on: { b: ready }', PROCESS))).toBe(
      'components.api.depends_on: nothing is started here, so nothing can wait | Remove it, or say how to bring it back: restart: { command: [systemctl, restart, x] }',
    );
    const text = withB('external: { pid_file: x }, depends_on: { b: ready }, restart: { command: [a] }', PROCESS);
    expect(load(text).components[0]!.dependsOn).toEqual({ b: 'ready' });
  });

  test('others can wait for it', () => {
    const text = withB(`${PROCESS}, depends_on: { b: ready }`, 'external: { address: "h:1" }');
    expect(load(text).components[0]!.dependsOn).toEqual({ b: 'ready' });
  });

  test.each([
    ['external: { pid_file: x }', 'how it ended is only known of a container'],
    ['external: { container: x }', 'it is watched until it comes back'],
    ['external: { container: x }, restart: { command: [a] }', 'its restart policy is always'],
  ])('%s never completes', (b, why) => {
    expect(oneProblem(withB(`${PROCESS}, depends_on: { b: completed }`, b))).toContain(`"b" never completes: ${why}`);
  });

  test('a container that is brought back only after a failure can complete', () => {
    const b = 'external: { container: x }, restart: { command: [a], policy: on-failure }';
    expect(linesOf(withB(`${PROCESS}, depends_on: { b: completed }`, b))).toEqual([]);
  });
});
