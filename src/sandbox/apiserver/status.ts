import type { Status, StatusCause } from '#kube/api-error.ts';

export interface ErrorStatus extends Pick<Status, 'reason' | 'details'> {
  code: number;
  message: string;
}

/** An error response. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: ErrorStatus;

  constructor(status: ErrorStatus) {
    super(status.message);
    this.status = status;
  }
}

/** The object of an error; messages use the plural or the kind. */
export interface Subject {
  group: string;
  plural: string;
  kind: string;
}

export function statusBody(status: ErrorStatus): Record<string, unknown> {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: status.message,
    ...(status.reason === undefined ? {} : { reason: status.reason }),
    ...(status.details === undefined ? {} : { details: status.details }),
    code: status.code,
  };
}

export function notFound(subject: Pick<Subject, 'group' | 'plural'>, name: string): StatusError {
  return objectError(404, 'NotFound', subject, { name, problem: 'not found' });
}

/** For an unknown path. */
export function unknownPath(): StatusError {
  const message = 'the server could not find the requested resource';
  return new StatusError({ code: 404, reason: 'NotFound', message, details: {} });
}

export function alreadyExists(subject: Subject, name: string): StatusError {
  return objectError(409, 'AlreadyExists', subject, { name, problem: 'already exists' });
}

export function conflict(subject: Pick<Subject, 'group' | 'plural'>, name: string, why = modified): StatusError {
  return new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualifiedName(subject.plural, subject.group)} "${name}": ${why}`,
    details: detailsOf(subject.plural, subject.group, name),
  });
}

const modified = 'the object has been modified; please apply your changes to the latest version and try again';

/** The message lists the causes as the API server does. */
export function invalid(subject: Pick<Subject, 'group' | 'kind'>, name: string, causes: StatusCause[]): StatusError {
  const texts = [...new Set(causes.map(cause => `${cause.field ?? ''}: ${cause.message ?? ''}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: `${qualifiedName(subject.kind, subject.group)} "${name}" is invalid: ${list}`,
    details: { ...detailsOf(subject.kind, subject.group, name), causes },
  });
}

/** For options of a request, which have their own kind. */
export function invalidOptions(kind: string, causes: StatusCause[]): StatusError {
  return invalid({ group: 'meta.k8s.io', kind }, '', causes);
}

export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: 'BadRequest', message });
}

export function forbidden(subject: Pick<Subject, 'group' | 'plural'>, name: string, why: string): StatusError {
  const what = qualifiedName(subject.plural, subject.group);
  return new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: name === '' ? `${what} is forbidden: ${why}` : `${what} "${name}" is forbidden: ${why}`,
    details: detailsOf(subject.plural, subject.group, name),
  });
}

export function unauthorized(): StatusError {
  return new StatusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError({ code: 405, reason: 'MethodNotAllowed', message, details: {} });
}

export function notAcceptable(types: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${types.join(', ')}`;
  return new StatusError({ code: 406, reason: 'NotAcceptable', message });
}

export function unsupportedMediaType(types: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`;
  return new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });
}

export function expired(message: string): StatusError {
  return new StatusError({ code: 410, reason: 'Expired', message });
}

/** The client asks for a revision that this server has not reached. */
export function versionTooLarge(asked: number, current: number): StatusError {
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

export function tooManyRequests(message: string, details: NonNullable<Status['details']>): StatusError {
  return new StatusError({ code: 429, reason: 'TooManyRequests', message, details });
}

/** The API server answers some invalid requests with 500, too. */
export function internal(message: string): StatusError {
  return new StatusError({ code: 500, message });
}

/** Causes of validation errors. */
export const cause = {
  required: (field: string, why = ''): StatusCause => problem('Required', field, `Required value${why && `: ${why}`}`),
  invalid: (field: string, value: unknown, why: string): StatusCause =>
    problem('Invalid', field, `Invalid value: ${shownValue(value)}: ${why}`),
  forbidden: (field: string, why: string): StatusCause => problem('Forbidden', field, `Forbidden: ${why}`),
  duplicate: (field: string, value: unknown, why = ''): StatusCause =>
    problem('Duplicate', field, `Duplicate value: ${shownValue(value)}${why && `: ${why}`}`),
  unsupported: (field: string, value: unknown, known: readonly string[]): StatusCause =>
    problem(
      'NotSupported',
      field,
      `Unsupported value: ${shownValue(value)}: supported values: ${known.map(item => `"${item}"`).join(', ')}`,
    ),
  tooLong: (field: string, why: string): StatusCause => problem('TooLong', field, `Too long: ${why}`),
};

function problem(reason: string, field: string, message: string): StatusCause {
  return { reason: `FieldValue${reason}`, message, field };
}

function shownValue(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}

function objectError(
  code: number,
  reason: string,
  { plural, group }: Pick<Subject, 'group' | 'plural'>,
  { name, problem }: { name: string; problem: string },
): StatusError {
  const details = detailsOf(plural, group, name);
  return new StatusError({ code, reason, message: `${qualifiedName(plural, group)} "${name}" ${problem}`, details });
}

function qualifiedName(name: string, group: string): string {
  return group === '' ? name : `${name}.${group}`;
}

function detailsOf(kind: string, group: string, name: string): NonNullable<Status['details']> {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind };
}
