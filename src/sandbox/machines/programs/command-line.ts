/** Splits a command line as Windows does: at white space outside quotes. */
export function wordsOf(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (const character of command) {
    if (character === '"') {
      isQuoted = !isQuoted;
      word ??= '';
    } else if (!isQuoted && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${character}`;
  }
  return word === undefined ? words : [...words, word];
}

/** File name of a program in lower case with extension: `kubelet.exe`. */
export function programName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('\\'), path.lastIndexOf('/')) + 1).toLowerCase();
  return name.includes('.') ? name : `${name}.exe`;
}

const logRunner = 'kube-log-runner.exe';

/** The programs of a command line; kube-log-runner comes before the program it runs. */
export function programsOf(command: string): { path: string; words: string[] }[] {
  const [path = '', ...words] = wordsOf(command);
  if (programName(path) !== logRunner) return [{ path, words }];
  const from = words.findIndex(word => !word.startsWith('-'));
  const [inner = '', ...rest] = from === -1 ? [] : words.slice(from);
  return [
    { path, words: from === -1 ? words : words.slice(0, from) },
    { path: inner, words: rest },
  ];
}

/** Value of `--name value` or `--name=value`; '' without one. */
export function flagValue(words: readonly string[], name: string): string {
  const at = words.findIndex(word => word === `--${name}` || word.startsWith(`--${name}=`));
  const word = words[at] ?? '';
  return word.includes('=') ? word.slice(word.indexOf('=') + 1) : (words[at + 1] ?? '');
}
