import { parse } from 'yaml';
import { decodeProtobuf } from './protobuf.ts';
import { badRequest, StatusError, unsupportedMediaType } from './status.ts';

/** The largest body the API server reads. */
export const maxBodyBytes = 3 * 1024 * 1024;

const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

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

/** The object in a body, in JSON or YAML. */
export function readObject({ contentType, bytes }: Body): unknown {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/vnd.kubernetes.protobuf') {
    const object = decodeProtobuf(bytes);
    if (object !== undefined) return object;
  }
  if (!['', '*/*', 'application/json', 'application/yaml'].includes(type)) throw unsupportedMediaType(mediaTypes);
  return type === 'application/yaml' ? readYaml(bytes) : readJson(bytes);
}

export function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw unrecognized(error);
  }
}

/** YAML, of which JSON is a part. */
function readYaml(bytes: Buffer): unknown {
  try {
    return parse(bytes.toString(), { maxAliasCount: 0, logLevel: 'error', prettyErrors: false });
  } catch (error) {
    throw unrecognized(error);
  }
}

function unrecognized(error: unknown): StatusError {
  const why = error instanceof Error ? error.message : 'unknown';
  return badRequest(`the object provided is unrecognized: couldn't get version/kind; json parse error: ${why}`);
}
