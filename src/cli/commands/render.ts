/** keepwell render: the configuration in the words of another engine, and what is lost there. */

import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { AppError } from '../../base/pure/errors.ts';
import type { Render } from '../../kubernetes/render.ts';
import type { SelfRender } from '../../kubernetes/render-self.ts';
import type { SecretMode } from '../../kubernetes/rules/given.ts';
import { type CliCall, usage } from '../call.ts';
import type { Definition } from '../define.ts';

interface Options {
  readonly engine: 'kubernetes';
  readonly to?: string;
  readonly namespace?: string;
  readonly secrets: SecretMode;
  readonly strict?: true;
  readonly self?: string;
  readonly claim?: string;
}

export const render: Definition<Options> = {
  usage: 'render',
  group: 'Configure:',
  summary: 'print the configuration as Kubernetes manifests, and what is lost there',
  description:
    'Makes Deployments, Jobs, Services, ConfigMaps and references to Secrets from the components, in stages that follow depends_on. Contacts nobody and applies nothing: the head of the manifest has the kubectl commands. Settings that Kubernetes has no counterpart for are listed on stderr, each with its line.',
  options: [
    new Option('--engine <ENGINE>', 'what to render for').choices(['kubernetes']).default('kubernetes'),
    new Option('--to <PATH>', 'write to a file; to a folder (or PATH/): one file for each stage'),
    new Option('--namespace <NAME>', 'the namespace of all objects; overrides kubernetes.namespace').argParser(
      namespace,
    ),
    new Option('--secrets <HOW>', 'refer: only name Secrets; include: with their values; only: nothing else')
      .choices(['refer', 'include', 'only'])
      .default('refer'),
    new Option(
      '--self <IMAGE>',
      'instead of the components: what runs Keepwell itself in the cluster, with this image',
    ),
    new Option('--claim <NAME>', 'with --self: the PersistentVolumeClaim that keeps its history').argParser(namespace),
    new Option('--strict', 'write nothing and exit with 1 when anything is lost'),
  ],
  examples: [
    ['keepwell render --engine kubernetes > shop.yaml', 'everything in one file'],
    ['keepwell render --engine kubernetes --to deploy/', 'a file for each stage'],
    ['keepwell render --engine kubernetes --strict > /dev/null', 'is anything lost?'],
    ['keepwell render --engine kubernetes --secrets only | kubectl apply -f -', 'the Secrets, into the cluster'],
    ['keepwell render --self registry.example.com/keepwell:1 | kubectl apply -f -', 'run the daemon in the cluster'],
    ['keepwell render --engine kubernetes -o json | jq .losses', 'what is lost, for a script'],
  ],
  handler: async (call, _args, { to, namespace, secrets, strict = false, self, claim }) => {
    if (claim !== undefined && self === undefined) throw usage('--claim is for --self IMAGE.');
    const { project } = call;
    const { cwd, env } = call.world;
    const { loadConfig } = await import('../../config/load.ts');
    const { refuseLosses, renderKubernetes } = await import('../../kubernetes/render.ts');
    const config = loadConfig({ ...project, env, cwd });
    const rendered = renderKubernetes(config, { namespace: namespace ?? null, secrets });
    if (strict) refuseLosses(rendered.losses, cwd);
    const { problemText } = await import('../../config/problem.ts');
    for (const loss of rendered.losses) call.note(`lost: ${problemText(loss, cwd)}`);
    if (self !== undefined) {
      const { renderSelf } = await import('../../kubernetes/render-self.ts');
      const options = { namespace: namespace ?? null, secrets, image: self, claim: claim ?? null };
      return printSelf(call, renderSelf(config, options), to ?? null, secrets);
    }
    const written = to === undefined ? [] : write(rendered, resolve(cwd, to), isFolder(resolve(cwd, to), to), secrets);
    call.printJson(view(rendered, written));
    if (to === undefined && !call.json) call.world.out.write(rendered.text('FILE'));
    if (written.length > 0) {
      const count = rendered.objects.length === 1 ? '1 object' : `${rendered.objects.length} objects`;
      call.print(`wrote ${written.map((file) => relative(cwd, file)).join(', ')}: ${count}`);
    }
    return 0;
  },
};

/** All of it in one file: nothing in it waits for anything else. */
function printSelf(call: CliCall, rendered: SelfRender, to: string | null, secrets: SecretMode): number {
  const { cwd } = call.world;
  const { namespace: into, objects, secrets: names } = rendered;
  const file = to === null ? null : resolve(cwd, to);
  if (file !== null) writeOrExplain(file, rendered.text(basename(file)), secrets === 'refer' ? 0o644 : 0o600);
  const about = { schema_version: 1, engine: 'kubernetes', namespace: into, secrets: names };
  call.printJson({ ...about, files: file === null ? [] : [file], objects });
  if (file === null && !call.json) call.world.out.write(rendered.text('FILE'));
  if (file !== null) call.print(`wrote ${relative(cwd, file)}: ${objects.length} objects`);
  return 0;
}

function namespace(text: string): string {
  if (/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('Use a-z, 0-9 and dash, at most 63 characters.');
}

const isFolder = (path: string, written: string): boolean =>
  written.endsWith('/') || (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);

/** Returns the paths. What has secrets in it is for its owner alone. */
function write(rendered: Render, path: string, isFolder: boolean, secrets: SecretMode): readonly string[] {
  const files = isFolder ? rendered.files(basename(path)) : new Map([['', rendered.text(basename(path))]]);
  const mode = secrets === 'refer' ? 0o644 : 0o600;
  return [...files].map(([name, text]) => {
    const file = name === '' ? path : join(path, name);
    writeOrExplain(file, text, mode, isFolder);
    return file;
  });
}

function writeOrExplain(file: string, text: string, mode: number, makesFolder = false): void {
  try {
    if (makesFolder) mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode });
  } catch (error) {
    throw new AppError('FILE_NOT_WRITTEN', { file, problem: (error as Error).message }, { cause: error });
  }
}

function view({ namespace, stages, secrets, losses, objects }: Render, files: readonly string[]) {
  return {
    schema_version: 1,
    engine: 'kubernetes',
    namespace,
    files,
    stages: stages.map(({ number, components, waits }) => ({ stage: number, components, waits })),
    secrets,
    losses: losses.map(({ component, file, line, column, path, message }) => ({
      component,
      file,
      line,
      column,
      path,
      message,
    })),
    objects: objects.map(({ object }) => object),
  };
}
