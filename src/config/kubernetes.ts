/** What has to be known for Kubernetes beside the components, complete. */

import { z } from 'zod';
import type { KubernetesSpec } from '../kubernetes/spec.ts';
import { leaf, nameKey, optional, orVariable, text } from './leaves.ts';
import { IMAGE_PATTERN, readImage } from './readers/container.ts';
import { type Reader, readText, refuse } from './readers.ts';
import { quoted } from './text.ts';
import { emptyRecord, type ScalarNode } from './tree.ts';

const NAMESPACE_PATTERN = '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$';

const readNamespace: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || new RegExp(NAMESPACE_PATTERN).test(read.value)) return read;
  return refuse(
    `${quoted((node as ScalarNode).source)} is not the name of a namespace`,
    'Use a-z, 0-9 and dash, beginning and ending with a letter or digit, at most 63 characters.',
  );
};

const image = leaf(readImage, 'name of an image', orVariable({ pattern: IMAGE_PATTERN }));

export const kubernetesSchema = z.strictObject({
  image: optional(image, {
    description: 'The image in which components run that are a `process` at home. It must contain their programs.',
    defaultNote: 'none: such components cannot be rendered',
    example: 'registry.example.com/shop:1.4.2',
  }),
  images: optional(z.record(nameKey, image), {
    description: 'Images of single components that are a `process`, by name. They override `image`.',
    defaultsTo: {},
    example: { api: 'registry.example.com/api:1.4.2' },
  }),
  namespace: optional(leaf(readNamespace, 'name of a namespace', orVariable({ pattern: NAMESPACE_PATTERN })), {
    description: 'The namespace that is written into every object; `--namespace` overrides it.',
    defaultNote: 'none: that of the context',
    example: 'shop',
  }),
  context: optional(text, {
    description: 'The context of the kubeconfig that is used with `engine: kubernetes`.',
    defaultNote: 'the current one when the daemon starts',
    example: 'production',
  }),
});

export type KubernetesConfig = z.output<typeof kubernetesSchema>;

export const kubernetesSpec = (config: KubernetesConfig = {}): KubernetesSpec => ({
  image: config.image ?? null,
  images: config.images ?? emptyRecord<string>(),
  namespace: config.namespace ?? null,
  context: config.context ?? null,
});
