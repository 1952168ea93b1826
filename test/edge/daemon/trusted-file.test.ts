/** Which configuration files are used without being named: none that somebody else could have written or put there. */
import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Asker, distrust, findProject } from '../../../src/base/home.ts';
import { tempDir } from '../../support/temp-dir.ts';

const ALICE = 1001;
const MALLORY = 1002;
const TEAM = 2000;
const alice: Asker = { uid: ALICE, groups: [ALICE, TEAM], caller: null };
const root: Asker = { uid: 0, groups: [0], caller: null };
const sudo: Asker = { ...root, caller: { uid: ALICE, gid: ALICE } };

interface Row {
  readonly name: string;
  readonly who: Asker;
  readonly file: readonly [uid: number, gid: number, mode: number];
  readonly dir?: readonly [uid: number, gid: number, mode: number];
  readonly dotenv?: readonly [uid: number, gid: number, mode: number];
  readonly problem: RegExp | null;
}

const MINE = [ALICE, ALICE, 0o644] as const;
const rows: readonly Row[] = [
  { name: 'our own', who: alice, file: MINE, problem: null },
  { name: 'that of root', who: alice, file: [0, 0, 0o644], dir: [0, 0, 0o755], problem: null },
  { name: 'one that our own group may write', who: alice, file: [ALICE, ALICE, 0o664], problem: null },
  { name: 'one that our team may write', who: alice, file: [0, TEAM, 0o664], dir: [0, TEAM, 0o2775], problem: null },
  { name: 'our own in /tmp', who: alice, file: MINE, dir: [0, 0, 0o1777], problem: null },
  { name: 'that of the one who called sudo', who: sudo, file: [ALICE, ALICE, 0o664], problem: null },
  { name: 'that of another user', who: alice, file: [MALLORY, ALICE, 0o644], problem: /^it belongs to user 1002/ },
  { name: 'that of another user, for root', who: root, file: MINE, problem: /^it belongs to user 1001/ },
  {
    name: 'that of another user, with sudo',
    who: sudo,
    file: [MALLORY, 0, 0o644],
    problem: /^it belongs to user 1002/,
  },
  {
    name: 'one that everybody may write',
    who: alice,
    file: [ALICE, ALICE, 0o666],
    problem: /^it can be written by every/,
  },
  {
    name: 'one that a group may write that is not ours',
    who: alice,
    file: [ALICE, 3000, 0o664],
    problem: /by group 3000/,
  },
  { name: 'one that a group may write, for root', who: root, file: [0, TEAM, 0o664], problem: /by group 2000/ },
  {
    name: 'one in a folder of another user',
    who: alice,
    file: MINE,
    dir: [MALLORY, 0, 0o755],
    problem: /^the folder .* 1002/,
  },
  {
    name: 'one in a folder that everybody may write',
    who: alice,
    file: MINE,
    dir: [ALICE, 0, 0o777],
    problem: /^the folder /,
  },
  {
    name: "one in /tmp beside another user's .env",
    ...{ who: alice, file: MINE, dir: [0, 0, 0o1777], dotenv: [MALLORY, 0, 0o644] },
    problem: /\.env, which belongs to it, belongs to user 1002/,
  },
];

// Only root can make files of others.
describe.runIf(process.geteuid?.() === 0)('a configuration that was found', () => {
  test.each(rows)('$name', ({ who, file, dir = [ALICE, ALICE, 0o755], dotenv, problem }) => {
    using temp = tempDir();
    const put = (path: string, [uid, gid, mode]: Row['file']) => {
      chownSync(path, uid, gid);
      chmodSync(path, mode);
    };
    mkdirSync(temp.at('p'));
    writeFileSync(temp.at('p/keepwell.yaml'), 'components: {}\n');
    put(temp.at('p/keepwell.yaml'), file);
    if (dotenv !== undefined) {
      writeFileSync(temp.at('p/.env'), 'A=1\n');
      put(temp.at('p/.env'), dotenv);
    }
    put(temp.at('p'), dir);
    const found = distrust(temp.at('p/keepwell.yaml'), who);
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
  });

  test('a link of another user to our own file is that of another user', () => {
    using temp = tempDir();
    writeFileSync(temp.at('mine.yaml'), 'components: {}\n');
    symlinkSync('mine.yaml', temp.at('keepwell.yaml'));
    lchownSync(temp.at('keepwell.yaml'), MALLORY, MALLORY);
    expect(distrust(temp.at('keepwell.yaml'), root)).toMatch(/^it belongs to user 1002/);
  });

  test('is refused by its name, with what to type; named with -f it is used', () => {
    using temp = tempDir();
    mkdirSync(temp.at('p/below/deeper'), { recursive: true });
    writeFileSync(temp.at('p/keepwell.yaml'), 'components: {}\n');
    chownSync(temp.at('p/keepwell.yaml'), MALLORY, MALLORY);
    const cwd = temp.at('p/below/deeper');
    expect(() => findProject({ cwd, files: [], env: {} })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_UNTRUSTED',
        hint: expect.stringContaining(`-f ${temp.at('p/keepwell.yaml')}`),
      }),
    );
    expect(findProject({ cwd, files: ['../../keepwell.yaml'], env: {} }).files).toEqual([temp.at('p/keepwell.yaml')]);
  });
});
