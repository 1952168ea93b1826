/**
 * The public surface of the library, as the compiler sees it. It is checked in, so that every change of it is seen in review.
 */
import { join, resolve } from 'node:path';
import { libraryProgram, ts } from './program.mjs';

export function libraryPage(root) {
  const program = libraryProgram(root);
  const declarations = emitted(program);
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(join(root, 'src/index.ts')));
  const entries = checker
    .getExportsOfModule(module)
    .map((symbol) => describe(symbol, checker, declarations))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const text = entries.map(({ name, code }) => `## ${name}\n\n\`\`\`ts\n${code}\n\`\`\``).join('\n\n');
  return `# The library\n\nEverything that \`import { … } from 'keepwell'\` offers, generated from the source by \`npm run reference\`. The\n[guide](../guide/library.md) shows how it is used.\n\n${text}\n`;
}

/** Every declaration file the compiler would write, parsed, by the path of its source. */
function emitted(program) {
  const files = new Map();
  program.emit(undefined, (path, text) => {
    const source = resolve(path)
      .replace(/\.d\.ts$/, '.ts')
      .replace('/dist/lib/', '/src/');
    if (path.endsWith('.d.ts')) files.set(source, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  });
  return files;
}

function describe(symbol, checker, declarations) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const [declaration] = target.declarations;
  const file = declarations.get(declaration.getSourceFile().fileName);
  const statement = file.statements.find((each) => namesOf(each).includes(target.name));
  const renamed = target.name === symbol.name ? '' : `// exported as ${symbol.name}\n`;
  return { name: symbol.name, code: renamed + statement.getFullText().trim() };
}

const namesOf = (statement) =>
  statement.declarationList?.declarations.map(({ name }) => name.text) ?? [statement.name?.text];
