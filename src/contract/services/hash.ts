import { byteOrder } from '#base/compare.ts';
import { sha256 } from '#base/sha256.ts';

/** What the operator has released for one Node: settings of services reach hosts one after the other. */
export interface DesiredServices {
  /** The agent of another version ignores it. */
  version: string;
  /** Of the data of the services ConfigMap. */
  hash: string;
  /** Of files that services read when they start; the agent only returns it. */
  files: string;
}

/** 128 bits are enough to tell contents apart, and keep annotations short. */
const hashLength = 32;

/**
 * Hash of the data of a services ConfigMap: exactly the text that is parsed. More people can read the hash than the ConfigMap: with
 * a salt they cannot check guesses of a password in it.
 */
export function servicesHash(data: Readonly<Record<string, string>>, salt = ''): string {
  const entries = Object.entries(data).toSorted(([one], [other]) => byteOrder(one, other));
  return shortHash(JSON.stringify(salt === '' ? entries : [salt, ...entries]));
}

export function shortHash(text: string): string {
  return sha256(text).slice(0, hashLength);
}

/** Value of the Node annotation `desired-services`. */
export function printDesiredServices({ version, hash, files }: DesiredServices): string {
  return `${version}:${hash}:${files}`;
}

/** Undefined when it is missing or cannot be read. */
export function parseDesiredServices(text: string | undefined): DesiredServices | undefined {
  const [, version = '', hash = '', files = ''] = pattern.exec(text ?? '') ?? [];
  return version === '' ? undefined : { version, hash, files };
}

const pattern = /^([\w.+-]{1,128}):([0-9a-f]{32}):([0-9a-f]{32})$/;
