// A shell script read for the commands that it would run: words, quotes, continued lines, here-documents, and variables that it
// sets itself. Nothing is run. What only a shell knows (`$(...)`, `$1`, a variable of the environment) stays as it is written.

export interface Words {
  readonly words: readonly string[];
}

/** The commands of a script, in order, each as its words. */
export function commandsIn(script: string): readonly Words[] {
  const variables = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  const commands: Words[] = [];
  for (const statement of statementsOf(script)) {
    const words: string[] = [];
    let at = 0;
    for (const word of statement.words) {
      const assigned = words.length === 0 ? /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word.source) : null;
      if (assigned !== null && assigned[1] !== undefined) {
        const value = assigned[2] ?? '';
        if (value.startsWith('('))
          lists.set(
            assigned[1],
            wordsOf(value.slice(1, -1)).flatMap((each) => expanded(each.source, variables, lists)),
          );
        else variables.set(assigned[1], expanded(value, variables, lists).join(' '));
      } else if (!(words.length === 0 && SILENT.has(word.source))) {
        words.push(...expanded(word.source, variables, lists));
      }
      at++;
      if (at > MOST_WORDS) return commands;
    }
    if (statement.document !== undefined) {
      // read -r -d '' NAME <<EOF
      const name = words.at(-1);
      if (words[0] === 'read' && name !== undefined)
        variables.set(
          name,
          expanded(`"${statement.document.replaceAll('"', '\\"')}"`, variables, lists).join(' '),
        );
    }
    if (words.length > 0) commands.push({ words });
  }
  return commands;
}

/** Whether a text has something in it that only a shell, or the program that reads it, knows. */
export const isComputed = (text: string): boolean => /\$[\w{(@*]|`/.test(text);

// --- helpers ---

/** A launch script has hundreds. */
const MOST_WORDS = 2 ** 14;
/** Words in front of an assignment or a command that say nothing about it. */
const SILENT = new Set(['export', 'local', 'exec', 'nohup', 'time', 'then', 'do', 'else', '{']);

interface Word {
  /** As it is written, quotes and all. */
  readonly source: string;
}

interface Statement {
  readonly words: readonly Word[];
  readonly document?: string;
}

function statementsOf(script: string): Statement[] {
  const statements: Statement[] = [];
  const lines = script.replaceAll('\r\n', '\n').split('\n');
  let open = '';
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (open === '' && /^\s*(?:#|$)/.test(line)) continue;
    const whole = `${open}${line}`;
    if (/(?:^|[^\\])(?:\\\\)*\\\s*$/.test(whole) && at + 1 < lines.length) {
      open = `${whole.replace(/\\\s*$/, '')} `;
      continue;
    }
    if (unclosed(whole) && at + 1 < lines.length) {
      open = `${whole}\n`;
      continue;
    }
    open = '';
    const here = /<<-?\s*(['"]?)(\w+)\1/.exec(whole);
    let document: string | undefined;
    if (here !== null) {
      const body: string[] = [];
      for (at++; at < lines.length && (lines[at] ?? '').trim() !== here[2]; at++) body.push(lines[at] ?? '');
      document = body.join('\n').replaceAll(/\\\s*\n/g, ' ');
    }
    const text = here === null ? whole : whole.slice(0, here.index);
    const parts = split(text);
    for (const [index, words] of parts.entries())
      statements.push({
        words,
        ...(document !== undefined && index === parts.length - 1 ? { document } : {}),
      });
  }
  return statements;
}

/** A quote or a bracket of a list that is still open at the end. */
function unclosed(text: string): boolean {
  let quote = '';
  let list = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? '';
    if (letter === '\\' && quote !== "'") at++;
    else if (quote !== '') quote = letter === quote ? '' : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === '(' && (list > 0 || text[at - 1] === '=')) list++;
    else if (letter === ')' && list > 0) list--;
    else if (letter === '#' && list === 0 && /\s/.test(text[at - 1] ?? ' ')) return false;
  }
  return quote !== '' || list > 0;
}

/** Statements of one line: `;`, `&&`, `||`, `|` and `&` part them; a redirection is no word. */
function split(text: string): Word[][] {
  const statements: Word[][] = [[]];
  for (const { source } of wordsOf(text)) {
    if (/^(?:;|&&|\|\|?|&)$/.test(source)) statements.push([]);
    else statements.at(-1)?.push({ source });
  }
  return statements.map((words) =>
    words.filter(
      ({ source }, at) => !REDIRECTION.test(source) && !/^(?:\d?>>?|<)$/.test(words[at - 1]?.source ?? ''),
    ),
  );
}

const REDIRECTION = /^(?:\d?>>?|<|\d?>&\d|&>>?)/;

function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let word = '';
  let quote = '';
  let depth = 0;
  const end = (): void => {
    if (word !== '') words.push({ source: word });
    word = '';
  };
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? '';
    if (letter === '\\' && quote !== "'") {
      word += letter + (text[at + 1] ?? '');
      at++;
    } else if (quote !== '') {
      word += letter;
      if (letter === quote) quote = '';
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word += letter;
    } else if (depth > 0 || ((letter === '(' || letter === '{') && /[$=]$/.test(word))) {
      if (letter === '(' || letter === '{') depth++;
      if (letter === ')' || letter === '}') depth--;
      word += letter;
    } else if (/\s/.test(letter)) end();
    else if (letter === '#' && word === '') {
      // To the end of its line: a list goes on in the next.
      const next = text.indexOf('\n', at);
      at = next < 0 ? text.length : next;
    } else if (/[;|&]/.test(letter) && !/[><]$/.test(word)) {
      const two = text.slice(at, at + 2);
      end();
      const double = two === '&&' || two === '||';
      if (two === '&>') {
        word = two;
        at++;
      } else {
        words.push({ source: double ? two : letter });
        if (double) at++;
      }
    } else word += letter;
  }
  end();
  return words;
}

/** The words that one becomes: a variable outside quotes may be several. */
function expanded(
  source: string,
  variables: ReadonlyMap<string, string>,
  lists: ReadonlyMap<string, readonly string[]>,
): string[] {
  const list = /^"?\$\{(\w+)\[@\]\}"?$/.exec(source);
  if (list?.[1] !== undefined) return [...(lists.get(list[1]) ?? [source])];
  const words: string[] = [];
  let word: string | undefined;
  const put = (text: string): void => {
    word = (word ?? '') + text;
  };
  for (const [piece] of source.matchAll(PIECE)) {
    if (piece.startsWith("'")) put(piece.slice(1, -1));
    else if (piece.startsWith('"'))
      put(valued(piece.slice(1, -1), variables).replaceAll(/\\(["\\$`])/g, '$1'));
    else if (piece.startsWith('\\')) put(piece.slice(1));
    else {
      const text = valued(piece, variables);
      const [first = '', ...more] = piece.startsWith('$') && !isComputed(text) ? text.split(/\s+/) : [text];
      put(first);
      for (const each of more) {
        if (word !== undefined && word !== '') words.push(word);
        word = each;
      }
    }
  }
  if (word !== undefined && (word !== '' || /["']/.test(source))) words.push(word);
  return words;
}

const PIECE = /'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|\$\{[^}]*\}|\$\w+|\$\([\s\S]*\)|[^'"\\$]+|[\s\S]/g;

/** `$NAME`, `${NAME}`, `${NAME:-text}`; one that the script does not set stays as it is written. */
function valued(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})/g,
    (whole: string, plain?: string, braced?: string, otherwise?: string) =>
      variables.get(plain ?? braced ?? '') ?? otherwise?.replaceAll(/^["']|["']$/g, '') ?? whole,
  );
}
