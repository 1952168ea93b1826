import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { type Archives, type ArtifactLedger, artifactLedger, copyArtifacts } from '../../../src/campaigns/artifacts.ts';
import { archive } from '../../../src/docker/copy-archive.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { tempDir } from '../../support/temp-dir.ts';

const NEVER = new AbortController().signal;

/** An Engine that has nothing but this archive, and tells it in pieces of this size. */
const holding = (tar: Buffer, pieceBytes: number): Archives => ({
  archive: (id, path, sink, signal) =>
    archive(
      async ({ onPiece }) => {
        try {
          for (let at = 0; at < tar.length; at += pieceBytes) await onPiece?.(tar.subarray(at, at + pieceBytes));
          return { kind: 'answered', status: 200, headers: {}, body: '' };
        } catch (error) {
          return { kind: 'unreachable', why: (error as Error).message };
        }
      },
      id,
      path,
      sink,
      signal,
    ),
});

const FROM = { container: 'c', experiment: 'one' };
const EMPTY = { before: () => new Map<string, string>() };

/** Of an experiment before which there was nothing. */
const copied = async (archives: Archives, to: string, ledger: Pick<ArtifactLedger, 'before'> | null = EMPTY) =>
  (await copyArtifacts({ archives, ledger }, FROM, [{ from: '/app/{name}', to }], NEVER)).troubles;

function tarOf(dir: string, ...args: readonly string[]): Buffer {
  const { stdout, status, stderr } = spawnSync('tar', ['-cf', '-', '-C', dir, ...args], { maxBuffer: 2 ** 26 });
  expect(String(stderr)).toBe('');
  expect(status).toBe(0);
  return stdout;
}

const LONG = `${'d'.repeat(90)}/${'e'.repeat(90)}/${'f'.repeat(120)}`;

test.each([
  { form: 'gnu', pieceBytes: 7 },
  { form: 'posix', pieceBytes: 100_000 },
  { form: 'ustar', pieceBytes: 512 },
])(
  'a folder is copied with all that is in it, from a $form archive in pieces of $pieceBytes bytes',
  async ({ form, pieceBytes }) => {
    using dir = tempDir();
    const long = form === 'ustar' ? `${'d'.repeat(90)}/${'f'.repeat(90)}` : LONG;
    mkdirSync(dir.at(`one/sub/${long}`), { recursive: true });
    writeFileSync(dir.at('one/empty'), '');
    writeFileSync(dir.at('one/sub/data'), Buffer.alloc(20_001, 7));
    writeFileSync(dir.at(`one/sub/${long}/deep`), 'deep\n');
    const tar = tarOf(dir.path, `--format=${form}`, 'one');
    expect(await copied(holding(tar, pieceBytes), dir.at('out/{name}'))).toEqual([]);
    expect(readFileSync(dir.at('out/one/sub/data'))).toEqual(Buffer.alloc(20_001, 7));
    expect(readFileSync(dir.at('out/one/empty'), 'utf8')).toBe('');
    expect(readFileSync(dir.at(`out/one/sub/${long}/deep`), 'utf8')).toBe('deep\n');
  },
);

test('a single file goes into the folder under its own name, over what was there', async () => {
  using dir = tempDir();
  writeFileSync(dir.at('result.json'), 'new');
  mkdirSync(dir.at('out'));
  writeFileSync(dir.at('out/result.json'), 'a longer old one');
  expect(await copied(holding(tarOf(dir.path, 'result.json'), 512), dir.at('out'))).toEqual([]);
  expect(readFileSync(dir.at('out/result.json'), 'utf8')).toBe('new');
});

test('links are left out, and nothing is written through one that is there', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('one'));
  writeFileSync(dir.at('one/file'), 'from the container');
  symlinkSync('/etc/passwd', dir.at('one/link'));
  const tar = tarOf(dir.path, 'one');
  mkdirSync(dir.at('out'));
  writeFileSync(dir.at('precious'), 'mine');
  symlinkSync(dir.at('precious'), dir.at('out/file'));
  expect(await copied(holding(tar, 512), dir.at('out'))).toEqual([
    'artifacts of one: 1 links or devices in /app/one were left out',
  ]);
  expect(readFileSync(dir.at('precious'), 'utf8')).toBe('mine');
  expect(readFileSync(dir.at('out/file'), 'utf8')).toBe('from the container');
  expect(() => readlinkSync(dir.at('out/file'))).toThrow('EINVAL');
  expect(existsSync(dir.at('out/link'))).toBe(false);
});

test.each([
  { name: '../escaped', args: ['-P', '--transform=s,^one/file,../escaped,', 'one/file'] },
  { name: '/tmp/escaped', args: ['-P', '--transform=s,^one/file,/tmp/keepwell-escaped,', 'one/file'] },
  { name: 'a/../../escaped', args: ['-P', '--transform=s,^one/file,a/../../escaped,', 'one/file'] },
])('a path that leads out of the archive is refused: $name', async ({ args }) => {
  using dir = tempDir();
  mkdirSync(dir.at('one'));
  writeFileSync(dir.at('one/file'), 'x');
  const [trouble] = await copied(holding(tarOf(dir.path, ...args), 512), dir.at('out/x'));
  expect(trouble).toContain('the archive names a path that leads out of it');
  expect(
    existsSync(dir.at('escaped')) || existsSync(dir.at('out/escaped')) || existsSync('/tmp/keepwell-escaped'),
  ).toBe(false);
});

test('an archive that is cut off or damaged is told, and nothing hangs', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('one'));
  writeFileSync(dir.at('one/data'), Buffer.alloc(50_000, 1));
  const tar = tarOf(dir.path, 'one');
  const cut = await copied(holding(tar.subarray(0, 20_000), 512), dir.at('out'));
  expect(cut).toEqual(['artifacts of one: /app/one was not copied whole: the archive was cut off']);
  const damaged = Buffer.from(tar);
  damaged[10] = 0xff;
  expect(await copied(holding(damaged, 512), dir.at('out'))).toEqual([
    'artifacts of one: /app/one was not copied whole: the archive is damaged: a header does not fit its sum',
  ]);
});

test('what is not there is told', async () => {
  const absent: Archives = { archive: async () => ({ kind: 'absent' }) };
  expect(await copied(absent, '/nowhere')).toEqual(['artifacts of one: there is no /app/one in the container']);
});

test('artifacts are those of their experiment: what an earlier one left in the folder is not copied again', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('one/sub'), { recursive: true });
  const write = (name: string, text: string, seconds: number) => {
    writeFileSync(dir.at(`one/${name}`), text);
    utimesSync(dir.at(`one/${name}`), seconds, seconds);
  };
  write('old', 'of the image', 1_000);
  write('sub/same', 'A', 1_000);
  const now: Archives = {
    archive: (...args) => holding(tarOf(dir.path, 'one'), 512).archive(...args),
  };
  const clock = new FakeClock();
  const ledger = artifactLedger(now, clock);
  const specs = [{ from: '/app/{name}', to: dir.at('out') }];
  const prepare = async () => {
    const prepared = ledger.prepare(FROM, specs, NEVER);
    await clock.advance(1_000);
    await prepared;
  };
  const finish = async (to: string) => {
    const { troubles, listings } = await copyArtifacts({ archives: now, ledger }, FROM, [{ ...specs[0]!, to }], NEVER);
    for (const [source, listing] of listings) ledger.keep(FROM.container, source, listing);
    return troubles;
  };

  await prepare();
  write('result', 'first', 2_000);
  expect(await finish(dir.at('first'))).toEqual([]);
  expect(readdirSync(dir.at('first'))).toEqual(['result']);

  // The same name and size, a file with the time of long ago, and one that is as it was.
  await prepare();
  write('sub/same', 'B', 3_000);
  write('unpacked', 'with the time of its archive', 500);
  expect(await finish(dir.at('second'))).toEqual([]);
  expect(readdirSync(dir.at('second'), { recursive: true }).sort()).toEqual(['sub', 'sub/same', 'unpacked']);
  expect(readFileSync(dir.at('second/sub/same'), 'utf8')).toBe('B');

  await prepare();
  expect(await finish(dir.at('third'))).toEqual([
    'artifacts of one: it made or changed nothing in /app/one, so nothing was copied',
  ]);
  expect(existsSync(dir.at('third'))).toBe(false);

  // One that was ended leaves its files to nobody.
  await prepare();
  write('half', 'of one that took too long', 4_000);
  await prepare();
  expect(await finish(dir.at('fourth'))).toHaveLength(1);
  expect(clock.sleeping).toBe(0);
});

test('where nobody knows what was there before, everything is copied, and that is said', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('one'));
  writeFileSync(dir.at('one/file'), 'x');
  expect(await copied(holding(tarOf(dir.path, 'one'), 512), dir.at('out'), null)).toEqual([
    'artifacts of one: what was in /app/one before it began is not known, so all of it was copied',
  ]);
  expect(readFileSync(dir.at('out/file'), 'utf8')).toBe('x');
});

test('a link in a folder on the way is not followed', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('one/sub/deep'), { recursive: true });
  writeFileSync(dir.at('one/sub/deep/data'), 'from the experiment');
  const tar = tarOf(dir.path, 'one');
  mkdirSync(dir.at('out/one'), { recursive: true });
  mkdirSync(dir.at('elsewhere/deep'), { recursive: true });
  symlinkSync(dir.at('elsewhere'), dir.at('out/one/sub'));
  const [trouble] = await copied(holding(tar, 512), dir.at('out/{name}'));
  expect(trouble).toContain(`${dir.at('out/one/sub')} is a link`);
  expect(existsSync(dir.at('elsewhere/deep/data'))).toBe(false);
});

test('more than fits is not copied without end', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('one'));
  writeFileSync(dir.at('one/data'), Buffer.alloc(100_000));
  const specs = [{ from: '/app/{name}', to: dir.at('out') }];
  const copying = { archives: holding(tarOf(dir.path, 'one'), 4_096), ledger: EMPTY };
  const { troubles } = await copyArtifacts(copying, FROM, specs, NEVER, 50_000);
  expect(troubles[0]).toContain('/app/one was not copied whole: it is larger than');
  expect(readFileSync(dir.at('out/data')).length).toBeLessThanOrEqual(50_000);
});
