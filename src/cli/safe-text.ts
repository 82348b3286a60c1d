import { Document, visit } from 'yaml';
import { printable as printableText, printableJson } from '#base/printable.ts';

declare const brand: unique symbol;

/**
 * Text that may go to a terminal: whatever came from a cluster, a file or a user in it cannot steer the terminal. Only this file
 * and the painter make it, and a terminal takes nothing else.
 */
export type SafeText = string & { readonly [brand]: 'safe' };

/** For text of several lines, which stay; whatever else is not plain to see is written out. */
export function printable(text: string): SafeText {
  return printableText(text) as SafeText;
}

/** For a text that shall not look like more than one line. */
export function oneLine(text: string): SafeText {
  return printable(text.replaceAll(/\s+/g, ' '));
}

/** For a message that may have several lines: they are set in, so that none looks like one of ours. */
export function paragraph(text: string, indent: string): SafeText {
  return text.split('\n').map(oneLine).join(`\n${indent}`) as SafeText;
}

/** A template whose values are safe already. */
export function safe(parts: TemplateStringsArray, ...values: readonly (SafeText | number)[]): SafeText {
  return String.raw({ raw: parts }, ...values) as SafeText;
}

export function joined(texts: readonly SafeText[], between: string): SafeText {
  return texts.join(between) as SafeText;
}

/** Control sequences of our own. */
export function control(sequence: string): SafeText {
  return `\u001b[${sequence}` as SafeText;
}

export function jsonText(data: unknown): SafeText {
  return `${printableJson(JSON.stringify(data, undefined, 2))}\n` as SafeText;
}

export function yamlText(data: unknown): SafeText {
  const document = new Document(data, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, scalar) => {
      // Only texts in double quotes can have escapes.
      if (typeof scalar.value === 'string' && printableText(scalar.value) !== scalar.value)
        scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return printable(document.toString({ lineWidth: 0 }));
}
