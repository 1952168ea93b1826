import { describe, expect, test } from 'vitest';
import { address } from '../../../src/drivers/process/examine/sockets.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Run, readText, workshop } from '../process/workshop.ts';

const shop = workshop();
const node = (script: string): readonly string[] => [process.execPath, '-e', script];
/** Listens, has a chatty child, and then does nothing at all. */
const FROZEN =
  'const { spawn } = require("node:child_process"); const { createServer } = require("node:net");' +
  'spawn("sh", ["-c", "while :; do echo chat; sleep 0.5; done"], { stdio: "inherit" });' +
  'createServer().listen(0, "127.0.0.1", function () { console.log("port " + this.address().port);' +
  'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });';

async function started(run: Run): Promise<number> {
  return (await run.until('started')).pid;
}

describe.each(['auto', 'off'] as const)('a look at the processes of a run, with cgroup %s', (cgroup) => {
  test('one that waits with an open port and a chatty child does nothing, and is described', async () => {
    const driver = shop.now.driver({ cgroup });
    const run = shop.now.start(driver, node(FROZEN));
    const pid = await started(run);
    const [, port] = /port (\d+)/.exec(await run.line(/^port/))!;
    await run.line(/^chat/);
    const { busy, stopped, evidence } = await driver.examine(run.id, null);
    expect({ busy, stopped }).toEqual({ busy: null, stopped: null });
    expect(evidence[0]).toMatch(
      new RegExp(`^${pid} \\(.+\\), main process: waiting.*; .* of CPU in .*; \\d+ threads$`),
    );
    const text = evidence.join('\n');
    expect(text).toContain(`tcp 127.0.0.1:${port} listening`);
    // The chatty child wakes twice a second: it may be caught in the middle of its work.
    expect(text).toMatch(new RegExp(`\\(sh\\), child of ${pid}: (waiting|running)`));
  });

  test('a busy child is seen, and by whom the work is done', async () => {
    const driver = shop.now.driver({ cgroup });
    const run = shop.now.start(driver, 'sh -c "while :; do :; done" & echo child $!; wait');
    await started(run);
    const [, child] = /child (\d+)/.exec(await run.line(/^child/))!;
    const { busy, evidence } = await driver.examine(run.id, null);
    expect(busy).toMatch(new RegExp(`^busy: .*${child} \\(sh\\)`));
    expect(evidence.length).toBeGreaterThanOrEqual(2);
  });
});

test('a stopped process is found stopped', async () => {
  const driver = shop.now.driver();
  const run = shop.now.start(driver, 'exec sleep 1000');
  const pid = await started(run);
  process.kill(pid, 'SIGSTOP');
  await waitFor('it to be stopped', () => / T /.test(readText(`/proc/${pid}/stat`)));
  const { busy, stopped, evidence } = await driver.examine(run.id, null);
  expect({ busy, stopped }).toEqual({ busy: null, stopped: 'its process is stopped (SIGSTOP)' });
  expect(evidence[0]).toContain('stopped (state T)');
});

test('the dump signal goes to the main process alone', async () => {
  const driver = shop.now.driver();
  const script = 'trap "echo here I am" USR1; sleep 1000 & echo child $!; while :; do wait; done';
  const run = shop.now.start(driver, script);
  const [, child] = /child (\d+)/.exec(await run.line(/^child/))!;
  await started(run); // the command may write before its pid is known here, and without a pid nobody gets a signal
  await waitFor('the child to be itself', () => readText(`/proc/${child}/stat`).includes('(sleep)'));
  await driver.examine(run.id, 'SIGUSR1');
  await run.line(/^here I am/);
  expect(readText(`/proc/${child}/stat`)).toContain('(sleep)'); // it would have died of it
});

test('a run that is not there cannot be looked at, and that is said', async () => {
  const driver = shop.now.driver();
  expect((await driver.examine(shop.now.run().id, null)).evidence).toEqual(['none of its processes could be examined']);
});

test.each([
  ['0100007F:1C42', '127.0.0.1:7234'],
  ['00000000000000000000000001000000:0050', '[::1]:80'],
  ['0000000000000000FFFF00000100007F:0050', '127.0.0.1:80'],
  ['B80D01200000000067452301EFCDAB89:01BB', '[2001:db8::123:4567:89ab:cdef]:443'],
  ['00000000000000000000000000000000:0016', '[::]:22'],
])('%s is %s', (hex, text) => {
  expect(address(hex)).toBe(text);
});
