/** What is forgotten of a kind does not compile. The compiler holds it, for it reads this file too: `npm run check`. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type { AnyCheckKind } from '../../src/checks/kind.ts';
import { CHECK_KINDS } from '../../src/checks/kinds.ts';
import { namedKinds } from '../../src/config/kind.ts';
import type { AnyChannelKind, ChannelKind } from '../../src/incidents/alerts/kind.ts';
import { CHANNEL_KINDS, type Channel } from '../../src/incidents/alerts/kinds.ts';
import type { AnyTrackerKind } from '../../src/incidents/tickets/kind.ts';
import { TRACKER_KINDS, type TrackerSpec } from '../../src/incidents/tickets/kinds.ts';
import type { AnyProbeKind, ProbeKind } from '../../src/probes/kind.ts';
import { PROBE_KINDS } from '../../src/probes/kinds.ts';
import type { QuestionKind } from '../../src/supervision/rules/health/probe.ts';

/** The parts that a kind need not have. */
type Spare<Kind> = { [P in keyof Kind]-?: object extends Pick<Kind, P> ? P : never }[keyof Kind];

describe('a kind has every part but these', () => {
  test('of a probe', () => {
    expectTypeOf<Spare<AnyProbeKind>>().toEqualTypeOf<'words' | 'inside' | 'foreign' | 'forms' | 'check'>();
  });
  test('of a check', () => {
    expectTypeOf<Spare<AnyCheckKind>>().toEqualTypeOf<'forms' | 'check'>();
  });
  test('of a channel', () => {
    expectTypeOf<Spare<AnyChannelKind>>().toEqualTypeOf<'forms' | 'instead' | 'check'>();
  });
  test('of a tracker', () => {
    expectTypeOf<Spare<AnyTrackerKind>>().toEqualTypeOf<'forms' | 'instead' | 'check'>();
  });
});

describe('does not compile', () => {
  const { slack, webhook } = CHANNEL_KINDS;
  type Schema = typeof slack.schema;
  type Slack = Extract<Channel, { kind: 'slack' }>;

  test('a part that is missing', () => {
    const { describe: _, ...silent } = slack;
    // @ts-expect-error: how it is described
    silent satisfies ChannelKind<Schema, Slack>;
    const { resolve: _resolve, ...unresolved } = PROBE_KINDS.tcp;
    // @ts-expect-error: how it is made complete
    unresolved satisfies ProbeKind<'tcp', typeof PROBE_KINDS.tcp.schema>;
  });

  test('a key that is required, without what is said when it is not there', () => {
    // @ts-expect-error: url
    ({ ...slack, missing: {} }) satisfies ChannelKind<Schema, Slack>;
  });

  test('a key without what others call it', () => {
    // @ts-expect-error: url
    ({ ...slack, inside: {} }) satisfies ChannelKind<Schema, Slack>;
  });

  test('a kind under the name of another', () => {
    // @ts-expect-error: it is a slack
    namedKinds({ webhook: slack });
    expect(namedKinds({ webhook, slack })).toEqual({ webhook, slack });
  });

  test('a question that the registry has not', () => {
    const { tcp: _, ...others } = PROBE_KINDS;
    // @ts-expect-error: tcp
    others satisfies { readonly [K in QuestionKind]: ProbeKind<K, z.ZodType> };
  });
});

test('what is told and written to is what the registries have', () => {
  expectTypeOf<Channel['kind']>().toEqualTypeOf<keyof typeof CHANNEL_KINDS>();
  expectTypeOf<TrackerSpec['kind']>().toEqualTypeOf<keyof typeof TRACKER_KINDS>();
});

/** No type can tell that a file is there. */
test.each([
  ['src/probes', PROBE_KINDS],
  ['src/checks', CHECK_KINDS],
  ['src/incidents/alerts', CHANNEL_KINDS],
  ['src/incidents/tickets', TRACKER_KINDS],
])('every file in %s/kinds is in the registry', (room, kinds) => {
  const registry = readFileSync(`${room}/kinds.ts`, 'utf8');
  const files = readdirSync(`${room}/kinds`);
  expect(files.filter((file) => !registry.includes(`'./kinds/${file}'`))).toEqual([]);
  expect(files).toHaveLength(Object.keys(kinds).length);
});
