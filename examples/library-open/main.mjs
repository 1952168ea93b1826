// Supervises two components inside this process, breaks one of them, and tells what happened.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keepwell } from 'keepwell';

const cwd = mkdtempSync(join(tmpdir(), 'keepwell-example-'));

async function main() {
  // In TypeScript, and in JavaScript from Node 24 on: `await using keepwell = await Keepwell.open(…)`, and no `finally`.
  const keepwell = await Keepwell.open(
    {
      name: 'example',
      components: {
        database: {
          process: { command: ['sh', '-c', 'echo "now serving"; exec sleep 1000'] },
          readiness: { log: 'now serving' },
        },
        worker: {
          process: { command: ['sh', '-c', 'echo "out of luck"; sleep 1; exit 7'] },
          depends_on: { database: 'ready' },
          restart: { backoff: { initial: '100ms' } },
        },
      },
    },
    { cwd },
  );
  try {
    await keepwell.waitFor('database', 'ready');
    console.log('database is ready');
    for await (const event of keepwell.events({ component: 'worker', after: 0 })) {
      console.log(`worker: ${event.type}`);
      if (event.type === 'component.exited') break;
    }
    const { exit, decision, log_tail } = await keepwell.why('worker');
    console.log(`worker died with exit code ${exit.code}; its last words: ${log_tail.at(-1)}; ${decision}`);
  } finally {
    await keepwell.close(); // stops everything
  }
}

await main().finally(() => rmSync(cwd, { recursive: true, force: true }));
console.log('all gone');
