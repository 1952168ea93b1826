/**
 * `npm run torture -- --kills 1000 [--components 20] [--delay claim:0.4] [--no-failpoints] [--shim sh]`: the kill loop of the tests for
 * as long as you like, with the native shim or with that of sh. Prints the verdict; exits 1 when anything was lost, doubled or wrong.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadSource } from './bundle.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    components: { type: 'string', default: '20' },
    delay: { type: 'string' },
    'no-failpoints': { type: 'boolean', default: false },
    shim: { type: 'string', default: 'native' },
  },
});

process.chdir(root);
const { killLoop } = await loadSource(join(root, 'test/torture/kill-loop.ts'));
const verdict = await killLoop({
  kills: Number(values.kills),
  components: Number(values.components),
  shimDelay: values.delay ?? null,
  failpoints: values['no-failpoints'] ? 'none' : 'random',
  ...(values.shim === 'sh' ? { shim: 'sh' } : {}),
  report: (line) => console.error(line),
});
console.log(JSON.stringify(verdict, null, 2));
const flaws = [verdict.lost, verdict.wrong, verdict.doubled, verdict.tornLogs].flat();
process.exitCode = flaws.length > 0 ? 1 : 0;
