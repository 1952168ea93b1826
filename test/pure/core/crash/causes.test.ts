import { describe, expect, test } from 'vitest';
import { exitView } from '../../../../src/base/pure/exit.ts';
import { explainCrash } from '../../../../src/crashes/rules/explain.ts';
import { causeIn } from '../../../../src/crashes/rules/root-cause.ts';
import { exitCode, killedBy } from '../../../support/builders.ts';
import { parseCrash } from '../../../support/parse-crash.ts';
import { CORPUS } from './corpus.ts';

const CONTEXT = {
  dependencies: [
    { name: 'database', ports: [5432] },
    { name: 'api', ports: [7234, 8080] },
  ],
  portHolder: (port: number) => (port === 80 ? 'nginx (pid 812)' : null),
};

describe('the last words of programs without a stack', () => {
  test.each([
    [
      'nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)',
      'port 80 is in use by nginx (pid 812): stop that, or choose another port',
    ],
    [
      'listen tcp :9090: bind: address already in use',
      'port 9090 is in use by another process: stop that, or choose another port',
    ],
    [
      'Web server failed to start. Port 8081 was already in use.',
      'port 8081 is in use by another process: stop that, or choose another port',
    ],
    [
      'listen tcp :443: bind: permission denied',
      'it may not listen on port 443: ports below 1024 need root or CAP_NET_BIND_SERVICE',
    ],
    [
      'dial tcp 127.0.0.1:5432: connect: connection refused',
      'its dependency database refused the connection (127.0.0.1:5432): it was not running or not ready',
    ],
    [
      'connection to server at "localhost" (::1), port 5432 failed: Connection refused',
      'its dependency database refused the connection (localhost:5432): it was not running or not ready',
    ],
    [
      'Error: connect ECONNREFUSED 127.0.0.1:6379',
      'nothing listens on 127.0.0.1:6379: the server there is not running, or listens elsewhere',
    ],
    [
      'write /var/lib/x: no space left on device',
      'there is no space left on the disk (or no inodes): free some, then start it again',
    ],
    ['fatal error: runtime: out of memory', 'it could not get the memory that it asked for'],
    ['torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB', 'the memory of the GPU is full'],
    [
      'open /etc/app/key.pem: permission denied',
      'it may not use /etc/app/key.pem: check its owner and mode, and the user the component runs as',
    ],
    ['open /etc/app/config.yml: no such file or directory', 'the file /etc/app/config.yml is not there'],
    [
      'error while loading shared libraries: libssl.so.3: cannot open shared object file',
      "module 'libssl.so.3' is not installed or cannot be found: install it, or correct its name",
    ],
    [
      'DATABASE_URL environment variable is not set',
      'the environment variable DATABASE_URL is not set: set it under env or in env_file',
    ],
    ['exec: "ffmpeg": executable file not found in $PATH', "the command 'ffmpeg' is not installed, or not in PATH"],
    [
      'dial tcp: lookup db.internal on 10.0.0.2:53: no such host',
      'the host name db.internal could not be resolved: check its spelling and the DNS of this machine',
    ],
    [
      'x509: certificate signed by unknown authority',
      'the certificate of the server is not signed by an authority that this machine trusts',
    ],
    ['x509: certificate has expired or is not yet valid', 'the certificate of the server has expired'],
    [
      'FATAL:  password authentication failed for user "app"',
      'the server refused the credentials of user app: check the password, key or token',
    ],
    ['context deadline exceeded', 'something that it waited for did not answer in time'],
    [
      'socket: too many open files',
      'it has too many files or sockets open: find what does not close them, or raise limits.nofile',
    ],
    [
      "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./app)",
      'the program was built for a newer system: GLIBC_2.38 is not there',
    ],
    ['everything is fine', null],
  ])('%s', (line, cause) => expect(causeIn(line, CONTEXT)).toBe(cause));
});

test('a refused connection names the dependency whose port it was', () => {
  const { tail } = CORPUS.find(({ name }) => name === 'python/refused-chain')!;
  expect(parseCrash(tail, { ...CONTEXT, cwd: '/srv/agents' })?.rootCause).toBe(
    'its dependency api refused the connection (localhost:7234) (called in fetch_tasks, client.py:18): it was not running or not ready',
  );
});

describe('an end without a stack', () => {
  const explain = (tail: string, cause = exitView(exitCode(1))) => explainCrash(tail, cause);
  test('says its last complaint, not its last line', () => {
    const { errorType, errorMessage } = explain('ready\n2026-01-02 03:04:05 ERROR cannot open pipe 7\nbye\n');
    expect([errorType, errorMessage]).toEqual([null, 'cannot open pipe 7']);
  });
  test('numbers and times do not make another one', () =>
    expect(explain('12:00:01 worker 7 failed after 20 s').fingerprint).toBe(
      explain('13:10:59 worker 9 failed after 31 s').fingerprint,
    ));
  test('other words or another code do', () => {
    const prints = [
      explain('worker failed'),
      explain('broker failed'),
      explain('worker failed', exitView(exitCode(2))),
    ];
    expect(new Set(prints.map(({ fingerprint }) => fingerprint)).size).toBe(3);
  });
  test('killed from outside, what it wrote does not matter', () => {
    const killed = exitView(killedBy('SIGKILL'));
    expect(explain('cannot open pipe', killed).fingerprint).toBe(explain('all is well', killed).fingerprint);
    expect(explain('cannot open pipe', killed).errorMessage).toBeNull();
  });
  test('out of memory is not blamed on an error that was logged before', () => {
    const oom = exitView({ kind: 'signal', signal: 'SIGKILL', core: false, oom: true });
    const { tail } = CORPUS.find(({ name }) => name === 'python/no-space')!;
    expect(explain(tail, oom)).toMatchObject({ errorType: null, stack: [], rootCause: null });
  });
  test('an error that was logged long before the end is not the cause', () => {
    const { tail } = CORPUS.find(({ name }) => name === 'python/no-space')!;
    const later = Array.from({ length: 30 }, (_, at) => `INFO step ${at}`).join('\n');
    expect(explain(`ERROR: snapshot failed\n${tail}\n${later}\nFATAL cannot go on`).errorMessage).toBe(
      'FATAL cannot go on',
    );
  });
  test('a program that says nothing has a fingerprint too', () =>
    expect(explain('')).toMatchObject({ errorMessage: null, fingerprint: expect.stringMatching(/^v2:/) }));
});
