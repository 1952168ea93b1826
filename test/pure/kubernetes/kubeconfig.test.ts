import { expect, test } from 'vitest';
import { isExpired, isMissingLog } from '../../../src/kubernetes/rules/api.ts';
import { accessOf, credentialIn } from '../../../src/kubernetes/rules/kubeconfig.ts';

const tools = {
  absolute: (path: string, file: string) => (path.startsWith('/') ? path : `${file.replace(/[^/]*$/, '')}${path}`),
  decode: (text: string) => `decoded ${text}`,
};

const file = (content: Record<string, unknown>, path = '/home/me/.kube/config') => ({ path, content });
const whole = (user: unknown = { token: 't' }, cluster: Record<string, unknown> = {}) =>
  file({
    clusters: [{ name: 'k', cluster: { server: 'https://k:6443/', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace: 'shop' } }],
    'current-context': 'c',
  });

const of = (...files: ReturnType<typeof file>[]) => accessOf(files, null, tools);
const access = (...files: ReturnType<typeof file>[]) => {
  const found = of(...files);
  if ('problem' in found) throw new Error(found.problem);
  return found.access;
};

test('a context leads to an address, a namespace and an account', () => {
  expect(access(whole())).toEqual({
    ...{ name: 'c', server: 'https://k:6443', ca: null, verify: true, serverName: null, namespace: 'shop' },
    account: { certificate: null, key: null, token: { text: 't' }, exec: null },
  });
});

test('data stands in the file, and counts more than a path; paths are relative to the file', () => {
  const both = { 'client-certificate': 'me.crt', 'client-key-data': 'a2V5' };
  const { account, ca } = access(whole(both, { 'certificate-authority': 'ca.crt' }));
  expect(account.certificate).toEqual({ file: '/home/me/.kube/me.crt' });
  expect(account.key).toEqual({ text: 'decoded a2V5' });
  expect(ca).toEqual({ file: '/home/me/.kube/ca.crt' });
});

test('a file with a token is read anew, so it counts more than a token that was written down', () => {
  expect(access(whole({ token: 'old', tokenFile: 'token' })).account.token).toEqual({ file: '/home/me/.kube/token' });
});

test('certificates are looked at unless the file says exactly otherwise', () => {
  expect(access(whole({}, { 'insecure-skip-tls-verify': true })).verify).toBe(false);
  expect(access(whole({}, { 'insecure-skip-tls-verify': 'true' })).verify).toBe(true);
});

test('of several files the first one that knows a name counts', () => {
  const first = file({ 'current-context': 'c' }, '/a/config');
  const second = whole();
  const third = file({ clusters: [{ name: 'k', cluster: { server: 'https://other' } }] }, '/b/config');
  expect(access(first, second, third).server).toBe('https://k:6443');
});

test('an exec plugin is found by PATH, or beside the file', () => {
  const exec = (command: string) => access(whole({ exec: { command, args: ['a', 1] } })).account.exec;
  expect(exec('aws')).toMatchObject({ command: 'aws', args: ['a', '1'] });
  expect(exec('./get')).toMatchObject({ command: '/home/me/.kube/./get' });
});

const REFUSED: readonly (readonly [string, ReturnType<typeof file>, RegExp])[] = [
  ['no context', file({}), /names no current context/],
  ['an unknown context', file({ 'current-context': 'x', contexts: [{ name: 'c' }] }), /no context "x" .*there are c/],
  ['no cluster', file({ 'current-context': 'c', contexts: [{ name: 'c', context: {} }] }), /has no cluster/],
  ['no address', whole({}, { server: 'k:6443' }), /no address that can be used/],
  ['a proxy', whole({}, { 'proxy-url': 'http://p' }), /through a proxy/],
  ['an auth-provider', whole({ 'auth-provider': { name: 'gcp' } }), /use an exec plugin/],
  ['a password', whole({ username: 'me', password: 'x' }), /a name and a password/],
  ['somebody else', whole({ as: 'root' }), /acts as somebody else/],
  ['an old plugin', whole({ exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1alpha1' } }), /v1alpha1/],
];

test.each(REFUSED)('%s is refused with a sentence', (_what, content, problem) => {
  const found = of(content);
  expect('problem' in found && found.problem).toMatch(problem);
});

test('what a plugin printed has a token, or a certificate with its key', () => {
  expect(credentialIn({ status: { token: 't', expirationTimestamp: '2030-01-01T00:00:00Z' } })).toEqual({
    ...{ token: 't', certificate: null, key: null, expiresAt: Date.parse('2030-01-01T00:00:00Z') },
  });
  expect(credentialIn({ status: { clientCertificateData: 'c', clientKeyData: 'k' } })).toMatchObject({ key: 'k' });
  for (const nothing of [null, {}, { status: {} }, { status: { clientCertificateData: 'c' } }])
    expect(credentialIn(nothing)).toBeNull();
});

test('the words of a kubelet that has no log any more are no log', () => {
  expect(isMissingLog('unable to retrieve container logs for docker://0123')).toBe(true);
  expect(isMissingLog('unable to retrieve container logs for docker://0123\nTraceback:')).toBe(false);
  expect(isMissingLog('it says: unable to retrieve container logs for x')).toBe(false);
  expect(isMissingLog('')).toBe(false);
});

test('410 is told in three ways', () => {
  expect([isExpired(410, ''), isExpired(0, 'Expired'), isExpired(200, 'Gone'), isExpired(404, 'NotFound')]).toEqual([
    ...[true, true, true, false],
  ]);
});
