/** What tickets know about what crashed, and the secrets that they must not tell, also those that stand in files. */
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { agentCircumstances } from '../../../src/agents/agent-spec.ts';
import { circumstances } from '../../../src/incidents/open.ts';
import { type Evidence, NO_CIRCUMSTANCES } from '../../../src/incidents/tickets/rules/evidence.ts';
import { textOf } from '../../../src/incidents/tickets/rules/text.ts';
import { agentsSpec, agentType } from '../../support/agent-samples.ts';
import { spec } from '../../support/builders.ts';
import { incidentOf } from '../../support/case-samples.ts';
import { crashOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';

const OF_FILE = 'correct horse battery';
const OF_ENV = 'staple of the type';
const INHERITED = 'of the daemon itself';

const ofAgent = (more: Partial<Parameters<typeof crashOf>[2]> = {}): Evidence => ({
  kind: 'crash',
  crash: crashOf('a', 1, {
    ...{ subject: { kind: 'agent', name: 'architect' }, agentType: 'architect', taskId: 'SPEC-111' },
    ...more,
  }),
});

describe('of an agent', () => {
  const world = () => {
    const dir = tempDir();
    writeFileSync(dir.at('agent.env'), `DB_PASSWORD=${OF_FILE}\n`);
    const process = {
      ...({ kind: 'process', command: ['agent', '--task', '{task}'], shell: false, cwd: dir.path } as const),
      ...{ env: { API_TOKEN: OF_ENV }, envFiles: [dir.at('agent.env')] },
    };
    const agents = agentsSpec({ types: [agentType({ process })] });
    const about = (evidence: Evidence) =>
      circumstances(evidence, { components: [], agents, secrets: [] }, { MY_SECRET: INHERITED }, agentCircumstances);
    return { dir, about, [Symbol.dispose]: () => dir[Symbol.dispose]() };
  };

  test('the command has its task, and the ticket goes to whose work it is', () => {
    using here = world();
    expect(here.about(ofAgent())).toMatchObject({
      ...{ command: ['agent', '--task', 'SPEC-111'], cwd: here.dir.path, assignedTo: 'code_developer' },
    });
  });

  test('no secret of its type, of its files or of the daemon is in the ticket', () => {
    using here = world();
    const secrets = [OF_FILE, OF_ENV, INHERITED];
    const evidence = ofAgent({
      errorMessage: `cannot log in with ${OF_FILE}`,
      rootCause: `the server does not know ${OF_ENV}`,
      logTail: secrets.map((secret) => `tried ${secret}`),
    });
    const text = JSON.stringify(textOf(evidence, incidentOf(1), here.about(evidence)));
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain('cannot log in with [redacted]');
    expect(text).toContain('SPEC-111');
  });

  test('of a type that the configuration does not name nothing is known', () => {
    using here = world();
    expect(here.about(ofAgent({ agentType: 'gone' }))).toEqual(NO_CIRCUMSTANCES);
  });

  test('without a type its name is taken for it', () => {
    using here = world();
    const crash = crashOf('a', 1, { subject: { kind: 'agent', name: 'architect' } });
    expect(here.about({ kind: 'crash', crash })).toMatchObject({ assignedTo: 'code_developer' });
  });
});

test('of a component they are its command, its folder and its secrets; of anything else there are none', () => {
  const process = {
    kind: 'process',
    command: ['server'],
    shell: false,
    cwd: '/srv',
    env: { A_TOKEN: OF_ENV },
  } as const;
  const components = [spec('api', { driver: { ...process, envFiles: [] } })];
  const about = (evidence: Evidence) =>
    circumstances(evidence, { components, agents: agentsSpec(), secrets: [] }, {}, agentCircumstances);
  expect(about({ kind: 'crash', crash: crashOf('api') })).toEqual({
    ...{ command: ['server'], cwd: '/srv', assignedTo: null, secrets: [OF_ENV] },
  });
  expect(about({ kind: 'crash', crash: crashOf('gone') })).toEqual({ ...NO_CIRCUMSTANCES, secrets: [] });
  const session = crashOf('s', 1, { subject: { kind: 'session', name: 'api' } });
  expect(about({ kind: 'crash', crash: session })).toEqual({ ...NO_CIRCUMSTANCES, secrets: [] });
});
