/** What holds for every configuration, whatever is in it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  isAnnotationKey,
  isDataKey,
  isVariableName,
  labelValue,
  objectName,
} from '../../../src/kubernetes/rules/names.ts';
import type { KubernetesObject } from '../../../src/kubernetes/rules/object.ts';
import { literally, SecretArguments } from '../../../src/kubernetes/rules/secret.ts';
import { yamlDocument } from '../../../src/kubernetes/yaml.ts';
import { renderText } from './support.ts';

const DNS_LABEL = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/;

const AMBIGUOUS = [
  ...['on', 'Off', 'YES', 'n', 'null', '~', '', 'true', '.inf', '.NaN', '1e3', '0o7', '007', '0x1F', '1_000', '12:34'],
  ...['2001-01-01', '=', '<<', '- a', 'a: b', 'a #b', '#', '|', '>-', '%', '@a', '`', '{}', '[]', '!tag', '&a', '*a'],
  ...[
    '\n',
    'a\n',
    '\na',
    'a\n\n',
    ' a\n b',
    'a \nb',
    '\t',
    'a\tb\nc',
    '\r\n',
    '\u0085',
    '\u2028x',
    '\ufeff',
    '---',
    '...',
  ],
  ...[
    '\u0000',
    '\u001b[31m',
    '"',
    "'",
    '\\',
    '🙂',
    '\n'.repeat(3),
    '---\na',
    '# a\nb',
    'a\n# b',
    '512Mi',
    '1.5',
    '+1',
    '-1',
  ],
];
const text = fc.oneof(fc.constantFrom(...AMBIGUOUS), fc.string({ unit: 'binary' }), fc.string(), fc.lorem());
const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('what is written is read again as the same', () => {
  const object = (data: unknown) =>
    ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: {} }, data }) as KubernetesObject;
  test.each(['1.1', '1.2'] as const)('by a reader of YAML %s', (version) => {
    fc.assert(
      fc.property(plain, (data) => {
        const written = object(JSON.parse(JSON.stringify(data)));
        // A key `<<` is a merge for a reader of 1.1 unless it is quoted, and we quote it.
        expect(parse(yamlDocument(written), { version, merge: version === '1.1' })).toEqual(written);
      }),
      { numRuns: 500 },
    );
  });

  test.each(AMBIGUOUS)('%j', (value) => {
    for (const version of ['1.1', '1.2'] as const)
      expect(parse(yamlDocument(object({ value, [`k${value}`]: value })), { version })).toEqual(
        object({ value, [`k${value}`]: value }),
      );
  });

  test('and no line of it carries anything that a terminal would obey', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(yamlDocument(object({ value }))).toMatch(/^[\t\n\x20-\x7e\u00a0-\uffff]*$/);
      }),
    );
  });
});

const name = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,62}$/).filter((each) => !each.includes('..'));

test('every name of ours becomes one that Kubernetes takes, and a good one stays', () => {
  fc.assert(
    fc.property(name, (each) => {
      expect(objectName(each)).toMatch(DNS_LABEL);
      expect(labelValue(each)).toMatch(LABEL_VALUE);
      if (DNS_LABEL.test(each)) expect(objectName(each)).toBe(each);
      expect(objectName(objectName(each))).toBe(objectName(each));
    }),
  );
});

test.each([
  [isDataKey, ['a', 'nginx.conf', '.env', 'A_b-c'], ['', 'a b', '..', '..a', 'a/b', '.', 'ä']],
  [isVariableName, ['A', '_a', 'a.b', 'a-b'], ['', '1A', 'a b', 'ä']],
  [
    isAnnotationKey,
    ['team', 'a.b_c', 'example.com/team'],
    ['', 'no good', 'a/b/c', '/a', '-a', 'A.com/a', 'a..b/c', 'a-.b/c'],
  ],
] as const)('%o', (takes, good, bad) => {
  expect(good.filter((each) => !takes(each))).toEqual([]);
  expect(bad.filter((each) => takes(each))).toEqual([]);
});

/** As the kubelet expands: `$(NAME)` is a variable, `$$` a dollar sign, and everything else stays. */
function expand(written: string, variables: ReadonlyMap<string, string>): string {
  return written.replace(/\$\$|\$\(([^)]*)\)/g, (whole, variable?: string) =>
    variable === undefined ? '$' : (variables.get(variable) ?? whole),
  );
}

test('the kubelet makes of every argument what it is at home, with its secrets in their places', () => {
  const piece = fc.oneof(
    fc.constantFrom('$', '$$', '$(A)', '(', ')', 's3cret', 's3cret-longer', 'KEEPWELL'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const argument = pieces.join('');
      const secret = new SecretArguments(['s3cret', 's3cret-longer']);
      const written = secret.write(argument);
      expect(written).not.toContain('s3cret');
      expect(expand(written, secret.values)).toBe(argument);
      expect(expand(literally(argument), new Map())).toBe(argument);
    }),
  );
});

/** Components in a random order of which each depends only on some that come later in `names`. */
const graph = fc
  .tuple(
    fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 12 }),
    fc.infiniteStream(fc.nat()),
  )
  .map(([names, chance]) =>
    names.map((each, index) => ({
      name: each,
      needs: names.slice(index + 1).filter(() => (chance.next().value as number) % 3 === 0),
      isExternal: (chance.next().value as number) % 7 === 0,
    })),
  );

test('whatever depends on something is applied in a later stage', () => {
  fc.assert(
    fc.property(graph, (components) => {
      const rendered = renderText(
        JSON.stringify({
          kubernetes: { image: 'app:1' },
          components: Object.fromEntries(
            components.map(({ name, needs, isExternal }) => [
              name,
              {
                ...(isExternal
                  ? { external: { address: 'localhost:1' }, restart: { command: ['true'] } }
                  : { process: { command: ['./a'] } }),
                depends_on: Object.fromEntries(needs.map((need) => [need, 'ready'])),
              },
            ]),
          ),
        }),
      );
      const stage = new Map(rendered.objects.map(({ component, stage }) => [component, stage]));
      const isThere = (each: string): boolean => stage.has(each);
      expect([...stage.keys()].sort()).toEqual(
        components
          .filter(({ isExternal }) => !isExternal)
          .map(({ name }) => name)
          .sort(),
      );
      for (const { name, needs } of components.filter(({ name }) => isThere(name)))
        for (const need of needs.filter(isThere)) expect(stage.get(name)).toBeGreaterThan(stage.get(need)!);
      const order = rendered.objects.map((each) => each.stage);
      expect(order).toEqual([...order].sort((a, b) => a - b));
      expect(rendered.stages.map(({ number }) => number)).toEqual(rendered.stages.map((_, index) => index + 1));
    }),
    { numRuns: 100 },
  );
});
