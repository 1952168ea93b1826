// Writes entries of agents that ended long ago, as a loop leaves them behind that was killed.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const FILE = 'data/agent_state.json';
const count = Number(process.argv[2] ?? 15);
mkdirSync('data', { recursive: true });
let state = { active_agents: {} };
try {
  state = JSON.parse(readFileSync(FILE, 'utf8'));
} catch {
  // there is none yet
}
const startedAt = new Date(Date.now() - 7_200_000).toISOString();
for (let i = 0; i < count; i++)
  state.active_agents[4_194_300 - i] = { agent_type: 'architect', task_id: `OLD-${i}`, started_at: startedAt };
writeFileSync(`${FILE}.tmp`, `${JSON.stringify(state, null, 2)}\n`);
renameSync(`${FILE}.tmp`, FILE);
