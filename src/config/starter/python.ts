/** Python: a Django project, the scripts of a pyproject.toml, or a program beside it. */
import { inWords, quoted } from '../text.ts';
import type { Draft, Folder, StarterFindings } from './draft.ts';

const PROGRAMS = ['main.py', 'app.py', 'server.py'];
const INTERPRETERS = ['.venv/bin/python', 'venv/bin/python'];
const SERVICE =
  /(?:^|[-_.])(?:serve|server|service|web|api|worker|workers|queue|scheduler|consumer|listener|bot|daemon|start)(?:$|[-_.])/i;

export function fromPython(folder: Folder): StarterFindings | null {
  if (folder.has('manage.py')) return django(folder);
  const program = PROGRAMS.find((name) => folder.has(name));
  if (!folder.has('pyproject.toml')) {
    return program === undefined ? null : { file: program, drafts: [direct(folder, program)], remarks: [] };
  }
  const names = scriptsIn(folder.read('pyproject.toml') ?? '');
  const services = names.filter((name) => SERVICE.test(name));
  const drafts = services.map(
    (name): Draft => ({
      name,
      command: { argv: runner(folder, name) },
      why: [`pyproject.toml, script ${quoted(name)}`],
    }),
  );
  if (drafts.length === 0 && program !== undefined) drafts.push(direct(folder, program));
  const others = names.filter((name) => !services.includes(name)).map((name) => quoted(name));
  const remarks = others.length === 0 ? [] : [`Scripts that do not look like a service: ${inWords(others)}.`];
  return { file: 'pyproject.toml', drafts, remarks };
}

function django(folder: Folder): StarterFindings {
  const argv = [...python(folder), 'manage.py', 'runserver', '--noreload'];
  const why = [
    'manage.py: the development server of Django, without its own reloader.',
    'For production put the server that you use there here, for instance gunicorn.',
  ];
  return { file: 'manage.py', drafts: [{ name: 'web', command: { argv }, why }], remarks: [] };
}

const direct = (folder: Folder, program: string): Draft => ({
  name: program.replace(/\.py$/, ''),
  command: { argv: [...python(folder), program] },
  why: [program],
});

/** The interpreter that has the packages of this project. */
function python(folder: Folder): readonly string[] {
  const own = INTERPRETERS.find((path) => folder.has(path));
  if (own !== undefined) return [own];
  if (folder.has('uv.lock')) return ['uv', 'run', 'python'];
  return folder.has('poetry.lock') ? ['poetry', 'run', 'python'] : ['python3'];
}

function runner(folder: Folder, script: string): readonly string[] {
  const own = INTERPRETERS.map((path) => path.replace('python', script)).find((path) => folder.has(path));
  if (own !== undefined) return [own];
  if (folder.has('uv.lock')) return ['uv', 'run', script];
  return folder.has('poetry.lock') ? ['poetry', 'run', script] : [script];
}

/** The keys of the two tables that name programs. A few lines of TOML do not need a parser of TOML. */
function scriptsIn(toml: string): readonly string[] {
  const names: string[] = [];
  let inside = false;
  for (const line of toml.split(/\r?\n/)) {
    const table = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (table !== undefined) inside = /^\s*(?:project|tool\.poetry)\.scripts\s*$/.test(table);
    const name = /^\s*["']?([A-Za-z0-9][\w.-]*)["']?\s*=/.exec(line)?.[1];
    if (inside && table === undefined && name !== undefined) names.push(name);
  }
  return names;
}
