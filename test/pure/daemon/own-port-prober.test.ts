import { describe, expect, test } from 'vitest';
import { ownPortProber, type PortParts } from '../../../src/probes/own-port-prober.ts';
import type { Prober } from '../../../src/supervision/ports/prober.ts';
import type { ProbeQuestion } from '../../../src/supervision/rules/health/probe.ts';
import type { ComponentSpec } from '../../../src/supervision/spec.ts';
import { run, spec } from '../../support/builders.ts';

const tcp = (host: string): ProbeQuestion => ({ kind: 'tcp', host, port: 4204 });
const probe = (question: ProbeQuestion) =>
  ({ question, periodMs: 1, timeoutMs: 1, initialDelayMs: 0, failureThreshold: 1, successThreshold: 1 }) as const;
const asked = (question: ProbeQuestion, role: 'startup' | 'liveness' | 'readiness' = 'readiness'): ComponentSpec =>
  spec('memcached', { probes: { startup: null, liveness: null, readiness: null, [role]: probe(question) } });

/** Whoever is asked passes. */
const passing: Prober = {
  describe: () => '',
  open: () => ({ ask: async () => ({ outcome: 'pass', message: 'ok' }), [Symbol.dispose]: () => {} }),
  watch: () => ({ [Symbol.dispose]: () => {} }),
};

function world(over: Partial<PortParts> = {}) {
  const seen = { now: 0, looks: 0, warnings: [] as string[] };
  const prober = ownPortProber(passing, {
    pidsOf: async () => [7],
    isHeldBy: () => false,
    holderOf: () => {
      seen.looks++;
      return { pid: 123, name: 'python3' };
    },
    isOfARun: () => false,
    now: () => seen.now,
    warn: (message) => seen.warnings.push(message),
    ...over,
  });
  const open = (question: ProbeQuestion, about = asked(question)) => {
    const inquiry = prober.open(question, { spec: about, run: run('r'), pid: 7, logFrom: 0 }, () => {});
    return () => inquiry.ask(100, new AbortController().signal);
  };
  return { seen, open };
}

const HELD = 'port 4204 is held by python3 (pid 123), not by memcached';

describe('somebody answers on the port of a component', () => {
  test('a stranger is named and does not count, until the component has shown that it lives with that', async () => {
    const { seen, open } = world();
    const ask = open(tcp('127.0.0.1'));
    expect(await ask()).toEqual({ outcome: 'inconclusive', message: HELD });
    expect(seen.warnings).toEqual([]);
    seen.now = 10_000;
    expect(await ask()).toEqual({ outcome: 'pass', message: 'ok' });
    expect(seen.warnings).toEqual([HELD]);
    await ask();
    expect(seen.looks).toBe(2);
  });

  test('a part of several questions counts, too', async () => {
    const { open } = world();
    expect(await open({ kind: 'all_of', all: [{ kind: 'pid' }, tcp('localhost')] })()).toMatchObject({ message: HELD });
  });

  const strangers: readonly [string, Partial<PortParts>][] = [
    ['the component itself', { isHeldBy: () => true }],
    ['another component', { isOfARun: () => true }],
    ['somebody whom we may not look into', { holderOf: () => null }],
    ['the proxy of a container', { holderOf: () => ({ pid: 1, name: 'docker-proxy' }) }],
    ['systemd, for whoever is called', { holderOf: () => ({ pid: 1, name: 'systemd' }) }],
    ['what is found to be its own after all', { holderOf: () => ({ pid: 7, name: 'memcached' }) }],
    ['nobody knows whose processes', { pidsOf: async () => [] }],
  ];
  test.each(strangers)('%s is no stranger', async (_who, parts) => {
    expect(await world(parts).open(tcp('127.0.0.1'))()).toEqual({ outcome: 'pass', message: 'ok' });
  });

  test('a search that takes long goes on with the next question', async () => {
    const sizes: number[] = [];
    const holderOf: PortParts['holderOf'] = (_port, looked) => {
      sizes.push(looked.size);
      looked.add(String(looked.size));
      return looked.size < 3 ? 'not-yet' : { pid: 123, name: 'python3' };
    };
    const ask = world({ holderOf }).open(tcp('127.0.0.1'));
    const searching = { outcome: 'inconclusive', message: 'port 4204 is not held by memcached; looking who holds it' };
    expect([await ask(), await ask(), await ask()]).toEqual([
      searching,
      searching,
      { outcome: 'inconclusive', message: HELD },
    ]);
    expect(sizes).toEqual([0, 1, 2]);
  });

  test('nobody is accused when it cannot be looked, and it is looked again', async () => {
    let isBroken = true;
    const isHeldBy = () => {
      if (isBroken) throw new Error('EMFILE');
      return false;
    };
    const ask = world({ isHeldBy }).open(tcp('127.0.0.1'));
    expect(await ask()).toEqual({ outcome: 'pass', message: 'ok' });
    isBroken = false;
    expect(await ask()).toEqual({ outcome: 'inconclusive', message: HELD });
  });

  test('other hosts, liveness and what is no process are not looked into', async () => {
    const { seen, open } = world();
    const container = { ...asked(tcp('::1')), driver: { kind: 'container' } as ComponentSpec['driver'] };
    const [far, near] = [tcp('10.0.0.5'), tcp('127.0.0.1')];
    const answers = [await open(far)(), await open(near, asked(near, 'liveness'))(), await open(near, container)()];
    expect(answers.map(({ outcome }) => outcome)).toEqual(['pass', 'pass', 'pass']);
    expect(seen.looks).toBe(0);
  });
});
