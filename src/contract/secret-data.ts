import { textFromBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { isRecord, ownMember } from '#base/fields.ts';
import { Secret } from '#base/secret.ts';
import type { KubeObject } from './object.ts';

/** The values of a Secret as texts: `data` decoded, `stringData` (as written by people in files) over it. */
export function secretData(secret: KubeObject): Record<string, Secret> {
  const decoded = texts(secret, 'data').map(([key, value]) => [key, new Secret(decode(secret, key, value))] as const);
  const plain = texts(secret, 'stringData').map(([key, value]) => [key, new Secret(value)] as const);
  return Object.fromEntries([...decoded, ...plain]);
}

/** One value of a Secret that must be there. */
export function secretMember(data: Readonly<Record<string, Secret>>, key: string, label: string): Secret {
  const value = ownMember(data, key);
  if (value !== undefined) return value;
  throw new AppError('SECRET_KEY_MISSING', `${label}: data has no ${key}`, {
    remedy: `Wait until whoever owns ${label} has filled it in, or recreate it.`,
  });
}

/** Read by hand, because the messages of Fields quote what they find. */
function texts(secret: KubeObject, member: 'data' | 'stringData'): [string, string][] {
  const map = secret.fields.raw(member) ?? {};
  if (!isRecord(map)) throw invalid(`${secret.label}: ${member} is not a map`, `Write ${member} as a map of texts.`);
  return Object.entries(map).map(([key, value]) => {
    if (typeof value === 'string' || value === null) return [key, value ?? ''];
    throw invalid(`${secret.label}: ${member}[${JSON.stringify(key)}] is not a text`, 'Put the value into quotes.');
  });
}

function decode(secret: KubeObject, key: string, value: string): string {
  const text = textFromBase64(value);
  if (text !== undefined) return text;
  // The value itself is not shown: it may be the secret in the clear, put there by mistake.
  throw invalid(
    `${secret.label}: data[${JSON.stringify(key)}] is not base64 of a text`,
    'Encode the value with base64, or move it to stringData.',
  );
}

function invalid(message: string, remedy: string): AppError {
  return new AppError('FIELD_INVALID', message, { remedy });
}
