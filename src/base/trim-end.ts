/** Removes these characters from the end. A pattern such as `/x+$/` takes quadratic time. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The text with one period at its end; what a host reports may have one. */
export function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
