/** What stands below the tables: how each was taken, who wins, and what to keep in mind. */
import { figure } from '../markdown.mjs';
import { median, percentile } from '../stats.mjs';
import { restartOf, restingOf, startStopOf } from './figures.mjs';

const counted = (count) => count.toLocaleString('en-US');
const listed = (names) => new Intl.ListFormat('en', { type: 'conjunction' }).format(names);

/** The peers that do better than Keepwell in this figure, in words; less is better. */
export function winners(measured, what, of) {
  const ours = of('keepwell');
  if (ours === null || ours === undefined) return '';
  const better = measured.tools.filter(({ id }) => {
    const theirs = of(id);
    return id !== 'floor' && !id.startsWith('keepwell') && theirs !== null && theirs !== undefined && theirs < ours;
  });
  if (better.length === 0) return `No peer does better ${what}.`;
  return `Better than Keepwell ${what} (how many times): ${listed(better.map(({ name, id }) => `${name} (${figure(ours / of(id))} ×)`))}.`;
}

const NOTES = {
  restart: (measured) => `
From \`kill -9\` of the only component to the first action of the next one, without backoff. Keepwell has on disk
what died and what it decided, so that a kill of the daemon loses neither; the others write nothing. supervisord looks at its
children once a second, s6 waits a second, monit looks once in its cycle of a second, Docker waits at least 100 ms, all by design: they had
fewer rounds. ${winners(measured, 'here', (id) => restartOf(measured, id)?.p50)}
`,
  'start-stop': (measured) => {
    const many = measured.sizes.fleets.at(-1);
    const of = (what) => (id) => startStopOf(measured, id, many)?.[what];
    return `
Up to ${measured.sizes.fleetRounds} rounds; one where a round takes longer than 12 s. Start: from the command, with no daemon running, to the first action of the
last component. Stop: from the command until it has ended and no component is left (\`keepwell down\`, \`pm2 kill\`, \`supervisorctl
shutdown\`, \`s6-svscanctl -t\`, SIGHUP to \`runsvdir\`, \`systemctl --user exit\`, \`docker stop\`). monit and Docker take too long
for ${counted(many)}, and monit stops one after the other, more than a second for each. Docker's Engine runs already. ${winners(measured, `at the start of ${counted(many)}`, of('startMs'))} ${winners(measured, 'at their stop', of('stopMs'))}
`;
  },
  growth: (measured) => {
    const { sizes, results } = measured;
    const at = sizes.counts.includes(500) ? 500 : sizes.counts.at(-1);
    const of = (what) => (id) => restingOf(measured, id, at)?.[what];
    const dash = results.growth?.some(({ problem }) => problem)
      ? '\nA tool that could not start so many has no row.\n'
      : '';
    return `
CPU and wake-ups (voluntary switches of context) over ${figure(sizes.idleMs / 1_000)} s, of the daemon and everything else the tool needs (Keepwell: guardian, launcher and one
shim per component), the components themselves left out. "Helpers" is the memory (PSS) of all but the daemon; "helper each" what one more component
adds to it, "all of each" what it adds to both, from the difference to ${counted(sizes.counts[0])} components. Status is p50 of up to ${sizes.statuses} calls of \`keepwell status\`, \`pm2
jlist\`, \`supervisorctl status\`, \`sv status\`, \`s6-svstat\` for each, \`monit summary\`, \`systemctl --user list-units\`, \`docker ps -a\`, and for the floor \`node -e 0\`, in turn.
${winners(measured, `in idle CPU with ${counted(at)}`, of('cpuPercent'))} ${winners(measured, 'in the memory of the daemon', of('daemonRss'))}
${winners(measured, 'in the time of `status`', of('statusMs'))} Keepwell and PM2 pay for Node; what is written in C needs neither.
${dash}`;
  },
  log: ({ sizes }) => `
Up to ${sizes.logRounds} rounds of ${figure(sizes.logBytes / 1e6)} MB line by line and of twice as much in blocks, all in lines of 100 bytes, timed by the writer. "÷ plain file" is the
middle of the rounds compared one by one. Keepwell and systemd (\`append:\`) give the component the file itself; PM2, supervisord, s6-log, svlogd
and Docker (\`json-file\`) read a pipe. All but PM2 and systemd turn over their files meanwhile. monit keeps no logs.
`,
  probes: ({ results }) => `
${counted(results.probes[0].wanted)} probes a second are asked for, ${results.probes[0].hung} of the servers accept and never answer, with a limit of a second each. monit asks one after the
other, so whoever hangs holds up all the rest: what was wanted and what was asked shows it, and its processor time must be read beside that. None of the others
asks a component anything without an add-on.
`,
  hung: ({ results }) => `
SIGTERM, SIGINT and SIGHUP are ignored. The grace is ${results.hung[0].graceMs / 1_000} s wherever it can be set (Keepwell, PM2, supervisord, systemd, Docker; s6 by \`timeout-kill\`,
runit by \`sv -w 1 force-stop\`); monit has only the command it was given.
`,
  death: ({ results }) => `
\`kill -9\` of the daemon with ${results.death[0].staying + results.death[0].dying} components; ${results.death[0].dying} end with code 42 while it is gone; then it is started again (\`keepwell up\`, \`pm2
resurrect\` after a \`pm2 save\`, the same command for the others). runit and s6 have one more process for each component, which lives on and
restarts it; s6 keeps a tally of deaths that \`s6-svdt\` prints. Docker without \`live-restore\`, which is its default.
`,
  containers: ({ results }) => {
    const { decisionMs, watched, watchedPercent, watchedRssKb } = results.containers;
    return `
From the fault until Docker says "healthy" again, with a check every 50 ms, without backoff; most of Keepwell's time is Docker's own to end, start and check
a container. The loop looks every 5 s, as docker-autoheal has it. From Docker's "unhealthy" to Keepwell's decision: ${figure(median(decisionMs))} ms in the
middle, ${figure(percentile(decisionMs, 0.99))} ms the slowest of ${decisionMs.length}. A daemon that watches ${watched} idle containers takes ${figure(watchedPercent)} % of a core and ${figure((watchedRssKb * 1_024) / 1e6)} MB.
`;
  },
};

export const notes = (id, measured) => NOTES[id](measured);

export function method({ sizes }) {
  return `## How it is measured

- Every component is the same small shell script: it writes its name and process id into a FIFO, then sleeps. The benchmark reads that FIFO, so the
  clock is the same for all, and nothing depends on what a tool believes.
- Tools take turns, round by round, so that a slow minute of the machine is a slow minute for all. At rest, all fleets stand side by side and
  their CPU time is taken over the same seconds.
- Every process of a fleet carries a mark in its environment. What carries the mark and is no component is counted as cost of the tool, so
  no helper is forgotten. Docker's are the Engine, containerd and a shim per container.
- All tools restart without delay and without limit where they can; PM2 also with \`vizion\` and \`pmx\` off, its fastest settings; monit with its
  shortest cycle, a second. Otherwise they run with their defaults. PM2 comes from the registry, the others from Debian's packages; none is
  touched otherwise.

## What to keep in mind

- One machine, one day. Two runs differ, and by much on a machine that does something else meanwhile: look at the load average above.
- PSS divides memory that several processes share. RSS charges all of it to each.
- A status command is mostly the start of its interpreter. \`pm2 jlist\` prints JSON, the others a table.
- A writer is done when its last write is accepted. Where there is a pipe some of it is then still in there; with Keepwell it is in the file.
- ${counted(sizes.fleets[0])} components that sleep are not ${counted(sizes.fleets[0])} components that work.

## Repeat it

\`\`\`sh
npm ci
npm run bench                     # up to 20 minutes, on a machine with nothing else to do; root, for Docker and systemd
npm run bench -- --targets        # what the targets are about, with the tools that they name: seven minutes
npm run bench -- --quick          # whether it works: half a minute, small numbers, no downloads
npm run bench -- --only restart   # one of restart, start-stop, growth, log, probes, hung, death, containers
npm run bench -- --tools keepwell,pm2
npm run bench -- --gate           # fails when a ratio is worse by a quarter than in the recorded run
npm run bench -- --page           # this page and its charts again, from bench/recorded.json
\`\`\`

Only the first two and the last one write anything. PM2 is fetched into a temporary directory (which needs 4 GB of room) and the packages of the others are
unpacked there unless they are installed; Docker is a private Engine. Everything that is started is ended, and the directory is removed, also after Ctrl-C. A peer
that cannot be had is left out, and this page says so.`;
}
