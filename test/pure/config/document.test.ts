import { describe, expect, test } from 'vitest';
import { cpuTimeMs } from '../../support/cpu-time.ts';
import { linesOf, load, oneProblem, problemsOf, proc, processOf } from './support.ts';

const EXAMPLE = 'Start with:\ncomponents:\n  api:\n    process: { command: [./bin/server] }';

describe('a file that is not a configuration is refused with its place', () => {
  test.each([
    ['an empty file', '', `1:1 : the file is empty | ${EXAMPLE}`],
    ['only a comment', '# nothing\n', `1:1 : the file is empty | ${EXAMPLE}`],
    ['an empty document', '---\n', `1:4 : the file is empty | ${EXAMPLE}`],
    ['a list', '- a\n- b\n', `1:1 : a configuration is a map of keys and values | ${EXAMPLE}`],
    ['a text', 'hello', `1:1 : a configuration is a map of keys and values | ${EXAMPLE}`],
    ['two documents', 'name: a\n---\nname: b\n', '2:1 : there is a second document here | Keep one document per file.'],
    ['YAML 1.1', '%YAML 1.1\n---\nname: yes\n', '1:1 : only YAML 1.2 is understood | Remove "%YAML".'],
    [
      'tabs',
      'components:\n\tapi: 1\n',
      '2:1 : a tab is used for indentation | Use spaces: YAML does not allow tabs there.',
    ],
    ['an open quote', 'name: "x\n', '2:1 : a quote is not closed | Add the closing quote.'],
    [
      'an open bracket',
      'components: [a',
      '1:15 : the indentation does not fit, or a bracket is not closed | Keys of one map start in the same column; every [ and { needs its ] and }.',
    ],
    [
      'two keys on a line',
      'name: x: y',
      '1:7 : there are two keys on this line, or the next line is indented too far | Put each key on its own line; put a text that contains ": " in quotes.',
    ],
    [
      'a key without a value sign',
      'name: x\ncomponents\n',
      '2:1 : a ":" is missing after this key | Write "key: value".',
    ],
    ['a reserved character', 'name: @x', '1:7 : a text cannot start with this character | Put the text in quotes.'],
    [
      'an unknown escape',
      'name: "\\q"',
      '1:8 : this backslash sequence is not known in double quotes | Write \\\\ for a backslash, or use single quotes.',
    ],
  ])('%s', (_, text, line) => {
    expect(linesOf(text)).toEqual([line]);
  });
});

describe('what makes YAML dangerous or ambiguous is refused', () => {
  test('a key given twice names both places, and the first counts', () => {
    const text = 'components:\n  api:\n    process: { command: [a] }\n  api:\n    procss: nothing is said about this\n';
    expect(linesOf(text)).toEqual([
      '4:3 components.api: "api" is given twice; the first is at line 2, column 3 | Keep one of them.',
    ]);
  });

  test.each([
    [
      'command: [!secret a]',
      '1:51',
      'components.api.process.command[0]: the tag !secret is not supported | Remove the tag.',
    ],
    [
      'command: [!!binary aGk=]',
      '1:52',
      'components.api.process.command[0]: the tag tag:yaml.org,2002:binary is not supported | Remove the tag.',
    ],
    [
      '<<: {}, command: [a]',
      '1:33',
      'components.api.process."<<": merge keys (<<) are not supported | Write the values out.',
    ],
    ['command: [*a]', '1:43', 'components.api.process.command[0]: there is no anchor &a before this alias'],
    ['command: &a [*a]', '1:46', 'components.api.process.command[0]: this alias contains itself'],
    ['[a]: b, command: [a]', '1:33', 'components.api.process: a key must be plain text'],
    ['"": b, command: [a]', '1:33', 'components.api.process: a key is empty'],
  ])('%s', (keys, place, message) => {
    expect(linesOf(proc(keys))).toEqual([`${place} ${message}`]);
  });

  test('plain tags that change nothing are accepted', () => {
    expect(processOf(load(proc('command: !!seq [!!str 5]')).components[0]).command).toEqual(['5']);
  });

  test('aliases are followed, and a mistake behind one is told once', () => {
    const text = (env: string) =>
      `components:\n  a: { process: &p { command: [x], env: ${env} } }\n  b: { process: *p }\n`;
    expect(load(text('{ A: b }')).components.map(({ driver }) => driver.env)).toEqual([{ A: 'b' }, { A: 'b' }]);
    expect(linesOf(text('{ A: 1 }'))).toEqual([
      '2:46 components.a.process.env.A: must be text, not a number | Put it in quotes: "1".',
    ]);
  });

  test('an alias bomb is refused at once', () => {
    const levels = Array.from(
      { length: 9 },
      (_, i) => `  l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`,
    );
    const text = `components:\n  l0: &l0 [boom]\n${levels.join('\n')}\n`;
    const started = cpuTimeMs();
    const found = problemsOf(text);
    expect(cpuTimeMs() - started).toBeLessThan(1_000);
    expect(found.filter(({ message }) => message === 'more than 100 aliases are used').length).toBeGreaterThan(0);
  });

  test('a hundred aliases are accepted', () => {
    const text = `components: { api: { process: { command: [&a x, ${Array(99).fill('*a').join(', ')}] } } }`;
    expect(processOf(load(text).components[0]).command).toHaveLength(100);
  });
});

describe('no key can reach a prototype', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];

  test('as names of variables they are plain names', () => {
    const env = names.map((name) => `${name}: "1"`).join(', ');
    const { driver } = load(proc(`command: [a], env: { ${env} }`)).components[0]!;
    expect(Object.keys(driver.env)).toEqual(names);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('as names of components they are plain names where the rule for names allows it', () => {
    const { components } = load(
      'components: { constructor: { process: { command: [a] } }, b: { process: { command: [b] }, depends_on: { constructor: ready } } }',
    );
    expect(components.map(({ name }) => name)).toEqual(['constructor', 'b']);
    expect(Object.entries(components[1]!.dependsOn)).toEqual([['constructor', 'ready']]);
  });

  test.each(['', 'components.*', 'components.*.process', 'components.*.restart'])(
    'as keys at "%s" they are unknown',
    (place) => {
      for (const name of names) {
        const keys =
          { '': `${name}: { polluted: 1 }, components: { a: { process: { command: [a] } } }` }[place] ?? null;
        const inner = `${name}: { polluted: 1 }`;
        const text =
          keys !== null
            ? `{ ${keys} }`
            : place === 'components.*'
              ? `components: { a: { process: { command: [a] }, ${inner} } }`
              : place === 'components.*.process'
                ? `components: { a: { process: { command: [a], ${inner} } } }`
                : `components: { a: { process: { command: [a] }, restart: { ${inner} } } }`;
        expect(oneProblem(text)).toContain(`unknown key "${name}"`);
      }
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  test('an unknown dependency called constructor does not exist', () => {
    expect(oneProblem('components: { a: { process: { command: [a] }, depends_on: { constructor: ready } } }')).toBe(
      'components.a.depends_on.constructor: there is no component "constructor" | There is a.',
    );
  });
});

describe('JSON is read as well', () => {
  test('with tabs, escapes and places', () => {
    const text =
      '{\n\t"components": {\n\t\t"api": {\n\t\t\t"process": { "command": ["a", "\\ud83d\\ude00\\/"] }\n\t\t}\n\t}\n}\n';
    expect(processOf(load(text, { path: '/project/keepwell.json' }).components[0]).command).toEqual(['a', '😀/']);
    const wrong = text.replace('"a"', '7');
    expect(linesOf(wrong, { path: '/project/keepwell.json' })).toEqual([
      '4:29 components.api.process.command[0]: must be text, not a number | Put it in quotes: "7".',
    ]);
  });
});

describe('places are exact', () => {
  const wrong = 'components:\n  api:\n    process:\n      command: [a]\n      env:\n        A: 1\n';

  test.each([
    ['plain', wrong],
    ['with Windows line ends', wrong.replaceAll('\n', '\r\n')],
    ['after a byte order mark', `\ufeff${wrong}`],
  ])('%s', (_, text) => {
    expect(linesOf(text)).toEqual([
      '6:12 components.api.process.env.A: must be text, not a number | Put it in quotes: "1".',
    ]);
  });

  test('columns count what an editor counts, after characters outside the basic plane too', () => {
    expect(linesOf('{ components: { api: { process: { command: ["😀é", 1] } } } }')[0]).toMatch(/^1:52 /);
  });
});

describe('large and hostile files end soon', () => {
  const megabyte = 1_000_000;

  test('one byte more than 1 MB is refused, 1 MB is not', () => {
    const text = `${proc('command: [a]')}\n#`;
    expect(problemsOf(text + 'x'.repeat(megabyte - text.length))).toEqual([]);
    expect(oneProblem(text + 'x'.repeat(megabyte - text.length + 1))).toContain('the file is larger than 1 MB');
  });

  test.each(['[', '{a: ', '- ', 'a: ', '"', '&a ', 'a,', 'a: 1\n', '[[[]', '%a\n', '---\n'])(
    'a megabyte of %j',
    (part) => {
      const started = cpuTimeMs();
      expect(problemsOf(part.repeat(megabyte / part.length)).length).toBeGreaterThan(0);
      expect(cpuTimeMs() - started).toBeLessThan(10_000);
    },
  );

  test('thirty thousand unknown keys are told without looking for what was meant each time', () => {
    const keys = Array.from({ length: 30_000 }, (_, i) => `    unknown_key_${i}: 1`).join('\n');
    const started = cpuTimeMs();
    expect(problemsOf(`components:\n  api:\n    process: { command: [a] }\n${keys}\n`)).toHaveLength(30_000);
    expect(cpuTimeMs() - started).toBeLessThan(10_000);
  });

  test('there may be a thousand components in one chain, and no more', () => {
    const chain = (length: number) =>
      Array.from(
        { length },
        (_, i) => `  c${i}: { process: { command: [a] }, depends_on: { ${i > 0 ? `c${i - 1}: ready` : ''} } }`,
      ).join('\n');
    expect(load(`components:\n${chain(1_000)}\n`).components).toHaveLength(1_000);
    expect(oneProblem(`components:\n${chain(1_001)}\n`)).toContain('there are more than 1000 components');
  });
});
