/**
 * Characters that affect a terminal: control characters, text direction, zero-width characters, Unicode line ends, lone
 * surrogates.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Escapes such characters, as in `\u001b`; line ends and tabs are kept. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, (character, index: number) => {
    const isKept = character === '\n' || character === '\t' || (character === '\r' && text[index + 1] === '\n');
    return isKept ? character : escape(character);
  });
}

/** One shortened line: for messages that quote foreign text. */
export function shortLine(text: string, maxCharacters = 1024): string {
  const line = printable(text.slice(0, maxCharacters).replaceAll(/[\r\n\t]+/g, ' '));
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 3)}...` : line;
}

/** Equivalent JSON that is safe to print. */
export function printableJson(json: string): string {
  return json.replaceAll(unprintable, character => (character === '\n' ? character : escape(character)));
}

function escape(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16);
    return `\\u${unit.padStart(4, '0')}`;
  }).join('');
}
