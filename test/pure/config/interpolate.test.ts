import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expand } from '../../../src/config/merge.ts';
import { cpuTimeMs } from '../../support/cpu-time.ts';
import { api, linesOf, load, oneProblem, problemsOf, proc, processOf } from './support.ts';

const VARIABLES: Readonly<Record<string, string>> = { HOST: 'db.local', EMPTY: '', TRICKY: '"a", ${HOST}\n- b $$ #' };
const lookup = (name: string) => (Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined);

describe('variables in a value', () => {
  test.each([
    ['plain text', 'plain text'],
    ['${HOST}', 'db.local'],
    ['http://${HOST}:80/${HOST}', 'http://db.local:80/db.local'],
    ['${EMPTY}', ''],
    ['${HOST:-other}', 'db.local'],
    ['${NOPE:-other}', 'other'],
    ['${NOPE:-}', ''],
    ['${EMPTY:-other}', 'other'],
    ['${NOPE:-a:-b?c d}', 'a:-b?c d'],
    ['${NOPE:-$$5}', '$5'],
    ['${HOST:?is needed}', 'db.local'],
    ['$$', '$'],
    ['$${HOST}', '${HOST}'],
    ['$$$${HOST}', '$${HOST}'],
    ['$$${HOST}', '$db.local'],
    ['100$', '100$'],
    ['$(date) $1 $? ^a$', '$(date) $1 $? ^a$'],
    ['}{', '}{'],
    ['${TRICKY}', VARIABLES['TRICKY']],
  ])('%j becomes %j', (source, text) => {
    expect(expand(source, lookup)).toEqual({ text, mistakes: [] });
  });

  test.each([
    ['${NOPE}', 'NOPE is not set'],
    ['${NOPE:?}', 'NOPE is not set'],
    ['${NOPE:?set it to the host}', 'NOPE is not set: set it to the host'],
    ['${EMPTY:?set it}', 'EMPTY is empty: set it'],
    ['${', 'a "${" is not closed'],
    ['a ${HOST', 'a "${" is not closed'],
    ['${}', '"${}" is not understood'],
    ['${1x}', '"${1x}" is not understood'],
    ['${A B}', '"${A B}" is not understood'],
    ['${HOST-x}', '"${HOST-x}" is not understood'],
    ['${HOST:+x}', '"${HOST:+x}" is not understood'],
    ['${HOST?x}', '"${HOST?x}" is not understood'],
    ['${NOPE:-${HOST}}', 'a variable inside a variable is not supported'],
    ['$HOST', '"$HOST" is not expanded'],
    ['${constructor}', 'constructor is not set'],
  ])('%j is a mistake: %s', (source, message) => {
    expect(expand(source, lookup).mistakes.map((mistake) => mistake.message)).toEqual([message]);
  });

  test('all mistakes of one value are found', () => {
    expect(expand('${A} $B ${C:?x} ${', lookup).mistakes).toHaveLength(4);
  });

  test('a megabyte of openings takes no time', () => {
    const started = cpuTimeMs();
    expand('${'.repeat(500_000), lookup);
    expand(`${'${'.repeat(500_000)}}`, lookup);
    expand('${HOST}'.repeat(100_000), lookup);
    expect(cpuTimeMs() - started).toBeLessThan(2_000);
  });
});

describe('expansion never changes the shape of a configuration', () => {
  const anyText = fc
    .string({ unit: 'binary', maxLength: 30 })
    .map((text) => text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, ''));
  const nasty = fc.constantFrom(
    '"',
    "'",
    '\n',
    ' ',
    ', ',
    '${B}',
    '$$',
    '`x`',
    '; rm -rf /',
    '- a',
    '}',
    ']',
    ': ',
    '#',
    '\\',
    '\t',
    '{{',
  );
  const value = fc.array(fc.oneof(anyText, nasty), { maxLength: 6 }).map((parts) => parts.join(''));

  test('the number of arguments stays, and a variable arrives unchanged', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), (values) => {
        const env = Object.fromEntries(values.map((text, i) => [`V${i}`, text]));
        const command = ['prog', ...values.map((_, i) => `\${V${i}}`), 'last'];
        const text = proc(`command: ${JSON.stringify(command)}, env: { E: "\${V0}" }`);
        const driver = processOf(load(text, { env }).components[0]);
        expect(driver.command).toEqual(['prog', ...values, 'last']);
        expect(driver.env).toEqual({ E: values[0] });
      }),
      { numRuns: 500 },
    );
  });

  test('any text can be written with doubled dollar signs', () => {
    fc.assert(
      fc.property(value, (text) => {
        expect(
          expand(
            text.replaceAll('$', () => '$$'),
            () => undefined,
          ),
        ).toEqual({ text, mistakes: [] });
      }),
    );
  });

  test('keys are left alone', () => {
    expect(Object.keys(load(proc('command: [a], env: { "${HOST}": x }')).components[0]!.driver.env)).toEqual([
      '${HOST}',
    ]);
  });

  test('a variable is text, also where a number is wanted', () => {
    expect(oneProblem(api('restart: { limit: { max: "${N}" } }'), { env: { N: '5' } })).toBe(
      'components.api.restart.limit.max: must be a whole number from 0 to 1000000 | A variable always gives text; write the value itself here.',
    );
  });

  test('a duration, a name and a policy can come from variables', () => {
    const env = { GRACE: '3s', POLICY: 'never', NAME: 'shop' };
    const config = load(`name: \${NAME}\n${api('stop: { grace: "${GRACE}" }, restart: { policy: "${POLICY}" }')}`, {
      env,
    });
    expect(config.name).toBe('shop');
    expect(config.components[0]).toMatchObject({ stop: { graceMs: 3_000 }, restart: { policy: 'never' } });
  });
});

describe('where variables come from', () => {
  const text = proc('command: [a, "${A}", "${B}"]');

  test('the environment goes over .env', () => {
    const loaded = load(text, { env: { A: 'env' }, dotenv: 'A=file\nB="from file"\n' });
    const driver = processOf(loaded.components[0]);
    expect(driver.command).toEqual(['a', 'env', 'from file']);
  });

  test('a missing one is told with its place and what to do', () => {
    expect(linesOf(text, { env: { A: 'x' } })).toEqual([
      '1:54 components.api.process.command[2]: B is not set | Set it in the environment or in .env beside the first file, or give a default: ${B:-value}.',
    ]);
  });

  test('a mistake in .env is told with its line, and not as missing variables on top', () => {
    expect(linesOf(text, { dotenv: '# ok\nA=1\n  B "x\n' })).toEqual([
      '.env:3:3 : this is not KEY=value | Write KEY=value, or # for a comment.',
    ]);
  });

  test('a mistake in an .env that nothing is looked for in is none of our business', () => {
    expect(problemsOf(text, { env: { A: 'x', B: 'y' }, dotenv: 'not: ours' })).toEqual([]);
    expect(problemsOf(proc('command: [a]'), { dotenv: 'not: ours' })).toEqual([]);
  });

  test('a missing variable below a key that is refused anyway is no second problem', () => {
    expect(oneProblem(`nothing: { token: "\${GITHUB_TOKEN}" }\n${proc('command: [a]')}`)).toContain(
      'unknown key "nothing"',
    );
  });

  test('what a variable holds never shows in a message', () => {
    const env = { SECRET: 'hunter2' };
    const text = `name: \${SECRET}!\n${proc('command: "${SECRET} -x", cwd: "~/${SECRET}"')}`;
    const found = problemsOf(text, { env });
    expect(found).toHaveLength(3);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  test('a short file cannot make a long variable eat the memory', () => {
    const command = Array(2_000).fill('"${BIG}${BIG}${BIG}"').join(', ');
    expect(oneProblem(proc(`command: [${command}]`), { env: { BIG: 'x'.repeat(100_000) } })).toContain(
      'the variables make it far too long',
    );
  });
});
