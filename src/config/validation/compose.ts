/** What cannot be said of a compose service here, because it stands in the compose file, and services that are kept twice. */

import { DEFAULTS } from '../defaults.ts';
import type { Say } from '../draft.ts';
import { isWritten } from '../draft.ts';
import type { Component } from '../shape.ts';
import { quoted } from '../text.ts';
import type { Path, TreeNode } from '../tree.ts';
import { questionPlaces } from './question-places.ts';

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
