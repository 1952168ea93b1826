/** A program that watches a log for a text and an expression, finds both, and has nothing else to do. */
import { silentLog } from '../../../src/base/log.ts';
import { createLogWatch } from '../../../src/probes/log/log-watch.ts';
import { neverShortened, target } from './target.ts';

const [path, workerFile] = process.argv.slice(2) as [string, string];
const watch = createLogWatch({ logPath: () => path, workerFile, log: silentLog, place: neverShortened });
const busy = setInterval(() => {}, 1_000);
let hits = 0;
watch.watch(['/one/', 'two'], target('api'), ({ line }) => {
  hits += 1;
  console.log(line);
  if (hits === 2) clearInterval(busy);
});
