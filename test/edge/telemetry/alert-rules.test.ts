/** The rules that the guide and the example give to Prometheus, tried by Prometheus itself. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { promtoolMissing } from '../../support/prometheus.ts';
import { tempDir } from '../../support/temp-dir.ts';

const GUIDE = 'docs/guide/telemetry.md';
const EXAMPLE = 'examples/prometheus/alerts.yml';

const rulesIn = (file: string): string => {
  const text = readFileSync(resolve(file), 'utf8');
  if (file === EXAMPLE) return text;
  return /```yaml\n# alerts\.yml\n(.*?)```/s.exec(text)![1]!;
};

type State = 'ready' | 'completed' | 'dead' | 'gave-up' | 'stopped';
/** What the daemon says of a component in each state. */
const METRICS: Readonly<Record<State, Readonly<Record<string, number>>>> = {
  ready: { wanted: 1, up: 1, ready: 1, completed: 0, gave_up: 0 },
  completed: { wanted: 1, up: 0, ready: 0, completed: 1, gave_up: 0 },
  dead: { wanted: 1, up: 0, ready: 0, completed: 0, gave_up: 0 },
  'gave-up': { wanted: 1, up: 0, ready: 0, completed: 0, gave_up: 1 },
  stopped: { wanted: 0, up: 0, ready: 0, completed: 0, gave_up: 0 },
};

const SERIES = Object.entries(METRICS).flatMap(([component, values]) =>
  Object.entries(values).map(
    ([metric, value]) =>
      `      - { series: 'keepwell_component_${metric}{instance="here", component="${component}"}', values: "${value}x20" }`,
  ),
);

const fires = (alert: string, components: readonly State[]): string => `      - eval_time: 10m
        alertname: ${alert}
        exp_alerts:${components.length === 0 ? ' []' : ''}
${components.map((name) => `          - { exp_labels: { instance: here, component: ${name} } }`).join('\n')}`;

test.skipIf(promtoolMissing !== null).each([GUIDE, EXAMPLE])(
  'the rules in %s tell of what is dead, and leave completed jobs and what was stopped by hand alone',
  (file) => {
    using dir = tempDir();
    writeFileSync(dir.at('alerts.yml'), rulesIn(file));
    writeFileSync(
      dir.at('test.yml'),
      `rule_files: [alerts.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
${SERIES.join('\n')}
    alert_rule_test:
${fires('ComponentNotReady', ['dead', 'gave-up'])}
${fires('ComponentGaveUp', ['gave-up'])}
`,
    );
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test.yml'], {
      cwd: dir.path,
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).toContain('SUCCESS');
    expect(status).toBe(0);
  },
);
