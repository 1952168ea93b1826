/** Keys of `agents:` as other tools, and other people, call them. */
import { quoted } from '../text.ts';
import type { KeyProblem } from './key-problem.ts';
import { normal } from './ours.ts';

export const isOfAgents = (place: string): boolean => place === 'agents' || place.startsWith('agents.');

/** By place, words without case, dashes and underscores. */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agents: {
    ...{
      interval: 'every',
      period: 'every',
      checkinterval: 'every',
      checkintervalseconds: 'every',
      pollinterval: 'every',
    },
    ...{
      maxrestarts: 'max_respawns',
      maxretries: 'max_respawns',
      retries: 'max_respawns',
      maxrespawnattempts: 'max_respawns',
    },
    ...{ orchestrator: 'loop', workloop: 'loop', component: 'loop' },
    ...{ agents: 'types', templates: 'types', kinds: 'types', workers: 'types' },
    ...{ statepath: 'state_file', agentstate: 'state_file', agentstatefile: 'state_file', file: 'state_file' },
  },
  'agents.types.*': {
    ...{
      cmd: 'command',
      args: 'command',
      argv: 'command',
      exec: 'command',
      script: 'command',
      run: 'command',
      process: 'command',
    },
    ...{
      environment: 'env',
      envvars: 'env',
      variables: 'env',
      envfile: 'env_file',
      envfiles: 'env_file',
      dotenv: 'env_file',
    },
    ...{ workingdir: 'cwd', workdir: 'cwd', workingdirectory: 'cwd', directory: 'cwd', dir: 'cwd' },
    ...{ assignee: 'assigned_to', owner: 'assigned_to', assign: 'assigned_to' },
    ...{ minuptime: 'min_uptime', startsecs: 'min_uptime', restart: 'backoff', restartdelay: 'backoff' },
    ...{ uid: 'user', gid: 'group', resources: 'limits', grace: 'stop', stopsignal: 'stop' },
  },
  'agents.state_file': {
    file: 'path',
    type: 'agent_type',
    task: 'task_id',
    started: 'started_at',
    activeagents: 'agents',
  },
};

/** Null: it is nobody's word. */
export function explainAgentsKey({ key, place }: { readonly key: string; readonly place: string }): KeyProblem | null {
  const message = `unknown key ${quoted(key)}`;
  if (place === 'agents.types.*' && key === 'shell') {
    const hint =
      'Remove it: a task must never be read by a shell. Write: command: [sh, -c, "one | two \\"$1\\"", sh, "{task}"]';
    return { message, hint, standsFor: null };
  }
  if (place === 'agents.types.*' && key === 'max_respawns')
    return { message, hint: 'It goes for all types. Write in agents: max_respawns: 3', standsFor: null };
  const words = WORDS[place] ?? {};
  const word = normal(key);
  const ours = Object.hasOwn(words, word) ? words[word]! : null;
  return ours === null ? null : { message, hint: `Keepwell's word for ${quoted(key)} is ${ours}.`, standsFor: ours };
}
