// Talks to the daemon of this folder: restarts api, waits until it is ready again, and prints what happened meanwhile.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError, Keepwell } from 'keepwell';

const cwd = dirname(fileURLToPath(import.meta.url));

async function main() {
  const keepwell = await Keepwell.connect({ cwd });
  try {
    const { components } = await keepwell.status();
    for (const { name, state, health } of components) console.log(`${name} is ${state} and ${health}`);
    const watching = watch(keepwell);
    await keepwell.restart(['api']);
    await watching;
    const api = await keepwell.waitFor('api', 'ready');
    console.log(`api is ready again, pid ${api.pid}`);
  } finally {
    await keepwell.close(); // ends the connection; the components go on
  }
}

async function watch(keepwell) {
  for await (const { type } of keepwell.events({ component: 'api' })) {
    console.log(`api: ${type}`);
    if (type === 'component.ready') return;
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof AppError)) throw error;
  console.error(`${error.message} ${error.hint}`);
  process.exitCode = 1;
}
