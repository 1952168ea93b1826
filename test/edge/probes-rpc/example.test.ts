import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROLES } from '../../../src/supervision/rules/health/probe.ts';
import { load } from '../../pure/config/support.ts';

test('the example is a valid configuration that asks both ways', () => {
  const { components } = load(readFileSync('examples/grpc-and-temporal/keepwell.yaml', 'utf8'));
  const kinds = components.flatMap(({ probes }) => ROLES.map((role) => probes[role]?.question.kind));
  expect(kinds).toEqual(expect.arrayContaining(['grpc', 'temporal']));
});
