import { expect, test } from 'vitest';
import * as status from './status.ts';

const subject = { group: '', plural: 'pods', kind: 'Pod' };
const grouped = { group: 'apps', plural: 'daemonsets', kind: 'DaemonSet' };

const refusals: [string, status.StatusError, Record<string, unknown>][] = [
  [
    'not found',
    status.notFound(subject, 'a'),
    { code: 404, reason: 'NotFound', message: 'pods "a" not found', details: { name: 'a', kind: 'pods' } },
  ],
  [
    'not found in a group',
    status.notFound(grouped, 'a'),
    {
      code: 404,
      reason: 'NotFound',
      message: 'daemonsets.apps "a" not found',
      details: { name: 'a', group: 'apps', kind: 'daemonsets' },
    },
  ],
  [
    'an unknown path',
    status.unknownPath(),
    { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource', details: {} },
  ],
  [
    'taken',
    status.alreadyExists(subject, 'a'),
    { code: 409, reason: 'AlreadyExists', message: 'pods "a" already exists', details: { name: 'a', kind: 'pods' } },
  ],
  [
    'a conflict',
    status.conflict(subject, 'a'),
    {
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'a', kind: 'pods' },
    },
  ],
  [
    'a conflict of another kind',
    status.conflict(grouped, 'a', 'because'),
    {
      code: 409,
      reason: 'Conflict',
      message: 'Operation cannot be fulfilled on daemonsets.apps "a": because',
      details: { name: 'a', group: 'apps', kind: 'daemonsets' },
    },
  ],
  [
    'one thing wrong',
    status.invalid(subject, 'a', [status.cause.required('spec.x')]),
    {
      code: 422,
      reason: 'Invalid',
      message: 'Pod "a" is invalid: spec.x: Required value',
      details: {
        name: 'a',
        kind: 'Pod',
        causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.x' }],
      },
    },
  ],
  [
    'many things wrong, each said once',
    status.invalid(grouped, '', [
      status.cause.required('x', 'say it'),
      status.cause.required('x', 'say it'),
      status.cause.forbidden('y', 'never'),
    ]),
    {
      code: 422,
      reason: 'Invalid',
      message: 'DaemonSet.apps "" is invalid: [x: Required value: say it, y: Forbidden: never]',
      details: {
        group: 'apps',
        kind: 'DaemonSet',
        causes: [
          { reason: 'FieldValueRequired', message: 'Required value: say it', field: 'x' },
          { reason: 'FieldValueRequired', message: 'Required value: say it', field: 'x' },
          { reason: 'FieldValueForbidden', message: 'Forbidden: never', field: 'y' },
        ],
      },
    },
  ],
  [
    'wrong options',
    status.invalidOptions('ListOptions', [status.cause.forbidden('x', 'no')]),
    {
      code: 422,
      reason: 'Invalid',
      message: 'ListOptions.meta.k8s.io "" is invalid: x: Forbidden: no',
      details: {
        group: 'meta.k8s.io',
        kind: 'ListOptions',
        causes: [{ reason: 'FieldValueForbidden', message: 'Forbidden: no', field: 'x' }],
      },
    },
  ],
  ['a bad request', status.badRequest('bad'), { code: 400, reason: 'BadRequest', message: 'bad' }],
  [
    'forbidden by name',
    status.forbidden(grouped, 'a', 'no'),
    {
      code: 403,
      reason: 'Forbidden',
      message: 'daemonsets.apps "a" is forbidden: no',
      details: { name: 'a', group: 'apps', kind: 'daemonsets' },
    },
  ],
  [
    'forbidden at all',
    status.forbidden(subject, '', 'no'),
    { code: 403, reason: 'Forbidden', message: 'pods is forbidden: no', details: { kind: 'pods' } },
  ],
  ['nobody', status.unauthorized(), { code: 401, reason: 'Unauthorized', message: 'Unauthorized' }],
  [
    'a wrong method',
    status.methodNotAllowed(),
    {
      code: 405,
      reason: 'MethodNotAllowed',
      message: 'the server does not allow this method on the requested resource',
      details: {},
    },
  ],
  [
    'a form nobody can write',
    status.notAcceptable(['a', 'b']),
    { code: 406, reason: 'NotAcceptable', message: 'only the following media types are accepted: a, b' },
  ],
  [
    'a form nobody can read',
    status.unsupportedMediaType(['a', 'b']),
    {
      code: 415,
      reason: 'UnsupportedMediaType',
      message: 'the body of the request was in an unknown format - accepted media types include: a, b',
    },
  ],
  ['too old', status.expired('old'), { code: 410, reason: 'Expired', message: 'old' }],
  [
    'too new',
    status.versionTooLarge(9, 5),
    {
      code: 504,
      reason: 'Timeout',
      message: 'Timeout: Too large resource version: 9, current: 5',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    },
  ],
  [
    'too many requests',
    status.tooManyRequests('slow', { retryAfterSeconds: 3 }),
    { code: 429, reason: 'TooManyRequests', message: 'slow', details: { retryAfterSeconds: 3 } },
  ],
  ['a failure', status.internal('oh'), { code: 500, message: 'oh' }],
];
test.each(refusals)('says %s', (_, error, wanted) => {
  expect(error.status).toEqual(wanted);
  expect(error.message).toBe(wanted['message']);
  expect(error).toBeInstanceOf(Error);
});

test('writes a status as the API server does', () => {
  expect(status.statusBody(status.notFound(subject, 'a').status)).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'pods "a" not found',
    reason: 'NotFound',
    details: { name: 'a', kind: 'pods' },
    code: 404,
  });
  expect(status.statusBody(status.internal('oh').status)).not.toHaveProperty('reason');
});

const causes: [unknown, string, string][] = [
  [status.cause.required('f'), 'FieldValueRequired', 'Required value'],
  [status.cause.required('f', 'why'), 'FieldValueRequired', 'Required value: why'],
  [status.cause.invalid('f', 'v', 'why'), 'FieldValueInvalid', 'Invalid value: "v": why'],
  [status.cause.invalid('f', 5, 'why'), 'FieldValueInvalid', 'Invalid value: 5: why'],
  [status.cause.invalid('f', undefined, 'why'), 'FieldValueInvalid', 'Invalid value: null: why'],
  [status.cause.forbidden('f', 'why'), 'FieldValueForbidden', 'Forbidden: why'],
  [status.cause.duplicate('f', 'v'), 'FieldValueDuplicate', 'Duplicate value: "v"'],
  [status.cause.duplicate('f', 'v', 'why'), 'FieldValueDuplicate', 'Duplicate value: "v": why'],
  [
    status.cause.unsupported('f', 'v', ['a', 'b']),
    'FieldValueNotSupported',
    'Unsupported value: "v": supported values: "a", "b"',
  ],
  [status.cause.tooLong('f', 'why'), 'FieldValueTooLong', 'Too long: why'],
];
test.each(causes)('names the cause %#', (cause, reason, message) => {
  expect(cause).toEqual({ reason, message, field: 'f' });
});
