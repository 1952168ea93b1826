import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { observeProcess } from '../../../src/agents/open.ts';
import { withoutMembers } from '../../../src/agents/rules/others-entry.ts';
import { readStateFile, rewriteStateFile } from '../../../src/agents/state-file.ts';
import { loopThatNeverWaits } from '../../support/loop-without-wait.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

const NOBODY_UID = 65_534;
const BEFORE = '{"active_agents": {"77": {}, "78": {}}, "loop": 1}\n';
const AFTER = '{"active_agents": {"78": {}}, "loop": 1}\n';
const isWhole = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const change = (text: string): string | null => {
  const rest = withoutMembers(text, 'active_agents', new Set(['77']));
  return rest === text ? null : rest;
};

function stateFile() {
  const dir = tempDir();
  const path = dir.at('state.json');
  writeFileSync(path, BEFORE);
  const rewrite = (before = BEFORE, with_ = change) => rewriteStateFile({ path, before, change: with_, isWhole });
  const text = () => readFileSync(path, 'utf8');
  return { dir, path, rewrite, text, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

describe('rewriting the file of somebody else', () => {
  test('it takes the place of the old one whole, with its mode, and leaves nothing beside it', async () => {
    using file = stateFile();
    chmodSync(file.path, 0o640);
    expect(await file.rewrite()).toEqual({ kind: 'done' });
    expect(file.text()).toBe(AFTER);
    expect(statSync(file.path).mode & 0o7777).toBe(0o640);
    expect(readdirSync(file.dir.path)).toEqual(['state.json']);
  });

  test('it still belongs to whom it belonged', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('giving files away needs root');
    using file = stateFile();
    chownSync(file.path, 12_345, 54_321);
    expect(await file.rewrite()).toEqual({ kind: 'done' });
    expect(statSync(file.path)).toMatchObject({ uid: 12_345, gid: 54_321 });
  });

  test('what somebody wrote since it was read stays', async () => {
    using file = stateFile();
    const newer = BEFORE.replace('1}', '2}');
    writeFileSync(file.path, newer);
    expect(await file.rewrite()).toEqual({ kind: 'busy' });
    expect(file.text()).toBe(newer);
  });

  test('what somebody puts in its place by rename while we write stays', async () => {
    using file = stateFile();
    const newer = BEFORE.replace('1}', '3}');
    const meanwhile = (text: string) => {
      writeFileSync(file.dir.at('other'), newer);
      renameSync(file.dir.at('other'), file.path);
      return change(text);
    };
    expect(await file.rewrite(BEFORE, meanwhile)).toEqual({ kind: 'busy' });
    expect(file.text()).toBe(newer);
    expect(readdirSync(file.dir.path)).toEqual(['state.json']);
  });

  test('what somebody writes into the old file after the rename is put back, without the dead', async () => {
    using file = stateFile();
    const old = openSync(file.path, 'r+');
    const rewriting = file.rewrite();
    await waitFor('the new file to be there', () => file.text() === AFTER);
    ftruncateSync(old);
    writeSync(old, BEFORE.replace('1}', '4'), 0); // half of it
    writeSync(old, '}\n', BEFORE.length - 2);
    closeSync(old);
    expect(await rewriting).toEqual({ kind: 'done' });
    expect(file.text()).toBe(AFTER.replace('1}', '4}'));
  });

  test('one who dies in the middle of writing leaves our text', async () => {
    using file = stateFile();
    const old = openSync(file.path, 'r+');
    const rewriting = file.rewrite();
    await waitFor('the new file to be there', () => file.text() === AFTER);
    ftruncateSync(old);
    writeSync(old, '{"active_ag', 0);
    closeSync(old);
    expect(await rewriting).toEqual({ kind: 'busy' });
    expect(file.text()).toBe(AFTER);
  });

  test('a link to it stays a link', async () => {
    using file = stateFile();
    symlinkSync(file.path, file.dir.at('link'));
    const options = { path: file.dir.at('link'), before: BEFORE, change, isWhole };
    expect(await rewriteStateFile(options)).toEqual({ kind: 'done' });
    expect(file.text()).toBe(AFTER);
    expect(readFileSync(file.dir.at('link'), 'utf8')).toBe(AFTER);
  });

  test('a file with two names is left alone', async () => {
    using file = stateFile();
    linkSync(file.path, file.dir.at('second'));
    expect(await file.rewrite()).toMatchObject({ kind: 'refused', why: expect.stringContaining('hard link') });
    expect(file.text()).toBe(BEFORE);
  });

  test('one that is gone is nobody’s to write', async () => {
    using file = stateFile();
    renameSync(file.path, file.dir.at('away'));
    expect(await file.rewrite()).toEqual({ kind: 'busy' });
    expect(readdirSync(file.dir.path)).toEqual(['away']);
  });

  test('it is read whole, or not at all', async () => {
    using file = stateFile();
    expect(await readStateFile(file.path)).toMatchObject({ kind: 'text', text: BEFORE });
    expect(await readStateFile(file.dir.at('none'))).toEqual({ kind: 'missing' });
    expect(await readStateFile(file.dir.path)).toMatchObject({ kind: 'unreadable' });
    writeFileSync(file.path, Buffer.from([0x7b, 0xff, 0x7d]));
    expect(await readStateFile(file.path)).toEqual({ kind: 'unreadable', why: 'is not valid UTF-8 text' });
    writeFileSync(file.path, ' '.repeat(9 * 1024 * 1024));
    expect(await readStateFile(file.path)).toMatchObject({
      kind: 'unreadable',
      why: expect.stringContaining('larger'),
    });
  });
});

describe('looking at a process by its number', () => {
  test('one that lives is there, with its parent and when it began', async () => {
    const child = spawn('sleep', ['300']);
    try {
      const observation = observeProcess(child.pid!);
      expect(observation).toMatchObject({ kind: 'there', zombie: false, ppid: process.pid });
      if (observation.kind === 'there') expect(Math.abs(Date.now() - observation.startedAt)).toBeLessThan(60_000);
    } finally {
      child.kill('SIGKILL');
    }
    await waitFor('it to be gone', () => observeProcess(child.pid!).kind === 'gone');
  });

  test('one that ended without anybody taking note is a zombie, and the kernel tells how it ended', async () => {
    await using loop = await loopThatNeverWaits({ codes: [0, 3] });
    await loop.letThemEnd();
    const [good, bad] = loop.agents.map(observeProcess);
    expect(good).toMatchObject({ kind: 'there', zombie: true, ppid: loop.pid, exit: { kind: 'code', code: 0 } });
    expect(bad).toMatchObject({ kind: 'there', zombie: true, ppid: loop.pid, exit: { kind: 'code', code: 3 } });
  });

  test('how a zombie of another user ended is not known: the kernel says 0 to whoever may not trace it', async ({
    skip,
  }) => {
    if (process.getuid?.() !== 0) skip('processes of other users need root');
    await using loop = await loopThatNeverWaits({ codes: [0, 3] });
    await loop.letThemEnd();
    const seen = process.geteuid!();
    process.seteuid!(NOBODY_UID);
    try {
      for (const observation of loop.agents.map(observeProcess))
        expect(observation).toMatchObject({ kind: 'there', zombie: true, exit: null });
    } finally {
      process.seteuid!(seen);
    }
  });

  test('a thread is nobody’s agent', () => {
    const [, thread] = readdirSync('/proc/self/task');
    expect(observeProcess(Number(thread))).toEqual({ kind: 'gone' });
  });
});
