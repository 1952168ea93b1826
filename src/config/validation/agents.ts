/** Agents that could not work the way they are written, and tasks that would not stay one argument. */
import { TASK, taskInCode } from '../../agents/rules/task.ts';
import { nearest } from '../../base/pure/suggest.ts';
import type { AgentsConfig, AgentTypeConfig } from '../shape/agents.ts';
import { inWords, quoted } from '../text.ts';
import type { MapNode, Path } from '../tree.ts';
import type { Draft } from '../walk.ts';
import { checkCommand } from './command.ts';
import { type Component, isWritten, nodeAt, type Say } from './draft.ts';

export interface AgentsDraft {
  readonly agents?: Draft<AgentsConfig> | undefined;
}

type TypeDraft = Draft<AgentTypeConfig>;
type CheckBackoff = (of: { readonly restart?: Component['restart'] }, path: Path, say: Say) => void;

const EXAMPLE = '[python, -m, agents.architect, --task, "{task}"]';
const PLACEHOLDER = /\{(\w+)\}/g;

export function checkAgents(
  { agents }: AgentsDraft,
  components: readonly string[],
  root: MapNode,
  say: Say,
  checkBackoff: CheckBackoff,
): void {
  if (!agents) return;
  checkLoop(agents.loop, components, root, say);
  const at = ['agents', 'types'];
  const written = nodeAt(root, at);
  if (written?.kind !== 'map' || !agents.types) return;
  if (written.entries.size === 0) say(at, 'there are no types', 'Name at least one, or remove "types".');
  for (const name of written.entries.keys()) {
    const type = agents.types[name];
    if (!type) continue;
    const path = [...at, name];
    const wrong = checkCommand(type, nodeAt(written, [name, 'command']), EXAMPLE);
    if (wrong) say([...path, 'command', ...wrong.path], wrong.message, withoutShell(wrong.hint));
    else checkTask(type, [...path, 'command'], say);
    checkBackoff({ restart: { backoff: type.backoff } }, [...path, 'backoff'], say);
  }
}

/** For an agent there is always a list: a task inside a line for the shell would be read by the shell. */
const withoutShell = (hint: string): string =>
  hint.includes('shell: true') ? 'Write: command: [sh, -c, "one | two", sh, "{task}"], with "$1" for the task.' : hint;

function checkLoop(loop: string | undefined, components: readonly string[], root: MapNode, say: Say): void {
  if (loop === undefined) return;
  if (!components.includes(loop)) {
    const meant = nearest(loop, components);
    const hint = meant === null ? `Known: ${inWords(components, 'and') || 'none'}.` : `Did you mean "${meant}"?`;
    say(['agents', 'loop'], `there is no component ${quoted(loop)}`, hint);
  } else if (!isWritten(root, 'components', loop, 'heartbeat')) {
    const hint = `Write in the component ${loop}: heartbeat: { file: work_loop_state.json, field: last_update }`;
    say(['agents', 'loop'], `${quoted(loop)} has no heartbeat, so nobody could tell that it froze`, hint);
  }
}

function checkTask({ command }: TypeDraft, path: Path, say: Say): void {
  if (typeof command !== 'object') return;
  const argv = command.map((part) => part ?? '');
  argv.forEach((part, index) => {
    for (const [, word] of part.matchAll(PLACEHOLDER)) {
      if (word !== 'task' && nearest(word!, ['task']) !== null)
        say([...path, index], `there is no placeholder {${word}}`, `Did you mean ${TASK}?`);
    }
  });
  if (argv[0]?.includes(TASK))
    say([...path, 0], 'the task cannot say which program is run', 'Name the program to run.');
  const code = taskInCode(argv);
  if (code !== null) {
    const hint = `Give it as an argument of its own, as in: [sh, -c, 'work on "$1"', sh, "${TASK}"]`;
    say([...path, code.at], `${quoted(code.reader)} would read the task as a part of a program`, hint);
  }
}
