import { isRecord, jsonIn } from '#base/fields.ts';
import { ApiError, type Status } from '../api-error.ts';
import { invalidAnswer } from '../transport/failures.ts';

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** A text that is not a Status comes from a proxy, or from a part of the API server that writes plain text. */
export function errorFrom(
  code: number,
  text: string,
  retryAfterSeconds: number | undefined,
  request: string,
): ApiError {
  const status = parsedStatus(text) ?? { message: plainMessage(code, text) };
  const details = {
    ...status.details,
    ...(retryAfterSeconds === undefined
      ? {}
      : { retryAfterSeconds: status.details?.retryAfterSeconds ?? retryAfterSeconds }),
  };
  return new ApiError({ ...status, code, reason: status.reason ?? reasons[code] ?? 'Unknown', details }, request);
}

export function parseAnswer(text: string, request: string): unknown {
  const value = jsonIn(text);
  if (value === undefined) throw invalidAnswer(request, 'the response is not JSON');
  return value;
}

/** For a watch event of type ERROR. */
export function errorOfEvent(object: unknown, request: string): ApiError {
  const status = isRecord(object) ? (object as Status) : {};
  const code = status.code ?? 0;
  return new ApiError({ ...status, code, reason: status.reason ?? reasons[code] ?? 'Unknown' }, request);
}

function parsedStatus(text: string): Status | undefined {
  const value = jsonIn(text);
  return isRecord(value) && value.kind === 'Status' ? value : undefined;
}

function plainMessage(code: number, text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line === '' ? `the server answered ${code}` : line.slice(0, 200);
}
