/** Images for Kubernetes that nobody would use. */

import type { Draft, Say } from '../draft.ts';
import type { KubernetesConfig } from '../kubernetes.ts';
import type { Component } from '../shape.ts';
import { otherNames, quoted } from '../text.ts';

/** An image for something that does not take one would be left out without a word. */
export function checkKubernetes(
  kubernetes: Draft<KubernetesConfig> | undefined,
  names: readonly string[],
  components: Readonly<Record<string, Component | undefined>>,
  say: Say,
): void {
  for (const name of Object.keys(kubernetes?.images ?? {})) {
    const path = ['kubernetes', 'images', name];
    const component = components[name];
    if (!names.includes(name))
      say(path, `there is no component ${quoted(name)}`, otherNames(name, names, 'components'));
    else if (component?.container)
      say(path, `${quoted(name)} is a container and has its own image`, 'Write it in container.image.');
    else if (component && !component.process)
      say(path, `${quoted(name)} is not a process, so it is not rendered`, 'Remove it, or make it a container.');
  }
}
