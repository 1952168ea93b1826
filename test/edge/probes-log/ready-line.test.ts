import { mkdirSync, renameSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { ask, askUntil, LogWorld, logWorld, openFiles } from './log-world.ts';
import { target } from './target.ts';

const world = logWorld();

const opened = (pattern: string, name = 'api', logFrom = 0) => {
  let news = 0;
  const inquiry = world.now.watch.open(pattern, target(name, logFrom), () => {
    news += 1;
  });
  return { inquiry, news: () => news };
};

describe.each(['is up', '/is (?:up|open)$/', '/^SERVER/i'])('the line with %s', (pattern) => {
  test('is not there yet, then comes, is told once, and stays', async () => {
    const { inquiry, news } = opened(pattern);
    expect(await ask(inquiry)).toMatchObject({ outcome: 'fail', message: expect.stringContaining('(0 lines read)') });
    world.now.write('api', 'starting\nloading\n');
    await waitFor('two lines to be read', async () => (await ask(inquiry)).message.includes('(2 lines read)'));
    expect(news()).toBe(0);
    world.now.write('api', 'Server is up\nServer is up\n');
    await waitFor('the news', news);
    const answer = await ask(inquiry);
    expect(answer).toMatchObject({ outcome: 'pass', message: expect.stringMatching(/^line 3 has /) });
    world.now.write('api', 'Server is up\nand busy\n');
    renameSync(world.now.path('api'), world.now.path('gone'));
    expect(await ask(inquiry)).toEqual(answer);
    expect(news()).toBe(1);
  });
});

test('the answer says what is missing and never shows the line', async () => {
  const { inquiry } = opened('token=', 'api');
  world.now.write('api', 'one\n');
  await waitFor('one line to be read', async () => {
    const { message } = await ask(inquiry);
    return message === 'no line with "token=" yet (1 line read)';
  });
  world.now.write('api', 'token=hunter2\n');
  expect(await askUntil(inquiry, 'pass')).toEqual({ outcome: 'pass', message: 'line 2 has "token="' });
});

test('what an earlier run wrote does not count', async () => {
  world.now.write('api', 'ready\n');
  const { inquiry } = opened('ready', 'api', 6);
  expect((await ask(inquiry)).outcome).toBe('fail');
  world.now.write('api', 'ready\n');
  expect((await askUntil(inquiry, 'pass')).message).toBe('line 1 has "ready"');
});

test('what this run wrote before anybody asked counts', async () => {
  world.now.write('api', 'old\nready\n');
  const { inquiry, news } = opened('ready', 'api', 4);
  expect((await ask(inquiry)).outcome).toBe('pass');
  expect(news()).toBe(1);
});

test('half a line is not a line', async () => {
  const { inquiry } = opened('/^ready$/');
  world.now.write('api', 'ready');
  expect((await ask(inquiry)).outcome).toBe('fail');
  expect((await ask(inquiry)).message).toContain('(0 lines read)');
  world.now.write('api', ' to fail\nready\n');
  expect((await askUntil(inquiry, 'pass')).message).toBe('line 2 has /^ready$/');
});

test('a line that was cut at any byte when it was read is found whole', async () => {
  const bytes = Buffer.from('é 猫 😀 \u001b[32mcafé\u001b[0m\r\n');
  for (let at = 1; at < bytes.length; at++) {
    const { inquiry } = opened('/^é 猫 😀 café$/u', `c${at}`);
    world.now.write(`c${at}`, bytes.subarray(0, at));
    expect((await ask(inquiry)).message).toContain('(0 lines read)'); // it has read that part
    world.now.write(`c${at}`, bytes.subarray(at));
    expect((await ask(inquiry)).message).toMatch(/^line 1 has/);
  }
});

test('a log that was never written, and a directory that is not there, have no lines', async () => {
  rmdirSync(world.now.dir.path);
  const { inquiry } = opened('ready');
  expect(await ask(inquiry)).toEqual({ outcome: 'fail', message: 'no line with "ready" yet (0 lines read)' });
  mkdirSync(world.now.dir.path);
  world.now.write('api', 'ready\n');
  await askUntil(inquiry, 'pass');
});

test('a log that cannot be read gives no answer until it can, and that is said once', async () => {
  mkdirSync(world.now.path('api'));
  const { inquiry } = opened('ready');
  const answer = await ask(inquiry);
  expect(answer.outcome).toBe('inconclusive');
  expect(answer.message).toMatch(/^its log cannot be read: .*api\.log is not a regular file$/);
  await ask(inquiry);
  rmdirSync(world.now.path('api'));
  world.now.write('api', 'ready\n');
  await askUntil(inquiry, 'pass');
  expect(world.now.said.filter(({ message }) => message === 'a log cannot be read')).toHaveLength(1);
});

test('an expression that runs wild gives no answer, and says why', async () => {
  const { inquiry, news } = opened('/^(a+)+$/');
  world.now.write('api', `${'a'.repeat(60)}!\n`);
  const answer = await askUntil(inquiry, 'inconclusive');
  expect(answer.message).toBe('/^(a+)+$/ is no longer searched: it did not come to an end within 50 ms');
  expect(news()).toBe(0);
});

test('a pattern that cannot be read gives no answer', async () => {
  expect(await ask(opened('/(/').inquiry)).toEqual({
    outcome: 'inconclusive',
    message: '/(/ is not a regular expression: unterminated group',
  });
});

test('a large log is read to its end before anybody says that the line is missing', async () => {
  const line = `${'x'.repeat(99)}\n`;
  world.now.write('api', line.repeat(200_000)); // 20 MB: more than is read in one round
  world.now.write('api', 'ready\n');
  const { inquiry } = opened('ready');
  const answers: string[] = [];
  await waitFor('the line to be found', async () => {
    const { outcome } = await ask(inquiry);
    answers.push(outcome);
    return outcome === 'pass';
  });
  expect(answers).toContain('inconclusive');
  expect(answers).not.toContain('fail');
  expect((await ask(inquiry)).message).toBe('line 200001 has "ready"');
});

test('an answer comes at once when the question is called off, and it is none', async () => {
  const { inquiry } = opened('ready');
  await ask(inquiry);
  expect((await inquiry.ask(3_600_000, AbortSignal.abort())).outcome).toBe('inconclusive');
  const later = new AbortController();
  const asked = inquiry.ask(3_600_000, later.signal);
  later.abort();
  expect((await asked).outcome).toBe('inconclusive');
});

test('while lines that were read wait to be tried, nobody says that the line is missing', async () => {
  const { inquiry } = opened('/^ready$/');
  expect((await ask(inquiry)).outcome).toBe('fail');
  using wild = world.now.hits(['/^(a+)+$/'], 'wild');
  world.now.write('wild', `${'a'.repeat(60)}!\n`);
  world.now.write('api', 'ready\n');
  await waitFor('the line', async () => {
    const { outcome } = await inquiry.ask(1, new AbortController().signal);
    expect(outcome).not.toBe('fail');
    return outcome === 'pass';
  });
  expect(wild).toHaveLength(0);
});

test('without a thread for expressions there is no answer, texts are found all the same, and nothing hangs at the end', async () => {
  const broken = new LogWorld('/nowhere/pattern-worker.cjs');
  try {
    broken.write('api', 'ready\n');
    const expression = broken.watch.open('/ready/', target('api'), () => {});
    const text = broken.watch.open('ready', target('api'), () => {});
    await askUntil(text, 'pass');
    const { message } = await waitFor('the reason', async () => {
      const answer = await expression.ask(100, new AbortController().signal);
      return answer.message.startsWith('regular expressions') ? answer : null;
    });
    expect(message).toMatch(/^regular expressions cannot be tried: .*\/nowhere\/pattern-worker\.cjs/);
    expect(broken.said.filter(({ level }) => level === 'error')).toHaveLength(1);
  } finally {
    await broken.watch.close();
    broken.dir[Symbol.dispose]();
  }
});

test('a log that was cut back before anybody looked is read from its beginning', async () => {
  writeFileSync(world.now.path('api'), 'ready\n');
  const { inquiry } = opened('ready', 'api', 1_000);
  await askUntil(inquiry, 'pass');
});

test('nothing is held open once the line was found, or once nobody asks any more', async () => {
  world.now.write('api', 'ready\n');
  const before = openFiles();
  const found = opened('ready');
  await askUntil(found.inquiry, 'pass');
  const given = opened('never');
  await ask(given.inquiry);
  given.inquiry[Symbol.dispose]();
  given.inquiry[Symbol.dispose]();
  truncateSync(world.now.path('api'));
  await waitFor('the files to be closed', () => openFiles() <= before);
});

test('after the end there are no answers, and ending twice is no matter', async () => {
  const { inquiry } = opened('ready');
  await ask(inquiry);
  await world.now.watch.close();
  await world.now.watch.close();
  expect((await ask(inquiry)).outcome).toBe('fail');
  expect(await ask(opened('ready').inquiry)).toMatchObject({ outcome: 'inconclusive' });
});
