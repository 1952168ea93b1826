import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { issueBody, plainTitle } from '../../../../src/incidents/tickets/rules/markdown.ts';
import { ticketFor } from '../../../../src/incidents/tickets/rules/policy.ts';
import type { Ticket } from '../../../../src/incidents/tickets/rules/ticket.ts';
import { ticketView } from '../../../../src/incidents/tickets/rules/view.ts';
import { SHAPES } from '../../../support/secret-shapes.ts';
import { crashSample, incidentSample, START, settings, wall } from '../../../support/ticket-samples.ts';

/** Everything that others can have written, in every place of a crash. */
function ticketSaying(text: string, secrets: readonly string[] = []): Ticket {
  const crash = crashSample({
    ...{ subject: { kind: 'agent', name: text }, agentType: text, taskId: text, logTail: [text, 'end'], stack: [text] },
    ...{
      errorType: text,
      errorMessage: text,
      rootCause: text,
      relatedFiles: [text],
      changedSinceGood: [text],
      decision: text,
    },
  });
  return ticketFor({
    incident: incidentSample(3, START, { tasks: [text], subjects: [{ kind: 'agent', name: text }], affected: [text] }),
    evidence: { kind: 'crash', crash },
    about: { command: [text, text], cwd: text, assignedTo: text, secrets },
    ...{ settings: settings(), existing: null, now: wall(START), nextNumber: 1, key: 'k'.repeat(32) },
  })!.ticket;
}

/** What a Markdown reader sees as text and markup: all without blocks and spans of code, by the rules of CommonMark. */
function outsideCode(markdown: string): string {
  const lines: string[] = [];
  let fence: string | null = null;
  for (const line of markdown.split('\n')) {
    const [, marks] = /^ {0,3}(`{3,})/.exec(line) ?? [];
    if (fence !== null) {
      if (marks !== undefined && marks.length >= fence.length && line.trim() === marks) fence = null;
    } else if (marks !== undefined && !line.slice(line.indexOf(marks) + marks.length).includes('`')) fence = marks;
    else lines.push(line.replace(/(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/g, ''));
  }
  expect(fence).toBeNull();
  return lines.join('\n');
}

const PAYLOADS = [
  '@everyone @acme/core see #1, GH-12, acme/app#7 and a3c9f0d1b2',
  '```\n</details><script>alert(1)</script>\n```` @admin',
  '`` ` ``` @x',
  '![x](http://evil.example/p.png) [click](javascript:alert(1)) <img src=x onerror=alert(1)>',
  '<!-- keepwell 0123 -->\n<!-- end of what Keepwell writes -->',
  '| a | b |\n# Heading\n- [ ] task\n> quote\n---',
  'closes #12 fixes #13 /close /label ~bug',
  '\u001b[31mred\u001b[0m \u001b]8;;http://evil\u0007link\u001b]8;;\u0007 \u0000\u0007\b',
  'invoice\u202egpj.exe \u2066a\u2069 \u200b\u00ad\ufeff \ud800',
  `${'@a `'.repeat(40_000)}`,
] as const;

describe('text that others wrote', () => {
  test.each(PAYLOADS)('means nothing in an issue (%#)', (payload) => {
    const body = issueBody(ticketSaying(payload));
    const seen = outsideCode(body).replace('<!-- keepwell kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk -->', '');
    expect(seen).not.toMatch(/[@<>[\]!]|#\d|GH-|https?:|script|evil|Heading/);
    expect(body.startsWith('<!-- keepwell kkkkkkkk')).toBe(true);
    expect(body.length).toBeLessThan(65_536);
  });

  test.each(PAYLOADS)('leaves no invisible or control character anywhere (%#)', (payload) => {
    const everything = JSON.stringify(ticketView(ticketSaying(payload)));
    const texts = [...Object.values(ticketView(ticketSaying(payload)))].filter((value) => typeof value === 'string');
    expect(texts.join('')).not.toMatch(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/,
    );
    expect(everything.length).toBeLessThan(80_000);
  });

  test('no text at all breaks out of its code', () => {
    const piece = fc.constantFrom(
      '`',
      '``',
      '```',
      '~~~',
      '\n',
      ' ',
      '@a',
      '<b>',
      '#1',
      '](x)',
      '|',
      '\\',
      '    ',
      '\t',
      'é',
      '💥',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(outsideCode(issueBody(ticketSaying(pieces.join(''))))).not.toMatch(/[@]|<b>|\]\(x\)/);
      }),
    );
  });

  test('a title keeps its words and calls nobody', () => {
    expect(plainTitle('x: see @acme/core and #12 at https://evil')).not.toMatch(/@acme|#12|:\/\/evil/);
    expect(plainTitle('x: see @acme').replaceAll('\u200b', '')).toBe('x: see @acme');
  });
});

describe('secrets', () => {
  test.each(SHAPES)('%s is in no part of a ticket', (_, text, secret) => {
    const ticket = ticketSaying(text);
    for (const sink of [JSON.stringify(ticket), issueBody(ticket), plainTitle(ticket.title)])
      expect(sink).not.toContain(secret);
  });

  test('values that are known to be secret are hidden whatever they look like', () => {
    expect(JSON.stringify(ticketSaying('the word is plainvalue77 now', ['plainvalue77']))).not.toContain(
      'plainvalue77',
    );
  });
});
