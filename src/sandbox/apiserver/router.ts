import { type Body, readJson, readObject } from './body.ts';
import { type Call, type Core, requireObject } from './core.ts';
import { createObject } from './handlers/create.ts';
import { deleteObject } from './handlers/delete.ts';
import { type DeleteOptions, dryRunCauses, readDeleteOptions } from './handlers/delete-options.ts';
import { evictPod } from './handlers/eviction.ts';
import { listObjects } from './handlers/list.ts';
import { accessForbidden } from './auth/forbidden.ts';
import { isApply, patchKindOf, patchObject } from './handlers/patch.ts';
import { patchScale, readScale, replaceScale } from './handlers/scale.ts';
import { issueToken } from './handlers/token.ts';
import { replaceObject } from './handlers/update.ts';
import type { Kind } from './kind.ts';
import { type ListOptions, readListOptions, versionOf } from './list-options.ts';
import type { StoredObject, UserInfo } from './ports.ts';
import { formOf, includedOf, type View, viewOfObject, viewOfPage } from './representation.ts';
import { accessOf, type RequestInfo } from './request-info.ts';
import { cause, invalidOptions, methodNotAllowed, unknownPath, versionTooLarge } from './status.ts';
import type { WatchScope } from './watch.ts';

/** An authorized request to a resource. */
export interface ResourceRequest {
  info: RequestInfo;
  kind: Kind;
  user: UserInfo;
  query: URLSearchParams;
  accept: string;
  userAgent: string;
  body: Body;
}

export type Answer =
  | { is: 'body'; code: number; body: unknown }
  | { is: 'text'; code: number; text: string }
  | { is: 'bytes'; code: number; bytes: Buffer; contentType: string }
  | { is: 'watch'; scope: WatchScope; options: ListOptions; view: View };

interface Routed extends ResourceRequest {
  view: View;
}

/** Handles the request; throws a StatusError to reject it. */
export function routeResource(core: Core, incoming: ResourceRequest): Answer {
  const { info, kind } = incoming;
  if (info.rest.length > 0 || (info.namespace !== '' && !kind.namespaced)) throw unknownPath();
  const request = { ...incoming, view: viewOf(core, incoming) };
  if (info.subresource !== '') return routeSubresource(core, request);
  const anywhere = ['list', 'watch'].includes(info.verb);
  // POST goes to the collection, other writes to the object.
  const misplaced =
    ['create', 'update', 'patch'].includes(info.verb) && (info.verb === 'create') !== (info.name === '');
  if (!kind.verbs.includes(info.verb) || misplaced) throw methodNotAllowed();
  // Without a namespace only list and watch are possible.
  if (kind.namespaced && info.namespace === '' && !anywhere)
    throw info.name === '' ? methodNotAllowed() : unknownPath();
  const handler = handlers[info.verb];
  if (handler === undefined) throw methodNotAllowed();
  return handler(core, request);
}

type Handler = (core: Core, request: Routed) => Answer;

const handlers: Record<string, Handler> = {
  get: getOne,
  list: listMany,
  watch: (_core, request) => ({
    is: 'watch',
    scope: { kind: request.kind, namespace: request.info.namespace },
    options: { ...readListOptions(request.query, request.kind), watch: true },
    view: request.view,
  }),
  create: (core, request) => {
    const call = callOf(request, 'CreateOptions');
    return objectAnswer(request, 201, createObject(core, call, readObject(request.body)));
  },
  update: (core, request) => {
    const { object, created } = replaceObject(core, callOf(request, 'UpdateOptions'), readObject(request.body));
    return objectAnswer(request, created ? 201 : 200, object);
  },
  patch: patchOne,
  delete: (core, request) => {
    const options = deleteOptionsOf(request);
    const call = { ...callOf(request, 'DeleteOptions'), dryRun: options.dryRun === true };
    const { object, gone } = deleteObject(core, call, options);
    if (!gone || call.kind.returnsDeleted) return objectAnswer(request, 200, object);
    return { is: 'body', code: 200, body: deletedStatus(call, object) };
  },
};

function routeSubresource(core: Core, request: Routed): Answer {
  const { info, kind } = request;
  const subresource = kind.subresources.find(({ name }) => name === info.subresource);
  if (subresource === undefined || (kind.namespaced && info.namespace === '')) throw unknownPath();
  if (!subresource.verbs.includes(info.verb)) throw methodNotAllowed();
  if (info.subresource === 'eviction') {
    evictPod(core, callOf(request, 'CreateOptions'), readObject(request.body));
    const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
    return { is: 'body', code: 201, body };
  }
  if (info.subresource === 'token')
    return {
      is: 'body',
      code: 201,
      body: issueToken(core, callOf(request, 'CreateOptions'), readObject(request.body)),
    };
  if (info.subresource === 'scale') return { is: 'body', code: 200, body: routeScale(core, request) };
  const handler = handlers[info.verb];
  if (handler === undefined) throw methodNotAllowed();
  return handler(core, request);
}

function routeScale(core: Core, request: Routed): unknown {
  const { info, body } = request;
  if (info.verb === 'get') return readScale(core, callOf(request, 'GetOptions'));
  if (info.verb === 'update') return replaceScale(core, callOf(request, 'UpdateOptions'), readObject(body));
  const type = patchKindOf(body.contentType, request);
  return patchScale(core, callOf(request, 'PatchOptions'), type, readJson(body.bytes));
}

function getOne(core: Core, request: Routed): Answer {
  const call = callOf(request, 'GetOptions');
  const wanted = versionOf(request.query.get('resourceVersion') ?? '') ?? 0;
  if (wanted > core.store.revision) throw versionTooLarge(wanted, core.store.revision);
  return objectAnswer(request, 200, call.kind.fromStored(requireObject(core, call)));
}

function listMany(core: Core, request: Routed): Answer {
  const { kind, info } = request;
  const page = listObjects(core, { kind, namespace: info.namespace }, readListOptions(request.query, kind));
  return { is: 'body', code: 200, body: viewOfPage(request.view, page) };
}

function patchOne(core: Core, request: Routed): Answer {
  if (isApply(request.body.contentType) && !exists(core, request)) return applyNew(core, request);
  const type = patchKindOf(request.body.contentType, request);
  const force = request.query.has('force') ? request.query.get('force') === 'true' : undefined;
  const call = callOf(request, 'PatchOptions');
  return objectAnswer(request, 200, patchObject(core, call, { type, body: readJson(request.body.bytes), force }));
}

function exists(core: Core, { kind, info: { namespace, name } }: Routed): boolean {
  return core.store.get(kind.storageKey, { namespace, name }) !== undefined;
}

/** The right to create it may be limited to this name. Applying to an object that exists is not supported. */
function applyNew(core: Core, request: Routed): Answer {
  const { info, user, body } = request;
  if ((request.query.get('fieldManager') ?? '') === '')
    throw invalidOptions('PatchOptions', [cause.required('fieldManager', 'is required for apply patch')]);
  const access = { ...accessOf(info, user), verb: 'create' };
  const { allowed, reason } = core.identity.authorizer?.authorize(access) ?? { allowed: true, reason: '' };
  if (!allowed) throw accessForbidden(access, reason);
  return objectAnswer(request, 201, createObject(core, callOf(request, 'PatchOptions'), readJson(body.bytes)));
}

function deleteOptionsOf({ body, query }: ResourceRequest): DeleteOptions {
  if (body.bytes.length > 0) return readDeleteOptions(readObject(body));
  const seconds = query.get('gracePeriodSeconds');
  return readDeleteOptions({
    dryRun: query.getAll('dryRun'),
    ...(seconds !== null && { gracePeriodSeconds: Number(seconds) }),
  });
}

function deletedStatus(call: Call, { metadata }: StoredObject): unknown {
  const { group, plural } = call.kind;
  const details = { name: call.name, ...(group === '' ? {} : { group }), kind: plural, uid: metadata.uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

function objectAnswer({ view }: Routed, code: number, object: StoredObject): Answer {
  return { is: 'body', code, body: viewOfObject(view, object) };
}

function viewOf(core: Core, { kind, accept, query }: ResourceRequest): View {
  const form = formOf(accept);
  return { kind, form, included: form === 'table' ? includedOf(query) : 'None', now: core.clock.now() };
}

function callOf({ info, kind, user, query }: ResourceRequest, optionsKind: string): Call {
  const causes = dryRunCauses(query.getAll('dryRun'));
  if (causes.length > 0) throw invalidOptions(optionsKind, causes);
  return {
    user,
    kind,
    namespace: info.namespace,
    name: info.name,
    subresource: info.subresource,
    dryRun: query.has('dryRun'),
    isStrict: query.get('fieldValidation') === 'Strict',
  };
}
