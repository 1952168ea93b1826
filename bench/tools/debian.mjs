/** Programs of a Debian package: the installed ones, or the package unpacked (not installed, so its services never run) into the benchmark's own directory. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/command.mjs';

/** Resolves with `program(name)`, which is the path of one. */
export async function programsOf(world, name, programs) {
  if (await areInstalled(programs)) return (program) => program;
  const root = await unpacked(world, name);
  const found = await run('find', [root, '-type', 'f', '-perm', '-u+x']);
  const paths = found.stdout.split('\n');
  return (program) => paths.find((path) => path.endsWith(`/${program}`)) ?? program;
}

export async function areInstalled(programs) {
  try {
    await run('sh', ['-c', programs.map((program) => `command -v ${program}`).join(' && ')]);
    return true;
  } catch {
    return false;
  }
}

/** The directory into which the package was unpacked. */
export async function unpacked(world, name) {
  const dir = world.newDir(`${name}-package`);
  const download = () => apt(world, dir, 'download', name);
  await download().catch(async (error) => {
    if (process.getuid?.() !== 0) throw error;
    await apt(world, dir, 'update');
    await download();
  });
  const [archive] = readdirSync(dir).filter((file) => file.endsWith('.deb'));
  await run('dpkg-deb', ['-x', archive, 'root'], { cwd: dir });
  return join(dir, 'root');
}

export const apt = (world, dir, ...args) =>
  run('apt-get', ['-qq', '-y', ...args], { cwd: dir, env: { ...process.env, ...world.mark } });
