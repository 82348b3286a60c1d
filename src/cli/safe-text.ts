import { Document, visit } from 'yaml';
import { printable as printableText, printableJson } from '#base/printable.ts';

declare const brand: unique symbol;

/**
 * Text without foreign control sequences. A terminal accepts no other type; only this file and `paint.ts` create it.
 */
export type SafeText = string & { readonly [brand]: 'safe' };

/** Keeps line breaks and escapes all other control characters. */
export function printable(text: string): SafeText {
  return printableText(text) as SafeText;
}

/** Also replaces line breaks with blanks. */
export function oneLine(text: string): SafeText {
  return printable(text.replaceAll(/\s+/g, ' '));
}

/** Indents the lines of a foreign message, so that none looks like output of this program. */
export function paragraph(text: string, indent: string): SafeText {
  return text.split('\n').map(oneLine).join(`\n${indent}`) as SafeText;
}

/** A template tag that accepts only safe values. */
export function safe(parts: TemplateStringsArray, ...values: readonly (SafeText | number)[]): SafeText {
  return String.raw({ raw: parts }, ...values) as SafeText;
}

export function joinText(texts: readonly SafeText[], between: string): SafeText {
  return texts.join(between) as SafeText;
}

/** A control sequence that this program needs. */
export function control(sequence: string): SafeText {
  return `\u001b[${sequence}` as SafeText;
}

export function jsonText(data: unknown): SafeText {
  return `${printableJson(JSON.stringify(data, undefined, 2))}\n` as SafeText;
}

/** For streams: one document on one line. */
export function oneLineJson(data: unknown): SafeText {
  return printableJson(JSON.stringify(data)) as SafeText;
}

export function yamlText(data: unknown): SafeText {
  const document = new Document(data, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, scalar) => {
      // Only double-quoted scalars can contain escapes.
      if (typeof scalar.value === 'string' && printableText(scalar.value) !== scalar.value)
        scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return printable(document.toString({ lineWidth: 0 }));
}
