import { attempt } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { dir } from '#contract/paths.ts';
import type { Files } from './ports.ts';

/** Data of a services ConfigMap that the operator has released for this Node, in full. */
export interface Accepted {
  version: string;
  /** With values of variables, which may hold passwords. */
  data: Record<string, string>;
  /** Of its hash; may be empty. */
  salt: string;
}

export const acceptedFile = `${dir.k}\\wicd-accepted.json`;

/** Undefined when the record is missing or cannot be parsed. */
export async function readAccepted(files: Files): Promise<Accepted | undefined> {
  const text = await files.read(acceptedFile);
  if (text === undefined) return undefined;
  const parsed = attempt(() => {
    const fields = new Fields(jsonIn(text), acceptedFile);
    return {
      version: fields.requiredString('version'),
      data: fields.stringMap('data'),
      salt: fields.string('salt') ?? '',
    };
  });
  return parsed.ok ? parsed.value : undefined;
}

/** Writes only changes, because it runs in every pass. */
export async function saveAccepted({ version, data, salt }: Accepted, files: Files): Promise<void> {
  const text = `${JSON.stringify({ version, data, salt })}\n`;
  if (text !== (await files.read(acceptedFile))) await files.write(acceptedFile, text, 'secret');
}
