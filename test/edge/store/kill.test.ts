import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { column, integrity, upTo } from './inspect.ts';
import { runNode } from './program.ts';

let writer: Bundle;
beforeAll(async () => {
  writer = await bundle('test/fixtures/store/writer.ts');
});
afterAll(() => writer.remove());

const KILLS = 40;

test(`${KILLS} times kill -9 in the middle of writing: nothing acknowledged is lost, nothing is numbered twice`, async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const acknowledged: { readonly seq: number; readonly run: string }[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    using program = runNode(writer.path, path);
    // The program never pauses, so killing it after a random number of lines hits a random place in a later commit.
    let left = Math.floor(Math.random() * 60);
    program.onLine(() => {
      left -= 1;
      if (left <= 0) program.child.kill('SIGKILL');
    });
    const { signal, stderr } = await program.ended;
    expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
    expect(program.lines[0]).toMatch(/^open \d+ ok$/);
    for (const [, seq, run] of program.lines.map((line) => line.split(' ')).filter(([word]) => word === 'ack')) {
      acknowledged.push({ seq: Number(seq), run: run! });
    }
  }
  expect(await integrity(path)).toBe('ok');
  const seqs = (await column(path, 'SELECT seq FROM events ORDER BY seq')) as number[];
  expect(seqs).toEqual(upTo(seqs.length));
  expect(acknowledged.length).toBeGreaterThan(KILLS);
  expect(acknowledged.map(({ seq }) => seq)).toEqual([...acknowledged.map(({ seq }) => seq)].sort((a, b) => a - b));
  for (const table of ['runs', 'crashes', 'probe_results']) {
    const stored = new Set(await column(path, `SELECT run_id FROM ${table}`));
    expect(acknowledged.filter(({ run }) => !stored.has(run))).toEqual([]);
  }
  // Two commits that were made together: never one without the other.
  expect(await column(path, "SELECT count FROM probe_results WHERE component = 'db'")).toEqual([seqs.length]);
  const stored = new Set(seqs);
  expect(acknowledged.filter(({ seq }) => !stored.has(seq))).toEqual([]);
});
