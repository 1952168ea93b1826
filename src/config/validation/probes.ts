/** Questions that could never be answered the way they are put. */
import { ROLES } from '../../supervision/rules/health/probe.ts';
import { DEFAULTS } from '../defaults.ts';
import { type Draft, isUnusable, nodeAt, type Say } from '../draft.ts';
import type { QuestionConfig } from '../questions.ts';
import type { Component } from '../shape.ts';
import type { Path, TreeNode } from '../tree.ts';
import { checkCommand } from './command.ts';

type Question = Draft<QuestionConfig>;

/** `written`: the component as it stands in the file, at `path`. */
export function checkProbes(component: Component, written: TreeNode | undefined, path: Path, say: Say): void {
  for (const role of ROLES) {
    const probe = component[role];
    if (!probe) continue;
    checkAsked(probe, nodeAt(written, [role]), [...path, role], say);
  }
}

type Asked = Question & { readonly all_of?: readonly (Question | undefined)[] | undefined };

/** One question, or those of its `all_of`; `written`: the map that asks, as it stands in the file, at `path`. */
export function checkAsked(asked: Asked, written: TreeNode | undefined, path: Path, say: Say): void {
  checkQuestion(asked, written, path, say);
  const { all_of: items } = asked;
  if (items?.length === 0) say([...path, 'all_of'], 'is empty', 'Write: all_of: [{ tcp: 7233 }, { http: 8080 }]');
  for (const [index, item] of (items ?? []).entries()) {
    if (item) checkQuestion(item, nodeAt(written, ['all_of', index]), [...path, 'all_of', index], say);
  }
}

function checkQuestion(
  { exec, http, grpc, temporal }: Question,
  written: TreeNode | undefined,
  path: Path,
  say: Say,
): void {
  const wrong = exec && checkCommand(exec, nodeAt(written, ['exec', 'command']), '[./bin/check]');
  if (wrong) say([...path, 'exec', 'command', ...wrong.path], wrong.message, wrong.hint);
  if (http) checkHttp(http, [...path, 'http'], say);
  if (grpc) checkTls(grpc, [...path, 'grpc'], say);
  if (temporal) checkTls(temporal, [...path, 'temporal'], say);
}

function checkTls(server: NonNullable<Question['grpc'] | Question['temporal']>, path: Path, say: Say): void {
  const { insecure, server_name } = server;
  if (server.tls === true || isUnusable(server, 'tls')) return;
  const hint = 'Write "tls: true", or remove it.';
  if (insecure === true) say([...path, 'insecure'], 'there is no certificate without tls', hint);
  if (server_name !== undefined) say([...path, 'server_name'], 'there is no certificate without tls', hint);
}

function checkHttp(http: NonNullable<Question['http']>, path: Path, say: Say): void {
  const { method, contains, insecure, status, headers } = http;
  if (method === 'HEAD' && contains !== undefined)
    say([...path, 'contains'], 'the answer to HEAD has no body to look at', 'Write "method: GET", or remove it.');
  const scheme = http.scheme ?? DEFAULTS.probe.http.scheme;
  if (insecure === true && scheme === 'http' && !isUnusable(http, 'scheme'))
    say([...path, 'insecure'], 'there is no certificate without https', 'Write "scheme: https", or remove it.');
  if (Array.isArray(status) && status.length === 0)
    say([...path, 'status'], 'is empty, so no answer could pass', 'Write: status: [200, 204], or remove the line.');
  const seen = new Map<string, string>();
  for (const name of Object.keys(headers ?? {})) {
    const first = seen.get(name.toLowerCase());
    if (first === undefined) seen.set(name.toLowerCase(), name);
    else say([...path, 'headers', name], `${first} and ${name} are the same header`, 'Keep one of them.');
  }
}

// Where questions stand in a component: in each probe, and in the items of its `all_of`.

export function questionPlaces(written: TreeNode | undefined): readonly Path[] {
  return ROLES.flatMap((role) => {
    const items = nodeAt(written, [role, 'all_of']);
    const count = items?.kind === 'list' ? items.items.length : 0;
    return [[role], ...Array.from({ length: count }, (_, index): Path => [role, 'all_of', index])];
  });
}
