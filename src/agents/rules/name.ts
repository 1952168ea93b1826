/** What an agent is called: always the same for the same type and task, and fit for file names and run ids. */
import { shortHash } from '../../base/pure/hash.ts';
import { type ComponentName, componentName } from '../../base/pure/ids.ts';

const MAX_NAME = 63;

/** "architect-spec-111-1f0c2a9b7d3e4455": readable first, unmistakable by its end. */
export function agentName(type: string, task: string): ComponentName {
  const end = `-${shortHash(`${type}\n${task}`)}`;
  const readable = `${type}-${task.slice(0, MAX_NAME)}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_NAME - end.length)
    .replace(/-+$/, '');
  return componentName(`${readable}${end}`);
}
