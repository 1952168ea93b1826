import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { ExitUsage } from '../../../src/base/pure/exit.ts';
import { SHIMS, withShim } from './shells.ts';
import { readText, SHIM, USED, workshop } from './workshop.ts';

const shop = workshop();

const SIGNALS = 'HUP INT QUIT ILL ABRT FPE KILL SEGV PIPE ALRM TERM USR1 USR2'.split(' ');
const CODES = [0, 1, 3, 42, 126, 127, 128, 130, 137, 141, 143, 255];
/** Of these no shell says a word, so they look like the exit codes 130 and 141. The native shim is told by the kernel. */
const SILENT: Readonly<Record<string, number>> = SHIM === 'sh' ? { INT: 130, PIPE: 141 } : {};

describe.each(SHIMS)('with the shim of %s', (name) => {
  test.for(CODES)('exit code %i is reported as that exit code', async (code, context) => {
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, `exit ${code}`);
    const { cause, leftovers } = await run.until('exited');
    expect(cause).toEqual({ kind: 'code', code, ambiguous: Object.values(SILENT).includes(code), ...USED });
    expect(leftovers).toEqual([]);
    expect(run.kinds).toEqual(['started', 'exited']);
  });

  test.for(SIGNALS)(
    'a death by SIG%s is reported as that signal, as far as the shim can tell',
    async (signal, context) => {
      const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
      const run = shop.now.start(driver, `kill -${signal} $$; sleep 60`);
      const { cause } = await run.until('exited');
      const silent = SILENT[signal];
      expect(cause).toEqual(
        silent === undefined
          ? { kind: 'signal', signal: `SIG${signal}`, core: false, oom: false, ...USED }
          : { kind: 'code', code: silent, ambiguous: true },
      );
    },
  );

  test('a signal to the shim itself changes nothing about what it records', async (context) => {
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, 'echo up; while ! test -e go; do sleep 0.02; done; exit 7');
    await run.line(/^up$/);
    const shim = await run.shim();
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGUSR1'] as const) process.kill(shim, signal);
    shop.now.dir('go');
    expect((await run.until('exited')).cause).toMatchObject({ kind: 'code', code: 7 });
  });

  test('a core dump is told', async (context) => {
    if (readText('/proc/sys/kernel/core_pattern').trim() !== 'core') {
      context.skip('core dumps go elsewhere on this machine (kernel.core_pattern)');
    }
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, 'ulimit -c unlimited; kill -SEGV $$');
    expect((await run.until('exited')).cause).toMatchObject({ kind: 'signal', signal: 'SIGSEGV', core: true });
  });
});

test.runIf(SHIM === 'native')('what a run used in all its life is told with its end', async () => {
  const mib = 2 ** 20;
  const busy = `const kept = Buffer.alloc(${64 * mib}, 1); while (process.cpuUsage().user < 300e3); process.exit(kept[0] + 1)`;
  const run = shop.now.start(shop.now.driver(), [process.execPath, '-e', busy]);
  const { cause } = await run.until('exited');
  expect(cause).toMatchObject({ kind: 'code', code: 2 });
  const { usage } = cause as { readonly usage: ExitUsage };
  expect(usage.maxRssBytes).toBeGreaterThan(64 * mib);
  expect(usage.maxRssBytes).toBeLessThan(1024 * mib);
  expect(usage.cpuMs).toBeGreaterThanOrEqual(300);
});

test('no core file is written unless the command asks for it', async () => {
  const run = shop.now.start(shop.now.driver(), 'kill -SEGV $$');
  expect((await run.until('exited')).cause).toMatchObject({ signal: 'SIGSEGV', core: false });
  expect(readdirSync(shop.now.home).filter((name) => name.startsWith('core'))).toEqual([]);
});

test('the end is dated when it happened, and started is dated before it', async () => {
  const run = shop.now.start(shop.now.driver(), 'sleep 0.3');
  const started = await run.until('started');
  const exited = await run.until('exited');
  // Start times have a resolution of 10 ms, the time of a file may lag behind by a tick of the kernel.
  expect(exited.at - started.at).toBeGreaterThanOrEqual(290);
  expect(exited.at).toBeLessThanOrEqual(systemClock.now());
});
