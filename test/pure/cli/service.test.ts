import { describe, expect, test } from 'vitest';
import { pathWarnings, stopSeconds } from '../../../src/cli/service/facts.ts';
import {
  argument,
  assignment,
  bare,
  differences,
  filesOf,
  label,
  program,
  type UnitFacts,
  unitText,
} from '../../../src/cli/service/unit.ts';
import { load } from '../config/support.ts';

const FACTS: UnitFacts = {
  ...{ scope: 'system', unit: 'keepwell-shop.service', project: 'shop', node: '/usr/bin/node' },
  ...{ entry: '/usr/local/bin/keepwell', files: ['/srv/shop/keepwell.yaml'], dir: '/srv/shop' },
  ...{ home: null, path: '/usr/bin:/bin', user: 'shop', stopSeconds: 40 },
};

describe('how values are written', () => {
  test.each([
    ['/usr/bin/node', '/usr/bin/node', '/usr/bin/node', '/usr/bin/node'],
    ['/srv/my shop', '"/srv/my shop"', '"/srv/my shop"', '/srv/my shop'],
    ['/srv/100%', '/srv/100%%', '/srv/100%%', '/srv/100%%'],
    ['/srv/$HOME', '/srv/$$HOME', '/srv/$HOME', '/srv/$HOME'],
    ['/srv/"x"', '"/srv/\\"x\\""', '/usr/bin/env "/srv/\\"x\\""', '/srv/"x"'],
    ["/srv/it's", '"/srv/it\'s"', '/usr/bin/env "/srv/it\'s"', "/srv/it's"],
    ['/srv/a\\b', '"/srv/a\\\\b"', '/usr/bin/env "/srv/a\\\\b"', '/srv/a\\b'],
    ['/srv/a;b', '"/srv/a;b"', '"/srv/a;b"', '/srv/a;b'],
    ['/srv/#1', '"/srv/#1"', '"/srv/#1"', '/srv/#1'],
    ['/srv/größe', '"/srv/größe"', '"/srv/größe"', '/srv/größe'],
  ])('%s as argument, as program, as the rest of a line', (text, asArgument, asProgram, asRest) => {
    expect([argument(text), program(text), bare(text)]).toEqual([asArgument, asProgram, asRest]);
  });

  test('control characters are escaped in arguments', () => {
    expect(argument('a\nb\tc\u0001\u007f')).toBe('"a\\nb\\tc\\x01\\x7f"');
    expect(argument(';')).toBe('";"');
    expect(argument('')).toBe('""');
  });

  test.each(['/srv/a\nExecStart=/bin/evil', '/srv/x\\', '/srv/x ', '/srv/\u007f'])(
    'no unit can name the folder %j',
    (path) => {
      expect(() => bare(path)).toThrow('Move the project');
    },
  );

  test('a variable', () => {
    expect(assignment('PATH', '/a b:$HOME/%')).toBe('"PATH=/a b:$HOME/%%"');
  });

  test('a description stays on its line', () => {
    expect(label('a\nb %h\\')).toBe('a b %%h');
  });
});

describe('the unit', () => {
  const lines = (facts: Partial<UnitFacts> = {}) => unitText({ ...FACTS, ...facts }).split('\n');

  test('has what keeps components alive and in order', () => {
    expect(lines()).toEqual(
      expect.arrayContaining([
        ...['Type=exec', 'Delegate=yes', 'KillMode=process', 'Restart=on-failure', 'User=shop', 'TimeoutStopSec=40'],
        ...['WorkingDirectory=/srv/shop', 'WantedBy=multi-user.target', 'LimitNOFILE=1024:524288'],
        'ExecStart=/usr/bin/node /usr/local/bin/keepwell -f /srv/shop/keepwell.yaml daemon',
        'ExecReload=/usr/bin/node /usr/local/bin/keepwell -f /srv/shop/keepwell.yaml reload --no-wait',
      ]),
    );
  });

  test('of an account has nothing of the machine', () => {
    const text = unitText({ ...FACTS, scope: 'user', user: null });
    expect(text).toContain('WantedBy=default.target');
    expect(text).not.toMatch(/network-online|User=/);
  });

  test('names every file, in order, and the state directory', () => {
    const files = ['/srv/base.yaml', '/srv/my prod.yaml'];
    const start = lines({ files, home: '/var/lib/shop' }).filter((line) => /^ExecStart|HOME/.test(line));
    expect(start).toEqual([
      'Environment=KEEPWELL_HOME=/var/lib/shop',
      'ExecStart=/usr/bin/node /usr/local/bin/keepwell -f /srv/base.yaml -f "/srv/my prod.yaml" daemon',
    ]);
  });

  test('says whose it is', () => {
    expect(filesOf(unitText({ ...FACTS, files: ['/a\nb/"x".yaml'] }))).toEqual(['/a\nb/"x".yaml']);
    expect(filesOf('[Unit]\nDescription=Keepwell for shop\n')).toBeNull();
    expect(filesOf('# keepwell: {\n')).toBeNull();
  });

  test('and what is different about it', () => {
    const now = unitText({ ...FACTS, node: '/opt/node', stopSeconds: 90, path: '/elsewhere' });
    expect(differences(unitText(FACTS), unitText({ ...FACTS, path: '/elsewhere' }))).toEqual([]);
    expect(differences(unitText(FACTS), now).map(({ key }) => key)).toEqual([
      'ExecStart',
      'ExecReload',
      'TimeoutStopSec',
    ]);
    expect(differences(unitText(FACTS), unitText({ ...FACTS, home: '/h', user: null }))).toEqual([
      { key: 'User', is: 'shop', shouldBe: null },
      { key: 'Environment KEEPWELL_HOME', is: null, shouldBe: 'KEEPWELL_HOME=/h' },
    ]);
  });
});

describe('how long a stop may take', () => {
  const seconds = (text: string) => stopSeconds(load(`components: { ${text} }`).components);
  const one = (name: string, grace: string, needs = '') =>
    `${name}: { process: { command: [x] }, stop: { grace: ${grace} }${needs && `, depends_on: { ${needs} }`} }`;

  test.each([
    ['one alone', one('a', '10s'), 30],
    ['two beside each other stop at the same time', `${one('a', '10s')}, ${one('b', '20s')}`, 40],
    ['two after each other', `${one('a', '10s')}, ${one('b', '20s', 'a: ready')}`, 55],
    [
      'the longest of several chains counts',
      `${one('a', '10s')}, ${one('b', '1m', 'a: ready')}, ${one('c', '5s', 'a: ready')}, ${one('d', '5s', 'c: ready, b: ready')}`,
      15 + 15 + 65 + 10,
    ],
  ])('%s', (_, text, expected) => {
    expect(seconds(text)).toBe(expected);
  });
});

describe('paths that will not last', () => {
  const said = (facts: Partial<UnitFacts>) => pathWarnings({ ...FACTS, ...facts }).join('\n');
  test.each([
    ['nvm', '/home/a/.nvm/versions/node/v20.1.0/bin/node'],
    ['fnm', '/home/a/.local/state/fnm_multishells/1_2/bin/node'],
    ['fnm', '/home/a/.local/share/fnm/node-versions/v20/installation/bin/node'],
    ['Volta', '/home/a/.volta/tools/image/node/20/bin/node'],
    ['asdf', '/home/a/.asdf/installs/nodejs/20/bin/node'],
    ['mise', '/home/a/.local/share/mise/installs/node/20/bin/node'],
    ['nodenv', '/home/a/.nodenv/versions/20/bin/node'],
    ['n', '/usr/local/n/versions/node/20/bin/node'],
  ])('Node of %s at %s', (manager, node) => {
    expect(said({ node })).toContain(`kept by ${manager} `);
  });

  test('the cache of npx, and what a reboot empties', () => {
    expect(said({ entry: '/root/.npm/_npx/1a2b/node_modules/.bin/keepwell' })).toContain('npm install -g keepwell');
    expect(said({ files: ['/tmp/x/keepwell.yaml'] })).toContain('does not survive a reboot');
  });

  test('nothing is said of plain ones', () => {
    for (const node of ['/usr/bin/node', '/opt/node/bin/node', '/home/n/bin/node']) expect(said({ node })).toBe('');
  });
});
