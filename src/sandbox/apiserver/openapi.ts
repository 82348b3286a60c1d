import type { Answer } from './router.ts';

/**
 * An OpenAPI v2 document without types, which makes older kubectl leave validation to the server. It is JSON
 * or the protobuf that kubectl requests.
 */
export function openApiText(accept: string, version: string): Answer {
  const binary = accept.includes('application/com.github.proto-openapi.spec.v2');
  if (!binary)
    return {
      is: 'body',
      code: 200,
      body: { swagger: '2.0', info: { title: 'Kubernetes', version }, paths: {}, definitions: {} },
    };
  const info = message([field(1, text('Kubernetes')), field(2, text(version))]);
  const document = message([field(1, text('2.0')), field(2, info), field(8, message([])), field(9, message([]))]);
  return {
    is: 'bytes',
    code: 200,
    bytes: document,
    contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  };
}

function text(value: string): Buffer {
  return Buffer.from(value);
}

function message(fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

/** A length-delimited field; all of these are shorter than 128 bytes. */
function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
}
