/** docs/reference/errors.md: every error the product can hand to people or programs. */
import { code, GENERATED, table } from './markdown.mjs';

const INTRODUCTION = `# Errors

Programs match on the code; people read the message and the hint. Words in braces are filled in. The exit code is that of the command
line, the status that of the HTTP API. With \`-o json\` an error is one JSON object on stderr:
\`{ "error": { "code", "message", "hint", "details" } }\`.`;

export function errorsPage({ ERRORS }) {
  const rows = Object.entries(ERRORS)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { message, hint, exitCode, httpStatus }]) => [code(name), message, hint, exitCode, httpStatus]);
  return `${[GENERATED, INTRODUCTION, table(['Code', 'Message', 'What to do', 'Exit code', 'Status'], rows)].join('\n\n')}\n`;
}
