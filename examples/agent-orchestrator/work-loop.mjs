// A work loop as people write them: it polls, spawns agents by itself, and writes down both in files.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 2_000;
const LOOP_STATE = 'data/work_loop_state.json';
const AGENT_STATE = 'data/agent_state.json';
mkdirSync('data', { recursive: true });

const read = (file, otherwise) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : otherwise);

/** By rename: whoever reads it never sees half a file. */
function write(file, document) {
  writeFileSync(`${file}.tmp`, `${JSON.stringify(document, null, 2)}\n`);
  renameSync(`${file}.tmp`, file);
}

/** Read anew each time: Keepwell removes dead entries from it. */
const agents = () => read(AGENT_STATE, { active_agents: {} });

function start(type, task) {
  const child = spawn('sh', [`agents/${type}.sh`, '--task', task], { stdio: 'inherit' });
  const state = agents();
  const entry = { agent_type: type, task_id: task, started_at: new Date().toISOString() };
  write(AGENT_STATE, { ...state, active_agents: { ...state.active_agents, [child.pid]: entry } });
  // This is what many forget: the entry of an agent that finished goes. Agents that fail are left to Keepwell.
  child.once('exit', (code) => {
    if (code !== 0) return;
    const now = agents();
    delete now.active_agents[child.pid];
    write(AGENT_STATE, now);
  });
  console.log(`started ${type} ${child.pid} for ${task}`);
}

// Each run begins with the next task: Keepwell may have an agent at work on the last one.
const task = read(LOOP_STATE, { task: 6 }).task + 1;
for (let polls = 0; ; polls++) {
  // A lock without an owner: nobody ever releases it, and a loop that waits for it looks alive from outside.
  while (existsSync('data/lock')) await pause(POLL_MS);
  write(LOOP_STATE, { last_update: new Date().toISOString(), polls, task });
  if (polls === 1) start('coder', `TASK-${task}`);
  await pause(POLL_MS);
}
