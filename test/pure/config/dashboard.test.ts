import { expect, test } from 'vitest';
import { linesOf, load } from './support.ts';

const WITH = (dashboard: string) => `dashboard: ${dashboard}\ncomponents: { a: { process: { command: [a] } } }\n`;

const DEFAULT = {
  ...{ host: '127.0.0.1', port: 7070, allowRemote: false, tls: null },
  ...{ reverseProxy: [], hosts: [], metrics: 'token' },
};

test('it is off unless given', () => {
  expect(load('components: { a: { process: { command: [a] } } }').dashboard).toBeNull();
});

test.each([
  ['{}', {}],
  ['{ listen: 8080 }', { port: 8080 }],
  ['{ listen: "127.0.0.1:8080" }', { port: 8080 }],
  ['{ listen: "[::1]:8080" }', { host: '::1', port: 8080 }],
  ['{ metrics: open }', { metrics: 'open' }],
  ['{ reverse_proxy: "https://Ops.example.com:443/" }', { reverseProxy: ['https://ops.example.com'] }],
  [
    '{ reverse_proxy: ["https://a.example", "http://b.example:81"] }',
    { reverseProxy: ['https://a.example', 'http://b.example:81'] },
  ],
  [
    '{ listen: "0.0.0.0:7070", allow_remote: true, tls: { cert: c.pem, key: /k.pem }, hosts: [Box.lan] }',
    {
      host: '0.0.0.0',
      allowRemote: true,
      tls: { cert: expect.stringMatching(/^\/.*\/c\.pem$/), key: '/k.pem' },
      hosts: ['box.lan'],
    },
  ],
  [
    '{ listen: "10.0.0.5:7070", allow_remote: true, reverse_proxy: "https://ops.example.com" }',
    { host: '10.0.0.5', allowRemote: true, reverseProxy: ['https://ops.example.com'] },
  ],
])('%s', (dashboard, wanted) => {
  expect(load(WITH(dashboard)).dashboard).toEqual({ ...DEFAULT, ...wanted });
});

test.each([
  ['{ listen: "0.0.0.0:7070" }', /dashboard\.listen: can be reached by other machines \| .*127\.0\.0\.1.*allow_remote/],
  ['{ listen: "[::]:7070" }', /dashboard\.listen: can be reached by other machines/],
  ['{ listen: "box.lan:7070" }', /dashboard\.listen: can be reached by other machines/],
  ['{ listen: "0.0.0.0:7070", tls: { cert: a, key: b } }', /dashboard\.listen: can be reached by other machines/],
  ['{ listen: "0.0.0.0:7070", allow_remote: true }', /dashboard\.allow_remote: without TLS.* \| Add "tls/],
  ['{ listen: ":7070" }', /dashboard\.listen: ":7070" lacks the host/],
  ['{ listen: 70700 }', /dashboard\.listen: a port is a whole number from 1 to 65535/],
  ['{ listen: "http://127.0.0.1:7070" }', /dashboard\.listen: must not be a URL/],
  ['{ tls: { cert: a } }', /dashboard\.tls.*key/],
  [
    '{ reverse_proxy: ops.example.com }',
    /dashboard\.reverse_proxy: "ops\.example\.com" is not an origin.* \| For example: https/,
  ],
  [
    '{ reverse_proxy: "https://ops.example.com/keepwell" }',
    /dashboard\.reverse_proxy: must be a scheme and a host, without a path/,
  ],
  ['{ metrics: maybe }', /dashboard\.metrics/],
  ['{ hosts: ["http://box"] }', /dashboard\.hosts.*must be a host, not a URL/],
  ['{ token: secret }', /dashboard\.token: unknown key/],
])('%s is refused', (dashboard, said) => {
  expect(linesOf(WITH(dashboard))).toEqual([expect.stringMatching(said)]);
});
