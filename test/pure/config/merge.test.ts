import { expect, test } from 'vitest';
import { linesOf, load, processOf } from './support.ts';

const base = `components:
  api:
    process: { command: [server, --a], env: { A: "1", B: "2" } }
    stop: { grace: 5s }
  db: { process: { command: [db] } }
`;

test('maps merge key by key, lists and single values are replaced', () => {
  const over =
    'components:\n  api:\n    process: { command: [other], env: { B: "3", C: "4" } }\n  cache: { process: { command: [c] } }\n';
  const { components, files } = load(base, { over: [over] });
  expect(components.map(({ name }) => name)).toEqual(['api', 'db', 'cache']);
  expect(processOf(components[0]).command).toEqual(['other']);
  expect(components[0]!.driver.env).toEqual({ A: '1', B: '3', C: '4' });
  expect(components[0]!.stop.graceMs).toBe(5_000);
  expect(files).toEqual(['/project/keepwell.yaml', '/project/over-1.yaml']);
});

test('the last of several files wins', () => {
  const over = (grace: string) => `components: { api: { stop: { grace: ${grace} } } }`;
  expect(load(base, { over: [over('6s'), over('7s')] }).components[0]!.stop.graceMs).toBe(7_000);
});

test('a mistake that a later file replaces is no mistake', () => {
  expect(load('name: Not Valid\n' + base, { over: ['name: valid'] }).name).toBe('valid');
});

test('every problem points into the file its value came from, sorted by file, line and column', () => {
  const over = 'components:\n  api: { stop: { grace: 6 } }\n  db:\n    process: { cwd: 1 }\n  new: {}\n';
  expect(linesOf('name: Not Valid\n' + base, { over: [over] })).toEqual([
    expect.stringMatching(/^1:7 name: /),
    expect.stringMatching(/^over-1.yaml:2:25 components.api.stop.grace: /),
    expect.stringMatching(/^over-1.yaml:4:21 components.db.process.cwd: /),
    expect.stringMatching(/^over-1.yaml:5:3 components.new: nothing says what to run/),
  ]);
});

test('a map that several files share is pointed at where it first appears', () => {
  expect(
    linesOf('components:\n  api: { min_uptime: 1s }\n', { over: ['\n\ncomponents: { api: { min_uptime: 2s } }'] }),
  ).toEqual([expect.stringMatching(/^2:3 components.api: nothing says what to run/)]);
});

test('a file that cannot be read at all stops everything else from being said', () => {
  expect(linesOf('name: Not Valid\n', { over: ['a: b: c', '- x'] })).toEqual([
    expect.stringMatching(/^over-1.yaml:1:4 : there are two keys/),
    expect.stringMatching(/^over-2.yaml:1:1 : a configuration is a map/),
  ]);
});
