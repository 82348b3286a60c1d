/**
 * What a terminal could take for anything but a sign to show: control characters, what turns the direction of writing or takes no
 * room, ends of lines that are none for us, and halves of characters.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A text in which all of that is written out, such as `\u001b`; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, (character, index: number) => {
    const isKept = character === '\n' || character === '\t' || (character === '\r' && text[index + 1] === '\n');
    return isKept ? character : escaped(character);
  });
}

/** The same on one line, and cut where it is longer: for messages that hold foreign text. */
export function shortLine(text: string, maxCharacters = 1024): string {
  const line = printable(text.slice(0, maxCharacters).replaceAll(/[\r\n\t]+/g, ' '));
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 3)}...` : line;
}

/** JSON that means the same and can be shown as it is: in texts every character may be written as an escape. */
export function printableJson(json: string): string {
  return json.replaceAll(unprintable, character => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16);
    return `\\u${unit.padStart(4, '0')}`;
  }).join('');
}
