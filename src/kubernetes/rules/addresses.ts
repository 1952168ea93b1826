/** Addresses of this machine in commands and variables: in a pod they mean the pod, and nobody else is there. */

import type { ComponentSpec } from '../../supervision/spec.ts';
import type { Notes, Path } from './given.ts';
import { objectName } from './names.ts';
import { openPorts } from './ports.ts';

const LOCAL = /(?<![\w.-])(localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5})(?!\d))?(?![\w-])/g;

export function noteAddresses(spec: ComponentSpec, all: readonly ComponentSpec[], notes: Notes): void {
  const own = new Set(openPorts(spec).flatMap(({ inside, outside }) => [inside, outside]));
  for (const [path, text] of textsOf(spec)) {
    for (const [written, , digits] of text.matchAll(LOCAL)) {
      const port = digits === undefined ? null : Number(digits);
      if (port !== null && own.has(port))
        notes.lose(
          path,
          `"${written}" is only reached from inside its pod: listen on 0.0.0.0:${port}, or the kubelet's probes fail`,
        );
      else notes.lose(path, `"${written}" is the pod itself on Kubernetes${elsewhere(port, spec, all)}`);
    }
  }
}

function elsewhere(port: number | null, { name }: ComponentSpec, all: readonly ComponentSpec[]): string {
  const owner = all.find((other) => other.name !== name && openPorts(other).some(({ outside }) => outside === port));
  return owner ? `: ${owner.name} is found at "${objectName(owner.name)}:${port}"` : ', not this machine';
}

function textsOf({ driver }: ComponentSpec): readonly (readonly [path: Path, text: string])[] {
  const listed = (key: string, words: readonly string[] | null) =>
    (words ?? []).map((word, index) => [[driver.kind, key, index], word] as const);
  const env = Object.entries(driver.env).map(([name, value]) => [[driver.kind, 'env', name], value] as const);
  if (driver.kind === 'process')
    return [
      ...(driver.shell
        ? [[['process', 'command'], driver.command.at(-1)!] as const]
        : listed('command', driver.command)),
      ...env,
    ];
  return driver.kind === 'container'
    ? [...listed('entrypoint', driver.entrypoint), ...listed('command', driver.command), ...env]
    : [];
}
