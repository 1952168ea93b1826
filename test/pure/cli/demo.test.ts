import { describe, expect, test } from 'vitest';
import { Narrator, wrap } from '../../../src/cli/demo/narrator.ts';
import { stackYaml } from '../../../src/cli/demo/place.ts';
import { tellSummary } from '../../../src/cli/demo/run.ts';
import { noPaint } from '../../../src/cli/print/colour.ts';
import { loadConfigFromTexts } from '../../../src/config/load.ts';

/** A narrator whose words are kept. */
function telling(columns: number | undefined, live = false) {
  const words: string[] = [];
  const out = { write: (text: string) => void words.push(text), isTty: live, columns, rows: 24 };
  const narrator = new Narrator({ out, paint: noPaint, live, steps: 2 });
  return { narrator, told: () => words.join('') };
}

describe('lines', () => {
  test.each([
    ['one two three', 9, ['one two', 'three']],
    ['one two three', 80, ['one two three']],
    ['/a/path/that/is/too/long for it', 8, ['/a/path/that/is/too/long', 'for it']],
    ['\u001b[31mone\u001b[39m two', 7, ['\u001b[31mone\u001b[39m two']],
    ['', 10, ['']],
  ])('%j is broken at %i columns between words only', (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });

  test('go on under their text, not under their label', () => {
    const { narrator, told } = telling(30);
    narrator.output(['  Decision: restart in 459 ms (1 of 10)', '', 'x']);
    expect(told()).toBe('     Decision: restart in 459\n               ms (1 of 10)\n\n   x\n');
  });

  test('of a step are numbered', () => {
    const { narrator, told } = telling(80);
    narrator.heading('Start');
    narrator.heading('Stop');
    expect(told()).toBe('\n1/2 Start\n\n2/2 Stop\n');
  });

  test('end when there is nobody left to hear them', () => {
    const { narrator, told } = telling(80);
    narrator.hush();
    narrator.say('anybody there?');
    expect(told()).toBe('');
  });
});

describe('waiting', () => {
  test('is remembered when it was in vain, and forgotten when it was not', async () => {
    const { narrator } = telling(80);
    await narrator.during('rain', async () => {});
    expect(narrator.waitingFor).toBeNull();
    await expect(narrator.during('snow', () => Promise.reject(new Error('none')))).rejects.toThrow('none');
    expect(narrator.waitingFor).toBe('snow');
  });
});

describe('the summary', () => {
  const outcomes = [{ broken: 'web: exit code 1', done: 'restarted after 459 ms of backoff', tookMs: 660 }];

  test('is a table where there is room', () => {
    const { narrator, told } = telling(80);
    tellSummary(narrator, outcomes, 11_400);
    expect(told()).toBe(
      '\nDone in 11 s\n' +
        'WHAT WAS BROKEN   WHAT KEEPWELL DID                  TOOK\n' +
        'web: exit code 1  restarted after 459 ms of backoff  660 ms\n',
    );
  });

  test('is a list in a narrow window, with nothing left out', () => {
    const { narrator, told } = telling(40);
    tellSummary(narrator, outcomes, 11_400);
    expect(told().replace(/\s+/g, ' ')).toContain('✓ web: exit code 1: restarted after 459 ms of backoff (660 ms)');
    for (const line of told().split('\n')) expect(line.length).toBeLessThanOrEqual(40);
  });
});

describe('the stack', () => {
  test.each(['/usr/bin/node', '/opt/my node/$HOME/"node"', "/it's/node"])('is valid with %s', (node) => {
    const text = stackYaml(node, { web: 1234, reports: 2345 });
    const { components } = loadConfigFromTexts({
      files: [{ path: '/demo/keepwell.yaml', text }],
      dotenv: null,
      env: {},
    });
    expect(components.map(({ name }) => name)).toEqual(['web', 'mailer', 'reports', 'indexer']);
    expect(JSON.stringify(components[0]?.driver)).toContain(JSON.stringify(node));
  });
});
