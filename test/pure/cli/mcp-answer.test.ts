import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../../src/base/pure/errors.ts';
import { answer, failure, MAX_ANSWER_BYTES } from '../../../src/cli/mcp/answer.ts';
import { thinned } from '../../../src/cli/mcp/tools-state.ts';
import type { SampleView } from '../../../src/supervision/rules/views.ts';

const bytes = ({ content }: { readonly content: readonly { readonly text: string }[] }): number =>
  content.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);

const TEXT = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.integer({ min: 1, max: 40_000 }).map((length) => 'é\u001b[31m'.repeat(Math.ceil(length / 6))),
);

describe('an answer', () => {
  test('never has more than 32 kB, whatever is put into it, and no control characters', () => {
    const written = fc.record({
      by: fc.constant('log of "api"'),
      lines: fc.array(TEXT, { maxLength: 200 }),
      more: fc.constant('Ask.'),
    });
    const list = fc.record({
      key: fc.constant('items'),
      items: fc.array(fc.record({ text: TEXT }), { maxLength: 300 }),
      more: fc.constant('Ask.'),
    });
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 20 }), TEXT, { maxKeys: 50 }),
        list,
        fc.array(written, { maxLength: 4 }),
        (facts, items, said) => {
          const made = answer(facts, { list: items, written: said });
          expect(bytes(made)).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
          for (const { text } of made.content)
            expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f\u202e]/);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('keeps the newest lines and says how to get the others', () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
    const [, block] = answer(
      { component: 'api' },
      { written: [{ by: 'log of "api"', lines, more: 'Ask with until.' }] },
    ).content;
    expect(block!.text).toContain('line 4999\n');
    expect(block!.text).toMatch(/\d+ earlier lines were left out\. Ask with until\./);
  });

  test('keeps the first items of a list and counts the others', () => {
    const items = Array.from({ length: 2_000 }, (_, index) => ({ name: `component-${index}`, note: 'x'.repeat(100) }));
    const [block] = answer({}, { list: { key: 'components', items, more: 'Ask by name.' } }).content;
    const {
      components,
      left_out: leftOut,
      more,
    } = JSON.parse(block!.text) as { components: unknown[]; left_out: number; more: string };
    expect(components.length + leftOut).toBe(2_000);
    expect(more).toBe('Ask by name.');
  });

  test('of two has two different marks', () => {
    const made = () => answer({}, { written: [{ by: 'a', lines: ['x'], more: '' }] }).content[1]!.text;
    expect(made()).not.toBe(made());
  });

  test('about a failure has our code and hint', () => {
    const { content, isError } = failure(
      new AppError('NO_SUCH_COMPONENT', { name: 'ap', suggestion: ' Did you mean "api"?' }),
    );
    expect(isError).toBe(true);
    expect(JSON.parse(content[0]!.text)).toMatchObject({
      error: { code: 'NO_SUCH_COMPONENT', hint: expect.stringContaining('keepwell status') },
    });
  });
});

test('samples are thinned to so many, and the highest memory stays', () => {
  const samples = Array.from({ length: 997 }, (_, index) => ({
    count: 1,
    memory_max_bytes: index === 500 ? 9_999 : 1,
    first_at: String(index),
  }));
  const points = thinned(samples as unknown as readonly SampleView[], 60);
  expect(points).toHaveLength(60);
  expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(997);
  expect(Math.max(...points.map(({ memory_max_bytes: max }) => max))).toBe(9_999);
  expect(points[0]!.first_at).toBe('0');
});
