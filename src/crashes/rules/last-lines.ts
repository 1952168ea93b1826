/**
 * What may stand after the error that a program died of without telling anything new: the remarks of runtimes and runners, rulers,
 * and the words with which programs end. Each expression is anchored or reads a bounded line once.
 */

/** Runtimes, package managers, build tools and test runners about a command that failed. */
const REMARKS: readonly RegExp[] = [
  /^[\s\-=_*~#.+^|]+$/, // rulers and marks below source
  /^Node\.js v\d|^\(Use `node --trace|^\(node:\d+\) /,
  /^note: |^exit status \d|^signal: |^FAIL\b|^goroutine \d+ \[/,
  /^npm (?:(?:ERR!|error)(?! (?:Missing |Invalid |enoent Could |[Cc]ould not |404 |ERESOLVE ))|notice|warn)|^error Command failed|^info Visit https:\/\/yarnpkg|^\[nodemon\]|ELIFECYCLE/,
  /^make(?:\[\d+\])?: (?:\*\*\* (?:\[|Waiting )|Entering |Leaving |Nothing |.{1,200} is up to date)|^ninja: |^error: (?:process didn't exit|Recipe |script )|^Caused by:$|^\s+process didn't exit/,
  /^(?:\S{1,300}: (?:line )?\d{1,6}: +\d{1,10} )?(?:Aborted|Segmentation fault|Bus error|Illegal instruction|Trace\/breakpoint trap|Floating point exception)\b/,
  /^BUILD FAILED|^FAILURE: |^\* (?:What went wrong|Try|Get more help)|^> (?:Run|Task|Process)\b/,
  /^(?:\S{1,100}: ){0,2}\w{0,40}Warning: |^Did you mean\b|^(?:Possible|Potential|Similar) (?:solutions?|options?|commands?)\b|^\*{3} .{1,300} \*{3}$|^\s*@ +0x[0-9a-f]/,
  /^error: (?:aborting due to|could not compile)|^compilation terminated|^Some errors have detailed|^Found \d+ errors?|^\s*\d{0,6} \|/,
  /^Backtrace omitted|^Run with [A-Z_]{1,40}=|^Location:$/,
  /^Sentry is attempting|^Waiting up to \d|^Press (?:Ctrl|\^)/,
  /^sys:\d+: |^\S{1,300}:\d+: \w+Warning: |^Task was destroyed but it is pending|^Exception ignored in/,
  /^(?:HINT|DETAIL|CONTEXT|STATEMENT|Hint|Detail|NOTE|Note|[Ss]ee|[Ff]or (?:more|details|help))\b:?/,
  /^(?:Usage|USAGE|usage|Flags|Options|Commands|Available Commands|Global Flags|Examples?|Arguments)\b.{0,200}:?$|^(?:\S{1,60}: )?(?:[Tt]ry|Use|Run|Type) .{0,200}(?:help|usage|-h\b)/,
  /^={3,} .{0,200} ={3,}$|^_{3,} .{0,200} _{3,}$|^FAILED |^ERROR {1,3}\S+\.py|^\d+ (?:failed|passed|error)|^Ran \d+ test|^\d{1,6}\.\.\d{1,6}$|^TAP version|^# (?:tests|pass|fail|suites|cancelled|skipped|todo|duration_ms)\b/,
];

/** How programs say that they end. */
const FAREWELL =
  /\b(?:shut(?:ting)?[ -]?down|exit(?:s|ing|ed)?|terminat(?:es?|ing|ed|ion)|stop(?:s|ping|ped)?|clos(?:ing|ed)|goodbye|bye|clean(?:ing|ed)?[ -]?up|cleanup|flush(?:ing|ed)|disconnect(?:ing|ed)|abort(?:ing|ed)?|giving up|gave up|quit(?:ting)?|finali[sz](?:ing|ed)|releas(?:ing|ed)|drain(?:ing|ed)|tear(?:ing)?[ -]?down|atexit|failed to (?:boot|start|run|initiali[sz]e)|start-?up failed|(?:could|can) ?not (?:boot|start|continue|go on|proceed|run)|can't (?:start|continue)|unrecoverable|fatal error, )\b/i;

/** How programs say that they end because something failed. Then the code they end with is one of their own choice. */
const FAILURE =
  /\b(?:failed to (?:boot|start|run|initiali[sz]e|load)|(?:start-?up|boot|initiali[sz]ation) failed|(?:could|can) ?not (?:boot|start|continue|go on|proceed|run)|can't (?:start|continue)|unrecoverable|giving up|gave up)\b/i;

export const isFailure = (line: string): boolean => line.length <= 300 && FAILURE.test(line);
/** A headline over what could be done about it. */
export const isAdvice = (line: string): boolean =>
  /^(?:Action|Actions|Hint|Suggestions?|Solutions?|Potential solutions|Possible (?:solutions|fixes|causes)|Resolution|Remedy|How to fix(?: (?:it|this))?|Next steps|Troubleshooting):$/i.test(
    line.trim(),
  );
/** A sentence that says what to do about the line above. */
export const isRequest = (line: string): boolean =>
  /^(?:Please|(?:Run|Try|Use|Check|Install|Consider|Make sure|Ensure|Perhaps|Maybe|You (?:can|may|should|must|need)) (?!fail|of )[a-z`'"$./-])/.test(
    line,
  );
export const isUsageText = (line: string): boolean => /^usage\b/i.test(line);
export const isRemark = (line: string): boolean => REMARKS.some((expression) => expression.test(line));
export const isFarewell = (line: string): boolean => line.length <= 300 && FAREWELL.test(line);

const STATUS: readonly RegExp[] = [
  /^exit status (\d{1,3})$/, // go run
  /^make(?:\[\d+\])?: \*\*\* .{0,300}\] Error (\d{1,3})/,
  /^npm (?:ERR!|error) (?:code|errno) (\d{1,3})$/,
  /^error Command failed with exit code (\d{1,3})/,
  /ELIFECYCLE.{0,60}(?:exit code|Exit status) (\d{1,3})/,
  /\bexit(?:ed with)? (?:status|code):? (\d{1,3})\b/,
];
const DEATHS: readonly (readonly [RegExp, number])[] = [
  [/^(?:\S{1,300}: (?:line )?\d{1,6}: +\d{1,10} )?Aborted\b|^signal: aborted|\(signal: 6, SIGABRT/, 134],
  [/^(?:\S{1,300}: (?:line )?\d{1,6}: +\d{1,10} )?Segmentation fault\b|^signal: segmentation fault/, 139],
];

/** The exit status that a runner says its command had; a signal as shells count it. Null: this line tells none. */
export function runnerStatus(line: string): number | null {
  const text = line.slice(0, 600);
  for (const expression of STATUS) {
    const [, status] = expression.exec(text) ?? [];
    if (status !== undefined) return Number(status);
  }
  return DEATHS.find(([expression]) => expression.test(text))?.[1] ?? null;
}
