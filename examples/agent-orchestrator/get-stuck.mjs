// Leaves a lock behind that the loop waits for, and a last poll of the loop that was so many minutes ago.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const FILE = 'data/work_loop_state.json';
const MS_PER_MINUTE = 60_000;
const minutes = Number(process.argv[2] ?? 89);
mkdirSync('data', { recursive: true });
writeFileSync('data/lock', '');
let state = { task: 6 };
try {
  state = JSON.parse(readFileSync(FILE, 'utf8'));
} catch {
  // it has not polled yet
}
const lastUpdate = new Date(Date.now() - minutes * MS_PER_MINUTE).toISOString();
writeFileSync(FILE, `${JSON.stringify({ ...state, last_update: lastUpdate }, null, 2)}\n`);
