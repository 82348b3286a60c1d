import { textFromBase64, toBase64 } from '#base/bytes.ts';
import { readIssued } from '#base/certificate-read.ts';
import { attempt } from '#base/errors.ts';
import { printPem, scanPem } from '#base/pem.ts';
import { issueServingPair } from '#base/serving-pair.ts';
import { checkValidity, readTlsPair } from '#cluster/tls-pair.ts';
import { exporterService, managedByLabel, secretKey, secretName } from '#contract/names.ts';
import { objectLabel } from '#contract/object.ts';
import type { Permission } from '#kube/permissions.ts';
import type { SecretObject } from '#kube/resources.ts';
import type { PairFacts } from './decide.ts';

/**
 * For clusters without a service CA; in a manifest of its own, because RBAC cannot limit `create` to a name, and a Secret can be a
 * token of any account of the namespace.
 */
export const pairPermissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: ['create'] },
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: ['update', 'delete'], names: [secretName.tls] },
];

const dayMs = 86_400_000;
/** As service CAs issue them. */
const lifetimeMs = 730 * dayMs;
/** Hosts that are not configured again keep the former pair, so its CA stays in `ca.crt`. */
const maxAuthorities = 3;

/** The name by which Prometheus verifies all exporters. */
export function exporterName(namespace: string): string {
  return `${exporterService.name}.${namespace}.svc`;
}

/** The state of the Secret, for `decide`. */
export function pairFacts(secret: SecretObject | undefined, namespace: string, nowMs: number): PairFacts {
  if (secret === undefined) return { state: 'missing' };
  if (secret.metadata.deletionTimestamp !== undefined) return { state: 'deleting' };
  const state = isOwn(secret) ? 'own' : 'other';
  const label = objectLabel('Secret', { namespace, name: secretName.tls });
  const read = attempt(() => {
    const pair = readTlsPair(secret);
    checkValidity(pair, label, nowMs);
    return pair;
  });
  if (!read.ok) return { state, problem: read.error, renewAtMs: nowMs };
  const { notBeforeMs, notAfterMs, isFor } = read.value;
  const isNamed = isFor(exporterName(namespace));
  return { state, problem: undefined, renewAtMs: isNamed ? notAfterMs - (notAfterMs - notBeforeMs) / 3 : nowMs };
}

/** A Secret with a new pair; of a former one its other content and its CAs are kept. */
export function pairSecret(former: SecretObject | undefined, namespace: string, nowMs: number): SecretObject {
  const name = exporterName(namespace);
  const { certificate, key, authority } = issueServingPair({
    commonName: exporterService.name,
    authorityName: `${exporterService.name}-ca@${Math.floor(nowMs / 1000)}`,
    dnsNames: [name, `${name}.cluster.local`],
    nowMs,
    lifetimeMs,
  });
  const texts = {
    [secretKey.tlsCertificate]: certificate,
    [secretKey.tlsKey]: key.reveal(),
    [secretKey.ca]: [authority, ...formerAuthorities(former, nowMs)].slice(0, maxAuthorities).join(''),
  };
  const data = Object.fromEntries(Object.entries(texts).map(([member, text]) => [member, toBase64(text)]));
  const labels = { [managedByLabel.key]: managedByLabel.value };
  return former === undefined
    ? { metadata: { name: secretName.tls, namespace, labels }, type: 'kubernetes.io/tls', data }
    : { ...former, data: { ...former.data, ...data } };
}

/** A Secret of the service CA is owned by its Service. */
function isOwn({ metadata: { labels, ownerReferences = [] } }: SecretObject): boolean {
  return labels?.[managedByLabel.key] === managedByLabel.value && ownerReferences.length === 0;
}

/** Those that have not expired; a malformed bundle has none. */
function formerAuthorities(former: SecretObject | undefined, nowMs: number): string[] {
  const { blocks } = scanPem(textFromBase64(former?.data?.[secretKey.ca] ?? '') ?? '');
  const all = blocks.map(({ der }) => printPem('CERTIFICATE', der));
  return all.filter(pem => (readIssued(pem)?.notAfterMs ?? 0) > nowMs);
}
