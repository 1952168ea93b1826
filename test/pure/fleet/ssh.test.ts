import { expect, test } from 'vitest';
import { hostAndName, parseHost } from '../../../src/fleet/rules/host.ts';
import { askArguments, daemonThere, forwardArguments, sshError } from '../../../src/fleet/rules/ssh.ts';

const HOST = { user: 'deploy', host: 'web', port: 2222, path: '/srv/shop' };
const ENDS = { control: '/run/x/c', local: '/run/x/l' };

test.each([
  ['ssh://web', { user: null, host: 'web', port: null, path: '' }],
  ['ssh://deploy@web:2222/srv/shop', HOST],
  ['ssh://[::1]:22/srv', { user: null, host: '::1', port: 22, path: '/srv' }],
  ['ssh://web/~/shop', { user: null, host: 'web', port: null, path: '~/shop' }],
  ['ssh://web/~', { user: null, host: 'web', port: null, path: '' }],
  ["ssh://web/my%20shop's", { user: null, host: 'web', port: null, path: "/my shop's" }],
])('%s is a host', (text, host) => {
  expect(parseHost(text)).toEqual(host);
});

test.each([
  'web',
  'http://web/',
  'ssh://',
  'ssh:///srv',
  'ssh://-oProxyCommand=x',
  'ssh://-l@web',
  'ssh://root@-F/etc',
  'ssh://a b',
  'ssh://web;id',
  'ssh://$(id)@web',
  'ssh://web%0a',
  'ssh://`id`',
  'ssh://%h',
  'ssh://user:secret@web',
  'ssh://web:0',
  'ssh://web:65536',
  'ssh://web:22x',
  'ssh://[::1',
  'ssh://[-o]',
  'ssh://web/%0Aid',
  'ssh://web/%',
])('%s is refused: it is no host, or could be read as something else', (text) => {
  expect(parseHost(text)).toHaveProperty('problem');
});

test('a name behind a slash belongs to a host', () => {
  expect(hostAndName('web/api')).toEqual({ host: 'web', name: 'api' });
  expect([hostAndName('api'), hostAndName('/api'), hostAndName('web/'), hostAndName('-o/api')]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test('the path of the project is nowhere among the arguments of ssh, and the host stands behind the last option', () => {
  const args = askArguments(HOST, ENDS, 1_500);
  expect(args.join('\n')).not.toContain('/srv/shop');
  expect(args.slice(-7, -1)).toEqual(['-p', '2222', '-l', 'deploy', '--', 'web']);
  expect(args).toContain('ConnectTimeout=2');
  const script = args.at(-1)!;
  expect(script).toMatch(/^sh -c '[^'\\!\n]*'$/); // every login shell hands it on as it is
  expect(forwardArguments(HOST, ENDS, '/srv/s').slice(-4)).toEqual(['-L', '/run/x/l:/srv/s', '--', 'web']);
});

const answer = (text: string, code = 0) => ({ code, stdout: `a greeting\n\nkeepwell-remote\n${text}`, stderr: '' });
const daemonJson = (socket: string) => JSON.stringify({ pid: 7, socket, version: '0.1.0', more: 1 });

test('the answer of the other machine is read behind whatever its shell says first', () => {
  expect(daemonThere(answer(`alive\n${daemonJson('/srv/s')}\n`), HOST, 'web')).toEqual({
    pid: 7,
    socket: '/srv/s',
    version: '0.1.0',
  });
});

test.each([
  ['HOST_NO_PROJECT', answer('', 41)],
  ['HOST_NO_PROJECT', answer('', 42)],
  ['HOST_NO_DAEMON', answer('', 43)],
  ['HOST_FORBIDDEN', answer('', 44)],
  ['HOST_NO_DAEMON', answer(`dead\n${daemonJson('/srv/s')}`)],
  ['HOST_UNREACHABLE', answer('alive\n{"pid":7}')],
  ['HOST_SOCKET_UNUSABLE', answer(`alive\n${daemonJson(`/${'é'.repeat(54)}`)}`)],
  ['HOST_SOCKET_UNUSABLE', answer(`alive\n${daemonJson('/a:/b')}`)],
  ['HOST_SOCKET_UNUSABLE', answer(`alive\n${daemonJson('relative')}`)],
])('%s', (code, ended) => {
  expect(() => daemonThere(ended, HOST, 'web')).toThrow(expect.objectContaining({ code }));
});

test.each([
  ['HOST_UNKNOWN', 'ssh: Could not resolve hostname wbe: Name or service not known'],
  ['HOST_UNREACHABLE', 'ssh: connect to host web port 22: Connection refused'],
  ['HOST_UNREACHABLE', 'ssh: connect to host web port 22: Connection timed out'],
  ['HOST_UNREACHABLE', 'kex_exchange_identification: Connection closed by remote host'],
  ['HOST_UNREACHABLE', ''],
  ['HOST_LOGIN_REFUSED', 'deploy@web: Permission denied (publickey).'],
  ['HOST_KEY_UNKNOWN', 'No ED25519 host key is known for web and you have requested strict checking.'],
  ['HOST_KEY_UNKNOWN', 'Host key verification failed.'],
  ['HOST_KEY_CHANGED', '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.'],
])('%s: %s', (code, stderr) => {
  expect(sshError(255, stderr, 'web').code).toBe(code);
});
