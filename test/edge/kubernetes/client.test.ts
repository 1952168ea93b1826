import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { findAccess } from '../../../src/kubernetes/client/access.ts';
import { ApiError } from '../../../src/kubernetes/client/call.ts';
import { Client } from '../../../src/kubernetes/client/client.ts';
import { follow } from '../../../src/kubernetes/client/follow.ts';
import type { Stored } from '../../../src/kubernetes/rules/api.ts';
import { openCluster, type TestCluster } from '../../support/kubernetes.ts';
import { waitFor } from '../../support/wait-for.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await openCluster();
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

const { signal } = new AbortController();
const accessOf = (path = cluster.kubeconfig) => findAccess({ env: { KUBECONFIG: path }, context: null });
const clientOf = (access = accessOf()) => new Client(access, process.env, systemClock);

const configMap = (name: string, text: string, labels: Record<string, string> = { of: 'test' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
  data: { text },
});

/** A kubeconfig like the good one, with another user. */
function withUser(user: unknown, cluster_: Record<string, unknown> = {}): string {
  const { server, ca } = { server: cluster.url, ca: join(cluster.dir, 'tls.crt') };
  const path = join(cluster.dir, `kubeconfig-${Math.random().toString(36).slice(2)}`);
  const content = {
    clusters: [{ name: 'k', cluster: { server, 'certificate-authority': ca, ...cluster_ } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    'current-context': 'c',
  };
  writeFileSync(path, JSON.stringify(content));
  return path;
}

test('what is applied can be read, listed and removed, and a dry run changes nothing', async () => {
  const client = clientOf();
  await client.apply(configMap('one', 'a'), { dryRun: true }, signal);
  expect(await client.get('ConfigMap', 'default', 'one', signal)).toBeNull();
  await client.apply(configMap('one', 'a'), {}, signal);
  await client.apply(configMap('one', 'b'), {}, signal);
  expect(await client.get('ConfigMap', 'default', 'one', signal)).toMatchObject({ data: { text: 'b' } });
  const { items } = await client.list('ConfigMap', 'default', { labels: 'of=test' }, signal);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['one']);
  expect(await client.remove('ConfigMap', 'default', 'one', signal)).toBe(true);
  expect(await client.remove('ConfigMap', 'default', 'one', signal)).toBe(false);
  client.close();
});

test('a token in a file, an exec plugin and a wrong token', async () => {
  const file = join(cluster.dir, 'token');
  writeFileSync(file, 'test-token\n');
  const byFile = clientOf(accessOf(withUser({ tokenFile: 'token' })));
  expect(await byFile.version(signal)).toMatch(/^v/);
  const plugin = join(cluster.dir, 'plugin.sh');
  writeFileSync(plugin, '#!/bin/sh\nprintf \'{"kind":"ExecCredential","status":{"token":"%s"}}\' "$GIVEN"\n');
  chmodSync(plugin, 0o755);
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin.sh' };
  const byPlugin = clientOf(accessOf(withUser({ exec: { ...exec, env: [{ name: 'GIVEN', value: 'test-token' }] } })));
  expect(await byPlugin.version(signal)).toMatch(/^v/);
  const broken = clientOf(accessOf(withUser({ exec: { ...exec, command: 'no-such-plugin', installHint: 'get it' } })));
  await expect(broken.version(signal)).rejects.toThrow('the exec plugin "no-such-plugin" is not installed (get it)');
  const wrong = clientOf(accessOf(withUser({ token: 'another' })));
  await expect(wrong.get('Pod', 'default', 'x', signal)).rejects.toMatchObject({ status: 401 });
  for (const client of [byFile, byPlugin, broken, wrong]) client.close();
});

test('a certificate that nobody vouches for is refused, unless the file says not to look', async () => {
  const strict = clientOf(accessOf(withUser({ token: 'test-token' }, { 'certificate-authority': undefined })));
  await expect(strict.version(signal)).rejects.toThrow(/is not signed by the certificate authority/);
  const lax = { 'certificate-authority': undefined, 'insecure-skip-tls-verify': true };
  const careless = clientOf(accessOf(withUser({ token: 'test-token' }, lax)));
  expect(await careless.version(signal)).toMatch(/^v/);
  strict.close();
  careless.close();
});

test('nobody there is said with the address and the context', async () => {
  const client = clientOf({ ...accessOf(), server: 'https://127.0.0.1:1' });
  await expect(client.version(signal)).rejects.toThrow(/https:\/\/127\.0\.0\.1:1 \(context "test"\) refuses/);
  await expect(client.version(signal)).rejects.toBeInstanceOf(ApiError);
  client.close();
});

test('a list of several pages is whole', async () => {
  const client = clientOf();
  const names = Array.from({ length: 503 }, (_, index) => `many-${index}`);
  for (const name of names) await client.apply(configMap(name, '', { of: 'many' }), {}, signal);
  const { items } = await client.list('ConfigMap', 'default', { labels: 'of=many' }, signal);
  expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(names.length);
  client.close();
});

test('a watch tells every change, and goes on over an outage with a new list', async () => {
  const client = clientOf();
  const ending = new AbortController();
  const lists: number[] = [];
  const seen = new Map<string, string>();
  const blind: (string | null)[] = [];
  const textOf = (object: Stored) => (object as unknown as { data: { text: string } }).data.text;
  const options = { client, clock: systemClock, kind: 'ConfigMap', namespace: 'default', labels: 'of=watch' } as const;
  const over = follow<Stored>(
    { ...options, random: () => 0, signal: ending.signal },
    {
      listed: (all) => {
        lists.push(all.length);
        seen.clear();
        for (const each of all) seen.set(each.metadata.name, textOf(each));
      },
      changed: (type, object) => {
        if (type === 'DELETED') seen.delete(object.metadata.name);
        else seen.set(object.metadata.name, textOf(object));
      },
      blind: (why) => blind.push(why),
    },
  );
  const put = (name: string, text: string) => client.apply(configMap(name, text, { of: 'watch' }), {}, signal);
  await put('w1', '1');
  await waitFor('the first change', () => seen.get('w1') === '1');
  await client.remove('ConfigMap', 'default', 'w1', signal);
  await waitFor('the removal', () => !seen.has('w1'));
  await cluster.down();
  await waitFor('blindness', () => blind.length === 1);
  expect(blind[0]).toMatch(/refuses the connection|cut off|cannot be asked/);
  await cluster.up();
  await waitFor('sight', () => blind.at(-1) === null);
  await put('w2', '2');
  await waitFor('a change after the outage', () => seen.get('w2') === '2');
  expect(lists.length).toBeGreaterThanOrEqual(2);
  if (cluster.fake) {
    const before = lists.length;
    cluster.fake.endWatches();
    await put('w3', '3');
    await waitFor('a change after a watch that ended', () => seen.get('w3') === '3');
    expect(lists.length).toBe(before); // taken up where it ended
    cluster.fake.forgetThePast();
    await put('w4', '4');
    await waitFor('a change after 410', () => seen.get('w4') === '4');
    expect(lists.length).toBe(before + 1);
  }
  ending.abort();
  await over;
  client.close();
});
