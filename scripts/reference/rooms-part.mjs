/** The tables of the rooms and who may import whom, for the pages that show them. */

/** Aligned, as the formatter wants pages that people write. */
function table(headings, rows) {
  const widths = headings.map((_, at) => Math.max(...[headings, ...rows].map((row) => row[at].length)));
  const line = (cells, fill = ' ') => `| ${cells.map((cell, at) => cell.padEnd(widths[at], fill)).join(' | ')} |`;
  return [
    line(headings),
    line(
      headings.map(() => ''),
      '-',
    ),
    ...rows.map((row) => line(row)),
  ].join('\n');
}

const list = (names) => names.map((name) => `\`${name}\``).join(', ');

function imports({ imports, shapes = [] }) {
  const only = shapes.length > 0 ? `; only shapes of ${list(shapes)}` : '';
  return imports.length === 0 ? 'nothing' : `${list(imports)}${only}`;
}

export const roomsPart = ({ ROOMS }) =>
  table(
    ['Room', 'What is in it'],
    Object.entries(ROOMS).map(([name, room]) => [`\`src/${name}\``, room.what]),
  );

export const importsPart = ({ ROOMS }) =>
  table(
    ['Room', 'May import from'],
    Object.entries(ROOMS).map(([name, room]) => [`\`${name}\``, imports(room)]),
  );
