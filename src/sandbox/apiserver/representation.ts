import { apiVersionOf } from '#kube/resource.ts';
import { mediaTypes } from './body.ts';
import type { Page } from './handlers/list.ts';
import type { Kind } from './kind.ts';
import type { StoredObject } from './ports.ts';
import { badRequest, notAcceptable, StatusError } from './status.ts';
import type { WatchMessage } from './watch.ts';

/** Representation of objects. */
export type Form = 'object' | 'table' | 'metadata' | 'metadata-list';

const formByKind: Readonly<Record<string, Form>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata-list',
};

/** The first supported form in an Accept header. */
export function formOf(accept: string): Form {
  const wanted = accept === '' ? ['*/*'] : accept.split(',').map(part => part.trim());
  let knownType = false;
  for (const part of wanted) {
    const [type = '', ...parameters] = part.split(';').map(text => text.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type.toLowerCase())) continue;
    knownType = true;
    const form = formByParameters(new Map(parameters.map(text => splitOnce(text))));
    if (form !== undefined) return form;
  }
  if (knownType) throw notAcceptable(mediaTypes);
  throw new StatusError({ code: 406, reason: 'NotAcceptable', message: '406: Not Acceptable', details: {} });
}

function formByParameters(parameters: ReadonlyMap<string, string>): Form | undefined {
  const as = parameters.get('as');
  if (as === undefined) return 'object';
  if (parameters.get('g') !== 'meta.k8s.io' || !['v1', 'v1beta1'].includes(parameters.get('v') ?? '')) return undefined;
  return Object.hasOwn(formByKind, as) ? formByKind[as] : undefined;
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf('=');
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Part of the object in a table row. */
export type Included = 'Metadata' | 'Object' | 'None';

export function includedOf(query: URLSearchParams): Included {
  const value = query.get('includeObject') || 'Metadata';
  if (value === 'Metadata' || value === 'Object' || value === 'None') return value;
  const why = `includeObject: Invalid value: "${value}": must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${why}`);
}

export interface View {
  kind: Kind;
  form: Form;
  included: Included;
  /** Milliseconds since 1970, for ages. */
  now: number;
}

export function viewOfObject(view: View, object: StoredObject): unknown {
  if (view.form === 'object') return object;
  if (view.form === 'metadata') return metadataOnly(object);
  if (view.form === 'metadata-list') throw wrongForm('PartialObjectMetadataList', 'is not a list');
  return { ...table(view, { resourceVersion: object.metadata.resourceVersion }), rows: [row(view, object)] };
}

export function viewOfPage(view: View, page: Page): unknown {
  const metadata = {
    resourceVersion: page.resourceVersion,
    ...(page.continue === '' ? {} : { continue: page.continue }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
  const { kind } = view;
  if (view.form === 'metadata') throw wrongForm('PartialObjectMetadata', 'is a list');
  if (view.form === 'metadata-list') return metadataList(metadata, page.items);
  if (view.form === 'table') return { ...table(view, metadata), rows: page.items.map(item => row(view, item)) };
  const items = kind.custom ? page.items : page.items.map(withoutHead);
  return { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind), metadata, items };
}

/** Only the first message of a table stream has column definitions. */
export function viewOfMessage(view: View, message: WatchMessage, first: boolean): unknown {
  // The real server sends whole objects where it cannot convert them.
  if (message.type === 'ERROR' || view.form === 'object' || view.form === 'metadata-list') return message;
  const object = message.object as StoredObject;
  if (view.form === 'metadata') return { type: message.type, object: metadataOnly(object) };
  const whole = viewOfObject(view, object) as Record<string, unknown>;
  const rows = message.type === 'BOOKMARK' ? [{ cells: [], object: rowObject(view, object) }] : whole['rows'];
  return { type: message.type, object: { ...whole, rows, ...(first ? {} : { columnDefinitions: null }) } };
}

const metaVersion = 'meta.k8s.io/v1';

function metadataOnly(object: StoredObject): unknown {
  return { kind: 'PartialObjectMetadata', apiVersion: metaVersion, metadata: object.metadata };
}

/** Without items the real server writes null. */
function metadataList(metadata: Record<string, unknown>, items: readonly StoredObject[]): unknown {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: metaVersion,
    metadata,
    items: items.length === 0 ? null : items.map(metadataOnly),
  };
}

function wrongForm(requested: string, problem: string): StatusError {
  const message = `you requested ${requested}, but the requested object ${problem}`;
  return new StatusError({ code: 406, reason: 'NotAcceptable', message });
}

function withoutHead(object: StoredObject): unknown {
  const rest: Partial<StoredObject> = { ...object };
  delete rest.apiVersion;
  delete rest.kind;
  return rest;
}

function table({ kind }: View, metadata: Record<string, unknown>): Record<string, unknown> {
  return {
    kind: 'Table',
    apiVersion: metaVersion,
    metadata,
    columnDefinitions: kind.columns.map(({ name, type, format = '', priority = 0, description = '' }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  };
}

function row(view: View, object: StoredObject): unknown {
  return {
    cells: view.kind.columns.map(column => column.cell(object, view.now)),
    object: rowObject(view, object),
  };
}

function rowObject({ included }: View, object: StoredObject): unknown {
  if (included === 'None') return null;
  return included === 'Object' ? object : metadataOnly(object);
}
