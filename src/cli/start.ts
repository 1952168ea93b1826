#!/usr/bin/env node
/** Loads the program, from what V8 made of it the last time where that is known. */
import { readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { openCodeCache } from '../base/code-cache.ts';

/** Those that are called often, or that somebody waits for; all others share what they have in common. */
const ROLES = [
  'daemon',
  'up',
  'down',
  'start',
  'stop',
  'restart',
  'status',
  'top',
  'ps',
  'ls',
  'why',
  'logs',
  'wait',
  'beat',
  'health',
  'version',
  'mcp',
];
/** A daemon has done by then what every daemon does first. */
const DAEMON_BEGUN_MS = 10_000;

const HEAD = '(function (exports, require, module, __filename, __dirname) { ';
const TAIL = '\n})';

type Body = (exports: unknown, require: (id: string) => unknown, module: Module, file: string, dir: string) => void;

const node = createRequire(import.meta.url);
const program = dirname(fileURLToPath(import.meta.url));
const role = process.argv.slice(2).find((word) => ROLES.includes(word)) ?? 'other';
const cache = openCodeCache({ env: process.env, program, role, uid: process.geteuid?.() ?? 0 });

/** As `require` does it, in the same registry: what Node itself loads finds these parts there, and the other way round. */
function load(file: string): unknown {
  const known = node.cache[file];
  if (known !== undefined || cache === null) return node(file);
  const module = new Module(file);
  module.filename = file;
  node.cache[file] = module;
  const name = file.slice(program.length + 1);
  const source = readFileSync(file);
  const found = cache.find(name, source);
  const script = new Script(`${HEAD}${source.toString()}${TAIL}`, {
    filename: file,
    columnOffset: -HEAD.length,
    ...(found ? { cachedData: found } : {}),
  });
  const body = script.runInThisContext() as Body;
  cache.add(name, source, script, found !== undefined && script.cachedDataRejected !== true);
  body(module.exports, (id) => (id.startsWith('./') ? load(join(program, id)) : node(id)), module, file, program);
  module.loaded = true;
  return module.exports;
}

process.once('exit', (code) => {
  if (code === 0) cache?.save();
});
if (role === 'daemon') setTimeout(() => cache?.save(), DAEMON_BEGUN_MS).unref();
load(join(program, 'main.cjs'));
