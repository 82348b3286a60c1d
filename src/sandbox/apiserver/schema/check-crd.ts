import type { StatusCause } from '#kube/api-error.ts';
import { nameProblems } from '../names.ts';
import { listAt, memberAt, recordAt, textAt } from '../object.ts';
import type { SchemaValidator, StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { versionCauses } from './check-crd-version.ts';

/** What is wrong with a CRD. Names that may be left out have been filled in before. */
export function crdCauses(crd: StoredObject, checkSchema: SchemaValidator['checkSchema']): StatusCause[] {
  const [plural, group] = [textAt(crd, 'spec.names.plural'), textAt(crd, 'spec.group')];
  const versions = listAt(crd, 'spec.versions');
  return [
    ...(crd.metadata.name === `${plural}.${group}`
      ? []
      : [cause.invalid('metadata.name', crd.metadata.name, 'must be spec.names.plural+"."+spec.group')]),
    ...approvalCauses(crd, group),
    ...groupCauses(group),
    ...choiceCauses('spec.scope', textAt(crd, 'spec.scope'), ['Cluster', 'Namespaced']),
    ...versions.flatMap((version, index) => versionCauses(version, `spec.versions[${index}]`, checkSchema)),
    ...versionListCauses(versions),
    ...namesCauses(recordAt(crd, 'spec.names')),
    ...conversionCauses(recordAt(crd, 'spec.conversion')),
    ...(memberAt(crd, 'spec.preserveUnknownFields') === true
      ? [cause.invalid('spec.preserveUnknownFields', true, preserved)]
      : []),
    ...(listAt(crd, 'status.storedVersions').length === 0
      ? [cause.invalid('status.storedVersions', [], 'must have at least one stored version')]
      : []),
  ];
}

const preserved = 'cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead';

const approval = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes community need a link to the approval of their API. */
function approvalCauses(crd: StoredObject, group: string): StatusCause[] {
  const isProtected = /(^|\.)(k8s|kubernetes)\.io$/.test(group);
  const given = crd.metadata.annotations?.[approval] ?? '';
  if (!isProtected || /^https?:\/\/|^unapproved/.test(given)) return [];
  const [field, why] = [
    `metadata.annotations[${approval}]`,
    `protected groups must have approval annotation "${approval}"`,
  ];
  return [
    given === '' ? cause.required(field, why) : cause.invalid(field, given, 'must be a URL or start with unapproved'),
  ];
}

function groupCauses(group: string): StatusCause[] {
  if (group === '') return [cause.required('spec.group')];
  const problems = nameProblems('subdomain', group);
  if (problems.length > 0) return [cause.invalid('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [cause.invalid('spec.group', group, 'should be a domain with at least one dot')];
}

function choiceCauses(field: string, value: string, choices: readonly string[]): StatusCause[] {
  if (choices.includes(value)) return [];
  return [value === '' ? cause.required(field) : cause.unsupported(field, value, choices)];
}

function versionListCauses(versions: readonly unknown[]): StatusCause[] {
  const names = versions.map(version => textAt(version, 'name'));
  const storing = versions.filter(version => memberAt(version, 'storage') === true);
  return [
    ...(new Set(names).size < names.length
      ? [cause.invalid('spec.versions', versions, 'must contain unique version names')]
      : []),
    ...(storing.length === 1
      ? []
      : [cause.invalid('spec.versions', versions, 'must have exactly one version marked as storage version')]),
  ];
}

function namesCauses(names: Record<string, unknown>): StatusCause[] {
  const [kind, listKind] = [textAt(names, 'kind'), textAt(names, 'listKind')];
  const missing = ['plural', 'singular', 'kind', 'listKind'].filter(member => textAt(names, member) === '');
  const lists = ['shortNames', 'categories'].flatMap(member =>
    listAt(names, member).flatMap((name, index) => labelCauses(`spec.names.${member}[${index}]`, String(name))),
  );
  return [
    ...missing.map(member => cause.required(`spec.names.${member}`)),
    ...['plural', 'singular'].flatMap(member => labelCauses(`spec.names.${member}`, textAt(names, member))),
    ...kindCauses('spec.names.kind', kind),
    ...kindCauses('spec.names.listKind', listKind),
    ...(kind !== '' && kind === listKind
      ? [cause.invalid('spec.names.listKind', listKind, 'kind and listKind may not be the same')]
      : []),
    ...lists,
  ];
}

function labelCauses(field: string, name: string): StatusCause[] {
  const problems = name === '' ? [] : nameProblems('dns1035', name);
  return problems.length === 0 ? [] : [cause.invalid(field, name, problems.join(','))];
}

function kindCauses(field: string, name: string): StatusCause[] {
  const problems = name === '' ? [] : nameProblems('dns1035', name.toLowerCase());
  if (problems.length === 0) return [];
  return [cause.invalid(field, name, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

/** We convert nothing but the version itself, so a webhook is only looked at for what every server wants of it. */
function conversionCauses(conversion: Record<string, unknown>): StatusCause[] {
  if (Object.keys(conversion).length === 0) return [];
  const [strategy, client] = [textAt(conversion, 'strategy'), memberAt(conversion, 'webhook.clientConfig')];
  const reviewed = listAt(conversion, 'webhook.conversionReviewVersions');
  const isWebhook = strategy === 'Webhook';
  return [
    ...choiceCauses('spec.conversion.strategy', strategy, ['None', 'Webhook']),
    ...(isWebhook && client === undefined
      ? [cause.required('spec.conversion.webhookClientConfig', 'required when strategy is set to Webhook')]
      : []),
    ...(isWebhook && reviewed.length === 0 ? [cause.required('spec.conversion.conversionReviewVersions')] : []),
    ...(!isWebhook && conversion['webhook'] !== undefined
      ? [
          cause.forbidden(
            'spec.conversion.webhookClientConfig',
            'should not be set when strategy is not set to Webhook',
          ),
        ]
      : []),
  ];
}
