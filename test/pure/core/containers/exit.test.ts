/** How a container ended, and whose fault it is that one did not begin. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blame, type EndedState, exitOf } from '../../../../src/docker/rules/exit.ts';

const ended = (parts: Partial<EndedState>): EndedState => ({
  status: 'exited',
  exitCode: 0,
  oomKilled: false,
  error: '',
  ...parts,
});

test.each([
  [{ exitCode: 0 }, { kind: 'code', code: 0, ambiguous: false }],
  [{ exitCode: 3 }, { kind: 'code', code: 3, ambiguous: false }],
  [{ exitCode: 125 }, { kind: 'code', code: 125, ambiguous: false }],
  [{ exitCode: 127 }, { kind: 'code', code: 127, ambiguous: false }],
  [{ exitCode: 128 }, { kind: 'code', code: 128, ambiguous: false }],
  [{ exitCode: 130 }, { kind: 'code', code: 130, ambiguous: true }],
  [{ exitCode: 134 }, { kind: 'signal', signal: 'SIGABRT', core: false, oom: false }],
  [{ exitCode: 137 }, { kind: 'signal', signal: 'SIGKILL', core: false, oom: false }],
  [
    { exitCode: 137, oomKilled: true },
    { kind: 'signal', signal: 'SIGKILL', core: false, oom: true },
  ],
  [{ exitCode: 139 }, { kind: 'signal', signal: 'SIGSEGV', core: false, oom: false }],
  [{ exitCode: 141 }, { kind: 'code', code: 141, ambiguous: true }],
  [
    { exitCode: 143, oomKilled: true },
    { kind: 'signal', signal: 'SIGTERM', core: false, oom: false },
  ],
  [{ exitCode: 159 }, { kind: 'signal', signal: 'SIGSYS', core: false, oom: false }],
  [{ exitCode: 255 }, { kind: 'code', code: 255, ambiguous: false }],
  [{ status: 'created' }, { kind: 'unknown', why: 'web was never started' }],
])('%j', (parts, cause) => {
  expect(exitOf('web', ended(parts))).toEqual(cause);
});

test.each([
  [127, 'exec: "nope": executable file not found in $PATH', 'command-not-found', false],
  [126, 'exec: "/etc/hosts": permission denied', 'command-permission', false],
  [128, 'unable to find user nobodyatall: no matching entries in passwd file', 'refused', false],
  [128, 'could not find bridge docker0', 'engine', true],
])('exit code %i with "%s" means that it could not be started', (exitCode, error, code, heals) => {
  expect(exitOf('web', ended({ status: 'created', exitCode, error }))).toEqual({
    kind: 'spawn-failed',
    problem: { code, message: `web could not be started: ${error}`, heals },
  });
});

test('every end has a cause, and only the Engine says that memory was short', () => {
  const states = fc.record({
    status: fc.constantFrom('exited', 'dead', 'created', 'removing'),
    exitCode: fc.integer({ min: -1, max: 300 }),
    oomKilled: fc.boolean(),
    error: fc.oneof(fc.constant(''), fc.string()),
  });
  fc.assert(
    fc.property(states, (state) => {
      const cause = exitOf('web', state);
      if (cause.kind === 'signal' && cause.oom) expect(state.oomKilled).toBe(true);
      if (cause.kind === 'code') expect(cause.code).toBe(state.exitCode);
    }),
  );
});

/** As Docker 20.10, 26.1 and containerd wrote them. */
describe('whose fault', () => {
  const OCI = 'failed to create shim task: OCI runtime create failed: runc create failed';
  const INIT = `${OCI}: unable to start container process`;

  test.each([
    `${INIT}: exec: "nope": executable file not found in $PATH: unknown`,
    `${INIT}: exec: "/bin": permission denied: unknown`,
    `${INIT}: exec: "overlay": executable file not found in $PATH: unknown`,
    `${INIT}: error during container init: error mounting "/etc" to rootfs at "/x": not a directory: unknown`,
    `${INIT}: error during container init: error setting rlimit type 7: operation not permitted: unknown`,
    'driver failed programming external connectivity on endpoint web (e97f): Bind for 127.0.0.1:80 failed: port is already allocated',
    'driver failed programming external connectivity on endpoint web (e97f): Error starting userland proxy: listen tcp4 0.0.0.0:80: bind: address already in use',
    'network missing-net not found',
    'invalid mount config for type "bind": bind source path does not exist: /x',
    "pull access denied for x, repository does not exist or may require 'docker login'",
  ])('the container: %s', (message) => {
    expect(blame(message)).toBe('container');
  });

  test.each([
    'could not find bridge docker0: route ip+net: no such network interface',
    'failed to create endpoint web on network bridge: adding interface veth0 to bridge docker0 failed: could not find bridge docker0',
    'error creating overlay mount to /var/lib/docker/overlay2/x/merged: no such file or directory',
    'write /var/lib/docker/tmp/x: no space left on device',
    'connection error: desc = "transport: error while dialing dial unix /run/containerd/containerd.sock: connect: no such file or directory"',
    'failed to start shim: fork/exec /usr/bin/containerd-shim-runc-v2: no such file or directory',
    `${OCI}: unable to apply cgroup configuration: mkdir /sys/fs/cgroup/x: no such file or directory`,
    'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
    'could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network',
  ])('the Engine: %s', (message) => {
    expect(blame(message)).toBe('engine');
  });

  test('where the words do not tell, nobody is blamed', () => {
    expect(blame('something went wrong')).toBe('untold');
  });
});
