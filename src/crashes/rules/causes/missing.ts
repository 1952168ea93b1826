/** Something that the program needs is not there: a module, an export, a variable, a file, a command. */
import { firstMatch, type Rule } from './cause.ts';

const missingExport: Rule = ({ text, frames }) => {
  const importer = frames.find(({ inApp, file }) => inApp && file !== null)?.file ?? null;
  const by = importer === null ? 'the import' : `the import in ${importer}`;
  const python =
    /cannot import name '([^']{1,200})' from (partially initialized module )?'([^']{1,200})'(?: \(most likely due to a circular import\))?(?: \(([^()\n]{1,500})\))?/.exec(
      text,
    );
  if (python) {
    const [, name, circular, module, file] = python;
    const place =
      file === undefined || file === 'unknown location' ? `module '${module}'` : `module '${module}' (${file})`;
    if (circular || text.includes('circular import')) {
      return `'${name}' is not there yet in ${place}: two modules import each other; move one of the imports into a function`;
    }
    return `${place} has no export '${name}': add it there, or correct ${by}`;
  }
  const node = /The requested module '([^']{1,300})' does not provide an export named '([^']{1,200})'/.exec(text);
  if (node) return `module '${node[1]}' has no export '${node[2]}': add it there, or correct ${by}`;
  const named =
    /Named export '([^']{1,200})' not found\. The requested module '([^']{1,300})' is a CommonJS module/.exec(text);
  if (named) return `module '${named[2]}' has no export '${named[1]}' because it is CommonJS: import it as a whole`;
  const method = /NoSuchMethodError: '?([^'\n]{1,300}?)'?$/m.exec(text);
  if (method && text.startsWith('NoSuchMethodError')) {
    return `the method ${method[1]} is missing in the version of the library that is installed: align the versions`;
  }
  const attribute = /module '([^']{1,200})' has no attribute '([^']{1,200})'/.exec(text);
  if (attribute) return `module '${attribute[1]}' has no export '${attribute[2]}': add it there, or correct its use`;
  return null;
};

const MODULES: readonly RegExp[] = [
  /No module named '?([\w.-]{1,200})/,
  /Cannot find (?:module|package) '([^']{1,300})'/,
  /cannot load such file -- (\S{1,300})/,
  /(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$/]{1,300})/,
  /Could not load file or assembly '([^',]{1,300})/,
  /error while loading shared libraries: ([^:\s]{1,200}):/,
  /no required module provides package ([^\s;:]{1,300})/,
  /Could not find gem '([^']{1,200})'/,
  /uninitialized constant ([\w:]{1,200})/,
];

const missingModule: Rule = ({ text, place, language }) => {
  const name = firstMatch(text, MODULES);
  if (name === null) return null;
  const [, importer] = /imported from (\S{1,400})/.exec(text) ?? [];
  const by = importer === undefined ? place('needed in') : ` (imported from ${importer})`;
  const isOwn = /^[./]/.test(name);
  return isOwn
    ? `the file of module '${name}' is not there${by}: correct the path, or build it first`
    : `${language === 'jvm' ? 'class' : 'module'} '${name}' is not installed or cannot be found${by}: install it, or correct its name`;
};

const VARIABLES: readonly RegExp[] = [
  /^unbound variable: (\w{1,100}): /,
  /^(?:[\w./~+-]{1,300}: )?(?:line )?\d{0,6}:? ?(\w{1,100}): (?:unbound variable|parameter (?:null or )?not set)$/m,
  /[Mm]issing (?:required )?(?:env(?:ironment)?\.? ?(?:variables?|vars?)):? [`'"]?([A-Za-z_]\w{0,100})/,
  /[Ee]nvironment variable [`'"]?([A-Z_][A-Z0-9_]{1,100})[`'"]? (?:is |was |must be )?(?:not |un|missing|required|set)/,
  /[`'"]?\b([A-Z_][A-Z0-9_]{1,100})\b[`'"]? (?:env(?:ironment)? ?(?:variable|var) )?(?:is|was|must be) (?:not set|unset|required|missing|not defined|set)\b/,
  /(?:environment variable|env var)[^\n]{0,40}? (?:not found|NotPresent|not set)[^\n]{0,10}?:? ?[`'"]?([A-Z_][A-Z0-9_]{1,100})?/,
  /process\.env\.(\w{1,100})\b/,
  /\bNotPresent$/m,
];

const missingVariable: Rule = ({ text, errorType, message, lines, frames, place }) => {
  const name = lookedUp(errorType, message, lines, frames) ?? firstMatch(text, VARIABLES);
  if (name === null) return null;
  if (name === '') return `an environment variable that it needs is not set${place('read in')}`;
  return `the environment variable ${name} is not set${place('read in')}: set it under env or in env_file`;
};

/** A dictionary of variables says only which key is missing: that it is the environment shows in the call. */
function lookedUp(
  ...[type, message, lines, frames]: [string | null, string | null, readonly string[], Parameters<Rule>[0]['frames']]
) {
  if (type !== 'KeyError' || message === null) return null;
  const [, name] = /^(?:key not found: )?['":]?([A-Za-z_]\w{0,100})['"]?$/.exec(message) ?? [];
  const isEnvironment =
    lines.some((line) => /os\.environ|environ\[|ENV\.fetch|ENV\[/.test(line)) ||
    frames.some(
      ({ file, function: call }) =>
        call !== null && /(?:^|\/)os\.py$|^<frozen os>$/.test(file ?? '') && call === '__getitem__',
    );
  const isVariable =
    name !== undefined && (isEnvironment || /^[A-Z][A-Z0-9_]+$/.test(name)) && (isEnvironment || frames.some(isFetch));
  return isVariable ? name : null;
}

const isFetch = ({ function: name }: { readonly function: string | null }): boolean => name === 'fetch';

const COMMANDS: readonly RegExp[] = [
  /(?:^|: )([^\s:]{1,200}): (?:command )?not found$/m,
  /command not found: (\S{1,200})/,
  /exec: "([^"]{1,300})": executable file not found in \$PATH/,
  /\bspawn (\S{1,300}) ENOENT/,
  /bad interpreter: |(\S{1,300}): cannot execute: required file not found/,
];

const missingCommand: Rule = ({ text, place }) => {
  const name = firstMatch(text, COMMANDS);
  if (name === null) return null;
  if (name === '') return `the interpreter in the first line of the script is not installed${place('in')}`;
  return `the command '${name}' is not installed, or not in PATH${place('called in')}`;
};

const FILES: readonly RegExp[] = [
  /No such file or directory: '([^'\n]{1,500})'/,
  /ENOENT: no such file or directory, \w+ '([^'\n]{1,500})'/,
  /No such file or directory @ \w+ - ([^\n]{1,500})/,
  /(?:FileNotFoundException|NoSuchFileException): ([^\n(]{1,500}?)(?: \(|$)/m,
  /Could not find (?:file|a part of the path) '([^'\n]{1,500})'/,
  /(?:open|stat|read|chdir|lstat|exec) (\S{1,500}): no such file or directory/,
  /(?:cannot|can't) (?:open|create|cd to) '?([^\s:']{1,500})'?: No such file/i,
  /open(?:\(\))? (?:\w{1,20} ){0,3}["']([^"'\n]{1,500})["'][^\n]{0,20}No such file/,
  /(?:^|: )([^\s:]{1,500}): No such file or directory/m,
  /No such file or directory|ENOENT|kind: NotFound|The system cannot find the file/,
];

const missingFile: Rule = ({ text, place }) => {
  const name = firstMatch(text, FILES);
  if (name === null) return null;
  return name === ''
    ? `a file that it needs is not there${place('needed in')}`
    : `the file ${name} is not there${place('needed in')}`;
};

const missingSetting: Rule = ({ text, place }) => {
  const [, model, name] = /validation errors? for (\w{1,100})\n(\S{1,100})\n\s*Field required/.exec(text) ?? [];
  return name === undefined ? null : `${model} needs ${name}, which is not given${place('read in')}`;
};

export const MISSING: readonly Rule[] = [missingSetting, missingExport, missingModule, missingVariable, missingCommand];
/** Asked late: "no such file" is also how sockets and programs are missed. */
export const MISSING_FILE: readonly Rule[] = [missingFile];
