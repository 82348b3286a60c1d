import { fromBase64, fromUtf8, toBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import type { KubeObject } from './object.ts';

/** The values of a Secret as texts: `data` decoded, `stringData` (as written by people in files) over it. */
export function secretData(secret: KubeObject): Record<string, Secret> {
  const encoded = secret.fields.stringMap('data');
  const decoded = Object.entries(encoded).map(([key, value]) => [key, new Secret(decode(secret, key, value))] as const);
  const plain = Object.entries(secret.fields.stringMap('stringData'));
  return Object.fromEntries([...decoded, ...plain.map(([key, value]) => [key, new Secret(value)] as const)]);
}

export function encodeSecretData(data: Record<string, Secret>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, toBase64(value.reveal())]));
}

function decode(secret: KubeObject, key: string, value: string): string {
  const bytes = fromBase64(value);
  const text = bytes === undefined ? undefined : fromUtf8(bytes);
  if (text !== undefined) return text;
  // The value itself is not shown: it may be the secret in the clear, put there by mistake.
  throw new AppError('FIELD_INVALID', `${secret.label}: data[${JSON.stringify(key)}] is not base64 of a text`, {
    remedy: `Encode the value with base64, or move it to stringData.`,
  });
}
