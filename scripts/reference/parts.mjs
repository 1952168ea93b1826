/** Tables inside pages that people write: the rooms, who may import whom, the routes of the API. */

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

function imports({ imports, kinds = [], shapes = [] }) {
  const registries = kinds.length > 0 ? `; only the kinds of ${list(kinds)}` : '';
  const only = shapes.length > 0 ? `; only shapes of ${list(shapes)}` : '';
  return imports.length === 0 ? 'nothing' : `${list(imports)}${registries}${only}`;
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

/** `?component=&limit=` */
const query = (keys) => (keys.length === 0 ? '' : `?${keys.map((key) => `${key}=`).join('&')}`);

/** The keys of a body, those that may be left out with a question mark. */
function body({ method, body: { shape } }) {
  if (method === 'GET') return '';
  const keys = Object.entries(shape).map(
    ([key, value]) => `\`${key}${value.safeParse(undefined).success ? '?' : ''}\``,
  );
  return keys.length === 0 ? '`{}`' : keys.join(', ');
}

/** Answers that are no shapes of the OpenAPI document. */
const UNNAMED = { Metrics: 'text', Document: 'OpenAPI' };

export const routesPart = ({ ROUTES }) =>
  table(
    ['Method', 'Path', 'Body', 'What it does', 'Answer'],
    ROUTES.map((route) => [
      route.method,
      `\`${route.path}${query(Object.keys(route.query.shape))}\``,
      body(route),
      route.summary,
      `${route.success}, ${UNNAMED[route.answer] ?? `\`${route.answer}\``}`,
    ]),
  );
