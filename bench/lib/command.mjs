/** Runs a command to its end, never holding up the event loop. */
import { spawn } from 'node:child_process';

const KEPT_CHARS = 2_000;
/** What a command started in the background may hold its output open for ever. */
const OUTPUT_LIMIT_MS = 200;

/** Resolves with `{ stdout, tookMs }`; an exit code that is not among `codes` is an error with what the command said. */
export function run(command, args, { codes = [0], limitMs = 300_000, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('exit', async (code, signal) => {
      const tookMs = performance.now() - began;
      clearTimeout(timer);
      await closed(child);
      const said = (stdout + stderr).slice(-KEPT_CHARS);
      if (codes.includes(code)) resolve({ stdout, tookMs });
      else reject(new Error(`${command} ${args.join(' ')} → ${code ?? signal}\n${said}`));
    });
  });
}

function closed(child) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, OUTPUT_LIMIT_MS);
    child.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
