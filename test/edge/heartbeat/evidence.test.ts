import { appendFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createExaminer } from '../../../src/crashes/evidence.ts';
import { fileLogs } from '../../../src/logs/file-logs.ts';
import { spec } from '../../support/builders.ts';
import { tempDir } from '../../support/temp-dir.ts';

const RUN = 'api~012345678901234' as Parameters<ReturnType<typeof createExaminer>>[1];
const SECRET = 's3cr3t-'.repeat(6);

/** `seen`: by the driver; `said`: by the component meanwhile. */
async function evidenceOf(earlier: string, seen: readonly string[], said: string): Promise<readonly string[]> {
  using dir = tempDir();
  const path = dir.at('api.log');
  writeFileSync(path, earlier);
  const examine = createExaminer({
    driver: {
      examine: async () => {
        appendFileSync(path, said);
        return { busy: null, stopped: null, evidence: seen };
      },
    },
    logs: fileLogs(dir.path),
    logEnd: () => statSync(path).size,
    secretsOf: () => [SECRET],
  });
  return (await examine(spec('api'), RUN, 'SIGQUIT')).evidence;
}

const dump = (lines: number): string => Array.from({ length: lines }, (_, at) => `frame ${at}\n`).join('');

test.each([
  ['many long lines', `${'x'.repeat(999)}\n`.repeat(2_000)],
  ['nothing', ''],
])('the beginning of a long dump is kept, with %s in the log before', async (_what, earlier) => {
  const evidence = await evidenceOf(earlier, ['1 (api)'], dump(5_000));
  expect(evidence.slice(0, 3)).toEqual(['1 (api)', 'what it wrote after SIGQUIT:', '  frame 0']);
  expect(evidence).toHaveLength(102);
});

test('of a secret at the place where a line is cut nothing is left', async () => {
  const long = `${'x'.repeat(280)} ${SECRET} and more`;
  const evidence = await evidenceOf('', [`  command: ${long}`, 'a\nb'], `${long}\n`);
  expect(evidence.join('\n')).not.toContain('s3cr');
  expect(evidence.map((line) => line.length).every((length) => length <= 300)).toBe(true);
  expect(evidence[1]).toBe('a b');
});
