import type { StatusCause } from '#kube/api-error.ts';
import { type FieldSelector, matchesFields, parseFieldSelector } from './field-selector.ts';
import type { Kind } from './kind.ts';
import { type LabelSelector, matchesLabels, parseLabelSelector } from './label-selector.ts';
import type { StoredObject } from './ports.ts';
import { badRequest, cause, internal, invalidOptions } from './status.ts';

export interface Selection {
  labels: LabelSelector;
  fields: FieldSelector;
}

export interface ListOptions extends Selection {
  limit: number;
  continue: string;
  /** Undefined if not set; 0 means any. */
  resourceVersion: number | undefined;
  match: 'Exact' | 'NotOlderThan' | '';
  watch: boolean;
  timeoutSeconds: number | undefined;
  bookmarks: boolean;
  sendInitialEvents: boolean;
}

const matches = ['Exact', 'NotOlderThan', ''];

export function readListOptions(query: URLSearchParams, kind: Kind): ListOptions {
  const options: ListOptions = {
    labels: parseLabelSelector(query.get('labelSelector') ?? ''),
    fields: parseFieldSelector(query.get('fieldSelector') ?? '', kind),
    limit: Math.max(0, wholeNumber(query, 'limit') ?? 0),
    continue: query.get('continue') ?? '',
    resourceVersion: versionOf(query.get('resourceVersion') ?? ''),
    match: (query.get('resourceVersionMatch') ?? '') as ListOptions['match'],
    watch: isTrue(query.get('watch')),
    timeoutSeconds: wholeNumber(query, 'timeoutSeconds'),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: isTrue(query.get('sendInitialEvents')),
  };
  const causes = [...matchCauses(options), ...initialEventsCauses(options, query.has('sendInitialEvents'))];
  if (causes.length > 0) throw invalidOptions('ListOptions', causes);
  return options;
}

export function isSelected({ labels, fields }: Selection, object: StoredObject, kind: Kind): boolean {
  return matchesLabels(labels, object.metadata.labels) && matchesFields(fields, object, kind);
}

/** Parses a resourceVersion; undefined for an empty one. */
export function versionOf(text: string): number | undefined {
  if (text === '') return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw internal(
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return Number(text);
}

function matchCauses({ match, resourceVersion, watch, sendInitialEvents }: ListOptions): StatusCause[] {
  const field = 'resourceVersionMatch';
  if (match === '') return [];
  if (sendInitialEvents && watch) {
    const why = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    return match === 'NotOlderThan' ? [] : [cause.forbidden(field, why)];
  }
  return [
    ...(watch ? [cause.forbidden(field, 'resourceVersionMatch is forbidden for watch')] : []),
    ...(resourceVersion === undefined
      ? [cause.forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided')]
      : []),
    ...(match === 'Exact' && resourceVersion === 0
      ? [cause.forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')]
      : []),
    ...(matches.includes(match) ? [] : [cause.unsupported(field, match, matches)]),
  ];
}

function initialEventsCauses({ match, watch }: ListOptions, given: boolean): StatusCause[] {
  if (!given) return [];
  if (!watch) return [cause.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')];
  const why = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
  return match === '' ? [cause.forbidden('resourceVersionMatch', why)] : [];
}

function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** A query flag is set by any value but false and 0. */
export function isTrue(text: string | null): boolean {
  return text !== null && !['false', '0'].includes(text.toLowerCase());
}
