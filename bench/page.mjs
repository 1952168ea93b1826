/**
 * What the page costs: its size, what the daemon and the browser use while it is open on 100 components (side by side with the page closed),
 * how long the overview of 500 takes to answer, and how soon it is painted, as a ratio to an empty page. Build first; needs a Chromium and a quiet machine.
 *
 *   node bench/page.mjs [--seconds 30]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const ENTRY = join(root, 'dist/bin/keepwell.cjs');
const TICKS_PER_SECOND = 100;
const given = process.argv.indexOf('--seconds');
const SECONDS = given === -1 ? 30 : Number(process.argv[given + 1]);
const PAINTS = 7;
const ASKS = 20;

const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
const row = (what, value) => console.log(`${what.padEnd(58)} ${value}`);
const load = () => loadavg()[0].toFixed(1);

/** A project of so many components that do nothing. */
class Project {
  dir = mkdtempSync(join(tmpdir(), 'keepwell-bench-page-'));
  constructor(count) {
    const components = Array.from(
      { length: count },
      (_, at) => `  part-${at}: { process: { command: [sleep, "100000"] } }`,
    );
    writeFileSync(join(this.dir, 'keepwell.yaml'), `components:\n${components.join('\n')}\n`);
  }
  keepwell(...args) {
    const { KEEPWELL_HOME: _home, ...env } = process.env;
    return execFileSync(process.execPath, [ENTRY, ...args], { cwd: this.dir, env, encoding: 'utf8', stdio: 'pipe' });
  }
  end() {
    this.keepwell('down');
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Processor time of a process and, with `children`, of all that it has begun and that still run. */
function cpuSeconds(pids) {
  return pids.reduce((sum, pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    } catch {
      return sum;
    }
  }, 0);
}

/** Every process of a browser names its profile, or is the child of one that does. */
function browserPids(profile) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const text = (pid, file) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      return '';
    }
  };
  const own = new Set(all.filter((pid) => text(pid, 'cmdline').includes(profile)));
  for (let before = -1; before !== own.size; ) {
    before = own.size;
    for (const pid of all) {
      const stat = text(pid, 'stat');
      if (own.has(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])) own.add(pid);
    }
  }
  return [...own];
}

/** In percent of one core. */
async function used(pids) {
  const [before, began] = [cpuSeconds(pids()), performance.now()];
  await pause(SECONDS * 1_000);
  return ((cpuSeconds(pids()) - before) / ((performance.now() - began) / 1_000)) * 100;
}

async function openBrowser() {
  const profile = mkdtempSync(join(tmpdir(), 'keepwell-bench-profile-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
    ],
    viewport: { width: 1_280, height: 900 },
  });
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { profile, context, close };
}

const daemonPid = (project) => JSON.parse(project.keepwell('status', '-o', 'json')).daemon.pid;
const pageOf = (project) => JSON.parse(project.keepwell('dashboard', '--no-open', '-o', 'json'));

async function idle(project) {
  project.keepwell('up', '--no-wait');
  project.keepwell('wait', 'part-99');
  const { url } = pageOf(project);
  const daemon = [daemonPid(project)];
  const browser = await openBrowser();
  try {
    const page = browser.context.pages()[0];
    await page.goto('about:blank');
    await pause(5_000);
    const pids = () => browserPids(browser.profile);
    const closed = await Promise.all([used(() => daemon), used(pids)]);
    await page.goto(url);
    await page.locator('.row[data-component]').nth(99).waitFor({ state: 'attached' });
    await pause(5_000);
    const open = await Promise.all([used(() => daemon), used(pids)]);
    row(`daemon, 100 components, page closed / open, % of a core`, `${closed[0].toFixed(2)} / ${open[0].toFixed(2)}`);
    row(`browser, empty page / page of 100, % of a core`, `${closed[1].toFixed(2)} / ${open[1].toFixed(2)}`);
  } finally {
    await browser.close();
  }
}

/** First to the first row that can be seen; the empty page, to its only line. */
async function painted(context, url, what) {
  const page = await context.newPage();
  try {
    await page.goto(url);
    await page.locator(what).first().waitFor({ state: 'attached' });
    return await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))',
    );
  } finally {
    await page.close();
  }
}

async function large(project) {
  project.keepwell('up', '--no-wait', 'part-0');
  const { url, address } = pageOf(project);
  const [, token] = url.split('#token=');
  const headers = { Authorization: `Bearer ${token}` };
  const times = [];
  let bytes = 0;
  for (let at = 0; at < ASKS; at += 1) {
    const began = performance.now();
    bytes = (await (await fetch(`${address}v1/overview`, { headers })).text()).length;
    times.push(performance.now() - began);
  }
  row(
    `/v1/overview of 500: first, then median of ${ASKS - 1}, ms`,
    `${times[0].toFixed(1)}, ${median(times.slice(1)).toFixed(1)} (${Math.round(bytes / 1000)} kB)`,
  );
  const empty = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<p>empty'));
  await new Promise((done) => empty.listen(0, '127.0.0.1', done));
  const browser = await openBrowser();
  try {
    const plain = `http://127.0.0.1:${empty.address().port}/`;
    const [nothing, full] = [[], []];
    for (let at = 0; at < PAINTS; at += 1) {
      nothing.push(await painted(browser.context, plain, 'p'));
      full.push(await painted(browser.context, url, '.row[data-component]'));
    }
    const [one, other] = [median(nothing), median(full)];
    row(
      `painted: empty page / 500 rows, median of ${PAINTS}, ms`,
      `${one.toFixed(0)} / ${other.toFixed(0)} (${(other / one).toFixed(1)} times)`,
    );
  } finally {
    await browser.close();
    empty.close();
  }
}

async function withProject(count, act) {
  const project = new Project(count);
  try {
    await act(project);
  } finally {
    project.end();
  }
}

const assets = JSON.parse(readFileSync(join(root, 'dist/page/assets.json'), 'utf8'));
const kB = (end) =>
  (Buffer.from(assets.find(({ path }) => path.endsWith(end)).gzip, 'base64').length / 1_000).toFixed(1);
row('script / style, gzip kB', `${kB('.js')} / ${kB('.css')}`);
row('load before', load());
await withProject(100, idle);
await withProject(500, large);
row('load after', load());
