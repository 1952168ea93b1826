/** keepwell exec: a command where a component runs. It is run from here, by whoever asks: no daemon takes commands. */
import { AppError } from '../../base/pure/errors.ts';
import type { ComponentSpec, ProcessSpec } from '../../supervision/spec.ts';
import { type CliCall, usage } from '../call.ts';
import { daemonIdentity, isAlive } from '../daemon-end.ts';
import type { Definition } from '../define.ts';
import { readRecords } from '../records.ts';
import { noSuch } from '../targets.ts';

export const exec: Definition<object> = {
  usage: 'exec <NAME> <CMD...>',
  onlyHere: 'Log in there (ssh) and run it in the folder of the project.',
  group: 'Start, stop, run:',
  summary: 'run a command where a component runs: its directory, environment and user, or its container',
  description:
    'A command for a process gets its working directory, its user and its environment: that of the daemon (yours, when there is none), ' +
    'then "env_file" and "env". It need not be running. Limits do not apply, and nothing supervises the command. ' +
    'A command for a container is run in it with "docker exec". Output and exit code are those of the command.',
  passesThrough: true,
  examples: [
    ['keepwell exec api -- env', 'which variables does it see?'],
    ['keepwell exec api -- node -e "console.log(process.cwd())"', 'what comes after NAME is the command'],
    ['keepwell exec database -- sh', 'a shell in a container'],
  ],
  handler: async (call, [name = '', ...rest]) => {
    const command = rest[0] === '--' ? rest.slice(1) : rest;
    if (command.length === 0) throw usage(`Say what to run: "keepwell exec ${name} -- COMMAND".`);
    const { project, world } = call;
    const { loadConfig } = await import('../../config/load.ts');
    const { components } = loadConfig({ ...project, env: world.env, cwd: world.cwd });
    const spec = components.find((one) => one.name === name);
    if (spec === undefined)
      throw noSuch(
        name,
        components.map((one) => one.name),
      );
    const end = isProcess(spec) ? await inProcess(call, spec, command) : await inContainer(call, spec, command);
    if (typeof end === 'number') return end;
    throw new AppError('EXEC_IMPOSSIBLE', { name, problem: end.message });
  },
};

type OfProcess = ComponentSpec & { readonly driver: ProcessSpec };

const isProcess = (spec: ComponentSpec): spec is OfProcess => spec.driver.kind === 'process';

async function inProcess(call: CliCall, spec: OfProcess, command: readonly string[]) {
  const { environmentOfProcess, runAttached } = await import('../../drivers/process/attached.ts');
  const daemon = daemonIdentity(call);
  const base = daemon !== null && isAlive(daemon) ? environmentOfProcess(daemon.pid) : null;
  return await runAttached({ spec, command, base: base ?? call.world.env });
}

async function inContainer(call: CliCall, { name, driver }: ComponentSpec, command: readonly string[]) {
  if (driver.kind === 'external')
    throw new AppError('EXEC_IMPOSSIBLE', { name, problem: 'it is external, so its environment is not known' });
  if (driver.kind === 'kubernetes')
    throw new AppError('EXEC_IMPOSSIBLE', { name, problem: 'it runs on Kubernetes: use "kubectl exec"' });
  const { value } = await readRecords(call, (records) => records.status());
  const view = value.components.find((one) => one.name === name);
  const id = view?.state === 'running' ? view.container_details?.id : undefined;
  if (id === undefined) throw new AppError('COMPONENT_NOT_RUNNING', { name });
  const { out, inIsTty, env, cwd } = call.world;
  const argv = ['docker', 'exec', inIsTty && out.isTty ? '-it' : '-i', id, ...command];
  const { attached } = await import('../../drivers/process/attached.ts');
  const { precheck } = await import('../../drivers/process/precheck.ts');
  const plain = Object.fromEntries(Object.entries(env).flatMap(([key, value]) => (value ? [[key, value]] : [])));
  if (precheck({ command: argv, cwd: '/', env: plain }) !== null)
    throw new AppError('EXEC_IMPOSSIBLE', {
      name,
      problem: 'the program "docker", which runs it there, was not found',
    });
  return await attached(argv, { cwd, env, stdio: 'inherit' });
}
