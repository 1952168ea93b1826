// A work loop as people write them: it polls, spawns agents by itself, and writes down both in files.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 2_000;
mkdirSync('data', { recursive: true });

/** By rename: whoever reads it never sees half a file. */
function write(file, document) {
  writeFileSync(`${file}.tmp`, `${JSON.stringify(document, null, 2)}\n`);
  renameSync(`${file}.tmp`, file);
}

/** Read anew each time: Keepwell removes dead entries from it. */
function agents() {
  return existsSync('data/agent_state.json')
    ? JSON.parse(readFileSync('data/agent_state.json', 'utf8'))
    : { active_agents: {} };
}

function start(type, task) {
  const child = spawn('sh', [`agents/${type}.sh`, '--task', task], { stdio: 'inherit' });
  const state = agents();
  const entry = { agent_type: type, task_id: task, started_at: new Date().toISOString() };
  write('data/agent_state.json', { ...state, active_agents: { ...state.active_agents, [child.pid]: entry } });
  // This is what many forget: the entry of an agent that finished goes. Agents that fail are left to Keepwell.
  child.once('exit', (code) => {
    if (code !== 0) return;
    const now = agents();
    delete now.active_agents[child.pid];
    write('data/agent_state.json', now);
  });
  console.log(`started ${type} ${child.pid} for ${task}`);
}

for (let polls = 0; ; polls++) {
  write('data/work_loop_state.json', { last_update: new Date().toISOString(), polls });
  if (polls === 1) start('coder', 'TASK-7');
  await pause(POLL_MS);
}
