/** What makes sense for a process only, and what for something external only. An option that would do nothing is refused. */
import { ROLES } from '../../core/health/probe.ts';
import type { Path, TreeNode } from '../tree.ts';
import { checkCommand } from './command.ts';
import { type Component, isWritten, nodeAt, type Say } from './draft.ts';

/** `written`: the component as it stands in the file, at `path`. */
export function checkKind(component: Component, written: TreeNode | undefined, path: Path, say: Say): void {
  const command = component.restart?.command;
  const wrong =
    command && checkCommand({ command }, nodeAt(written, ['restart', 'command']), '[systemctl, restart, x]');
  if (wrong) say([...path, 'restart', 'command', ...wrong.path], wrong.message, wrong.hint);
  const isProcess = isWritten(written, 'process');
  const isExternal = isWritten(written, 'external');
  if (isProcess === isExternal) return; // which of them is meant is the first thing to settle
  if (isExternal) checkExternal(written, path, say);
  else if (isWritten(written, 'restart', 'command')) {
    const message = 'a process is started again with its own command';
    say([...path, 'restart', 'command'], message, 'Remove it: restart.command is for what others start ("external").');
  }
}

const BRING_BACK = 'say how to bring it back: restart: { command: [systemctl, restart, x] }';
const NO_LOG = 'the output of something external is not ours to read';
const ASK_INSTEAD = 'Ask with exec, http or tcp instead.';

function checkExternal(written: TreeNode | undefined, path: Path, say: Say): void {
  const has = (...keys: Path) => isWritten(written, ...keys);
  const refuse = (keys: Path, message: string, hint: string) => {
    if (has(...keys)) say([...path, ...keys], message, hint);
  };
  refuse(['stop'], 'something external is not ours to stop', 'Remove it: "keepwell stop" only ends the watching.');
  refuse(['crash_patterns'], NO_LOG, ASK_INSTEAD);
  refuse(['heartbeat', 'log_every'], NO_LOG, 'Use another heartbeat: file: state.json, or ping: true.');
  refuse(['heartbeat', 'dump_signal'], 'something external is not ours to signal', 'Remove it.');
  refuse(['limits'], 'something external is not ours to limit', 'Remove it, or limit it where it is started.');
  const isBroughtBack = has('restart', 'command');
  if (!isBroughtBack)
    refuse(['depends_on'], 'nothing is started here, so nothing can wait', `Remove it, or ${BRING_BACK}`);
  for (const keys of [['min_uptime'], ['restart', 'never_on']]) {
    if (!has('external', 'container'))
      refuse(keys, 'how it ended is only known of a container', 'Remove it: every end counts as a failure already.');
    else if (!isBroughtBack)
      refuse(keys, 'it is only watched, so nothing depends on how it ended', `Remove it, or ${BRING_BACK}`);
  }
  for (const at of questionPlaces(written)) {
    refuse([...at, 'log'], NO_LOG, ASK_INSTEAD);
    if (!has('external', 'pid_file')) {
      const hint = 'Remove the probe: what "external" names is watched anyway.';
      refuse([...at, 'pid'], 'its process is only known with external: { pid_file: … }', hint);
    }
  }
}

/** Where questions stand: in each probe, and in the items of its `all_of`. */
function questionPlaces(written: TreeNode | undefined): readonly Path[] {
  return ROLES.flatMap((role) => {
    const items = nodeAt(written, [role, 'all_of']);
    const count = items?.kind === 'list' ? items.items.length : 0;
    return [[role], ...Array.from({ length: count }, (_, index): Path => [role, 'all_of', index])];
  });
}
