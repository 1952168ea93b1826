/** What makes sense for a process only, a container only, a compose service only, and something external only. An option that would do nothing is refused. */

import { QUESTION_KINDS } from '../../supervision/rules/health/probe.ts';
import { DEFAULTS } from '../defaults.ts';
import { isWritten, nodeAt, type Say } from '../draft.ts';
import type { Component } from '../shape.ts';
import { quoted } from '../text.ts';
import type { Path, TreeNode } from '../tree.ts';
import { checkCommand } from './command.ts';
import { checkContainer } from './container.ts';
import { questionPlaces } from './probes.ts';

/** `written`: the component as it stands in the file, at `path`. */
export function checkKind(component: Component, written: TreeNode | undefined, path: Path, say: Say): void {
  const command = component.restart?.command;
  const wrong =
    command && checkCommand({ command }, nodeAt(written, ['restart', 'command']), '[systemctl, restart, x]');
  if (wrong) say([...path, 'restart', 'command', ...wrong.path], wrong.message, wrong.hint);
  const kinds = KINDS.filter((kind) => isWritten(written, kind));
  if (kinds.length !== 1) return; // which of them is meant is the first thing to settle
  if (kinds[0] === 'container') checkContainer(component, written, path, say);
  else if (kinds[0] === 'compose') checkCompose(written, path, say);
  else if (isWritten(written, 'cleanup'))
    say([...path, 'cleanup'], 'only a container is left over when it is given up on', 'Remove it.');
  if (kinds[0] === 'external') checkExternal(written, path, say);
  if (kinds[0] === 'process') checkProcess(written, path, say);
}

const KINDS = ['process', 'container', 'compose', 'external'] as const;

function checkProcess(written: TreeNode | undefined, path: Path, say: Say): void {
  if (isWritten(written, 'restart', 'command')) {
    const message = 'a process is started again with its own command';
    say([...path, 'restart', 'command'], message, 'Remove it: restart.command is for what others start ("external").');
  }
  if (isWritten(written, 'limits', 'cpus')) {
    const hint = 'Remove it, or let others go first: process: { nice: 10 }';
    say([...path, 'limits', 'cpus'], 'only a container can be limited to so many processors', hint);
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
  for (const keys of [['min_uptime'], ['restart', 'success_codes'], ['restart', 'never_on']]) {
    if (!has('external', 'container'))
      refuse(keys, 'how it ended is only known of a container', 'Remove it: every end counts as a failure already.');
    else if (!isBroughtBack)
      refuse(keys, 'it is only watched, so nothing depends on how it ended', `Remove it, or ${BRING_BACK}`);
  }
  for (const at of questionPlaces(written)) {
    for (const [kind, { looksAt }] of Object.entries(QUESTION_KINDS)) {
      if (looksAt === 'output') refuse([...at, kind], NO_LOG, ASK_INSTEAD);
      if (looksAt === 'process' && !has('external', 'pid_file')) {
        const hint = 'Remove the probe: what "external" names is watched anyway.';
        refuse([...at, kind], 'its process is only known with external: { pid_file: … }', hint);
      }
    }
  }
}

// What cannot be said of a compose service here, because it stands in the compose file, and services that are kept twice.

/** `written`: the component as it stands in the file, at `path`. */
export function checkCompose(written: TreeNode | undefined, path: Path, say: Say): void {
  const refuse = (keys: Path, message: string, hint: string) => {
    if (isWritten(written, ...keys)) say([...path, ...keys], message, hint);
  };
  const again = 'a compose service is started again by Keepwell itself';
  refuse(['restart', 'command'], again, 'Remove it: restart.command is for what others start ("external").');
  refuse(['cleanup'], 'the container of a compose service is never removed by Keepwell', 'Remove it.');
  for (const limit of ['memory', 'cpus', 'pids', 'nofile']) {
    const message = 'the container is made by Docker Compose, with the limits of the compose file';
    refuse(['limits', limit], message, 'Write it in the compose file; only soft_memory is for here.');
  }
  for (const at of questionPlaces(written)) {
    const hint = 'Remove it, or write: command: [sh, -c, "cd /there && ./check"]';
    refuse([...at, 'exec', 'cwd'], 'the command runs inside the container, in its working directory', hint);
  }
}

/** Two who keep the same container would stop it for each other. */
export function checkComposeTogether(components: ReadonlyMap<string, Component>, say: Say): void {
  const keepers = new Map<string, string>();
  for (const [component, { compose }] of components) {
    if (!compose || compose.service === undefined) continue;
    const { file = DEFAULTS.compose.file, project_dir, service } = compose;
    const key = JSON.stringify([file, project_dir ?? null, service]);
    const other = keepers.get(key);
    if (other === undefined) keepers.set(key, component);
    else {
      const message = `the service ${quoted(service)} is kept by ${other} already`;
      say(['components', component, 'compose', 'service'], message, 'Remove one of the two.');
    }
  }
}
