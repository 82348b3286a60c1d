import { inspect } from 'node:util';
import { textFromBase64 } from '../../src/base/bytes.ts';
import { attempt } from '../../src/base/errors.ts';
import { scanPem } from '../../src/base/pem.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { parseKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import type { Resource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import * as openshift from '../../src/kube/resources-openshift.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { expectNoSecrets, keySecrets, type PlantedSecret, type Output } from './planted-secrets.ts';
import type { LogLine } from './recorded-log.ts';

/** Fails when a secret of the cluster is in anything the cluster shows to others, or in what is given besides. */
export async function checkCluster(
  client: Client,
  output: readonly Output[],
  planted: readonly PlantedSecret[] = [],
): Promise<void> {
  const [secrets, objects] = [await storedSecrets(client), await shownObjects(client)];
  expectNoSecrets([...planted, ...secrets], [...objects.filter(isForEyes), ...output]);
}

/** The same for a sandbox, with what the programs on its hosts have logged. */
export async function checkSandbox(sandbox: Sandbox, client: Client, output: readonly Output[]): Promise<void> {
  const logs = sandbox.hosts.map(({ spec, logLines }) => ({ where: `log of ${spec.name}`, text: logLines.join('\n') }));
  const planted = [
    ...keySecrets('private key of the operator', sandbox.privateKey.reveal()),
    ...kubeconfigSecrets(sandbox.kubeconfig),
  ];
  await checkCluster(client, [...output, ...logs], planted);
}

/** Log lines with all fields of their errors, which is more than a log prints. */
export function logOutput(where: string, lines: readonly LogLine[]): Output[] {
  return lines.map(({ message, fields }) => ({ where: `${where}: ${message}`, text: inspectedText(fields) }));
}

/** As Node.js prints an uncaught error. */
export function inspectedText(thing: unknown): string {
  return inspect(thing, { depth: 12, showHidden: true, maxStringLength: null, maxArrayLength: null });
}

export function kubeconfigSecrets(text: string): PlantedSecret[] {
  return [...parseKubeconfig(text).users].flatMap(([name, { clientKeyData, token }]) => [
    ...secretOf(`client key of ${name}`, clientKeyData?.reveal() ?? ''),
    ...secretOf(`token of ${name}`, token?.reveal() ?? ''),
  ]);
}

/** The proxy of the cluster goes to the agents by these, login and all: agents of before know no other way. */
function isForEyes({ where }: Output): boolean {
  return !/^ConfigMap \S+\/windows-services-/.test(where);
}

const resources: readonly Resource[] = [...Object.values(kinds), ...Object.values(openshift), windowsInstances].filter(
  (each): each is Resource => typeof each === 'object' && 'plural' in each && each.kind !== kinds.secrets.kind,
);

/** Every object that the server has, but for Secrets. */
async function shownObjects(client: Client): Promise<Output[]> {
  const lists = await Promise.all(resources.map(resource => client.listAll(resource).catch(noneIfUnknown)));
  return lists.flatMap(({ items }, index) =>
    items.map(item => ({
      where: `${resources[index]?.kind} ${item.metadata.namespace ?? ''}/${item.metadata.name}`,
      text: JSON.stringify(item),
    })),
  );
}

/** Objects that contain the name of a host, but for events and requests, which expire, and what the sandbox publishes. */
export async function objectsNaming(client: Client, name: string): Promise<string[]> {
  const naming = new RegExp(`(?<![\\w-])${name}(?![\\w-])`);
  return (await shownObjects(client))
    .filter(
      ({ where, text }) =>
        !/^(Event|CertificateSigningRequest) |\/sandbox-network$/.test(where) && naming.test(`${where} ${text}`),
    )
    .map(({ where }) => where);
}

/** Kinds that a cluster does not have, or that cannot be listed. */
function noneIfUnknown(error: unknown): { items: [] } {
  if (error instanceof ApiError && [404, 405].includes(error.code)) return { items: [] };
  throw error;
}

/** What is no secret although it is in one: certificates, names, and the script by which Machines let the operator in. */
const publicKeys = new Set(['ca.crt', 'service-ca.crt', 'tls.crt', 'namespace', 'userData']);

async function storedSecrets(client: Client): Promise<PlantedSecret[]> {
  const { items } = await client.listAll(kinds.secrets);
  return items.flatMap(({ metadata, data = {} }) =>
    Object.entries(data).flatMap(([key, value]) =>
      publicKeys.has(key)
        ? []
        : secretOf(`Secret ${metadata.namespace}/${metadata.name} ${key}`, textFromBase64(value) ?? ''),
    ),
  );
}

const shortest = 12;

/** The secret parts of keys, each login of a registry, and all other values unchanged. */
function secretOf(what: string, text: string): PlantedSecret[] {
  if (/PRIVATE KEY/.test(text)) {
    const read = attempt(() => scanPem(text).blocks.length > 0);
    if (read.ok && read.value && !text.includes('OPENSSH')) return keySecrets(what, text);
    // Without its frame, of which every certificate has a part.
    const lines = text.split(/\r?\n/).filter(line => line.length >= shortest && !line.startsWith('-----'));
    return lines.map(content => ({ what, content }));
  }
  if (text.startsWith('{')) return loginsIn(text).map(content => ({ what, content }));
  // Of a token only the signature: the rest is words that certificates have as well, and is found by its looks.
  const [, signature] = /^eyJ[\w-]+\.eyJ[\w-]+\.([\w-]+)$/.exec(text.trim()) ?? [];
  const content = signature ?? text;
  return content.length < shortest ? [] : [{ what, content }];
}

function loginsIn(text: string): string[] {
  const { auths = {} } = JSON.parse(text) as { auths?: Record<string, { auth?: string; password?: string }> };
  const logins = Object.values(auths).flatMap(({ auth = '', password = '' }) => [
    auth,
    password,
    textFromBase64(auth)?.split(':')[1] ?? '',
  ]);
  return logins.filter(login => login.length >= shortest);
}
