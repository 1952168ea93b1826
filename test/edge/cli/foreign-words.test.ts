import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { foreignCommand } from '../../../src/cli/foreign-words.ts';
import { COMMANDS } from '../../../src/cli/program.ts';
import { why } from '../http/fake-control.ts';
import { CliWorld } from './cli-world.ts';

/** What was typed, and what the answer must say. */
const ROWS: readonly [typed: string, says: RegExp][] = [
  ['list', /Use "keepwell status"/],
  ['get', /Use "keepwell status"/],
  ['monit', /Use "keepwell top"/],
  ['describe api', /Use "keepwell status NAME --verbose"/],
  ['config', /Use "keepwell validate"/],
  ['kill', /"keepwell down".*"keepwell stop NAME"/],
  ['enable', /Use "keepwell service install"/],
  ['delete api', /Take the component out of the configuration, then "keepwell reload"/],
  ['remove api', /what "keepwell run" keeps is removed by "keepwell rm NAME"/],
  ['rm api', /"api" is in .*keepwell\.yaml: take it out there, then run "keepwell reload"/],
  ['save', /There is nothing to save/],
  ['exec api', /Missing required argument 'CMD'/],
  ['exec api --', /Say what to run: "keepwell exec api -- COMMAND"/],
  ['run --name web', /Missing required argument/i],
  ['run --name We!b -- true', /Use a-z, 0-9/],
  ['run --name api -- true', /There is a component "api" already/],
  ['run -- no-such-program', /Nothing is kept: no such command: "no-such-program"/],
  ['run -e NOT_SET_HERE -- true', /NOT_SET_HERE is not set here/],
  ['jlist', /Use "keepwell status -o json"/],
  ['reread', /Use "keepwell reload --dry-run"/],
  ['update', /Use "keepwell reload"/],
  ['shell api', /Use "keepwell exec NAME -- sh"/],
  ['rollout restart api', /Use "keepwell restart NAME"/],
  ['up --build', /Keepwell builds no images/],
  ['status --namespace shop', /A project is the folder of its configuration/],
  ['help stat', /There is no command "stat"\. Did you mean "status"\?/],
  ['stat', /There is no command "stat"\. Did you mean "status"\?\n {2}Run "keepwell --help"\.$/m],
  ['statsu', /There is no command "statsu"\. Did you mean "status"\?/],
  ['status --jsn', /Run "keepwell status --help"\.$/m],
  ['info api', /Use "keepwell status NAME --verbose"/],
  ['help monit', /Use "keepwell top"/],
  ['status --json', /Write -o json\./],
  ['status --format json', /Write -o json, or -o text\./],
  ['status --format=json', /Write -o json, or -o text\./],
  ['logs --lines 5', /Write -n N, or --tail N\./],
  ['up -c x.yaml', /Give the configuration with -f FILE/],
  ['status --config x.yaml', /Give the configuration with --file FILE/],
  ['-v', /For the version write -V or --version/],
  ['crashes --since 5m', /Write --last 5m\./],
  ['down api', /For these: "keepwell stop api"/],
  ['events api --component worker', /Give NAME or --component NAME, not both/],
  ['logs --all api', /Give names, --all, --agent or --daemon, not several/],
];

test.each(ROWS)('keepwell %s is answered with what to type', async (typed, says) => {
  await using world = await CliWorld.served();
  const { code, err } = await world.run(...typed.split(' '));
  expect(err).toMatch(says);
  expect(code).toBe(2);
});

test('every command that an answer names is one', () => {
  const known = COMMANDS.flatMap(({ usage, aliases = [] }) => [usage.split(' ')[0]!, ...aliases]);
  const words = ['list', 'get', 'monit', 'describe', 'tail', 'config', 'check', 'convert', 'create', 'apply', 'stats'];
  const more = ['kill', 'enable', 'disable', 'scale', 'delete', 'reread', 'attach', 'startup', 'resurrect', 'shutdown'];
  for (const word of [...words, ...more]) {
    const named = [...foreignCommand(word)!.matchAll(/"keepwell (\S+?)["\s]/g)].map(([, name]) => name!);
    expect([word, named.filter((name) => !known.includes(name))]).toEqual([word, []]);
    expect(known).not.toContain(word);
  }
  expect(foreignCommand('hasOwnProperty')).toBeNull();
});

describe('words that are taken as they are meant', () => {
  test.each(['restart', 'stop', 'start'])('%s all says --all', async (verb) => {
    await using world = await CliWorld.served();
    const { code, err } = await world.run(verb, 'all');
    expect(err).toContain(`For all of them: "keepwell ${verb} --all".`);
    expect(code).toBe(4);
  });

  test('logs --all shows everything', async () => {
    await using world = await CliWorld.served();
    const [all, none] = [await world.run('logs', '--all'), await world.run('logs')];
    expect(all).toEqual(none);
    expect(all.code).toBe(0);
  });

  test('events, crashes and health take a name', async () => {
    await using world = await CliWorld.served();
    expect(await world.run('events', 'api')).toEqual(await world.run('events', '--component', 'api'));
    expect(await world.run('crashes', 'worker')).toEqual(await world.run('crashes', '--component', 'worker'));
    const { out } = await world.run('health', 'sandbox', '-o', 'json');
    const byOption = await world.run('health', '--check', 'sandbox', '-o', 'json');
    expect(Object.keys(JSON.parse(out).checks)).toEqual(Object.keys(JSON.parse(byOption.out).checks));
  });

  test('events --since leaves out what is older', async () => {
    await using world = await CliWorld.served();
    const all = await world.run('events', '-o', 'json', '--since', '2000-01-01');
    expect(all).toEqual(await world.run('events', '-o', 'json'));
    expect((await world.run('events', '-o', 'json', '--since', '1s')).out).toBe('');
    expect((await world.run('events', '--since', 'soon')).code).toBe(2);
  });

  test('why alone is about the newest crash', async () => {
    await using world = await CliWorld.served();
    expect(await world.run('why')).toEqual({ code: 0, out: 'no crashes on record\n', err: '' });
    world.served!.control.crashList.push(why(3, 'api'), why(4, 'worker'));
    const newest = await world.run('why');
    expect(newest.code).toBe(0);
    expect(newest).toEqual(await world.run('why', '4'));
  });
});

describe('which configuration', () => {
  test('KEEPWELL_FILE says it for all commands of a shell, and -f is stronger', async () => {
    await using world = new CliWorld();
    const component = (name: string) => `components:\n  ${name}: { process: { command: ["true"] } }\n`;
    for (const name of ['a', 'b', 'c']) writeFileSync(world.dir.at(`${name}.yaml`), component(name));
    world.env = { PATH: '/usr/bin:/bin', KEEPWELL_FILE: 'a.yaml:b.yaml' };
    const names = async (...args: string[]) => JSON.parse((await world.run(...args, '-o', 'json')).out).components;
    expect(await names('validate')).toEqual(['a', 'b']);
    expect(await names('-f', 'c.yaml', 'validate')).toEqual(['c']);
    world.env = { KEEPWELL_FILE: 'd.yaml' };
    expect((await world.run('validate')).err).toContain('d.yaml');
  });

  test('a file that is not there is answered with the nearest name', async () => {
    await using world = new CliWorld();
    writeFileSync(world.dir.at('prod.yaml'), '');
    const { code, err } = await world.run('-f', 'prd.yaml', 'validate');
    expect(err).toContain('Did you mean "prod.yaml"?');
    expect(code).toBe(2);
  });

  test('two in one folder are both named, whatever is asked', async () => {
    await using world = new CliWorld();
    writeFileSync(world.dir.at('keepwell.yml'), 'components: {}');
    const { code, err } = await world.run('validate');
    expect(err).toMatch(/warning: there are keepwell\.yaml and keepwell\.yml in .*; only keepwell\.yaml is used/);
    expect(code).toBe(0);
    expect((await world.run('-f', 'keepwell.yml', 'validate')).err).not.toContain('warning');
  });

  test('up from a folder below says which file it uses', async () => {
    await using world = new CliWorld();
    mkdirSync(world.dir.at('below'));
    writeFileSync(world.dir.at('keepwell.yaml'), 'components: { a: 1 }'); // a mistake: nothing is started
    world.cwd = world.dir.at('below');
    const { err } = await world.run('up');
    expect(err).toContain(`using ${world.dir.at('keepwell.yaml')}`);
    world.cwd = world.dir.path;
    expect((await world.run('up')).err).not.toContain('using ');
  });
});

describe('what would not start', () => {
  test('is told by validate: a folder or a program that is not there', async () => {
    await using world = new CliWorld();
    const config = `components:
  a: { process: { command: [no-such-program] } }
  b: { process: { command: ["true"], cwd: nowhere } }
  c: { process: { command: ["true"] } }
`;
    writeFileSync(world.dir.at('keepwell.yaml'), config);
    world.env = { PATH: '/usr/bin:/bin' };
    const { code, err } = await world.run('validate');
    expect(err.split('\n')).toEqual([
      'a: no such command: "no-such-program" (looked in PATH)',
      `b: the working directory ${world.dir.at('nowhere')} does not exist`,
      '',
    ]);
    expect(code).toBe(0);
  });
});

test('every problem of a configuration is an item of the error, for programs', async () => {
  await using world = new CliWorld();
  writeFileSync(world.dir.at('keepwell.yaml'), 'components:\n  a: { process: { comand: [x] } }\n');
  const { err } = await world.run('up', '-o', 'json');
  const { error } = JSON.parse(err);
  expect(error.code).toBe('CONFIG_INVALID');
  expect(error.details.problems).toEqual([
    expect.objectContaining({ line: 2, path: 'components.a.process.comand', message: 'unknown key "comand"' }),
  ]);
  expect(error.message).toContain('unknown key "comand"');
});
