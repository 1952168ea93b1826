import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fingerprint } from '../../../../src/crashes/rules/fingerprint.ts';
import { parseCrash } from '../../../support/parse-crash.ts';
import { CORPUS, summary } from './corpus.ts';

test('every log of the corpus has its expectation', () => {
  const logs = readdirSync('test/fixtures/crashes', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.log'),
  );
  expect(CORPUS.map(({ name }) => `${name}.log`).sort()).toEqual(logs.sort());
  expect(logs.length).toBeGreaterThanOrEqual(60);
});

/** A script complains after its command has, and a program goes on after the error of a request or a thread: an uncaught one counts for more. */
const YIELDS =
  /^(?:shell\/|ruby\/rails|python\/(?:asyncio-task|interleaved-threads)$|jvm\/(?:kotlin-lambda|out-of-memory)$|rust\/old-form)/;

describe.each(CORPUS)('$name', ({ name, tail, cwd, expected: { group: _, ...expected } }) => {
  test('is read as expected', () => {
    expect(summary(parseCrash(tail, { cwd })!)).toEqual(expected);
  });

  test('is read the same behind what a collector puts before each line', () => {
    const prefixes = [
      'web-1  | ',
      '2026-01-02T03:04:05.678901234Z ',
      '2026-01-02T03:04:05.678901234Z stderr F ',
      '[worker-3] ',
    ];
    for (const prefix of [...prefixes, 'Jan  2 03:04:05 host app[812]: ', '\u001b[33mapp\u001b[0m | ']) {
      const logged = tail
        .trimEnd()
        .split('\n')
        .map((line) => prefix + line);
      expect(summary(parseCrash(logged.join('\r\n'), { cwd })!), prefix).toEqual(expected);
    }
  });

  test('is the one that counts when an older crash stands before it', () => {
    for (const other of CORPUS.filter(({ name }) =>
      /(?:node\/uncaught|python\/no-space|go\/deadlock|jvm\/unknown-host)$/.test(name),
    )) {
      const both = `${other.tail}\nrestarting\n\n${tail}`;
      if (!YIELDS.test(name)) expect(summary(parseCrash(both, { cwd })!)).toEqual(expected);
    }
  });
});

describe('fingerprints of the corpus', () => {
  const prints = CORPUS.map(({ name, tail, cwd, expected }) => {
    const crash = parseCrash(tail, { cwd })!;
    return { name, group: expected.group, print: fingerprint(crash, { cwd }) };
  });
  test('fold the variants of one crash and nothing else', () => {
    for (const one of prints) {
      const alike = prints.filter(({ print }) => print === one.print).map(({ name }) => name);
      expect(alike).toEqual(prints.filter(({ group }) => group === one.group).map(({ name }) => name));
    }
  });
  test('there is something to fold', () =>
    expect(new Set(prints.map(({ print }) => print)).size).toBeLessThan(prints.length - 15));
  test('carry their version', () => {
    for (const { print } of prints) expect(print).toMatch(/^v2:[0-9a-f]{16}$/);
  });
  test.each(CORPUS)('of $name does not depend on where it is installed', ({ tail, cwd }) => {
    const elsewhere = '/tmp/keepwell-x1/release';
    const moved = parseCrash(tail.replaceAll(`${cwd}/`, `${elsewhere}/`), { cwd: elsewhere })!;
    expect(fingerprint(moved, { cwd: elsewhere })).toBe(fingerprint(parseCrash(tail, { cwd })!, { cwd }));
  });
});
