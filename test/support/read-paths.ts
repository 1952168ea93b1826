/** Where the processes and the run of a component are read. */
import { readMeta } from '../../src/drivers/process/run-dir.ts';
import type { TestProject } from './project.ts';

/** Every path under which these components can be looked at right now. */
export async function readPaths(project: TestProject, names: readonly string[]): Promise<readonly string[]> {
  const each = await Promise.all(names.map((name) => pathsOf(project, name)));
  return ['/proc', `${project.home}/runs`, ...each.flat()];
}

async function pathsOf(project: TestProject, name: string): Promise<readonly string[]> {
  const { run_id, pid } = await project.component(name);
  const dir = `${project.home}/runs/${run_id}`;
  const shim = project.shims().find(({ command }) => command.includes(run_id!))!;
  const cgroup = readMeta(dir)?.cgroup;
  const files = ['run.json', 'pid', 'exit', 'claim', 'fifo', 'err'].map((file) => `${dir}/${file}`);
  const processes = [pid!, shim.pid].flatMap((id) =>
    ['', '/stat', '/cmdline', '/environ'].map((file) => `/proc/${id}${file}`),
  );
  const ofCgroup = !cgroup ? [] : [cgroup, `${cgroup}/cgroup.procs`, `${cgroup}/memory.events`];
  return [dir, ...files, ...processes, ...ofCgroup];
}
