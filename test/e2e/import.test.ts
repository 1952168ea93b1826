import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ErrorView } from '../../src/base/pure/errors.ts';
import { TestProject } from '../support/project.ts';
import { tempDir } from '../support/temp-dir.ts';

/** A folder with the file of another tool and no keepwell.yaml. */
function folder(files: Readonly<Record<string, string>>): TestProject {
  const project = new TestProject({ dir: tempDir().path });
  for (const [name, text] of Object.entries(files)) writeFileSync(project.path(name), text);
  return project;
}

const SUPERVISORD = `[program:web]
command=sh -c "echo from supervisord; exec sleep 1000"
autorestart=true
startsecs=0
priority=10
`;

test('what was imported from supervisord runs, and what was lost is said with its line', async () => {
  await using project = folder({ 'supervisord.conf': SUPERVISORD });
  const { code, stdout, stderr } = await project.cli('import', 'supervisord');
  expect(code).toBe(0);
  expect(stdout).toContain('wrote keepwell.yaml: 1 component (web)');
  expect(stderr).toContain('lost: supervisord.conf:5: web: priority:');
  await project.ok('up');
  expect((await project.component('web')).state).toBe('running');
  expect(project.log('web')).toContain('from supervisord');
});

test('an existing file is kept unless --force says otherwise', async () => {
  await using project = folder({ Procfile: 'web: sleep 1000\n', 'keepwell.yaml': '# mine\n' });
  const refused = await project.cli('import', 'procfile');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('already exists');
  expect(project.read('keepwell.yaml')).toBe('# mine\n');
  const { stdout } = await project.cli('import', 'procfile', '--stdout');
  expect(stdout).toContain('command: [sleep, "1000"]');
  expect(project.read('keepwell.yaml')).toBe('# mine\n');
  expect(await project.ok('import', 'procfile', '--force')).toContain('replaced keepwell.yaml');
  await project.ok('validate');
});

test('a program of PM2 needs --run, which is said on stderr; JSON has the losses', async () => {
  const text = "module.exports = { apps: [{ name: 'a', script: 'a.js', watch: true }] };\n";
  await using project = folder({ 'ecosystem.config.js': text });
  const refused = await project.cli('import', 'pm2', '-o', 'json');
  expect(refused.code).toBe(2);
  expect((JSON.parse(refused.stderr) as ErrorView).error.code).toBe('IMPORT_NEEDS_RUN');
  const { code, stdout, stderr } = await project.cli('import', 'pm2', '--run', '--stdout', '-o', 'json');
  expect(code).toBe(0);
  expect(stderr).toContain('running ecosystem.config.js');
  expect(JSON.parse(stdout)).toMatchObject({
    outcome: 'printed',
    components: ['a'],
    lost: [{ line: 1, what: 'watch' }],
  });
});

test('init reads the files of other process managers, too, and runs none of them', async () => {
  await using project = folder({
    'process-compose.yaml': 'processes:\n  api: { command: sleep 1000, replicas: 2 }\n',
    'ecosystem.config.js': "require('fs').writeFileSync('ran', '');\n",
  });
  const stdout = await project.ok('init');
  expect(stdout).toContain('process-compose.yaml: used for api');
  expect(stdout).toContain('"keepwell import pm2 ecosystem.config.js --run"');
  expect(project.read('keepwell.yaml')).toContain('# process-compose.yaml: not carried over: line 2: api: replicas:');
  expect(project.read('ran')).toBe('');
  await project.ok('validate');
});
