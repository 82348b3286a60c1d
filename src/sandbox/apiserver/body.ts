import { decodeProtobuf } from './protobuf.ts';
import { badRequest, StatusError, unsupportedMediaType } from './status.ts';

export const maxBodyBytes = 3 * 1024 * 1024;

export const mediaTypes = ['application/json', 'application/vnd.kubernetes.protobuf'];

export interface Body {
  contentType: string;
  bytes: Buffer;
}

export function tooLarge(): StatusError {
  return new StatusError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: limit is ${maxBodyBytes}`,
  });
}

/** The object in a body, in JSON or protobuf. */
export function readObject({ contentType, bytes }: Body): unknown {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/vnd.kubernetes.protobuf') {
    const object = decodeProtobuf(bytes);
    if (object !== undefined) return object;
  }
  if (!['', '*/*', 'application/json'].includes(type)) throw unsupportedMediaType(mediaTypes);
  return readJson(bytes);
}

export function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown';
    throw badRequest(`the object provided is unrecognized: couldn't get version/kind; json parse error: ${why}`);
  }
}
