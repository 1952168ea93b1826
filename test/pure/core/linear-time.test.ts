/** What programs write is read in proportion to its length, whatever they write: a component cannot hold up the daemon with its output. */
import { expect, test } from 'vitest';
import { readEntries } from '../../../src/agents/rules/others-entry.ts';
import { shown } from '../../../src/agents/rules/others-report.ts';
import { withoutEscapes } from '../../../src/base/pure/escapes.ts';
import type { ExitView } from '../../../src/base/pure/exit.ts';
import { redact } from '../../../src/base/pure/redact.ts';
import { sanitiseText } from '../../../src/cli/print/sanitise.ts';
import { readGpuJson, readNvidiaSmi } from '../../../src/compose/rules/gpu.ts';
import { parseEnvFile } from '../../../src/config/env-file.ts';
import { explainCrash } from '../../../src/crashes/rules/explain.ts';
import { normalise } from '../../../src/crashes/rules/normalise.ts';
import { clean } from '../../../src/incidents/alerts/rules/message.ts';
import { shortTitle } from '../../../src/incidents/rules/next.ts';
import { block, code, plainTitle } from '../../../src/incidents/tickets/rules/markdown.ts';
import { cleanLine, cleanText } from '../../../src/incidents/tickets/rules/text.ts';
import { tailOf } from '../../../src/logs/rules/tail.ts';
import { lastLine } from '../../../src/probes/inquiry.ts';
import { HOSTILE_PIECES, hostileMixes, repeated } from '../../support/hostile-texts.ts';
import { outOfProportion } from '../../support/linear.ts';

const KNOWN = ['hunter2-zebra', 'a'.repeat(40) + 'b', `ab${'-'.repeat(5_000)}c`];
const EXIT: ExitView = {
  ...{ code: 1, signal: null, oom: false, core: false, ambiguous: false },
  ...{ spawn_error: null, unknown: null, unhealthy: null, usage: null },
};
const CUT = { start: true, end: true };
const FIELDS = { agents: 'agents', agentType: 'type', taskId: 'task', startedAt: 'started' };

/** Everything that is done in the daemon, or by the command line, with text of a component. */
const WORK: Readonly<Record<string, (text: string) => unknown>> = {
  'taking out secrets': (text) => redact(text, KNOWN, CUT),
  'taking out escape sequences': withoutEscapes,
  'the tail of a log': (text) => tailOf(text, KNOWN, { isCut: true }),
  'explaining a crash': (text) => explainCrash(text, EXIT),
  'explaining one line': (text) => explainCrash(`Error: ${text.replace(/[\r\n]/g, ' ')}`, EXIT),
  normalising: normalise,
  'text of a ticket': (text) => [
    cleanText(text, 20_000, KNOWN),
    cleanLine(text, 300, KNOWN),
    block(text),
    code(text),
    plainTitle(text),
  ],
  'text of an alert': clean,
  'titles of incidents': shortTitle,
  'the last line of a probe': lastLine,
  'the state file of agents': (text) => [
    readEntries(text, FIELDS),
    readEntries(`{"agents":{"${text}`, FIELDS),
    shown(text),
  ],
  'an env file': parseEnvFile,
  'readings of graphics cards': (text) => [
    readNvidiaSmi(0, text),
    readNvidiaSmi(1, text),
    readGpuJson(0, text),
    readGpuJson(1, text),
  ],
  'what a terminal gets': (text) => [sanitiseText(text), sanitiseText(text, { colours: true })],
};

const ALONE = HOSTILE_PIECES.map((piece) => ['', piece, ''] as const);
const FEW = 2 ** 14;
const MANY = 2 ** 18;

test.each(Object.entries(WORK))('%s takes time in proportion to the text', (_, work) => {
  const slow = [...ALONE, ...hostileMixes(4711, 150)].flatMap(([before, piece, behind]) => {
    const textOf = (characters: number) => before + repeated(piece, characters) + behind;
    const prepared = (characters: number) => {
      const text = textOf(characters);
      return () => work(text);
    };
    const found = outOfProportion(prepared, FEW, MANY);
    return found === null ? [] : [`${JSON.stringify([before, piece, behind])}: ${found}`];
  });
  expect(slow).toEqual([]);
});

test('a megabyte without a blank holds up nobody either', () => {
  for (const piece of ['.--', 'token=self.', 'A', '\u001b[0mpassword=', 'a://:@']) {
    const prepared = (characters: number) => {
      const text = repeated(piece, characters);
      return () => redact(text, KNOWN, CUT);
    };
    expect(outOfProportion(prepared, MANY, 2 ** 20)).toBeNull();
  }
});
