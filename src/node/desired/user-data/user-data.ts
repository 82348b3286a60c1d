import { toBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { namespaceName, secretKey, secretName } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import { awsScript, prepareScript } from './script.ts';

/** The Secret with the first script of new Machines. It contains only a public key. */
export interface UserDataSecret {
  apiVersion: 'v1';
  kind: 'Secret';
  metadata: { name: string; namespace: string; resourceVersion?: string };
  data: Record<string, string>;
}

/** The user data with which the operator can log in to a new machine of the platform. */
export function userData(platform: string, authorizedKeyLine: string): string {
  const script = prepareScript(checkedKeyLine(authorizedKeyLine));
  return wrapUserData(platform, platform === 'AWS' ? `${script}${awsScript}` : script);
}

/** GCP runs a plain script. Other platforms need these tags; the second one runs the script at every boot. */
export function wrapUserData(platform: string, script: string): string {
  return platform === 'GCP' ? script : `<powershell>${script}</powershell>\n<persist>true</persist>\n`;
}

export function userDataSecret(platform: string, authorizedKeyLine: string): UserDataSecret {
  return secretIn(namespaceName.machineApi, { [secretKey.userData]: toBase64(userData(platform, authorizedKeyLine)) });
}

export function isUserDataSecret(name: string, namespace: string): boolean {
  return (
    name === secretName.userData && (namespace === namespaceName.machineApi || namespace === namespaceName.clusterApi)
  );
}

export interface SecretWrite {
  secret: UserDataSecret;
  /** False when the object in the cluster is up to date. */
  write: boolean;
}

/** The copy for Machines of the cluster API. An update has the resource version, so that it cannot undo a newer one. */
export function clusterApiCopy(source: UserDataSecret, existing: KubeObject | undefined): SecretWrite {
  const text = source.data[secretKey.userData] ?? '';
  const copy = secretIn(namespaceName.clusterApi, { [secretKey.userData]: text });
  if (existing === undefined) return { secret: copy, write: true };
  const { resourceVersion } = existing.meta;
  if (resourceVersion !== undefined) copy.metadata.resourceVersion = resourceVersion;
  return { secret: copy, write: existing.fields.object('data').raw(secretKey.userData) !== text };
}

function secretIn(namespace: string, data: Record<string, string>): UserDataSecret {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: secretName.userData, namespace }, data };
}

/** Type, base64 and an optional comment on one line; nothing that could end the here-string. */
const keyLine = /^[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}( [A-Za-z0-9 @._+:/=,()-]*)?\n?$/;

function checkedKeyLine(line: string): string {
  if (keyLine.test(line)) return line.endsWith('\n') ? line : `${line}\n`;
  throw new AppError(
    'PUBLIC_KEY_UNREADABLE',
    'user data: the public key is not one plain line of an authorized_keys file',
    {
      remedy:
        'Use a key of the form "ssh-ed25519 AAAA… comment", with no quotes and only ASCII letters in the comment.',
    },
  );
}
