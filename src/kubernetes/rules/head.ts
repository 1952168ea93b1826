/** What stands at the head of a manifest: how it is applied, what is different on Kubernetes, and what is lost. */

import { LABELS } from './object.ts';
import type { Rendered } from './render.ts';

export interface Heading {
  /** The configuration, in a few words: "keepwell.yaml". */
  readonly source: string;
  /** What `kubectl apply -f` is given: a file, or `{stage}.yaml` in a folder. */
  readonly fileOf: (stage: number) => string;
  /** `-l` is needed where all stages are in one file. */
  readonly isOneFile: boolean;
  /** "keepwell.yaml:12 components.api.heartbeat: …" */
  readonly losses: readonly string[];
  readonly areSecretsInside: boolean;
}

export function headLines(rendered: Rendered, heading: Heading): readonly string[] {
  return [
    `Written by "keepwell render --engine kubernetes" from ${heading.source}. Change that and render again.`,
    '',
    ...applyLines(rendered, heading),
    '',
    ...DIFFERENT,
    ...(heading.losses.length === 0
      ? []
      : ['', `What the configuration says and Kubernetes does not do (${heading.losses.length}):`]),
    ...heading.losses.map((loss) => `  ${loss}`),
  ];
}

/** The commands, for a person at a terminal. */
export function applyLines(
  { stages, secrets, namespace }: Pick<Rendered, 'stages' | 'secrets' | 'namespace'>,
  { fileOf, isOneFile, areSecretsInside }: Pick<Heading, 'fileOf' | 'isOneFile' | 'areSecretsInside'>,
): readonly string[] {
  const into = namespace === null ? '' : ` --namespace ${namespace}`;
  const before =
    secrets.length === 0 || areSecretsInside
      ? []
      : [
          `Its Secrets (${secrets.join(', ')}) are not in here. Make them first:`,
          `  keepwell render --engine kubernetes${into} --secrets only | kubectl apply -f -`,
        ];
  const place = namespace === null ? [] : [`It goes into the namespace "${namespace}", which must exist.`];
  const isStaged = stages.length > 1;
  const commands = stages.flatMap(({ number, waits }) => [
    `  kubectl apply -f ${fileOf(number)}${isOneFile && isStaged ? ` -l ${LABELS.stage}=${number}` : ''}`,
    ...(number < stages.length ? waits.map((wait) => `  ${wait}`) : []),
  ]);
  return [
    ...place,
    ...before,
    isStaged ? 'Apply it stage by stage: each needs the ones before it.' : 'Apply it:',
    ...commands,
  ];
}

const DIFFERENT: readonly string[] = [
  'Different from home, for every component:',
  '  - The kubelet asks probes from outside the pod: a server must listen on 0.0.0.0, not on 127.0.0.1.',
  '  - Restarts come after 10 s, doubling to 5 min, and never stop. A Job stops after its retries.',
  '  - The order holds for the first start only. Pods that come back later do not wait for each other.',
  '  - Pods have the variables of their image and those in here, not those of this machine.',
  '  - A Job cannot be changed once it is there: delete it before you apply a changed one.',
];
