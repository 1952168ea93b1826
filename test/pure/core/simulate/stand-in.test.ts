import { expect, test } from 'vitest';
import { exitView } from '../../../../src/base/pure/exit.ts';
import { explainCrash } from '../../../../src/crashes/rules/explain.ts';
import { standIn } from '../../../../src/simulate/rules/stand-in.ts';

const ENDED = exitView({ kind: 'code', code: 1, ambiguous: false });
const written = (command: readonly string[]) => command.slice(4).join('\n');

test('the traceback of an import error is read like a real one', () => {
  const { command } = standIn('import-error', '/srv/app', null);
  expect(explainCrash(written(command), ENDED, { cwd: '/srv/app' })).toMatchObject({
    errorType: 'ImportError',
    rootCause: expect.stringContaining("has no export 'SkillNames'"),
    relatedFiles: expect.arrayContaining([expect.stringContaining('main.py')]),
  });
});

test('memory is only taken where a small limit is in force, and never more than twice of it', () => {
  expect(standIn('oom', '/', 64 * 2 ** 20).command[2]).toContain(`head -c ${128 * 2 ** 20} /dev/zero`);
  for (const limit of [null, 2 ** 31]) expect(standIn('oom', '/', limit).command.join()).not.toContain('/dev/zero');
  expect(explainCrash(written(standIn('oom', '/', null).command), ENDED).errorType).toBe('MemoryError');
});

test('a folder with an odd name stays text', () => {
  const odd = `/tmp/"; rm -rf $HOME; '`;
  const { command } = standIn('import-error', odd, null);
  expect(command[2]).not.toContain(odd);
  expect(command.filter((word) => word.includes(odd))).toHaveLength(2);
});
