import { textFromBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { isRecord, ownMember } from '#base/fields.ts';
import { Secret } from '#base/secret.ts';
import type { KubeObject } from './object.ts';

/** The values of a Secret: decoded `data`, overridden by `stringData`. */
export function secretData(secret: KubeObject): Record<string, Secret> {
  const decoded = texts(secret, 'data').map(([key, value]) => [key, new Secret(decode(secret, key, value))] as const);
  const plain = texts(secret, 'stringData').map(([key, value]) => [key, new Secret(value)] as const);
  return Object.fromEntries([...decoded, ...plain]);
}

/** A required value of a Secret. */
export function secretMember(data: Readonly<Record<string, Secret>>, key: string, label: string): Secret {
  const value = ownMember(data, key);
  if (value !== undefined) return value;
  throw new AppError('SECRET_KEY_MISSING', `${label}: data has no ${key}`, {
    remedy: `Add ${key} to ${label}, or wait until its owner has done so.`,
  });
}

/** Not with Fields, whose messages quote values. */
function texts(secret: KubeObject, member: 'data' | 'stringData'): [string, string][] {
  const map = secret.fields.raw(member) ?? {};
  if (!isRecord(map)) throw invalid(`${secret.label}: ${member} is not a map`, `Write ${member} as a map of strings.`);
  return Object.entries(map).map(([key, value]) => {
    if (typeof value === 'string' || value === null) return [key, value ?? ''];
    throw invalid(`${secret.label}: ${member}[${JSON.stringify(key)}] is not a string`, 'Put the value in quotes.');
  });
}

function decode(secret: KubeObject, key: string, value: string): string {
  const text = textFromBase64(value);
  if (text !== undefined) return text;
  // Does not quote the value: it may be the secret in plain text.
  throw invalid(
    `${secret.label}: data[${JSON.stringify(key)}] is not base64 of UTF-8 text`,
    'Encode the value with base64, or move it to stringData.',
  );
}

function invalid(message: string, remedy: string): AppError {
  return new AppError('FIELD_INVALID', message, { remedy });
}
